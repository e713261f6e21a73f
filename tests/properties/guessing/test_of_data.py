"""Metrics of the data: exact for a profile, and for a release with what every profile that it allows has."""

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import anonhist as ah
from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties import guessing_curve, guessing_metrics, guessing_success, guesswork, work_factor
from anonhist.properties.estimate import Estimate, Holds
from anonhist_testing.sources import SeededSource

BENCH = Path(__file__).parents[3] / "bench"
RUNS = 20
# Of so many runs fewer have a probability of 10⁻⁶ where the rate is 0.95.
FEWEST = int(binom.ppf(1e-6, RUNS, 0.95))
FEW = [4, 2, 1, 1]
METRICS = {
    "success of 2": partial(guessing_success, guesses=2),
    "success of 2 in bits": partial(guessing_success, guesses=2, unit="bits"),
    "success of 99": partial(guessing_success, guesses=99),
    "work": partial(work_factor, share=0.5),
    "work in bits": partial(work_factor, share=0.5, unit="bits"),
    "guesswork": partial(guesswork, share=0.6),
    "guesswork in bits": partial(guesswork, share=0.6, unit="bits"),
}
both = pytest.mark.parametrize("name", METRICS)


def release_of(counts: list[int], epsilon: float = 1, **options: Any) -> ah.Release:
    options = {"mechanism": "frobenius", "source": SeededSource(3)} | options
    return ah.release(Profile.from_counts(counts), epsilon=epsilon, **options)


def partitions(items: int, largest: int) -> Iterator[list[int]]:
    """Yield every way to write a number as a sum of counts up to the largest."""
    if not items:
        yield []
    for first in range(min(items, largest), 0, -1):
        yield from ([first, *rest] for rest in partitions(items - first, first))


def allowed(release: ah.Release, most: int) -> Iterator[Profile]:
    """Yield every profile of up to so many items whose φ_{k+} are all in their intervals."""
    levels = np.arange(1, most + 1)
    low, high = release.error.k_plus_interval(release.profile, levels)
    for items in range(1, most + 1):
        for counts in partitions(items, items):
            profile = Profile.from_counts(counts)
            reaching = profile.cumulative_prevalence(levels)
            if bool(((low <= reaching) & (reaching <= high)).all()):
                yield profile


@both
def test_a_profile_has_its_metrics_exactly(name: str) -> None:
    profile = Profile.from_counts(FEW)
    found = METRICS[name](profile, of="data")
    assert found.interval == (found.value, found.value)
    assert (found.value, found.standard_error) == (METRICS[name](profile).value, 0)
    assert "exact" not in found.method
    assert METRICS[name](Profile([], []), of="data").statement.holds is Holds.NONE


@both
def test_the_interval_holds_every_profile_that_the_release_allows(name: str) -> None:
    release = release_of(FEW, epsilon=4)
    low, high = METRICS[name](release, of="data").interval
    values = [METRICS[name](profile, of="data").value for profile in allowed(release, 14)]
    assert len(values) > 5
    assert low - 1e-9 <= min(values)
    assert max(values) <= high + 1e-9


def test_nothing_is_said_of_counts_that_were_cut_or_of_noise_that_is_unknown() -> None:
    rows = Profile.from_counts(FEW, unit=ah.PrivacyUnit.label(max_count=2))
    cut = guessing_success(ah.release(rows, epsilon=1), guesses=2, of="data")
    assert cut.statement.holds is Holds.NONE
    assert "merged" in cut.statement.reason
    unknown = ah.release(Profile.from_counts(FEW), epsilon=2, mechanism="partition", simulations=0)
    assert guessing_success(unknown, guesses=2, of="data").interval == (0, 1)
    # The noisy values give intervals without runs.
    noisy = release_of(FEW, epsilon=4, simulations=0)
    found = guessing_success(noisy, guesses=2, of="data")
    assert found.statement.holds is Holds.BOTH
    assert 0 < found.interval[0] <= found.value <= found.interval[1] < 1


