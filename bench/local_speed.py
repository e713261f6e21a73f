"""Speed of local mechanisms beside pure-ldp, multi-freq-ldpy and plain NumPy. Run as ``python bench/local_speed.py``.

k = 1,000 and ε = 1 unless noted. Times are medians, and pairs are timed in turns. The peers need an xxhash below 4;
rows of peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist import local

if TYPE_CHECKING:
    from collections.abc import Callable

K, EPSILON, USERS = 1000, 1, 10**7


@dataclass(frozen=True)
class Race:
    """One job for two: how long each takes for so many reports, and how the ratio should come out."""

    what: str
    ours: Callable[[], Any]
    our_users: int
    peer: str
    theirs: Callable[[], Any]
    their_users: int
    aim: float
    is_factor: bool = True

    def run(self, repeats: int) -> str:
        """Return a row of the table."""
        mine, other = [], []
        for _ in range(repeats):
            mine.append(seconds(self.ours))
            other.append(seconds(self.theirs))
        rate = self.our_users / statistics.median(mine)
        their_rate = self.their_users / statistics.median(other)
        ratio = rate / their_rate if self.is_factor else their_rate / rate
        met = ratio >= self.aim if self.is_factor else ratio <= self.aim
        word = "at least" if self.is_factor else "at most"
        shown = f"{ratio:,.0f}" if ratio >= 20 else f"{ratio:.2f}"
        return (
            f"| {self.what} | {digits(rate)} | {self.peer} {digits(their_rate)} | {shown} | {word} {self.aim:g} | "
            f"{'yes' if met else 'no'} |"
        )


def seconds(act: Callable[[], Any]) -> float:
    """Return how long it takes."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def digits(rate: float) -> str:
    """Write a rate with three digits."""
    for size, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= size:
            return f"{rate / size:.3g} {sign}/s"
    return f"{rate:.3g} /s"


def naive(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Randomise by k-RR as one would write it with NumPy: fast, and not secure."""
    kept = rng.random(values.size) < math.e**EPSILON / (math.e**EPSILON + K - 1)
    others = rng.integers(0, K - 1, values.size)
    others += others >= values
    return np.where(kept, values, others)


def races(users: int) -> list[Race]:
    """Return all pairs; peers are slow and get fewer users."""
    rng = np.random.default_rng(1)
    values = rng.zipf(1.05, users) % K
    krr = local.KRR(alphabet=K, epsilon=EPSILON)
    found = [
        Race("k-RR reports, time over NumPy's", lambda: krr.randomize(values), values.size, "naive NumPy",
             lambda: naive(values, rng), values.size, 3, is_factor=False),
    ]  # fmt: skip
    if find_spec("pure_ldp"):
        found = [*beside_pure_ldp(values, krr), *found]
    if find_spec("multi_freq_ldpy"):
        found.append(beside_multi_freq_ldpy(values, krr))
    return found


def beside_pure_ldp(values: np.ndarray, krr: Any) -> list[Race]:
    """Return the pairs with pure-ldp."""
    from pure_ldp.frequency_oracles.direct_encoding import DEClient
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
    from pure_ldp.frequency_oracles.unary_encoding import UEClient

    unary = local.OptimizedUnary(alphabet=K, epsilon=EPSILON)
    hashing = local.LocalHashing(alphabet=K, epsilon=EPSILON)
    few, some = values[: values.size // 1000], values[: values.size // 100]
    de = DEClient(EPSILON, K, index_mapper=int)
    ue = UEClient(EPSILON, K, use_oue=True, index_mapper=int)
    lh = LHClient(EPSILON, K, use_olh=True, index_mapper=int)
    answers = [lh.privatise(int(value)) for value in few[:2000]]
    hashed = hashing.randomize(values[: values.size // 10])

    def server() -> Any:
        made = LHServer(EPSILON, K, use_olh=True, index_mapper=int)
        for answer in answers:
            made.aggregate(answer)
        with warnings.catch_warnings():
            # It warns of few reports, which a tiny setting has.
            warnings.simplefilter("ignore", RuntimeWarning)
            return made.estimate_all(range(K))

    return [
        Race("k-RR, randomize", lambda: krr.randomize(values), values.size, "pure-ldp",
             lambda: [de.privatise(int(value)) for value in some], some.size, 10),
        Race("optimized unary, randomize", lambda: unary.randomize(some), some.size, "pure-ldp",
             lambda: [ue.privatise(int(value)) for value in few], few.size, 40),
        Race("local hashing, tally + estimate", lambda: hashing.estimate(hashing.tally(hashed)), len(hashed),
             "pure-ldp", server, len(answers), 500),
    ]  # fmt: skip


def beside_multi_freq_ldpy(values: np.ndarray, krr: Any) -> Race:
    """Return the pair with multi-freq-ldpy."""
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI

    reports = krr.randomize(values[: values.size // 10])
    column = reports.columns["report"]
    GRR_Aggregator_MI(column[:100], K, EPSILON)  # compiled on first use
    return Race("k-RR, tally + estimate", lambda: krr.estimate(krr.tally(reports)), len(reports), "multi-freq-ldpy",
                lambda: GRR_Aggregator_MI(column, K, EPSILON), column.size, 3)  # fmt: skip


def decoding(k: int, repeats: int) -> str:
    """Return the row of decoding the projective geometry for many values."""
    survey = local.ProjectiveGeometry(alphabet=k, epsilon=EPSILON)
    tally = survey.tally(survey.randomize(np.random.default_rng(2).integers(0, k, 10 * k)))
    took = statistics.median(seconds(lambda: survey.estimate(tally)) for _ in range(repeats))
    met = "yes" if took <= 1 else "no"
    return f"| projective geometry, estimate of k = {k:,} | {took:.2g} s | | | at most 1 s | {met} |"


def of_texts(users: int, repeats: int) -> str:
    """Return the row of values that are texts: each is looked up in the alphabet before it is randomized."""
    words = [f"word {number}" for number in range(K)]
    survey = local.KRR(alphabet=words, epsilon=EPSILON)
    values = [words[number] for number in np.random.default_rng(3).integers(0, K, users)]
    took = statistics.median(seconds(lambda: survey.randomize(values)) for _ in range(repeats))
    return f"| k-RR, randomize a list of texts | {digits(users / took)} | | | | |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    arguments = parser.parse_args()
    users, repeats, k = (10_000, 1, 1000) if arguments.quick else (USERS, arguments.repeats, 10**5)
    print("| job | anonhist, reports | peer | ratio | aim | met |\n|---|---|---|---|---|---|")
    for race in races(users):
        print(race.run(repeats), flush=True)
    print(of_texts(users // 10, repeats))
    print(decoding(k, repeats))


if __name__ == "__main__":
    main()
