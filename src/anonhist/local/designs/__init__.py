"""Which values a report supports: blocks of points, and packed bits."""
