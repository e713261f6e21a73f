"""How each kind of release is shown: one line a kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from anonhist.catalogue import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from anonhist.releases import Release
    from anonhist.report.frame import Sheet

# Where the view of each kind is, by its name: loaded for those alone who look at such releases.
VIEWS = {
    "central": ".report.page:VIEW",
    "degrees": ".graphs.page:VIEW",
    "sketch": ".report.page:SKETCH_VIEW",
}


class _WritesPage(Protocol):
    def __call__(self, release: Release, sheet: Sheet, truth: Any) -> None: ...


@dataclass(frozen=True)
class ReleaseView:
    """How releases of one kind are shown.

    Attributes
    ----------
    figure
        Draws one.
    write
        Writes its page. ``truth`` is what the page is to show without any privacy, which most kinds refuse.
    facts
        Names and sentences that a terminal shows besides what it shows of every release.
    """

    figure: Callable[[Release], Figure]
    write: _WritesPage
    facts: Callable[[Release], list[tuple[str, str]]] = lambda _: []


def view_of(release: Release) -> ReleaseView:
    """Return how a release of this kind is shown.

    Examples
    --------
    >>> from anonhist.mechanisms import release
    >>> from anonhist.profiles import Profile
    >>> view_of(release(Profile.from_counts([8, 8, 3]), epsilon=1)).figure.__name__
    'prevalences_figure'
    """
    view: ReleaseView = load(VIEWS[release.mechanism.kind.name])
    return view
