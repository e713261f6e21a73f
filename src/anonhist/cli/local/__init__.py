"""Commands of local privacy."""
