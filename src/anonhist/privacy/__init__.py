"""Privacy parameters, units and guarantees: frozen values, without data or randomness."""

from anonhist.privacy.guarantee import Guarantee, compose, exact_text, in_parallel, short_decimal
from anonhist.privacy.parameters import (
    EpsilonLike,
    certainty,
    parse_epsilon,
    parse_simulations,
    parse_whole_number,
    protection,
    strength,
    warning,
)
from anonhist.privacy.unit import (
    NeighboringRelation,
    PrivacyUnit,
    is_in_groups,
    left_out,
    none_left_out,
    parse_order_key,
)

__all__ = [
    "EpsilonLike",
    "Guarantee",
    "NeighboringRelation",
    "PrivacyUnit",
    "certainty",
    "compose",
    "exact_text",
    "in_parallel",
    "is_in_groups",
    "left_out",
    "none_left_out",
    "parse_epsilon",
    "parse_order_key",
    "parse_simulations",
    "parse_whole_number",
    "protection",
    "short_decimal",
    "strength",
    "warning",
]
