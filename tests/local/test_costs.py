"""What decoding takes: tallies of a few reports, from surveys with many cells, in a process with little memory."""

import json
import subprocess
import sys

import numpy as np
import pytest

from anonhist.local import ORAPPOR, ORR, HeavyHitters
from anonhist_testing.sources import SeededSource

# Of all memory that may be reserved, of which the libraries alone take half.
_BYTES = 2 << 30
_START = f"import resource\nresource.setrlimit(resource.RLIMIT_AS, ({_BYTES}, {_BYTES}))\n"
_START += "import numpy as np\nfrom anonhist.local import ORAPPOR, ORR, KRR, HeavyHitters, Tally\n"
CASES = {
    "a report about whole values": (
        (
            "s = HeavyHitters(epsilon=1, max_bytes=32)\n"
            "s.estimate(Tally(s.digest, 1, np.array([s.cells - 5]), np.array([1])))"
        ),
        "Too few people have answered",
    ),
    "a report after two lengths without any": (
        (
            "s = HeavyHitters(epsilon=1, max_bytes=32)\n"
            "c = s.cells // 32\n"
            "s.estimate(Tally(s.digest, 2, np.array([2 * c, 31 * c]), np.array([1, 1])))"
        ),
        "Too few people have answered",
    ),
    "a report in one of many cohorts": (
        (
            "s = ORR(buckets=2**14, cohorts=2**13, epsilon=1)\n"
            "s.estimate(s.tally(s.randomize(['a'])), candidates=['a', 'b'])\nprint('done')"
        ),
        "done",
    ),
    "bits in one of many cohorts": (
        (
            "s = ORAPPOR(buckets=2**14, cohorts=2**13, epsilon=1)\n"
            "s.estimate(s.tally(s.randomize(['a'])), candidates=['a', 'b'])\nprint('done')"
        ),
        "done",
    ),
    "cohorts with more places than can be decoded": (
        (
            "s = ORR(buckets=2**14, cohorts=2**13, epsilon=1)\n"
            "t = Tally(s.digest, 2**13, np.arange(2**13) << 14, np.ones(2**13, dtype=np.int64))\n"
            "s.estimate(t, candidates=['a', 'b'])"
        ),
        "too many to decode",
    ),
    "every label of a large alphabet": (
        ("s = KRR(alphabet=2**25, epsilon=1)\ns.estimate(s.tally(s.randomize([3])))"),
        "name the candidates",
    ),
}


# One process for all: to begin it takes longer than what is asked there.
_EACH = """
import contextlib, io, json, sys, traceback
for name, program in json.load(sys.stdin).items():
    heard = io.StringIO()
    with contextlib.redirect_stdout(heard):
        try:
            exec(program, dict(globals()))
        except Exception:
            print(traceback.format_exc())
    print(json.dumps([name, heard.getvalue()]))
"""


@pytest.mark.slow
def test_few_reports_take_little_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _START + _EACH],
        input=json.dumps({name: program for name, (program, _) in CASES.items()}),
        capture_output=True,
        text=True,
        check=False,
        env={"OPENBLAS_NUM_THREADS": "1"},
    )
    heard = dict(map(json.loads, done.stdout.splitlines()))
    assert list(heard) == list(CASES), done.stderr[-500:]
    for name, (_, told) in CASES.items():
        assert told in heard[name], (name, heard[name][-500:])
        assert "MemoryError" not in heard[name], name


@pytest.mark.slow
def test_cohorts_that_nobody_is_in_change_nothing() -> None:
    people = ["a", "b", "c"] * 5
    for survey in (
        ORR(buckets=16, cohorts=40, epsilon=3, key="k"),
        ORAPPOR(buckets=16, cohorts=40, epsilon=3, hashes=2, key="k"),
        ORR(alphabet=["a", "b", "c", "d"], cohorts=40, epsilon=3, key="k"),
    ):
        tally = survey.tally(survey.randomize(people, source=SeededSource(7)))
        met = np.unique(tally.cells // survey._cohort_cells)
        assert met.size < 16
        full = survey._table(tally, None)
        assert (survey._table(tally, met) == full[met]).all()
        assert full.sum() == tally.counts.sum()
        codes = survey._codes_of(("a", "c"))
        every = survey.functions.all_places(codes).reshape(40, -1, 2)
        assert (survey._places_in(met, codes).reshape(met.size, -1, 2) == every[met]).all()
        estimate = survey.estimate(tally, candidates=["a", "c"])
        assert np.isfinite(estimate.raw).all()


def test_a_wide_beam_may_be_asked_for() -> None:
    survey = HeavyHitters(epsilon=4, max_bytes=2, characters="abcdefgh")
    tally = survey.tally(survey.randomize(["ab"] * 2000, source=SeededSource(7)))
    assert survey.estimate(tally, beam=10**7).labels == ("ab",)
