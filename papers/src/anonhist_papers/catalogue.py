"""The papers by the names that a user types; each is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anonhist_papers.experiment import Paper

PAPERS = {
    "suresh": "Differentially private anonymized histograms (Suresh 2019)",
    "blocki": "Differentially private integer partitions and their applications (2016)",
    "inspectre": "INSPECTRE: privately estimating the unseen (Acharya et al. 2018)",
    "kairouz": "Discrete distribution estimation under local privacy (2016)",
    "wu-pagh": "Profile reconstruction from private sketches (2024)",
}


def load_paper(name: str) -> Paper:
    """Return a paper with its experiments.

    Examples
    --------
    >>> load_paper("inspectre").experiments[0].place
    'Theorem 1'
    """
    paper: Paper = import_module(f"anonhist_papers.{name.replace('-', '_')}").PAPER
    return paper
