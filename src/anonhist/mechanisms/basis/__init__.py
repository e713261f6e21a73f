"""What all mechanisms share: the setting, noise and its quantiles, and published profiles."""
