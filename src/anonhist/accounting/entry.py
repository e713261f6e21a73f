"""Entries of a ledger, as canonical text, each chained to all before it by SHA-256, and charges among them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

from anonhist.accounting.budget import NOTHING, Budget, Cost
from anonhist.accounting.charge import (
    Charge,
    EarlierReading,
    Reading,
    Receipt,
    Run,
    damaged,
    exact,
    parse_digest,
    parse_line,
    who,
)
from anonhist.accounting.sql import Row, SqlTransaction
from anonhist.errors import DataError, RunError, UsageError, parameter
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist.version import __version__


@dataclass(frozen=True)
class Created:
    """A budget was created for a data set."""

    kind: ClassVar[str] = "create"
    about: ClassVar[None] = None
    budget: Budget

    @property
    def dataset(self) -> str:
        """The name of the data set."""
        return self.budget.dataset

    def details(self) -> dict[str, Any]:
        """Return its fields except the data set, as JSON values."""
        told = self.budget
        return {
            "unit": told.kind,
            "relation": told.relation.value,
            "epsilon": str(told.epsilon),
            "delta": str(told.delta),
        }

    @classmethod
    def read(cls, dataset: str, details: Mapping[str, Any]) -> Created:
        """Parse these JSON values."""
        numbers = exact(details["epsilon"]), exact(details["delta"])
        return cls(Budget(dataset, details["unit"], *numbers, NeighboringRelation(details["relation"])))


@dataclass(frozen=True)
class Charged:
    """A release is about to be made, at this cost."""

    kind: ClassVar[str] = "charge"
    about: ClassVar[None] = None
    charge: Charge
    cost: Cost

    @property
    def dataset(self) -> str:
        """The name of the data set."""
        return self.charge.dataset

    def details(self) -> dict[str, Any]:
        """Return its fields except the data set, as JSON values."""
        told, unit = self.charge.guarantee, self.charge.guarantee.unit
        party, reading, run = told.party_epsilon, self.charge.reading, self.charge.run
        return {
            "unit": {"kind": unit.kind, "bound": unit.bound, "sketches": unit.sketches, "groups": unit.groups},
            "relation": told.relation.value,
            "epsilon": str(told.epsilon),
            "delta": str(told.delta),
            "party_epsilon": None if party is None else str(party),
            "arithmetic": told.arithmetic,
            "conditions": list(told.conditions),
            "cost": [str(self.cost.epsilon), str(self.cost.delta)],
            "mechanism": self.charge.mechanism,
            "parameters": dict(self.charge.parameters),
            "purpose": self.charge.purpose,
            **({} if reading is None else {"reading": reading.details()}),
            **({} if run is None else {"run": run.details()}),
        }

    @classmethod
    def read(cls, dataset: str, details: Mapping[str, Any]) -> Charged:
        """Parse these JSON values."""
        unit, party = details["unit"], details["party_epsilon"]
        guarantee = Guarantee(
            PrivacyUnit(unit["kind"], unit["bound"], unit["sketches"], unit["groups"]),
            NeighboringRelation(details["relation"]),
            exact(details["epsilon"]),
            exact(details["delta"]),
            details["arithmetic"],
            conditions=tuple(details["conditions"]),
            party_epsilon=None if party is None else exact(party),
        )
        reading = Reading.read(details["reading"]) if "reading" in details else None
        run = Run.read(details["run"]) if "run" in details else None
        named = details["mechanism"], details["parameters"], details["purpose"]
        return cls(Charge(dataset, guarantee, *named, reading, run), Cost(*map(exact, details["cost"])))


@dataclass(frozen=True)
class Completed:
    """The release of a charge is complete on disk; its content has this digest.

    ``rest`` is the digest of what its content leaves out, such as intervals: for a release, but not in old entries.
    ``file`` is the digest of its bytes, if a run wrote CSV, because only the bytes identify such a file.
    """

    kind: ClassVar[str] = "complete"
    dataset: str
    about: int
    digest: str
    rest: str | None = None
    file: str | None = None

    def details(self) -> dict[str, Any]:
        """Return its fields except the data set, as JSON values."""
        told = {name: digest for name, digest in {"rest": self.rest, "file": self.file}.items() if digest is not None}
        return {"charge": self.about, "digest": self.digest, **told}

    @classmethod
    def read(cls, dataset: str, details: Mapping[str, Any]) -> Completed:
        """Parse these JSON values."""
        more = (details.get(name) for name in ("rest", "file"))
        digests = (None if digest is None else parse_digest(digest) for digest in more)
        return cls(dataset, _number(details["charge"]), parse_digest(details["digest"]), *digests)


@dataclass(frozen=True)
class Voided:
    """A charge was taken back, because nothing was learned from the data."""

    kind: ClassVar[str] = "void"
    dataset: str
    about: int
    reason: str

    def details(self) -> dict[str, Any]:
        """Return its fields except the data set, as JSON values."""
        return {"charge": self.about, "reason": self.reason}

    @classmethod
    def read(cls, dataset: str, details: Mapping[str, Any]) -> Voided:
        """Parse these JSON values."""
        return cls(dataset, _number(details["charge"]), parse_line(details["reason"], "reason"))


Event = Created | Charged | Completed | Voided
_KINDS: dict[str, type[Event]] = {each.kind: each for each in (Created, Charged, Completed, Voided)}


@dataclass(frozen=True)
class Entry:
    """One line of a ledger: what happened, when (in UTC, ISO 8601), who ran the program, and its version.

    Entry numbers begin at 1.
    """

    ledger: str
    number: int
    event: Event
    time: str
    by: str
    version: str

    @property
    def document(self) -> str:
        """The entry as canonical JSON: keys sorted, no spaces, ε and δ as exact fractions in text."""
        fields = {
            "ledger": self.ledger,
            "number": self.number,
            "kind": self.event.kind,
            "dataset": self.event.dataset,
            "time": self.time,
            "by": self.by,
            "version": self.version,
            "details": self.event.details(),
        }
        return canonical(fields)

    @classmethod
    def read(cls, document: str) -> Entry:
        """Parse an entry from its document."""
        try:
            told = json.loads(document)
            if "\\u" in document:
                canonical(told).encode()  # Lone surrogates are not valid text.
            event = _KINDS[told["kind"]].read(told["dataset"], told["details"])
            named = (_text(told[each]) for each in ("time", "by", "version"))
            return cls(_text(told["ledger"]), _number(told["number"]), event, *named)
        # This includes numbers too large for memory, and endlessly nested lists.
        except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError, UsageError):
            raise DataError("an entry is not in the format of this version") from None


def _number(value: object) -> int:
    if type(value) is not int:
        raise DataError("the number of an entry is not a whole number")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise DataError("a text field of an entry is not text")
    return value


def canonical(value: object) -> str:
    """Return a JSON value as text that is always the same for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def chained(previous: str, document: str) -> str:
    """Return the digest of an entry: SHA-256 of the previous digest and the entry's document."""
    return hashlib.sha256(f"{previous}\n{document}".encode()).hexdigest()


