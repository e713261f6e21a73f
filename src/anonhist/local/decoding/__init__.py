"""From counts to frequencies: decoders, the channels they invert, and tests for frequencies above zero."""
