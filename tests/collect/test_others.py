"""What is sent to the wrong place, and labels that look like code: nothing is counted or run that should not be."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from anonhist.collect.databases import storage_at
from anonhist.collect.reading import read_collected
from anonhist.local import KRR, RAPPOR, Collection, OptimizedUnary
from anonhist.local.survey import Survey
from anonhist_testing.collector import Running, lines_of, serving

SURVEYS: dict[str, Survey] = {
    "few": KRR(alphabet=["bus", "car", "bicycle", "foot"], epsilon=1),
    "many": KRR(alphabet=20, epsilon=1),
    "bits": OptimizedUnary(alphabet=20, epsilon=1),
    "cohorts": RAPPOR(buckets=8, cohorts=8, hashes=2, f="1/2", p="1/2", q="3/4"),
}
CODE = [
    "'; DROP TABLE anonhist_ids; --",
    '"); DELETE FROM anonhist_collections; --',
    "%s ? $1 :1 {} {bytes}",
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(2)'>",
    "&lt;b&gt; &amp;",
    "\\'\\\"\\x00",
]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Running, str, dict[str, Collection]]]:
    collections = {
        name: Collection(
            survey=survey,
            answers="once",
            last_day="2099-12-31",
            candidates=["bus"] if isinstance(survey, RAPPOR) else None,
        )
        for name, survey in SURVEYS.items()
    }
    (tmp_path / "collections").mkdir()
    for name, each in collections.items():
        each.save(tmp_path / "collections" / f"{name}.json")
    address = f"sqlite:///{tmp_path / 'c.db'}"
    with serving(tmp_path / "collections", address) as running:
        yield running, address, collections


@pytest.mark.full
def test_reports_of_another_collection_are_refused(served: tuple[Running, str, dict[str, Collection]]) -> None:
    running, address, collections = served
    lines = {
        name: lines_of(each, ["bus" if name in {"few", "cohorts"} else 3])[0] for name, each in collections.items()
    }
    for name, each in collections.items():
        path = f"/c/{each.digest}/reports"
        for other, line in lines.items():
            assert (other, running.ask(path, line)[0]) == (other, 200 if other == name else 422)
        # The digest says what a report is for: nothing else does.
        wrong = each.digest[:-1] + ("0" if each.digest[-1] != "0" else "1")
        for digest in (wrong, each.digest.upper(), each.digest[:32], each.survey.digest, ""):
            assert running.ask(f"/c/{digest}/reports", lines[name])[0] == 404, digest
    for each in collections.values():
        assert read_collected(each.survey, address).users == 1


class _Seen(HTMLParser):
    """All tags, and all text."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.full
def test_labels_that_look_like_code_are_labels(address: str, tmp_path: Path) -> None:
    survey = KRR(alphabet=CODE, epsilon=4, title=CODE[0])
    collection = Collection(survey=survey, answers="once", last_day="2099-12-31")
    collection.save(tmp_path / "collection.json")
    path = f"/c/{collection.digest}"
    lines = lines_of(collection, CODE * 20)
    with serving(tmp_path / "collection.json", address) as running:
        for line in lines:
            assert running.ask(f"{path}/reports", line)[0] == 200
        page, plain = (
            _Seen(running.ask(f"{path}/")[2]),
            running.ask(f"{path}/estimate?format=csv")[2].decode(),
        )
        assert running.ask(f"{path}/reports?x=';--", lines[0].replace(b"report", b"';--report"))[0] == 422
        assert running.ask(f"/c/{collection.digest}'; DROP TABLE anonhist_ids".replace(" ", "%20"))[0] == 404
    assert all(label in page.text for label in CODE)
    assert page.tags.count("script") == 1
    assert "img" not in page.tags
    assert "DROP TABLE" in plain
    assert read_collected(survey, address).users == len(lines)
    with storage_at(address).seen() as ours:
        assert ours.run("SELECT count(*) FROM anonhist_ids").fetchone() == (len(lines),)
        assert ours.run("SELECT count(*) FROM anonhist_collections").fetchone() == (1,)
