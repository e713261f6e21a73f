"""Which items of each user are kept, and how many there were: an oracle for every engine that bounds users."""

from __future__ import annotations

from collections import Counter, defaultdict
from hashlib import md5
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def kept_items(
    rows: Iterable[tuple[str | None, str | None, str | None]], *, bound: int, key: str, keep_null: bool = False
) -> Counter[str | None]:
    """Return how often each label is kept of rows (user, label, what to order by).

    Parameters
    ----------
    rows
        Without a user they are left out. What to order by is text, or None in all rows where only the hash orders.
    bound
        How many items of each user are kept.
    key
        32 hexadecimal digits.
    keep_null
        Whether rows without a label are items.

    Examples
    --------
    >>> kept_items([("u", "a", None), ("u", "a", None), (None, "b", None)], bound=1, key="0" * 32)
    Counter({'a': 1})
    """
    of_user: defaultdict[str, list[tuple[str, str | None]]] = defaultdict(list)
    for user, label, by in rows:
        if user is not None and (keep_null or label is not None):
            of_user[user].append((by or "", label))
    kept: Counter[str | None] = Counter()
    for user, own in of_user.items():
        numbers: Counter[str | None] = Counter()
        ranked = []
        for by, label in sorted(own, key=lambda row: row[0]):
            numbers[label] += 1
            text = f"{key}{numbers[label]} {user}\n" + ("" if label is None else f"={label}")
            ranked.append((by, md5(text.encode(), usedforsecurity=False).hexdigest(), label))
        kept.update(label for *_, label in sorted(ranked, key=lambda row: row[:2])[:bound])
    return kept


def items_of_users(
    rows: Iterable[tuple[str | None, str | None, str | None]], *, keep_null: bool = False
) -> Counter[str]:
    """Return how many items each user has before any bound, of rows as above; users without an item are not there.

    Examples
    --------
    >>> items_of_users([("u", "a", None), ("u", None, None), ("v", None, None), (None, "b", None)])
    Counter({'u': 1})
    """
    return Counter(user for user, label, _ in rows if user is not None and (keep_null or label is not None))
