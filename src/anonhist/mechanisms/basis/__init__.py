"""What all mechanisms share: the setting, noise and its quantiles, and what may be published."""
