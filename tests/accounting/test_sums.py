"""What is spent: added up from the entries, whatever else says, and in numbers whose sums stay short."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.accounting import Charge, Cost, Ledger, verify
from anonhist.accounting.balance import Sums
from anonhist.accounting.budget import is_plain, rounded_down
from anonhist.accounting.charge import NoisePart, Reading
from anonhist.accounting.entry import canonical, chained
from anonhist.errors import BudgetError, DataError, OutputError, UsageError
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist.privacy.guarantee import exact_text
from anonhist_testing.cases import each_of
from anonhist_testing.postgresql import Database
from anonhist_testing.strategies import repeatable

Asking = Callable[..., Charge]
GOLDEN = Path(__file__).parent / "golden"
DIGEST = "ab" * 32


def of_golden(name: str, folder: Path) -> str:
    path = folder / "budget.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((GOLDEN / name).read_text(encoding="utf-8"))
    return str(path)


def execute(path: str, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


@each_of(
    "statement",
    [
        "UPDATE anonhist_accounts SET spent_epsilon = '1/10'",
        "UPDATE anonhist_accounts SET spent_epsilon = '0', spent_delta = '0'",
        "UPDATE anonhist_accounts SET created = 4",
        "UPDATE anonhist_accounts SET spent_epsilon = 'x'",
        "DELETE FROM anonhist_accounts",
    ],
)
def test_the_sums_that_version_1_kept_are_not_relied_on(statement: str, tmp_path: Path, asking: Asking) -> None:
    path = of_golden("schema-1.sql", tmp_path)
    execute(path, statement)
    with Ledger(path) as ledger:
        with pytest.raises(BudgetError, match="only ε = 1 of 2 is left"):
            ledger.charge(asking("1.01"))
        assert verify(ledger).problems == ()
        assert ledger.balance("passwords").left.epsilon == 1
        ledger.charge(asking("1"))
        with pytest.raises(BudgetError, match="nothing is left"):
            ledger.charge(asking("1/4096"))
        assert verify(ledger).problems == ()
    with closing(sqlite3.connect(path)) as connection:
        assert not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'anonhist_accounts'").fetchall()
    Path(path).unlink()


def test_a_ledger_of_version_1_is_read_without_changing_it(tmp_path: Path) -> None:
    path = of_golden("schema-1.sql", tmp_path)
    with Ledger(path) as ledger:
        assert ledger.balance("passwords").left.epsilon == 1
        assert verify(ledger).problems == ()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT value FROM anonhist_ledger WHERE name = 'schema'").fetchone() == ("1",)


def append(path: str, change: Callable[[dict[str, Any]], object], *, like: int, about: int | None) -> None:
    """Append an entry as a role that may, chained as it must be."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT number, document, digest FROM anonhist_entries ORDER BY number").fetchall()
        told = json.loads(rows[like - 1][1])
        told["number"] = len(rows) + 1
        change(told)
        document = canonical(told)
        values = (told["number"], told["dataset"], about, document, chained(rows[-1][2], document))
        connection.execute("INSERT INTO anonhist_entries VALUES (?, ?, ?, ?, ?)", values)
        connection.commit()


def _ends(kind: str, about: Any) -> Callable[[dict[str, Any]], None]:
    more = {"reason": "x"} if kind == "void" else {"digest": DIGEST}
    return lambda told: told.update(kind=kind, details={"charge": about, **more})


