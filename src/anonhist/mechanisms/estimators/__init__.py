"""Private estimators."""

from anonhist.mechanisms.estimators.entropy import EntropyMechanism

__all__ = ["EntropyMechanism"]