def test_intervals_cover_noise_alone_and_carry_the_promise() -> None:
    release = release_of([500, 300, 100, 50, *[5] * 20, *[1] * 60])
    data, behind = (guessing_success(release, guesses=3, of=of) for of in ("data", "distribution"))
    assert data.value == behind.value
    assert behind.interval[0] < data.interval[0] <= data.interval[1] < behind.interval[1]
    assert [cause for cause, _ in data.parts] == ["privacy noise"]
    assert data.guarantee == release.guarantee
    wide = guessing_success(release, guesses=3, of="data", level=0.999)
    assert wide.interval[0] < data.interval[0]
    assert wide.interval[1] > data.interval[1]
    # No narrower than the release has them.
    assert guessing_success(release, guesses=3, of="data", level=0.5).interval == pytest.approx(data.interval)
    # Independent draws are assumed of the distribution alone.
    assert "independent" in behind.assumes
    assert "independent" not in data.assumes


def test_noise_that_repeats_labels_gives_no_lower_bound() -> None:
    # Singletons: one guess in 100,000 breaks one account in 100,000, whatever noise makes of it.
    release = release_of([1] * 2000, epsilon=0.1)
    assert release.profile.counts[-1] > 1
    low, _ = guessing_success(release, guesses=10).interval
    assert low <= 10 / 20_000


def test_curves_of_the_data() -> None:
    profile = Profile.from_counts([40, 30, 20, 10])
    exact = guessing_curve(profile, of="data", rng=np.random.default_rng(1))
    assert exact.low.tolist() == exact.value.tolist() == exact.high.tolist()
    assert not exact.standard_error.any()
    release = release_of([40, 30, 20, 10])
    data, behind = (guessing_curve(release, of=of, rng=np.random.default_rng(1)) for of in ("data", "distribution"))
    assert bool((behind.low <= data.low).all() and (data.high <= behind.high).all())
    assert [cause for cause, _ in data.parts] == ["privacy noise"]
    point = guessing_success(release, guesses=int(data.x[1]), of="data")
    assert (data.low[1], data.high[1]) == pytest.approx(point.interval)
    with pytest.raises(UsageError, match="of must be one of distribution, data"):
        guessing_curve(profile, of="sample")  # type: ignore[arg-type]  # refusing it is tested


def test_the_table_has_each_metric_of_both() -> None:
    profile = Profile.from_counts([40, 30, 20, 10])
    found = dict(guessing_metrics(profile, shares=[0.5], guesses=[1, 3]))
    assert list(found)[:4] == [
        *("guessing-success of the data, 1 guesses", "guessing-success of the data, 3 guesses"),
        *("guessing-success of the distribution, 1 guesses", "guessing-success of the distribution, 3 guesses"),
    ]
    assert len(found) == 12
    # By hand: λ_3 = 0.9; μ = 2 with λ = 0.7; G = 0.3·2 + 0.4 + 2·0.3 = 1.6.
    assert found["guessing-success of the data, 3 guesses"].value == pytest.approx(0.9)
    assert found["guessing-success in bits of the data, 3 guesses"].value == pytest.approx(np.log2(3 / 0.9))
    assert found["work-factor of the data, share 0.5"].value == pytest.approx(np.log2(2 / 0.7))
    assert found["guesswork of the data, share 0.5"].value == pytest.approx(np.log2(3.2 / 0.7 - 1) - np.log2(1.3))
    units: dict[str, Estimate] = {name: estimate for name, estimate in found.items() if " in bits" in name}
    assert {estimate.unit for estimate in units.values()} == {"bits"}
    shares: list[float] = []
    assert len(guessing_metrics(profile, of="distribution", progress=shares.append)) == 12
    assert shares[-1] == 1
    for wrong in ({"shares": [], "guesses": []}, {"of": "both"}, {"shares": [2]}, {"guesses": [0]}):
        with pytest.raises(UsageError):
            guessing_metrics(profile, **wrong)  # type: ignore[arg-type]  # refusing it is tested


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCH))
    return import_module("guessing_intervals")


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["none", "0.1", "1", "2"])
@pytest.mark.parametrize("shape", ["uniform", "Zipf, 1", "drawn 21"])
def test_intervals_hold(shape: str, epsilon: str, bench: Any) -> None:
    p, rng, held = bench.shapes(2000)[shape], np.random.default_rng(), dict[tuple[str, str], int]()
    for _ in range(RUNS):
        for of, name, true, low, high in bench.measured(p, 1000, epsilon, rng):
            near = 1e-9 * abs(true)
            held[of, name] = held.get((of, name), 0) + (low - near <= true <= high + near)
    assert {key: many for key, many in held.items() if many < FEWEST} == {}
    assert len(held) == 9 * (1 + (epsilon != "none"))
