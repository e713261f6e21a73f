"""What verification finds: every edit of every entry, cut tails, rewrites and old backups, against files."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anonhist.accounting import Charge, Ledger, Receipt, Released, verify
from anonhist.accounting.entry import canonical, chained
from anonhist.sketches import HashedSketch
from anonhist.sketches.release import prepare_reading
from anonhist_testing.cases import each_of

Asking = Callable[..., Charge]
DIGEST, OTHER = "ab" * 32, "cd" * 32


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "budget.db")


def filled(path: str, asking: Asking, *purposes: str) -> list[Released]:
    """Make a ledger with releases, and return what their files say."""
    files = []
    with Ledger(path) as ledger:
        ledger.create("passwords", "user", epsilon=2)
        for purpose in purposes:
            receipt = ledger.charge(asking("0.25", purpose=purpose))
            ledger.complete(receipt, DIGEST)
            files.append(Released(f"{purpose}.json", receipt, DIGEST))
    return files


def problems(path: str, files: list[Released] = [], **more: str) -> tuple[str, ...]:  # noqa: B006  # never changed
    with Ledger(path) as ledger:
        return verify(ledger, files, **more).problems


def edit(path: str, *statements: str) -> None:
    """Change a ledger as somebody would who has the file."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER IF EXISTS anonhist_no_update")
        connection.execute("DROP TRIGGER IF EXISTS anonhist_no_delete")
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_a_whole_ledger_and_its_files_have_no_problem(path: str, asking: Asking) -> None:
    files = filled(path, asking, "one", "two")
    with Ledger(path) as ledger:
        told = verify(ledger, files, dataset="passwords")
    assert (told.entries, told.files, told.problems) == (5, 2, ())


def test_what_the_content_leaves_out_is_compared_where_the_ledger_knows_it(path: str, asking: Asking) -> None:
    whole, words = "12" * 32, "34" * 32
    with Ledger(path) as ledger:
        ledger.create("passwords", "user", epsilon=2)
        receipts = [ledger.charge(asking("0.25")) for _ in range(3)]
        for receipt, rest in zip(receipts, (whole, words, None), strict=True):
            ledger.complete(receipt, DIGEST, rest)
        kept = [Released(f"{at}.json", receipt, DIGEST, (whole, words)) for at, receipt in enumerate(receipts)]
        told = verify(ledger, kept)
        # Words alone were known of the second, and of the third nothing, as in ledgers of older versions.
        assert (told.problems, told.unchecked) == ((), ("1.json", "2.json"))
        changed = [each._replace(rest=(OTHER, "56" * 32)) for each in kept]
        told = verify(ledger, changed)
    assert [each[:8] for each in told.problems] == ["'0.json'", "'1.json'"]
    assert all("expected errors, intervals or words differ" in each for each in told.problems)


def test_entries_are_not_changed_by_accident(path: str, asking: Asking) -> None:
    filled(path, asking, "one")
    for statement in ("UPDATE anonhist_entries SET document = ''", "DELETE FROM anonhist_entries"):
        with (
            closing(sqlite3.connect(path)) as connection,
            pytest.raises(sqlite3.IntegrityError, match="entries are never changed"),
        ):
            connection.execute(statement)


@pytest.mark.full
@each_of(
    ("statement", "told"),
    [
        (
            "UPDATE anonhist_entries SET document = replace(document, '1/4', '1/8') WHERE number = 2",
            "Entry 2 was changed",
        ),
        (
            "UPDATE anonhist_entries SET document = replace(document, 'one', 'on') WHERE number = 2",
            "Entry 2 was changed",
        ),
        ("UPDATE anonhist_entries SET digest = '00' WHERE number = 3", "Entry 3 was changed"),
        ("UPDATE anonhist_entries SET dataset = 'x' WHERE number = 3", "Entry 3 was changed"),
        ("UPDATE anonhist_entries SET about = 9 WHERE number = 3", "Entry 3 was changed"),
        ("UPDATE anonhist_entries SET document = 'x' WHERE number = 1", "Entry 1 was changed"),
        ("DELETE FROM anonhist_entries WHERE number = 2", "Entry 2 is missing"),
        ("DELETE FROM anonhist_entries WHERE number = 1", "Entry 1 is missing"),
        ("UPDATE anonhist_entries SET document = x'ff00' WHERE number = 3", "Entry 3 was changed"),
        ("UPDATE anonhist_entries SET document = 5 WHERE number = 3", "Entry 3 was changed"),
        ("UPDATE anonhist_ledger SET value = '00' WHERE name = 'id'", "Entry 1 was changed"),
    ],
)
def test_every_edit_shows(statement: str, told: str, tmp_path: Path, asking: Asking) -> None:
    path = str(tmp_path / "budget.db")
    filled(path, asking, "one", "two")
    edit(path, statement)
    assert any(told in problem for problem in problems(path))


