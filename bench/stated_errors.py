"""How often the stated range of the error holds the real mean error: ``python bench/stated_errors.py [--quick] …``.

For each shape and ε, the table has the real mean error over many runs, ± its standard error; the mean stated error, and
its ratio to the real one, with the share of releases that are so noisy that pages show the range alone; the share of
releases whose range holds the real mean, ± its standard error, with a mark if the share minus two standard errors is
below 92%; and the width of the range, which is its mean upper end over its mean lower end, with its mean ends over the
stated error in brackets. The "held out" shapes were listed before anything was run on them.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np

import anonhist as ah
from anonhist.catalogue import Levels
from anonhist.mechanisms import FrobeniusMechanism, staircase_profile, zipf_profile
from anonhist.mechanisms.setting import make_release
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.grouped import GroupedProfile, total_of
from anonhist.releases.grouped import SumOfReleases
from bundled import read_bundled
from ten_shapes import DATA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anonhist.releases import Release

EPSILONS = ("0.05", "0.1", "0.5", "1", "2")
_LEAST = 0.92
_SEED = 20_261_126


def _levels(labels: int, counts: list[int]) -> ah.Profile:
    return ah.Profile.from_prevalences(dict.fromkeys(counts, labels))


def _drawn(draw: Callable[[np.random.Generator], object]) -> ah.Profile:
    return ah.Profile.from_counts(np.maximum(1, np.asarray(draw(np.random.default_rng(_SEED)), dtype=np.int64)))


def _primes(most: int) -> list[int]:
    return [number for number in range(2, most) if all(number % each for each in range(2, int(number**0.5) + 1))]


NAMED: dict[str, Callable[[], ah.Profile]] = {
    "20 labels each at 20, 40, …, 200": lambda: _levels(20, list(range(20, 201, 20))),
    "40 labels each at 10·2^j, j = 0…5": lambda: _levels(40, [10 * 2**j for j in range(6)]),
    "40 labels each at 30, 60, …, 150": lambda: _levels(40, list(range(30, 151, 30))),
    "one label each at 10·2^j": lambda: _levels(1, [10 * 2**j for j in range(6)]),
}
SMOOTH: dict[str, Callable[[], ah.Profile]] = {
    "Zipf, 10^4 items": lambda: zipf_profile(10**4),
    "log-normal": lambda: _drawn(lambda rng: np.ceil(rng.lognormal(2, 1.5, 1000))),
    "uniform": lambda: _drawn(lambda rng: rng.poisson(30, 400)),
    "even counts alone": lambda: _drawn(lambda rng: 2 * np.ceil(rng.lognormal(2, 1.2, 1000))),
    "one plateau": lambda: _levels(100, [10]),
    "staircase, 10^4 items": lambda: staircase_profile(10**4),
}
REAL: dict[str, Callable[[], ah.Profile]] = {
    name: (lambda name=name: read_bundled(name))
    for name in ("bci_trees", "hamlet", "surnames", "pw_myspace", "pw_phpbb")
} | {"clicks": lambda: ah.read_profile(DATA / "kosarak_clicks.csv")}
HELD_OUT: dict[str, Callable[[], ah.Profile]] = {
    "300 labels at 7, 30 at 400": lambda: ah.Profile.from_prevalences({7: 300, 400: 30}),
    "7 labels each at 13, 26, …, 390": lambda: _levels(7, list(range(13, 391, 13))),
    "15 labels at each square to 14²": lambda: _levels(15, [each**2 for each in range(2, 15)]),
    "one label at each prime to 1,500": lambda: _levels(1, _primes(1500)),
    "log-normal, rounded to tens": lambda: _drawn(lambda rng: 10 * np.ceil(rng.lognormal(2.5, 1, 800) / 10)),
    "3 labels at each 1.12^j, j ≤ 80": lambda: ah.Profile.from_counts([int(1.12**j) for j in range(81)] * 3),
    "Poisson 15, and one of 5,000": lambda: _drawn(lambda rng: [*rng.poisson(15, 300), 5000]),
    "25 labels near each of 60, 120, 180, 240": lambda: _drawn(
        lambda rng: np.repeat([60, 120, 180, 240], 25) + rng.integers(-2, 3, 100)
    ),
}
_USERS = ("20 labels each at 20, 40, …, 200", "Zipf, 10^4 items", "uniform", "bci_trees")
GROUPS = {"named": NAMED, "smooth": SMOOTH, "real": REAL, "held": HELD_OUT}


def shapes(which: list[str]) -> Iterator[tuple[str, ah.Profile]]:
    """Yield the names and profiles of some groups of shapes; "users" are some of the others, for 20 items a user."""
    every = {name: made for group in GROUPS.values() for name, made in group.items()}
    for group in which:
        if group == "users":
            for name in _USERS:
                yield f"{name}, users", every[name]().with_unit(PrivacyUnit.user(max_items=20))
        else:
            for name, made in GROUPS[group].items():
                yield name, made()


def releases(profile: ah.Profile, epsilon: str, runs: int, options: dict[str, Any]) -> Iterator[Release]:
    """Yield releases; those of the Frobenius mechanism are drawn together, with a NumPy generator."""
    first = ah.release(profile, epsilon=epsilon, **options)
    made_by = first.mechanism
    if isinstance(made_by, FrobeniusMechanism):
        for released, evidence in made_by.simulate_with_evidence(profile, size=runs, rng=np.random.default_rng()):
            yield make_release(released, made_by, reason=None, evidence=evidence)
        return
    yield first
    for _ in range(runs - 1):
        yield ah.release(profile, epsilon=epsilon, **options)


def totals(profile: ah.Profile, epsilon: str, runs: int, groups: int, options: dict[str, Any]) -> Iterator[Release]:
    """Yield totals of groups that have the same profile each."""
    profiles = {(str(at),): profile for at in range(groups)}
    grouped = GroupedProfile(("g",), profiles, unit=profile.unit, levels=Levels.NESTED)
    for _ in range(runs):
        yield ah.release_groups(grouped, epsilon=epsilon, **options)[()]


def row(
    profile: ah.Profile, epsilon: str, *, runs: int, real_runs: int, groups: int | None, options: dict[str, Any]
) -> str:
    """Return the cells of a row."""
    said, made_by = [], None
    drawn = releases(profile, epsilon, runs, options)
    if groups is not None:
        drawn = totals(profile, epsilon, runs, groups, options)
    for released in drawn:
        made_by = released.mechanism
        expected, within = released.error.sorted_l1, released.error.expected_range
        if expected is None or within is None:
            raise RuntimeError("no error was simulated")
        said.append((expected.value, *within, released.error_is_vague))
    if made_by is None:
        raise RuntimeError("nothing was released")
    if isinstance(made_by, SumOfReleases):
        parts = [profile] * (groups or 1)
        each = made_by.mechanism.simulate_each(parts, size=real_runs, rng=np.random.default_rng())
        found, profile = [total_of(run) for run in each], total_of(parts)
    else:
        found = made_by.simulate(profile, size=real_runs, rng=np.random.default_rng())
    errors = np.array([ah.properties.sorted_l1(profile, run.with_unit(profile.unit)) for run in found], dtype=float)
    real, spread = errors.mean(), errors.std(ddof=1) / real_runs**0.5
    value, low, high, vague = np.array(said).T
    held = np.mean((low <= real) & (real <= high))
    uncertain = (held * (1 - held) / runs) ** 0.5
    mark = " !" if held - 2 * uncertain < _LEAST else ""
    ends = f"{low.mean() / value.mean():.2f} to {high.mean() / value.mean():.2f}"
    return (
        f"{real:,.1f} ± {spread:,.1f} | {value.mean():,.1f} | {value.mean() / real:.2f}{_vague(vague.mean())} | "
        f"{100 * held:.0f} ± {100 * uncertain:.0f}%{mark} | {high.mean() / max(low.mean(), 1e-9):.1f} ({ends})"
    )


def _vague(share: float) -> str:
    """Say in how many releases a page shows the range alone."""
    return f" ({share:.0%} range alone)" if share else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--real-runs", type=int, default=100)
    parser.add_argument("--epsilons", nargs="*", default=EPSILONS)
    parser.add_argument("--shapes", nargs="*", default=[*GROUPS, "users"])
    parser.add_argument("--only", default="", help="shapes whose name contains this")
    parser.add_argument("--mechanism", default="auto")
    parser.add_argument("--groups", type=int, default=None, help="the total of so many groups of each shape")
    parser.add_argument("--public-items", type=int, default=None, help="of the bounded and the relaxed mechanism")
    parser.add_argument("--public-cap", type=int, default=None)
    parser.add_argument("--public-labels", type=int, default=None)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    if options.quick:
        options.runs, options.real_runs, options.epsilons, options.shapes = 2, 4, ["1"], ["named"]
    public = {name: getattr(options, name) for name in ("public_items", "public_cap", "public_labels")}
    public = {name: number for name, number in public.items() if number is not None}
    print("| shape | ε | real mean error | stated | stated / real | range holds it | width (ends / stated) |")
    print("|---|---|---|---|---|---|---|")
    for name, profile in shapes(options.shapes):
        if options.only not in name:
            continue
        for epsilon in options.epsilons:
            given = {"mechanism": options.mechanism, **public}
            runs = {"runs": options.runs, "real_runs": options.real_runs}
            cells = row(profile, epsilon, **runs, groups=options.groups, options=given)
            print(f"| {name} | {epsilon} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
