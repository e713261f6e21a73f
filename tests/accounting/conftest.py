"""Ledgers in both databases."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path

import pytest

from anonhist.accounting import Charge, Ledger
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist_testing.postgresql import Database, Server, programs, server


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """Return a running server, or skip."""
    if programs() is None:
        pytest.skip("PostgreSQL's programs are not installed (Debian's package postgresql)")
    pytest.importorskip("psycopg", reason="psycopg is not installed (the extra ledger)")
    with server() as running:
        yield running


@pytest.fixture
def new_database(postgresql: Server) -> Iterator[Callable[[], Database]]:
    """Return what makes databases without a ledger."""
    with ExitStack() as kept:

        def make() -> Database:
            made = Database(postgresql)
            kept.callback(made.sql.close)
            return made

        yield make


@pytest.fixture
def database(new_database: Callable[[], Database]) -> Database:
    """Return a new database without a ledger."""
    return new_database()


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of a database without a ledger."""
    if request.param == "postgresql":
        running: Server = request.getfixturevalue("postgresql")
        return running.database()
    return str(tmp_path / "budget.db")


@pytest.fixture
def ledger(address: str) -> Iterator[Ledger]:
    """Return a ledger with a budget of ε = 2 for the users of "passwords"."""
    with Ledger(address) as made:
        made.create("passwords", "user", epsilon=2)
        yield made


@pytest.fixture
def asking() -> Callable[..., Charge]:
    """Return what makes a charge."""

    def ask(
        epsilon: str,
        delta: str = "0",
        *,
        unit: PrivacyUnit | None = None,
        dataset: str = "passwords",
        relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
        purpose: str = "",
    ) -> Charge:
        protected = PrivacyUnit.user(max_items=5) if unit is None else unit
        guarantee = Guarantee(protected, relation, Fraction(epsilon), Fraction(delta), "noise is exact")
        return Charge(dataset, guarantee, "frobenius", {"epsilon": epsilon}, purpose)

    return ask
