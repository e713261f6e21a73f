"""The page of a budget."""
