"""Draw the README's picture of the page to try: its estimates from 1,000 simulated people, in Chromium.

python tools/try_picture.py docs/images/try.png

The people are drawn anew each time.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from anonhist.local.collect_commands import client
from anonhist_testing.chromium import Chromium
from anonhist_testing.web import serve

WIDTH = 560
# From the heading to the legend.
SHOWN = """(() => {
  const top = document.querySelector("#thousand").getBoundingClientRect().top;
  const { bottom } = document.querySelector("#chart").getBoundingClientRect();
  return [scrollY + top, bottom - top + 12];
})()"""


def main(target: str) -> None:
    """Write the picture."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        client.main(["-o", str(folder / "static"), "--quiet"], standalone_mode=False)
        with serve(folder / "static") as web, Chromium(folder / "profile") as browser, browser.page() as page:
            page.resize(WIDTH, 900)
            page.prefer(color_scheme="light")
            page.open(f"{web.address}/index.html")
            page.wait_for("document.querySelectorAll('input').length === 4")
            page.run("document.querySelector('#simulate').click()")
            top, height = page.run(SHOWN)
            Path(target).write_bytes(page.picture((0, top, WIDTH, height)))


if __name__ == "__main__":
    main(*sys.argv[1:])
