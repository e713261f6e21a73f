"""Commands of private sketches."""
