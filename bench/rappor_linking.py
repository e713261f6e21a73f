"""The share of 1,000 people with the same answer who are recognized between two periods by RAPPOR's memory.

Run as ``python bench/rappor_linking.py``.
"""

from __future__ import annotations

import argparse

from anonhist.local import RAPPOR
from anonhist.randomness import SystemSource
from anonhist_testing.linking import linked_share

PEOPLE, REPORTS = 1000, (1, 3, 7)
SETTINGS = ((32, 8), (128, 8), (128, 64), (256, 64))


def main() -> None:
    """Print a row for each number of bits and cohorts, and a column for each number of reports in a period."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    quick = parser.parse_args().quick
    people, settings = (50, SETTINGS[:1]) if quick else (PEOPLE, SETTINGS)
    print("bits  cohorts  " + "  ".join(f"{reports} a period" for reports in REPORTS))
    for bits, cohorts in settings:
        survey = RAPPOR(buckets=bits, cohorts=cohorts, hashes=2, key="linking", f="1/2", p="1/2", q="3/4")
        memory = survey.remember(["the same answer"] * people)
        shares = (linked_share(survey, memory, reports, source=SystemSource()) for reports in REPORTS)
        print(f"{bits:4}  {cohorts:7}  " + "  ".join(f"{share:10.0%}" for share in shares))


if __name__ == "__main__":
    main()
