"""Figures of a release, drawn without global state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from anonhist.profiles import Profile
    from anonhist.releases import Release

INK, BLUE, BAND, GRID = "#1f2933", "#0b6e99", "#9fcfe3", "#d9e2ec"
_POINTS = 400
_NORMAL_95 = 1.959963984540054


def plot(release: Release) -> Figure:
    """Draw the released prevalences φ_r against the count r, both on log scales, with 95 % intervals.

    Of large profiles at most some 400 counts are drawn, evenly spread on the log scale. Matplotlib is loaded when
    this is first called; pyplot never is.
    """
    figure, axes = _canvas("labels with exactly this count", "count")
    profile, error = release.profile, release.error
    at = _thinned(profile.counts)
    counts, prevalences = profile.counts[at], profile.prevalences[at].astype(float)
    spread = _errors_at(release, error.prevalence_errors, counts)
    low = np.maximum(prevalences - _NORMAL_95 * spread, 0.5)
    high = prevalences + _NORMAL_95 * spread
    axes.vlines(counts, low, high, color=BAND, linewidth=1.6, label="95 % interval")
    axes.plot(counts, prevalences, ".", color=BLUE, markersize=4.5, label="released prevalence")
    _log_log(axes, counts, high)
    return figure


def k_plus_figure(release: Release) -> Figure:
    """Draw how many labels occur at least k times, φ_{k+}, with a 95 % band."""
    figure, axes = _canvas("labels with at least this count", "count")
    profile, error = release.profile, release.error
    levels = error.levels[_thinned(error.levels)]
    values = profile.cumulative_prevalence(levels).astype(float)
    spread = _errors_at(release, error.k_plus_errors, levels)
    low, high = np.maximum(values - _NORMAL_95 * spread, 0.5), np.maximum(values + _NORMAL_95 * spread, 0.5)
    axes.fill_between(levels, low, high, step="pre", color=BAND, linewidth=0, label="95 % interval")
    shown = np.maximum(values, 0.5)
    axes.step(levels, shown, where="pre", color=BLUE, linewidth=1.6, label="released k+ count")
    _log_log(axes, levels, high)
    return figure


def guessing_figure(release: Release) -> Figure:
    """Draw the share of all items that the β most frequent labels cover.

    Read off the released profile; the band shifts every row of the profile by the standard error of its k+ count,
    and is a guide, not a simultaneous guarantee.
    """
    figure, axes = _canvas("share of items covered", "most frequent labels (β)")
    curves = [guessing_curve(release.profile, shift) for shift in _shifted(release)]
    (beta, share), (_, low), (_, high) = curves
    axes.fill_between(beta, np.minimum(low, high), np.maximum(low, high), color=BAND, linewidth=0, label="95 % guide")
    axes.plot(beta, share, color=BLUE, linewidth=1.6, label="released guessing curve")
    axes.set_ylim(0, 1.02)
    if beta.size > 1:
        axes.set_xscale("log")
    _legend(axes)
    return figure


def guessing_curve(
    profile: Profile, shift: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (β, λ_β): labels taken from the most frequent down, and the share of items they cover.

    Between the steps of the profile the curve is a straight line in β; it is read off at points evenly spread on
    the log scale. ``shift`` is added to each k+ count first.
    """
    if not len(profile):
        return np.zeros(1), np.zeros(1)
    labels = profile.cumulative_prevalence(profile.counts)[::-1].astype(float)
    rows = profile.counts[::-1].astype(float)
    covered = np.cumsum(rows * profile.prevalences[::-1])
    moved = labels if shift is None else np.maximum.accumulate(np.maximum(labels + shift, 1e-9))
    share = np.concatenate((np.zeros(1), covered / covered[-1]))
    beta = np.unique(np.geomspace(1.0, labels[-1], _POINTS))
    return beta, np.interp(beta, np.concatenate((np.zeros(1), moved)), share)


def _shifted(release: Release) -> list[NDArray[np.float64] | None]:
    spread = _errors_at(release, release.error.k_plus_errors, release.profile.counts)[::-1]
    return [None, _NORMAL_95 * spread, -_NORMAL_95 * spread]


def _errors_at(release: Release, errors: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    levels = release.error.levels
    if not levels.size:
        return np.zeros(counts.shape)
    return np.asarray(errors[np.maximum(np.searchsorted(levels, counts, side="right") - 1, 0)])


def _thinned(positions: Any) -> NDArray[np.int64]:
    """Return indices of at most some 400 positions, evenly spread on the log scale."""
    size = len(positions)
    if size <= _POINTS:
        return np.arange(size)
    marks = np.geomspace(max(float(positions[0]), 1.0), float(positions[-1]), _POINTS)
    return np.unique(np.clip(np.searchsorted(positions, marks), 0, size - 1))


def _canvas(y_label: str, x_label: str) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlabel(x_label, color=INK)
    axes.set_ylabel(y_label, color=INK)
    axes.grid(visible=True, which="major", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(INK)
    return figure, axes


def _log_log(axes: Axes, x: NDArray[Any], y: NDArray[np.float64]) -> None:
    if not x.size:
        axes.text(0.5, 0.5, "the released profile is empty", ha="center", va="center", transform=axes.transAxes)
        return
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(0.45, max(2.0, float(y.max()) * 1.6))
    axes.set_xlim(0.8, max(2.0, float(x[-1]) * 1.25))
    _legend(axes)


def _legend(axes: Axes) -> None:
    axes.legend(frameon=False, labelcolor=INK, fontsize="small")
