"""Sample coverage, by two methods."""

from anonhist.properties.sample_coverage.sample_coverage import SAMPLE_COVERAGE_METHODS, sample_coverage

__all__ = ["SAMPLE_COVERAGE_METHODS", "sample_coverage"]
