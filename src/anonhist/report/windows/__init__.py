"""The page of a release of cumulative windows."""
