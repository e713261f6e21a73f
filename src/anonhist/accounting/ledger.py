"""A ledger: budgets of data sets, and all releases charged to them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from types import TracebackType
from typing import NamedTuple, NoReturn, Self
from urllib.parse import urlsplit

from anonhist.accounting.balance import Balance, Sums, balance_of, no_dataset, sums_of
from anonhist.accounting.budget import DEFAULT_DELTA, Budget, Cost, check_limits, exceeded, rounded_down
from anonhist.accounting.charge import Charge, Receipt, further_cost, parse_digest, parse_line
from anonhist.accounting.entry import (
    Charged,
    Completed,
    Created,
    Entry,
    Repeated,
    Voided,
    append,
    charge_at,
    charge_of,
    earlier_run,
    read_entry,
    readings_of,
)
from anonhist.accounting.sql import Row, SqlStorage, SqlTransaction
from anonhist.errors import BudgetError, UsageError, mask
from anonhist.privacy import EpsilonLike, NeighboringRelation
from anonhist.privacy.conversion import epsilon_at

_SQLITE = "sqlite:///"
_POSTGRESQL = ("postgresql://", "postgres://")

# Settings in the form of PostgreSQL's programs, addresses without their slashes, and files with parameters.
_MAY_HOLD_A_SECRET = re.compile(
    r"^\s*postgres(?:ql)?:(?!//)|^(?!postgres).*(?:\b(?:password|passfile|host|user|dbname)\s*=|[?#])", re.IGNORECASE
)
# As in [::1]:5432.
_NUMERIC_HOST = re.compile(r"\[[^\]]*\]")


def storage_at(address: str) -> SqlStorage:
    """Return the database at an address, ``PATH``, ``sqlite:///PATH`` or ``postgresql://…``, without opening it."""
    if not isinstance(address, str) or not address.strip() or not address.isprintable():
        raise UsageError(
            "`ledger` must be a file, such as budget.db, or an address, such as postgresql://host/database."
        )
    if _MAY_HOLD_A_SECRET.search(address) or (address.startswith(_POSTGRESQL) and _has_odd_colon(address)):
        raise UsageError(
            "A ledger is a file, such as budget.db or sqlite:///budget.db, or an address such as "
            "postgresql://user@host/database; the given text is neither (it is not shown, since it may contain a "
            "password)."
        )
    if address.startswith(_POSTGRESQL):
        from anonhist.accounting.postgresql import PostgresqlStorage

        return PostgresqlStorage(address)
    path = address.removeprefix(_SQLITE)
    if "://" in path or not path:
        raise UsageError(
            f"A ledger is a file, such as budget.db or sqlite:///budget.db, or a postgresql:// address, not "
            f"{mask(address)!r:.200}."
        )
    from anonhist.accounting.sqlite import SqliteStorage

    return SqliteStorage(path)


def _has_odd_colon(address: str) -> bool:
    """Return whether an address has a colon before something other than a port: it may separate user and password."""
    parts = urlsplit(address)
    hosts = _NUMERIC_HOST.sub("", parts.netloc.rpartition("@")[2]).split(",")
    ports = [host.partition(":")[2] for host in hosts]
    return ":" in parts.path or any(port and not port.isdigit() for port in ports)


class Quote(NamedTuple):
    """The cost of a release to a budget, and what is left before it."""

    budget: Budget
    left: Cost
    cost: Cost


