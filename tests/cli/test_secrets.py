"""Passwords that are typed into addresses reach neither a page, nor standard error, nor the text of an error."""

import shlex
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import anonhist as ah
from anonhist.errors import AnonhistError, mask
from anonhist.terminal.decorators import command_to_publish, sentence_to_publish

# Where a hidden may stand: S. Schemes that exist, misspelled ones, and none at all.
_SCHEMES = ["postgresql://", "https://", "s3://", "htttps://", "postgres:/", "postgresql//", "https:", "jdbc:x:", ""]
_PLACES = [
    *("{}S@host/a.csv", "{}me:S@host/a.csv", "{}me:S@host:5432/db?x=1", "{}me:S@host/a@b.csv"),
    *("{}host/a.csv?S", "{}host/a.csv?token=S", "{}host/a.csv?x=1&token=S", "{}host/a.csv?x&S"),
    *("{}host/a.csv;token=S", "{}host/a.csv;S", "{}host/a.csv#access_token=S", "{}host/a.csv#S", "{}host/a.csv&S"),
]
_NO_SCHEME = ["host=db password=S", "Server=db,Password=S", "host=db password = S", "PGPASSWORD=S", "me/S@db"]
PLACES = [place.format(scheme) for scheme in _SCHEMES for place in _PLACES] + _NO_SCHEME
OPTIONS = ["{}", "--nodes={}", "-o{}"]

# Never part of what is public here, and with every sign that has a meaning in addresses.
secrets = (
    st.text("ZQ0@:/?#;&= ,%\\'\"\n", min_size=1, max_size=12)
    .map(lambda text: f"Z{text}Q")
    .filter(
        # A user without a password that is itself written like an address cannot be told from one.
        lambda text: "://" not in text
    )
)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=300, database=None)
@given(place=st.sampled_from(PLACES), option=st.sampled_from(OPTIONS), hidden=secrets)
@example(place="https://S@host/a.csv", option="{}", hidden="Z//Q")
@example(place="postgresql//me:S@host/a.csv", option="{}", hidden="Z Q=1")
def test_a_secret_reaches_neither_a_page_nor_standard_error(place: str, option: str, hidden: str) -> None:
    typed = option.format(place.replace("S@", f"{hidden}@").replace("=S", f"={hidden}").replace("= S", f"= {hidden}"))
    for sign in "?;#&":
        typed = typed.replace(f"{sign}S", f"{sign}{hidden}")
    assert hidden in typed
    value = typed.removeprefix("--nodes=").removeprefix("-o")
    told = [
        mask(value),
        command_to_publish(("release", typed, "--table", "t")),
        sentence_to_publish(f"Invalid value: {typed!r} is wrong, and so is {value!r}.", ["release", typed]),
    ]
    for text in told:
        assert hidden not in text
        assert repr(hidden)[1:-1] not in text
        assert not any(len(part) > 1 and part in text for part in hidden.split(" "))


_SHOWN = {
    "postgresql://me:S@db/shop?sslpassword=S&port=5": "postgresql://***@db/shop?***",
    "postgres://me:S S@S@db/shop": "postgres://***@db/shop",
    "postgresql://me:S/S\nS@db/shop": "postgresql://***@db/shop",
    "postgresql://me:S?S@db/shop": "postgresql://***",
    "postgresql://db/shop?password=S@S": "postgresql://***",
    "postgres:/me:S@db/shop": "***@db/shop",
    "postgresql//me:S@db/shop": "***@db/shop",
    "htttps://me:S@host/a.csv": "htttps://***@host/a.csv",
    "https://host/a.csv;token=S": "https://host/a.csv;***",
    "https://host/a.csv#access_token=S": "https://host/a.csv#***",
    "host=db password=S": "host=***",
    "https://host/a.csv%3Ftoken%3DS": "https://host/a.csv%3F***",
    "https://host/token%3dS": "https://host/token%3d***",
    "https://me%3AS%40host/a.csv": "https://***@host/a.csv",
    "https://host/a%26S%40S": "https://***",
}
_NO_SECRETS = (
    *("data/log.csv", "data/*.csv", "duckdb:///shop.db", "my file.csv", "s3://bucket/day=1/a.parquet"),
    *("-", "--unit", ";"),
)


def test_secrets_are_masked_and_the_place_is_not() -> None:
    published = {typed: command_to_publish(("release", typed, "--table", "t")) for typed in _SHOWN}
    assert published == {
        typed: shlex.join(["anonhist", "release", shown, "--table", "t"]) for typed, shown in _SHOWN.items()
    }


def test_what_holds_no_secret_is_published_as_it_is() -> None:
    published = {typed: command_to_publish(("release", typed)) for typed in _NO_SECRETS}
    assert published == {typed: shlex.join(["anonhist", "release", typed]) for typed in _NO_SECRETS}


def test_what_is_published_anyway_is_published_as_it_is() -> None:
    typed = ("release", "a.csv", "--title", "AT&T; users?", "--purpose=a = b", "--ledger", "postgresql://me:S@db")
    assert command_to_publish(typed) == shlex.join(["anonhist", *typed[:-1], "postgresql://***@db"])


def test_files_that_are_there_are_named_as_they_are(tmp_path: Path) -> None:
    for name in ("a:b@c.csv", "a;b.csv", "a#b?.csv"):
        assert mask(str(tmp_path / name)) != str(tmp_path / name)
        (tmp_path / name).write_text("label\na\n")
        assert mask(str(tmp_path / name)) == str(tmp_path / name)


@pytest.mark.parametrize(
    "source",
    ["postgres:/me:SECRET@db/shop", "htttps//me:SECRET@host/a.csv", "duckdb:///me:SECRET@x", "a.csv;token=SECRET"],
)
def test_errors_of_the_library_hold_no_secret(source: str) -> None:
    for ask in (
        lambda: ah.read_profile(source, label="label"),
        lambda: ah.read(source),
        lambda: ah.read(source + ".json"),
        lambda: ah.read(source + ".sketch"),
    ):
        with pytest.raises(AnonhistError) as caught:
            ask()
        assert "SECRET" not in str(caught.value)


def test_a_secret_that_looks_like_a_parameter_is_masked_before_parameters_are_spelled(
    cli: Callable[..., CompletedProcess[str]], folder: Path
) -> None:
    done = cli("release", "duckdb:///shop.db", "--epsilon", "1", "--table", "postgresql://me:`hunter`2@host/t")
    assert done.returncode == 3
    table = cli("release", "events.csv", "--epsilon", "1", "--label", "me:`hunter`2@host")
    assert table.returncode == 3
    for said in (done.stderr, table.stderr):
        assert "hunter" not in said
    assert "'***@host'" in table.stderr
    assert not list(folder.glob("*.json"))
