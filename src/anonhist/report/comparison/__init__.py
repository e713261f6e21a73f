"""The page that shows mechanisms side by side."""
