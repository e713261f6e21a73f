"""The check of the documentation site finds what it is to find. `make docs` builds the site and runs it."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CHECK = runpy.run_path(str(ROOT / "tools" / "check_site.py"))["main"]
RIGHT = """<!doctype html><title>Page</title><link rel="stylesheet" href="style.css?v=1">
<script src="script.js"></script>
<style>p { background: url(picture.png) }</style><img src="picture.png" srcset="picture.png 1x, picture.png 2x">
<a href="https://example.org/paper">a link that a reader may follow</a> <a href="#here">here</a>"""


def site(folder: Path, page: str = "", style: str = "", script: str = "") -> int:
    (folder / "page.html").write_text(RIGHT + page)
    (folder / "style.css").write_text("p { background: url('picture.png') }" + style)
    (folder / "script.js").write_text('fetch("searchindex.js"); // see https://example.org' + script)
    (folder / "picture.png").touch()
    return CHECK(str(folder))


def test_a_site_of_its_own_files_is_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert site(tmp_path) == 0
    assert capsys.readouterr().out.startswith("Success: 1 pages")


@pytest.mark.parametrize(
    "wrong",
    [
        {"page": '<img src="https://example.org/a.png">'},
        {"page": '<script src="//example.org/a.js"></script>'},
        {"page": '<link rel="preconnect" href="https://example.org">'},
        {"page": '<img srcset="picture.png 1x, https://example.org/a.png 2x">'},
        {"page": '<p style="background: url(https://example.org/a.png)">'},
        {"page": "<style>@import 'https://example.org/a.css';</style>"},
        {"page": "<script>import('https://example.org/a.js')</script>"},
        {"page": '<iframe src="https://example.org/"></iframe>'},
        {"page": '<a href="nowhere.html">nowhere</a>'},
        {"style": "@font-face { src: url(https://example.org/a.woff2) }"},
        {"script": 'element.src = "https://example.org/a.js"'},
    ],
    ids=lambda wrong: "".join(wrong.values()),
)
def test_what_other_hosts_would_be_asked_for_is_found(tmp_path: Path, wrong: dict[str, str]) -> None:
    assert site(tmp_path, **wrong) == 1


def test_no_pages_are_no_site(tmp_path: Path) -> None:
    assert CHECK(str(tmp_path)) == 1
