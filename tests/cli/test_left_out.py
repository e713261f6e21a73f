"""Every bounded release says on every surface what its intervals leave out, in one sentence, cut or not."""

from __future__ import annotations

from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import pytest

import anonhist as ah
from anonhist.sketches import HashedSketch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from subprocess import CompletedProcess

    Cli = Callable[..., CompletedProcess[str]]

ROWS = "viewer,account,campaign,seen\n" + "".join(
    f"v{at % 7},a{at % 5},{'spring' if at % 3 else 'zebra'},2026-11-0{1 + at % 4}\n" for at in range(60)
)
ENDS = "Errors and intervals do not cover what this leaves out."
EVENTS = ("release", "views.csv", "--label", "viewer", "--epsilon", "1", "--simulations", "2")
WINDOWS = (*EVENTS[:-2], "--cumulative-by", "day(seen)", "--days", "2026-11-01..2026-11-04", "--thresholds", "1,2")
GROUPS = ("--by", "campaign", "--groups", "spring,zebra")
USERS = ("--user", "account", "--max-per-user", "{}")
DEGREES = ("degrees", "edges.csv", "--unit", "node", "--epsilon", "1", "--simulations", "2", "--max-degree", "{}")

RECORD = ("--registry", "-", "--curator", "A", "--curator-type", "nonprofit", "--published", "2026-11-30")


class Kind(NamedTuple):
    """A bound: the command with ``{}`` for it, what is said of 2 and of 60, and how many groups the release has."""

    command: tuple[str, ...]
    told: str
    has_groups: bool = False


# Of each kind 2 cuts these data, and 60 does not.
KINDS = {
    "users": Kind((*EVENTS, *USERS), "At most {} items of each user are counted in the whole release."),
    "users in all groups": Kind(
        (*EVENTS, *GROUPS, *USERS), "At most {} items of each user are counted in the whole release.", True
    ),
    "users in groups": Kind(
        (*EVENTS, *GROUPS, *USERS, "--max-groups-per-user", "2"),
        "Each user is counted in at most 2 groups, with at most {} items in each.",
        True,
    ),
    "users in one group": Kind(
        (*EVENTS, *GROUPS, *USERS, "--max-groups-per-user", "1"),
        "Each user is counted in at most 1 group, with at most {} items there.",
        True,
    ),
    "labels": Kind(
        (*EVENTS, "--unit", "label", "--max-count", "{}"),
        "At most {} items of each label are counted in the whole release.",
    ),
    "labels in groups": Kind(
        (*EVENTS, *GROUPS, "--unit", "label", "--max-count", "9", "--max-groups-per-label", "{}"),
        "Each label is counted in at most {} groups, with at most 9 items in each.",
        True,
    ),
    "nodes": Kind(DEGREES, "At most {} edges of each node are counted."),
    "windows of users": Kind((*WINDOWS, *USERS), "At most {} items of each user are counted in the whole release."),
    "windows of users in groups": Kind(
        (*WINDOWS, *GROUPS, *USERS, "--max-groups-per-user", "2"),
        "Each user is counted in at most 2 groups, with at most {} items in each.",
        True,
    ),
    "windows of labels in groups": Kind(
        (*WINDOWS, *GROUPS, "--unit", "label", "--max-count", "9", "--max-groups-per-label", "{}"),
        "Each label is counted in at most {} groups, with at most 9 items in each.",
        True,
    ),
}