# Entry 1 makes the budget, 2 is a charge of 9/10 of it that 3 completes, and 4 one that 5 voids.
@pytest.mark.full
@each_of(
    ("change", "like", "about", "told"),
    [
        (_ends("void", 2), 2, 2, "UNIQUE"),
        (_ends("void", 2), 2, None, "entry 6 was changed"),
        (_ends("void", None), 2, None, "entry 6 voids no charge that it could refer to"),
        (_ends("void", 4), 2, 6, "entry 6 was changed"),
        (_ends("void", 1), 2, 1, "entry 6 voids no charge that it could refer to"),
        (_ends("complete", 5), 2, 5, "entry 6 completes no charge that it could refer to"),
        (_ends("gift", 5), 2, 5, "entry 6 is not in the format of this version"),
        (
            lambda told: told["details"].update(cost=["-1", "0"]),
            2,
            None,
            "entry 6 is not in the format of this version",
        ),
        (lambda told: told["details"].update(cost=["0"]), 2, None, "entry 6 is not in the format of this version"),
        # Charged upon, such an entry could not be shown or verified any more.
        (
            lambda told: told["details"].update(purpose="\x1b[31m"),
            2,
            None,
            "entry 6 is not in the format of this version",
        ),
        (lambda told: told["details"].update(mechanism=7), 2, None, "entry 6 is not in the format of this version"),
        (lambda told: told["details"].update(epsilon="1000"), 1, None, "gives 'passwords' a second budget"),
        (lambda told: told.update(dataset="x"), 2, None, "is charged to 'x', which had no budget"),
        (lambda told: told.update(ledger="0" * 32), 2, None, "entry 6 was changed"),
        (lambda told: told.update(number=9), 2, None, "entry 9"),
    ],
)
def test_entries_that_no_ledger_appends_are_not_charged_upon(
    change: Callable[[dict[str, Any]], object], like: int, about: int | None, told: str, tmp_path: Path, asking: Asking
) -> None:
    path = f"{tmp_path}/budget.db"
    with Ledger(path) as ledger:
        ledger.create("passwords", "user", epsilon=1)
        ledger.complete(ledger.charge(asking("0.9")), DIGEST)
        ledger.void(ledger.charge(asking("0.1")).entry, "a typo")
        if told == "UNIQUE":
            with pytest.raises(sqlite3.IntegrityError, match=told):
                append(path, change, like=like, about=about)
        else:
            append(path, change, like=like, about=about)
            for known in (ledger, Ledger(path)):
                with pytest.raises(DataError, match=told if told != "entry 9" else "entry 6 is missing"):
                    known.charge(asking("0.1"))
                known.close()
    for each in Path(tmp_path).glob("budget.db*"):
        each.unlink()


def test_what_others_charged_meanwhile_counts(tmp_path: Path, asking: Asking) -> None:
    path = f"{tmp_path}/budget.db"
    with Ledger(path) as ledger, Ledger(path) as other:
        ledger.create("passwords", "user", epsilon=1)
        for one, amount in ((ledger, "0.5"), (other, "0.3"), (ledger, "0.1")):
            kept = one.charge(asking(amount))
        with pytest.raises(BudgetError, match=r"only ε = 0\.1 of 1 is left"):
            other.charge(asking("0.2"))
        other.void(kept.entry, "a typo")
        ledger.charge(asking("0.2"))


def test_another_ledger_under_the_same_name_has_other_sums(tmp_path: Path, asking: Asking) -> None:
    paths = [tmp_path / name for name in ("budget.db", "other.db")]
    for each in paths:
        with Ledger(str(each)) as made:
            made.create("passwords", "user", epsilon=1)
    with Ledger(str(paths[0])) as ledger:
        ledger.charge(asking("1"))
        ledger.close()
        paths[1].replace(paths[0])
        ledger.charge(asking("1"))


@pytest.mark.full
def test_a_role_that_may_only_add_entries_does_not_overspend(database: Database, asking: Asking) -> None:
    import psycopg

    with Ledger(database.address()) as ledger:
        ledger.create("passwords", "user", epsilon=1)
        ledger.complete(ledger.charge(asking("0.9")), DIGEST)
    assert database.tables() == [
        ("anonhist", name)
        for name in (
            "anonhist_entries",
            "anonhist_entries_about_key",
            "anonhist_entries_of",
            "anonhist_entries_pkey",
            "anonhist_ledger",
            "anonhist_ledger_pkey",
        )
    ]
    user = _releasing(database)
    with Ledger(database.address(user)) as ledger:
        ledger.complete(ledger.charge(asking("0.05")), DIGEST)
        with pytest.raises(BudgetError, match=r"only ε = 0\.05 of 1 is left"):
            ledger.charge(asking("0.9"))
        # With SQL of its own it can add a void, but not a second entry about a charge that was completed.
        with psycopg.connect(database.address(user), autocommit=True) as own:
            for about, told in ((2, "unique"), (None, "")):
                row = ledger.rows()[-1]
                details = {"charge": 2, "reason": "x"}
                document = canonical(json.loads(row.document) | {"number": 6, "kind": "void", "details": details})
                values = (6, "passwords", about, document, chained(row.digest, document))
                insert = "INSERT INTO anonhist.anonhist_entries VALUES (%s, %s, %s, %s, %s)"
                if told:
                    with pytest.raises(psycopg.errors.UniqueViolation):
                        own.execute(insert, values)
                else:
                    own.execute(insert, values)
        with pytest.raises(DataError, match="entry 6 was changed"):
            ledger.charge(asking("0.01"))


