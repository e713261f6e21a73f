"""The checks of the documentation site find what they are to find. `make docs` builds the site and runs them."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CHECK = runpy.run_path(str(ROOT / "tools" / "check_site.py"))["main"]
GUIDES = runpy.run_path(str(ROOT / "tools" / "check_how_to.py"))
KEPT_TYPE = runpy.run_path(str(ROOT / "docs" / "_extensions" / "reference.py"))["kept_type"]
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


@pytest.mark.parametrize(
    ("shown", "is_right"),
    [
        ("labels   1,342   1,338 to 1,346", True),
        ("labels\n1.5 9 to 2e-05", True),
        ("labels …", True),
        ("… to 8", True),
        ("items 1,342 1,338 to 1,346", False),
        ("labels 1,342", False),
        ("labels … from 8", False),
    ],
)
def test_numbers_and_line_breaks_of_a_guide_may_differ_and_words_may_not(shown: str, is_right: bool) -> None:  # noqa: FBT001
    assert GUIDES["matches"](shown, "labels 7 6 to 8\n") is is_right


def test_commands_and_programs_of_a_guide_are_run_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    console = "```console\n$ echo made \\\n  of 2 > file\n$ cat file\nmade of 3\n```\n"
    right = f"{console}```python\nprint(6)\n```\n\n```text\n7\n```\n"
    guide = tmp_path / "guide.md"
    guide.write_text(right)
    assert GUIDES["main"]([str(guide)]) == 0
    assert capsys.readouterr().out.startswith("Success: 3 commands")
    for wrong in (right.replace("made of 3", "making of 3"), right.replace("print(6)", "print('six')")):
        guide.write_text(wrong)
        assert GUIDES["main"]([str(guide)]) == 1
    guide.write_text("```console\n$ false\n```\n")
    with pytest.raises(SystemExit):
        GUIDES["main"]([str(guide)])


@pytest.mark.parametrize(
    ("annotation", "kept"),
    [
        ("Converted[Mapping[str, int] | None, dict[str, int]]", "dict[str, int]"),
        ("Checked[float]", "float"),
        ("dict[str, int]", "dict[str, int]"),
    ],
)
def test_the_reference_names_the_type_that_a_field_keeps(annotation: str, kept: str) -> None:
    assert KEPT_TYPE(annotation) == kept
