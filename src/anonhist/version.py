"""The version, where all who need it find it: nothing within the package imports its front door."""

__version__ = "0.1.0"
