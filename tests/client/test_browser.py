"""The client in Chromium: what is remembered, and what is sent."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from anonhist.local import RAPPOR, Collection
from anonhist.local.collection_files import COLLECTION_FILES, collection_text
from anonhist.local.wire import collected_reports, read_wire_line
from anonhist_testing.chromium import BROWSER

from .conftest import CLIENT, GOLDEN, Browse, Site

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed: the client is not tested in a browser"),
]
COLLECTION = COLLECTION_FILES.read(GOLDEN / "collection.json")
OPEN = COLLECTION_FILES.read(GOLDEN / "collection-open.json")
LOAD = f'const collection = await Collection.load("/collection.json", {{ digest: "{COLLECTION.digest}" }});'
LOAD_OPEN = f'const collection = await Collection.load("/collection-open.json", {{ digest: "{OPEN.digest}" }});'
# Everything that the client stored.
STORED = """
const database = await new Promise((resolve) => {
  const request = indexedDB.open("anonhist", 1);
  request.onsuccess = () => resolve(request.result);
});
const stored = [];
for (const name of database.objectStoreNames) {
  stored.push(...await new Promise((resolve) => {
    const request = database.transaction(name).objectStore(name).getAll();
    request.onsuccess = () => resolve(request.result);
  }));
}
"""


def test_the_first_answer_stands_through_retries_and_restarts(browse: Browse, browse_anew: Browse, site: Site) -> None:
    first, again, other = browse_anew(f"""{LOAD}
        return [await collection.answer("bus"), await collection.answer("bus"), await collection.answer("car")];""")
    assert first == again == other
    assert not read_wire_line(COLLECTION.survey, first).bad
    # What was not sent is sent on the next load, whatever the clock says.
    told = browse_anew(f"""Date.now = () => 0; {LOAD} await collection.send("/reports", {{ within: 0 }});
        return [await collection.answered(), await collection.answer("car")];""")
    assert told == [True, first]
    assert [body.decode() for _, body in site.posted] == [first]
    # Another browser is another memory: a second device answers again.
    assert browse(f'{LOAD} return [await collection.answered(), await collection.answer("bus")];')[0] is False


def test_of_two_tabs_the_first_wins(browse: Browse) -> None:
    reports = browse(f"""{LOAD}
        const inFrame = (value) => new Promise((resolve) => {{
          const frame = document.createElement("iframe");
          window["told" + value] = resolve;
          frame.srcdoc = `<script type="module">
            const {{ Collection }} = await import("/client.js");
            const collection = await Collection.load("/collection.json", {{ unpinned: true }});
            parent.told${{value}}(await collection.answer("${{value}}"));
          <\\/script>`;
          document.body.append(frame);
        }});
        const here = ["bus", "car"].map((value) => collection.answer(value));
        return Promise.all([...["bus", "car"].map(inFrame), ...here]);
    """)
    assert len(reports) == 4
    assert len(set(reports)) == 1


def test_nothing_stored_tells_the_answer(browse_anew: Browse, tmp_path: Path) -> None:
    # Of any text, so that the answer is in no file of the page either.
    report, stored = browse_anew(f"""{LOAD_OPEN}
        const report = await collection.answer(["xyzzy", "plugh"].join("-"), {{ occasion: "Monday" }});
        {STORED} return [report, stored];""")
    assert stored == [
        {"collection": OPEN.digest, "occasion": "Monday", "report": report, "state": "unsent", "tries": 0}
    ]
    on_disk = b"".join(path.read_bytes() for path in (tmp_path / "profile").rglob("*") if path.is_file())
    assert b"Monday" in on_disk or "Monday".encode("utf-16-le") in on_disk
    assert b"xyzzy-plugh" not in on_disk
    assert "xyzzy-plugh".encode("utf-16-le") not in on_disk


def test_answers_on_several_occasions_are_counted(browse: Browse) -> None:
    found = browse(f"""{LOAD_OPEN}
        const told = [];
        for (const occasion of ["a", "b", "c", "a", "d", "e", "f", "b"]) {{
          told.push(await collection.answer("bus", {{ occasion }}).catch((error) => error.message));
        }}
        told.push(await collection.answer("bus").catch((error) => error.message));
        return told;""")
    assert found[0] == found[3]
    assert found[1] == found[7]
    assert len({*found[:6]}) == 5
    assert "All answers" in found[6]
    assert "Name the occasion" in found[8]


def test_after_the_last_day_nothing_is_drawn_if_the_server_says_the_day(browse: Browse, site: Site) -> None:
    text = collection_text(COLLECTION)
    for name, today in (("then", "2026-12-31"), ("later", "2027-01-01")):
        said = text.replace('"version": 1,', f'"version": 1, "today": "{today}",')
        site.files[f"/{name}.json"] = ("application/json", said.encode())
    ask = """const collection = await Collection.load("/{}.json", {{ unpinned: true }});
        return collection.answer("bus").catch((error) => error.message);"""
    assert "has ended" in browse(ask.format("later"))
    line = browse(ask.format("then"))
    assert line.startswith('{"id":"5152')
    # What was drawn in time stands, and may be sent.
    assert browse(ask.format("later")) == line


def test_occasions_are_texts_so_that_all_are_counted(browse: Browse) -> None:
    # Lists come after all texts in the order of IndexedDB, and were not among those that were counted.
    found = browse(f"""{LOAD_OPEN}
        const told = [];
        for (const occasion of [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], [], 7, null, new Date(0)]) {{
          told.push(await collection.answer("bus", {{ occasion }}).catch((error) => error.message));
        }}
        {STORED} return [told, stored];""")
    assert [each for each in found[0] if "Name the occasion" not in each] == []
    assert found[1] == []


def test_without_entropy_nothing_is_given_or_remembered(browse: Browse, site: Site) -> None:
    survey = RAPPOR(alphabet=8, cohorts=5, key="k", f="1/2", p="1/2", q="3/4")
    collection = Collection(survey=survey, answers=40, last_day="2026-12-31")
    site.files["/rappor.json"] = ("application/json", collection_text(collection).encode())
    # The fifth request is for the report; the remembered bits were drawn before.
    told, stored = browse(f"""const collection = await Collection.load("/rappor.json", {{ unpinned: true }}), told = [];
        const original = crypto.getRandomValues.bind(crypto);
        for (let good = 0; good < 5; good++) {{
          let left = good;
          crypto.getRandomValues = (array) => {{
            if (!left--) throw new DOMException("none", "OperationError");
            return original(array);
          }};
          told.push(await collection.answer(3, {{ occasion: "a" }}).catch((error) => error.message));
        }}
        {STORED} return [told, stored];""")
    assert [each for each in told if "no random numbers" not in each] == []
    assert stored == []


def test_reports_of_rappor_come_from_the_bits_of_the_first_answer(browse: Browse, site: Site) -> None:
    # A remembered 1 is always reported as 1, and f is tiny, so reports tell the remembered bits.
    survey = RAPPOR(alphabet=8, cohorts=5, key="k", f="1e-9", p="1/2", q="1")
    collection = Collection(survey=survey, answers=40, last_day="2026-12-31")
    site.files["/rappor.json"] = ("application/json", collection_text(collection).encode())
    lines = browse("""const collection = await Collection.load("/rappor.json", { unpinned: true }), lines = [];
        for (let i = 0; i < 40; i++) lines.push(await collection.answer(i % 8, { occasion: `day ${i}` }));
        return lines;""")
    reports, bad = collected_reports(survey, lines)
    assert (len(reports), bad) == (40, 0)
    assert len(np.unique(reports.columns["cohort"])) == 1
    assert int(np.bitwise_and.reduce(np.asarray(reports.columns["report"]).ravel())).bit_count() == 1


# What stops a page from remembering, and how it is undone.
DENIED = """[
  () => Object.defineProperty(window, "indexedDB", { value: undefined, configurable: true }),
  () => { delete window.indexedDB; IDBFactory.prototype.open = () => { throw new DOMException("denied"); }; },
  () => { IDBFactory.prototype.open = open; IDBObjectStore.prototype.add = () => { throw new DOMException("full"); }; },
]"""


def test_without_a_memory_nothing_is_given(browse: Browse, site: Site) -> None:
    found = browse(f"""{LOAD} const told = [], open = IDBFactory.prototype.open;
        for (const deny of {DENIED}) {{
          deny();
          told.push(await collection.answer("bus").then(() => "given", (error) => error.message));
          await collection.send("/reports", {{ within: 0 }}).catch(() => {{}});
        }}
        return told;""")
    assert len(found) == 3
    assert [each for each in found if "does not let the page remember" not in each] == []
    assert site.posted == []


def test_a_report_is_sent_once_and_in_the_same_bytes(browse: Browse, site: Site) -> None:
    # An error, a connection that breaks after the report arrived, and then a success.
    site.answers = [503, 0]
    report, stored = browse(f"""{LOAD} const set = window.setTimeout;
        window.setTimeout = (work, time) => set(work, time / 100);
        document.cookie = "name=somebody";
        const report = await collection.answer("bus");
        await collection.send("/reports", {{ within: 0.01 }});
        await collection.send("/reports", {{ within: 0.01 }});
        {STORED} return [report, stored];""")
    assert [body for _, body in site.posted] == [report.encode()] * 3
    assert [(each["state"], each["tries"], each["report"]) for each in stored] == [("sent", 3, report)]
    for headers, _ in site.posted:
        assert headers["Content-Type"] == "text/plain"
        assert not {"Cookie", "Referer"} & headers.keys()


def test_all_tabs_together_try_ten_times_and_wait_at_random(browse: Browse, site: Site) -> None:
    site.answers = [503] * 100
    waited = browse(f"""{LOAD} const set = window.setTimeout, waited = [];
        window.setTimeout = (work, time) => (waited.push(time), set(work, 0));
        await collection.answer("bus");
        await Promise.all([1, 2, 3].map(() => collection.send("/reports", {{ within: 0 }})));
        await collection.send("/reports", {{ within: 0 }});
        return waited;""")
    assert len(site.posted) == 10
    assert len({body for _, body in site.posted}) == 1
    # Even if the server names a time, devices do not all come back at once.
    site.wait, site.answers = 60, [503, 503]
    waited = browse(
        f"""{LOAD} const set = window.setTimeout, waited = [];
        window.setTimeout = (work, time) => (waited.push(time), set(work, 0));
        await collection.answer("bus");
        await collection.send("/reports", {{ within: 0 }});
        return waited;""",
        "other",
    )
    assert min(waited[1:]) > 60_000
    assert len(set(waited[1:])) == 2


def test_a_report_that_was_cleared_is_not_sent_again(browse: Browse, site: Site) -> None:
    site.answers = [503] * 10
    stored = browse(f"""{LOAD} const set = window.setTimeout;
        await collection.answer("bus");
        window.setTimeout = (work, time) => set(async () => {{
          if (time) await new Promise((resolve) => {{
            const request = indexedDB.open("anonhist", 1);
            request.onsuccess = () => {{
              const clearing = request.result.transaction("reports", "readwrite");
              clearing.objectStore("reports").clear();
              clearing.oncomplete = () => (request.result.close(), resolve());
            }};
          }});
          work();
        }}, 0);
        await collection.send("/reports", {{ within: 0 }});
        {STORED} return stored;""")
    assert len(site.posted) == 1
    assert stored == []


def test_a_report_is_sent_with_consent_and_dropped_if_it_is_not_wanted(browse: Browse, site: Site) -> None:
    site.answers = [410]
    found, stored = browse(f"""{LOAD} await collection.answer("bus");
        const told = [];
        for (const [name, value] of Object.entries({{ globalPrivacyControl: true, doNotTrack: "1" }})) {{
          Object.defineProperty(navigator, name, {{ value, configurable: true }});
          told.push(await collection.send("/reports", {{ within: 0 }}) ?? "silence");
          delete navigator[name];
        }}
        Object.defineProperty(navigator, "globalPrivacyControl", {{ value: true, configurable: true }});
        told.push(await (await fetch("/posted")).text());
        await collection.send("/reports", {{ within: 0, consented: true }});
        await collection.send("/reports", {{ within: 0, consented: true }});
        {STORED} return [told, stored];""")
    assert found == ["silence", "silence", "0"]
    assert len(site.posted) == 1
    assert stored[0]["state"] == "dropped"


BROKEN = {
    "a fresh draw on a retry": (
        "if (known) return known.report;",
        "if (known) await resultOf(reports.delete([this.digest, occasion]));",
    ),
    "the answer in the storage": ('state: "unsent", tries: 0', 'state: "unsent", tries: 0, value'),
    "another report on a retry": ("post(url, record.report)", "post(url, this.simulate('bus'))"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_client_is_caught(what: str, browse: Browse, browse_anew: Browse, site: Site, tmp_path: Path) -> None:
    whole, broken = BROKEN[what]
    text = (CLIENT / "client.js").read_text(encoding="utf-8")
    assert text.count(whole) == 1
    site.files["/client.js"] = ("text/javascript", text.replace(whole, broken).encode())
    checks: dict[str, Callable[[], None]] = {
        "a fresh draw on a retry": lambda: test_the_first_answer_stands_through_retries_and_restarts(
            browse, browse_anew, site
        ),
        "the answer in the storage": lambda: test_nothing_stored_tells_the_answer(browse_anew, tmp_path),
        "another report on a retry": lambda: test_a_report_is_sent_once_and_in_the_same_bytes(browse, site),
    }
    with pytest.raises(AssertionError):
        checks[what]()
