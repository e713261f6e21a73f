"""Many cheap cases in one test: reporting each case would take longer than checking it."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Check = Callable[..., None]


def each_of(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Check], Check]:
    """Return a decorator like ``pytest.mark.parametrize`` that makes one test of all cases.

    Every case is tried, even after a failure, and the failures are raised together, each with its case. Fixtures are
    made once for all cases, so use it for cases that hold for all draws, and that leave nothing behind but files: each
    case has its own ``tmp_path``.

    Examples
    --------
    >>> @each_of(("number", "root"), [(4, 2), (9, 3)])
    ... def test_roots(number, root):
    ...     assert root * root == number
    >>> test_roots()
    """
    asked = (names,) if isinstance(names, str) else names
    given = [dict(zip(asked, case if len(asked) > 1 else (case,), strict=True)) for case in cases]
    assert given, "no case"

    def decorate(check: Check) -> Check:
        @wraps(check)
        def check_all(**fixtures: Any) -> None:
            failures = []
            for number, case in enumerate(given):
                own = {}
                if "tmp_path" in fixtures:
                    own["tmp_path"] = fixtures["tmp_path"] / f"{number}"
                    own["tmp_path"].mkdir()
                try:
                    check(**(fixtures | own), **case)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  # all are raised below
                    error.add_note(f"Case {number}: {_show(case)}")
                    failures.append(error)
            if failures:
                message = f"{len(failures)} of {len(given)} cases failed"
                raise BaseExceptionGroup(message, failures)

        whole = inspect.signature(check)
        fixtures = [parameter for name, parameter in whole.parameters.items() if name not in asked]
        check_all.__signature__ = whole.replace(parameters=fixtures)  # type: ignore[attr-defined]  # pytest reads it
        return check_all

    return decorate


def _show(case: dict[str, Any]) -> str:
    try:
        return repr(case)[:500]
    except ValueError:  # whole numbers of thousands of digits are not written
        return ", ".join(case)
