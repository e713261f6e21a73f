"""Standard input, as a pipe and as a file the shell opened: read once, whole, with nothing guessed."""

import os
from collections.abc import Callable
from typing import Any

import pytest

from anonhist.errors import DataError, UsageError
from anonhist.ingest import read_profile
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import BoundedUnits, Profile
from anonhist_testing.cases import each_of

pytestmark = pytest.mark.usefixtures("lent_duckdb")

Feed = Callable[..., None]
Refused = Callable[..., str]


def as_dict(profile: Profile) -> dict[int, int]:
    return dict(zip(profile.counts.tolist(), profile.prevalences.tolist(), strict=True))


@each_of(
    ("data", "expected"),
    [
        ("", {}),
        ("\n\n", {}),
        ("a\nb\na\n", {1: 1, 2: 1}),
        ("a\nb\na", {1: 1, 2: 1}),
        ("a\n\nb\n", {1: 2}),
        ("007\n1.0\n1\n", {1: 3}),
        ('"a"\na\n', {1: 2}),
        ("a,b\na\ta\n a\na\n", {1: 4}),
        ("label\nlabel\n", {2: 1}),
        ("count,prevalence\n1,2\n", {1: 2}),
        ("a\r\nb\r\na\r\n", {1: 1, 2: 1}),
        ("\ufeffa\na\n", {2: 1}),
        ("é\n日\né\n", {1: 1, 2: 1}),
        ("\\\n'\n", {1: 2}),
        ("a\n" * 300_000 + "b\n", {1: 1, 300_000: 1}),
    ],
)
def test_one_label_per_line(stdin: Feed, data: str, expected: dict[int, int]) -> None:
    stdin(data)
    assert as_dict(read_profile("-", format="labels")) == expected


@each_of(
    ("data", "options", "expected"),
    [
        ("label,user\na,u\nb,u\na,v\n", {"format": "events", "label": "label"}, {1: 1, 2: 1}),
        ("user,label\nu,\nu,a\n", {"format": "events", "label": "label"}, {1: 1}),
        ("user,label\nu,\nu,a\n", {"format": "events", "label": "label", "keep_null": True}, {1: 2}),
        ("anything\na\na\n", {"format": "events"}, {2: 1}),
        ('label,user\n"a,b",u\n"a,b",v\n', {"format": "events", "label": "label"}, {2: 1}),
        ("label;user\r\na;u\r\n", {"format": "events", "label": "label", "delimiter": ";"}, {1: 1}),
        ("\ufefflabel,user\na,u\n", {"format": "events", "label": "label"}, {1: 1}),
        ("label,user\n", {"format": "events", "label": "label"}, {}),
        # To name a column is to say that there are columns.
        ("label,user\na,u\nb,u\na,v\n", {"label": "label"}, {1: 1, 2: 1}),
        ("label,count\na,3\nb,2\na,4\n", {"label": "label", "count": "none"}, {1: 1, 2: 1}),
        ("label,count\na,3\nb,2\na,4\n", {"label": "label", "count": "count"}, {2: 1, 7: 1}),
        ("      3 kiwi fruit\n      1 \n     12 a\n", {"format": "uniq"}, {3: 1, 12: 1}),
        ("count,prevalence\n1,5\n1,7\n", {"label": "count"}, {2: 1}),
        ("label,user\nlabel,user\n", {"format": "labels"}, {2: 1}),
        ("label,count\na,3\nb,2\na,4\n", {"format": "counts"}, {2: 1, 7: 1}),
        ("count,other,label\n3,x,a\n", {"format": "counts"}, {3: 1}),
        ("label,count\n", {"format": "counts"}, {}),
        ("count,prevalence\n1,5\n9223372036854775,7\n", {"format": "prevalences"}, {1: 5, 9223372036854775: 7}),
        ("prevalence\tcount\n5\t1\n", {"format": "prevalences", "delimiter": "\t"}, {1: 5}),
        ("count,prevalence\n", {"format": "prevalences"}, {}),
        ("label,x\n" + "a,1\n" * 300_000, {"format": "events", "label": "label"}, {300_000: 1}),
    ],
)
def test_tables(stdin: Feed, data: str, options: dict[str, Any], expected: dict[int, int]) -> None:
    stdin(data)
    assert as_dict(read_profile("-", **options)) == expected


@pytest.mark.parametrize("told", [False, True])
def test_users_are_bounded_and_what_was_left_out_is_told(stdin: Feed, told: bool) -> None:  # noqa: FBT001
    stdin("user,label\nu,a\nu,b\n,a\nv,a\n")
    notes: list[str] = []
    options: dict[str, Any] = {"notify": notes.append} if told else {}
    # Under this key a comes before b.
    options |= {"order_key": "0" * 32, "count_users": True}
    profile = read_profile("-", format="events", label="label", user="user", max_per_user=1, **options)
    assert as_dict(profile) == {2: 1}
    assert profile.unit == PrivacyUnit.user(max_items=1)
    # Asked a second time, what stood there is still known.
    assert profile.users == BoundedUnits(1, Profile.from_counts([2, 1]))
    assert len(notes) == told
    assert not told or "2 of 4 rows were left out: 1 without a user" in notes[0]


