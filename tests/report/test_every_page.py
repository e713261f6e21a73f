"""Every page, of a release, a comparison or a curve: whole by itself, well formed, loading and running nothing."""

import re
from collections.abc import Callable
from typing import Any

import pytest

LOADS = {"src", "href", "xlink:href", "action", "data", "poster", "srcset", "background", "formaction"}


@pytest.fixture
def read(any_page: str, reader_of: Callable[[str], Any]) -> Any:
    return reader_of(any_page)


@pytest.mark.slow
def test_is_well_formed(any_page: str, read: Any) -> None:
    assert any_page.startswith("<!doctype html>")
    assert [len(read.all(tag)) for tag in ("html", "head", "body", "main", "h1", "title")] == [1] * 6
    assert "$" not in any_page.partition("</style>")[2]


@pytest.mark.slow
def test_nothing_is_loaded_and_nothing_runs(any_page: str, read: Any) -> None:
    for tag, attributes in read.elements:
        assert tag not in {"script", "iframe", "object", "embed", "img", "form", "base"}
        for name, value in attributes.items():
            assert not name.startswith("on")
            if name in LOADS:
                assert value.startswith(("#", "data:")), (tag, name)
            elif "//" in value:
                assert name.startswith("xmlns"), (tag, name, value)
    assert all(target.startswith("#") for target in re.findall(r"url\((.*?)\)", any_page))
    assert "@import" not in any_page
    # The page forbids itself to load anything, should one of these ever slip in.
    policies = [each for each in read.all("meta") if each.get("http-equiv") == "Content-Security-Policy"]
    assert policies[0]["content"].startswith("default-src 'none'")


@pytest.mark.slow
def test_names_are_unique_and_references_lead_somewhere(any_page: str, read: Any) -> None:
    names = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(names) == len(set(names))
    references = re.findall(r'(?:href="|url\()#([^")]+)', any_page)
    assert references
    assert set(references) <= set(names)
