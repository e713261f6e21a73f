"""The page of a release of groups."""
