"""Guessing: the share that the most frequent labels cover, and the cost of guesses."""
