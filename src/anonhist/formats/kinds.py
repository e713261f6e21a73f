"""How releases of each kind are written and read back: one line a kind."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from anonhist.catalogue.mechanisms import MECHANISMS
from anonhist.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
    "degrees": ReleaseRecords(_EDGES | _NODES, "anonhist.formats.degree_releases"),
    "sketch": ReleaseRecords(dict.fromkeys(("hashed-sketch", "domain-sketch"), 2), "anonhist.formats.sketch_releases"),
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
