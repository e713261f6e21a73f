"""The way in: whatever reads rows, from whatever holds them, on tables that differ by one unit."""
