"""``anonhist curve``: what the data say at many places at once, with a band."""

from __future__ import annotations

import sys
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, TextIO

import click

from anonhist.cli.arguments import privacy_unit, whole_number
from anonhist.cli.reading import profile_or_release, tell_operator
from anonhist.cli.tables import console_on
from anonhist.cli.targets import STDOUT, check_report, csv_target, keep_plots_quiet, published_command
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from anonhist.profiles import Profile
    from anonhist.properties.curve import Curve
    from anonhist.releases import Release

_WIDEST = 110
# More would fill a page, or memory, and show nothing else.
_MOST = 10_000
# On a figure more cannot be told apart, and 40, as in iNEXT, show corners.
_POINTS = 100
_OWN = {"rarefaction": ("draws", "points"), "guessing": ("points",), "hill": ("orders",)}
# One option, of one number or several.
_TYPED = {"draws": "--draws", "points": "--points", "orders": "--order"}


def run_curve(
    *,
    kind: str,
    source: str,
    draws: str | None,
    points: str | None,
    order: str | None,
    bootstraps: str,
    level: float,
    output: str | None,
    report: str | None,
    force: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Check everything that can be checked, then read, compute, print and write."""
    options: dict[str, Any] = {"points": _POINTS} if "points" in _OWN[kind] else {}
    options |= _options(kind, draws=draws, points=points, orders=order)
    options |= {"bootstraps": _number(bootstraps, "--bootstraps"), "level": level}
    unit = privacy_unit(None, max_per_user=reading["max_per_user"], max_count=None)
    target = csv_target(source, output, what="A curve is", force=force)
    if report is not None:
        check_report(source, report, force=force)

    from anonhist.cli.progress import progress_bars
    from anonhist.numeric.pulse import tell_share
    from anonhist.profiles import Profile
    from anonhist.report.curve.wording import NOT_PRIVATE

    # Of no data a curve costs nothing, and it refuses what any curve would.
    _curve(kind, Profile([], []), options)
    remarks: list[str] = []
    with progress_bars("Drawing samples", shown=not quiet) as bars:
        data = profile_or_release(
            source,
            reading,
            unit=unit,
            not_private=NOT_PRIVATE,
            notify=None if quiet else remarks.append,
            progress=bars.reading,
        )
        with tell_share(bars.working, 0.0, 1.0):
            curve = _curve(kind, data, options)
    tell_operator(remarks, quiet=quiet or not isinstance(data, Profile))
    _write(curve, target, report, force=force, quiet=quiet)


def _options(kind: str, **given: str | None) -> dict[str, Any]:
    """Read the options of one kind of curve, and refuse those of the others."""
    options: dict[str, Any] = {}
    for name, text in given.items():
        if text is None:
            continue
        if name not in _OWN[kind]:
            owners = " and ".join(owner for owner, names in _OWN.items() if name in names)
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


def _curve(kind: str, data: Profile | Release, options: dict[str, Any]) -> Curve:
    from anonhist.properties.diversity.hill_curve import hill_curve
    from anonhist.properties.guessing.guessing_curve import guessing_curve
    from anonhist.properties.rarefaction import rarefaction_curve

    curves: dict[str, Any] = {"rarefaction": rarefaction_curve, "guessing": guessing_curve, "hill": hill_curve}
    curve: Curve = curves[kind](data, **options)
    return curve


def _write(curve: Curve, target: str | None, report: str | None, *, force: bool, quiet: bool) -> None:
    """Print and write; a pipe, whose reader may go at any time, comes last."""
    if target not in (None, STDOUT):
        from anonhist.formats.atomic import write_whole
        from anonhist.formats.tables import csv_text

        write_whole(target, csv_text(curve).encode(), overwrite=force)
    if report is not None:
        from anonhist.report import write_report

        keep_plots_quiet()
        write_report(curve, report, command=published_command(), overwrite=force)
    told = sys.stderr if target == STDOUT else sys.stdout
    if not quiet and (told is sys.stdout or told.isatty()):
        _say(curve, told, has_table=target != STDOUT)
        for written in (target, report):
            if written not in (None, STDOUT):
                click.echo(f"Wrote {written}.", file=told)
    if target == STDOUT:
        from anonhist.cli.output import print_whole
        from anonhist.formats.tables import csv_text

        print_whole(csv_text(curve))


def _say(curve: Curve, stream: TextIO, *, has_table: bool) -> None:
    """Tell a person: some of the points, and what they rest on."""
    from rich.text import Text

    from anonhist.report.curve.wording import facts, notes, view_of

    console = console_on(stream, widest=_WIDEST)
    console.print(Text(view_of(curve).subtitle, style="bold"))
    if has_table:
        console.print()
        _table(curve, console)
        console.print()
    for warning in notes(curve):
        console.print(Text(f"Warning: {warning}"), style="red")
    for name, sentence in facts(curve):
        console.print(Text(f"{name}: {sentence}"), style="dim")


def _table(curve: Curve, console: Console) -> None:
    from rich.table import Table

    from anonhist.report.curve.wording import (
        band_name,
        interval_text,
        shown_kinds,
        shown_points,
        value_text,
        view_of,
        x_text,
    )

    view, kinds = view_of(curve), shown_kinds(curve)
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for head in (view.x_label, view.value_label, band_name(curve)):
        table.add_column(head, justify="right", no_wrap=True)
    if kinds:
        table.add_column("kind", no_wrap=True)
    for at in shown_points(curve):
        table.add_row(x_text(curve, at), value_text(curve, at), interval_text(curve, at), *kinds[at : at + 1])
    console.print(table)
