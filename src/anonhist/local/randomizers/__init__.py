"""How a device randomizes its value: one mechanism, one file, and what families of them share."""
