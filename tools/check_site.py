"""Check a built site: no page asks another host for anything, and links within the site lead to files that exist.

python tools/check_site.py build/site

Links that a reader follows may lead to other hosts; pictures, styles, scripts, fonts and frames may not.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes that a browser follows by itself, and those that a reader follows.
LOADED = {"src", "srcset", "poster", "data", "background", "xlink:href", "style"}
FOLLOWED = {"a", "area"}
STYLE = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s]+)""")
# A script that loads something by its address.
SCRIPT = re.compile(r"""(?:(?:fetch|import|importScripts|open)\(|\.src\s*=)\s*["'`]((?:https?:)?//[^"'`]+)""")


def is_elsewhere(address: str) -> bool:
    """Say whether an address names a host."""
    return bool(urlsplit(address.strip()).netloc)


class Page(HTMLParser):
    """What a page loads, and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.followed: list[str] = []
        self._within = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take what an element loads or links to."""
        self._within = tag
        for name, value in attrs:
            if name == "style":
                self.loaded += STYLE.findall(value or "")
            elif name == "srcset":
                self.loaded += [candidate.split()[0] for candidate in (value or "").split(",") if candidate.strip()]
            elif name in LOADED or (name == "href" and tag not in FOLLOWED | {"base"}):
                self.loaded.append(value or "")
            elif name == "href":
                self.followed.append(value or "")

    def handle_data(self, data: str) -> None:
        """Take what styles and scripts within the page load."""
        if self._within == "style":
            self.loaded += STYLE.findall(data)
        elif self._within == "script":
            self.loaded += SCRIPT.findall(data)

    def handle_endtag(self, tag: str) -> None:
        """Leave a style or a script."""
        if tag == self._within:
            self._within = ""


def complaints_of(path: Path) -> list[str]:
    """Return what is wrong with one file of a site."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".css":
        loaded, followed = STYLE.findall(text), []
    elif path.suffix == ".js":
        loaded, followed = SCRIPT.findall(text), []
    else:
        page = Page(text)
        loaded, followed = page.loaded, page.followed
    complaints = [f"{path}: loads {address} from another host" for address in loaded if is_elsewhere(address)]
    for address in [*loaded, *followed]:
        parts = urlsplit(address)
        if not parts.scheme and not parts.netloc and parts.path and path.suffix == ".html":
            target = path.parent / unquote(parts.path)
            if not target.exists():
                complaints.append(f"{path}: {address} leads nowhere")
    return complaints


def main(folder: str) -> int:
    """Check all pages, styles and scripts in a folder, and print what is wrong."""
    found = [path for path in sorted(Path(folder).rglob("*")) if path.suffix in {".html", ".css", ".js"}]
    files = [path for path in found if path.suffix != ".html" or "_static" not in path.parts]  # those are templates
    pages = sum(path.suffix == ".html" for path in files)
    complaints = [complaint for path in files for complaint in complaints_of(path)]
    right = f"Success: {pages} pages load nothing from other hosts, and their links lead somewhere"
    print("\n".join(complaints) or right)
    return 1 if complaints or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
