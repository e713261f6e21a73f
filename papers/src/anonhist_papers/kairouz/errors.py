"""The experiments of Kairouz, Bonawitz and Ramage (2016), run again: errors of k-RR, k-RAPPOR, O-RR and O-RAPPOR.

Of 256 symbols, frequencies geometric; all reports are drawn by the surveys themselves, as devices would.
"""

from __future__ import annotations

import math
from dataclasses import asdict, astuple, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np

from anonhist.local.surveys.survey import SYSTEM
from anonhist_papers.kairouz.settings import CLOSED, FEW, MANY, NAMES, OPEN, PLAIN, SYMBOLS, KairouzSetting, geometric

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from anonhist.randomness import RandomSource
    from anonhist_papers.kairouz.settings import Grid

# The ℓ1 error at which the slides compare O-RR and O-RAPPOR.
TARGET = 0.20
# People whose reports are held in memory at a time.
_BATCH = 1 << 17


@dataclass(frozen=True)
class ErrorRow:
    """The ℓ1 error ``Σ|f − p|`` over the symbols of one decoder in one setting.

    Attributes
    ----------
    figure
        ``"closed"``, ``"open"``, ``"buckets"``, ``"cohorts"`` or ``"hashes"``.
    mechanism, alphabet, epsilon, users, buckets, cohorts, hashes
        The setting, and how many people reported.
    decoder
        ``"unbiased"``, ``"normalized"``, ``"projected"``, ``"least-squares"`` or ``"em"``.
    l1_mean, l1_standard_error, runs
        Mean over the runs, its standard error, and the number of runs, each with its own people, functions and
        reports.
    reference
        Result of an independent program in a few runs, to two digits; None if it was not run. If labels are hashed, it
        decoded by least squares followed by projection, which differs from both decoders here if not all symbols can
        be separated.
    """

    figure: str
    mechanism: str
    alphabet: str
    epsilon: float
    users: int
    buckets: int
    cohorts: int
    hashes: int
    decoder: str
    l1_mean: float
    l1_standard_error: float
    runs: int
    reference: float | None


def errors(grid: Grid, *, trials: int, rng: np.random.Generator, source: RandomSource = SYSTEM) -> list[ErrorRow]:
    """Run all settings of a grid, each once for all figures that it stands in; all share the same people."""
    seed = int(rng.integers(1 << 62))
    found = {
        setting: setting_errors(setting, users, trials=trials, rng=np.random.default_rng(seed), source=source)
        for setting, users in grid.settings.items()
    }
    return [
        ErrorRow(
            figure=figure,
            **asdict(setting),
            users=users,
            decoder=decoder,
            l1_mean=float(np.mean(each)),
            l1_standard_error=float(np.std(each, ddof=1)) / math.sqrt(trials),
            runs=trials,
            reference=reference(setting, users, decoder),
        )
        for figure, setting, users in grid.points
        for decoder, each in found[setting][users].items()
    ]


def setting_errors(
    setting: KairouzSetting,
    users: Sequence[int],
    *,
    trials: int,
    rng: np.random.Generator,
    source: RandomSource = SYSTEM,
) -> Mapping[int, Mapping[str, list[float]]]:
    """Return the ℓ1 errors of one setting: by number of people, ascending, and decoder, one for each run.

    Parameters
    ----------
    setting, users
        The setting, and after how many people it is evaluated.
    trials
        How many runs, each with its own people, functions and reports.
    rng
        Draws people and the keys of functions.
    source
        Draws the reports.
    """
    truth = geometric()
    found: dict[int, dict[str, list[float]]] = {}
    for trial in rng.spawn(trials):
        key = f"run {trial.integers(1 << 62)}"
        people = trial.choice(SYMBOLS, max(users), p=truth)
        for number, decoded in _run(setting, people, users, key=key, source=source):
            for decoder, frequencies in decoded.items():
                own = found.setdefault(number, {}).setdefault(decoder, [])
                own.append(float(np.abs(frequencies - truth).sum()))
    return found


def _run(
    setting: KairouzSetting, people: NDArray[np.int64], users: Sequence[int], *, key: str, source: RandomSource
) -> Iterator[tuple[int, Mapping[str, NDArray[np.float64]]]]:
    """Yield the frequencies decoded from the reports of the first people, for each of these numbers."""
    if setting.mechanism == "none":
        for number in users:
            yield number, {"unbiased": np.bincount(people[:number], minlength=SYMBOLS) / number}
        return
    survey = setting.survey(key)
    tally, counted = survey.empty_tally(), 0
    for number in users:
        while counted < number:
            batch = people[counted : min(counted + _BATCH, number)]
            values = NAMES[batch] if setting.alphabet == OPEN else batch
            tally += survey.tally(survey.randomize(values, source=source))
            counted += batch.size
        yield number, setting.decode(survey, tally)


