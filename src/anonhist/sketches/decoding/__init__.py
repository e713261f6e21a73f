"""Decoders: from the values of noisy counters to prevalences."""
