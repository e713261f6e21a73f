"""Estimates as lines and as a table, as a person sees them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, TextIO

from anonhist.properties.estimate import Estimate, Estimates, Holds, format_number
from anonhist.report.wording import bound_of, known_ends, method_text, promise_lines
from anonhist.terminal.destinations import console_on, print_hanging
from anonhist.terminal.output import say_line, tell_of_epsilon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console
    from rich.table import Table

    from anonhist.profiles import Profile
    from anonhist.releases import Release

    Question = Callable[[Profile | Release, Callable[[float], None] | None], Estimates]

# From the first on there is room for assumptions beside the numbers; lines longer than the other are hard to read.
_WIDE, _WIDEST = 100, 120
# Marks of what is said beside an interval.
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def log(found: Estimates, _: TextIO) -> None:
    """Say what must not be missed where nobody watches: an epsilon that protects nobody."""
    if found[0][1].guarantee is not None:
        tell_of_epsilon(found[0][1].guarantee)


def say(found: Estimates, stream: TextIO) -> None:
    """Tell a person: one estimate in lines, several in a table."""
    if len(found) == 1:
        for line in _lines(*found[0]):
            say_line(line, stream)
        return
    _print_all(found, console_on(stream, widest=_WIDEST))


def _lines(name: str, estimate: Estimate) -> Iterator[str]:
    unit = f" {estimate.unit}" if estimate.unit else ""
    yield from _number(name, estimate, unit)
    yield f"Method: {estimate.method}"
    if estimate.assumes:
        yield f"The estimate assumes: {estimate.assumes}."
    if estimate.parts:
        parts = ", ".join(f"{cause} {format_number(error, digits=3)}" for cause, error in estimate.parts)
        yield f"Standard errors, without bias: {parts}." if estimate.statement.reason else f"Standard errors: {parts}."
    if estimate.guarantee is not None:
        told = (*promise_lines(estimate.guarantee), *bound_of(estimate))
        yield from (f"{title}: {sentence}" for title, sentence in told)
    for warning in estimate.warnings:
        yield f"Warning: {warning}"


def _number(name: str, estimate: Estimate, unit: str) -> Iterator[str]:
    """Say the number, and what is known of the truth; no ± where that would be wrong."""
    value, share = format_number(estimate.value, digits=6), f"{100 * estimate.level:.6g} %"
    reason, holds = estimate.statement.reason, estimate.statement.holds
    if holds is Holds.BOTH:
        error = "" if reason else f" ± {format_number(estimate.standard_error, digits=3)}"
        yield f"{name}: {value}{error}{unit}"
        why = f"; {reason}" if reason else ""
        yield f"{share} interval: {known_ends(estimate, digits=6)}{unit}{why}"
    elif holds is Holds.NONE:
        yield f"{name}: {value}{unit}, without an interval: {reason}"
    else:
        yield f"{name}: {known_ends(estimate, digits=6)}{unit} ({share} confidence); {reason}"
        yield f"Estimate: {value}{unit}"


def _print_all(found: Estimates, console: Console) -> None:
    """Print a table, the warnings that its marks stand for, and what the estimates assume and promise."""
    from rich.text import Text

    warnings = list(dict.fromkeys(warning for _, estimate in found for warning in estimate.warnings))
    reasons = list(dict.fromkeys(each.statement.reason for _, each in found if each.statement.reason))
    is_wide = console.width >= _WIDE
    console.print(_table(found, warnings, reasons, assumptions=is_wide))
    console.print()
    for reason in reasons:
        print_hanging(f"[{_LETTERS[reasons.index(reason)]}] {reason}", console)
    for mark, warning in enumerate(warnings, start=1):
        print_hanging(f"[{mark}] {warning}", console, style="red")
    if not is_wide:
        console.print("Assumed:", style="dim")
        for assumes, names in _assumptions(found).items():
            print_hanging(f"  {'; '.join(names)}: {assumes}.", console, style="dim")
    for guarantee in dict.fromkeys(estimate.guarantee for _, estimate in found):
        if guarantee is None:
            continue
        for name, sentence in promise_lines(guarantee):
            console.print(Text(f"{name}: {sentence}", style="red" if name == "Warning" else ""))
        if any(estimate.statement.holds is not Holds.NONE for _, estimate in found):
            console.print("Intervals cover sampling error and privacy noise, added in quadrature; the CSV lists both.")
    for name, sentence in bound_of(found):
        console.print(Text(f"{name}: {sentence}"))


def _table(found: Estimates, warnings: list[str], reasons: list[str], *, assumptions: bool) -> Table:
    """Return a table with a heading for each property and a row for each estimate."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("property, method", overflow="fold")
    table.add_column("estimate", justify="right", no_wrap=True)
    table.add_column(f"{100 * found[0][1].level:.6g} % interval", justify="right", no_wrap=True)
    if assumptions:
        table.add_column("assumes", style="dim", ratio=1)
    for name, group in groupby(found, key=lambda each: each[0].partition(", ")[0]):
        estimates = list(group)
        unit = estimates[0][1].unit
        table.add_row(Text(f"{name}, {unit}" if unit else name, style="bold"))
        said = ""
        for title, estimate in estimates:
            marks = "".join(f" [{warnings.index(warning) + 1}]" for warning in estimate.warnings)
            label = Padding(Text.assemble(method_text(title, estimate), (marks, "red")), (0, 0, 0, 2))
            news = "" if estimate.assumes == said else estimate.assumes
            reason = estimate.statement.reason
            why = f" [{_LETTERS[reasons.index(reason)]}]" if reason else ""
            ends = Text(f"{known_ends(estimate, digits=5)}{why}")
            row = (label, format_number(estimate.value, digits=5), ends, Text(news))
            table.add_row(*(row if assumptions else row[:3]))
            said = estimate.assumes
    return table


def _assumptions(found: Estimates) -> dict[str, list[str]]:
    """Return of each assumption what rests on it."""
    listed: dict[str, list[str]] = {}
    for title, estimate in found:
        name = f"{title.partition(', ')[0]}, {method_text('', estimate)}"
        names = listed.setdefault(estimate.assumes, [])
        if name not in names:
            names.append(name)
    listed.pop("", None)
    return listed
