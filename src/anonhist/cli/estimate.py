"""``anonhist estimate``: what the data say of the distribution behind them, private or not."""

from __future__ import annotations

import csv
import io
import math
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import click

from anonhist.cli.arguments import privacy_unit, whole_number
from anonhist.cli.reading import profile_of_source, profile_or_release, tell_operator
from anonhist.cli.targets import STDOUT, csv_target
from anonhist.errors import UsageError
from anonhist.privacy import NeighboringRelation, parse_epsilon

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anonhist.profiles import Profile
    from anonhist.properties import Estimate
    from anonhist.releases import Release

NOT_PRIVATE = "these numbers are not private: they tell of the data. Use --epsilon, or a released file."
EVERYTHING = "all"
_WIDEST = 110
_COLUMNS = ("property", "value", "standard_error", "low", "high", "level", "unit", "method", "assumes")
_LAST_COLUMNS = ("parts", "warnings", "guarantee")
# As typed, and as the functions call them; whole numbers may be written like 1e6.
_WHOLE = ("alphabet_size", "draws", "guesses")
_TYPED = {"level": "--interval", "public_items": "--public-items"}

Named = tuple[str, "Estimate"]


def run_estimate(
    *,
    property_: str,
    source: str,
    epsilon: str | None,
    interval: float,
    public_items: str | None,
    output: str | None,
    force: bool,
    quiet: bool,
    unit: str | None,
    max_count: int | None,
    relation: str,
    **others: Any,
) -> None:
    """Check everything that can be checked, then read, estimate, print and write."""
    protected = privacy_unit(unit, max_per_user=others["max_per_user"], max_count=max_count)
    options = _own_options(others)
    if epsilon is None:
        _check_not_private(unit, relation, public_items)
    else:
        parse_epsilon(epsilon)
    target = csv_target(source, output, what="Estimates are", force=force)
    _check_property(property_, options, private=epsilon is not None)

    from anonhist.cli.progress import progress_bars

    remarks: list[str] = []
    with progress_bars("Estimating", shown=not quiet) as bars:
        read = partial(profile_or_release, not_private=NOT_PRIVATE) if epsilon is None else profile_of_source
        data = read(source, others, unit=protected, notify=None if quiet else remarks.append, progress=bars.reading)
        with _as_typed():
            if epsilon is not None:
                settings = {"relation": NeighboringRelation(relation), "epsilon": epsilon, "level": interval}
                if public_items is not None:
                    settings["public_items"] = whole_number(public_items, name="--public-items")
                found = [_private(property_, data, settings | options)]
            elif property_ == EVERYTHING:
                from anonhist.properties.catalogue import estimate_all

                found = list(estimate_all(data, level=interval, progress=bars.working, **options))
            else:
                from anonhist.properties.catalogue import PROPERTIES

                found = [(property_, PROPERTIES[property_].estimate(data, level=interval, **options))]
    tell_operator(remarks)
    _write(found, target, force=force, quiet=quiet)


def _own_options(others: dict[str, Any]) -> dict[str, Any]:
    """Take out of the options those of properties that were given, as the functions call them."""
    options = {}
    for name in ("method", *_WHOLE, "order", "share", "base"):
        value = others.pop(name)
        if value is None:
            continue
        if name in _WHOLE:
            value = whole_number(value, name=_typed(name))
        elif name == "base":
            value = _base(value)
        elif name == "order" and value.is_integer():
            value = int(value)
        options[name] = value
    return options


def _base(text: str) -> float:
    """Read the base of a logarithm: a number above 1, or e."""
    try:
        base = math.e if text.strip().lower() == "e" else float(text)
    except ValueError:
        base = math.nan
    if not 1 < base < math.inf:
        message = f"--base must be a number above 1, such as 2 for bits, or e, not {text!r}."
        raise UsageError(message)
    return base


def _check_not_private(unit: str | None, relation: str, public_items: str | None) -> None:
    """Refuse options that only a private estimate has."""
    given = {"--unit": unit, "--public-items": public_items}
    if relation != "add-or-remove":
        given["--relation"] = relation
    foreign = [option for option, value in given.items() if value is not None]
    if foreign:
        message = f"{foreign[0]} belongs to private estimates: give --epsilon as well, or leave it out."
        raise UsageError(message)


def _check_property(name: str, options: dict[str, Any], *, private: bool) -> None:
    """Refuse what could not be estimated before any data are read."""
    from anonhist.mechanisms.estimators import PRIVATE_PROPERTIES
    from anonhist.properties.catalogue import PROPERTIES

    if name == EVERYTHING:
        if private:
            raise UsageError(
                "Estimating all things privately would divide the budget: make a release with 'anonhist release', and "
                "estimate from its file, which costs nothing more."
            )
        foreign = sorted(options.keys() - {"alphabet_size", "draws", "base"})
        if foreign:
            message = f"{_typed(foreign[0])} does not belong to all; leave it out."
            raise UsageError(message)
        return
    known = PRIVATE_PROPERTIES if private else PROPERTIES
    if name not in known:
        message = (
            f"There is no private estimator of {name}, which one item may change by any amount: make a release with "
            "'anonhist release', and estimate from its file."
        )
        raise UsageError(message)
    with _as_typed():
        known[name].check(name, options)


def _private(name: str, profile: Profile | Release, settings: dict[str, Any]) -> Named:
    from anonhist.mechanisms.estimators import PRIVATE_PROPERTIES

    return name, PRIVATE_PROPERTIES[name].estimate(profile, **settings)


