"""The live page: what it says, what it depends on, and that nothing in it can run."""

import csv
import io
import json
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from anonhist.collect.live_page import HEADERS, Rendered, ShownState, rendered, static_files
from anonhist.collect.looks import LEVEL
from anonhist.errors import UsageError
from anonhist.local import (
    KRR,
    RAPPOR,
    Batches,
    Collection,
    HeavyHitters,
    LocalHashing,
    OptimizedUnary,
    Survey,
    Tally,
    WarnerRR,
)
from anonhist_testing.sources import SeededSource

MODES = ["bicycle", "bus", "car", "on foot"]
SURVEY = KRR(alphabet=MODES, epsilon=1, title="How do you travel?")
COLLECTION = Collection(survey=SURVEY, answers="once", last_day="2026-12-31")
HOSTILE = [
    '<script>alert("1")</script>',
    "<img src=x onerror=alert(2)>",
    "\" onload='alert(3)' x=\"",
    "{{ 7 * 7 }}",
    "</svg>",
]
NONE = ShownState(0, None, closed=False)


def _tally(survey: Survey, values: list[str], seed: int = 1) -> Tally:
    return survey.tally(survey.randomize(values, source=SeededSource(seed)))


class _Seen(HTMLParser):
    """All tags with their attributes, and all text."""

    def __init__(self, page: Rendered) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page.html.decode())
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += f"{data} "


LOOK = ShownState(1_000, _tally(SURVEY, MODES * 250), closed=False)


def test_the_page_says_what_is_asked_promised_and_found() -> None:
    said = _Seen(rendered(COLLECTION, LOOK)).text
    for expected in (
        "How do you travel?",
        "One of 4 values: bicycle bus car on foot What was answered",
        "1,000 people had answered at the last look. The next one is at 1,165.",
        "can become at most 73.2% sure. This is moderate protection.",
        "by at most a factor of 2.72. It holds against everybody, those who run this server included",
        "Once. The first answer stands",
        "Whoever answers again, on another device",
        "Open through 31 December 2026 (UTC).",
        f"digest {COLLECTION.digest}",
    ):
        assert expected in said


def test_before_the_first_look_there_is_a_sentence() -> None:
    page = rendered(COLLECTION, NONE)
    assert "Nothing is shown yet. The first estimates appear when 100 people have answered" in _Seen(page).text
    assert json.loads(page.json)["estimate"] is None
    head = next(csv.reader(io.StringIO(rendered(COLLECTION, LOOK).csv.decode())))
    assert list(csv.reader(io.StringIO(page.csv.decode()))) == [head]


def test_nothing_tells_when_a_report_came_between_looks() -> None:
    # Whoever asks all the time would see each of them.
    assert rendered(COLLECTION, replace(LOOK, reports=1_164)) == rendered(COLLECTION, LOOK)
    assert rendered(COLLECTION, ShownState(99, None, closed=False)) == rendered(COLLECTION, NONE)


def test_the_tag_changes_with_what_is_shown() -> None:
    more = replace(LOOK, tally=_tally(SURVEY, MODES * 250, seed=2))
    tags = [rendered(COLLECTION, state).etag for state in (NONE, LOOK, more, replace(LOOK, closed=True))]
    assert len(set(tags)) == 4
    page = rendered(COLLECTION, LOOK)
    assert dict(_Seen(page).tags)["main"]["data-etag"] == page.etag
    assert page.etag.startswith('"')


def test_files_have_the_numbers_of_the_page() -> None:
    page = rendered(COLLECTION, LOOK)
    document, rows = json.loads(page.json), list(csv.DictReader(io.StringIO(page.csv.decode())))
    assert document["level"] == LEVEL == document["estimate"]["level"]
    assert (document["reports"], document["next_look"], document["closed"]) == (1_000, 1_165, False)
    assert [row["label"] for row in rows] == document["estimate"]["labels"] == MODES
    assert LOOK.tally is not None
    expected = SURVEY.estimate(LOOK.tally, level=LEVEL)
    assert document["estimate"]["intervals"] == expected.intervals.tolist()
    low, high = expected.intervals[0].tolist()
    assert f"{100 * np.floor(1000 * low) / 1000:.1f} to {100 * np.ceil(1000 * high) / 1000:.1f}%" in _Seen(page).text


def test_nothing_in_a_page_runs() -> None:
    survey = KRR(alphabet=HOSTILE, epsilon=4, title=HOSTILE[0])
    tally = _tally(survey, HOSTILE * 40)
    texts = LocalHashing(epsilon=4, buckets=8)
    pages = [
        rendered(
            Collection(survey=survey, answers="once", last_day="2026-12-31"), ShownState(200, tally, closed=False)
        ),
        rendered(
            Collection(survey=texts, answers="once", last_day="2026-12-31", candidates=HOSTILE),
            ShownState(200, _tally(texts, HOSTILE * 40), closed=True),
        ),
    ]
    for page in pages:
        seen = _Seen(page)
        assert all(label in seen.text for label in HOSTILE)
        assert [attributes for tag, attributes in seen.tags if tag == "script"] == [
            {"type": "module", "src": "../../live.js"}
        ]
        for tag, attributes in seen.tags:
            assert tag not in {"img", "style", "iframe", "form", "base"}
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
            # Everything comes from this server.
            assert not [text for text in attributes.values() if text and (":" in text or text.startswith("//"))]


