"""Privacy without a trusted server: each person randomises, the server decodes."""
