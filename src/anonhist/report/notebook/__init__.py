"""What notebooks show: small pieces of HTML, one file a kind of value."""
