"""The same release with other tools. Run as ``python bench/alternatives.py``.

The data are RockYou's profile, and one item is protected. Each tool is used as an expert would use it for this task,
and gets the public numbers that it needs; noisy numbers are clipped at zero and rounded. Seconds are processor time,
the median of a whole call, which for this package includes intervals and the expected error; for Tumult they are wall
time, without starting Spark and making its table.

Tumult Analytics needs Java, and an older NumPy than this package: ``python -m venv tumult``, ``tumult/bin/pip install
tmlt.analytics``, ``python bench/alternatives.py --tumult tumult/bin/python``. Without that option, it is left out.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Self

import numpy as np

import anonhist as ah
from bundled import PROFILES, read_bundled

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from numpy.typing import NDArray

    Way = Callable[[ah.Profile, float], ah.Profile]

CAP = 500_000
DELTA = 1e-9
# An item more takes its label from one prevalence to the next, and both change by one.
PREVALENCE_SENSITIVITY = 2
# A double is drawn from this many steps.
STEPS = 2**52


def ours(profile: ah.Profile, epsilon: float) -> ah.Profile:
    return ah.release(profile, epsilon=epsilon).profile


def pandas_laplace(profile: ah.Profile, epsilon: float) -> ah.Profile:
    """Add noise to the prevalences that occur: which ones do is published as it is."""
    import pandas as pd

    prevalences = pd.Series(profile.prevalences, index=profile.counts)
    scale = PREVALENCE_SENSITIVITY / epsilon
    noisy = prevalences + np.random.default_rng().laplace(scale=scale, size=len(prevalences))
    return _profile(noisy.index.to_numpy(), noisy.to_numpy())


def pandas_cap(profile: ah.Profile, epsilon: float, *, cap: int) -> ah.Profile:
    """Add noise to every prevalence up to a public cap."""
    return _profile(np.arange(1, cap + 1), _noisy_to_cap(profile, epsilon, cap))


def pandas_threshold(profile: ah.Profile, epsilon: float, *, cap: int) -> ah.Profile:
    """Keep what is beyond the largest noise to expect of as many draws."""
    noisy = _noisy_to_cap(profile, epsilon, cap)
    kept = noisy > PREVALENCE_SENSITIVITY / epsilon * math.log(cap)
    return _profile(np.arange(1, cap + 1)[kept], noisy[kept])


def _noisy_to_cap(profile: ah.Profile, epsilon: float, cap: int) -> NDArray[np.float64]:
    import pandas as pd

    prevalences = pd.Series(profile.prevalences, index=profile.counts).reindex(range(1, cap + 1), fill_value=0)
    scale = PREVALENCE_SENSITIVITY / epsilon
    return (prevalences + np.random.default_rng().laplace(scale=scale, size=cap)).to_numpy()


def opendp_cumulative(profile: ah.Profile, epsilon: float, *, cap: int) -> ah.Profile:
    """Add discrete noise to how many labels have each count or more: an item changes one of these numbers, by one."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    vectors = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    laplace = dp.m.make_laplace(*vectors, scale=1 / epsilon)
    if laplace.map(1) > epsilon * (1 + 1e-9):
        raise SystemExit(f"OpenDP promises {laplace.map(1)}, not {epsilon}.")
    return _fitted(np.array(laplace(profile.cumulative_prevalence(np.arange(1, cap + 1)))))


