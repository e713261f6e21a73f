"""The page of a survey."""
