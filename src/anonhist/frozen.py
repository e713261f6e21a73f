"""Frozen values with fields that accept more types than they store: parsed once, when the value is made."""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, dataclass_transform, overload

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import EllipsisType
    from typing import Literal, Never

Given = TypeVar("Given")
Kept = TypeVar("Kept")
Value = TypeVar("Value")
Given_contra = TypeVar("Given_contra", contravariant=True)
Kept_co = TypeVar("Kept_co", covariant=True)
_KEY = "converted"


class Converted(Generic[Given_contra, Kept_co]):
    """The type of a field: the accepted type and the stored type.

    Type checkers read the first from ``__set__``, the second from ``__get__``. At run time there is no ``__get__``, so
    Python reads the instance's dictionary, without a call.
    """

    def __init__(self, name: str, convert: Callable[[Any, Given_contra], Kept_co]) -> None:
        self._name, self._convert = name, convert

    def __set__(self, instance: Never, given: Given_contra) -> None:
        # Only constructors get here: type checkers refuse assignments, because no instance has the type Never.
        kept: dict[str, object] = vars(cast("object", instance))
        kept[self._name] = self._convert(instance, given)

    if TYPE_CHECKING:

        def __get__(self, instance: object, owner: type | None = None) -> Kept_co: ...


# The type of a field that stores what it is given, or refuses it.
Checked = Converted[Given, Given]


def converted(
    convert: Callable[[Given], Kept], *, default: Given | EllipsisType = ..., shown: bool = True
) -> Converted[Given, Kept]:
    """Return a field of a :func:`frozen` class that stores ``convert(given)``.

    Examples
    --------
    >>> @frozen
    ... class Share:
    ...     of: Converted[str, float] = converted(float, default="0.5")
    >>> Share("0.25"), Share()
    (Share(of=0.25), Share(of=0.5))
    """
    return completed(lambda _, given: convert(given), default=default, shown=shown)


def completed(
    convert: Callable[[Any, Given], Kept], *, default: Given | EllipsisType = ..., shown: bool = True
) -> Converted[Given, Kept]:
    """Return a field that stores ``convert(instance, given)``; earlier fields are already set.

    Examples
    --------
    >>> @frozen
    ... class Interval:
    ...     low: int
    ...     high: Converted[int | None, int] = completed(lambda self, high: high or self.low + 1, default=None)
    >>> Interval(3), Interval(3, 5)
    (Interval(low=3, high=4), Interval(low=3, high=5))
    """
    named: dict[str, Any] = {} if default is ... else {"default": default}
    return cast("Converted[Given, Kept]", field(**named, repr=shown, metadata={_KEY: convert}))


def derived(compute: Callable[[Any], Kept], *, init: Literal[False] = False) -> Converted[Any, Kept]:
    """Return a field that is computed from the others.

    Examples
    --------
    >>> @frozen
    ... class Square:
    ...     side: int
    ...     area: Converted[Any, int] = derived(lambda self: self.side**2)
    >>> Square(3)
    Square(side=3, area=9)
    """
    return cast("Converted[Any, Kept]", field(init=init, default=cached_property(compute)))


def optional(convert: Callable[[Given], Kept]) -> Callable[[Given | None], Kept | None]:
    """Return a conversion that leaves None unchanged.

    Examples
    --------
    >>> list(map(optional(int), ["3", None]))
    [3, None]
    """
    return lambda given: None if given is None else convert(given)


@overload
def frozen(cls: type[Value], /) -> type[Value]: ...


@overload
def frozen(**options: bool) -> Callable[[type[Value]], type[Value]]: ...


@dataclass_transform(field_specifiers=(field, converted, completed, derived))
def frozen(cls: type[Any] | None = None, /, **options: bool) -> Any:
    """Make a frozen dataclass whose fields may be :class:`Converted`; options are those of ``dataclass``.

    Examples
    --------
    >>> @frozen(kw_only=True)
    ... class Count:
    ...     of: Converted[str, int] = converted(int)
    >>> Count(of="3")
    Count(of=3)
    """
    if cls is None:
        return lambda cls: frozen(cls, **options)
    made: Any = dataclass(frozen=True, **options)(cls)
    for each in fields(made):
        if _KEY in each.metadata and each.name in cls.__annotations__:
            setattr(made, each.name, Converted(each.name, each.metadata[_KEY]))
    own = vars(made).get("__init_subclass__")
    made.__init_subclass__ = classmethod(partial(_check_subclass, made, own))
    return made


def _check_subclass(parent: type[Any], own: Any, cls: type[Any], **options: Any) -> None:
    """Refuse a field that overrides a converted one without a conversion: it would store any value."""
    if own is None:
        super(parent, cls).__init_subclass__(**options)
    else:  # the class's own hook, which calls the next one
        own.__func__(cls, **options)
    for name in cls.__annotations__:
        given = vars(cls).get(name)
        declared = isinstance(given, Field) and (_KEY in given.metadata or not given.init)
        if isinstance(getattr(parent, name, None), Converted) and not declared:
            message = f"{cls.__name__}.{name} would not be converted: declare it with converted(…) in a frozen class."
            raise TypeError(message)
