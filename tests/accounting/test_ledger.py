"""Charges of both databases: exact sums, refusals, voids, and what several processes and threads do at once."""

import multiprocessing
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from anonhist.accounting import Charge, Ledger, verify
from anonhist.accounting.entry import Charged, Completed, Created, Voided
from anonhist.errors import BudgetError, DataError, OutputError, UsageError
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist_testing.cases import each_of

Asking = Callable[..., Charge]
ADD, SUBSTITUTE = NeighboringRelation
DIGEST = "ab" * 32


def test_charges_add_up_exactly_and_to_the_last_bit(ledger: Ledger, asking: Asking) -> None:
    for epsilon in ("0.1", "1/3", "1e-18"):
        ledger.charge(asking(epsilon, "1e-10"))
    spent = ledger.balance("passwords").spent
    assert spent == (Fraction(13, 30) + Fraction(1, 10**18), Fraction(3, 10**10))
    rest = 2 - spent.epsilon
    with pytest.raises(BudgetError):
        ledger.charge(asking(str(rest + Fraction(1, 10**60))))
    ledger.charge(asking(str(rest)))
    assert ledger.balance("passwords").left.epsilon == 0
    with pytest.raises(BudgetError, match="nothing is left"):
        ledger.charge(asking("1e-64"))


def test_a_quote_is_what_a_charge_would_cost_and_records_nothing(ledger: Ledger, asking: Asking) -> None:
    ledger.charge(asking("1/3", "1e-10"))
    before = ledger.state()
    quote = ledger.quote(asking("0.5"))
    assert (quote.left, quote.cost) == ((Fraction(5, 3), Fraction(9, 10**10)), (Fraction(1, 2), 0))
    refusals = []
    for ask in (ledger.quote, ledger.charge):
        with pytest.raises(BudgetError) as refused:
            ask(asking("1.7"))
        refusals.append(str(refused.value))
    assert refusals[0] == refusals[1]
    assert ledger.state() == before
    ledger.charge(asking("0.5"))
    assert ledger.balance("passwords").left == (quote.left.epsilon - quote.cost.epsilon, quote.left.delta)


def test_delta_has_a_budget_of_its_own(ledger: Ledger, asking: Asking) -> None:
    ledger.charge(asking("0.1", "9e-10"))
    with pytest.raises(BudgetError, match=r"cost δ = 2 × 10⁻¹⁰, and of the budget of 'passwords', 10⁻⁹, 10⁻¹⁰ is left"):
        ledger.charge(asking("0.1", "2e-10"))
    assert ledger.balance("passwords").spent.epsilon == Fraction(1, 10)


@each_of(
    ("cost", "told"),
    [
        ("1.0001e-9", r"δ = 1.0001 × 10⁻⁹, and of the budget of 'passwords', 10⁻⁹, 10⁻⁹ is left"),
        ("1.000000000000001e-9", r"δ = 1.000000001 × 10⁻⁹, and of the budget of 'passwords', 10⁻⁹, 10⁻⁹ is left"),
        ("3/2999999999", r"δ = 1.000000001 × 10⁻⁹, and of the budget of 'passwords', 10⁻⁹, 10⁻⁹ is left"),
    ],
)
def test_a_refusal_by_a_hair_does_not_contradict_itself(cost: str, told: str, ledger: Ledger, asking: Asking) -> None:
    with pytest.raises(BudgetError, match=told):
        ledger.charge(asking("0.1", cost))


def test_what_is_left_of_epsilon_is_rounded_down(ledger: Ledger, asking: Asking) -> None:
    ledger.charge(asking("4/3"))
    with pytest.raises(BudgetError, match=r"ε ≈ 0\.6668, .* ≈ 0\.6666 is left"):
        ledger.charge(asking("2733/4099"))


def test_a_refusal_says_what_is_left_and_leaves_no_entry(ledger: Ledger, asking: Asking) -> None:
    ledger.charge(asking("1.5"))
    with pytest.raises(BudgetError) as refused:
        ledger.charge(asking("0.75"))
    assert str(refused.value) == (
        "The release would cost ε = 0.75, and of the budget of 'passwords', 2, 0.5 is left: nothing was released; use "
        "a smaller epsilon."
    )
    assert len(ledger.entries()) == 2


def test_every_entry_says_who_what_when_and_why(ledger: Ledger, asking: Asking) -> None:
    receipt = ledger.charge(asking("0.5", purpose="press 2026"))
    ledger.complete(receipt, DIGEST)
    other = ledger.charge(asking("0.25"))
    ledger.void(other.entry, "a wrong column")
    created, charged, completed, _, voided = ledger.entries("passwords")
    assert isinstance(created.event, Created)
    assert isinstance(charged.event, Charged)
    assert charged.event.charge == asking("0.5", purpose="press 2026")
    assert (charged.ledger, charged.number) == (receipt.ledger, receipt.entry)
    assert charged.time[:2] == "20"
    assert charged.by
    assert completed.event == Completed("passwords", receipt.entry, DIGEST)
    assert voided.event == Voided("passwords", other.entry, "a wrong column")
    balance = ledger.balance("passwords")
    assert [each.state for each in balance.items] == ["released", "void"]
    assert balance.spent.epsilon == Fraction(1, 2)
    assert balance.losses == ((Fraction(1, 2), 0),)


