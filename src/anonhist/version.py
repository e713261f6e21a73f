"""The version, in a module of its own, because no module imports the package's front door."""

__version__ = "0.1.0"
