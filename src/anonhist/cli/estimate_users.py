"""Private estimates that need the rows of users, not a profile, and protect users with any number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.errors import UsageError
from anonhist.terminal.decorators import refuse_given
from anonhist.terminal.reading import held_source, one_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.profiles.user_labels import UserLabels
    from anonhist.properties.estimate import Estimates
    from anonhist.terminal.output import Bars
    from anonhist.terminal.protection import Protection

    Question = Callable[[UserLabels, Callable[[float], None] | None], Estimates]

_FOREIGN = ("unit", "max_count", "known_items", "order_by", "order_key", "group")


def check_of_users(name: str, sources: tuple[str, ...], options: dict[str, Any], user: str | None) -> None:
    """Refuse an estimate that nothing private would pay for, whose users are unknown, or with options of others."""
    foreign = sorted(options)
    if foreign:
        raise UsageError(f"`{foreign[0]}` does not apply to {name}; leave it out.")
    refuse_given(_FOREIGN, f"{{}} does not apply to {name}, which protects users with all their rows: leave it out.")
    one_source(sources, f"estimate of {name}")
    if user is None:
        raise UsageError(f"{name} needs `user`: the column of the users to protect.")


def question_of_users(
    name: str, epsilon: str | None, protection: Protection, level: float
) -> tuple[Question, dict[str, Any]]:
    """Return the estimate from the labels of users, and its public parameters."""
    from anonhist.mechanisms.estimators.num_labels import USUAL_MOST, NumLabelsMechanism
    from anonhist.numeric.pulse import tell_share
    from anonhist.properties.estimate import Estimates

    if epsilon is None:
        raise UsageError(f"There is only a private estimate of {name}: give its budget (`epsilon`).")
    most = USUAL_MOST if protection.max_per_user is None else protection.max_per_user
    mechanism = NumLabelsMechanism(epsilon, protection.relation, max_per_user=most, level=level)

    def answer(held: UserLabels, progress: Callable[[float], None] | None) -> Estimates:
        with tell_share(progress, 0.0, 1.0):
            return Estimates(((name, mechanism.estimate(held)),))

    return answer, {"max_per_user": most, "level": level}


def labels_of_users(source: str, reading: dict[str, Any], bars: Bars) -> UserLabels:
    """Read the source according to the options."""
    from anonhist.ingest.user_labels import read_user_labels

    held, said = held_source(source, reading)
    told = {key: value for key, value in said.items() if key not in _FOREIGN}
    return read_user_labels(held, progress=bars.reading, **told)