def test_what_was_released_cannot_be_voided_and_nothing_twice(ledger: Ledger, asking: Asking) -> None:
    receipt, other = ledger.charge(asking("0.5")), ledger.charge(asking("0.5"))
    ledger.complete(receipt, DIGEST)
    ledger.complete(receipt, DIGEST)  # the same again says nothing new
    assert len(ledger.entries()) == 4
    with pytest.raises(UsageError, match="has a release"):
        ledger.void(receipt.entry, "regret")
    with pytest.raises(UsageError, match="already completed, with another release"):
        ledger.complete(receipt, "cd" * 32)
    ledger.void(other.entry, "a typo")
    with pytest.raises(UsageError, match="already voided"):
        ledger.void(other.entry, "a typo")
    with pytest.raises(UsageError, match="voided while its release was made"):
        ledger.complete(other, DIGEST)
    for number in (1, 4, 99):
        with pytest.raises(UsageError, match=f"no charge with the number {number}"):
            ledger.void(number, "x")
    with pytest.raises(UsageError, match="must explain why"):
        ledger.void(other.entry, "")
    assert ledger.balance("passwords").spent.epsilon == Fraction(1, 2)
    assert verify(ledger).problems == ()


def test_budgets_of_data_sets_are_apart(ledger: Ledger, asking: Asking) -> None:
    ledger.create("queries", "item", epsilon=1, delta=0)
    ledger.charge(asking("2"))
    ledger.charge(asking("1", dataset="queries", unit=PrivacyUnit.item()))
    assert ledger.datasets() == ("passwords", "queries")
    assert [each.number for each in ledger.entries("queries")] == [2, 4]
    with pytest.raises(UsageError, match="already has a budget"):
        ledger.create("queries", "item", epsilon=9)
    with pytest.raises(UsageError, match=r"has no data set 'query'.*It has 'passwords', 'queries'"):
        ledger.charge(asking("1", dataset="query"))
    with pytest.raises(UsageError, match="has no data set"):
        ledger.balance("query")


@pytest.mark.full
@each_of(
    ("kind", "relation", "unit", "given", "cost"),
    [
        ("user", ADD, PrivacyUnit.user(max_items=1), ADD, 1),
        ("user", ADD, PrivacyUnit.user(max_items=9, groups=2), ADD, 1),
        ("user", SUBSTITUTE, PrivacyUnit.user(max_items=9), ADD, 2),
        ("user", ADD, PrivacyUnit.user(max_items=9), SUBSTITUTE, None),
        ("user", ADD, PrivacyUnit.item(), ADD, None),
        ("user", ADD, PrivacyUnit.label(max_count=3), ADD, None),
        ("item", ADD, PrivacyUnit.user(max_items=9), ADD, 2),
        ("item", SUBSTITUTE, PrivacyUnit.user(max_items=9), ADD, 4),
        ("edge", ADD, PrivacyUnit.node(max_distance=9), ADD, 2),
        ("node", ADD, PrivacyUnit.edge(), ADD, None),
    ],
)
def test_units_are_converted_or_refused(
    kind: str,
    relation: NeighboringRelation,
    unit: PrivacyUnit,
    given: NeighboringRelation,
    cost: int | None,
    tmp_path: Path,
) -> None:
    asked = Charge("data", Guarantee(unit, given, Fraction(1), arithmetic="exact"))
    with Ledger(f"{tmp_path}/budget.db") as ledger:
        ledger.create("data", kind, epsilon=100, relation=relation)
        if cost is None:
            with pytest.raises(UsageError, match=f"The budget of 'data' is for {kind}s"):
                ledger.charge(asked)
        else:
            ledger.charge(asked)
        assert ledger.balance("data").spent.epsilon == (cost or 0)


def test_a_party_that_knows_its_share_of_the_noise_counts(ledger: Ledger) -> None:
    shared = Guarantee(
        PrivacyUnit.user(max_items=1), ADD, Fraction(1, 2), arithmetic="x", conditions=("y",), party_epsilon=Fraction(1)
    )
    ledger.charge(Charge("passwords", shared))
    assert ledger.balance("passwords").spent.epsilon == 1


def _spend(address: str, times: int, outcome: Any) -> None:
    guarantee = Guarantee(PrivacyUnit.user(max_items=1), ADD, Fraction(1, 100), arithmetic="exact")
    done = refused = 0
    with Ledger(address) as ledger:
        for _ in range(times):
            try:
                ledger.charge(Charge("passwords", guarantee))
                done += 1
            except BudgetError:
                refused += 1
    outcome.put((done, refused))


