"""Errors of mechanisms on a closed alphabet: all reports are drawn by the surveys themselves, as devices would."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.local.survey import SYSTEM
from anonhist.numeric.fits import project_to_simplex, truncate_and_renormalize

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from anonhist.local.survey import Survey
    from anonhist.randomness import RandomSource

# The slides' list "Constraining to the simplex", by number.
DECODERS: Mapping[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "as it is": lambda raw: raw,
    "renormalized": truncate_and_renormalize,
    "projected": project_to_simplex,
}
LOSSES: Mapping[str, Callable[[NDArray[np.float64]], float]] = {
    "ℓ1": lambda error: float(np.abs(error).sum()),
    "ℓ2²": lambda error: float(error @ error),
}
# People whose reports are held in memory at a time.
_BATCH = 1 << 17


def raw_estimates(
    survey: Survey, people: NDArray[np.int64], users: Sequence[int], *, source: RandomSource = SYSTEM
) -> list[NDArray[np.float64]]:
    """Return the unbiased estimates after each of these numbers of people, ascending.

    Examples
    --------
    >>> from anonhist.local import KRR
    >>> (raw,) = raw_estimates(KRR(alphabet=2, epsilon=20), np.array([0, 0, 0, 1]), [4])
    >>> raw.round(3)
    array([0.75, 0.25])
    """
    tally, counted, found = survey.empty_tally(), 0, []
    for number in users:
        while counted < number:
            batch = people[counted : min(counted + _BATCH, number)]
            tally += survey.tally(survey.randomize(batch, source=source))
            counted += batch.size
        found.append(np.asarray(survey.estimate(tally, decoder="unbiased").raw))
    return found


def drawn_losses(
    survey: Survey | None,
    truth: NDArray[np.float64],
    users: Sequence[int],
    *,
    trials: int,
    rng: np.random.Generator,
    source: RandomSource = SYSTEM,
) -> Mapping[tuple[int, str, str], list[float]]:
    """Return the losses of each run by number of people, decoder and loss.

    Parameters
    ----------
    survey
        None for the people's own frequencies, without privacy.
    truth
        The distribution of which people are drawn, by ``rng``, anew in each run.
    users
        Numbers of people, ascending.
    trials
        How many runs.
    rng
        Draws the people.
    source
        Draws the reports.
    """
    found: dict[tuple[int, str, str], list[float]] = {}
    for _ in range(trials):
        people = rng.choice(truth.size, max(users), p=truth)
        if survey is None:
            estimates = [np.bincount(people[:number], minlength=truth.size) / number for number in users]
        else:
            estimates = raw_estimates(survey, people, users, source=source)
        for number, raw in zip(users, estimates, strict=True):
            for decoder, decode in DECODERS.items():
                error = decode(raw) - truth
                for loss, measure in LOSSES.items():
                    found.setdefault((number, decoder, loss), []).append(measure(error))
    return found
