"""The collection server: it counts randomized reports, keeps none of them, and shows estimates as they grow."""
