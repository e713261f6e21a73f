"""How well guessing goes: the share that the most frequent labels cover, and what guesses cost."""
