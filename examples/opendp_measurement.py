"""A release as a measurement of OpenDP, which composes two of them."""

import math
from fractions import Fraction

import opendp.prelude as dp

import anonhist as ah

dp.enable_features("contrib", "honest-but-curious")


def make_profile_release(epsilon: Fraction) -> dp.Measurement:
    def release(labels: list[str]) -> ah.Release:
        return ah.release(ah.Profile.from_labels(labels), epsilon=epsilon, mechanism="frobenius")

    def privacy_map(items: int) -> float:  # how many items are added or removed
        exact = epsilon * items
        return float(exact) if Fraction(float(exact)) >= exact else math.nextafter(float(exact), math.inf)

    return dp.m.make_user_measurement(
        input_domain=dp.vector_domain(dp.atom_domain(T=str)),
        input_metric=dp.symmetric_distance(),
        output_measure=dp.max_divergence(),
        function=release,
        privacy_map=privacy_map,
    )


measurement = make_profile_release(Fraction("0.3"))
both = dp.c.make_composition([measurement, make_profile_release(Fraction("0.2"))])
first, second = both(["zebra", "heron", "zebra"])
print(both.check(d_in=1, d_out=0.5001))  # True; OpenDP rounds upward, too
