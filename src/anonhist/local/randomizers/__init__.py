"""How a device randomizes its value: one file per mechanism, and the common code of each family."""
