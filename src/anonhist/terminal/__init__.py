"""What all commands share: options, accounts, destinations, progress and lines for people."""