def _rewritten(path: str, old: str, new: str) -> None:
    """Change all entries and chain them anew, as somebody who knows how."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT number, document FROM anonhist_entries ORDER BY number").fetchall()
    head, statements = "", []
    for number, document in rows:
        other = document.replace(old, new)
        head = chained(head, other)
        quoted = other.replace("'", "''")
        statements.append(
            f"UPDATE anonhist_entries SET document = '{quoted}', digest = '{head}' WHERE number = {number}"  # noqa: S608
        )
    edit(path, *statements)


def test_a_ledger_that_was_written_anew_is_found_out_by_a_file(path: str, asking: Asking) -> None:
    files = filled(path, asking, "one", "two")
    _rewritten(path, '"purpose":"one"', '"purpose":"none"')
    assert problems(path) == ()  # the chain alone does not show it
    assert "was rewritten" in problems(path, files)[0]


def test_a_cut_tail_and_an_old_backup_are_found_out_by_a_file(path: str, asking: Asking) -> None:
    files = filled(path, asking, "one", "two")
    edit(path, "DELETE FROM anonhist_entries WHERE number = 5")
    assert problems(path) == ()
    assert "later entries were deleted, or an old backup was restored" in problems(path, files)[0]
    edit(path, "DELETE FROM anonhist_entries WHERE number = 4")
    assert problems(path) == ()
    assert "which is not in the ledger" in problems(path, files)[0]
    # And if other releases were charged since then:
    with Ledger(path) as ledger:
        ledger.charge(asking("0.5"))
    assert "the ledger was rewritten" in problems(path, files)[0]


def test_files_that_do_not_match_are_named(path: str, asking: Asking) -> None:
    (file,) = filled(path, asking, "one")
    assert file.receipt is not None
    elsewhere = replace(file.receipt, ledger="0" * 32)
    wrong = [
        Released("unledgered.json", None, DIGEST),
        Released("elsewhere.json", elsewhere, DIGEST),
        Released("edited.json", file.receipt, OTHER),
    ]
    assert problems(path, wrong) == (
        "'unledgered.json' was released without a ledger and never charged.",
        "'elsewhere.json' was charged to another ledger.",
        "'edited.json' was changed after its release: its content differs.",
    )
    assert "files with different content" in problems(path, [file, wrong[2]])[-1]
    assert problems(path, [file], dataset="queries") == ("'one.json' was charged to another data set.",)


def test_a_voided_charge_has_no_file(path: str, asking: Asking) -> None:
    filled(path, asking)
    with Ledger(path) as ledger:
        receipt = ledger.charge(asking("0.25"))
        assert "its content is not in the ledger" in verify(ledger, [Released("a.json", receipt, DIGEST)]).problems[0]
        ledger.void(receipt.entry, "nothing was read")
        assert "its charge was voided" in verify(ledger, [Released("a.json", receipt, DIGEST)]).problems[0]
        own = Receipt(receipt.ledger, 1, ledger.rows()[0].digest)
        assert "another data set" in verify(ledger, [Released("a.json", own, DIGEST)]).problems[0]


def append_forged(
    path: str, change: Callable[[dict[str, Any]], object], like: int = 2, about: int | None = None
) -> int:
    """Append an entry to a ledger, chained as it must be, like another one but for a change; return its number."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT number, document, digest FROM anonhist_entries ORDER BY number").fetchall()
        number, head, told = len(rows) + 1, rows[-1][2], json.loads(rows[like - 1][1])
        told["number"] = number
        change(told)
        document = canonical(told)
        values = (number, told["dataset"], about, document, chained(head, document))
        connection.execute("INSERT INTO anonhist_entries VALUES (?, ?, ?, ?, ?)", values)
        connection.commit()
    return number


def _ends(kind: str, about: int, dataset: str = "passwords") -> Callable[[dict[str, Any]], None]:
    more = {"reason": "x"} if kind == "void" else {"digest": DIGEST}

    def change(told: dict[str, Any]) -> None:
        told.update(kind=kind, dataset=dataset, details={"charge": about, **more})

    return change


def _costs(epsilon: str) -> Callable[[dict[str, Any]], None]:
    return lambda told: told["details"].update(cost=[epsilon, "0"])


