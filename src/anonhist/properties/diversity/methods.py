"""Ways to estimate a power sum, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from anonhist.errors import UsageError
from anonhist.properties.diversity.chao_jost import ChaoJostSum
from anonhist.properties.diversity.order_sum import check_order
from anonhist.properties.diversity.plug_in import PlugInSum
from anonhist.properties.diversity.power_sum import UnbiasedSum
from anonhist.properties.options import check_method

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.properties.diversity.order_sum import OrderSum, SumEstimator
    from anonhist.properties.estimator import Point

DiversityMethod = Literal["chao-jost", "plug-in", "unbiased"]
DIVERSITY_METHODS: tuple[str, ...] = get_args(DiversityMethod)


def sum_estimator(order: object, method: str | None, scale: Callable[[OrderSum], Point], *, of: str) -> SumEstimator:
    """Return the estimator of this order and method, ``chao-jost`` by default, on a scale.

    Examples
    --------
    >>> from anonhist.properties.diversity.order_sum import OrderSum
    >>> sum_estimator(2, None, OrderSum.as_hill, of="Hill numbers").name
    'chao-jost'
    """
    number, name = check_order(order), method or "chao-jost"
    check_method(name, DIVERSITY_METHODS, of=of)
    if name == "plug-in":
        return PlugInSum(number, scale)
    if name == "chao-jost":
        return ChaoJostSum(number, scale)
    if number < 2 or not number.is_integer():
        message = f"Only whole orders of at least 2 have an unbiased estimator, not {number:g}; use chao-jost."
        raise UsageError(message)
    return UnbiasedSum(number, scale)
