"""Edge privacy: the list of degrees, by any mechanism for profiles."""
