"""The page to try, for everybody: read aloud, with a keyboard, on narrow windows, light and dark, from the site."""

import json
import re
import runpy
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from anonhist.cli.entry import anonhist as command_line
from anonhist_testing.chromium import BROWSER, Chromium, Page

from .conftest import KINDS, Site

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed: the client is not tested in a browser"),
]
DOCS = Path(__file__).parents[2] / "docs"
# Contrast as in WCAG 2.2, 1.4.3, of all texts that are shown with what is behind them.
PALE = """(() => {
  const parts = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (color) => parts(color).slice(0, 3).map((x) => x / 255)
    .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
    .reduce((sum, x, i) => sum + [0.2126, 0.7152, 0.0722][i] * x, 0);
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const color = getComputedStyle(element).backgroundColor;
      if ((parts(color)[3] ?? 1) === 1) return color;
    }
  };
  const ratio = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() && element.checkVisibility() && element.tagName !== "SCRIPT") {
      found.push([element, getComputedStyle(element).color, 4.5]);
    }
  }
  for (const [selector, property] of [["fieldset", "borderTopColor"], ["path", "stroke"], [".bar", "fill"]]) {
    for (const each of document.querySelectorAll(selector)) found.push([each, getComputedStyle(each)[property], 3]);
  }
  return found.filter(([element, color, least]) => ratio(color, behind(element)) < least)
    .map(([element]) => `pale: ${element.outerHTML.slice(0, 80)}`);
})()"""
WIDE = """[...document.querySelectorAll("body *:not(svg, svg *)")]
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 1
    || each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0)
  .map((each) => `wide: ${each.outerHTML.slice(0, 80)}`)"""
MOVING = """[...document.querySelectorAll("*")]
  .filter((each) => [getComputedStyle(each)].some((style) => style.transitionDuration !== "0s"
    || style.animationName !== "none" || style.scrollBehavior !== "auto"))
  .map((each) => `moving: ${each.outerHTML.slice(0, 80)}`)"""
FOCUSED = """(() => {
  const chosen = document.activeElement, { outlineStyle, outlineWidth } = getComputedStyle(chosen);
  return [chosen.textContent || chosen.type, outlineStyle, parseFloat(outlineWidth)];
})()"""


def spoken(page: Page) -> list[tuple[str, str, dict[str, Any]]]:
    """Return what a screen reader is told: role, name and properties of each part."""
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    return [
        (
            node["role"]["value"],
            node.get("name", {}).get("value", ""),
            {each["name"]: each["value"].get("value") for each in node.get("properties", [])},
        )
        for node in nodes
        if not node["ignored"]
    ]


def unspoken(page: Page) -> list[str]:
    """Return what a person who listens would miss."""
    told = spoken(page)
    named = {"radio", "button", "table", "region"}
    found = [f"no name: {role}" for role, name, _ in told if role in named and not name]
    levels = [properties["level"] for role, _, properties in told if role == "heading"]
    if levels[0] != 1 or any(after > before + 1 for before, after in pairwise(levels)):
        found.append(f"headings in wrong order: {levels}")
    live = [properties.get("live") for role, _, properties in told if role == "status"]
    found += [f"not told as it changes: {live}"] if live != ["polite"] * 2 else []
    groups = [name for role, name, _ in told if role == "group"]
    found += [f"no group is named as the question: {groups}"] if groups != ["How do you get to work?"] else []
    # What is drawn is told in a table.
    found += [f"drawn: {role}" for role, *_ in told if role in {"image", "SvgRoot", "graphics-document"}]
    return found


def unfocused(page: Page) -> list[str]:
    """Go through the page with the Tab key, and return where nobody sees what is chosen."""
    page.run("document.activeElement.blur()")
    stops = []
    for _ in range(4):
        for kind in ("keyDown", "keyUp"):
            page.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        stops.append(page.run(FOCUSED))
    found = [f"no outline: {what}" for what, style, width in stops if style in {"none", "auto"} or width < 2]
    order = [what for what, *_ in stops]
    wanted = ["radio", "Randomize my answer", "Ask 1,000 people", "Ask 10,000 people"]
    return found + ([] if order == wanted else [f"order of the Tab key: {order}"])


def answer(page: Page, address: str) -> None:
    """Open the page, choose one of four answers, and ask simulated people."""
    page.open(address)
    page.wait_for("document.querySelectorAll('input').length === 4")
    choose(page, 2)
    page.run("document.querySelector('#simulate').click()")


def choose(page: Page, place: int) -> None:
    """Give an answer, and wait for the message about it: the first of an origin, or that it was given before."""
    page.run("document.querySelector('#message').textContent = ''")
    page.run(f"document.querySelectorAll('input')[{place}].checked = true")
    page.run("document.querySelector('form').requestSubmit()")
    page.wait_for("document.querySelector('#message').textContent.includes('Your report says')")


