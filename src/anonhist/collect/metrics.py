"""What an operator may watch: Prometheus' text format, with OpenTelemetry's names for HTTP.

Whoever scrapes every second sees when a number moves. So numbers that a report moves are held back until the next look
of its collection, those of the HTTP requests of a device too; numbers of other requests move at once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import accumulate

from anonhist.frozen import frozen

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Upper ends in seconds, as OpenTelemetry advises for HTTP; there is one more bucket, for what takes longer.
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
_METHODS = frozenset({"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"})


@frozen
class Requests:
    """How long requests of one kind took.

    Attributes
    ----------
    method, route, status
        The kind. A route is a template, such as ``/c/{digest}``, or empty if nothing is there: never a path.
    counts
        How many took at most each of :data:`BUCKETS` but more than the one before, and how many longer than all.
    seconds
        The sum of all times.
    """

    method: str
    route: str
    status: int
    counts: tuple[int, ...]
    seconds: float


@frozen
class Collected:
    """What happened in a collection up to its last look.

    Attributes
    ----------
    digest
        The collection.
    reports
        How many reports were counted.
    refused, repeated
        How many were invalid, and how many came again with an identifier already known, since the server was started.
    looks
        How often it showed estimates since it was started, the last time included.
    closed
        Whether it has ended.
    """

    digest: str
    reports: int
    refused: int
    repeated: int
    looks: int
    closed: bool


@frozen
class MetricsState:
    """Everything that is told.

    Attributes
    ----------
    version
        The version of this package.
    started
        When the server was started, in seconds since 1970.
    collections
        All collections.
    requests
        All kinds of requests, each once.
    """

    version: str
    started: float
    collections: tuple[Collected, ...]
    requests: tuple[Requests, ...]


class RequestTimes:
    """Times of requests since the server was started; those that belong to reports are told at looks only.

    Examples
    --------
    >>> times = RequestTimes()
    >>> times.add("POST", "/c/{digest}/reports", 204, 0.002, collection="a8")
    >>> times.add("GET", "/healthz", 200, 0.001)
    >>> [each.route for each in times.told]
    ['/healthz']
    >>> times.look("a8")
    >>> [each.route for each in times.told]
    ['/c/{digest}/reports', '/healthz']
    """

    def __init__(self) -> None:
        self._told: dict[tuple[str, str, int], _Times] = {}
        self._held: dict[str, dict[tuple[str, str, int], _Times]] = {}

    def add(self, method: str, route: str, status: int, seconds: float, *, collection: str | None = None) -> None:
        """Add a request; one that belongs to reports of a collection is held back until its next look."""
        kinds = self._told if collection is None else self._held.setdefault(collection, {})
        # As in OpenTelemetry: strangers may send any method, and each new one would be kept for ever.
        kind = (method if method in _METHODS else "_OTHER", route, status)
        kinds.setdefault(kind, _Times()).add(seconds)

    def look(self, collection: str) -> None:
        """Tell what was held back of a collection: call it when estimates are shown anew, or a batch is closed."""
        for kind, times in self._held.pop(collection, {}).items():
            self._told.setdefault(kind, _Times()).join(times)

    @property
    def told(self) -> tuple[Requests, ...]:
        """All that may be told, in the order of method, route and status."""
        return tuple(
            Requests(*kind, tuple(times.counts[place] for place in range(len(BUCKETS) + 1)), times.seconds)
            for kind, times in sorted(self._told.items(), key=lambda each: (each[0][1], each[0][0], each[0][2]))
        )


class _Times:
    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.seconds += seconds

    def join(self, other: _Times) -> None:
        self.counts += other.counts
        self.seconds += other.seconds


def metrics_text(state: MetricsState) -> str:
    """Return a state in Prometheus' text format, version 0.0.4.

    Examples
    --------
    >>> print(metrics_text(MetricsState("1.0", 0.0, (), ())).splitlines()[2])
    anonhist_build_info{version="1.0"} 1
    """
    collections = [({"collection": each.digest}, each) for each in state.collections]
    lines = [
        *_family("anonhist_build_info", "gauge", "The version of the server.", [({"version": state.version}, 1)]),
        *_family(
            "process_start_time_seconds", "gauge", "When it was started, since 1970.", [({}, round(state.started))]
        ),
        *_family(
            "anonhist_reports_total",
            "counter",
            "Reports counted, at the last look.",
            [(labels, each.reports) for labels, each in collections],
        ),
        *_family(
            "anonhist_refused_reports_total",
            "counter",
            "Invalid reports, at the last look.",
            [(labels, each.refused) for labels, each in collections],
        ),
        *_family(
            "anonhist_repeated_reports_total",
            "counter",
            "Reports whose identifier was known, at the last look.",
            [(labels, each.repeated) for labels, each in collections],
        ),
        *_family(
            "anonhist_looks_total",
            "counter",
            "How often estimates were shown since the start.",
            [(labels, each.looks) for labels, each in collections],
        ),
        *_family(
            "anonhist_collection_closed",
            "gauge",
            "1 if a collection has ended.",
            [(labels, int(each.closed)) for labels, each in collections],
        ),
        *_durations(state.requests),
    ]
    return "".join(f"{line}\n" for line in lines)


def _family(name: str, kind: str, told: str, samples: Iterable[tuple[Mapping[str, str], int]]) -> list[str]:
    lines = [_sample(name, labels, value) for labels, value in samples]
    return [*_head(name, kind, told), *lines] if lines else []


def _head(name: str, kind: str, told: str) -> list[str]:
    return [f"# HELP {name} {told}", f"# TYPE {name} {kind}"]


def _durations(requests: Iterable[Requests]) -> list[str]:
    """Write a histogram: buckets count all that are not longer."""
    name, lines = "http_server_request_duration_seconds", []
    for each in requests:
        labels = {
            "http_request_method": each.method,
            "http_route": each.route,
            "http_response_status_code": str(each.status),
        }
        ends = [f"{end:g}" for end in BUCKETS] + ["+Inf"]
        for end, count in zip(ends, accumulate(each.counts), strict=True):
            lines.append(_sample(f"{name}_bucket", labels | {"le": end}, count))
        lines += [
            _sample(f"{name}_sum", labels, each.seconds),
            _sample(f"{name}_count", labels, sum(each.counts)),
        ]
    told = "How long requests took; those of devices, at the last look."
    return [*_head(name, "histogram", told), *lines] if lines else []


_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def _sample(name: str, labels: Mapping[str, str], value: float) -> str:
    said = ",".join(f'{label}="{text.translate(_ESCAPED)}"' for label, text in labels.items())
    return f"{name}{{{said}}} {value!r}" if said else f"{name} {value!r}"
