"""Privacy parameters, units and guarantees: frozen values, without data or randomness."""

from anonhist.privacy.bounds import is_in_groups, left_out, none_left_out
from anonhist.privacy.composition import compose, in_parallel
from anonhist.privacy.epsilon import EpsilonLike, parse_epsilon
from anonhist.privacy.guarantee import Guarantee, exact_text, short_decimal
from anonhist.privacy.order_key import parse_order_key
from anonhist.privacy.protection import certainty, protection, strength, warning
from anonhist.privacy.unit import NeighboringRelation, PrivacyUnit
from anonhist.privacy.whole import parse_simulations, parse_whole_number

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
