"""The public view of a sketch, which shows nothing of its counters, and of releases that were read from one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.privacy import short_decimal
from anonhist.properties.estimate import format_number, percent
from anonhist.report.figures import prevalences_figure
from anonhist.report.notebook import Cell
from anonhist.report.page import ReleaseView, write_profile
from anonhist.report.wording import promise_lines
from anonhist.sketches.addresses import LISTED_KEY, DomainAddresses
from anonhist.sketches.release import SketchMechanism
from anonhist.terminal.decorators import as_typed
from anonhist.terminal.output import say_line

if TYPE_CHECKING:
    from anonhist.releases import Release
    from anonhist.report.shown import Sheet
    from anonhist.sketches.kinds import BucketRecommendation
    from anonhist.sketches.noise import NoiseComponent
    from anonhist.sketches.sketch import Sketch


def labels_text(sketch: Sketch) -> str:
    """State what the sketch's counters count."""
    addresses = sketch.addresses
    counters = f"{addresses.size:,} counter{'' if addresses.size == 1 else 's'}"
    share = addresses.sampling_rate
    if isinstance(addresses, DomainAddresses):
        many = f"{addresses.domain_size:,} known label{'' if addresses.domain_size == 1 else 's'}"
        told = f"{counters}, one for each of {many}" if share == 1 else f"{counters} for a sample of {many}"
    else:
        told = f"{counters}; each label is assigned to one of them by its hash"
    sampled = "" if share == 1 else f"; a share of {share} of all labels is counted"
    clipped = "" if sketch.clipped is None else f"; clipped to 0 to {sketch.clipped:,}"
    return f"{told}{sampled}{clipped}."


def sketch_cell(sketch: Sketch) -> Cell:
    """Return the notebook cell of a sketch: its settings and its guarantee, nothing of its counters.

    Notebooks are kept and shared with their output. Two states of a sketch reveal what was counted in between, so its
    state is shown only on request.
    """
    with sketch.turn:
        rows = [
            ("counters", f"{sketch.addresses.size:,}"),
            ("bytes of counters", f"{sketch.counters.nbytes:,}"),
            ("parts of the noise", f"{len(sketch.noise):,}"),
        ]
        told = labels_text(sketch)
        try:
            lines = promise_lines(sketch.guarantee)
        except UsageError as error:
            lines = [("Promise", f"none. {error}")]
    return Cell(
        title=f"Private sketch, protecting {sketch.unit}",
        head=(),
        rows=rows,
        told=[("Sketch", told), *lines],
    )


_TWICE = (
    "What the sketch counts between two states of it, from an adversary who sees both. This page shows one state, and "
    "so does any copy of the sketch."
)
_SHARES = (
    "What the sketch of a single party counts, from whoever sees that sketch: it has only a share of the noise, so "
    "sketches must be added up by secure aggregation, which shows the sum alone."
)
_MERGED = (
    "Whoever merged the sketches saw each of them. Each has the whole noise of its own, so the promise holds toward "
    "them, too, if they saw each sketch once and what is in one does not decide what is in another."
)


def _write(release: Release, sheet: Sheet, truth: object) -> None:
    """Write the page of a release read from a sketch, and say what the operator who merged it sees."""
    mechanism = release.mechanism
    shares = isinstance(mechanism, SketchMechanism) and bool(mechanism.shared)
    is_merged = isinstance(mechanism, SketchMechanism) and len(mechanism.setting.noise.parts) > 1
    write_profile(
        release,
        sheet,
        truth,
        # Reading a sketch again costs nothing.
        again="The same command reads the same noise in the same sketch, and costs nothing more.",
        also_promised=(_MERGED,) if is_merged and not shares else (),
        also_not_covered=(_TWICE, _SHARES) if shares else (_TWICE,),
    )


VIEW = ReleaseView(prevalences_figure, _write)


_PARTS_SHOWN = 20


def say(sketch: Sketch) -> None:
    """Print its settings and its guarantee: one line each, all of it public."""
    for name, sentence in (("Sketch", labels_text(sketch)), *_promise(sketch), ("Key", _key(sketch))):
        say_line(f"{name}: {sentence}", sys.stdout)


def say_noise(sketch: Sketch) -> None:
    """Print the parts of the noise: sketches with a part in common cannot be merged."""
    for part in sketch.noise[:_PARTS_SHOWN]:
        say_line(f"Noise: {_part(part)}", sys.stdout)
    if len(sketch.noise) > _PARTS_SHOWN:
        say_line(f"Noise: {len(sketch.noise):,} parts in all.", sys.stdout)


def _promise(sketch: Sketch) -> list[tuple[str, str]]:
    try:
        return promise_lines(sketch.guarantee)
    except UsageError as error:
        return [("Promise", f"none. {as_typed(error.sentence)}")]


def _key(sketch: Sketch) -> str:
    key = sketch.addresses.key
    if key == LISTED_KEY:
        return "the default of all sketches of known labels."
    try:
        told = key.decode()
    except UnicodeDecodeError:
        told = ""
    written = f" ({told!r})" if told.isprintable() and told else ""
    return f"{key.hex()}{written}, which is public."


def _part(part: NoiseComponent) -> str:
    session = f" in the session {part.session!r}, of which {part.participants:,} are needed"
    share = "" if part.shape == 1 else f", a share of {part.shape}{session}"
    return f"{part.identity}, exact, with rate {short_decimal(part.gamma)}{share}."


BUCKET_HEADS = ("buckets", "labels in each", "MB", "± of labels", "± of prevalences")


def bucket_rows(found: BucketRecommendation) -> list[tuple[str, ...]]:
    """Return a row for each number of buckets, the recommended one marked."""
    return [
        (
            f"{'*' if row.buckets == found.best else ''}{row.buckets:,}",
            format_number(row.load, digits=3),
            format_number(row.size / 1e6, digits=3),
            percent(row.labels_error),
            percent(row.prevalences_error),
        )
        for row in found.rows
    ]


def buckets_cell(found: BucketRecommendation) -> Cell:
    """Return the notebook cell of a recommended number of buckets."""
    return Cell(
        title=f"Use {found.best:,} buckets.",
        head=BUCKET_HEADS,
        rows=bucket_rows(found),
        told=[("Reason", found.reason), ("*", "recommended.")],
        texts=(),
    )
