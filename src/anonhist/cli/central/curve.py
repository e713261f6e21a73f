"""``anonhist curve``: estimates at many places at once, with a band."""

from __future__ import annotations

import sys
from decimal import Decimal, InvalidOperation
from inspect import signature
from typing import TYPE_CHECKING, Any

import click

from anonhist.catalogue import load
from anonhist.cli.arguments import privacy_unit, whole_number
from anonhist.cli.options import (
    csv_output_option,
    force_option,
    level_option,
    max_per_user_option,
    reading_options,
    report_options,
)
from anonhist.cli.output import say_line
from anonhist.cli.reading import READING, Reading, profile_of_source, released_source, tell_operator
from anonhist.cli.sections import SectionedCommand
from anonhist.cli.targets import check_report, csv_target
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist.cli.targets import AskedPage
    from anonhist.profiles import Profile
    from anonhist.properties.curve import Curve
    from anonhist.releases import Release

# More would fill a page, or memory, and show nothing else.
_MOST = 10_000
# On a figure more cannot be told apart, and 40, as in iNEXT, show corners.
_POINTS = 100
# Which options of theirs each takes, its parameters say.
_CURVES = {
    "rarefaction": ".properties.rarefaction:rarefaction_curve",
    "guessing": ".properties.guessing.guessing_curve:guessing_curve",
    "hill": ".properties.diversity.hill_curve:hill_curve",
}
# One option, of one number or several.
_TYPED = {"draws": "--draws", "points": "--points", "orders": "--order"}
_SECTIONS = {
    "What to draw": ("draws", "points", "order", "bootstraps", "level"),
    "What to read": (*READING, "max_per_user"),
    "What to write": ("output", "report", "title", "force", "quiet"),
}
_EXAMPLES = """
anonhist curve rarefaction data/bci_trees.csv --report trees.html
anonhist curve guessing data.csv --label password --report curves.html
anonhist curve hill data/bci_trees.csv --order 0:2:0.5 -o hill.csv
anonhist curve rarefaction release.json --draws 1e6
"""


