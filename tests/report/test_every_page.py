"""Every page, of a release, a comparison or a curve: whole by itself, well formed, loading and running nothing."""

import re
from collections.abc import Callable
from typing import Any

import pytest

LOADS = {"src", "href", "xlink:href", "action", "data", "poster", "srcset", "background", "formaction"}


# One test a page: to make a page takes much longer than to look at it.
@pytest.mark.slow
def test_is_well_formed_loads_nothing_and_leads_nowhere_else(any_page: str, reader_of: Callable[[str], Any]) -> None:
    read = reader_of(any_page)
    assert any_page.startswith("<!doctype html>")
    assert [len(read.all(tag)) for tag in ("html", "head", "body", "main", "h1", "title")] == [1] * 6
    assert "$" not in any_page.partition("</style>")[2]
    assert_nothing_is_loaded_and_nothing_runs(any_page, read)
    assert_names_are_unique_and_references_lead_somewhere(any_page, read)


def assert_nothing_is_loaded_and_nothing_runs(page: str, read: Any) -> None:
    for tag, attributes in read.elements:
        assert tag not in {"script", "iframe", "object", "embed", "img", "form", "base"}
        for name, value in attributes.items():
            assert not name.startswith("on")
            if name in LOADS:
                assert value.startswith(("#", "data:")), (tag, name)
            elif "//" in value:
                assert name.startswith("xmlns"), (tag, name, value)
    assert all(target.startswith("#") for target in re.findall(r"url\((.*?)\)", page))
    assert "@import" not in page
    # The page forbids itself to load anything, should one of these ever slip in.
    policies = [each for each in read.all("meta") if each.get("http-equiv") == "Content-Security-Policy"]
    assert policies[0]["content"].startswith("default-src 'none'")


def assert_names_are_unique_and_references_lead_somewhere(page: str, read: Any) -> None:
    names = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(names) == len(set(names))
    references = re.findall(r'(?:href="|url\()#([^")]+)', page)
    assert references
    assert set(references) <= set(names)
