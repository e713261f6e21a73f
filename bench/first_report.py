"""How long a page waits for its first report: ``python bench/first_report.py``.

A page of its own in Chromium for each survey of examples/drawing_vectors.json: from the call that loads the description
until the answer is drawn and remembered. The client is loaded before. Medians and longest of some rounds, in
milliseconds on the clock.
"""

from __future__ import annotations

import argparse
import json
import runpy
import statistics
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.local import Collection
from anonhist_testing.chromium import BROWSER, Chromium

if TYPE_CHECKING:
    from anonhist.local import Survey

ROOT = Path(__file__).parents[1]
AIM = 100.0
SCRIPT = """(async () => {{
  const {{ Collection }} = await import("/client.js");
  const before = performance.now();
  const collection = await Collection.load("/{place}.json", {{ unpinned: true }});
  await collection.answer({answer});
  return performance.now() - before;
}})()"""


# It says nothing.
Quiet = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})


def waits(surveys: list[Survey], answers: list[object], rounds: int) -> list[list[float]]:
    """Return for each survey the milliseconds of each round."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "site")
        folder.mkdir()
        (folder / "client.js").write_bytes(files("anonhist.local").joinpath("client", "client.js").read_bytes())
        (folder / "index.html").write_text("<!doctype html><title>first</title>", encoding="utf-8")
        for place, survey in enumerate(surveys):
            described = partial(Collection, survey=survey, answers="once", last_day="2099-12-31")
            try:
                made = described()
            except UsageError:
                # Of an open survey, candidates are named beforehand.
                made = described(candidates=["cat"])
            made.save(folder / f"{place}.json")
        with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            address = f"http://127.0.0.1:{server.server_address[1]}/"
            with Chromium(Path(name, "profile")) as browser:
                found: list[list[float]] = [[] for _ in surveys]
                for _ in range(rounds):
                    for place, answer in enumerate(answers):
                        with browser.page(browser.memory()) as page:
                            page.open(address)
                            found[place].append(page.run(SCRIPT.format(place=place, answer=json.dumps(answer))))
            server.shutdown()
    return found


def main() -> None:
    """Print the table, a row for each mechanism."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    arguments = parser.parse_args()
    if BROWSER is None:
        message = "Chromium is not installed: the client is not measured."
        raise SystemExit(message)
    surveys: list[Survey] = runpy.run_path(str(ROOT / "tools" / "drawing_vectors.py"))["SURVEYS"]
    vectors = json.loads((ROOT / "examples" / "drawing_vectors.json").read_text(encoding="utf-8"))["surveys"]
    answers = [each["vectors"][0][0] for each in vectors]
    rounds = arguments.rounds
    if arguments.quick:
        surveys, answers, rounds = surveys[:1], answers[:1], 1
    of_mechanism: dict[str, list[list[float]]] = {}
    for survey, found in zip(surveys, waits(surveys, answers, rounds), strict=True):
        of_mechanism.setdefault(survey.name, []).append(found)
    print("| mechanism | surveys | median of the slowest survey, ms | longest wait, ms | aim | met |")
    print("|---|---|---|---|---|---|")
    for mechanism, of_surveys in of_mechanism.items():
        middle, longest = max(map(statistics.median, of_surveys)), max(map(max, of_surveys))
        met = "yes" if middle <= AIM else "no"
        print(f"| {mechanism} | {len(of_surveys)} | {middle:.0f} | {longest:.0f} | at most {AIM:.0f} | {met} |")


if __name__ == "__main__":
    main()
