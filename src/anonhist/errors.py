"""The tree of errors this package raises on purpose.

::

    AnonhistError
    ├── UsageError               the call itself is wrong: an impossible epsilon, two options that exclude each other,
    │   │                        a public number that the data exceed
    │   └── MissingExtraError    the call needs an optional dependency that is not installed
    ├── DataError                the data cannot be used: not a profile, not what the file's ending says, not there
    └── OutputError              the result could not be written

A message is one sentence that says what is wrong, names the *public* value that is wrong, and says what to do.
It never carries a value taken from private data.
"""


class AnonhistError(Exception):
    """Base of every error this package raises on purpose."""


class UsageError(AnonhistError, ValueError):
    """The call is wrong, or says something public that is not true of the data: change the call."""


class MissingExtraError(UsageError):
    """The call needs an optional dependency: install it."""


class DataError(AnonhistError, ValueError):
    """The data cannot be used as asked: change the data or what is said of it."""


class OutputError(AnonhistError, OSError):
    """The result could not be written; nothing was left behind."""