# Entry 1 makes the budget, 2 is a charge that 3 completes, 4 one that 5 voids, and 6 one that may go either way.
@pytest.mark.full
@each_of(
    ("change", "like", "about", "told"),
    [
        (_costs("-2"), 2, None, "Entry 7 was changed: an entry is not in the format of this version."),
        (_costs("0"), 2, None, "Entry 7 has a cost that differs from its guarantee."),
        (_costs("1"), 2, None, "Entry 7 has a cost that differs from its guarantee."),
        (
            lambda told: told["details"].update(epsilon="7/4", cost=["7/4", "0"]),
            2,
            None,
            "Entry 7 spends more of 'passwords' than was left.",
        ),
        (
            lambda told: told["details"]["unit"].update(kind="item", bound=1),
            2,
            None,
            "Entry 7 is charged to 'passwords', where the ledger refuses it.",
        ),
        (lambda told: told.update(dataset="x"), 2, None, "Entry 7 is charged to 'x', which had no budget."),
        (lambda told: told["details"].update(epsilon="1000"), 1, None, "Entry 7 gives 'passwords' a second budget."),
        (lambda told: told["details"].update(epsilon="2e3"), 1, None, "Entry 7 was changed"),
        (lambda told: told["details"].update(more=1), 1, None, "Entry 7 is not in the format of this version."),
        (_ends("complete", 1), 2, 1, "Entry 7 completes entry 1, which is not an earlier charge to 'passwords'."),
        (_ends("complete", 8), 2, 8, "Entry 7 completes entry 8, which is not an earlier charge to 'passwords'."),
        (_ends("void", 6, "x"), 2, 6, "Entry 7 voids entry 6, which is not an earlier charge to 'x'."),
    ],
)
def test_entries_that_no_ledger_appends_are_found(
    change: Callable[[dict[str, Any]], object],
    like: int,
    about: int | None,
    told: str,
    tmp_path: Path,
    asking: Asking,
) -> None:
    path = str(tmp_path / "budget.db")
    filled(path, asking, "one")
    with Ledger(path) as ledger:
        ledger.void(ledger.charge(asking("0.25")).entry, "a typo")
        ledger.charge(asking("0.25"))
        assert verify(ledger).problems == ()
    append_forged(path, change, like, about)
    found = problems(path)
    assert len(found) == 1
    assert told in found[0]


def test_a_second_end_of_a_charge_is_found(path: str, asking: Asking) -> None:
    filled(path, asking, "one")
    # The database takes no two entries about one charge, unless its index is gone.
    edit(
        path,
        "CREATE TABLE copied (number BIGINT PRIMARY KEY, dataset TEXT, about BIGINT, document TEXT, digest TEXT)",
        "INSERT INTO copied SELECT number, dataset, about, document, digest FROM anonhist_entries",
        "DROP TABLE anonhist_entries",
        "ALTER TABLE copied RENAME TO anonhist_entries",
    )
    append_forged(path, _ends("void", 2), about=2)
    assert problems(path) == ("Entry 4 voids entry 2, which was already completed or voided.",)


def test_read_outs_are_priced_again_and_never_voided(path: str) -> None:
    sketch = HashedSketch(buckets=8, epsilon=1, key=b"k")
    with Ledger(path) as ledger:
        ledger.create("passwords", "item", epsilon=5)
        for _ in range(2):
            price = prepare_reading(sketch).price()
            ledger.charge(Charge("passwords", price.guarantee, reading=price.reading))
        assert [each.cost.epsilon for each in ledger.balance("passwords").items] == [1, 0]
        assert verify(ledger).problems == ()
    append_forged(path, _costs("1"))
    append_forged(path, lambda told: told["details"]["reading"].update(fingerprint="0" * 64))
    append_forged(path, _ends("void", 3), about=3)
    assert problems(path) == (
        "Entry 4 has a cost that differs from its guarantee.",
        "Entry 5 is charged to 'passwords', where the ledger refuses it.",
        "Entry 6 voids entry 3, which is a read-out of a sketch.",
    )


def test_files_are_compared_although_entries_are_damaged(path: str, asking: Asking) -> None:
    files = filled(path, asking, "one", "two")
    edit(path, "UPDATE anonhist_entries SET document = '{}' WHERE number IN (2, 5)")
    assert problems(path, [*files, Released("other.json", None, DIGEST)]) == (
        "Entry 2 was changed: an entry is not in the format of this version.",
        "'one.json' was charged as entry 2, which is damaged.",
        "'two.json' is charged, but entry 5, which completed or voided it, is damaged.",
        "'other.json' was released without a ledger and never charged.",
    )
