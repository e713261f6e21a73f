"""Estimates of frequencies as a table and as a document, for other programs; they are not read back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.formats.fields import file_wording
from anonhist.formats.json_text import document_text
from anonhist.formats.tables import Table

if TYPE_CHECKING:
    from anonhist.formats.tables import Columns
    from anonhist.local.surveys.estimate import FrequencyEstimate

FORMAT, VERSION = "anonhist.frequencies", 1


def _columns(estimate: FrequencyEstimate) -> Columns:
    """Return a row per label, in the order of the estimate; they do not carry the guarantee.

    ``raw`` is the unbiased estimate, to which the standard error, the intervals and the p-value belong; ``frequency``
    and ``count`` are decoded, of all labels together, and nothing says how far these are off.
    """
    low, high = estimate.intervals.T
    simultaneous_low, simultaneous_high = estimate.simultaneous_intervals.T
    return {
        "label": estimate.labels,
        "raw": estimate.raw,
        "standard_error": estimate.standard_errors,
        "low": low,
        "high": high,
        "simultaneous_low": simultaneous_low,
        "simultaneous_high": simultaneous_high,
        "p_value": estimate.p_values,
        "significant": estimate.significant,
        "frequency": estimate.frequencies,
        "count": estimate.counts,
    }


TABLE = Table(_columns)


def estimate_document(estimate: FrequencyEstimate) -> dict[str, Any]:
    """Return everything an estimate says, as JSON values; lists are aligned with ``labels``."""
    from anonhist.version import __version__

    return {
        "format": FORMAT,
        "version": VERSION,
        "library_version": __version__,
        "guarantee": file_wording(str(estimate.guarantee)),
        "users": estimate.users,
        "level": estimate.level,
        "decoder": estimate.decoder,
        "correction": estimate.correction,
        "note": estimate.note,
        "other": estimate.other,
        "raw_other": estimate.raw_other,
        "other_standard_error": estimate.other_standard_error,
        "labels": list(estimate.labels),
        "frequencies": estimate.frequencies.tolist(),
        "raw": estimate.raw.tolist(),
        "standard_errors": estimate.standard_errors.tolist(),
        "intervals": estimate.intervals.tolist(),
        "simultaneous_intervals": estimate.simultaneous_intervals.tolist(),
        "p_values": estimate.p_values.tolist(),
        "significant": estimate.significant.tolist(),
    }


def estimate_json(estimate: FrequencyEstimate) -> str:
    """Return the JSON file of an estimate."""
    return document_text(estimate_document(estimate))
