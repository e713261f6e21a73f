"""From a page in Chromium to the collection server: what people answer is counted once, and shown."""

import json
from pathlib import Path
from typing import Any

import pytest

from anonhist.cli.entry import run
from anonhist.collect.reading import read_collected
from anonhist.local import KRR, Collection, Invited, collected_reports, new_identifier
from anonhist_testing.chromium import BROWSER
from anonhist_testing.collector import serving
from anonhist_testing.statistics import assert_pmf_equal

from .conftest import Browse

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed: the client is not tested in a browser"),
]


def answer_often(browse: Browse, folder: Path, times: int) -> list[int]:
    """Answer "car" on many occasions in a browser, send everything twice, and return the counts of the values."""
    survey = KRR(alphabet=["bus", "car", "foot"], epsilon="1/2")
    collection = Collection(survey=survey, answers=times, last_day="2099-12-31")
    collection.save(folder / "collection.json")
    address = f"sqlite:///{folder / 'collected.db'}"
    with serving(folder / "collection.json", address) as running:
        server = f"http://127.0.0.1:{running.port}"
        place = f"{server}/c/{collection.digest}"
        lines = browse(f"""{{
            const {{ Collection }} = await import("{server}/client.js");
            const collection = await Collection.load("{place}/collection.json", {{ digest: "{collection.digest}" }});
            const lines = [];
            for (let i = 0; i < {times}; i++) lines.push(await collection.answer("car", {{ occasion: `day ${{i}}` }}));
            await collection.send("{place}/reports", {{ within: 0 }});
            for (const line of lines) {{
              const answer = await fetch("{place}/reports", {{ method: "POST", body: line }});
              if (answer.status !== 200 || (await answer.json()).accepted !== 1) throw new Error("not counted");
            }}
            return lines; }}""")
        assert isinstance(lines, list), lines
        page = running.ask(f"/c/{collection.digest}/")[2].decode()
        assert ("Nothing is shown yet" in page) == (times < 100)
    tally = read_collected(survey, address)
    assert len({line[7:39] for line in lines}) == tally.users == times
    return tally.dense(3).tolist()


def test_answers_reach_the_tally_from_a_browser(browse: Browse, tmp_path: Path) -> None:
    assert sum(answer_often(browse, tmp_path, 50)) == 50


def test_links_of_invitations_lead_to_one_report_each(browse: Browse, tmp_path: Path) -> None:
    survey = KRR(alphabet=["bus", "car", "foot"], epsilon="1/2")
    collection = Collection(survey=survey, answers="once", last_day="2099-12-31", open_to=Invited())
    collection.save(tmp_path / "collection.json")
    address, links = f"sqlite:///{tmp_path / 'collected.db'}", tmp_path / "links.txt"
    with serving(tmp_path / "collection.json", address) as running:
        server = f"http://127.0.0.1:{running.port}"
        place = f"{server}/c/{collection.digest}"
        options = ["--database", address, "--page", "https://example.org/", "-o", str(links), "--quiet"]
        assert run(["collect", "invite", "2", str(tmp_path / "collection.json"), *options]) == 0
        ends = [link.partition("#")[2] for link in links.read_text().splitlines()]

        def answer(device: str, end: str, value: str) -> Any:
            return browse(
                f"""location.hash = "{end}";
                const load = (await import("{server}/client.js")).Collection.load;
                const collection = await load("{place}/collection.json", {{ digest: "{collection.digest}" }});
                let line = "";
                try {{
                  line = await collection.answer("{value}");
                }} catch (error) {{
                  return error.message;
                }}
                await collection.send("{place}/reports", {{ within: 0 }});
                return line;""",
                device,
            )

        assert "open the whole link" in answer("phone", "", "bus")
        first = answer("phone", ends[0], "bus")
        assert json.loads(first)["id"] == ends[0].partition("=")[2]
        # The same link on another device, and the same device again: the first report stands.
        assert answer("laptop", ends[0], "car")[:48] == first[:48]
        assert answer("phone", "", "car") == first
        second = answer("tablet", ends[1], "foot")
        forged = new_identifier(collection.last_day)
        assert json.loads(answer("other", f"invitation={forged}", "foot"))["id"] == forged
    assert read_collected(survey, address) == survey.tally(collected_reports(survey, [first, second])[0])


@pytest.mark.slow
def test_five_hundred_reports_have_the_distribution_of_the_survey(browse: Browse, tmp_path: Path) -> None:
    counts = answer_often(browse, tmp_path, 500)
    survey = KRR(alphabet=3, epsilon="1/2")
    likely, other = survey.true_support_probability, survey.false_support_probability
    samples = [value for value, count in enumerate(counts) for _ in range(count)]
    assert_pmf_equal(samples, {0: other, 1: likely, 2: other}, false_fail_rate=1e-9)
