"""Support coverage, by five methods."""

from anonhist.properties.support_coverage.support_coverage import SUPPORT_COVERAGE_METHODS, support_coverage

__all__ = ["SUPPORT_COVERAGE_METHODS", "support_coverage"]