@pytest.fixture(autouse=True)
def sources(folder: Path) -> None:
    (folder / "views.csv").write_text(ROWS)
    (folder / "edges.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a in range(9) for b in range(a)))


def surfaces(cli: Cli, folder: Path, kind: Kind, bound: int) -> Iterator[tuple[str, str]]:
    """Yield what each surface says of one release."""
    command = [word.format(bound) for word in kind.command]
    done = cli(*command, "-o", "out.json", "--report", "out.html")
    assert done.returncode == 0, done.stderr
    yield "terminal", done.stdout
    yield "page", (folder / "out.html").read_text(encoding="utf-8")
    yield "show", cli("show", "out.json").stdout
    yield "registry", cli("show", "out.json", *RECORD).stdout
    released = ah.read(folder / "out.json")
    yield "notebook", released._repr_html_()
    yield "Python", released.left_out
    yield "Arrow", (released.to_arrow().schema.metadata or {})[b"anonhist.left_out"].decode()
    picked = ("--group", "spring") if kind.has_groups else ()
    one = released["spring"] if kind.has_groups else released
    if kind.has_groups:
        yield "show --group", cli("show", "out.json", *picked).stdout
        yield "notebook of a group", one._repr_html_()
    if not isinstance(one, ah.Release):
        return
    yield "page of one", _page(one, folder)
    if "degrees" not in command:
        curve = ("curve", "guessing", "out.json", "--bootstraps", "10", *picked, "-o", "c.csv", "--report", "c.html")
        drawn = cli(*curve, "--force")
        assert drawn.returncode == 0, drawn.stderr
        yield "curve", drawn.stdout
        yield "page of a curve", (folder / "c.html").read_text(encoding="utf-8")
    for name in ("support-size", "all"):
        yield f"estimate {name}", cli("estimate", name, "out.json", *picked, "-o", "e.csv", "--force").stdout
    yield "notebook of an estimate", ah.support_size(one)._repr_html_()
    yield "notebook of estimates", ah.estimate_all(one)._repr_html_()
    yield "notebook of a curve", ah.guessing_curve(one, bootstraps=10)._repr_html_()


def _page(release: ah.Release, folder: Path) -> str:
    ah.write_report(release, folder / "one.html", overwrite=True)
    return (folder / "one.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.drawn(4)
@pytest.mark.parametrize("bound", [2, 60])
@pytest.mark.parametrize("name", KINDS)
def test_every_surface_says_what_intervals_leave_out(name: str, bound: int, cli: Cli, folder: Path) -> None:
    kind = KINDS[name]
    told = f"{kind.told.format(bound)} {ENDS}"
    # What is said does not depend on whether the bound cuts: where it does not, the first surfaces are enough.
    silent = [
        surface
        for surface, said in islice(surfaces(cli, folder, kind, bound), None if bound == 2 else 3)
        if told not in _plain(said)
    ]
    assert silent == []


@pytest.mark.full
def test_a_profile_of_a_sketch_says_it_too(cli: Cli, folder: Path) -> None:
    sketch = HashedSketch(buckets=50, epsilon=1, key=b"week 47", unit=ah.PrivacyUnit.user(max_items=2))
    sketch.reconstruct("three-tap", simulations=2).save(folder / "out.json")
    released = ah.read(folder / "out.json")
    said = [cli("show", "out.json").stdout, _page(released, folder), released._repr_html_(), released.left_out]
    told = f"At most 2 items of each user are counted in the whole release. {ENDS}"
    assert [told in _plain(each) for each in said] == [True] * 4


def test_numbers_of_a_group_say_what_they_take_for_granted(cli: Cli, folder: Path) -> None:
    command = [word.format(1) for word in KINDS["labels in groups"].command]
    assert cli(*command, "-o", "out.json").returncode == 0
    one = ah.read(folder / "out.json")["spring"]
    for found in (one.k_plus(1), one.prevalence(2), one.num_items()):
        assert found.assumes.endswith("labels in more than 1 group had none left out")


def test_where_nothing_is_bounded_nothing_is_said(cli: Cli, folder: Path) -> None:
    done = cli(*EVENTS, "-o", "out.json")
    assert "Bound" not in done.stdout
    released = ah.read(folder / "out.json")
    assert (released.left_out, released.k_plus(1).left_out) == ("", "")
    assert b"anonhist.left_out" not in (released.to_arrow().schema.metadata or {})
    # No threshold is above the count from which labels are cut.
    done = cli(*WINDOWS, "--unit", "label", "--max-count", "2", "-o", "windows.json")
    assert "Bound" not in done.stdout


def _plain(said: str) -> str:
    """Return text in one line."""
    return " ".join(unescape(said).split())
