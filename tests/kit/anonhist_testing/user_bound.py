"""Which items of each user are kept, and how many there were: an oracle for every engine that bounds users."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from hashlib import md5
from math import floor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


def kept_items(
    rows: Iterable[tuple[str | None, str | None, str | None]], *, bound: int, key: str, keep_null: bool = False
) -> Counter[str | None]:
    """Return how often each label is kept, from rows (user, label, order).

    Parameters
    ----------
    rows
        Rows without a user are left out. The order is text, or None in all rows if a sample is drawn.
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
        if all(not by for by, _ in own):
            kept.update(sample([label for _, label in own], bound=bound, start_text=f"{key} {user}"))
            continue
        numbers: Counter[str | None] = Counter()
        ranked = []
        for by, label in sorted(own, key=lambda row: row[0]):
            numbers[label] += 1
            text = f"{key}{numbers[label]} {user}\n" + ("" if label is None else f"={label}")
            ranked.append((by, md5(text.encode(), usedforsecurity=False).hexdigest(), label))
        kept.update(label for *_, label in sorted(ranked, key=lambda row: row[:2])[:bound])
    return kept


def sample(rows: list[Any], *, bound: int, start_text: str) -> list[Any]:
    """Return a systematic sample of rows, or all rows if there are few: the definition, with fractions.

    Rows are texts, with None first, or tuples of texts. The circle is as long as there are rows; ``bound`` points at
    equal distances around it, from a start of its own, keep the rows in which they fall.

    Examples
    --------
    >>> sample(["b", "a"], bound=2, start_text="k u"), len(sample(list("abcde"), bound=2, start_text="k u"))
    (['a', 'b'], 2)
    """
    ordered = sorted(rows, key=lambda row: (row is not None, row or ""))
    if len(ordered) <= bound:
        return ordered
    start = int(md5(start_text.encode(), usedforsecurity=False).hexdigest()[:12], 16) % len(ordered)
    ends = [Fraction(number * bound + start, len(ordered)) for number in range(len(ordered) + 1)]
    return [row for row, low, high in zip(ordered, ends, ends[1:], strict=False) if floor(low) < floor(high)]


def items_of_users(
    rows: Iterable[tuple[str | None, str | None, str | None]], *, keep_null: bool = False
) -> Counter[str]:
    """Return how many items each user has before any bound, from rows as above, without users who have no item.

    Examples
    --------
    >>> items_of_users([("u", "a", None), ("u", None, None), ("v", None, None), (None, "b", None)])
    Counter({'u': 1})
    """
    return Counter(user for user, label, _ in rows if user is not None and (keep_null or label is not None))


def kept_groups(pairs: Iterable[tuple[str, str]], *, most: int, key: str, number: int = 0) -> set[tuple[str, str]]:
    """Return the kept pairs (user, group), at most ``most`` groups for each user.

    Parameters
    ----------
    pairs
        The groups in which each user has an item.
    most
        The most groups in which a user counts.
    key
        32 hexadecimal digits.
    number
        The number that is hashed before the user: 0, or 1 for labels, which take the place of users.

    Examples
    --------
    >>> len(kept_groups([("u", "DE"), ("u", "FR"), ("v", "FR")], most=1, key="0" * 32))
    2
    """
    of_user: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for user, group in pairs:
        text = f"{key}{number} {user}\n={group}"
        of_user[user].add((md5(text.encode(), usedforsecurity=False).hexdigest(), group))
    return {(user, group) for user, groups in of_user.items() for _, group in sorted(groups)[:most]}
