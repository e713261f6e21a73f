"""Support coverage, by six methods."""

from anonhist.properties.support_coverage.support_coverage import (
    LINEAR_COVERAGE_METHODS,
    SUPPORT_COVERAGE_METHODS,
    support_coverage,
)

__all__ = ["LINEAR_COVERAGE_METHODS", "SUPPORT_COVERAGE_METHODS", "support_coverage"]
