"""The page of degrees."""
