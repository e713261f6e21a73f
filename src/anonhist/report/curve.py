"""One self-contained HTML page about one curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.privacy import warning
from anonhist.properties.estimate import format_number
from anonhist.report.figures import (
    BAND,
    BLUE,
    INK,
    Hover,
    add_legend,
    canvas,
    inline_svg,
    mark_shares,
    name_marks,
    say_empty,
    scale_across,
    scale_of_counts,
)
from anonhist.report.shown import Sheet, download, promised
from anonhist.report.wording import PROMISE_NAMES, bound_of, promise_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from anonhist.properties.curve import Curve

NOT_PRIVATE = (
    "This curve is not private: it is computed from the exact data. Make a release and draw the curve from its file."
)
_ROWS = 12
_ROUNDING = 1e-12
_VISIBLE = 1e-3


@dataclass(frozen=True)
class View:
    """How to show one kind of curve: what it is, what its axes count, and how to read it.

    ``place`` is one x in words, and ``told`` says what a value there means. ``first`` has the x of the values that are
    shown first, if they are not those of the data. ``is_share`` means values in percent.
    """

    title: str
    subtitle: str
    x_label: str
    value_label: str
    place: str
    told: str
    reading: str
    first: tuple[float, ...] = ()
    has_log_x: bool = False
    is_share: bool = False


VIEWS = {
    "draws": View(
        "How many labels a sample would show",
        "A rarefaction and extrapolation curve: the expected number of different labels against the number of draws.",
        "draws",
        "different labels",
        "{} draws",
        "labels in {}",
        "Each point says how many different labels a sample of this size from the same source would show, on average. "
        "Up to the ring, which marks the data, the curve is what a part of them would show; beyond it, dashed, it is "
        "a forecast, less certain the farther it goes. A curve that levels off has seen nearly all labels there "
        "are. To compare two sources, read both curves at the same number of draws.",
    ),
    "guesses": View(
        "What share of accounts a number of guesses breaks",
        "A guessing curve: the share λ of items that the β most frequent labels cover.",
        "guesses per account (β)",
        "share of accounts",
        "{} guesses each",
        "of accounts broken by {}",
        "Each point says what share of all accounts an attacker breaks who tries the β most frequent passwords on "
        "each. Each item counts as one account: if a log has several items per account, count one item of each user. "
        "Guesses are on a log scale: the same distance is the same factor everywhere. The higher the curve on the "
        "left, the more is lost to a few guesses. It ends at 100% because the data contain no other passwords: "
        "those not seen yet would stretch it to the right.",
        first=(1, 10, 1000),
        has_log_x=True,
        is_share=True,
    ),
    "orders": View(
        "How diverse the labels are",
        "Hill numbers against their order: the effective number of labels, with less and less weight on rare ones.",
        "order (q)",
        "Hill number, in labels",
        "order {}",
        "labels by the Hill number of {}",
        "The Hill number of order q is the number of equally frequent labels that would be as diverse. Order "
        "0 counts every label alike, seen or not; order 1 counts the frequent ones (it is the exponential of the "
        "entropy), and order 2 the most frequent ones (it is the inverse of Simpson's index). The steeper the fall, "
        "the more uneven the labels are. A source whose curve lies above another's everywhere is the more diverse.",
        first=(0, 1, 2),
    ),
}


def view_of(curve: Curve) -> View:
    """Return how to show a curve of any kind."""
    x_name, value_name = curve.x_name, curve.value_name
    title = f"{value_name} against {x_name}".capitalize()
    plain = View(title, "", x_name, value_name, f"{x_name} = {{}}", f"{value_name} at {{}}", "")
    return VIEWS.get(x_name, plain)


def is_empty(curve: Curve) -> bool:
    """Return whether there were no data: the curve of any data has a value above zero."""
    return not bool(curve.value.any())


def ring_of(curve: Curve) -> int | None:
    """Return the point that stands for the data themselves, if the others do not."""
    return curve.kinds.index("observed") if curve.kinds.count("observed") == 1 < len(curve) else None


def notes(curve: Curve) -> tuple[str, ...]:
    """Say in which direction the curve is biased, and whether an assumption visibly fails."""
    rises = curve.x_name == "orders" and bool(np.any(np.diff(curve.value) > _VISIBLE * curve.value[1:]))
    note = "Hill numbers of any distribution fall with their order: where these rise, the data are too few to tell."
    first = f"There is no interval: {curve.why_unknown}." if curve.why_unknown else curve.bias
    said = (first, *curve.warnings) if first else curve.warnings
    return (*said, note) if rises else said


def band_name(curve: Curve) -> str:
    """Name the band by its level and the errors that it covers."""
    is_short = curve.bias and not curve.why_unknown
    return f"{100 * curve.level:g}% interval" + (f" ({_causes(curve)}, no bias)" if is_short else "")


def _causes(curve: Curve) -> str:
    """Name the causes of error that a band covers: exact data have no noise."""
    return "sampling" if curve.guarantee is None else "sampling and noise"


def value_text(curve: Curve, at: int) -> str:
    """Write the value at one point as people read it: shares in percent, digits up to the second digit of the error."""
    return _with_digits(curve, at, curve.value) + _unit(curve)


def interval_text(curve: Curve, at: int) -> str:
    """Write the interval at one point, if there is one."""
    if curve.why_unknown:
        return "none"
    return f"{_with_digits(curve, at, curve.low)} to {_with_digits(curve, at, curve.high)}{_unit(curve)}"


def _with_digits(curve: Curve, at: int, values: NDArray[np.float64]) -> str:
    scale = 100.0 if view_of(curve).is_share else 1.0
    value, error = scale * float(values[at]), scale * _error(curve, at, curve.standard_error)
    if not error or not math.isfinite(value) or (values is curve.value and value.is_integer()):
        return format_number(value, digits=6)
    places = 1 - math.floor(math.log10(error))
    return f"{value:,.{min(max(places, 0), 9)}f}"


def _error(curve: Curve, at: int, errors: NDArray[np.float64]) -> float:
    """Return an error at one point, or 0 if it is only the rounding of floats."""
    error = float(errors[at])
    return error if error > _ROUNDING * abs(float(curve.value[at])) else 0.0


def _unit(curve: Curve) -> str:
    return "%" if view_of(curve).is_share else ""


def x_text(curve: Curve, at: int) -> str:
    """Write one x."""
    x = float(curve.x[at])
    return f"{x:,.0f}" if x.is_integer() else format_number(x, digits=6)


def cells_of(curve: Curve, at: int) -> tuple[str, str, str]:
    """Write one x, the value there and its interval."""
    return x_text(curve, at), value_text(curve, at), interval_text(curve, at)


def place_text(curve: Curve, at: int) -> str:
    """Name one place on the curve."""
    text = view_of(curve).place.format(x_text(curve, at))
    return text.replace("guesses", "guess").replace("draws", "draw") if curve.x[at] == 1 else text


def shown_kinds(curve: Curve) -> tuple[str, ...]:
    """Return the kind of each point, if there is more than one kind."""
    return curve.kinds if len(set(curve.kinds)) > 1 else ()


def parts_text(curve: Curve, at: int) -> list[str]:
    """Write the standard error of each cause at one point, if there are several causes."""
    scale = 100.0 if view_of(curve).is_share else 1.0
    return [f"{format_number(scale * _error(curve, at, errors), digits=2)}{_unit(curve)}" for _, errors in curve.parts]


def shown_points(curve: Curve, *, most: int = _ROWS) -> list[int]:
    """Return the points for a table of some ``most`` rows: those nearest to round x, both ends and the ring."""
    last = len(curve) - 1
    marks = _round_logs(curve.x) if view_of(curve).has_log_x else _round_steps(curve.x, most)
    picked = {0, last, *(int(np.argmin(np.abs(curve.x - mark))) for mark in marks)}
    ring = ring_of(curve)
    if ring is not None:
        picked = {ring, *(at for at in picked if abs(at - ring) != 1 or at in (0, last))}
    return sorted(picked)


def _round_logs(x: NDArray[np.float64]) -> list[float]:
    """Return 1, 10, 100, … up to the last x, with 2 and 5 times each of them if they are few."""
    powers = range(math.floor(math.log10(max(x[-1], 1))) + 1)
    digits = (1, 2, 5) if len(powers) <= 4 else (1,)
    return [mark for power in powers for digit in digits if (mark := digit * 10.0**power) <= x[-1]]


def _round_steps(x: NDArray[np.float64], most: int) -> list[float]:
    """Return multiples of a round step from the first to the last x, some ``most`` of them or fewer."""
    first, last = float(x[0]), float(x[-1])
    if x.size <= most or last <= first:
        return [float(mark) for mark in x[:most]]
    rough = (last - first) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(digit * power for digit in (1, 2, 5, 10) if digit * power >= rough)
    return [step * times for times in range(math.ceil(first / step), math.floor(last / step) + 1)]


def facts(curve: Curve) -> list[tuple[str, str]]:
    """Return names and sentences that say what the curve rests on."""
    found = [("Method", f"{curve.method}.")]
    if curve.assumes:
        found.append(("Assumes", f"{curve.assumes}."))
    meant = "at each point by itself, not for the whole curve at once"
    held = f"the error of {_causes(curve)}, but no bias," if curve.bias else "the true value"
    if not curve.why_unknown:
        found.append(("Band", f"meant to cover {held} with probability {curve.level:g}, {meant}."))
    if curve.parts:
        worst = int(np.argmax(curve.standard_error))
        names = [f"{text} from {cause}" for text, (cause, _) in zip(parts_text(curve, worst), curve.parts, strict=True)]
        joined = ", added in quadrature" if len(names) > 1 else ""
        sentence = f"standard errors are largest at {place_text(curve, worst)}: {' and '.join(names)}{joined}."
        found.append(("Error", sentence))
    found += [] if curve.guarantee is None else promise_lines(curve.guarantee)
    return [*found, *bound_of(curve)]


# Values that fall by more than this factor are drawn on a log scale: else half of the curve would be at the bottom.
_FAR = 30


def curve_figure(curve: Curve) -> Figure:
    """Draw a curve with its band: solid up to the data, which a ring marks, and dashed beyond.

    Guesses are on a log scale, and so are Hill numbers that fall far.
    """
    view = view_of(curve)
    figure, axes = canvas(view.value_label, view.x_label)
    if is_empty(curve):
        say_empty(axes, "the profile is empty")
        return figure
    floor = _scale_values(curve, axes)
    low, high = np.maximum(curve.low, floor), np.maximum(curve.high, floor)
    if curve.why_unknown:
        pass  # Readers would take a band of all possible values for an interval.
    elif len(curve) > 1:
        axes.fill_between(curve.x, low, high, color=BAND, linewidth=0, label=band_name(curve))
    else:
        axes.vlines(curve.x, low, high, color=BAND, linewidth=3, label=band_name(curve))
    _lines(curve, axes)
    _scale_x(curve, axes)
    add_legend(axes)
    return figure


def _lines(curve: Curve, axes: Axes) -> None:
    kinds = np.array(curve.kinds)
    beyond = np.flatnonzero(kinds == "extrapolated")
    within = np.flatnonzero(kinds != "extrapolated")
    at = ring_of(curve)
    if within.size > 1 or at is None:
        name = "interpolated" if "interpolated" in curve.kinds else "estimated"
        mark = "-" if within.size > 1 else "o"
        axes.plot(curve.x[within], curve.value[within], mark, color=BLUE, linewidth=1.6, label=name)
    if beyond.size:
        # The line begins at the last point of the data, so that there is no gap.
        beyond = np.append(within[-1:], beyond)
        axes.plot(curve.x[beyond], curve.value[beyond], "--", color=BLUE, linewidth=1.6, label="extrapolated")
    if at is not None:
        axes.plot(
            curve.x[at],
            curve.value[at],
            "o",
            label="observed",
            markersize=7,
            markeredgewidth=1.6,
            markerfacecolor="none",
            markeredgecolor=INK,
        )


def _scale_values(curve: Curve, axes: Axes) -> float:
    """Set the scale of the values, and return the smallest value shown."""
    view = view_of(curve)
    top = float((curve.value if curve.why_unknown else curve.high).max())
    if view.is_share:
        mark_shares(axes)
        return 0.0
    if curve.x_name == "orders" and top > _FAR * float(curve.value.min()):
        floor = max(1.0, float(curve.value.min()) / 3)
        axes.set_yscale("log")
        axes.set_ylabel(f"{view.value_label} (log scale)")
        scale_of_counts(axes.yaxis, top * 1.5)
        axes.set_ylim(floor / 1.1, top * 1.5)
        return floor
    axes.set_ylim(0, top * 1.05)
    name_marks(axes.yaxis, top)
    return 0.0


def _scale_x(curve: Curve, axes: Axes) -> None:
    last = float(curve.x[-1])
    if view_of(curve).has_log_x:
        scale_across(axes, max(2.5, last * 1.25))
        return
    first = min(0.0, float(curve.x[0]))
    room = 0.02 * (last - first) or 1.0
    axes.set_xlim(first, last + room)
    name_marks(axes.xaxis, last)


def write_curve(curve: Curve, sheet: Sheet) -> None:
    """Write the page of a curve; unless the curve was made from a release, it says first that it is not private."""
    view = view_of(curve)
    kinds = shown_kinds(curve)
    sheet.write(
        "anonhist.report/curve.html",
        headline=view.title,
        subtitle=view.subtitle,
        warning=NOT_PRIVATE if curve.guarantee is None else warning(curve.guarantee.epsilon),
        cards=[
            (value_text(curve, at), f"{view.told.format(place_text(curve, at))}{_interval(curve, at)}")
            for at in _cards(curve)
        ],
        notes=notes(curve),
        plot=inline_svg(
            lambda: curve_figure(curve),
            name="curve",
            description=f"{view.title}{_band_text(curve)}",
            hover=Hover(curve.x.tolist(), [_told(curve, at) for at in range(len(curve))]),
        ),
        caption=f"{view.value_label}, against {view.x_label}{_band_text(curve)}.".capitalize(),
        reading=view.reading,
        # These are the short names: a printed page has no room for longer ones.
        heads=[
            *(curve.x_name, curve.value_name),
            *(f"± {cause}" for cause, _ in curve.parts),
            band_name(curve),
            *(["kind"] if kinds else []),
        ],
        rows=[
            (
                x_text(curve, at),
                value_text(curve, at),
                *parts_text(curve, at),
                interval_text(curve, at),
                *kinds[at : at + 1],
            )
            for at in shown_points(curve)
        ],
        parts=len(curve.parts),
        download=download(curve, rows=len(curve)),
        promise=None if curve.guarantee is None else promised(curve.guarantee),
        facts=[fact for fact in facts(curve) if fact[0] not in PROMISE_NAMES],
    )


def _band_text(curve: Curve) -> str:
    return "" if curve.why_unknown else f", with the {band_name(curve)} at each"


def _cards(curve: Curve) -> list[int]:
    """Return the points that are shown first: the observed one and the last, or those near the wanted x."""
    wanted = view_of(curve).first
    if not wanted:
        last = len(curve) - 1
        ring = ring_of(curve)
        return sorted({last if ring is None else ring, last})
    near = [int(abs(curve.x - mark).argmin()) for mark in wanted]
    return sorted({at for at, mark in zip(near, wanted, strict=True) if abs(curve.x[at] - mark) <= 0.1 * mark})


def _told(curve: Curve, at: int) -> str:
    """Write on one line what the curve shows at one point."""
    return f"{place_text(curve, at)}: {value_text(curve, at)}{_interval(curve, at)}"


def _interval(curve: Curve, at: int) -> str:
    return "" if curve.why_unknown else f"; {band_name(curve)} {interval_text(curve, at)}"
