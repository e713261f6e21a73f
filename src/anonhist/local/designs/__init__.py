"""Which values a report supports, as mathematics: blocks of points, packed bits, channels."""
