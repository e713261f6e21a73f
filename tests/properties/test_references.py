"""Every estimator says where it comes from."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import anonhist.properties

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
    missing = {name for name, value in found.items() if "References\n" not in (value.__doc__ or "")}
    assert missing == WITHOUT_SOURCE


def test_sources_are_numbered_from_one() -> None:
    for name, value in estimators():
        _, _, cited = (value.__doc__ or "").partition("References\n")
        numbers = [
            int(line.split("]")[0][len(".. [") :]) for line in map(str.strip, cited.splitlines()) if ".. [" in line
        ]
        assert numbers == list(range(1, len(numbers) + 1)), name