def _has_no_epsilon(_: click.Context, __: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise UsageError(
            "A curve is made private by a release: give --epsilon to 'anonhist release', and draw the curve from its "
            "file, which costs nothing more."
        )


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
@click.argument("kind", metavar="KIND", type=click.Choice(tuple(_CURVES)))
@click.argument("source")
@click.option("--draws", metavar="M", help="For rarefaction: up to how many draws.  [default: twice the items]")
@click.option(
    "--points",
    metavar="P",
    help="For rarefaction and guessing: at how many places to compute.  [default: 100]",
)
@click.option(
    "--order",
    metavar="Q,Q,…",
    help="For hill: which orders, from 0 to 12, as a list or as FIRST:LAST:STEP.  [default: 0:3:0.1]",
)
@click.option(
    "--bootstraps",
    metavar="B",
    default="50",
    show_default=True,
    help="How many samples are drawn for the band, at least 3.",
)
@level_option("Probability with which the band is meant to hold the truth, at each place.")
@reading_options
@max_per_user_option
@click.option("--epsilon", hidden=True, expose_value=False, callback=_has_no_epsilon)
@csv_output_option
@report_options("Also write a page with the curve and how to read it.")
@force_option
@click.option("--quiet", is_flag=True, help="Say nothing but errors, and that a curve is not private.")
def curve(
    *,
    kind: str,
    source: str,
    draws: str | None,
    points: str | None,
    order: str | None,
    bootstraps: str,
    level: float,
    reading: Reading,
    max_per_user: int | None,
    output: str | None,
    report: AskedPage | None,
    force: bool,
    quiet: bool,
) -> None:
    """Draw a curve of the underlying distribution, with a band.

    \b
    KIND is one of
      rarefaction  how many labels so many draws would show, fewer or more than
                   there are
      guessing     which share of accounts so many guesses break
      hill         Hill numbers: how many labels there are, the less the rare
                   ones count

    SOURCE is read as by 'anonhist release'. There is no --epsilon here: a curve is private, and free, where SOURCE is a
    released .json or .parquet file; of anything else it is exact and not private.
    """  # noqa: D301  # click wants the sign itself before lines that it is to leave alone
    options: dict[str, Any] = {"points": _POINTS} if "points" in _taken(kind) else {}
    options |= _options(kind, draws=draws, points=points, orders=order)
    options |= {"bootstraps": _number(bootstraps, "--bootstraps"), "level": level}
    unit = privacy_unit(None, max_per_user=max_per_user, max_count=None)
    target = csv_target(source, output, what="A curve is", force=force)
    sheet = check_report(source, report, force=force)

    from anonhist.cli.central.curve_display import write_curve
    from anonhist.cli.progress import progress_bars
    from anonhist.numeric.pulse import tell_share
    from anonhist.profiles import Profile
    from anonhist.report.curve.wording import NOT_PRIVATE

    # Of no data a curve costs nothing, and it refuses what any curve would.
    _curve(kind, Profile([], []), options)
    remarks: list[str] = []
    with progress_bars("Drawing samples", shown=not quiet) as bars:
        data: Profile | Release | None = released_source(source)
        is_private = data is None
        if data is None:
            notify = None if quiet else remarks.append
            data = profile_of_source(
                source, reading, max_per_user=max_per_user, unit=unit, notify=notify, progress=bars.reading
            )
            say_line(f"Warning: {NOT_PRIVATE}", sys.stderr, bold=True, fg="red")
        with tell_share(bars.working, 0.0, 1.0):
            curve = _curve(kind, data, options)
    tell_operator(remarks, quiet=quiet or not is_private)
    write_curve(curve, target, sheet, force=force, quiet=quiet)


def _options(kind: str, **given: str | None) -> dict[str, Any]:
    """Read the options of one kind of curve, and refuse those of the others."""
    options: dict[str, Any] = {}
    for name, text in given.items():
        if text is None:
            continue
        if name not in _taken(kind):
            owners = " and ".join(owner for owner in _CURVES if name in _taken(owner))
            message = f"{_TYPED[name]} belongs to {owners}, not to {kind}; leave it out."
            raise UsageError(message)
        readers = {"draws": lambda text: whole_number(text, name="--draws"), "orders": _orders}
        options[name] = readers[name](text) if name in readers else _number(text, _TYPED[name])
    return options


def _number(text: str, name: str) -> int:
    number = whole_number(text, name=name)
    if number is None or number > _MOST:
        message = f"{name} must be at most {_MOST:,}, not {text}."
        raise UsageError(message)
    return number


def _orders(text: str) -> tuple[float, ...]:
    """Read a list of orders, or FIRST:LAST:STEP, in decimals: ten steps of 0.1 make 1.

    Examples
    --------
    >>> _orders("0,1, 2.5"), _orders("0:0.3:0.1")
    ((0.0, 1.0, 2.5), (0.0, 0.1, 0.2, 0.3))
    """
    is_range = ":" in text
    try:
        numbers = [Decimal(part.strip()) for part in text.split(":" if is_range else ",")]
    except InvalidOperation:
        numbers = []
    if (
        not numbers
        or not all(number.is_finite() and abs(number) < _MOST for number in numbers)
        or (is_range and len(numbers) != 3)
    ):
        message = f"--order must be numbers such as 0,1,2, or FIRST:LAST:STEP such as 0:3:0.1, not {text!r:.80}."
        raise UsageError(message)
    if not is_range:
        return tuple(map(float, numbers))
    first, last, step = numbers
    if step <= 0 or last < first:
        message = f"--order FIRST:LAST:STEP must go up, such as 0:3:0.1, not {text!r:.80}."
        raise UsageError(message)
    if last - first >= _MOST * step:
        message = f"--order must be at most {_MOST:,}: take a larger step."
        raise UsageError(message)
    return tuple(float(first + step * times) for times in range(int((last - first) / step) + 1))


def _taken(kind: str) -> Iterable[str]:
    """Return the names of what a curve takes, our options among them."""
    return signature(load(_CURVES[kind])).parameters


def _curve(kind: str, data: Profile | Release, options: dict[str, Any]) -> Curve:
    curve: Curve = load(_CURVES[kind])(data, **options)
    return curve
