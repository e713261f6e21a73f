"""Support size, by nine methods."""

from anonhist.properties.support_size.support_size import SUPPORT_SIZE_METHODS, support_size

__all__ = ["SUPPORT_SIZE_METHODS", "support_size"]
