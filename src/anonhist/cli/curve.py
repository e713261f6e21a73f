"""``anonhist curve``: estimates at many points at once, with a confidence band."""

from __future__ import annotations

import sys
from decimal import Decimal, InvalidOperation
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, TextIO

import click

from anonhist.catalogue import load
from anonhist.errors import UsageError
from anonhist.terminal.decorators import Brief, OneOf, SectionedCommand, WholeNumber
from anonhist.terminal.destinations import Outputs, console_on, table_of
from anonhist.terminal.options import level_option, output_options, reading_options, users_option
from anonhist.terminal.output import say_line
from anonhist.terminal.protection import Protection
from anonhist.terminal.reading import (
    ENGINE,
    INPUT,
    group_option,
    profile_of_source,
    protection_of,
    reading_bars,
    released_source,
    source_argument,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist.profiles import Profile
    from anonhist.properties.curve import Curve
    from anonhist.releases import Release

# More points would fill a page, or memory, without showing anything else.
_MOST = 10_000
# A figure cannot show more distinctly, and 40, as in iNEXT, show corners.
_POINTS = 100
# The parameters of each function say which of these options it takes.
_CURVES = {
    "rarefaction": ".properties.support_coverage:rarefaction_curve",
    "guessing": ".properties.guessing_curve:guessing_curve",
    "hill": ".properties.orders:hill_curve",
}
# One option, with one number or several.
_TYPED = {"draws": "--draws", "points": "--points", "orders": "--order", "of": "--of"}
_SECTIONS = {
    "Curve": ("draws", "points", "order", "of", "bootstraps", "level"),
    "Input": (*INPUT, "max_per_user", "group"),
    "Engine": ENGINE,
    "Output": ("output", "report", "title", "force", "quiet"),
}
_EXAMPLES = """
anonhist curve rarefaction data/bci_trees.csv --report trees.html
anonhist curve guessing data.csv --label password --report curves.html
anonhist curve guessing release.json --of data
anonhist curve hill data/bci_trees.csv --order 0:2:0.5 -o hill.csv
anonhist curve rarefaction release.json --draws 1e6
"""
_BRIEF = Brief(
    (
        "draws",
        "points",
        "order",
        "of",
        "level",
        "label",
        "count",
        "format_",
        "table",
        "group",
        "output",
        "report",
        "force",
    ),
    "KIND is rarefaction, guessing or hill. SOURCE is read as in 'anonhist release', or is a released file, from which "
    "the curve is private.",
)


def _has_no_epsilon(_: click.Context, __: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise UsageError(
            "'curve' takes no --epsilon. For a private curve, run 'anonhist release' with --epsilon and draw the "
            "curve from the released file, at no further cost."
        )


@click.command(cls=SectionedCommand, sections=_SECTIONS, brief=_BRIEF, epilog=_EXAMPLES)
@click.argument("kind", metavar="KIND", type=OneOf(tuple(_CURVES)))
@source_argument
@click.option(
    "--draws",
    type=WholeNumber(),
    metavar="M",
    help="For rarefaction: largest number of draws.  [default: twice the items]",
)
@click.option(
    "--points",
    type=WholeNumber(_MOST),
    metavar="P",
    help="For rarefaction and guessing: number of points on the curve.  [default: 100]",
)
@click.option(
    "--order",
    metavar="Q,Q,…",
    help="For hill: orders from 0 to 12, as a list or as FIRST:LAST:STEP.  [default: 0:3:0.1]",
)
@click.option(
    "--of",
    type=OneOf(("distribution", "data")),
    metavar="TRUTH",
    help="For guessing: bounds of the distribution, behind independent accounts, or of the data.  "
    "[default: distribution]",
)
@click.option(
    "--bootstraps",
    type=WholeNumber(_MOST),
    metavar="B",
    default=50,
    show_default=True,
    help="Number of bootstrap samples for the band, at least 3.",
)
@level_option("Confidence level of the band at each point.")
@reading_options
@group_option
@users_option
@click.option("--epsilon", hidden=True, expose_value=False, callback=_has_no_epsilon)
@output_options(
    page="Also write an HTML page with the curve and how to read it.",
    also_printed=" and the warning that a curve is not private",
)
def curve(
    *,
    kind: str,
    sources: tuple[str, ...],
    draws: int | None,
    points: int | None,
    order: str | None,
    of: str | None,
    bootstraps: int,
    level: float,
    reading: dict[str, Any],
    group: str | None,
    protection: Protection,
    outputs: Outputs,
) -> None:
    """Estimate a curve, such as rarefaction, with a confidence band.

    \b
    KIND is one of
      rarefaction  how many labels a sample of any size would contain
      guessing     the share of accounts that a number of guesses breaks
      hill         Hill numbers: the effective number of labels, with less
                   weight on rare ones as the order grows

    SOURCE is read as in 'anonhist release'. From a released .json or .parquet file, the curve is private and costs no
    more budget. From any other source, the curve is computed from the exact data and is not private.
    """  # noqa: D301  # click wants the sign itself before lines that it is to leave alone
    options = _options(kind, draws=draws, points=points, orders=order, of=of) | {
        "bootstraps": bootstraps,
        "level": level,
    }
    protection = protection_of(sources, protection)
    destination = outputs.for_table(*sources, what="A curve is")

    from anonhist.numeric.pulse import tell_share
    from anonhist.profiles import Profile
    from anonhist.report import curve as wording

    # Without data a curve costs nothing, and it refuses everything that any curve would.
    _curve(kind, Profile([], []), options)
    data: Profile | Release | None = released_source(sources, group)
    with reading_bars("Drawing samples", quiet=outputs.quiet, is_private=data is None) as bars:
        if data is None:
            data = profile_of_source(sources, reading, protection, bars)
            say_line(f"Warning: {wording.NOT_PRIVATE}", sys.stderr, bold=True, fg="red")
        with tell_share(bars.working, 0.0, 1.0):
            curve = _curve(kind, data, options)
    destination.write(curve, partial(_say, curve))


def _options(kind: str, **given: Any) -> dict[str, Any]:
    """Return the options of one kind of curve, and refuse those of other kinds."""
    options: dict[str, Any] = {"points": _POINTS} if "points" in _taken(kind) else {}
    for name, value in given.items():
        if value is None:
            continue
        if name not in _taken(kind):
            owners = " and ".join(owner for owner in _CURVES if name in _taken(owner))
            raise UsageError(f"{_TYPED[name]} applies to {owners}, not to {kind}; leave it out.")
        options[name] = _orders(value) if name == "orders" else value
    return options


def _orders(text: str) -> tuple[float, ...]:
    """Read a list of orders, or FIRST:LAST:STEP, in decimals: ten steps of 0.1 make 1."""
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
        message = f"--order must be a list such as 0,1,2 or a range FIRST:LAST:STEP such as 0:3:0.1, not {text!r:.80}."
        raise UsageError(message)
    if not is_range:
        return tuple(map(float, numbers))
    first, last, step = numbers
    if step <= 0 or last < first:
        raise UsageError(f"--order FIRST:LAST:STEP must ascend, as in 0:3:0.1, not {text!r:.80}.")
    if last - first >= _MOST * step:
        raise UsageError(f"--order must be at most {_MOST:,}: take a larger step.")
    return tuple(float(first + step * times) for times in range(int((last - first) / step) + 1))


def _taken(kind: str) -> Iterable[str]:
    """Return the names of the parameters of a curve that are options here."""
    return signature(load(_CURVES[kind])).parameters


def _curve(kind: str, data: Profile | Release, options: dict[str, Any]) -> Curve:
    curve: Curve = load(_CURVES[kind])(data, **options)
    return curve


def _say(curve: Curve, stream: TextIO) -> None:
    """Print some of the points, if the stream does not hold them all, and what they are based on."""
    from rich.text import Text

    from anonhist.report import curve as wording

    console, view, kinds = console_on(stream, widest=110), wording.view_of(curve), wording.shown_kinds(curve)
    console.print(Text(view.subtitle, style="bold"))
    if stream is sys.stdout:
        heads = (view.x_label, view.value_label, wording.band_name(curve), *(["kind"] if kinds else []))
        rows = [(*wording.cells_of(curve, at), *kinds[at : at + 1]) for at in wording.shown_points(curve)]
        console.print()
        console.print(table_of(heads, rows, console, texts=[3] if kinds else []))
        console.print()
    for warning in wording.notes(curve):
        console.print(Text(f"Warning: {warning}"), style="red")
    for name, sentence in wording.facts(curve):
        console.print(Text(f"{name}: {sentence}"), style="dim")