def _releasing(database: Database) -> str:
    user = database.role()
    for right in ("USAGE ON SCHEMA anonhist", "SELECT ON ALL TABLES IN SCHEMA anonhist"):
        database.sql.execute(f"GRANT {right} TO {user}".encode())
    database.sql.execute(f"GRANT INSERT ON anonhist.anonhist_entries TO {user}".encode())
    return user


def test_a_role_that_may_not_bring_a_ledger_up_to_date_is_told_who_can(database: Database, asking: Asking) -> None:
    with Ledger(database.address()) as own:
        own.create("passwords", "user", epsilon=1)
        # As version 1 left it.
        database.sql.execute("CREATE TABLE anonhist.anonhist_accounts (dataset TEXT)")
        database.sql.execute("UPDATE anonhist.anonhist_ledger SET value = '1' WHERE name = 'schema'")
        with Ledger(database.address(_releasing(database))) as ledger:
            assert ledger.balance("passwords").left.epsilon == 1
            with pytest.raises(
                OutputError, match=r"older version of anonhist: the next charge or budget by their owner"
            ):
                ledger.charge(asking("0.01"))
            own.charge(asking("0.01"))
            ledger.charge(asking("0.01"))


LARGEST = lcm(*range(1, 4097)) * 10**18


@pytest.mark.full
@repeatable
@given(st.fractions(0, 10))
def test_costs_are_rounded_up_to_numbers_whose_sums_stay_short(number: Fraction) -> None:
    up, down = Cost(number, number).rounded().epsilon, rounded_down(number)
    assert down <= number <= up < down + Fraction(2, 10**18)
    assert LARGEST % up.denominator == 0 == LARGEST % down.denominator
    assert is_plain(up)
    assert is_plain(down)
    assert (up == number == down) is is_plain(number)


def test_the_bound_that_the_documentation_states_holds() -> None:
    assert len(exact_text(Fraction(LARGEST))) == 1802


def test_sums_do_not_outgrow_what_can_be_written(tmp_path: Path, asking: Asking) -> None:
    # As many digits as ε may have; their exact sum would have more than Python writes.
    amounts = [Fraction(10**253, 9 * 10**255 + 2 * place + 1) for place in range(20)]
    with Ledger(f"{tmp_path}/budget.db") as ledger:
        ledger.create("passwords", "user", epsilon=10)
        for each in amounts:
            ledger.charge(asking(str(each)))
        spent = ledger.balance("passwords").spent.epsilon
        assert sum(amounts) <= spent <= sum(amounts) + Fraction(20, 10**18)
        assert 10**18 % spent.denominator == 0
        assert verify(ledger).problems == ()


def test_what_is_rounded_up_is_refused_where_it_does_not_fit(ledger: Ledger, asking: Asking) -> None:
    ledger.charge(asking(str(2 - Fraction(1, 10**18))))
    with pytest.raises(BudgetError, match=r"ε = 10⁻¹⁸ of 2 is left .*: nothing was released; use a smaller epsilon"):
        ledger.charge(asking("1.5e-18"))
    ledger.charge(asking("1e-64"))
    with pytest.raises(BudgetError, match=r"of 'passwords' \(ε = 2\): nothing was released\.$"):
        ledger.charge(asking("1e-64"))


