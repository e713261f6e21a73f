"""What a release of a profile of items remembers of its mechanism: made again from a document, and checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from anonhist.catalogue.mechanisms import MECHANISMS
from anonhist.errors import DataError, UsageError
from anonhist.mechanisms.names import from_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anonhist.mechanisms import CentralMechanism
    from anonhist.privacy import Guarantee
    from anonhist.profiles import Profile
    from anonhist.releases import Excess, Mechanism


@dataclass(frozen=True)
class Recorded:
    """What a file says of the mechanism of a release.

    Attributes
    ----------
    name, parameters
        Those of the mechanism.
    guarantee
        What the release promises.
    excess
        What a bound on the items of users left out, if that was released besides.
    version
        That of the document.
    """

    name: str
    parameters: Mapping[str, Any]
    guarantee: Guarantee
    excess: Excess | None
    version: int


@dataclass(frozen=True)
class Remade:
    """A mechanism that was made again from a file.

    Attributes
    ----------
    mechanism
        The mechanism.
    guarantee
        What the release promises, which older documents did not say completely.
    check
        Refuses a profile, items and zeros that the mechanism does not release, with a DataError.
    """

    mechanism: Mechanism
    guarantee: Guarantee
    check: Callable[[Profile, int | None, int | None], None]


@dataclass(frozen=True)
class ReleaseRecords:
    """How releases of one kind are written and read back.

    Attributes
    ----------
    versions
        The names of their mechanisms, and the first version of the document that says everything of such a release.
    module
        Where its function ``remake`` is: loaded for those alone who read such releases.
    """

    versions: Mapping[str, int]
    module: str

    def remake(self, recorded: Recorded) -> Remade:
        """Make the mechanism again.

        Raises
        ------
        DataError
            If the parameters are not those of such a mechanism, or it does not promise that.
        """
        remade: Remade = import_module(self.module).remake(recorded)
        return remade


_EDGES = dict.fromkeys((f"edge-{name}" for name in MECHANISMS), 1)
_NODES = dict.fromkeys(("node-cumulative", "node-survival", "node-histogram", "node-partition"), 2)
RECORDS = {
    "central": ReleaseRecords(dict.fromkeys(MECHANISMS, 1), "anonhist.formats.central_releases"),
    "degrees": ReleaseRecords(_EDGES | _NODES, "anonhist.graphs.files"),
    "sketch": ReleaseRecords(dict.fromkeys(("hashed-sketch", "domain-sketch"), 2), "anonhist.sketches.release_files"),
}


def records_with(name: str) -> ReleaseRecords:
    """Return how releases of a mechanism of this name are read.

    Raises
    ------
    DataError
        If there is no such mechanism.

    Examples
    --------
    >>> records_with("node-survival").versions["node-survival"]
    2
    """
    for records in RECORDS.values():
        if name in records.versions:
            return records
    raise DataError(f"The file names a mechanism unknown to this version: {name!r:.80}.")


def remake(recorded: Recorded) -> Remade:
    """Make a mechanism again; of a release with an excess, one that had what that left of the budget."""
    mechanism, guarantee = from_parameters(recorded.name, recorded.parameters), recorded.guarantee
    if recorded.excess is not None:
        if recorded.excess.add_to(mechanism.guarantee) != guarantee:
            raise DataError("the guarantee is not that of the mechanism and the excess together")
        return _remade(mechanism, guarantee)
    if (mechanism.unit, mechanism.relation) != (guarantee.unit, guarantee.relation):
        raise DataError("the guarantee and the mechanism name different units or relations")
    _check_budget(guarantee, mechanism)
    # Should a mechanism ever say this in other words, those of older versions must go on being accepted here.
    if (guarantee.delta, guarantee.arithmetic) != (mechanism.delta, mechanism.arithmetic):
        raise DataError("the guarantee's delta or arithmetic is not that of the mechanism")
    return _remade(mechanism, guarantee)


def _check(mechanism: CentralMechanism, profile: Profile, items: int | None, zeros: int | None) -> None:
    check_profile(mechanism, profile, items)
    check_no_zeros(zeros)


def check_profile(mechanism: CentralMechanism, profile: Profile, items: int | None) -> None:
    """Refuse a profile, or a number of items beside it, that the mechanism does not release.

    Raises
    ------
    DataError
        With what is wrong in one clause.
    """
    if reason := mechanism.impossible(profile, items):
        raise DataError(reason)
    try:
        mechanism.admit(profile)
    except UsageError:
        raise DataError("the profile is beyond the public numbers of the mechanism") from None


def check_no_excess(excess: Excess | None) -> None:
    """Refuse an excess where none is released."""
    if excess is not None:
        raise DataError("an excess belongs to a release of users or labels, and no other")


def check_no_zeros(zeros: int | None) -> None:
    """Refuse a number of labels that never occur where none is released."""
    if zeros is not None:
        raise DataError("zeros belong to a release of degrees that counts nodes without an edge, and no other")


def _remade(mechanism: CentralMechanism, guarantee: Guarantee) -> Remade:
    # Units that are equal may have been bounded in other ways, of which the mechanism tells.
    return Remade(mechanism, replace(guarantee, unit=mechanism.unit), partial(_check, mechanism))


def _check_budget(guarantee: Guarantee, mechanism: CentralMechanism) -> None:
    """Refuse a guarantee that says another budget than the mechanism; in older files a look may have come first."""
    promised = mechanism.guarantee
    if (guarantee.epsilon, guarantee.spending) == (promised.epsilon, promised.spending):
        return
    if promised.spending:
        raise DataError("the guarantee and the mechanism name different steps or epsilons")
    if mechanism.epsilon > guarantee.epsilon or (mechanism.epsilon < guarantee.epsilon and not guarantee.spending):
        raise DataError("the guarantee and the mechanism name different epsilons")
    if guarantee.spending and mechanism.epsilon not in [spent for _, spent in guarantee.spending]:
        raise DataError("none of the guarantee's steps is what the mechanism spent")