class _as_typed:  # noqa: N801  # reads as a phrase where it is used
    """Let errors speak of options as they are typed."""

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Say it again in the words of the command line."""
        if isinstance(error, UsageError):
            sentence = str(error)
            for option in ("alphabet_size", "public_items"):
                sentence = sentence.replace(option, _typed(option))
            for option in ("draws", "guesses", "order", "share", "base", "method"):
                for wording in (f"{option} does not", f"{option} must", f"needs {option}:"):
                    sentence = sentence.replace(wording, wording.replace(option, _typed(option)))
            raise UsageError(sentence) from None


def _typed(name: str) -> str:
    return _TYPED.get(name, "--" + name.replace("_", "-"))


def _write(found: Sequence[Named], target: str | None, *, force: bool, quiet: bool) -> None:
    """Print and write; a pipe, whose reader may go at any time, comes last."""
    if target == STDOUT:
        from anonhist.cli.output import print_whole

        if sys.stderr.isatty() and not quiet:
            _say(found, sys.stderr)
        print_whole(_csv(found))
        return
    if target is not None:
        from anonhist.formats import write_whole

        write_whole(target, _csv(found).encode(), overwrite=force)
    if not quiet:
        _say(found, sys.stdout)
        if target is not None:
            click.echo(f"Wrote {target}.")


def _csv(found: Sequence[Named]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*_COLUMNS, *_LAST_COLUMNS))
    for name, estimate in found:
        low, high = estimate.interval
        parts = "; ".join(f"{cause}: {error:.6g}" for cause, error in estimate.parts)
        numbers = (estimate.value, estimate.standard_error, low, high, estimate.level)
        guarantee = "" if estimate.guarantee is None else str(estimate.guarantee)
        writer.writerow(
            (
                name,
                *(f"{number:.10g}" for number in numbers),
                estimate.unit,
                estimate.method,
                estimate.assumes,
                parts,
                " ".join(estimate.warnings),
                guarantee,
            )
        )
    return text.getvalue()


def _say(found: Sequence[Named], stream: TextIO) -> None:
    """Tell a person: one estimate in lines, several in a table."""
    if len(found) == 1:
        for line in _lines(*found[0]):
            click.echo(line, file=stream)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=stream, highlight=False)
    console.width = min(console.width, _WIDEST) if stream.isatty() else _WIDEST
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    level = 100 * found[0][1].level
    for head, justify in (("", "left"), ("estimate", "right"), (f"{level:g} % interval", "right"), ("method", "left")):
        table.add_column(head, justify=justify, no_wrap=True)  # type: ignore[arg-type]  # names of rich
    notes = _Notes()
    last = None
    for name, estimate in found:
        marks = notes.marks(estimate)
        value = f"{_number(estimate.value)} {estimate.unit}".strip()
        method = estimate.method.removesuffix(", from a release")
        table.add_row("" if name == last else name, value, _interval(estimate), Text.assemble(method, (marks, "red")))
        last = name
    console.print(table)
    console.print()
    for mark, note in notes.listed():
        console.print(Text(f"{mark}  {note}"), style="red")
    for line in _promised(found):
        console.print(line, style="dim")
    console.print("Assumed:", style="dim")
    for method, assumes in _assumptions(found):
        console.print(Text(f"  {method}: {assumes}."), style="dim")


class _Notes:
    """Warnings, each shown once, and marked where it applies."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def marks(self, estimate: Estimate) -> str:
        """Return the marks of an estimate's warnings."""
        numbers = [self._known.setdefault(warning, len(self._known) + 1) for warning in estimate.warnings]
        return "".join(f" [{number}]" for number in numbers)

    def listed(self) -> Iterator[tuple[str, str]]:
        """Yield every mark and its sentence."""
        return ((f"[{number}]", warning) for warning, number in self._known.items())


def _lines(name: str, estimate: Estimate) -> Iterator[str]:
    unit = f" {estimate.unit}" if estimate.unit else ""
    error = _number(estimate.standard_error, digits=3)
    yield f"{name}: {_number(estimate.value)} ± {error}{unit}"
    yield f"{100 * estimate.level:g} % interval: {_interval(estimate)}{unit}"
    yield f"Method: {estimate.method}"
    if estimate.assumes:
        yield f"Assumes: {estimate.assumes}."
    if estimate.parts:
        parts = ", ".join(f"{cause} {_number(error, digits=3)}" for cause, error in estimate.parts)
        yield f"Standard errors: {parts}."
    if estimate.guarantee is not None:
        yield f"Promise: {estimate.guarantee}"
    for warning in estimate.warnings:
        yield f"Warning: {warning}"


def _promised(found: Sequence[Named]) -> Iterator[str]:
    guarantees = {str(estimate.guarantee) for _, estimate in found if estimate.guarantee is not None}
    for guarantee in sorted(guarantees):
        yield f"Promise: {guarantee}"
        yield "Intervals hold sampling and privacy noise, joined in squares; the CSV has both."


def _assumptions(found: Sequence[Named]) -> Iterator[tuple[str, str]]:
    listed: dict[str, list[str]] = {}
    for name, estimate in found:
        method = estimate.method.removesuffix(", from a release")
        title = f"{name.split(',')[0]}, {method}"
        methods = listed.setdefault(estimate.assumes, [])
        if title not in methods:
            methods.append(title)
    return (("; ".join(methods), assumes) for assumes, methods in listed.items() if assumes)


def _interval(estimate: Estimate) -> str:
    low, high = estimate.interval
    return f"{_number(low)} to {_number(high)}"


def _number(number: float, *, digits: int = 6) -> str:
    from anonhist.properties.estimate import written

    return written(number, digits=digits)
