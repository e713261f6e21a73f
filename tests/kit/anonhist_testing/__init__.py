"""The test kit: sources that can be repeated and statistical assertions. Nothing shipped sees it."""