def complaints(page: Page, address: str) -> list[str]:
    """Return all that is wrong with the page, once it shows a report and estimates."""
    page.prefer(reduced_motion="reduce")
    answer(page, address)
    found = [*unspoken(page), *unfocused(page), *page.run(MOVING)]
    for scheme in ("light", "dark"):
        page.prefer(color_scheme=scheme)
        found += [f"{scheme}, {each}" for each in page.run(PALE)]
    for width in (320, 390, 1280):
        page.resize(width, 900)
        found += [f"{width} pixels, {each}" for each in page.run(WIDE)]
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where the command writes the client and the page."""
    done = CliRunner().invoke(command_line, ["collect", "client", "-o", str(tmp_path / "static"), "--quiet"])
    assert done.exit_code == 0, done.output
    return tmp_path / "static"


@pytest.fixture
def tried(site: Site, folder: Path) -> Site:
    site.files["/try.json"] = ("application/json", (folder / "try.json").read_bytes())
    return site


def test_the_page_shows_a_report_and_an_estimate(tried: Site, chromium: Chromium) -> None:
    with chromium.page() as page:
        page.resize(390, 900)
        answer(page, f"{tried.address}/index.html")
        told = "[...document.querySelectorAll('{}')].map((each) => each.textContent)"
        line, meaning, message = (page.run(told.format(f"#{name}"))[0] for name in ("line", "meaning", "message"))
        labels = page.run(told.format("label"))
        page.run("document.querySelector('#more').click()")
        rows = page.run(told.format("#shares td"))
        choose(page, 0)
        again = page.run(told.format("#line, #message"))
    reported = labels[int(json.loads(line)["reports"]["report"][0], 16)]
    assert "nobody can tell" in meaning
    assert message == f"Done. Your report says “{reported}”."
    # Of 10,000 people; five standard errors.
    for told_share, truth in zip(rows[2::4], (50, 30, 15, 5), strict=True):
        assert abs(int(told_share.removesuffix("%")) - truth) <= 9
    assert again[1] == line
    assert "same report" in again[0]


# What is changed, and what is to be found.
BROKEN = {
    "a heading of a wrong level": (
        '<h2 id="seen">What would leave your device</h2>',
        '<h4 id="seen">A</h4>',
        "headings",
    ),
    "a message that is not told": ('<p id="asked" role="status">', '<p id="asked">', "as it changes"),
    "a table without a name": ("<caption>The same in numbers, with 95% intervals</caption>", "", "no name: table"),
    "a question outside": ('<legend id="question">A question</legend>', '<p id="question"></p>', "no group"),
    "choices without labels": ('element("label", [choice, label])', 'element("p", [choice, label])', "no name: radio"),
    "a drawing read aloud": ('<figure id="chart" aria-hidden="true">', '<figure id="chart" role="img">', "drawn"),
    "pale text": ("--ink: #1b1b1f", "--ink: #8a8a90", "light, pale: <p"),
    "a pale line in the dark": ("--line: #8f909b", "--line: #3a3b44", "dark, pale: <fieldset"),
    "a focus that is not seen": ("outline: 3px solid var(--ink)", "outline: none", "no outline"),
    "a movement": ("cursor: pointer;", "cursor: pointer; transition: opacity 1s;", "moving: <button"),
    "a wide table": ("<table>\n<caption>The", '<table style="width: 60rem">\n<caption>The', "320 pixels, wide: <table"),
}


def test_the_page_is_for_everybody(tried: Site, chromium: Chromium) -> None:
    shipped = dict(tried.files)
    with chromium.page() as page:
        assert complaints(page, f"{tried.address}/index.html") == []
    for what, (whole, broken, wanted) in BROKEN.items():
        (name,) = (name for name in ("/index.html", "/try.js") if whole.encode() in shipped[name][1])
        kind, content = shipped[name]
        assert content.decode().count(whole) == 1, what
        tried.files = {**shipped, name: (kind, content.decode().replace(whole, broken).encode())}
        with chromium.page() as page:
            found = complaints(page, f"{tried.address}/index.html")
        assert [each for each in found if wanted in each] != [], what


def test_opened_from_a_file_the_page_says_what_is_missing(folder: Path, chromium: Chromium) -> None:
    with chromium.page() as page:
        page.open((folder / "index.html").as_uri())
        assert "python3 -m http.server" in page.run("document.querySelector('#message').textContent")


def test_the_page_works_from_the_documentation_site(site: Site, chromium: Chromium, tmp_path: Path) -> None:
    extension = runpy.run_path(str(DOCS / "_extensions" / "try_page.py"))
    source = [(DOCS / "collecting.md").read_text(encoding="utf-8")]
    extension["link_to_page"](None, "docs/collecting", source)
    (link,) = re.findall(r'<a href="(.*?)">', source[0])
    extension["write_page"](SimpleNamespace(outdir=tmp_path), None)
    for path in tmp_path.glob("docs/try/*"):
        site.files[f"/{path.relative_to(tmp_path)}"] = (KINDS[path.suffix], path.read_bytes())
    with chromium.page() as page:
        answer(page, f"{site.address}/docs/{link}")
        assert page.run("document.querySelectorAll('#shares tr').length") == 4


@pytest.mark.slow
def test_the_picture_of_the_readme_can_be_drawn_again(tmp_path: Path) -> None:
    runpy.run_path(str(DOCS.parent / "tools" / "try_picture.py"))["main"](str(tmp_path / "try.png"))
    for path in (tmp_path / "try.png", DOCS / "images" / "try.png"):
        assert path.read_bytes().startswith(b"\x89PNG")
        assert 20_000 < path.stat().st_size <= 60_000
