"""A smoother fit of the legs of Frobenius releases, beside the released one. Run as ``python bench/leg_refit.py``.

A try, not part of releases: docs/decisions/0014-smooth-legs.md. The mean of each step, μ_c, is a penalized spline in ln
c, fitted by expectation maximization to the posterior of :mod:`leg_chain`; of five distributions of steps, that with
the largest evidence is kept. In the maximization, steps count by the probability that they are not heavy: μ is then the
mean of ordinary steps, not of cliques and heaps. All of it is a function of a release's noisy values, so it costs no
budget. Errors are paired: both fits are given the same noise.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from time import process_time

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline

import anonhist as ah
from anonhist.mechanisms.frobenius.mechanism import CoordinateNoise
from anonhist.mechanisms.frobenius.posterior import posterior_medians
from anonhist.mechanisms.noise import simulated_noise
from anonhist.profiles import FrobeniusCoordinates
from bundled import DATA, read_bundled
from leg_chain import LAWS, Floats, Ints, LegPosterior, NoisyLegs, Steps

_ROUNDS = 3
# Distributions with this much less log evidence are no longer fitted: at first, and later.
_FAR_BEHIND, _BEHIND = 30.0, 10.0
_PENALTY = 1.0


@dataclass(frozen=True)
class Refit:
    """Legs, the distribution of steps that was chosen, and the stated error: Σ E|leg − median|."""

    legs: Ints
    steps: Steps
    error: float


class Curve:
    """A penalized spline of ln μ in ln c, for c = 1 … m."""

    def __init__(self, number: int) -> None:
        place = np.log(np.arange(1.0, number + 1))
        many = int(np.clip(4 + 1.7 * np.log(number), 5, 16))
        step = (place[-1] + 1e-9) / (many - 3)
        knots = step * np.arange(-3, many + 1)
        self._basis = BSpline.design_matrix(np.clip(place, 0, place[-1]), knots, 3).toarray()[:-1]
        differences = np.diff(np.eye(many), 2, axis=0)
        self._penalty = _PENALTY * differences.T @ differences + 1e-8 * np.eye(many)

    def start(self, steps: Floats) -> Floats:
        """Return coefficients for the logarithms of these steps."""
        basis = self._basis
        return np.linalg.solve(basis.T @ basis + self._penalty, basis.T @ np.log(np.maximum(steps[:-1], 0) + 0.5))

    def fit(self, steps: Floats, dispersion: float, share: Floats | None, coefficients: Floats) -> Floats:
        """Return coefficients of a Poisson regression with this dispersion, in which steps count by their share."""
        basis, seen = self._basis, np.maximum(steps[:-1], 0.0)
        counted = 1.0 if share is None else share[:-1]
        for _ in range(30):
            log = np.clip(basis @ coefficients, -30, 40)
            mean = np.exp(log)
            weight = counted * mean / (1 + dispersion * mean)
            right = basis.T @ (weight * (log + (seen - mean) / mean))
            found = np.linalg.solve(basis.T @ (basis * weight[:, None]) + self._penalty, right)
            change = found - coefficients
            coefficients = coefficients + np.clip(change, -2, 2)
            if np.abs(change).max() < 1e-5:
                break
        return coefficients

    def mean(self, coefficients: Floats) -> Floats:
        """Return μ for all legs; the last step has that of the one before."""
        mean = np.exp(np.clip(self._basis @ coefficients, -30, 40))
        return np.append(mean, mean[-1])


def refit(sums: Ints, begins: NDArray[np.bool_], fit: Ints, epsilon: float) -> Refit | None:
    """Fit the legs of one run anew, given its noisy sums at each position and a first fit; None for fewer than four."""
    if fit.size < 4:
        return None
    noisy, curve = NoisyLegs.of(sums, begins, fit, epsilon), Curve(fit.size)
    gaps = steps_of(fit.astype(np.float64))
    begun = curve.start(gaps)
    fitted = {steps: curve.fit(gaps, steps.dispersion, None, begun) for steps in LAWS}
    found: dict[Steps, LegPosterior] = {}
    for number in range(_ROUNDS + 1):
        found = {steps: LegPosterior(noisy, curve.mean(fitted[steps]), steps) for steps in fitted}
        best = max(each.log_evidence for each in found.values()) - (_BEHIND if number else _FAR_BEHIND)
        fitted = {steps: fitted[steps] for steps, each in found.items() if each.log_evidence >= best}
        for steps in fitted if number < _ROUNDS else ():
            each = found[steps]
            seen = steps_of(each.legs_of(each.means))
            fitted[steps] = curve.fit(seen, steps.dispersion, each.base_share(), fitted[steps])
    steps, chosen = max(found.items(), key=lambda pair: pair[1].log_evidence)
    return Refit(_strictly_falling(chosen.legs_of(chosen.medians)), steps, stated_error(noisy, chosen))


def steps_of(legs: Floats) -> Floats:
    """Return φ_c = x_c − x_{c+1} − 1, the last with x_m = −1."""
    return np.asarray(legs - np.append(legs[1:], -1.0) - 1)


def stated_error(noisy: NoisyLegs, posterior: LegPosterior) -> float:
    """Return Σ E|leg − median|, that of a leg inside a group between those of the first legs around it."""
    share = noisy.place / noisy.legs[noisy.group]
    following = np.append(posterior.deviations[1:], posterior.deviations[-1])
    return float(((1 - share) * posterior.deviations[noisy.group] + share * following[noisy.group]).sum())


def _strictly_falling(legs: Floats) -> Ints:
    whole = np.maximum(np.rint(legs).astype(np.int64), 0)
    place = np.arange(whole.size)
    return np.maximum(np.minimum.accumulate(whole + place) - place, place[::-1])


def shapes() -> dict[str, ah.Profile]:
    """List the shapes: bundled data, and shapes that are not smooth."""
    rng = np.random.default_rng(1)
    zipf = rng.zipf(1.5, 20_000).clip(1, 20_000)
    listed = {name: read_bundled(name) for name in ("pw_rockyou", "pw_phpbb", "pw_myspace", "bci_trees")}
    listed["kosarak_clicks"] = ah.read_profile(DATA / "kosarak_clicks.csv")
    for name in ("ca_grqc", "facebook_combined", "p2p_gnutella31", "polblogs", "wiki_vote"):
        listed[name] = ah.read_degrees(DATA / f"graph_{name}.txt.gz").profile
    made = {
        "even counts": 2 * zipf.clip(1, 5000),
        "heaped at tens": np.where(zipf > 20, zipf // 10 * 10, zipf),
        "20 labels each of 20, 40, … 200": np.repeat(np.arange(20, 201, 20), 20),
        "10 labels each of 10, 20, … 1,000": np.repeat(np.arange(10, 1001, 10), 10),
        "500 equal counts": np.repeat([50], 500),
        "uniform": rng.integers(1, 300, 5000),
        "log-normal": np.ceil(rng.lognormal(2, 1.5, 20_000)).astype(np.int64),
        "two hills": np.concatenate((rng.poisson(30, 3000), rng.poisson(300, 500))) + 1,
        "Zipf, exponent 2": rng.zipf(2.0, 20_000).clip(1, 10**6),
        "every count once": np.arange(1, 1500),
    }
    return listed | {name: ah.Profile.from_counts(counts) for name, counts in made.items()}


def compare(profile: ah.Profile, epsilon: str, runs: int) -> tuple[Floats, Floats, Floats, Floats, float, Counter[str]]:
    """Return for each run the whole error, that of legs as released and anew, the stated one; seconds, and laws."""
    truth = FrobeniusCoordinates.of(profile)
    errors: list[tuple[float, ...]] = []
    laws: Counter[str] = Counter()
    seconds = 0.0
    for seed in range(runs):
        draw = CoordinateNoise(Fraction(epsilon), simulated_noise(np.random.default_rng(seed)))
        noisy = draw.on_one(truth, 1)
        ((arms, legs),) = posterior_medians(noisy.sizes, noisy.arms, noisy.legs, epsilon=float(epsilon))
        begun = process_time()
        found = refit(noisy.legs.sums[0], noisy.legs.begins[0], legs, float(epsilon))
        seconds += process_time() - begun
        released = distance(truth.legs, legs)
        whole = abs(truth.durfee_size - arms.size) + distance(truth.arms, arms) + released
        fitted = released if found is None else distance(truth.legs, found.legs)
        errors.append((whole, released, fitted, released if found is None else found.error))
        laws["as released" if found is None else found.steps.name] += 1
    whole, released, fitted, stated = np.array(errors).T
    return whole, released, fitted, stated, seconds / runs, laws


def distance(one: Ints, other: Ints) -> int:
    """Return the ℓ1 distance of two sides of diagrams, the shorter one with zeros."""
    both = np.zeros((2, max(one.size, other.size)), dtype=np.int64)
    both[0, : one.size], both[1, : other.size] = one, other
    return int(np.abs(both[0] - both[1]).sum())


def main() -> None:
    """Print a row for each shape and ε."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--epsilons", nargs="+", default=["1", "0.5", "0.1", "0.01"])
    parser.add_argument("--only", default="", help="shapes whose name contains this")
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    if options.quick:
        options.runs, options.epsilons, options.only = 2, ["0.5"], "myspace"
    print("| shape | ε | error | legs, as released | legs, anew | change of the error, % | stated / real | laws | s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, profile in shapes().items():
        for epsilon in options.epsilons if options.only in name else ():
            whole, released, fitted, stated, seconds, laws = compare(profile, epsilon, options.runs)
            change = 100 * (fitted - released) / whole.mean()
            shown = f"{change.mean():+.1f} ± {change.std(ddof=1) / len(change) ** 0.5:.1f}"
            told = f"{whole.mean():,.0f} | {released.mean():,.0f} | {fitted.mean():,.0f} | {shown}"
            listed = ", ".join(f"{law}: {many}" for law, many in laws.most_common())
            ratio = stated.mean() / max(fitted.mean(), 1e-9)
            print(f"| {name} | {epsilon} | {told} | {ratio:.2f} | {listed} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