@pytest.mark.full
def test_processes_together_spend_exactly_the_budget(ledger: Ledger, address: str) -> None:
    context = multiprocessing.get_context("spawn")
    outcome = context.Queue()
    workers = [context.Process(target=_spend, args=(address, 60, outcome)) for _ in range(4)]
    for each in workers:
        each.start()
    results = [outcome.get(timeout=120) for _ in workers]
    for each in workers:
        each.join()
    assert [sum(column) for column in zip(*results, strict=True)] == [200, 40]
    assert ledger.balance("passwords").left.epsilon == 0
    assert verify(ledger).problems == ()


def test_threads_share_a_ledger(ledger: Ledger, asking: Asking) -> None:
    threads = [threading.Thread(target=lambda: ledger.charge(asking("0.1"))) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert ledger.balance("passwords").spent.epsilon == Fraction(4, 5)


@each_of("address", ["", "mysql://db/x", "sqlite://", "budget\n.db", 7])
def test_other_addresses_are_refused(address: Any) -> None:
    with pytest.raises(UsageError, match=r"ledger"):
        Ledger(address)


def test_passwords_are_never_shown() -> None:
    pytest.importorskip("psycopg")
    ledger = Ledger("postgresql://eve:s3cret@127.0.0.1:1/x?connect_timeout=1")
    assert "s3cret" not in repr(ledger)
    with pytest.raises(DataError, match=r"'postgresql://\*\*\*@127") as refused:
        ledger.balance("x")
    assert "s3cret" not in str(refused.value)
    with pytest.raises(UsageError) as wrong:
        Ledger("mysql://eve:s3cret@db/x")
    assert "s3cret" not in str(wrong.value)


def test_there_must_be_a_ledger(address: str, asking: Asking) -> None:
    with Ledger(address) as nothing, pytest.raises(DataError, match=r"There is no ledger.*budget create"):
        nothing.charge(asking("1"))
    assert address.startswith("postgresql") or not Path(address).exists()


def test_what_a_damaged_ledger_says(tmp_path: Path, asking: Asking) -> None:
    path = tmp_path / "budget.db"
    path.write_bytes(b"These are not the entries of a ledger." * 100)
    with Ledger(str(path)) as damaged, pytest.raises(DataError, match="damaged, or not a ledger"):
        damaged.charge(asking("1"))
    with pytest.raises(OutputError, match="a folder that exists"):
        Ledger(f"{tmp_path}/nowhere/budget.db").create("x", "item", epsilon=1)
    with pytest.raises(OutputError, match="a folder that exists"):
        Ledger(str(tmp_path)).create("x", "item", epsilon=1)


def test_budgets_are_checked(ledger: Ledger) -> None:
    for wrong in ({"epsilon": 0}, {"epsilon": 1, "delta": 1}, {"epsilon": 1, "delta": -1}):
        with pytest.raises(UsageError):
            ledger.create("other", "user", **wrong)  # type: ignore[arg-type]
    for name in ("", " x", "a\nb", "x" * 201, 7):
        with pytest.raises(UsageError, match="The name of a data set must have"):
            ledger.create(name, "user", epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="privacy unit"):
        ledger.create("other", "person", epsilon=1)
    assert ledger.datasets() == ("passwords",)


@each_of(
    "address",
    [
        "host=db password=topsecret",
        "postgresql:eve:topsecret@h/x",
        "postgresql:/eve:topsecret@h/x",
        "postgresql://eve:topsecret",
        "postgresql:///eve:topsecret",
        "Postgres:eve:topsecret@h",
        "sqlite:///no.db?key=topsecret",
        "budget.db#topsecret",
    ],
)
def test_an_address_that_may_hold_a_password_is_not_shown(address: str) -> None:
    with pytest.raises(UsageError, match="is not shown, since it may contain a password") as caught:
        Ledger(address)
    assert "topsecret" not in str(caught.value)


@each_of(
    ("address", "shown"),
    [
        ("postgresql://eve:top:secret@h/x", "postgresql://***@h/x?schema=anonhist"),
        ("postgresql://[::1]:5432/x", "postgresql://[::1]:5432/x?schema=anonhist"),
        ("postgres://[::1]/x", "postgres://[::1]/x?schema=anonhist"),
        ("postgresql://h1:1,h2:2/x?schema=budgets", "postgresql://h1:1,h2:2/x?schema=budgets"),
        ("postgresql://h/x?sslpassword=s&schema=budgets&port=5", "postgresql://h/x?***&schema=budgets"),
        ("my=budget.db", "my=budget.db"),
    ],
)
def test_addresses_are_shown_without_secrets(address: str, shown: str) -> None:
    assert Ledger(address).shown == shown
