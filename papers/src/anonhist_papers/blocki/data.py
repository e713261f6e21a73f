"""The data of these experiments: RockYou's passwords, staircases, and a graph of coauthors."""

from __future__ import annotations

import gzip
import math
from functools import cache
from importlib.resources import files

import numpy as np

import anonhist as ah
from anonhist.mechanisms import staircase_profile, zipf_profile

_SAMPLES = "anonhist_papers.blocki.samples"


@cache
def rockyou() -> ah.Profile:
    """Return the counts of RockYou's passwords.

    Examples
    --------
    >>> rockyou().n, rockyou().num_labels
    (32603388, 14344391)
    """
    text = files(_SAMPLES).joinpath("pw_rockyou.csv").read_text(encoding="utf-8")
    rows = (line.split(",") for line in text.splitlines()[1:])
    return ah.Profile.from_prevalences([(int(count), int(prevalence)) for count, prevalence in rows])


@cache
def coauthors() -> ah.graphs.Graph:
    """Return the graph of coauthors in general relativity.

    Examples
    --------
    >>> coauthors().num_nodes, coauthors().num_edges
    (5241, 14484)
    """
    packed = files(_SAMPLES).joinpath("graph_ca_grqc.txt.gz").read_bytes()
    lines = gzip.decompress(packed).decode().splitlines()
    return ah.graphs.as_graph([tuple(line.split()) for line in lines if not line.startswith("#")])


def squares(items: int, side: int) -> ah.Profile:
    """Return a staircase whose steps are squares: counts s, 2s, 3s, …, of s labels each, of at most ``items`` items.

    Examples
    --------
    >>> squares(40, 2)
    Profile(n=40, num_labels=8, {2: 2, 4: 2, 6: 2, 8: 2})
    """
    steps = max(1, (math.isqrt(8 * (items // side**2) + 1) - 1) // 2)
    return ah.Profile(np.arange(1, steps + 1) * side, np.full(steps, side))


def drawn(name: str, items: int, epsilon: float) -> ah.Profile:
    """Return data by name: of about ``items`` items, where there is a choice.

    Parameters
    ----------
    name
        ``"RockYou"``, ``"steps of one"``, ``"squares"`` with sides of 8/ε, or ``"Zipf"``.

    Examples
    --------
    >>> drawn("squares", 100, 8.0)
    Profile(n=91, num_labels=13, {1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, …})
    """
    if name == "RockYou":
        return rockyou()
    if name == "squares":
        return squares(items, math.ceil(8 / epsilon))
    return {"steps of one": staircase_profile, "Zipf": zipf_profile}[name](items)
