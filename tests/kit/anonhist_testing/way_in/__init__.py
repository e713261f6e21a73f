"""The way in: every reader of rows, from every source of rows, on tables that differ by one unit."""
