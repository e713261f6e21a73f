"""``anonhist estimate``: estimates of the distribution behind the data, private or not."""

from __future__ import annotations

import math
import sys
from functools import partial
from inspect import signature
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from anonhist.catalogue import GUESSING, OF_USERS, PROPERTIES, PROPERTY_OPTIONS, load
from anonhist.cli.estimate_users import check_of_users, labels_of_users, question_of_users
from anonhist.errors import UsageError, mask, spell_out
from anonhist.privacy import PrivacyUnit
from anonhist.terminal.charging import UNCHARGED, AskedAccount, charging_options, csv_digest, say_account
from anonhist.terminal.decorators import (
    Brief,
    OneOf,
    SectionedCommand,
    WholeNumber,
    catalogue_options,
    command_to_publish,
    given_options,
    option_word,
    refuse_given,
)
from anonhist.terminal.destinations import Outputs, console_on, print_hanging
from anonhist.terminal.options import epsilon_option, level_option, output_options, protection_options, reading_options
from anonhist.terminal.output import say_line, tell_of_epsilon
from anonhist.terminal.reading import (
    ENGINE,
    INPUT,
    PROTECTED,
    READING,
    group_of,
    group_option,
    profile_of_source,
    protection_of,
    reading_bars,
    refuse_release,
    released_source,
    source_argument,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console
    from rich.table import Table

    from anonhist.accounting.recording import Price
    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate, Estimates
    from anonhist.releases import Release
    from anonhist.terminal.output import Bars
    from anonhist.terminal.protection import Protection

    Question = Callable[[Any, Callable[[float], None] | None], Estimates]

NOT_PRIVATE = "These numbers are not private: they are computed from the exact data. Use --epsilon, or a released file."
EVERYTHING, METRICS = "all", "guessing-metrics"
_ALREADY_PRIVATE = "leave --epsilon out, since estimates from it are already private"
_NEEDS_ROWS = dict.fromkeys(OF_USERS, "give the rows of users instead")
_BY_RELEASE = (
    "Note: most of this interval is not privacy noise but the worst-case sampling error. A release at the same "
    "epsilon gives the actual sampling error and answers every other question too. Make the release instead of "
    "this estimate; both together cost twice the epsilon:\n  {release}\n  {estimate}"
)
_BOUNDED = "Note: {left_out} A release can estimate that (--excess-share)."
_FROM_RELEASE = "make a release with 'anonhist release' and estimate from its file at no further cost"
# Ratios: one item may change them by more than any number that does not grow with the data.
_UNBOUNDED = ("chao-shen", "pml", "chao1", "chao1-inext", "ace", "chao-lee")
# What is read, whom a release protects, and what is requested. The public number of items is only for estimates, and so
# are the methods.
_RELEASED = (*READING, "epsilon", *PROTECTED)
_ASKED = (*(name for name in PROPERTY_OPTIONS if name != "method"), "level")
_OF_PRIVATE = ("unit", "relation", "known_items", *charging_options.names)
# From the first width on, there is room for assumptions beside the numbers; lines longer than the second are hard to
# read.
_WIDE, _WIDEST = 100, 120
# Marks for remarks beside an interval.
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SECTIONS = {
    "Estimate": (*PROPERTY_OPTIONS, "bits", "level"),
    "Input": (*INPUT, "group"),
    "Engine": ENGINE,
    "Privacy, for a private estimate": ("epsilon", *PROTECTED, "known_items"),
    "Ledger, for a private estimate": charging_options.names,
    "Output": ("output", "force", "quiet"),
}
_EXAMPLES = """
anonhist estimate entropy data.parquet --label query
anonhist estimate support-size data.csv --label species --method chao1 --level 0.99
anonhist estimate entropy data.csv --label query --epsilon 1 --alphabet-size 100000
anonhist estimate all release.json
anonhist estimate guessing-metrics release.json
anonhist estimate guessing-success release.json --guesses 1000 --of data
anonhist estimate support-coverage data.csv --label word --draws 200000
anonhist estimate num-labels data.csv --label page --user person --epsilon 1
"""
_MEANINGS = {EVERYTHING: "everything below, by every method, in one table"}
_MEANINGS[METRICS] = "those of papers on passwords, in one table"
_MEANINGS |= {
    name: spell_out(meaning, lambda word, _: option_word(word))
    for name, meaning in ({name: entry.meaning for name, entry in PROPERTIES.items()} | OF_USERS).items()
}
# This character keeps click from refilling the lines below it.
_HELP = f"""Estimate a property of the underlying distribution.

Estimate how many labels exist, how many a larger sample would contain, how much entropy they have, or how hard
passwords are to guess. Each estimate comes with its interval, its method and the method's assumptions.

\b
PROPERTY is one of
{chr(10).join(f"  {name:<22}  {meaning}" for name, meaning in _MEANINGS.items())}

num-labels protects users with any number of labels. It chooses how many of each user count, at most --max-per-user
(1024 unless given).

SOURCE is read as in 'anonhist release'. From a released .json or .parquet file, estimates are private and cost no
further privacy.
"""
_BRIEF = Brief(
    (
        *("method", "alphabet_size", "draws", "order", "guesses", "share", "of", "level", "label", "count", "format_"),
        *("epsilon", "output"),
    ),
    f"PROPERTY is {', '.join(list(_MEANINGS)[:-1])} or {list(_MEANINGS)[-1]}. SOURCE is read as in 'anonhist release', "
    "or is a released file, from which estimates are private.",
)


class _PropertyName(OneOf):
    """The name of a property; a source or a method in its place gets an error that explains it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name, or refuse an unknown one."""
        if value in self.choices:
            return value
        # No property's name contains a point or a slash, as nearly all sources do.
        if value == "-" or {".", "/"} & {*value} or Path(value).exists():
            raise UsageError(f"Name the property first: anonhist estimate {EVERYTHING} {mask(value)}.")
        owners = [name for name, entry in PROPERTIES.items() if entry.methods and value in load(entry.methods)]
        if owners:
            raise UsageError(
                f"{value} is a method of {', '.join(owners)}: give a property, and the method as --method {value}."
            )
        return super().convert(value, param, ctx)


@click.command(cls=SectionedCommand, sections=_SECTIONS, brief=_BRIEF, epilog=_EXAMPLES, help=_HELP)
@click.argument("property_", metavar="PROPERTY", type=_PropertyName(tuple(_MEANINGS)))
@source_argument
@catalogue_options(PROPERTY_OPTIONS)
@click.option("--bits", is_flag=True, help="For guessing: in bits, those of a uniform distribution as hard to guess.")
@level_option("Confidence level of the interval.")
@epsilon_option("Privacy budget of a private estimate. Without it, the estimate is not private.")
@reading_options
@group_option
@protection_options()
@click.option(
    "--known-items",
    type=WholeNumber(),
    metavar="N",
    help="Exact number of items, if it is public; otherwise a third of epsilon may be spent on estimating it.",
)
@charging_options
@output_options(also_printed=" and the warning that estimates are not private")
def estimate(
    *,
    property_: str,
    sources: tuple[str, ...],
    own: dict[str, Any],
    bits: bool,
    level: float,
    reading: dict[str, Any],
    group: str | None,
    epsilon: str | None,
    protection: Protection,
    known_items: int | None,
    account: AskedAccount,
    outputs: Outputs,
) -> None:
    """Check all options, then read, estimate, print and write; the help text is above."""
    # As the functions of properties name them.
    options = {name: _read(name, value) for name, value in own.items()}
    unit = _unit_of(property_, bits=bits)
    protection = protection_of(sources, protection)
    context = click.get_current_context()
    if property_ in OF_USERS:
        check_of_users(property_, sources, options, reading["user"])
        ask, options = question_of_users(property_, epsilon, protection, level)
    elif epsilon is None:
        refuse_given(_OF_PRIVATE, "{} applies only to private estimates: add --epsilon, or leave it out.")
        account = UNCHARGED
        ask = _question(property_, options, level, unit)
    else:
        # It is charged here, before the data are read.
        promise = {"epsilon": epsilon, "relation": protection.relation, "ledger": ""}
        if known_items is not None:
            promise["known_items"] = known_items
        ask = _private_question(property_, options, level, promise)
    account.check()

    from anonhist.releases.content import estimates_digest

    nothing, read = _read_by(property_, sources, reading, protection)
    # Nothing can be estimated from no data, but impossible requests are refused before any data are read.
    _, of_nothing = ask(nothing, None)[0]
    price = partial(_price, property_, options, of_nothing)
    destination = account.destined(partial(outputs.for_table, *sources, what="Estimates are"), price)
    data: Any = None
    if epsilon is None:
        data = released_source(sources, group)
        if data is None:
            say_line(f"Warning: {NOT_PRIVATE}", sys.stderr, bold=True, fg="red")
    else:
        refuse_release(*sources, reading=reading, instead=_NEEDS_ROWS.get(property_, _ALREADY_PRIVATE))
        group_of(None, group)
    with account.charged(price) as recorded:
        with reading_bars("Estimating", quiet=outputs.quiet, is_private=data is None) as bars:
            if data is None:
                with recorded.reading():
                    data = read(bars)
            found = ask(data, bars.working)

        def say_all(stream: TextIO) -> None:
            _say(found, stream)
            if epsilon is not None:
                say_account(recorded, stream)

        file = csv_digest(destination.target, found)
        complete = partial(recorded.complete, partial(estimates_digest, found), None, file)
        destination.write(found, say_all, log=partial(_log, found), complete=complete)
    if epsilon is not None and not outputs.quiet and property_ not in OF_USERS:
        _say_notes(found, protection, context)


def _read_by(
    name: str, sources: tuple[str, ...], reading: dict[str, Any], protection: Protection
) -> tuple[Any, Callable[[Bars], Any]]:
    """Return no data of the kind that a property is estimated from, and the reader of the source."""
    from anonhist.profiles import Profile
    from anonhist.profiles.user_labels import UserLabels

    if name in OF_USERS:
        return UserLabels([], []), partial(labels_of_users, sources[0], reading)
    nothing = Profile([], [], unit=protection.unit or PrivacyUnit.item())
    return nothing, partial(profile_of_source, sources, reading, protection)


def _say_notes(found: Estimates, protection: Protection, context: click.Context) -> None:
    """Print what the interval of a private estimate leaves out, and whether a release would have a shorter one."""
    from anonhist.mechanisms.estimators.statistic_mechanism import NOISE, SAMPLING

    if protection.max_per_user is not None:
        say_line(_BOUNDED.format(left_out=found.left_out), sys.stderr)
    parts = dict(found[0][1].parts)
    if parts[SAMPLING] > parts[NOISE]:
        release, estimate = commands_by_release(context)
        say_line(_BY_RELEASE.format(release=release, estimate=estimate), sys.stderr)


def _price(name: str, options: dict[str, Any], of_nothing: Estimate) -> Price:
    """Return the cost of a private estimate, from an estimate of no data, which has the same guarantee."""
    from anonhist.accounting.recording import Price

    assert of_nothing.guarantee is not None  # noqa: S101  # it is private
    return Price(of_nothing.guarantee, f"private estimate of {name}", {key: str(each) for key, each in options.items()})


def commands_by_release(context: click.Context) -> tuple[str, str]:
    """Return the two commands to use instead of a private estimate, without secrets.

    They keep all options about the data and about what to protect, because a release for items would protect users
    less.
    """
    values = context.params
    released = ("release", *values["sources"], *_as_typed(context, _RELEASED), "-o", "release.json")
    asked = ("estimate", values["property_"], "release.json", *_as_typed(context, _ASKED))
    return command_to_publish(released), command_to_publish(asked)


def _as_typed(context: click.Context, names: tuple[str, ...]) -> list[str]:
    """Return the given options, with their values."""
    words: list[str] = []
    for option, param in given_options(context, names).items():
        words += [option] if param.is_flag else [option, str(context.params[str(param.name)])]
    return words


def _unit_of(name: str, *, bits: bool) -> dict[str, Any]:
    """Return the unit of a guessing metric, if bits are asked for; refuse them elsewhere."""
    if bits and name not in GUESSING:
        raise UsageError(f"--bits applies to {', '.join(GUESSING)}; leave it out.")
    return {"unit": "bits"} if bits else {}


def _question(name: str, options: dict[str, Any], level: float, unit: dict[str, Any]) -> Question:
    """Return the estimates from data or from a release."""
    from anonhist.numeric.pulse import tell_share
    from anonhist.properties.by_name import PROPERTIES as KNOWN
    from anonhist.properties.by_name import estimate_all
    from anonhist.properties.estimate import Estimates
    from anonhist.properties.guessing_metrics import guessing_metrics

    if name in (EVERYTHING, METRICS):
        ask: Callable[..., Estimates] = estimate_all if name == EVERYTHING else guessing_metrics
        foreign = sorted(options.keys() - (signature(ask).parameters if name == EVERYTHING else {"of"}))
        if foreign:
            raise UsageError(f"`{foreign[0]}` does not apply to '{name}'; leave it out.")
        return lambda data, progress: ask(data, level=level, progress=progress, **options)
    KNOWN[name].check(name, options)

    def answer(data: Profile | Release, progress: Callable[[float], None] | None) -> Estimates:
        with tell_share(progress, 0.0, 1.0):
            return Estimates(((name, KNOWN[name].estimate(data, level=level, **options, **unit)),))

    return answer


def _private_question(name: str, options: dict[str, Any], level: float, promise: dict[str, Any]) -> Question:
    """Return the private estimates from data."""
    from anonhist.mechanisms.estimators import PRIVATE_PROPERTIES
    from anonhist.properties.estimate import Estimates

    if name == EVERYTHING:
        raise UsageError(f"Private estimates of all properties would divide the budget: {_FROM_RELEASE}.")
    if name not in PRIVATE_PROPERTIES:
        raise UsageError(f"There is no private estimator of {name}: {_FROM_RELEASE}.")
    known, method = PRIVATE_PROPERTIES[name], options.get("method")
    if method in _UNBOUNDED and method not in known.methods:
        raise UsageError(f"One item can change {method} without limit, so noise cannot protect it: {_FROM_RELEASE}.")
    known.check(f"a private estimate of {name}", options)
    return lambda data, _: Estimates(((name, known.estimate(data, level=level, **promise, **options)),))


def _read(name: str, value: Any) -> Any:
    if name == "base":
        return _base(value)
    return int(value) if name == "order" and value.is_integer() else value


def _base(text: str) -> float:
    """Read the base of a logarithm: a number above 1, or e."""
    try:
        base = math.e if text.strip().lower() == "e" else float(text)
    except ValueError:
        base = math.nan
    if not 1 < base < math.inf:
        raise UsageError(f"--base must be a number above 1, such as 2 for bits, or e, not {text!r}.")
    return base


def _log(found: Estimates, _: TextIO) -> None:
    """Print what scripts must not miss: an epsilon too large to protect anybody."""
    if found[0][1].guarantee is not None:
        tell_of_epsilon(found[0][1].guarantee)


def _say(found: Estimates, stream: TextIO) -> None:
    """Print one estimate as lines, several as a table."""
    if len(found) == 1:
        for line in _lines(*found[0]):
            say_line(line, stream)
        return
    _print_all(found, console_on(stream, widest=_WIDEST))


def _lines(name: str, estimate: Estimate) -> Iterator[str]:
    from anonhist.properties.estimate import format_number
    from anonhist.report.wording import bound_of, promise_lines

    yield from _number(name, estimate, f" {estimate.unit}" if estimate.unit else "")
    yield f"Method: {estimate.method}"
    if estimate.assumes:
        yield f"The estimate assumes: {estimate.assumes}."
    if estimate.parts:
        parts = ", ".join(f"{cause} {format_number(error, digits=3)}" for cause, error in estimate.parts)
        yield f"Standard errors, without bias: {parts}." if estimate.statement.reason else f"Standard errors: {parts}."
    promised = [] if estimate.guarantee is None else promise_lines(estimate.guarantee)
    yield from (f"{title}: {sentence}" for title, sentence in (*promised, *bound_of(estimate)))
    for warning in estimate.warnings:
        yield f"Warning: {warning}"


def _number(name: str, estimate: Estimate, unit: str) -> Iterator[str]:
    """Print the number and its interval; without ± if that would be wrong."""
    from anonhist.properties.estimate import Holds, format_number
    from anonhist.report.wording import known_ends

    value, share = format_number(estimate.value, digits=6), f"{100 * estimate.level:.6g}%"
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
    """Print a table, the warnings behind its marks, and the assumptions and guarantee of the estimates."""
    from rich.text import Text

    from anonhist.properties.estimate import Holds
    from anonhist.report.wording import bound_of, promise_lines

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
        if any(each.statement.holds is not Holds.NONE and len(each.parts) > 1 for _, each in found):
            console.print(
                "Unless their letter says otherwise, intervals cover sampling error and privacy noise; the CSV lists "
                "both."
            )
    for name, sentence in bound_of(found):
        console.print(Text(f"{name}: {sentence}"))


def _table(found: Estimates, warnings: list[str], reasons: list[str], *, assumptions: bool) -> Table:
    """Return a table with a heading for each property and a row for each estimate."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from anonhist.properties.estimate import format_number
    from anonhist.report.wording import known_ends, method_text

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("property, method", overflow="fold")
    table.add_column("estimate", justify="right", no_wrap=True)
    table.add_column(f"{100 * found[0][1].level:.6g}% interval", justify="right", no_wrap=True)
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
    """Return, for each assumption, the estimates that depend on it."""
    from anonhist.report.wording import method_text

    listed: dict[str, list[str]] = {}
    for title, estimate in found:
        name = f"{title.partition(', ')[0]}, {method_text('', estimate)}"
        names = listed.setdefault(estimate.assumes, [])
        if name not in names:
            names.append(name)
    listed.pop("", None)
    return listed
