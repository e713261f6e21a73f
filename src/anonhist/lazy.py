"""Packages that load a name on first use, as listed in their stub, which type checkers read, too.

The stub has one line per name, ``from place import name as name``. This is SPEC 1 of Scientific Python, with a lock.
"""

from __future__ import annotations

import sys
from importlib import import_module
from threading import RLock
from types import ModuleType

# Python locks modules one by one: if two threads load a package, one by its name and one by one of its modules, they
# could deadlock, and one would fail.
_LOADING = RLock()


class LazyPackage(ModuleType):
    """A package whose public names are those of its stub."""

    _places: dict[str, str]

    def __getattr__(self, name: str) -> object:
        """Load a name from the place in the stub; names from the package itself are its modules."""
        place = self._places.get(name)
        if place is None:
            rooms = " and ".join(self._rooms_of(name))
            message = f"module {self.__name__!r} has no attribute {name!r}" + (f"; it is in {rooms}" if rooms else "")
            raise AttributeError(message, name=name, obj=self)
        with _LOADING:
            if place == self.__name__:
                return import_module(f"{place}.{name}")
            self.__dict__[name] = value = getattr(import_module(place), name)
        return value

    def _rooms_of(self, name: str) -> list[str]:
        """Return the modules of the package whose text lists a name; loading them to find out would take seconds."""
        if name.startswith("_"):
            return []
        from pathlib import Path

        def lists(room: str) -> bool:
            here = Path(self.__path__[0])
            files = (*here.glob(f"{room}.py"), *here.glob(f"{room}/__init__.py*"))
            texts = [file.read_text(encoding="utf-8") for file in files]
            return any(f'"{name}"' in text or f" as {name}\n" in text for text in texts)

        rooms = sorted(room for room, place in self._places.items() if place == self.__name__)
        return [f"{self.__name__}.{room}" for room in rooms if lists(room)]

    def __setattr__(self, name: str, value: object) -> None:
        """Keep a module, which Python sets when it is loaded, from hiding the function of the same name."""
        if not isinstance(value, ModuleType) or self._places.get(name, self.__name__) == self.__name__:
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle and copy by name, so that functions that use the package can be sent to other processes."""
        return import_module, (self.__name__,)

    def __dir__(self) -> list[str]:
        """List the public names."""
        return sorted(self._places)


class LaterModule:
    """A module whose types annotations name: it is imported when ``typing.get_type_hints`` looks one up.

    For modules that are slow to import, are optional, or import the module with the annotation. Type checkers read an
    import in the ``if TYPE_CHECKING`` beside it.

    Examples
    --------
    >>> LaterModule("fractions").Fraction
    <class 'fractions.Fraction'>
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        return getattr(import_module(self._name), name)


def load_lazily(name: str) -> None:
    """Make a package that is being imported load the names of its stub on first use."""
    package = sys.modules[name]
    # Importing pathlib would take longer than everything else here.
    with open(f"{package.__path__[0]}/__init__.pyi", encoding="utf-8") as stub:  # noqa: PTH123
        imports = [line.split() for line in stub if line.startswith("from ")]
    places = {words[-1]: words[1] for words in imports}
    package.__dict__.update(_places=places, __all__=sorted(name for name in places if name[0] != "_"))
    package.__class__ = LazyPackage
