"""A run that is started again: the charge that it has, and why it is not charged or drawn once more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonhist.accounting.charge import Receipt
from anonhist.accounting.entry import Charged, Completed, Voided, canonical
from anonhist.accounting.lookup import read_entry
from anonhist.errors import RunError, UsageError, parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anonhist.accounting.charge import Charge
    from anonhist.accounting.storage import Transaction


@dataclass(frozen=True)
class Repeated:
    """The charge of a run that was started before.

    Attributes
    ----------
    receipt
        Where it stands.
    charge
        What was asked for.
    outcome
        What says that its release is whole; None if its process died, or runs.
    """

    receipt: Receipt
    charge: Charge
    outcome: Completed | None

    def refusal(self, shown: str, *, file: str = "") -> RunError:
        """Return why it is not charged once more: noise is never drawn twice under one charge.

        Parameters
        ----------
        shown
            The address of the ledger, without secrets.
        file
            What is known of the file where its release should be: a clause.
        """
        run = self.charge.run
        name, number = "" if run is None else run.id, self.receipt.entry
        if self.outcome is not None:
            where = f", to {run.output!r}" if run is not None and run.output else ""
            return RunError(
                f"The run {name!r:.80} was released before, as entry {number} of {shown}{where}"
                f"{file and f', and {file}'}: "
                "use what was written then, or make another release, with another `run_id`, which is charged anew."
            )
        return RunError(
            f"The run {name!r:.80} was charged as entry {number} of {shown}, and whether anybody saw its release is "
            "unknown: wait if it still runs; if it was killed, look for a file .anonhist-….part where its output was "
            f"to be, void entry {number} ('anonhist budget void') only if nobody saw anything, and run it again."
        )


def earlier_run(state: Transaction, asked: Charge, shown: str) -> Repeated | None:
    """Return the charge of the same run that was not voided, if there is one.

    A read-out of a sketch draws no noise, and may be charged again: then it is the last whose release is whole.

    Raises
    ------
    UsageError
        If that has other settings.
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
                "differs): give the same, or another `run_id`."
            )
        receipt = Receipt(state.ledger_id(), number, digest)
        found.append(Repeated(receipt, event.charge, outcome if isinstance(outcome, Completed) else None))
    whole = [each for each in found if each.outcome is not None]
    return next(reversed(whole or found), None)


def _charges(state: Transaction, run_id: str, shown: str) -> Iterator[tuple[int, str, Charged]]:
    # So an entry spells it; where other texts have this, quotes are escaped.
    spelled = f'"run":{{"id":{canonical(run_id)},'
    for row in state.rows(None):
        if spelled in row.document:
            event = read_entry(row, shown).event
            if isinstance(event, Charged) and event.charge.run is not None and event.charge.run.id == run_id:
                yield row.number, row.digest, event


def difference(earlier: Charge, asked: Charge) -> str | None:
    """Return the name of a public setting in which two charges differ, or None.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.accounting.charge import Charge
    >>> from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
    >>> told = Guarantee(PrivacyUnit.item(), NeighboringRelation.ADD_OR_REMOVE, Fraction(1), arithmetic="exact")
    >>> difference(Charge("letters", told, purpose="press"), Charge("letters", told, purpose="audit"))
    '`purpose`'
    """
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
