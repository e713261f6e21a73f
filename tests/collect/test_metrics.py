"""Metrics are in Prometheus' format, and tell nothing about a single report."""

import re
from typing import Any

import numpy as np
import pytest

from anonhist.collect.metrics import BUCKETS, Collected, MetricsState, Requests, RequestTimes, metrics_text

# The grammar of the text format 0.0.4, line by line.
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*"'
VALUE = r"[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf|NaN)"
HELP = re.compile(rf"# HELP ({NAME}) (?:[^\\\n]|\\\\|\\n)*")
TYPE = re.compile(rf"# TYPE ({NAME}) (counter|gauge|histogram)")
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? ({VALUE})")
SUFFIXES = {"counter": ("",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
POST = "/c/{digest}/reports"


def parsed(text: str) -> dict[str, dict[str, float]]:
    """Return the samples of each family by their labels, or fail where the text is not in the format."""
    assert text.endswith("\n")
    assert "\r" not in text
    found: dict[str, dict[str, float]] = {}
    family, kind = "", ""
    lines = iter(text.removesuffix("\n").split("\n"))
    for line in lines:
        helped = HELP.fullmatch(line)
        if helped:
            family = helped[1]
            assert family not in found, "a family is written in two places"
            typed = TYPE.fullmatch(next(lines))
            assert typed
            assert typed[1] == family
            kind, found[family] = typed[2], {}
            assert (kind == "counter") == family.endswith("_total")
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample, line
        suffix = sample[1].removeprefix(family)
        assert suffix in SUFFIXES[kind], line
        key = f"{suffix}{{{sample[2] or ''}}}"
        assert key not in found[family], "a series is written twice"
        found[family][key] = float(sample[3])
        names = re.findall(r'(\w+)="', re.sub(r'"(?:[^"\\]|\\.)*"', '""', sample[2] or ""))
        assert len(set(names)) == len(names)
    return found


def _state(**changed: Any) -> MetricsState:
    times = RequestTimes()
    rng = np.random.default_rng(1)
    for seconds in rng.exponential(1, 500):
        times.add("GET", "/c/{digest}/", 200, float(seconds))
    times.add("GET", "", 404, 1e-7)
    collections = (Collected("a8" * 32, 125, 3, 7, 2, closed=False), Collected("b9" * 32, 0, 0, 0, 0, closed=True))
    given = {"version": "1.0", "started": 1.8e9, "collections": collections, "requests": times.told} | changed
    return MetricsState(**given)


def test_the_text_is_in_the_format() -> None:
    found = parsed(metrics_text(_state()))
    assert list(found["anonhist_reports_total"].values()) == [125, 0]
    assert list(found["anonhist_collection_closed"].values()) == [0, 1]
    assert found["anonhist_build_info"] == {'{version="1.0"}': 1}
    assert found["process_start_time_seconds"] == {"{}": 1.8e9}
    # A family without samples is left out.
    assert "anonhist_reports_total" not in parsed(metrics_text(_state(collections=())))


def test_buckets_count_all_that_are_not_longer() -> None:
    rng = np.random.default_rng(2)
    seconds = [*rng.exponential(1, 1_000).tolist(), *BUCKETS]
    times = RequestTimes()
    for each in seconds:
        times.add("GET", "/c", 200, each)
    found = parsed(metrics_text(_state(requests=times.told)))["http_server_request_duration_seconds"]
    labels = 'http_request_method="GET",http_route="/c",http_response_status_code="200"'
    for end in BUCKETS:
        assert found[f'_bucket{{{labels},le="{end:g}"}}'] == sum(each <= end for each in seconds)
    assert found[f'_bucket{{{labels},le="+Inf"}}'] == found[f"_count{{{labels}}}"] == len(seconds)
    assert found[f"_sum{{{labels}}}"] == pytest.approx(sum(seconds))


@pytest.mark.parametrize("text", ['a"b', "a\\b", "a\nb", "\\n", 'x="y",z="', "ε 日本"])
def test_labels_are_escaped(text: str) -> None:
    request = Requests("GET", text, 200, (0,) * (len(BUCKETS) + 1), 0.0)
    found = parsed(metrics_text(_state(version=text, requests=(request,))))
    (key,) = found["anonhist_build_info"]
    unescaped = re.sub(r"\\(.)", lambda sign: "\n" if sign[1] == "n" else sign[1], key)
    assert unescaped == f'{{version="{text}"}}'


def test_numbers_that_reports_move_stay_until_the_next_look() -> None:
    times = RequestTimes()
    times.add("POST", POST, 204, 0.01, collection="a")
    times.look("a")
    before = times.told
    for number in range(1_000):
        times.add("POST", POST, 204 if number % 3 else 429, 0.01, collection="a")
        times.add("POST", POST, 204, 0.01, collection="b")
        assert times.told == before
    # A look at one collection tells nothing about another.
    times.look("b")
    assert [sum(each.counts) for each in times.told] == [1_001]
    times.look("a")
    assert {each.status: sum(each.counts) for each in times.told} == {204: 1 + 1_000 + 666, 429: 334}
    times.look("a")
    assert sum(sum(each.counts) for each in times.told) == 2_001


def test_strangers_do_not_make_series() -> None:
    times = RequestTimes()
    for number in range(100):
        times.add(f"METHOD{number}", "", 405, 0.001)
    assert [each.method for each in times.told] == ["_OTHER"]


def test_the_grammar_refuses_what_is_wrong() -> None:
    good = metrics_text(_state())
    for old, new in (
        ('version="1.0"', 'version="1"0"'),
        ("# TYPE anonhist_looks_total counter\n", ""),
        ("anonhist_looks_total{", "anonhist-looks{"),
        ('le="0.01"', 'le="0.005"'),
        ("counter\n", "count\n"),
    ):
        assert old in good
        with pytest.raises((AssertionError, StopIteration)):
            parsed(good.replace(old, new))
    with pytest.raises(AssertionError):
        parsed(good + good)
