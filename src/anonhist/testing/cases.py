"""Many cheap cases as one test: to set up and report a case takes longer than to check it."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def together(
    names: str | tuple[str, ...], values: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for each of some values, as ``pytest.mark.parametrize`` does, but all of them as one test.

    For cases that share no state: fixtures are made once for all. Every case runs, whichever fail, and those that fail
    are named by their values.

    Parameters
    ----------
    names
        Name of the parameter, or names of several.
    values
        A value for each case, or a tuple with one value for each name.

    Raises
    ------
    ValueError
        If there are no values, or not as many as names.

    Examples
    --------
    >>> @together("number", [1, 2, 3])
    ... def test_numbers_are_odd(number: int) -> None:
    ...     assert number % 2
    >>> try:
    ...     test_numbers_are_odd()
    ... except* AssertionError as failed:
    ...     print(failed.message, failed.exceptions[0].__notes__)
    1 of 3 cases failed ['case 1: number = 2']
    """
    cases = [{names: value} if isinstance(names, str) else dict(zip(names, value, strict=True)) for value in values]
    if not cases:
        raise ValueError("A test with no case shows nothing.")

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def of_all(**fixtures: Any) -> None:
            failed = list[BaseException]()
            for number, case in enumerate(cases):
                try:
                    test(**case, **fixtures)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  raised below, together
                    said = ", ".join(f"{name} = {value!r:.200}" for name, value in case.items())
                    error.add_note(f"case {number}: {said}")
                    failed.append(error)
            if failed:
                message = f"{len(failed)} of {len(cases)} cases failed"
                raise BaseExceptionGroup(message, failed)

        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in cases[0]]
        of_all.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return of_all

    return decorated
