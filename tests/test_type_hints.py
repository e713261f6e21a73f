"""The types of everything public can be looked up, as programs that read annotations do."""

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable, Iterator
from functools import cached_property
from types import ModuleType
from typing import Any

import pytest

import anonhist
from anonhist.lazy import LaterModule


def rooms() -> Iterator[ModuleType]:
    yield anonhist
    for found in pkgutil.iter_modules(anonhist.__path__):
        if not found.name.startswith("_"):
            yield importlib.import_module(f"anonhist.{found.name}")


def public() -> dict[str, Any]:
    """Return every public function and class, those of classes behind an underscore too where a public one inherits."""
    found: dict[str, Any] = {}
    for room in rooms():
        for name in getattr(room, "__all__", ()):
            value = getattr(room, name)
            if inspect.isfunction(value):
                found[f"{value.__module__}.{name}"] = value
            if inspect.isclass(value):
                for each in value.__mro__:
                    if each.__module__.startswith("anonhist."):
                        found[f"{each.__module__}.{each.__qualname__}"] = each
    return found


def functions_of(cls: type) -> Iterator[Callable[..., object]]:
    """Yield the public methods of a class and what its properties call; none that Python or a library wrote."""
    for name, member in vars(cls).items():
        if name.startswith("_") and not name.startswith("__"):
            continue
        within = {"__func__": staticmethod | classmethod, "fget": property, "func": cached_property}
        function = next((getattr(member, where) for where, kind in within.items() if isinstance(member, kind)), member)
        if inspect.isfunction(function) and function.__module__.startswith("anonhist."):
            yield function


@pytest.mark.full
def test_types_of_everything_public_can_be_looked_up() -> None:
    missing: list[str] = []
    looked_up = 0
    for name, value in public().items():
        for each in (value, *(functions_of(value) if inspect.isclass(value) else ())):
            looked_up += 1
            try:
                typing.get_type_hints(each)
            except NameError as error:
                missing.append(f"{name}: {each.__qualname__}: {error}")
    assert looked_up > 800
    assert missing == []


def test_the_types_are_those_that_are_meant() -> None:
    assert typing.get_type_hints(anonhist.release)["return"] is anonhist.Release
    assert typing.get_type_hints(anonhist.Release)["profile"] is anonhist.Profile
    # Inherited from a class in another module, which names the type.
    epsilon = typing.get_type_hints(anonhist.local.KRR.__init__)["epsilon"]
    assert epsilon == typing.get_type_hints(anonhist.local.Survey)["epsilon"]


def test_a_module_is_imported_when_a_type_in_it_is_looked_up() -> None:
    from pyarrow import Table

    assert typing.get_type_hints(anonhist.Release.to_arrow) == {"return": Table}
    absent = LaterModule("anonhist.absent")
    with pytest.raises(ModuleNotFoundError, match=r"anonhist\.absent"):
        absent.Type  # noqa: B018
