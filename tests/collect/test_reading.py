"""A tally from a collector's database: of one collection, chosen where several asked the survey."""

from pathlib import Path

import pytest

import anonhist as ah
from anonhist.cli.entry import run
from anonhist.collect.databases import storage_at
from anonhist.collect.reading import read_collected
from anonhist.collect.storage import Head, Tier
from anonhist.errors import DataError, UsageError
from anonhist.local import KRR, Collection

DAYS = ["2099-10-31", "2099-11-30", "2099-12-31"]


def counted(address: str, collections: list[Collection]) -> None:
    """Store a tally of each: of 1, 2, … people."""
    storage = storage_at(address)
    storage.make()
    session = storage.session()
    with session.writing() as ours:
        for users, each in enumerate(collections, 1):
            number, survey = ours.number_of(each), each.survey
            ours.add(number, survey.tally(survey.randomize(["bus"] * users)), Tier.SINCE, cells=survey.cells)
            ours.set_head(number, Head(users, 0, 0, closed=False))
    session.close()


def test_one_of_several_collections_is_chosen(collection: Collection, address: str) -> None:
    survey = collection.survey
    several = [Collection(survey=survey, answers="once", last_day=day) for day in DAYS]
    other = Collection(survey=KRR(alphabet=["bus", "car"], epsilon=1), answers="once", last_day=DAYS[0])
    counted(address, [*several, other])
    assert read_collected(other.survey, address).users == 4
    with pytest.raises(UsageError, match=r"3 collections of this survey are in .*choose one by its digest") as caught:
        read_collected(survey, address)
    for users, each in enumerate(several, 1):
        assert each.digest[:12] in str(caught.value)
        assert read_collected(survey, address, each.digest).users == users
        assert read_collected(survey, address, each.digest[:12].upper()).users == users
    for wrong in (other.digest, several[0].digest + "0", "x"):
        with pytest.raises(DataError, match="whose digest begins with"):
            read_collected(survey, address, wrong)
    with pytest.raises(DataError, match="No collection of this survey is in"):
        read_collected(KRR(alphabet=7, epsilon=1), address, wrong)


def test_the_command_refuses_to_add_collections_up(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address, target = f"sqlite:///{tmp_path / 'c.db'}", tmp_path / "tally.json"
    several = [Collection(survey=collection.survey, answers="once", last_day=day) for day in DAYS]
    counted(address, several)
    collection.survey.save(tmp_path / "survey.json")
    command = ["local", "tally", str(tmp_path / "survey.json"), address, "-o", str(target)]
    assert run(command) != 0
    assert "by its digest, --collection" in capsys.readouterr().err
    assert not target.exists()
    assert run([*command, "--collection", several[1].digest]) == 0
    assert ah.read(target).users == 2
    (tmp_path / "reports.ndjson").write_text("")
    assert run([*command[:3], str(tmp_path / "reports.ndjson"), "--collection", several[1].digest]) != 0
    assert "--collection chooses in the database" in capsys.readouterr().err
