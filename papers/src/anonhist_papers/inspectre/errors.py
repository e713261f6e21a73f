"""Errors of private and other estimators in the experiments of INSPECTRE (Acharya et al. 2018), trial by trial."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from anonhist.privacy import NeighboringRelation

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    from anonhist.mechanisms.estimators.statistic_mechanism import StatisticMechanism
    from anonhist.mechanisms.noise import Noise
    from anonhist.profiles import Profile

# An estimator and ε, 0 if it is not private.
Key = tuple[str, float]
SUBSTITUTE = NeighboringRelation.SUBSTITUTE
_ROOT = math.sqrt(2)
# Of symmetric Dirichlet priors.
PRIORS = {"Dirichlet 1": 1.0, "Dirichlet 1/2": 0.5}


@dataclass(frozen=True)
class ErrorRow:
    """The error of one estimator in one setting.

    Attributes
    ----------
    experiment
        ``"degree"`` or ``"entropy"`` (errors in bits), ``"coverage"`` (errors as a share of n·t) or ``"texts"``
        (errors in labels).
    data
        A distribution, or a text.
    x
        Number of items, ratio t of further draws to items, or share of the text.
    estimator
        Its name. "not cut" is the estimate before it is clipped to possible values, and "twin" is the same without
        noise: their squared errors differ by the noise alone.
    epsilon
        0 if it is not private.
    rmse, standard_error
        Root mean squared error over the trials, and the standard error of that.
    noise
        Standard deviation of the noise, predicted from its scale; 0 without noise.
    trials
        Number of trials.
    bias, bias_error
        Mean error over the trials, and the standard error of that.
    over
        Root mean squared error over that of other estimators on the same samples, by estimator and ε, with standard
        errors that take the common samples into account.
    """

    experiment: str
    data: str
    x: float
    estimator: str
    epsilon: float
    rmse: float
    standard_error: float
    noise: float
    trials: int
    bias: float
    bias_error: float
    over: Mapping[Key, tuple[float, float]] = field(default_factory=dict)


@dataclass
class Errors:
    """Errors of several estimators in one setting, trial by trial."""

    _errors: dict[tuple[str, float], list[float]] = field(default_factory=dict)
    _noise: dict[tuple[str, float], float] = field(default_factory=dict)

    def add(self, estimator: str, error: float, *, epsilon: float = 0, noise: float = 0.0) -> None:
        """Record one error, and the standard deviation of its noise."""
        self._errors.setdefault((estimator, epsilon), []).append(error)
        self._noise[estimator, epsilon] = noise

    def add_private(
        self,
        title: str,
        mechanism: StatisticMechanism,
        profile: Profile,
        truth: float,
        noise: Noise,
        *,
        published: float | None = None,
    ) -> None:
        """Record the error of a private estimate; with a published scale, also with that scale and without noise.

        The published noise is ours, rescaled, so that the two do not differ by chance.
        """
        items, epsilon = profile.n, float(mechanism.epsilon)
        noised = mechanism.release_with(profile, noise)
        value = mechanism.clip(noised.value, items)
        self.add(title, value - truth, epsilon=epsilon, noise=_ROOT * noised.scale)
        if published is None:
            return
        twin = mechanism.statistic(items).of(profile)
        self.add(f"{title}, not cut", noised.value - truth, epsilon=epsilon, noise=_ROOT * noised.scale)
        self.add(f"{title}, twin", twin - truth, epsilon=epsilon)
        self.add(f"{title}, without noise", mechanism.clip(twin, items) - truth, epsilon=epsilon)
        loud = mechanism.clip(twin + (noised.value - twin) * published / noised.scale, items)
        self.add(f"{title}, published noise", loud - truth, epsilon=epsilon, noise=_ROOT * published)

    def over(self, above: Key, below: Key) -> tuple[float, float]:
        """Return the ratio of two root mean squared errors on the same samples, and its standard error.

        Examples
        --------
        >>> errors = Errors()
        >>> for error in (1.0, -2.0, 3.0):
        ...     errors.add("plain", error)
        ...     errors.add("twice", 2 * error)
        >>> errors.over(("twice", 0), ("plain", 0))
        (2.0, 0.0)
        """
        upper, lower = (np.array(self._errors[key]) ** 2 for key in (above, below))
        if not lower.any():
            return math.inf, math.inf
        ratio = math.sqrt(float(upper.mean() / lower.mean()))
        # The delta method: the relative errors of two means, which go together.
        apart = upper / max(float(upper.mean()), 1e-300) - lower / float(lower.mean())
        return ratio, ratio / 2 * float(apart.std(ddof=1)) / math.sqrt(apart.size)

    def rows(self, experiment: str, data: str, x: float, *, unit: float, over: Collection[str] = ()) -> list[ErrorRow]:
        """Return one row per estimator, errors times ``unit``, with ratios of private ones to those in ``over``."""
        found = []
        for (estimator, epsilon), errors in self._errors.items():
            values = unit * np.array(errors)
            squares = values**2
            rmse = math.sqrt(float(squares.mean()))
            root = math.sqrt(squares.size)
            error = float(squares.std(ddof=1)) / root / (2 * rmse) if rmse else 0.0
            noise = unit * self._noise[estimator, epsilon]
            bias, bias_error = float(values.mean()), float(values.std(ddof=1)) / root
            key = estimator, epsilon
            others = [other for other in self._errors if epsilon and other[0] in over and other[1] in (0, epsilon)]
            row = ErrorRow(
                *(experiment, data, x, estimator, epsilon, rmse, error, noise, squares.size, bias, bias_error),
                over={other: self.over(key, other) for other in others if other != key},
            )
            found.append(row)
        return found


def distributions(labels: int, rng: np.random.Generator) -> Mapping[str, NDArray[np.float64]]:
    """Return the test distributions; those from Dirichlet priors are drawn anew."""
    ranks = np.arange(1.0, labels + 1)
    shapes = {
        "uniform": np.ones(labels),
        "two steps": np.where(ranks <= labels // 2, 1.0, 3.0),
        "Zipf 1/2": ranks**-0.5,
        "Zipf 1": 1 / ranks,
    } | {name: rng.gamma(parameter, size=labels) for name, parameter in PRIORS.items()}
    return {name: shape / shape.sum() for name, shape in shapes.items()}


DISTRIBUTIONS = tuple(distributions(2, np.random.default_rng(0)))