def opendp_threshold(profile: ah.Profile, epsilon: float) -> ah.Profile:
    """Add noise to each label's count and keep what is above the threshold for δ: labels are published, too."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    counts = dp.map_domain(dp.atom_domain(T="i64"), dp.atom_domain(T="i64"))
    space = counts, dp.l01inf_distance(dp.absolute_distance(T="i64"))
    made = {
        threshold: dp.m.make_laplace_threshold(*space, scale=1 / epsilon, threshold=threshold)
        for threshold in range(1, 2 + math.ceil(1 - math.log(DELTA) / epsilon))
    }
    least = next(threshold for threshold, each in made.items() if each.map((1, 1, 1))[1] <= DELTA)
    # Labels so far below that not one in ten runs would have one above are left out, to save hours.
    passing = np.cumsum(profile.prevalences * np.exp(np.minimum(profile.counts - least, 0) * epsilon) / 2)
    partition = profile.partition()
    high = partition[partition >= profile.counts[np.searchsorted(passing, 0.1)]]
    found = made[least](dict(enumerate(high.tolist())))
    return ah.Profile.from_counts(list(found.values()))


class Tumult:
    """Tumult Analytics in another interpreter: the table is made once, then queries are answered one by one."""

    def __init__(self, python: str, profile: str, cap: int) -> None:
        self._directory = tempfile.TemporaryDirectory()  # Spark writes where it runs
        script = Path(__file__).with_name("tumult_session.py")
        self._process = subprocess.Popen(
            [python, str(script), str(PROFILES[profile]), str(cap)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self._directory.name,
        )
        self.seconds = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate()
        self._directory.cleanup()

    def release(self, _: ah.Profile, epsilon: float) -> ah.Profile:
        """Count items by their place within their label, which gives cumulative prevalences."""
        start = time.perf_counter()
        print(epsilon, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit("Tumult Analytics failed: what its interpreter says stands above.")
        self.seconds += time.perf_counter() - start
        return _fitted(np.array(json.loads(answer), dtype=np.int64))


def _fitted(noisy: NDArray[np.int64]) -> ah.Profile:
    """Make noisy cumulative prevalences decrease again, with SciPy, and take differences."""
    from scipy.optimize import isotonic_regression

    decreasing = np.rint(isotonic_regression(noisy, increasing=False).x)
    return _profile(np.arange(1, noisy.size + 1), -np.diff(decreasing.clip(0), append=0))


def _profile(counts: NDArray[np.int64], prevalences: NDArray[np.float64]) -> ah.Profile:
    whole = np.rint(prevalences).clip(0).astype(np.int64)
    return ah.Profile(counts[whole > 0], whole[whole > 0])


def betrayed(scale: float, draws: int) -> float:
    """Return the share of noisy ones, from NumPy's Laplace noise, that neither zero nor two could have become.

    The noise is ``±scale · log(m / 2^52)`` with a whole m: not every double can be reached from every number [1]_.

    References
    ----------
    .. [1] I. Mironov, "On significance of the least significant bits for differential privacy", CCS 2012.
    """
    noisy = 1 + np.random.default_rng().laplace(scale=scale, size=draws)
    reached = [{start for start in (0, 1, 2) if _reaches(float(value), start, scale)} for value in noisy]
    return sum(starts == {1} for starts in reached) / draws


def _reaches(value: float, start: int, scale: float) -> bool:
    sign = 1 if value < start else -1
    near = round(STEPS * math.exp(-abs(value - start) / scale))
    tried = range(max(near - 8, 1), min(near + 8, STEPS) + 1)
    return any(start + sign * (scale * math.log(m / STEPS)) == value for m in tried)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, default=5)
    parser.add_argument("--epsilon", nargs="*", type=float, default=[4.0, 1.0, 0.1])
    parser.add_argument("--only", nargs="*", default=[], help="ways whose name contains one of these")
    parser.add_argument("--tumult", metavar="PYTHON", help="an interpreter that has Tumult Analytics")
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    name, cap = "pw_rockyou", CAP
    if options.quick:
        options.releases, options.epsilon, name, cap = 2, [4.0], "pw_myspace", 300
    with ExitStack() as running:
        tumult = running.enter_context(Tumult(options.tumult, name, cap)) if options.tumult else None
        compare(read_bundled(name), cap, tumult, options)
    if not tumult:
        print("\nTumult Analytics was left out: `--tumult` names an interpreter that has it.")


def compare(profile: ah.Profile, cap: int, tumult: Tumult | None, options: argparse.Namespace) -> None:
    ways: dict[str, Way] = {
        "anonhist": ours,
        "pandas, Laplace noise on the prevalences that occur": pandas_laplace,
        f"pandas, Laplace noise on all up to {cap:,}": partial(pandas_cap, cap=cap),
        "the same, small ones set to zero": partial(pandas_threshold, cap=cap),
        "OpenDP, cumulative prevalences and an isotonic fit": partial(opendp_cumulative, cap=cap),
        "OpenDP, counts of labels above a threshold": opendp_threshold,
    }
    if tumult:
        ways["Tumult, items by their place within their label and an isotonic fit"] = tumult.release

    def seconds_taken() -> float:
        return time.process_time() + (tumult.seconds if tumult else 0)

    print("| way | ε | error (sorted ℓ1) | standard error | share of the items | times anonhist | ", end="")
    print(f"error of φ_1 | error of φ_{{100+}} | seconds |\n{'|---' * 9}|")
    for epsilon in options.epsilon:
        least = math.nan
        for name, way in ways.items():
            if options.only and not any(part in name for part in options.only):
                continue
            runs, seconds = [], []
            # What the threshold leaves out is hardly random, and takes long.
            for _ in range(1 if way is opendp_threshold else options.releases):
                start = seconds_taken()
                runs.append(way(profile, epsilon))
                seconds.append(seconds_taken() - start)
            errors = [ah.properties.sorted_l1(profile, run) for run in runs]
            mean = float(np.mean(errors))
            least = (mean or math.nan) if way is ours else least
            spread = f"{np.std(errors, ddof=1) / len(runs) ** 0.5:,.0f}" if len(runs) > 1 else ""
            once = np.mean([abs(run.prevalence(1) - profile.prevalence(1)) for run in runs])
            often = np.mean([abs(run.k_plus(100) - profile.k_plus(100)) for run in runs])
            row = [name, f"{epsilon:g}", f"{mean:,.0f}", spread, f"{mean / profile.n:.2g}", f"{mean / least:,.2f}"]
            print(f"| {' | '.join([*row, f'{once:,.1f}', f'{often:,.1f}', f'{median(seconds):.2f}'])} |", flush=True)
    alone = int(profile.prevalences[profile.prevalences == 1].sum())
    print(f"\nOf noise on the prevalences that occur: {profile.counts.size:,} counts are published as they are;")
    print(f"{alone:,} of them belong to one label each, and are missing from the table if it loses one item.")
    draws = 200 if options.quick else 5000
    print("NumPy's Laplace noise on the number one, not rounded: values that only one, not zero nor two, can become:")
    for scale in (PREVALENCE_SENSITIVITY / epsilon for epsilon in options.epsilon):
        print(f"{betrayed(scale, draws):.0%} of {draws:,} at scale {scale:g}")


if __name__ == "__main__":
    main()
