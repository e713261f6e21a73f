"""Frozen values: parsed once, on construction; compared, pickled and copied by their fields alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ForwardRef, Generic, ParamSpec, TypeVar, cast, dataclass_transform, overload

if TYPE_CHECKING:
    from types import EllipsisType
    from typing import Concatenate, Literal, Never

Given = TypeVar("Given")
Kept = TypeVar("Kept")
Value = TypeVar("Value")
Rest = ParamSpec("Rest")
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


# The type of a field that stores its argument unchanged, or refuses it.
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
    convert: Callable[[Any, Given], Kept],
    *,
    default: Given | EllipsisType = ...,
    shown: bool = True,
    compare: bool = True,
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
    return cast("Converted[Given, Kept]", field(**named, repr=shown, compare=compare, metadata={_KEY: convert}))


def named(
    convert: Callable[Concatenate[Given, ...], Kept], *, default: Given | EllipsisType = ..., **limits: Any
) -> Converted[Given, Kept]:
    """Return a field that stores ``convert(given, name=…, **limits)``: errors name the field.

    Examples
    --------
    >>> @frozen
    ... class Root:
    ...     of: Converted[int, float] = named(lambda given, *, name, most: min(given, most) ** 0.5, most=9)
    >>> Root(16)
    Root(of=3.0)
    """
    made: Any = completed(lambda _, given: convert(given, name=made.name, **limits), default=default)
    return cast("Converted[Given, Kept]", made)


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


def optional(
    convert: Callable[Concatenate[Given, Rest], Kept],
) -> Callable[Concatenate[Given | None, Rest], Kept | None]:
    """Return a conversion that leaves None unchanged.

    Examples
    --------
    >>> list(map(optional(int), ["3", None]))
    [3, None]
    """
    return lambda given, /, *rest, **named: None if given is None else convert(given, *rest, **named)


@overload
def frozen(cls: type[Value], /) -> type[Value]: ...


@overload
def frozen(**options: bool) -> Callable[[type[Value]], type[Value]]: ...


@dataclass_transform(field_specifiers=(field, converted, completed, named, derived))
def frozen(cls: type[Any] | None = None, /, **options: bool) -> Any:
    """Make a frozen dataclass whose fields may be :class:`Converted`; options are those of ``dataclass``.

    Two instances are equal if their fields are: arrays by type and content, and NaN equals NaN. Pickles and deep copies
    hold only the fields, nothing computed from them, and their arrays are read-only.

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
    by_fields = options.get("eq", True) and "__eq__" not in vars(cls)
    made: Any = dataclass(frozen=True, **options)(cls)
    if by_fields:
        made.__eq__, made.__hash__ = equal_fields, hash_fields
    made.__copy__, made.__getstate__, made.__setstate__ = _itself, _state, _restore
    for each in fields(made):
        if _KEY in each.metadata and each.name in cls.__annotations__:
            setattr(made, each.name, Converted(each.name, each.metadata[_KEY]))
    _say_where_types_are(made)
    made.__init_subclass__ = classmethod(partial(_check_subclass, made, vars(made).get("__init_subclass__")))
    return made


def _say_where_types_are(cls: type[Any]) -> None:
    """Name the modules of inherited parameters' types: ``get_type_hints`` looks only in the class's own module."""
    types: dict[str, Any] = vars(cls)["__init__"].__annotations__ if "__init__" in vars(cls) else {}
    for parent in cls.__mro__[1:]:
        for name in vars(parent).get("__annotations__", {}).keys() - cls.__annotations__.keys():
            if isinstance(types.get(name), str):
                types[name] = ForwardRef(types[name], module=parent.__module__)


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


def equal_fields(self: Any, other: object) -> Any:
    """Compare two values by their fields, as :func:`frozen` says."""
    if type(self) is not type(other):
        return NotImplemented
    return all(_equal(getattr(self, each.name), getattr(other, each.name)) for each in _given(self) if each.compare)


def hash_fields(self: Any) -> int:
    """Hash a value by its fields."""
    return hash((type(self), *(_hash(getattr(self, each.name)) for each in _given(self) if each.compare)))


def _itself(self: Any) -> Any:
    return self


def _state(self: Any) -> dict[str, object]:
    return {each.name: vars(self)[each.name] for each in _given(self)}


def _restore(self: Any, state: dict[str, object]) -> None:
    _make_read_only(state)
    vars(self).update(state)


def _given(value: Any) -> list[Field[Any]]:
    """Return the fields that are set on construction; derived fields follow from these."""
    return [each for each in fields(value) if not isinstance(each.default, cached_property)]


def _is_array(part: Any) -> bool:
    # Arrays are recognized by their attributes, because importing NumPy would slow every start of the command line.
    return getattr(part, "ndim", 0) > 0 and hasattr(part, "setflags")


def _equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if _is_array(one) or _is_array(other):
        if type(one) is not type(other) or one.dtype != other.dtype or one.shape != other.shape:
            return False
        return bool(((one == other) | ((one != one) & (other != other))).all())  # noqa: PLR0124  # as NaN does
    if isinstance(one, tuple | list):
        return type(one) is type(other) and len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    return bool(one == other or (one != one and other != other))  # noqa: PLR0124  # as NaN does


def _hash(part: Any) -> int:
    if _is_array(part):
        # Equal floating-point numbers may differ in their bytes: 0.0 and -0.0.
        return hash((part.shape, part.tobytes() if part.dtype.kind in "biu" else b""))
    if isinstance(part, tuple | list):
        return hash(tuple(map(_hash, part)))
    if isinstance(part, Mapping):
        return hash(frozenset(part))
    return hash(part) if part == part else 0  # noqa: PLR0124  # as NaN does not


def _make_read_only(part: Any) -> None:
    if _is_array(part):
        part.setflags(write=False)
    elif isinstance(part, tuple | list | dict):
        for each in part.values() if isinstance(part, dict) else part:
            _make_read_only(each)
