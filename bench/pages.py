"""Write docs/benchmarks: run the commands of bench/pages.toml, and put what each prints into its page.

``make bench`` runs all of them, for hours: ``python bench/pages.py``. ``python bench/pages.py speed --only growth``
runs the commands of one page in which a word occurs; the other figures of the page stay as they are, with the day on
which they were measured. ``--text`` runs nothing, for when a text of bench/pages.toml was changed.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "benchmarks"
NOTE = "<!-- Written by `make bench`: the texts from bench/pages.toml, the figures by the commands. -->"
WIDEST = 120
MEASURED = re.compile(
    r"^((?:`[^`\n]+`\n)*`[^`\n]+`), (measured [^\n]+):\n\n<!-- printed -->\n\n(.*?)\n\n<!-- end -->$",
    re.MULTILINE | re.DOTALL,
)


def pages() -> list[dict[str, Any]]:
    """Return the table: pages with a name, a title, a text and sections, of which most have a command."""
    read: list[dict[str, Any]] = tomllib.loads((ROOT / "bench" / "pages.toml").read_text(encoding="utf-8"))["page"]
    return read


def commands_of(page: dict[str, Any]) -> str:
    """Return the commands of a page, a line each."""
    return "\n".join(section["command"] for section in page["section"] if "command" in section)


def head(commands: str) -> str:
    """Return the commands of a section, as its page shows them."""
    return "\n".join(f"`{command}`" for command in commands.split("\n"))


def measured(page: str) -> dict[str, tuple[str, str]]:
    """Return of each section of a page, by its head, when it was measured and what was printed."""
    return {commands: (when, printed) for commands, when, printed in MEASURED.findall(page)}


def as_markdown(printed: str) -> str:
    """Return what a program prints: tables as they are, below headings of a page; columns and long lines as such."""
    text = re.sub(r"^#+ ", "### ", printed.strip("\n"), flags=re.MULTILINE)
    lines = text.split("\n")
    if not any(line.startswith("|") for line in lines):
        return "\n".join(f"* {line}" for line in lines) if max(map(len, lines)) > WIDEST else f"```\n{text}\n```"
    return re.sub(r"^(\|.*\n)(?=[^|\n])|^((?!\|).+\n)(?=\|)", r"\1\2\n", text, flags=re.MULTILINE)


def run(commands: str, folder: Path, *options: str) -> str:
    """Return what the commands print, run one after the other in a folder."""
    printed = ""
    for command in commands.split("\n"):
        program, *words = shlex.split(command)
        here = [str(ROOT / word) if word.startswith("bench/") else word for word in words]
        start = [sys.executable] if program == "python" else [sys.executable, "-m", program]
        print(f"$ {shlex.join([program, *words, *options])}", file=sys.stderr, flush=True)
        done = subprocess.run([*start, *here, *options], cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
        printed += done.stdout + "\n"
    return printed


def now() -> str:
    """Return the day and the commit."""
    asked = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    day = datetime.now(UTC)
    return f"measured on {day.day} {day:%B %Y}" + (f", at commit {commit}" if commit else "")


def written(page: dict[str, Any], known: dict[str, tuple[str, str]]) -> str:
    """Return the text of a page."""
    parts = [NOTE, f"# {page['title']}", page["text"]]
    for section in page["section"]:
        parts += [f"## {section['title']}"] if "title" in section else []
        parts += [section["text"]] if "text" in section else []
        if "command" in section:
            commands = head(section["command"])
            if commands in known:
                when, printed = known[commands]
                parts += [f"{commands}, {when}:", "<!-- printed -->", printed, "<!-- end -->"]
            else:
                parts += [f"{commands}, not measured yet."]
        parts += [section["after"]] if "after" in section else []
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="names in bench/pages.toml; all by default")
    parser.add_argument("--only", default="", metavar="WORD", help="run the commands in which this occurs")
    parser.add_argument("--text", action="store_true", help="run nothing, and keep all figures")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where pages are written")
    parser.add_argument("--quick", action="store_true", help="tiny settings, to see that it runs")
    options = parser.parse_args()
    if options.quick and options.folder == FOLDER:
        parser.error("--quick measures nothing: name a --folder for its pages")
    table = {page["name"]: page for page in pages()}
    if unknown := set(options.pages) - set(table):
        parser.error(f"{', '.join(sorted(unknown))}: there are {', '.join(table)}")
    place, extra = (options.folder, ["--quick"]) if options.quick else (ROOT, [])
    (place / "docs" / "images").mkdir(parents=True, exist_ok=True)
    for name in options.pages or table:
        path = options.folder / f"{name}.md"
        known = measured(path.read_text(encoding="utf-8")) if path.exists() else {}
        for section in table[name]["section"]:
            commands = section.get("command", "")
            if commands and options.only in commands and not options.text:
                known[head(commands)] = (now(), as_markdown(run(commands, place, *extra)))
                # Written after each, since all of them take hours.
                path.write_text(written(table[name], known), encoding="utf-8")
        path.write_text(written(table[name], known), encoding="utf-8")


if __name__ == "__main__":
    main()
