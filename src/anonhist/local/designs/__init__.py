"""The mathematics of which values a report supports: blocks of points, packed bits, channels."""
