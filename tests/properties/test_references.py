"""Every estimator says where it comes from."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import anonhist.properties

ROOT = Path(__file__).parents[2]
_PAGE = (ROOT / "docs" / "reference" / "references.md").read_text(encoding="utf-8")
WORKS = re.findall(r"^- \*\*(.+?)\*\*: ", _PAGE, re.MULTILINE)
# Of the first there is nothing to cite, the others are made of estimators that say it.
WITHOUT_SOURCE = {"Observed", "estimate_all"}


def estimators() -> Iterator[tuple[str, object]]:
    """Yield the public functions, and all classes that estimate a point and have a name."""
    for name in anonhist.properties.__all__:
        value = getattr(anonhist.properties, name)
        if inspect.isfunction(value) and value.__module__.startswith("anonhist.properties."):
            yield name, value
    for module in pkgutil.walk_packages(anonhist.properties.__path__, "anonhist.properties."):
        for name, value in vars(importlib.import_module(module.name)).items():
            is_ours = inspect.isclass(value) and value.__module__ == module.name and name[0] != "_"
            is_ours = is_ours and not inspect.isabstract(value)
            if is_ours and hasattr(value, "point") and isinstance(getattr(value, "name", None), str):
                yield name, value


def test_every_estimator_says_where_it_comes_from() -> None:
    found = dict(estimators())
    assert len(found) > 40
    missing = {name for name, value in found.items() if not _cited(value.__doc__ or "")}
    assert missing == WITHOUT_SOURCE


def _cited(text: str) -> set[str]:
    """Return which works of the page of references a text names."""
    words = " ".join(text.split())
    return {key for key in WORKS if key in words}


def test_the_page_lists_what_is_cited_and_nothing_else() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")]
    assert len(WORKS) == len(set(WORKS)) > 70
    assert set(WORKS) == {key for text in texts for key in _cited(text)}
    sources = [words for text in texts for words in re.findall(r"^ *Source: (.+)", text, re.MULTILINE)]
    assert len(sources) > 60
    assert [words for words in sources if not _cited(words) and not words.startswith("the ")] == []
