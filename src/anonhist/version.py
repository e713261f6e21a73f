"""The version, in a module of its own, because no module imports the package's front door."""

__version__ = "1.0.0rc1"