@each_of(
    ("data", "options", "says"),
    [
        ("", {"format": "events", "label": "label"}, "is empty"),
        ("\nlabel\na\n", {"format": "events", "label": "label"}, "empty line"),
        ("label,user\nhunter2\n", {"format": "events", "label": "label"}, "more or fewer"),
        ("label,user\nhunter2,u,1\n", {"format": "events", "label": "user"}, "more or fewer"),
        ("label,user\na,u\n", {"format": "events", "label": "nowhere"}, "2 columns (header=False"),
        ("hunter2,u\na,u\n", {"format": "events", "label": "label"}, "2 columns (header=False"),
        ("label;user\na;u\n", {"format": "events", "label": "label"}, "1 column (delimiter"),
        ("hunter2,u\na,u\n", {"format": "counts"}, "2 columns (header=False"),
        ("label,label\nhunter2,u\n", {"format": "events", "label": "label"}, "Several columns"),
        ('"label\nhunter2,u\n', {"format": "events", "label": "label"}, "first line"),
        (b"label\n\xffhunter2\n", {"format": "events", "label": "label"}, "UTF-8"),
        (b"\xffhunter2\n", {"format": "labels"}, "UTF-8"),
        (b"\x1f\x8bhunter2\n", {"format": "events", "label": "label"}, "unpacked first (zcat)"),
        (b"\x1f\x8bhunter2\n", {"format": "labels"}, "unpacked first (zcat)"),
        ("hunter2\nb\r\n", {"format": "labels"}, "different endings"),
        ("label,count\nhunter2,-1\n", {"format": "counts"}, "whole numbers"),
        ("label;user\nhunter2;u\n", {"label": "label;user"}, "Standard input has one column"),
        ("      3 a\nhunter2\n", {"format": "uniq"}, "is not output of uniq -c"),
        ("label,prevalence\nhunter2,3\n", {"format": "counts"}, "'count'"),
        ("count,prevalence\n1,hunter2\n", {"format": "prevalences"}, "whole numbers"),
    ],
)
def test_bad_input(stdin: Feed, refuse: Refused, data: str | bytes, options: dict[str, Any], says: str) -> None:
    stdin(data)
    assert says in refuse(DataError, "-", secret="hunter2", **options)  # noqa: S106


@each_of("options", [{}, {"user": "user", "max_per_user": 1}, {"delimiter": ";"}, {"header": False}])
def test_what_it_holds_is_said_before_a_byte_is_read(stdin: Feed, refuse: Refused, options: dict[str, Any]) -> None:
    stdin("label,count\na,3\n")
    message = refuse(UsageError, "-", **options)
    assert "one label per line (format='labels')" in message
    assert "CSV with a header line" in message
    assert "(label)" in message
    assert os.read(0, 11) == b"label,count"


def test_a_table_needs_its_header(stdin: Feed, refuse: Refused) -> None:
    stdin("a,b\n")
    assert "header line" in refuse(UsageError, "-", format="events", header=False)


@pytest.mark.parametrize("stdin", ["file"], indirect=True)
@pytest.mark.parametrize("format", ["labels", "events"])
def test_a_file_read_in_part_before_is_refused(stdin: Feed, refuse: Refused, format: str) -> None:  # noqa: A002
    # The engine would open it anew and count what was read before.
    stdin("header\na\n", read_before=7)
    assert "cat" in refuse(UsageError, "-", format=format)


@pytest.mark.parametrize("stdin", ["pipe"], indirect=True)
def test_a_pipe_read_in_part_before_is_read_from_there(stdin: Feed) -> None:
    stdin("header\na\na\n", read_before=7)
    assert as_dict(read_profile("-", format="labels")) == {2: 1}


ENDS = ("\n", "\r\n", "\r")


@each_of("end", ENDS[:2])
def test_breaks_in_quotes_end_no_line_of_a_table_wherever_they_stand(end: str, stdin: Feed) -> None:
    rows = [f"x{at}" for at in range(300)]
    for breaking in ENDS:
        for lines in (["label", f'"a{breaking}b"', *rows], ["label", *rows, f'"a{breaking}b"']):
            stdin(end.join(lines) + end)
            assert as_dict(read_profile("-", label="label")) == {1: 301}


def test_carriage_returns_alone_do_not_hide_rows_in_a_pipe(stdin: Feed, request: pytest.FixtureRequest) -> None:
    rows = [f"x{at}" for at in range(300)]
    for lines in (["label", *rows], ["label", '"a\nb"', *rows]):
        stdin("\r".join(lines) + "\r")
        if request.node.callspec.params["stdin"] == "file":
            assert as_dict(read_profile("-", label="label")) == {1: len(lines) - 1}
            continue
        with pytest.raises(DataError, match="ends in a carriage return alone") as caught:
            read_profile("-", label="label")
        assert caught.value.is_public
