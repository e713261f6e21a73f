"""A run is charged once: whoever starts it again finds its charge, and no noise is drawn a second time."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import anonhist as ah
from anonhist.accounting import Budget, Charge, Ledger, verify
from anonhist.accounting.budget import Cost
from anonhist.accounting.charge import Run
from anonhist.accounting.entry import Charged, Completed, Created, Entry
from anonhist.accounting.verification import Derivation
from anonhist.errors import DataError, RunError, UsageError
from anonhist.graphs import EdgePrivacy, as_graph, private_edge_count
from anonhist.ingest.groups.read import read_groups
from anonhist.mechanisms.grouping import FindGroups, release_groups
from anonhist.mechanisms.window_release import release_cumulative
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles.windows import CumulativeCounts
from anonhist.sketches import HashedSketch
from anonhist_testing.cases import each_of

Asking = Callable[..., Charge]
DIGEST = "ab" * 32
RUN = Run("daily 2026-11-25", {"days": "2026-11-25"}, "day.json")
PROFILE = ah.Profile.from_counts([9, 4, 4, 1])


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Ledger]:
    """Return a ledger with budgets for items, edges, nodes and people who are asked."""
    with Ledger(f"{tmp_path}/budget.db") as ledger:
        ledger.create("letters", "item", epsilon=9, delta="1/2")
        ledger.create("friends", "edge", epsilon=9)
        ledger.create("nodes", "node", epsilon=9)
        ledger.create("members", "user", epsilon=9, relation=NeighboringRelation.SUBSTITUTE)
        yield ledger


def test_a_run_is_charged_once(ledger: Ledger, asking: Asking) -> None:
    asked = replace(asking("0.5", purpose="press"), run=RUN)
    receipt = ledger.charge(asked)
    with pytest.raises(RunError, match=r"charged as entry 2 of .*unknown: wait if it still runs; if it was killed"):
        ledger.charge(asked)
    ledger.complete(receipt, DIGEST)
    with pytest.raises(RunError, match=r"already released, as entry 2 of .*, to 'day.json': use what was written"):
        ledger.charge(asked)
    assert len(ledger.entries()) == 3
    assert ledger.balance("passwords").spent.epsilon == Fraction(1, 2)
    # Other runs, and releases of no run, are charged as before.
    ledger.charge(replace(asked, run=replace(RUN, id="daily 2026-11-26")))
    ledger.charge(asking("0.5", purpose="press"))
    assert ledger.balance("passwords").spent.epsilon == Fraction(3, 2)
    assert verify(ledger).problems == ()


def test_after_a_void_a_run_is_charged_again(ledger: Ledger, asking: Asking) -> None:
    asked = replace(asking("0.5"), run=RUN)
    for number in (2, 4):
        assert ledger.charge(asked).entry == number
        ledger.void(number, "nobody saw it")
    # Nothing of it counts any more, so its settings may be others.
    assert ledger.charge(replace(asked, purpose="audit", run=replace(RUN, settings={}))).entry == 6
    assert ledger.balance("passwords").spent.epsilon == Fraction(1, 2)
    assert verify(ledger).problems == ()


@each_of(
    ("other", "named"),
    [
        (lambda asked: replace(asked, dataset="queries"), "dataset"),
        (lambda asked: replace(asked, purpose="audit"), "purpose"),
        (lambda asked: replace(asked, mechanism="partition"), "mechanism"),
        (lambda asked: replace(asked, parameters={"epsilon": "7"}), "setting of the mechanism"),
        (lambda asked: replace(asked, guarantee=replace(asked.guarantee, epsilon=Fraction(1))), "epsilon"),
        (lambda asked: replace(asked, guarantee=replace(asked.guarantee, delta=Fraction(1, 10**12))), "delta"),
        (
            lambda asked: replace(asked, guarantee=replace(asked.guarantee, unit=PrivacyUnit.user(max_items=4))),
            "unit",
        ),
        (lambda asked: replace(asked, run=replace(RUN, settings={"days": "2026-11-26"})), "days"),
        (lambda asked: replace(asked, run=replace(RUN, settings={**RUN.settings, "by": "country"})), "by"),
        (lambda asked: replace(asked, run=replace(RUN, settings={})), "days"),
    ],
)
def test_other_settings_are_refused_by_name(other: Callable[[Charge], Charge], named: str, tmp_path: Path) -> None:
    guarantee = ah.privacy.Guarantee(
        PrivacyUnit.user(max_items=5), NeighboringRelation.ADD_OR_REMOVE, Fraction(1, 2), arithmetic="noise is exact"
    )
    asked = Charge("passwords", guarantee, "frobenius", {"epsilon": "1/2"}, "press", run=RUN)
    with Ledger(f"{tmp_path}/budget.db") as ledger:
        for name in ("passwords", "queries"):
            ledger.create(name, "user", epsilon=2)
        receipt = ledger.charge(asked)
        for _ in range(2):
            with pytest.raises(
                UsageError, match=rf"other settings \({named} differs\): give the same settings, or another run_id"
            ):
                ledger.charge(other(asked))
            # Where it goes is no setting.
            with pytest.raises(RunError):
                ledger.charge(replace(asked, run=replace(RUN, output="elsewhere.json")))
            ledger.complete(receipt, DIGEST)
        assert len(ledger.entries()) == 4


@each_of("given", ["", "a\nb", "\x1b[31m", "x" * 1001, 7, "\udcff"])
def test_an_id_is_one_line(given: Any) -> None:
    with pytest.raises(UsageError, match="must be one line of 1 to 1,000 characters"):
        Run(given)


def test_an_entry_says_its_run_and_old_ones_have_none(asking: Asking) -> None:
    asked, cost = replace(asking("0.5"), run=RUN), Cost(Fraction(1, 2), Fraction(0))
    entry = Entry("0" * 32, 2, Charged(asked, cost), "2026-11-24T02:46:38Z", "eve", "1")
    said = '"run":{"id":"daily 2026-11-25","output":"day.json","settings":{"days":"2026-11-25"}}'
    assert said in entry.document
    assert Entry.read(entry.document) == entry
    without = replace(entry, event=Charged(asking("0.5"), cost))
    assert '"run"' not in without.document
    assert Entry.read(without.document) == without
    for wrong in ('"id":7', '"id":"a\\nb"', '"id":""'):
        with pytest.raises(DataError):
            Entry.read(entry.document.replace('"id":"daily 2026-11-25"', wrong))
    completed = replace(entry, event=Completed("passwords", 2, DIGEST, file="cd" * 32))
    assert '"details":{"charge":2,"digest":"' + DIGEST + '","file":"' + "cd" * 32 + '"}' in completed.document
    assert Entry.read(completed.document) == completed


def test_a_purpose_that_looks_like_a_run_is_none(ledger: Ledger, asking: Asking) -> None:
    spelled = '"run":{"id":"daily 2026-11-25","output":'
    ledger.charge(replace(asking("0.5", purpose=spelled), parameters={"run": {"id": RUN.id, "output": ""}}))
    assert ledger.charge(replace(asking("0.5"), run=RUN)).entry == 3


def test_a_second_charge_of_a_run_is_found(asking: Asking) -> None:
    # No ledger appends it: somebody else did.
    cost = Cost(Fraction(1, 2), Fraction(0))
    events = [Created(Budget("passwords", "user", epsilon=2)), *[Charged(replace(asking("0.5"), run=RUN), cost)] * 2]
    entries = [Entry("0" * 32, place, each, "", "", "") for place, each in enumerate(events, start=1)]
    assert Derivation().problems(entries) == ["Entry 3 charges the run of entry 2 again."]


def _charge_in_a_child(address: str, asked: Charge) -> int:
    child = os.fork()
    if child:
        return child
    code = 9
    try:
        with Ledger(address) as ledger:
            ledger.charge(asked)
        code = 0
    except RunError:
        code = 3
    finally:
        os._exit(code)


@pytest.mark.slow
def test_of_twenty_processes_one_is_charged(address: str, asking: Asking) -> None:
    asked = replace(asking("0.5"), run=RUN)
    with Ledger(address) as ledger:
        ledger.create("passwords", "user", epsilon=2)
    children = [_charge_in_a_child(address, asked) for _ in range(20)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert sorted(codes) == [0] + [3] * 19
    with Ledger(address) as ledger:
        assert ledger.balance("passwords").spent.epsilon == Fraction(1, 2)
        assert verify(ledger).problems == ()


def _windows(**charged: Any) -> object:
    return release_cumulative(CumulativeCounts((1,), ("2026-11-01",), [[4]]), epsilon=1, **charged)


def _groups(**charged: Any) -> object:
    read = read_groups(pl.DataFrame({"l": ["a"], "g": ["x"]}), label="l", by="g", groups=["x"])
    return release_groups(read, epsilon=1, simulations=0, **charged)


def _found(**charged: Any) -> object:
    rows = pl.DataFrame({"l": ["a"] * 40, "g": ["x"] * 40})
    return read_groups(rows, label="l", by="g", groups=FindGroups("1/2", "1e-1"), **charged)


def _degrees(**charged: Any) -> object:
    return ah.release_degrees(as_graph([(1, 2)]), privacy=EdgePrivacy(), epsilon=1, simulations=0, **charged)


def _edges(**charged: Any) -> object:
    return private_edge_count(as_graph([(1, 2)]), epsilon=1, max_degree=2, **charged)


MADE: list[tuple[str, str, Callable[..., object]]] = [
    ("profile", "letters", lambda **charged: ah.release(PROFILE, epsilon=1, simulations=0, **charged)),
    ("estimate", "letters", lambda **charged: ah.private.entropy(PROFILE, epsilon=1, **charged)),
    ("windows", "letters", _windows),
    ("groups", "letters", _groups),
    ("found", "letters", _found),
    ("degrees", "friends", _degrees),
    ("edges", "nodes", _edges),
    ("survey", "members", lambda **charged: ah.local.declare(ah.local.KRR(alphabet=4, epsilon=1), **charged)),
]


@pytest.mark.full
@each_of(("name", "dataset", "make"), MADE)
def test_in_python_a_run_is_made_once(name: str, dataset: str, make: Callable[..., object], kept: Ledger) -> None:
    charged: dict[str, Any] = {"ledger": kept, "dataset": dataset, "run_id": name}
    make(**charged)
    number = len(kept.entries())
    with pytest.raises(RunError, match="already released"):
        make(**charged)
    with pytest.raises(UsageError, match="purpose differs"):
        make(**charged, purpose="audit")
    assert len(kept.entries()) == number
    make(**charged | {"run_id": f"{name} again"})
    assert len(kept.entries()) == number + 2


def test_finding_groups_and_releasing_them_are_two_runs(kept: Ledger) -> None:
    charged: dict[str, Any] = {"ledger": kept, "dataset": "letters"}
    rows = pl.DataFrame({"l": ["a"] * 40, "g": ["x"] * 40})
    read = read_groups(rows, label="l", by="g", groups=FindGroups("1/2", "1e-1"), **charged, run_id="find")
    with pytest.raises(UsageError, match="differs"):
        release_groups(read, epsilon=1, simulations=0, **charged, run_id="find")
    release_groups(read, epsilon=1, simulations=0, **charged, run_id="release")
    assert kept.balance("letters").spent.epsilon == Fraction(3, 2)


def test_no_noise_is_drawn_for_a_run_that_was_charged(kept: Ledger) -> None:
    class Broken:
        def words(self, number: int) -> Any:
            pytest.fail(f"{number} words were drawn")

    charged: dict[str, Any] = {"ledger": kept, "dataset": "letters", "run_id": "daily"}
    with pytest.raises(UsageError, match="The data exceed"):
        ah.release(PROFILE, epsilon=1, mechanism="bounded-partition", public_items=3, **charged)
    for _ in range(2):
        with pytest.raises(RunError, match="unknown"):
            ah.release(
                PROFILE,
                epsilon=1,
                mechanism="bounded-partition",
                public_items=3,
                source=Broken(),  # type: ignore[arg-type]
                **charged,
            )
    assert kept.balance("letters").spent.epsilon == 1


def test_a_sketch_is_read_again_by_the_same_run_at_no_cost(kept: Ledger) -> None:
    sketch = HashedSketch(buckets=64, epsilon=1, key=b"k")
    charged: dict[str, Any] = {"ledger": kept, "dataset": "letters", "run_id": "daily"}
    first, second = (sketch.reconstruct("three-tap", simulations=0, **charged) for _ in range(2))
    assert first.profile == second.profile
    assert kept.balance("letters").spent.epsilon == 1
    with pytest.raises(UsageError, match="purpose differs"):
        sketch.reconstruct("three-tap", simulations=0, **charged, purpose="audit")
    sketch.update(["cat"])
    with pytest.raises(UsageError, match="state of the sketch differs"):
        sketch.reconstruct("three-tap", simulations=0, **charged)
    assert verify(kept).problems == ()
