"""From options to values."""

from __future__ import annotations

import re
import shlex
from decimal import Decimal, InvalidOperation

from anonhist.errors import UsageError
from anonhist.privacy import PrivacyUnit

_URL = re.compile(r"(?P<scheme>.*?://)(?P<rest>.*)", re.DOTALL)
_DATABASE_USER = re.compile(r"[\w.-]+:")
_DATABASES = ("postgres://", "postgresql://")


def privacy_unit(unit: str | None, *, max_per_user: int | None, max_count: int | None) -> PrivacyUnit | None:
    """Return the unit that the options name, or None where they leave it to the data."""
    if max_count is not None and unit != "label":
        raise UsageError("--max-count belongs to --unit label.")
    if unit == "label":
        if max_count is None:
            raise UsageError("--unit label needs --max-count C: counts from C on are taken together.")
        if max_per_user is not None:
            raise UsageError("--unit label protects labels, --max-per-user bounds users: choose one of the two.")
        return PrivacyUnit.label(max_count=max_count)
    if unit == "user":
        if max_per_user is None:
            raise UsageError("--unit user needs --max-per-user M: how many items of one user may count.")
        return PrivacyUnit.user(max_items=max_per_user)
    return PrivacyUnit.item() if unit == "item" else None


def whole_number(text: str | None, *, name: str) -> int | None:
    """Read a whole number that may be written like 1e9."""
    if text is None:
        return None
    try:
        number = Decimal(text.replace("_", "").replace(",", ""))
    except InvalidOperation:
        number = Decimal("NaN")
    if number.is_finite() and number >= 2**63:
        message = f"{name} must be below 2^63, about 9.2e18, not {text!r}."
        raise UsageError(message)
    if not number.is_finite() or number < 1 or number != number.to_integral_value():
        message = f"{name} must be a whole number of at least 1, such as 1000000 or 1e6, not {text!r}."
        raise UsageError(message)
    return int(number)


def one_character(delimiter: str | None) -> str | None:
    """Read a delimiter; a tab may be written as in most programs, with a backslash."""
    return "\t" if delimiter == "\\t" else delimiter


def command_to_publish(arguments: tuple[str, ...]) -> str:
    r"""Write the command as typed, but for what may be secret in URLs: a report is made to be shown to others.

    Examples
    --------
    >>> command_to_publish(("release", "postgresql://me:se@cret@db/shop", "--table", "my orders"))
    "anonhist release 'postgresql://me:***@db/shop' --table 'my orders'"
    """
    return shlex.join(["anonhist", *map(_without_secrets, arguments)])


def _without_secrets(argument: str) -> str:
    """Mask what may be secret in a URL: who logs in, but for the user of a database, and the values of the query.

    Passwords may be typed as they are, so the user information ends at the last @, whatever comes before.
    """
    url = _URL.fullmatch(argument)
    if url is None:
        return argument
    scheme, rest = url["scheme"], url["rest"]
    before, mark, query = rest.partition("?")
    if "@" in query:
        # The question mark may belong to a password, or the @ to a value: nothing after it is known to be public.
        return f"{scheme}***"
    user_information, at, place = before.rpartition("@")
    if at:
        user = _DATABASE_USER.match(user_information) if scheme.endswith(_DATABASES) else None
        place = f"{user[0] if user else ''}***@{place}"
    values = (f"{name}=***" if equals else "***" for name, equals, _ in map(_parted, re.split("[&;]", query)))
    return scheme + (place if at else before) + (mark + "&".join(values) if query else mark)


def _parted(parameter: str) -> tuple[str, str, str]:
    return parameter.partition("=")