def now() -> str:
    """Return the current time, in UTC, to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


# A read-out's part of an entry begins with this; in other texts, it is escaped.
_READING = '"reading":{'


def read_entry(row: Row, shown: str) -> Entry:
    """Return the stored entry, or raise an error that names the damaged entry."""
    try:
        return Entry.read(row.document)
    except DataError:
        raise damaged(shown, f"entry {row.number} is not in the format of this version") from None


def append(ours: SqlTransaction, event: Event) -> Row:
    """Add an entry, chained to the last one."""
    number, head = ours.last()
    entry = Entry(ours.ledger_id(), number + 1, event, now(), who(), __version__)
    try:
        digest = chained(head, entry.document)
    except UnicodeEncodeError:
        raise UsageError(
            "Names in the charge contain invalid characters: write them in UTF-8, and try again."
        ) from None
    row = Row(entry.number, event.dataset, event.about, entry.document, digest)
    ours.append(row)
    return row


def charge_at(state: SqlTransaction, number: int, shown: str, dataset: str | None = None) -> Charged:
    """Return the charge with this number."""
    row = state.row(number)
    event = None if row is None else read_entry(row, shown).event
    if not isinstance(event, Charged) or dataset not in {None, event.dataset}:
        where = "The ledger" if dataset is None else f"The data set {dataset!r}"
        does = {Completed: "completes", Voided: "voids"}.get(type(event), "")
        told = f": that entry {does} entry {event.about}" if does and event is not None else ""
        raise UsageError(f"{where} has no charge with the number {number}{told}.")
    return event


def charge_of(state: SqlTransaction, receipt: Receipt, shown: str) -> Charged:
    """Return the charge of a receipt, or refuse one of another ledger."""
    row = state.row(receipt.entry)
    if receipt.ledger != state.ledger_id() or row is None or row.digest != receipt.head:
        raise UsageError(f"The charge was made in another ledger than {shown!r}.")
    return charge_at(state, receipt.entry, shown)


def readings_of(state: SqlTransaction, dataset: str, shown: str) -> Iterator[EarlierReading]:
    """Yield all charged read-outs of sketches, of any data set; payments of other data sets do not count."""
    for row in state.rows(None):
        if _READING in row.document:
            event = read_entry(row, shown).event
            if isinstance(event, Charged) and event.charge.reading is not None:
                yield EarlierReading(
                    row.number, event.charge.reading, event.cost if event.dataset == dataset else NOTHING
                )


@dataclass(frozen=True)
class Repeated:
    """The charge of a run that was started before; ``outcome`` is None if its process died or is running."""

    receipt: Receipt
    charge: Charge
    outcome: Completed | None

    def refusal(self, shown: str, *, file: str = "") -> RunError:
        """Return why it is not charged again: noise is never drawn twice under one charge."""
        run = self.charge.run
        name, number = "" if run is None else run.id, self.receipt.entry
        if self.outcome is not None:
            where = f", to {run.output!r}" if run is not None and run.output else ""
            return RunError(
                f"The run {name!r:.80} was already released, as entry {number} of "
                f"{shown}{where}{file and f', and {file}'}: use what was written then, or make another release, with "
                "another `run_id`, at further cost."
            )
        return RunError(
            f"The run {name!r:.80} was charged as entry {number} of {shown}, and whether anybody saw its release is "
            "unknown: wait if it still runs; if it was killed, look for a file .anonhist-….part in the folder of its "
            f"output, void entry {number} ('anonhist budget void') only if nobody saw anything, and run it again."
        )


def earlier_run(state: SqlTransaction, asked: Charge, shown: str) -> Repeated | None:
    """Return the charge of the same run that was not voided, if any; refuse one with other settings.

    A read-out of a sketch draws no noise, and may be charged again: then the result is the last charge whose release is
    complete.
    """
    if asked.run is None:
        return None
    found: list[Repeated] = []
    for number, digest, event in _charges(state, asked.run.id, shown):
        about = state.about(number)
        outcome = None if about is None else read_entry(about, shown).event
        if isinstance(outcome, Voided):
            continue
        if other := difference(event.charge, asked):
            raise UsageError(
                f"The run {asked.run.id!r:.80} was charged as entry {number} of {shown} with other settings ({other} "
                "differs): give the same settings, or another `run_id`."
            )
        receipt = Receipt(state.ledger_id(), number, digest)
        found.append(Repeated(receipt, event.charge, outcome if isinstance(outcome, Completed) else None))
    whole = [each for each in found if each.outcome is not None]
    return next(reversed(whole or found), None)


def _charges(state: SqlTransaction, run_id: str, shown: str) -> Iterator[tuple[int, str, Charged]]:
    # An entry spells it this way; in other texts that contain it, quotes are escaped.
    spelled = f'"run":{{"id":{canonical(run_id)},'
    for row in state.rows(None):
        if spelled in row.document:
            event = read_entry(row, shown).event
            if isinstance(event, Charged) and event.charge.run is not None and event.charge.run.id == run_id:
                yield row.number, row.digest, event


def difference(earlier: Charge, asked: Charge) -> str | None:
    """Return the name of a public setting in which two charges differ, or None."""
    first, second = _settings(earlier), _settings(asked)
    for name in (*first, *(each for each in second if each not in first)):
        if first.get(name) != second.get(name):
            return parameter(name)
    return None


def _settings(charge: Charge) -> dict[str, object]:
    told, run = charge.guarantee, charge.run
    reading = None if charge.reading is None else charge.reading.details()
    return {
        **({} if run is None else run.settings),
        "dataset": charge.dataset,
        "unit": told.unit,
        "relation": told.relation,
        "epsilon": told.epsilon,
        "mechanism": charge.mechanism,
        "delta": told.delta,
        "share of noise": told.party_epsilon,
        "setting of the mechanism": canonical(dict(charge.parameters)),
        "purpose": charge.purpose,
        "state of the sketch": reading,
    }
