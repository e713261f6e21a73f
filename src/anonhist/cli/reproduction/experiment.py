"""What ``anonhist reproduce`` asks of the experiments of a paper."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure
    from rich.table import Table


class Experiment(ABC):
    """One paper: how its experiments are run, drawn and summed up."""

    figures: ClassVar[tuple[str, ...]]
    usual_trials: ClassVar[int]

    @abstractmethod
    def steps(self, trials: int) -> int:
        """Return how often ``advance`` is called in all."""

    @abstractmethod
    def run(self, trials: int, advance: Callable[[], None]) -> Sequence[Any]:
        """Return the rows of the CSV, dataclasses of one kind."""

    @abstractmethod
    def figure(self, name: str, rows: Sequence[Any]) -> Figure:
        """Draw one of the figures."""

    @abstractmethod
    def summary(self, rows: Sequence[Any], table: Table) -> str:
        """Fill the table that is shown at the end, and return what is said below it."""
