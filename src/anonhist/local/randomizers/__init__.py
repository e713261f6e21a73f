"""How a device randomises its value: one mechanism, one file, and what families of them share."""
