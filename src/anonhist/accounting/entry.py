"""Entries of a ledger: what happened, as canonical text, each chained to all before it by SHA-256."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from anonhist.accounting.budget import Budget, Cost
from anonhist.accounting.charge import Charge, Reading, Run, exact, parse_digest, parse_line
from anonhist.errors import DataError, UsageError
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Created:
    """A data set got a budget."""

    kind: ClassVar[str] = "create"
    about: ClassVar[None] = None
    budget: Budget

    @property
    def dataset(self) -> str:
        """The name of the data set."""
        return self.budget.dataset

    def details(self) -> dict[str, Any]:
        """Return what it says beside the data set, as JSON values."""
        told = self.budget
        return {
            "unit": told.kind,
            "relation": told.relation.value,
            "epsilon": str(told.epsilon),
            "delta": str(told.delta),
        }

    @classmethod
    def read(cls, dataset: str, details: Mapping[str, Any]) -> Created:
        """Return what these values say."""
        numbers = exact(details["epsilon"]), exact(details["delta"])
        return cls(Budget(dataset, details["unit"], *numbers, NeighboringRelation(details["relation"])))


@dataclass(frozen=True)
class Charged:
    """A release is about to be made, and costs this much."""

    kind: ClassVar[str] = "charge"
    about: ClassVar[None] = None
    charge: Charge
    cost: Cost

    @property
    def dataset(self) -> str:
        """The name of the data set."""
        return self.charge.dataset

    def details(self) -> dict[str, Any]:
        """Return what it says beside the data set, as JSON values."""
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
        """Return what these values say."""
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
        charge = Charge(dataset, guarantee, *named, reading, run)
        return cls(charge, Cost(*map(exact, details["cost"])))


@dataclass(frozen=True)
class Completed:
    """The release of a charge is whole on the disk; its content has this digest.

    ``rest`` is that of what its content leaves out, such as intervals: for a release, but not in old entries. ``file``
    is that of its bytes, if a run wrote CSV, by which alone such a file is known again.
    """

    kind: ClassVar[str] = "complete"
    dataset: str
    about: int
    digest: str
    rest: str | None = None
    file: str | None = None

    def details(self) -> dict[str, Any]:
        """Return what it says beside the data set, as JSON values."""
        more = {"rest": self.rest, "file": self.file}
        told = {name: digest for name, digest in more.items() if digest is not None}
        return {"charge": self.about, "digest": self.digest, **told}

    @classmethod
    def read(cls, dataset: str, details: Mapping[str, Any]) -> Completed:
        """Return what these values say."""
        more = (details.get(name) for name in ("rest", "file"))
        digests = (None if digest is None else parse_digest(digest) for digest in more)
        return cls(dataset, _number(details["charge"]), parse_digest(details["digest"]), *digests)


@dataclass(frozen=True)
class Voided:
    """A charge was taken back: nothing was learned from the data."""

    kind: ClassVar[str] = "void"
    dataset: str
    about: int
    reason: str

    def details(self) -> dict[str, Any]:
        """Return what it says beside the data set, as JSON values."""
        return {"charge": self.about, "reason": self.reason}

    @classmethod
    def read(cls, dataset: str, details: Mapping[str, Any]) -> Voided:
        """Return what these values say."""
        return cls(dataset, _number(details["charge"]), parse_line(details["reason"], "reason"))


Event = Created | Charged | Completed | Voided
_KINDS: dict[str, type[Event]] = {each.kind: each for each in (Created, Charged, Completed, Voided)}


@dataclass(frozen=True)
class Entry:
    """One line of a ledger: what happened, when (in UTC, ISO 8601), who ran the program, and its version.

    Numbers of entries begin at 1.
    """

    ledger: str
    number: int
    event: Event
    time: str
    by: str
    version: str

    @property
    def document(self) -> str:
        """The entry as canonical JSON: keys sorted, no spaces, numbers of privacy as exact fractions in text."""
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
        """Return the entry that a document says."""
        try:
            told = json.loads(document)
            if "\\u" in document:
                canonical(told).encode()  # halves of characters are no text
            event = _KINDS[told["kind"]].read(told["dataset"], told["details"])
            named = (_text(told[each]) for each in ("time", "by", "version"))
            return cls(_text(told["ledger"]), _number(told["number"]), event, *named)
        # Also numbers that no memory has room for, and lists in lists without end.
        except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError, UsageError):
            raise DataError("an entry is not one that this version writes") from None


def _number(value: object) -> int:
    if type(value) is not int:
        raise DataError("the number of an entry is no whole number")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise DataError("a text of an entry is none")
    return value


def canonical(value: object) -> str:
    """Return a JSON value as text, always the same for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def chained(previous: str, document: str) -> str:
    """Return the digest of an entry: SHA-256 of the digest before it and its document."""
    return hashlib.sha256(f"{previous}\n{document}".encode()).hexdigest()


def now() -> str:
    """Return the time, in UTC, to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
