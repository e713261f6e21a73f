"""Intervals from noisy values are read from files of those mechanisms alone whose releases have them."""

from pathlib import Path

import pytest

from anonhist.catalogue import MECHANISMS
from anonhist.errors import DataError
from anonhist.formats.files import write
from anonhist.formats.releases import read_release
from anonhist.mechanisms import release
from anonhist.mechanisms.picking import mechanism_class
from anonhist.profiles import Profile
from anonhist_testing.cases import each_of

NUMBERS = {"public_items": 40, "public_labels": 9, "public_cap": 9}


@each_of("name", list(MECHANISMS))
def test_mechanisms_say_whether_they_keep_noisy_values(name: str) -> None:
    taken = {option: NUMBERS[option] for option in MECHANISMS[name].options if option in NUMBERS}
    released = release(Profile.from_counts([5, 3, 3]), epsilon=2, mechanism=name, simulations=2, **taken)  # type: ignore[arg-type]
    assert (released.evidence is not None) == mechanism_class(name).keeps_noisy_values


def test_intervals_of_noisy_values_that_nobody_keeps_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "release.json"
    write(release(Profile.from_counts([5, 3]), epsilon=2, mechanism="isotonic", public_labels=9, simulations=2), path)
    assert read_release(path).error.band is not None
    monkeypatch.setattr(mechanism_class("isotonic"), "keeps_noisy_values", False)
    with pytest.raises(DataError, match="bands belong to mechanisms that keep noisy values"):
        read_release(path)