class Ledger:
    """A durable record of the costs of a data set's releases, which refuses to overspend.

    A charge is on the disk before its release reads private data, and a charge that would exceed the budget is refused
    in the same step, however many processes ask at once. Entries are only ever added, and are chained by SHA-256.
    docs/budget.md says what a ledger can protect against, and what it cannot.

    Parameters
    ----------
    address
        A file, as its path or ``sqlite:///PATH``, or ``postgresql://…`` (the extra ``ledger``), whose parameter
        ``schema`` names the schema, by default ``anonhist``. It is opened on first use, and closed at the end
        of a ``with`` block, or with :meth:`close`. Threads may share it, and a forked process opens its own connection.

    Examples
    --------
    >>> import tempfile
    >>> from anonhist.mechanisms import FrobeniusMechanism
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Ledger(f"{folder.name}/budget.db") as ledger:
    ...     budget = ledger.create("letters", "item", epsilon=2)
    ...     receipt = ledger.charge(Charge("letters", FrobeniusMechanism("0.5").guarantee, "frobenius"))
    ...     print(ledger.balance("letters").left.epsilon)
    3/2
    >>> folder.cleanup()
    """

    def __init__(self, address: str) -> None:
        self._storage: SqlStorage = storage_at(address)
        # The sums of all entries at the last charge: only later entries are read again.
        self._sums: Sums | None = None

    def __repr__(self) -> str:
        return f"Ledger({self._storage.shown!r})"

    def __reduce__(self) -> NoReturn:
        """Refuse, because the address may hold a password, which no pickle should contain."""
        raise UsageError("A ledger cannot be pickled or copied: open it by its address in each process.")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the database; it is reopened when used."""
        self._storage.close()

    @property
    def shown(self) -> str:
        """The address without secrets."""
        return self._storage.shown

    def create(
        self,
        dataset: str,
        unit: str,
        *,
        epsilon: EpsilonLike,
        delta: EpsilonLike = DEFAULT_DELTA,
        relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    ) -> Budget:
        """Give a data set a budget; the ledger is created if it does not exist.

        Parameters
        ----------
        dataset
            The name of the data set.
        unit
            Whom the budget protects: ``"item"``, ``"user"``, ``"label"``, ``"edge"`` or ``"node"``.
        epsilon, delta
            The limits on the sums of ε and of δ of all releases.
        relation
            Which data sets are neighbors.

        Raises
        ------
        UsageError
            If a value is impossible, or the data set already has a budget; or if the denominator of ε or δ does not
            divide lcm(1, …, 4096) · 10¹⁸.
        """
        budget = Budget(dataset, unit, epsilon, delta, relation)
        check_limits(budget)
        self._storage.make()
        with self._storage.writing() as ours:
            if budget.dataset in self._followed(ours).datasets:
                raise UsageError(
                    f"The data set {budget.dataset!r} already has a budget: give the new one another name."
                )
            append(ours, Created(budget))
        return budget

    def charge(self, asked: Charge) -> Receipt:
        """Record the cost of a release before private data are read; it is on the disk when this returns.

        The amount spent is added up from the entries. ε and δ whose denominator does not divide lcm(1, …, 4096) · 10¹⁸
        are rounded up to 18 decimals, so that sums stay short. Reading the same state of a sketch again costs nothing
        more, and reading a sum of sketches costs less by the earlier charges for them
        (:func:`~anonhist.accounting.charge.further_cost`). A run is charged once, unless that charge was voided; but it
        may read a sketch again, which draws no noise.

        Raises
        ------
        RunError
            If its run was charged before.
        BudgetError
            If too little is left.
        UsageError
            If there is no such data set, or its budget is for another unit; or if the noise of a sketch was read
            in another state; or if its run was charged with other settings.
        """
        with self._storage.writing() as ours:
            before = earlier_run(ours, asked, self.shown)
            if before is not None and asked.reading is None:
                raise before.refusal(self.shown)
            row = append(ours, Charged(asked, self._quoted(ours, asked).cost))
            return Receipt(ours.ledger_id(), row.number, row.digest)

    def quote(self, asked: Charge) -> Quote:
        """Return the cost of a release and what is left before it, or refuse it as a charge would; record nothing.

        Raises
        ------
        BudgetError
            If too little is left.
        UsageError
            If there is no such data set, or its budget is for another unit.
        """
        with self._storage.reading() as state:
            return self._quoted(state, asked)

    def _quoted(self, ours: SqlTransaction, asked: Charge) -> Quote:
        budget, spent = self._followed(ours).of(asked.dataset, self.shown)
        cost = budget.cost(asked.guarantee)
        if asked.reading is not None:
            cost = further_cost(asked.reading, cost, readings_of(ours, asked.dataset, self.shown))
        quote = Quote(budget, budget.limit.minus(spent), cost.rounded())
        if quote.cost.epsilon > quote.left.epsilon or quote.cost.delta > quote.left.delta:
            raise BudgetError(exceeded(budget, quote.left, quote.cost))
        return quote

    def _followed(self, ours: SqlTransaction) -> Sums:
        """Return the sums of all entries; if this is interrupted, as by Ctrl-C, no half-read entry may count."""
        known, self._sums = self._sums, None
        self._sums = sums_of(ours, known, self.shown)
        return self._sums

    def repeated(self, asked: Charge) -> Repeated | None:
        """Return the charge of the same run that was not voided, if there is one.

        Raises
        ------
        UsageError
            If that charge has other settings.
        """
        with self._storage.reading() as state:
            return earlier_run(state, asked, self.shown)

    def is_void(self, entry: int) -> bool:
        """Return whether a charge was voided."""
        with self._storage.reading() as state:
            known = state.about(entry)
        return known is not None and isinstance(read_entry(known, self.shown).event, Voided)

    def complete(self, receipt: Receipt, digest: str, rest: str | None = None, file: str | None = None) -> None:
        """Record that the release of a charge is complete on the disk.

        Parameters
        ----------
        receipt
            The receipt of the charge.
        digest, rest
            The digests of the release's content, and of what the content leaves out, such as intervals.
        file
            The digest of its file's bytes, if the file itself holds no receipt.

        Raises
        ------
        UsageError
            If the receipt is not of this ledger, or the charge was completed with another digest, or voided.
        """
        for each in (digest, rest, file):
            if each is not None:
                parse_digest(each)
        with self._storage.writing() as ours:
            charged = charge_of(ours, receipt, self.shown)
            known, completed = ours.about(receipt.entry), Completed(charged.dataset, receipt.entry, digest, rest, file)
            if known is not None:
                state = read_entry(known, self.shown).event
                if state == completed:
                    return
                if isinstance(state, Voided):
                    raise UsageError(
                        f"Entry {receipt.entry} of the ledger was voided while its release was made: nothing was "
                        "released; make it again, with a new charge."
                    )
                raise UsageError(f"Entry {receipt.entry} of the ledger was already completed, with another release.")
            append(ours, completed)

    def void(self, entry: int, reason: str, *, dataset: str | None = None) -> None:
        """Take back a charge from which nothing was learned about the data: its ε and δ can be spent again.

        Parameters
        ----------
        entry
            The number of the entry of the charge.
        reason
            The reason, in words.
        dataset
            If given, the data set that must have been charged.

        Raises
        ------
        UsageError
            If there is no such charge, its release was completed, or it was already voided; or if it is a read-out of a
            sketch, which can be repeated at no cost, and whose fingerprint the ledger keeps.
        """
        if not parse_line(reason, "reason"):
            raise UsageError("`reason` must explain why nothing was learned from the data.")
        with self._storage.writing() as ours:
            charged = charge_at(ours, entry, self.shown, dataset)
            if charged.charge.reading is not None:
                raise UsageError(
                    f"Entry {entry} cannot be voided: it is a read-out of a sketch; read the same state again, which "
                    "costs no more."
                )
            known = ours.about(entry)
            if known is not None:
                state = read_entry(known, self.shown).event
                was = "was already voided" if isinstance(state, Voided) else "has a release, which may have been read"
                raise UsageError(f"Entry {entry} cannot be voided: it {was}.")
            append(ours, Voided(charged.dataset, entry, reason))

    def check_receipt(self, receipt: Receipt, dataset: str) -> None:
        """Refuse a receipt unless it is for a charge to this data set.

        Raises
        ------
        UsageError
            If the charge was made in another ledger, or to another data set.
        """
        with self._storage.reading() as state:
            charged = charge_of(state, receipt, self.shown)
        if charged.dataset != dataset:
            raise UsageError(f"Entry {receipt.entry} of the ledger was charged to {charged.dataset!r}: give that.")

    def check_open(self, receipt: Receipt, dataset: str) -> None:
        """Refuse a receipt unless it is for a charge to this data set that has no release yet, and was not voided.

        Raises
        ------
        UsageError
            If it is not.
        """
        self.check_receipt(receipt, dataset)
        with self._storage.reading() as state:
            known = state.about(receipt.entry)
        if known is not None:
            raise UsageError(
                f"Entry {receipt.entry} of the ledger was voided, or has its release already: read the data again, "
                "which is charged anew."
            )

    def datasets(self) -> tuple[str, ...]:
        """Return the names of all data sets with a budget."""
        with self._storage.reading() as state:
            return state.datasets()

    def entries(self, dataset: str | None = None) -> tuple[Entry, ...]:
        """Return the entries of a data set, or all, in order."""
        return tuple(read_entry(row, self.shown) for row in self.rows(dataset))

    def rows(self, dataset: str | None = None) -> list[Row]:
        """Return the entries as stored."""
        with self._storage.reading() as state:
            rows = state.rows(dataset)
            if dataset is not None and not rows:
                raise no_dataset(dataset, state.datasets(), self.shown)
            return rows

    def balance(self, dataset: str) -> Balance:
        """Return a budget, its charges, and what is left of it.

        Raises
        ------
        UsageError
            If there is no such data set.
        """
        return balance_of(self.entries(dataset))

    def state(self) -> tuple[str, list[Row]]:
        """Return the id and all entries, for verification."""
        with self._storage.reading() as state:
            return state.ledger_id(), state.rows(None)


_DAYS = {"day": Fraction(1), "week": Fraction(7), "month": Fraction(365, 12), "quarter": Fraction(365, 4)}
_DAYS["year"] = Fraction(365)
_LETTERS = {"d": "day", "w": "week", "m": "month", "y": "year"}
_SPAN = re.compile(r"([1-9][0-9]{0,3})\s*([dwmy]|days?|weeks?|months?|quarters?|years?)")
_MOST = 10_000
# This many halvings determine the highest ε that fits to four digits.
_HALVINGS = 16


def parse_span(text: str, name: str) -> Fraction:
    """Return a span of time in days, such as ``1y``, ``week`` or ``6 months``."""
    lower = text.strip().lower()
    found = _SPAN.fullmatch(lower if lower[:1].isdigit() else f"1 {lower}")
    if found is None:
        raise UsageError(f"`{name}` must be a span of time, such as day, week, 2w, month or 1y, not {text!r:.40}.")
    word = found[2]
    return int(found[1]) * _DAYS[_LETTERS.get(word) or word.removesuffix("s")]


def count_releases(every: str, span: str) -> int:
    """Return how many releases are made in a span of time."""
    number = parse_span(span, "span") // parse_span(every, "every")
    if not 1 <= number <= _MOST:
        raise UsageError(f"A plan needs from 1 to {_MOST:,} releases, not {number:,}: change `every` or `span`.")
    return number


@dataclass(frozen=True)
class Schedule:
    """What each of several releases may cost.

    ``plain`` is ε and δ of each, so that all of them fit into the rest: rounded down to numbers that a ledger stores
    exactly. ``at_delta`` is ε of each, if each has δ = 0, such that all releases of the data set, past and planned,
    together stay within the budget's ε at its δ; None if that was not requested. A ledger counts the plain sum.
    """

    releases: int
    plain: Cost
    at_delta: Fraction | None


def schedule(balance: Balance, releases: int, *, with_distributions: bool) -> Schedule:
    """Return what each of several releases may cost, or refuse if nothing is left; distributions need dp-accounting."""
    left = balance.left
    if rounded_down(left.epsilon / releases) <= 0:
        raise UsageError(f"Nothing is left of the budget of {balance.budget.dataset!r}.")
    plain = Cost(rounded_down(left.epsilon / releases), rounded_down(left.delta / releases))
    return Schedule(releases, plain, _highest(balance, releases) if with_distributions else None)


def _highest(balance: Balance, releases: int) -> Fraction | None:
    """Return the highest ε that fits, rounded down to three digits."""
    limit = balance.budget.limit
    if not limit.delta:
        return None
    past = list(balance.losses)
    low, high = balance.left.epsilon / releases, limit.epsilon
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        rounded = _three_digits(middle)
        try:
            fits = epsilon_at([*past, *([Cost(rounded, Fraction(0))] * releases)], limit.delta) <= limit.epsilon
        except UsageError as error:
            if type(error) is not UsageError:
                raise
            fits = False
        low, high = (middle, high) if fits else (low, middle)
    return _three_digits(low)


def _three_digits(value: Fraction) -> Fraction:
    from decimal import ROUND_FLOOR, Context, Decimal

    return Fraction(Context(prec=3, rounding=ROUND_FLOOR).divide(Decimal(value.numerator), Decimal(value.denominator)))