def test_the_policy_allows_nothing_but_our_own_files() -> None:
    policy = HEADERS["Content-Security-Policy"].split("; ")
    assert policy[0] == "default-src 'none'"
    assert "frame-ancestors 'none'" in policy
    assert {source for each in policy for source in each.split()[1:]} == {"'none'", "'self'"}
    named = {
        text.removeprefix("../../")
        for _, attributes in _Seen(rendered(COLLECTION, LOOK)).tags
        for text in attributes.values()
        if text and text.startswith("../../")
    }
    assert named == set(static_files())


@pytest.mark.full
@pytest.mark.parametrize("closed", [False, True])
def test_batches_say_what_holds_toward_others(closed: bool) -> None:  # noqa: FBT001
    survey = KRR(alphabet=MODES, epsilon=2)
    tally = replace(_tally(survey, MODES * 2_500), users=10_000)
    told = {}
    for honest in (10_000, 5_000, 1_000, 100):
        batches = Batches(users=10_000, honest=honest, delta="1e-6")
        collection = Collection(survey=survey, answers="once", last_day="2026-12-31", shown=batches)
        told[honest] = _Seen(rendered(collection, ShownState(10_003, tally, closed=closed))).text
        assert "factor is at most 1.122 (ε = 0.1144, δ ≤ 10⁻⁶)" in told[honest]
    assert "if only" not in told[10_000]
    for honest, epsilon in ((5_000, "0.16597"), (1_000, "0.39709"), (100, "1.6664")):
        assert f"if only {honest:,} do," in told[honest]
        assert f"(ε = {epsilon}" in told[honest]
    dropped = "3 reports of a batch that was never whole were dropped." in told[100]
    assert dropped is closed
    assert ("The next one is at 20,000" in told[100]) is not closed
    none = rendered(collection, ShownState(9_999, None, closed=False))
    assert "when 10,000 people have answered in whole batches" in _Seen(none).text


def test_how_often_one_may_be_asked() -> None:
    several = _Seen(rendered(replace(COLLECTION, answers=7), LOOK)).text
    assert "Up to 7 times. The promise is for all answers together" in several
    assert "1,000 reports had arrived" in several
    assert "a factor of 1,097" in several  # e^7
    survey = RAPPOR(alphabet=MODES, cohorts=2, hashes=1, f="1/2", p="1/4", q="3/4")
    remembered = Collection(survey=survey, answers=7, last_day="2026-12-31")
    said = _Seen(rendered(remembered, NONE)).text
    assert "all reports are drawn from the first answer" in said
    assert "provided that the answer never changes" in said


@pytest.mark.parametrize("survey", [SURVEY, OptimizedUnary(alphabet=MODES, epsilon=1), WarnerRR(epsilon=1)], ids=repr)
def test_forged_reports_move_a_bar_as_far_as_is_said(survey: Survey) -> None:
    collection = Collection(survey=survey, answers="once", last_day="2026-12-31")
    said = _Seen(rendered(collection, NONE)).text.partition("shorten a bar by up to ")[2]
    points = float(said.partition(" percentage points")[0])
    # The report that weighs most, sent by one of each hundred.
    values = survey.alphabet.names()  # type: ignore[attr-defined]
    reports = survey.randomize(values * 200, source=SeededSource(4))
    moved = [
        100 * 0.01 * np.abs(survey.estimate(survey.tally(reports.rows(np.array([number])))).raw).max()
        for number in range(len(reports))
    ]
    assert points - 0.1 < max(moved) <= points


SPREAD = [one + other for one in "v012345" for other in "v012345"] * 10


def test_surveys_that_find_values_say_so() -> None:
    survey = HeavyHitters(epsilon=4, max_bytes=2, characters="v012345")
    collection = Collection(survey=survey, answers="once", last_day="2026-12-31")
    for values, found in ((["v0"] * 4_000, "v0"), (SPREAD, "No value is frequent enough to be found yet.")):
        said = _Seen(rendered(collection, ShownState(len(values), _tally(survey, values), closed=False))).text
        assert found in said
        assert "Any text of up to 2 bytes. Frequent ones are found without a list." in said
        assert "no bound is known" in said


def test_too_few_reports_for_an_estimate_are_no_failure() -> None:
    survey = HeavyHitters(epsilon=2, max_bytes=20)
    collection = Collection(survey=survey, answers="once", last_day="2026-12-31")
    found = rendered(collection, ShownState(100, _tally(survey, ["cat"] * 100), closed=False))
    assert "100 people had answered" in _Seen(found).text
    assert "Too few people have answered to look for values of so many bytes" in _Seen(found).text
    assert json.loads(found.json)["estimate"] is None


def test_a_closed_collection_says_so() -> None:
    assert (
        "This collection is closed. There are no answers to be shown."
        in _Seen(rendered(COLLECTION, replace(NONE, closed=True))).text
    )
    few = ShownState(1, _tally(SURVEY, ["bus"]), closed=True)
    page = rendered(COLLECTION, few)
    assert "This collection is closed. 1 person answered." in _Seen(page).text
    assert "data-closed" in dict(_Seen(page).tags)["main"]


def test_what_may_not_be_shown_is_refused() -> None:
    with pytest.raises(UsageError, match="before the first look"):
        rendered(COLLECTION, ShownState(99, _tally(SURVEY, ["bus"] * 99), closed=False))
    with pytest.raises(UsageError, match="more reports than there are"):
        ShownState(3, _tally(SURVEY, ["bus"] * 4), closed=False)
    batches = Batches(users=300, honest=300, delta="1e-6")
    with pytest.raises(UsageError, match="whole batches"):
        rendered(replace(COLLECTION, shown=batches), ShownState(400, _tally(SURVEY, ["bus"] * 400), closed=True))
