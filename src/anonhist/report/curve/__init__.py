"""The page of a curve."""
