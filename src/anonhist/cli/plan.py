"""``anonhist plan``: expected errors, before any data are read."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click

from anonhist.catalogue import MECHANISMS, PUBLIC_NUMBERS
from anonhist.cli.plan_users import AskedUsers, plan_for_users, user_plan_options
from anonhist.errors import UsageError
from anonhist.privacy import PrivacyUnit, parse_epsilon, short_decimal
from anonhist.terminal.decorators import Brief, OneOf, SectionedCommand, WholeNumber, as_one, as_typed
from anonhist.terminal.destinations import STDOUT, Outputs, console_on, print_table
from anonhist.terminal.options import (
    epsilon_option,
    force_option,
    mechanism_options,
    output_options,
    printed_output_option,
    protection_options,
    reading_options,
)
from anonhist.terminal.output import say_line
from anonhist.terminal.protection import Protection
from anonhist.terminal.reading import (
    ENGINE,
    INPUT,
    profile_of_source,
    protection_of,
    reading_bars,
    released_source,
    source_argument,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from anonhist.mechanisms import Comparison, GroupPlan, Metric, PlanRow
    from anonhist.mechanisms.planning import Shape

# This many groups are shown on a terminal.
_SHOWN = 40


class AskedGroups(NamedTuple):
    """The options of groups to plan for, as typed."""

    sizes: str
    max_groups_per_user: int | None
    max_groups_per_label: int | None
    as_json: bool

    @classmethod
    def of(
        cls,
        *,
        by_sizes: str | None,
        max_groups_per_user: int | None,
        max_groups_per_label: int | None,
        json: bool,
    ) -> AskedGroups | None:
        """Return the groups that the options request, or None."""
        if by_sizes is not None:
            return cls(by_sizes, max_groups_per_user, max_groups_per_label, json)
        given = {"max-groups-per-user": max_groups_per_user, "max-groups-per-label": max_groups_per_label, "json": json}
        for name, value in given.items():
            if value:
                raise UsageError(f"--{name} requires --by-sizes, a file with the sizes of groups.")
        return None


group_plan_options = as_one(
    "asked",
    click.option(
        "--by-sizes",
        metavar="FILE.csv",
        help="Plan for groups instead: a file with the grouping columns, a column items with a public guess of the "
        "number of items of each group and, if known, a column labels.",
    ),
    click.option(
        "--max-groups-per-user",
        type=WholeNumber(),
        metavar="G",
        help="With --by-sizes and --max-per-user: each user counts in at most G groups, with at most M items in each.",
    ),
    click.option(
        "--max-groups-per-label",
        type=WholeNumber(),
        metavar="G",
        help="With --by-sizes and --unit label: each label counts in at most G groups.",
    ),
    click.option("--json", is_flag=True, help="With --by-sizes: print the plan and its parameters as JSON."),
    made=AskedGroups.of,
)


def plan_for_groups(
    asked: AskedGroups, *, epsilons: list[str], shape: Shape | None, protection: Protection, outputs: Outputs
) -> None:
    """Read the sizes, plan, and print or write the plan."""
    from anonhist.ingest.groups.lists import sizes_from_file
    from anonhist.ingest.protection import protected_unit
    from anonhist.mechanisms import plan_groups
    from anonhist.terminal.output import progress_bar

    if len(epsilons) > 1:
        raise UsageError("With --by-sizes, give one epsilon.")
    if asked.as_json and outputs.output is not None:
        raise UsageError("--json prints the plan, and --output writes it as CSV: use one of the two.")
    if asked.max_groups_per_user is not None and protection.max_per_user is None:
        raise UsageError("--max-groups-per-user requires --max-per-user M, the most items of a user in each group.")
    unit = protected_unit(
        protection.unit, protection.max_per_user, asked.max_groups_per_user, asked.max_groups_per_label
    )
    destination = outputs.for_printed_table(asked.sizes, what="A plan is")
    by, sizes = sizes_from_file(asked.sizes)
    with progress_bar("Simulating") as bar:
        planned = plan_groups(
            sizes,
            by=by,
            epsilon=epsilons[0],
            unit=unit,
            relation=protection.relation,
            shape=shape or "zipf",
            progress=bar,
        )
    if asked.as_json:
        click.echo(json_text(planned))
        return
    destination.write(
        planned,
        lambda stream: None if destination.target == STDOUT else _say_groups(planned, stream),
    )


def json_text(planned: GroupPlan) -> str:
    """Return a plan as JSON: its parameters, and one row per group."""
    import json
    import math

    from anonhist.privacy import short_decimal

    rows = [
        {
            "group": dict(zip(planned.by, row.group, strict=True)),
            "items": row.items,
            "expected_error": row.sorted_l1.value,
            "standard_error": row.sorted_l1.standard_error,
            "simulations": row.simulations,
            "relative_error": row.relative_error if math.isfinite(row.relative_error) else None,
            "mostly_noise": row.mostly_noise,
        }
        for row in planned
    ]
    head = {"by": list(planned.by), "epsilon": short_decimal(planned.epsilon), "unit": str(planned.unit)}
    return json.dumps(head | {"mechanism": planned.mechanism, "groups": rows}, ensure_ascii=False, indent=2)


def _say_groups(planned: GroupPlan, stream: TextIO) -> None:
    from anonhist.report.notebook import group_heads, group_plan_notes, group_plan_title, group_rows

    say_line(f"{group_plan_title(planned)}.", stream)
    click.echo(file=stream)
    print_table(group_heads(planned), group_rows(planned, _SHOWN), stream, texts=range(len(planned.by)))
    if len(planned) > _SHOWN:
        say_line(f"… and {len(planned) - _SHOWN:,} more groups; -o FILE.csv writes all.", stream, dim=True)
    click.echo(file=stream)
    for name, told in group_plan_notes(planned):
        if told:
            say_line(f"{name}: {told}", stream, dim=True)


_SECTIONS = {
    "Data": ("items", "epsilon", "shape", "like", "by_sizes", "users", "mechanism"),
    "Privacy": (
        "unit",
        "unit_name",
        "max_per_user",
        "max_count",
        "max_groups_per_user",
        "max_groups_per_label",
        "relation",
    ),
    "Output": ("output", "force", "json"),
}
_EXAMPLES = """
anonhist plan --items 1e9 --epsilon 0.1,1,2
anonhist plan --like release.json --items 1e6 --epsilon 1
anonhist plan --by-sizes sizes.csv --epsilon 1
anonhist plan --users last-year.csv --epsilon 0.1,1
"""


_BRIEF = Brief(
    (
        *("items", "epsilon", "like", "by_sizes", "users", "unit", "max_per_user", "max_count"),
        *("max_groups_per_user", "max_groups_per_label", "output", "force"),
    ),
    "Give --items, or a file: --like, --by-sizes or --users.",
)


@click.command(cls=SectionedCommand, sections=_SECTIONS, brief=_BRIEF, epilog=_EXAMPLES)
@click.option(
    "--items",
    type=WholeNumber(),
    metavar="N",
    help="Number of items to plan for, such as 1e9; required without --like, --by-sizes or --users.",
)
@epsilon_option("Privacy budget, or a list of budgets to compare, such as 0.1,1,2.", required=True, metavar="E,E,…")
@click.option(
    "--shape",
    type=OneOf(("zipf", "worst")),
    help="Assumed shape of the data: zipf (the k-th most frequent label has 1/k of the items of the first) or worst "
    "(the data with the largest error).  [default: zipf]",
)
@click.option(
    "--like", metavar="RELEASE", help="Use the size and shape of this released .json or .parquet file instead."
)
@protection_options(
    "What to protect. By default, users if --max-per-user is given, otherwise the unit of --like, otherwise items.",
    has_name=True,
)
@group_plan_options
@user_plan_options
@as_one("outputs", printed_output_option, force_option, made=Outputs.of)
def plan(
    *,
    items: int | None,
    epsilon: str,
    shape: Shape | None,
    like: str | None,
    protection: Protection,
    asked: AskedGroups | None,
    of_users: AskedUsers | None,
    outputs: Outputs,
) -> None:
    """Predict the error of a release, without reading any data.

    The expected error is in items: how many items must be moved between labels, added or removed to turn the true
    profile into the released one, ignoring the names of labels.
    """
    epsilons = [part.strip() for part in epsilon.split(",")]
    for part in epsilons:
        parse_epsilon(part)
    if of_users is not None:
        plan_for_users(of_users, epsilons=epsilons, items=items, relation=protection.relation, outputs=outputs)
        return
    if asked is not None:
        if items is not None or like is not None:
            raise UsageError("--by-sizes plans for groups; leave --items and --like out.")
        plan_for_groups(asked, epsilons=epsilons, shape=shape, protection=protection, outputs=outputs)
        return
    if like is None and items is None:
        raise UsageError(
            "Give the number of items to plan for (--items 1e9), a released file (--like), or the sizes of groups "
            "(--by-sizes) or users (--users)."
        )
    if like is not None and shape is not None:
        raise UsageError("--like and --shape both set the shape: use one of the two.")
    destination = outputs.for_printed_table(STDOUT, *filter(None, [like]), what="A plan is")

    from anonhist.mechanisms.planning import Plan, plan
    from anonhist.numeric.pulse import tell_share
    from anonhist.terminal.output import progress_bar

    model: dict[str, Any] = {"items": items, "shape": shape or "zipf"}
    unit = protection.unit or PrivacyUnit.item()
    if like is not None:
        from anonhist.formats.releases import read_release

        profile = read_release(like).profile
        unit = protection.unit or profile.unit
        # The file is public, so any unit may be planned for, even one that protects less.
        model["shape"] = profile.with_unit(unit)
    rows: list[PlanRow] = []
    with progress_bar("Simulating") as bar:
        for done, each in enumerate(epsilons):
            with tell_share(bar, done / len(epsilons), (done + 1) / len(epsilons)):
                rows.extend(plan(epsilons=[each], **model, unit=unit, relation=protection.relation))
    destination.write(Plan(tuple(rows)), lambda stream: None if destination.target else _say(rows, stream))


def _say(rows: Sequence[PlanRow], stream: TextIO) -> None:
    from anonhist.report.notebook import EXPECTED, PLAN_HEADS, plan_rows

    print_table(PLAN_HEADS, plan_rows(rows), stream, texts=[0])
    say_line(f"Error: {EXPECTED}", stream, dim=True)


# For all other options, mechanisms take part with their defaults.
COMPARED = (*PUBLIC_NUMBERS, "shares")
_COMPARE_SECTIONS = {
    "Input": INPUT,
    "Privacy": ("epsilon", "unit", "max_per_user", "max_count", "relation"),
    "Comparison": ("mechanism", "repeats", *COMPARED),
    "Engine": ENGINE,
    "Output": ("output", "report", "title", "force", "quiet"),
}
_COMPARE_EXAMPLES = """
anonhist compare data/pw_phpbb.csv --epsilon 0.1,0.5,1,2,4
anonhist compare data/pw_phpbb.csv --epsilon 1 --mechanism auto,privhist --repeats 100
anonhist compare data/pw_phpbb.csv --epsilon 0.1,1 -o table.csv --report compare.html
"""
_COMPARE_BRIEF = Brief(
    (
        *("label", "count", "format_", "table", "epsilon", "unit", "user", "max_per_user", "mechanism", "repeats"),
        *("output", "report", "force"),
    ),
    "SOURCE is read as in 'anonhist release'. Comparing is not private: do not share its output.",
)


@click.command(cls=SectionedCommand, sections=_COMPARE_SECTIONS, brief=_COMPARE_BRIEF, epilog=_COMPARE_EXAMPLES)
@source_argument
@epsilon_option(
    "Privacy budget of a release, or a list of budgets such as 0.1,0.5,1,2,4.", required=True, metavar="E,E,…"
)
@reading_options
@protection_options()
@click.option(
    "--mechanism",
    metavar="A,B,…",
    help=f"Mechanisms to compare: auto, {', '.join(MECHANISMS)}. By default, all that apply.",
)
@mechanism_options(COMPARED)
@click.option(
    "--repeats",
    type=int,
    default=20,
    show_default=True,
    metavar="R",
    help="Number of releases per mechanism and epsilon, at least 2.",
)
@output_options(
    click.option(
        "-o",
        "--output",
        metavar="FILE.csv",
        help="File for one row per mechanism, epsilon and metric, or - for CSV on standard output (the default in a "
        "pipe).",
    ),
    page="Also write an HTML page that plots errors against epsilon.",
    also_printed=" and the warning that comparing is not private",
)
def compare(
    *,
    sources: tuple[str, ...],
    reading: dict[str, Any],
    epsilon: str,
    protection: Protection,
    mechanism: str | None,
    own: dict[str, Any],
    repeats: int,
    outputs: Outputs,
) -> None:
    """Compare the errors of mechanisms on public data.

    Comparing on private data is not private: every number reveals something about the data, and so does a choice based
    on it. Compare on public data, or on an earlier release (a .json or .parquet file).

    Each mechanism makes several releases of SOURCE, and each release is compared with the true profile. SOURCE is read
    as in 'anonhist release'. Public numbers that you do not give are computed from the data.
    """
    if repeats < 2:
        raise UsageError(f"--repeats must be at least 2, not {repeats}.")
    protection = protection_of(sources, protection)
    destination = outputs.for_table(*sources, what="A comparison is")

    from anonhist.mechanisms import compare
    from anonhist.mechanisms.comparison import NOT_PRIVATE, check_comparison, check_public_numbers

    budgets, names, _ = check_comparison(
        epsilons=_parts(epsilon), mechanisms=None if mechanism is None else _parts(mechanism), repeats=repeats
    )
    check_public_numbers({name: number for name, number in own.items() if name in PUBLIC_NUMBERS}, names)
    released = released_source(sources)
    if released is None:
        say_line(f"Warning: {NOT_PRIVATE}", sys.stderr, bold=True, fg="red")
    with reading_bars("Comparing", quiet=outputs.quiet, is_private=released is None) as bars:
        data = profile_of_source(sources, reading, protection, bars) if released is None else released
        comparison = compare(
            data,
            epsilons=budgets,
            mechanisms=names,
            repeats=repeats,
            unit=protection.unit,
            relation=protection.relation,
            progress=bars.working,
            **own,
        )
    say = partial(_say_compared, comparison)
    destination.write(comparison, say, log=say)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _say_compared(comparison: Comparison, stream: TextIO) -> None:
    """Print what was compared, with tables unless the CSV goes to standard output."""
    from anonhist.mechanisms import METRICS
    from anonhist.report.comparison import HOW_TO_READ, advice, basis, notes

    console, has_tables = console_on(stream, widest=100), stream is sys.stdout
    for sentence in filter(None, (advice(comparison), basis(comparison), *map(as_typed, notes(comparison)))):
        # Beside CSV, a sentence is one line, as in other commands.
        console.print(sentence, markup=False, soft_wrap=not has_tables and not stream.isatty())
    if has_tables:
        for metric in METRICS:
            _table(comparison, metric, console)
        console.print()
        console.print(HOW_TO_READ, style="dim")


def _table(comparison: Comparison, metric: Metric, console: Console) -> None:
    """Print one metric, one row per mechanism, with as many budgets side by side as fit."""
    from rich.table import Table
    from rich.text import Text

    from anonhist.report.comparison import MARK, cell, units

    names, epsilons = comparison.mechanisms, comparison.epsilons
    texts = {(name, epsilon): cell(comparison, name, epsilon, metric.name) for name in names for epsilon in epsilons}
    # Marks stand beside the numbers, which stay aligned.
    texts = {place: text if text.endswith(MARK) else text + " " * len(MARK) for place, text in texts.items()}
    heads = {epsilon: f"ε = {short_decimal(epsilon)}" + " " * len(MARK) for epsilon in epsilons}
    width = max(map(len, [*texts.values(), *heads.values()]))
    most = max(1, (console.width - max(map(len, names))) // (width + 2))
    side_by_side = -(-len(epsilons) // -(-len(epsilons) // most))
    console.print()
    console.print(Text(f"{metric.title}, in {units()[metric.name]}", style="bold"))
    for start in range(0, len(epsilons), side_by_side):
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        table.add_column("mechanism", no_wrap=True, min_width=max(map(len, names)))
        shown = epsilons[start : start + side_by_side]
        for epsilon in shown:
            table.add_column(heads[epsilon], justify="right", no_wrap=True, min_width=width)
        for name in names:
            cells = [texts[name, epsilon] for epsilon in shown]
            table.add_row(name, *(Text(text, style="bold green" if text.endswith(MARK) else "") for text in cells))
        if start:
            console.print()
        console.print(table)
