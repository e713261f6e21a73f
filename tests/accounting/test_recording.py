"""A release and its charge: charged first, voided only if nothing was read, completed with its content."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import anonhist as ah
from anonhist.accounting import Ledger, Receipt, Released, verify
from anonhist.accounting.entry import Charged, Completed, Voided
from anonhist.accounting.recording import Price, account_of, recording
from anonhist.errors import BudgetError, DataError, UsageError
from anonhist.formats.files import claim_of
from anonhist.graphs import EdgePrivacy, NodePrivacy, as_graph, private_edge_count
from anonhist.local.mechanisms import survey_digest
from anonhist.mechanisms import FrobeniusMechanism
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Bounded, BoundedUnits
from anonhist.profiles.grouped import GroupedProfile
from anonhist.releases import PrevalenceBand
from anonhist.releases.content import content_digest, rest_digest, rest_digests
from anonhist.releases.grouped import GroupedRelease
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

PROFILE = ah.Profile.from_counts([9, 4, 4, 1])


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Ledger]:
    """Return a ledger with budgets for items and for nodes."""
    with Ledger(f"{tmp_path}/budget.db") as ledger:
        ledger.create("letters", "item", epsilon=3)
        ledger.create("friends", "node", epsilon=50)
        yield ledger


def states(ledger: Ledger, dataset: str = "letters") -> list[str]:
    return [each.state for each in ledger.balance(dataset).items]


def test_a_release_carries_the_receipt_and_the_ledger_its_content(kept: Ledger, tmp_path: Path) -> None:
    release = ah.release(PROFILE, epsilon="0.5", ledger=kept, dataset="letters", purpose="press", simulations=2)
    assert release.receipt is not None
    entry = kept.entries()[release.receipt.entry - 1].event
    assert isinstance(entry, Charged)
    assert (entry.charge.guarantee, entry.charge.mechanism) == (release.guarantee, "frobenius")
    assert (entry.charge.parameters, entry.charge.purpose) == (release.mechanism.parameters, "press")
    assert kept.entries()[-1].event == Completed(
        "letters", release.receipt.entry, content_digest(release), rest_digest(release)
    )
    for name in ("release.json", "release.parquet"):
        ah.write(release, tmp_path / name)
        read = ah.read(tmp_path / name)
        assert isinstance(read, ah.Release)
        assert (read.receipt, content_digest(read)) == (release.receipt, content_digest(release))
        told = verify(kept, [Released(name, read.receipt, content_digest(read), rest_digests(read))])
        # Errors were simulated after the release was charged and completed.
        assert (told.problems, told.unchecked) == ((), (name,))
        reworded = replace(read, reason="Checked by the regulator.")
        told = verify(kept, [Released(name, read.receipt, content_digest(reworded), rest_digests(reworded))])
        assert ["errors, intervals or words differ" in each for each in told.problems] == [True]


def test_every_change_of_what_a_release_says_changes_its_digest() -> None:
    release = replace(FrobeniusMechanism(1).release(PROFILE), simulations=2)
    digests = {
        content_digest(each)
        for each in (
            release,
            replace(release, items=7),
            replace(release, zeros=7),
            replace(release, profile=ah.Profile.from_counts([1, 1])),
            replace(release, mechanism=FrobeniusMechanism(2)),
            replace(release, guarantee=FrobeniusMechanism(2).guarantee),
            replace(release, guarantee=replace(release.guarantee, conditions=("it rains",))),
        )
    }
    assert len(digests) == 7
    # What follows from the rest may be made anew.
    assert content_digest(replace(release, simulations=3).with_error()) == content_digest(release)


def test_every_change_of_errors_and_words_changes_the_other_digest() -> None:
    release = replace(FrobeniusMechanism(1).release(PROFILE), simulations=2).with_error()
    error = release.error
    assert error.sorted_l1 is not None
    assert error.band is not None
    band = replace(error.band, highs=error.band.highs + 1)
    errors = [
        replace(error, sorted_l1=replace(error.sorted_l1, value=1.25)),
        replace(error, sorted_l1=replace(error.sorted_l1, standard_error=1.25)),
        replace(error, sorted_l1=replace(error.sorted_l1, method="none")),
        replace(error, simulations=3),
        replace(error, levels=error.levels + 1),
        replace(error, prevalence_errors=error.prevalence_errors + 1),
        replace(error, k_plus_errors=error.k_plus_errors + 1),
        replace(error, zeros_error=1.5),
        replace(error, band=band),
        replace(error, band=None),
        replace(error, prevalence_band=PrevalenceBand(band.ends, band.lows, band.highs)),
        replace(error, zeros_interval=(0, 2)),
        replace(error, items_interval=(0, 10**6)),
    ]
    changed = [release, *(replace(release, recorded_error=each) for each in errors)]
    changed += [
        replace(release, reason="Checked by the regulator."),
        replace(release, library_version="9.9"),
        replace(release, guarantee=replace(release.guarantee, arithmetic="exact")),
    ]
    assert len({rest_digest(each) for each in changed}) == len(changed) == 17
    # Words alone tell apart what has no errors yet.
    assert len({rest_digests(each)[-1] for each in changed}) == 4


def test_the_excess_is_charged_with_the_profile(kept: Ledger) -> None:
    kept.create("users", "user", epsilon=1)
    users = BoundedUnits(2, ah.Profile.from_counts([3, 1]))
    profile = ah.Profile([1], [3], unit=PrivacyUnit.user(max_items=2), order_key="0" * 32, users=users)
    release = ah.release(profile, epsilon=1, excess_share="0.1", ledger=kept, dataset="users", simulations=0)
    assert kept.balance("users").left.epsilon == 0
    assert release.guarantee.epsilon == 1


def test_the_excess_of_groups_is_charged_with_them(kept: Ledger) -> None:
    kept.create("labels", "label", epsilon=1)
    unit, numbers = PrivacyUnit.label(max_count=3, groups=2), ah.Profile.from_counts([3, 1])
    profiles = {("a",): ah.Profile.from_counts([1]), ("b",): ah.Profile.from_counts([2, 1])}
    profiles["c",] = ah.Profile.from_counts([1, 1])
    units = BoundedUnits(2, numbers, Bounded.GROUPS_OF_LABELS)
    grouped = GroupedProfile(("g",), profiles, unit=unit, order_key="0" * 32, units=units)
    release = ah.release_groups(
        grouped, epsilon=1, excess_share="0.1", ledger=kept, dataset="labels", simulations=0, source=SeededSource(1)
    )
    assert kept.balance("labels").left.epsilon == 0
    assert release.guarantee.epsilon == 1
    assert release.excess is not None
    assert content_digest(release) != content_digest(GroupedRelease(release.by, dict(release.items())))


@each_of(
    ("privacy", "options"),
    [(EdgePrivacy(), {"epsilon": 1}), (NodePrivacy(), {"epsilon": 5})],
)
def test_degrees_are_charged(privacy: Any, options: dict[str, Any], tmp_path: Path) -> None:
    graph = as_graph([(node, (node * node) % 11) for node in range(11)])
    with Ledger(f"{tmp_path}/budget.db") as ledger:
        kind = "edge" if isinstance(privacy, EdgePrivacy) else "node"
        ledger.create("friends", kind, epsilon=50)
        release = ah.release_degrees(
            graph, privacy=privacy, **options, ledger=ledger, dataset="friends", simulations=0, source=SeededSource(1)
        )
        assert states(ledger, "friends") == ["released"]
        assert ledger.balance("friends").spent == (release.guarantee.epsilon, release.guarantee.delta)


def test_the_number_of_edges_is_charged(tmp_path: Path) -> None:
    graph = as_graph([(node, (node + 1) % 11) for node in range(11)])
    with Ledger(f"{tmp_path}/budget.db") as ledger:
        ledger.create("friends", "node", epsilon=2)
        charged = {"ledger": ledger, "dataset": "friends"}
        estimate = private_edge_count(graph, epsilon=1, max_degree=2, **charged)  # type: ignore[arg-type]
        assert estimate.guarantee is not None
        assert (states(ledger, "friends"), ledger.balance("friends").spent.epsilon) == (["released"], 1)
        with pytest.raises(BudgetError):
            private_edge_count(graph, epsilon=2, max_degree=2, **charged)  # type: ignore[arg-type]
        with pytest.raises(UsageError):
            private_edge_count(graph, epsilon=1, max_degree=0, **charged)  # type: ignore[arg-type]
        assert states(ledger, "friends") == ["released"]


@each_of(
    ("survey", "cost"),
    [
        (ah.local.KRR(alphabet=4, epsilon="0.5", title="Pets"), "1/2"),
        (ah.local.HeavyHitters(epsilon=1, max_bytes=3), "1"),
        (ah.local.RAPPOR(buckets=32, cohorts=2, hashes=1, f="1/2", p="1/2", q="3/4"), "1098612289/500000000"),
    ],
)
def test_surveys_are_charged_as_declared(survey: ah.local.Survey, cost: str, tmp_path: Path) -> None:
    with Ledger(f"{tmp_path}/budget.db") as ledger:
        ledger.create("members", "user", epsilon=5, relation=NeighboringRelation.SUBSTITUTE)
        ledger.create("buyers", "user", epsilon=5)
        declared = ah.local.declare(survey, ledger=ledger, dataset="members", purpose="pets")
        assert (type(declared), declared.digest, declared) == (type(survey), survey.digest, survey)
        assert str(ledger.balance("members").spent.epsilon) == cost == str(survey.guarantee.epsilon)
        ah.write(declared, tmp_path / "survey.json")
        read = ah.read(tmp_path / "survey.json")
        assert isinstance(read, ah.local.Survey)
        assert (read, read.receipt) == (survey, declared.receipt)
        assert read.receipt is not None
        claim = claim_of(tmp_path / "survey.json")
        assert verify(ledger, [claim], dataset="members").problems == ()
        # Asked in a second survey, the same people lose twice as much; reports of both are alike.
        again = ah.local.declare(declared, ledger=ledger, dataset="members")
        assert ledger.balance("members").spent.epsilon == 2 * survey.guarantee.epsilon
        assert again.tally(declared.randomize([])).users == 0
        moved = replace(survey, title="Cars", receipt=declared.receipt)
        ah.write(moved, tmp_path / "moved.json")
        (problem,) = verify(ledger, [claim_of(tmp_path / "moved.json")]).problems
        assert "its content differs" in problem
        # A survey does not hide who takes part.
        with pytest.raises(UsageError, match="is for users added or removed"):
            ah.local.declare(survey, ledger=ledger, dataset="buyers")
        assert len(ledger.entries()) == 6
    assert ah.local.declare(survey) is survey
    with pytest.raises(UsageError, match="Only surveys"):
        ah.local.declare("survey")  # type: ignore[type-var]


def test_every_change_of_what_a_survey_says_changes_its_digest() -> None:
    survey = ah.local.SubsetSelection(alphabet=9, epsilon=1)
    changed = (
        replace(survey, epsilon=2),
        replace(survey, title="Pets"),
        replace(survey, alphabet=8),
        replace(survey, receipt=Receipt("0" * 32, 3, "f" * 64)),
        ah.local.KRR(alphabet=9, epsilon=1),
        ah.local.OptimizedUnary(alphabet=9, epsilon=1),
    )
    assert len({survey_digest(each) for each in (survey, *changed)}) == 7


# Functions and methods that draw noise, and are charged elsewhere or not at all.
UNCHARGED = {
    # Which items are kept is random, but not private.
    *("read_degrees", "read_edges", "read_cumulative", "read_cumulative_groups"),
    *("as_graph", "update_sketch"),
    # Mechanisms, and steps of them: who calls them keeps account.
    *(".release", ".release_each", ".draw", ".degrees"),
    # A sketch is charged when it is read, a survey when it is declared.
    # A device's identifier is random, and no answer.
    "new_identifier",
    *(".__init__", ".answer", ".unfold", ".randomize", ".randomize_again", ".remember", ".draw_words"),
    # Exact: the source picks which items of a user count.
    "compare",
}


def public_functions() -> Iterator[tuple[str, set[str]]]:
    """Yield the name and the parameters of each public function and method."""
    for module in (ah, ah.private, ah.windows, ah.sketches, ah.local, ah.graphs, ah.mechanisms):
        for name in module.__all__:
            value = getattr(module, name)
            members = inspect.getmembers(value, inspect.isfunction) if inspect.isclass(value) else [(name, value)]
            for own, each in members:
                if inspect.isfunction(each) and (own == "__init__" or not own.startswith("_")):
                    yield f"{'.' if inspect.isclass(value) else ''}{own}", set(inspect.signature(each).parameters)


def test_every_function_that_draws_noise_takes_a_ledger() -> None:
    found = list(public_functions())
    drawing = {name for name, parameters in found if "source" in parameters}
    charged = {name for name, parameters in found if {"ledger", "dataset", "purpose", "run_id"} <= parameters}
    assert drawing - charged == UNCHARGED
    assert charged - drawing == {".reconstruct", "declare"}
    # read_groups among them, which may find groups, and read_profile, which may choose a bound.
    assert len(charged & drawing) == 16


@each_of("name", [name for name in ah.private.__all__ if name != "support_coverage"])
def test_private_estimates_are_charged(name: str, tmp_path: Path) -> None:
    own: dict[str, Any] = {"power_sum": {"order": 2}, "renyi_entropy": {"order": 2}}.get(name, {})
    own |= {"distance_to_uniformity": {"alphabet_size": 9}, "support_size": {"alphabet_size": 9}}.get(name, {})
    is_of_users = name == "num_labels"
    own |= {"user": "who", "label": "what"} if is_of_users else {}
    data = pa.table({"who": ["ann", "bob"], "what": ["x", "y"]}) if is_of_users else PROFILE
    with Ledger(f"{tmp_path}/budget.db") as ledger:
        ledger.create("letters", "user" if is_of_users else "item", epsilon=3)
        estimate = getattr(ah.private, name)(data, epsilon="0.5", ledger=ledger, dataset="letters", **own)
        assert states(ledger) == ["released"]
        assert ledger.balance("letters").spent.epsilon == estimate.guarantee.epsilon
        with pytest.raises(UsageError):
            getattr(ah.private, name)(data, epsilon="0.5", ledger=ledger, dataset="letters", level=2, **own)
        assert states(ledger) == ["released"]


def test_a_number_of_labels_is_charged_before_its_rows_are_read(tmp_path: Path) -> None:
    rows = pa.table({"who": ["ann"], "what": ["x"]})
    with Ledger(f"{tmp_path}/budget.db") as ledger:
        ledger.create("letters", "user", epsilon=1)
        told: dict[str, Any] = {"user": "who", "ledger": ledger, "dataset": "letters"}
        # The schema is public: an error about it tells nothing of the rows.
        with pytest.raises(DataError, match="no column"):
            ah.private.num_labels(rows, epsilon="0.5", label="when", **told)
        with pytest.raises(BudgetError):
            ah.private.num_labels("missing.csv", epsilon=2, **told)
        ah.private.num_labels(rows, epsilon=1, label="what", **told)
        assert states(ledger) == ["void", "released"]


@each_of(
    "wrong",
    [{"epsilon": 0}, {"epsilon": 1, "mechanism": "nothing"}, {"epsilon": 1, "unit": PrivacyUnit.label(max_count=2)}],
)
def test_a_wrong_call_is_not_charged(wrong: dict[str, Any], tmp_path: Path) -> None:
    profile = ah.Profile.from_counts([3], unit=PrivacyUnit.user(max_items=2))
    with Ledger(f"{tmp_path}/budget.db") as ledger:
        ledger.create("letters", "user", epsilon=3)
        with pytest.raises(UsageError):
            ah.release(profile, **wrong, ledger=ledger, dataset="letters")
        assert states(ledger) == []


def test_data_that_exceed_a_public_number_stay_charged(kept: Ledger) -> None:
    # The refusal tells something about the data.
    with pytest.raises(UsageError, match="The data exceed"):
        ah.release(PROFILE, epsilon=1, mechanism="bounded-partition", public_items=3, ledger=kept, dataset="letters")
    assert states(kept) == ["charged, file unknown"]
    assert kept.balance("letters").left.epsilon == 2


def test_no_noise_is_drawn_where_too_little_is_left(kept: Ledger) -> None:
    class Broken:
        def words(self, number: int) -> Any:
            pytest.fail(f"{number} words were drawn")

    with pytest.raises(BudgetError):
        ah.release(PROFILE, epsilon=4, ledger=kept, dataset="letters", source=Broken())  # type: ignore[arg-type]
    assert len(kept.entries()) == 2


def _fail(error: Exception) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def public_error() -> DataError:
    error = DataError("There is no file.")
    error.is_public = True
    return error


@each_of(
    ("error", "state"),
    [
        (UsageError("no such option"), "void"),
        (public_error(), "void"),
        (DataError("a count is negative"), "charged, file unknown"),
        (MemoryError(), "charged, file unknown"),
        (KeyboardInterrupt(), "charged, file unknown"),
    ],
)
def test_what_fails_while_reading_stays_charged_unless_it_is_public(
    error: BaseException, state: str, tmp_path: Path
) -> None:
    with Ledger(f"{tmp_path}/budget.db") as ledger:
        ledger.create("letters", "item", epsilon=3)
        account = account_of(ledger, "letters", None)
        mechanism = FrobeniusMechanism(1)
        price = Price(mechanism.guarantee, mechanism.name, mechanism.parameters)

        def read() -> None:
            with recording(account, lambda: price) as recorded, recorded.reading():
                raise error

        with pytest.raises(type(error)):
            read()
        assert states(ledger) == [state]


def test_an_entry_that_was_voided_during_its_release_does_not_stay_charged(kept: Ledger) -> None:
    mechanism = FrobeniusMechanism(1)
    account = account_of(kept, "letters", None)

    def make(error: Exception | None) -> None:
        with recording(account, lambda: Price.of(mechanism)) as recorded, recorded.reading():
            assert recorded.receipt is not None
            kept.void(recorded.receipt.entry, "nobody saw it")
            if error is not None:
                raise error
            recorded.complete(lambda: "ab" * 32)

    for error, told in (
        (None, "was voided while its release was made"),
        (DataError("a count is negative"), "negative"),
    ):
        with pytest.raises((UsageError, DataError), match=told) as refused:
            make(error)
        assert refused.value.stays_charged == ""
    assert states(kept) == ["void"] * 2


def test_what_fails_before_or_after_reading(kept: Ledger) -> None:
    mechanism = FrobeniusMechanism(1)
    price = Price(mechanism.guarantee, mechanism.name, mechanism.parameters)
    account = account_of(kept, "letters", None)

    def before() -> None:
        with recording(account, lambda: price):
            raise DataError("the disk is gone")

    def after() -> None:
        with recording(account, lambda: price) as recorded:
            with recorded.reading():
                pass
            raise UsageError("The data exceed `public_items`")

    for fail in (before, after):
        with pytest.raises((DataError, UsageError)):
            fail()
    assert states(kept) == ["void", "charged, file unknown"]
    assert isinstance(kept.entries()[-2].event, Voided)


def test_ledger_and_data_set_go_together(kept: Ledger, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ANONHIST_LEDGER", raising=False)
    with pytest.raises(UsageError, match="dataset is missing"):
        ah.release(PROFILE, epsilon=1, ledger=kept)
    for alone in ({"dataset": "letters"}, {"purpose": "press"}):
        with pytest.raises(UsageError, match="requires"):
            ah.release(PROFILE, epsilon=1, **alone)
    assert ah.release(PROFILE, epsilon=1, simulations=0).receipt is None
    monkeypatch.setenv("ANONHIST_LEDGER", f"sqlite:///{tmp_path}/budget.db")
    with pytest.raises(UsageError, match="dataset is missing"):
        ah.release(PROFILE, epsilon=1)
    assert ah.release(PROFILE, epsilon=1, dataset="letters", simulations=0).receipt is not None
    assert states(kept) == ["released"]