@each_of(
    ("epsilon", "delta"),
    [("1/4099", "0"), ("1", "1e-40"), ("1.0000000000000000000000000000000001", "0"), ("1", "1/4099")],
)
def test_budgets_have_limits_whose_sums_stay_short(epsilon: str, delta: str, tmp_path: Path) -> None:
    with Ledger(f"{tmp_path}/budget.db") as ledger:
        with pytest.raises(UsageError, match=r"of a budget must have at most 18 decimals, or .* at most 4,096: round"):
            ledger.create("passwords", "user", epsilon=epsilon, delta=delta)
        assert not Path(f"{tmp_path}/budget.db").exists()


def test_a_guarantee_that_no_entry_could_hold_is_refused() -> None:
    long = Guarantee(
        PrivacyUnit.item(), NeighboringRelation.ADD_OR_REMOVE, Fraction(1, 10**5000), arithmetic="noise is exact"
    )
    with pytest.raises(UsageError, match="more than 2,000 digits"):
        Charge("passwords", long)


def test_a_ledger_whose_sum_is_too_long_to_write_goes_on(tmp_path: Path, asking: Asking) -> None:
    path = of_golden("long-sums.sql", tmp_path)
    with Ledger(path) as ledger:
        balance = ledger.balance("passwords")
        assert balance.left.epsilon.numerator > 10**4300
        assert repr(balance).startswith("Balance('passwords', user, left=")
        assert verify(ledger).problems == ()
        receipt = ledger.charge(asking("0.25"))
        ledger.complete(receipt, DIGEST)
        with pytest.raises(BudgetError, match=r"ε = 9.9, but only ε ≈ 9.721 of 10 is left"):
            ledger.charge(asking("9.9"))
        assert verify(ledger).problems == ()
        assert len(ledger.entries()) == 20


def test_an_interrupt_in_the_middle_of_an_entry_is_not_added_up(
    tmp_path: Path, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = Sums._end

    def interrupt(*given: Any) -> None:
        end(*given)
        raise KeyboardInterrupt

    with Ledger(f"{tmp_path}/budget.db") as ledger, Ledger(f"{tmp_path}/budget.db") as other:
        ledger.create("passwords", "user", epsilon=2)
        ledger.charge(asking("1"))
        other.void(ledger.charge(asking("1")).entry, "an example")
        with monkeypatch.context() as patch:
            patch.setattr(Sums, "_end", interrupt)
            with pytest.raises(KeyboardInterrupt):
                ledger.charge(asking("1"))
        ledger.charge(asking("1"))
        with pytest.raises(BudgetError, match="nothing is left"):
            ledger.charge(asking("1"))


@each_of("number", [1, 2, 3, 4, 5])
def test_entries_that_somebody_changed_are_not_charged_upon(number: int, tmp_path: Path, asking: Asking) -> None:
    path = f"{tmp_path}/budget.db"
    with Ledger(path) as ledger:
        ledger.create("passwords", "user", epsilon=1)
        ledger.complete(ledger.charge(asking("0.9")), DIGEST)
        ledger.void(ledger.charge(asking("0.1")).entry, "a typo")
    # Each says who made it, and is as well written with another name: only the chain shows it.
    renamed = """UPDATE anonhist_entries SET document = replace(document, '"by":"', '"by":"x') WHERE number = """
    execute(path, "DROP TRIGGER anonhist_no_update", f"{renamed}{number}")
    with Ledger(path) as ledger, pytest.raises(DataError, match=f"entry {number} was changed"):
        ledger.charge(asking("0.1"))
    for each in tmp_path.glob("budget.db*"):
        each.unlink()


def test_a_void_of_a_read_out_is_not_charged_upon(tmp_path: Path, asking: Asking) -> None:
    path = f"{tmp_path}/budget.db"
    state = Reading((NoisePart("0" * 32, Fraction(1), is_whole=True),), "f" * 64)
    with Ledger(path) as ledger:
        ledger.create("passwords", "user", epsilon=1)
        ledger.charge(replace(asking("0.9"), reading=state))
        append(path, _ends("void", 2), like=2, about=2)
        with pytest.raises(DataError, match="entry 3 voids no charge that it could refer to"):
            ledger.charge(asking("0.9"))
