"""How a release that was read from a sketch is shown: as that of a profile, which costs nothing to read again."""

from __future__ import annotations

from anonhist.report.figures import prevalences_figure
from anonhist.report.kinds import ReleaseView
from anonhist.report.page import ProfilePage

_PAGE = ProfilePage(
    again="The same command reads the same noise in the same sketch, and costs nothing more.",
    also_not_covered=(
        (
            "What the sketch counts between two states of it, from an adversary who sees both. This page shows one "
            "state, and so does any copy of the sketch."
        ),
    ),
)
VIEW = ReleaseView(prevalences_figure, _PAGE.write)
