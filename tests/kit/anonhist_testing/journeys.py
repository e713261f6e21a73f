"""How another process shows values that it got by a pickle, and what it draws with them."""

from __future__ import annotations

from multiprocessing import get_context

from anonhist.local import Survey
from anonhist.mechanisms import CentralMechanism
from anonhist.profiles import Profile
from anonhist.randomness import SystemSource

# The number of draws: two processes draw the same by chance with a probability below 2^-64.
_DRAWS = 4
_PROFILE = Profile.from_prevalences({1: 900, 2: 400, 3: 200, 7: 100, 400: 10})


def drawn_by(values: list[object]) -> dict[str, object]:
    """Return the draws of each value with noise, by its place and name.

    Examples
    --------
    >>> list(drawn_by([SystemSource(), "text"]))
    ['0 SystemSource']
    """
    found: dict[str, object] = {}
    for place, value in enumerate(values):
        name = f"{place} {type(value).__name__}"
        if isinstance(value, SystemSource):
            found[name] = value.words(_DRAWS).tolist()
        if isinstance(value, CentralMechanism):
            found[name] = [value.release(_PROFILE).profile.partition().tolist() for _ in range(_DRAWS)]
        if isinstance(value, Survey):
            labels = ["no", "yes"] if value.name == "warner" else ["cat", "dog", "emu", "fox"]
            reports = value.randomize(labels * 100 * _DRAWS)
            found[name] = {column: numbers.tolist() for column, numbers in reports.columns.items()}
    return found


def here(values: list[object]) -> tuple[list[object], list[str], dict[str, object]]:
    """Return the values of this process, how it shows them, and what it draws with them.

    Examples
    --------
    >>> here([7])
    ([7], ['7'], {})
    """
    return values, [repr(value) for value in values], drawn_by(values)


def away(values: list[object], method: str) -> tuple[list[object], list[str], dict[str, object]]:
    """Return the same for another process, to which the values are sent.

    Parameters
    ----------
    values
        Values that can be pickled.
    method
        How the process starts: ``"spawn"`` or ``"fork"``.
    """
    with get_context(method).Pool(1) as pool:
        return pool.apply(here, (values,))