def best(rows: Sequence[ErrorRow], mechanism: str, alphabet: str, *, decoder: str) -> Sequence[ErrorRow]:
    """Return the row of the least error for each ε and number of people of figure "open", ascending."""
    least: dict[tuple[float, int], ErrorRow] = {}
    for row in rows:
        if (row.figure, row.mechanism, row.alphabet, row.decoder) == ("open", mechanism, alphabet, decoder):
            at = row.epsilon, row.users
            if at not in least or row.l1_mean < least[at].l1_mean:
                least[at] = row
    return [least[at] for at in sorted(least)]


def people_needed(rows: Sequence[ErrorRow], *, target: float = TARGET) -> Mapping[float, float]:
    """Return by ε the number of people at which the error reaches the target, between two numbers that were tried.

    Parameters
    ----------
    rows
        Of one mechanism, ascending by ε and people, as :func:`best` returns them.
    target
        The error. An ε is left out if it is met at once or never.

    Examples
    --------
    >>> setting = ("open", "O-RR", "open", 4.0)
    >>> points = ((100, 0.4), (10_000, 0.04))
    >>> rows = [ErrorRow(*setting, n, 64, 16, 1, "projected", error, 0.0, 2, None) for n, error in points]
    >>> {epsilon: round(n) for epsilon, n in people_needed(rows).items()}
    {4.0: 400}
    """
    found = {}
    for row, more in pairwise(rows):
        if row.epsilon == more.epsilon and row.epsilon not in found and row.l1_mean > target >= more.l1_mean:
            part = math.log(row.l1_mean / target) / math.log(row.l1_mean / more.l1_mean)
            found[row.epsilon] = row.users * (more.users / row.users) ** part
    return found


def reference(setting: KairouzSetting, users: int, decoder: str) -> float | None:
    """Return the error that an independent program found, if it was run in this setting; see :class:`ErrorRow`."""
    if setting.mechanism in PLAIN:
        return _CLOSED_REFERENCES.get((setting.mechanism, users, setting.epsilon, decoder))
    if setting.alphabet == CLOSED or users != MANY or decoder not in ("projected", "least-squares"):
        return None
    return _OPEN_REFERENCES.get(cast("tuple[float | str, ...]", astuple(setting)))


_CLOSED_REFERENCES = {
    (mechanism, MANY, epsilon, decoder): error
    for mechanism, by_epsilon in {
        "k-RR": {1: (1.93, 0.87, 0.98), 4: (0.073, 0.070, 0.070), math.log(SYMBOLS): (None, None, 0.025)},
        "k-RAPPOR": {1: (0.40, 0.31, 0.31), 4: (0.088, 0.083, 0.083), math.log(SYMBOLS): (None, None, 0.055)},
        "OUE": {1: (0.39, 0.31, 0.30), 4: (0.060, 0.058, 0.058), math.log(SYMBOLS): (None, None, 0.031)},
    }.items()
    for epsilon, each in by_epsilon.items()
    for decoder, error in zip(("unbiased", "normalized", "projected"), each, strict=True)
    if error is not None
} | {("k-RAPPOR", FEW, 1, "normalized"): 0.94, ("k-RAPPOR", FEW, 1, "projected"): 1.07}
_OPEN_REFERENCES: dict[tuple[float | str, ...], float] = {
    (mechanism, epsilon, OPEN, buckets, cohorts, hashes): error
    for mechanism, epsilon, buckets, hashes, by_cohorts in (
        ("O-RR", 4, 256, 1, {1: 0.48, 2: 0.13, 4: 0.085, 16: 0.074}),
        ("O-RR", 1, 64, 1, {1: 0.85, 2: 0.81, 4: 1.56, 16: 0.70}),
        ("O-RAPPOR", 4, 1024, 1, {1: 0.21, 2: 0.087, 8: 0.086}),
        ("O-RAPPOR", 4, 1024, 4, {2: 0.18}),
        ("O-RAPPOR", 1, 1024, 1, {1: 0.41, 2: 0.35, 8: 0.32}),
    )
    for cohorts, error in by_cohorts.items()
}
