"""Code that all commands share: options, ledgers, outputs, progress bars and printed lines."""
