"""Calls for a type checker alone, which `make check` runs: the documented ones it accepts, the wrong ones it refuses.

What a wrong call is refused for stands beside it; a checker that accepted it would call the remark unused.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, assert_type

import numpy as np

from anonhist.graphs import BoundedDegrees, Direction, EdgePolicy, EdgePrivacy, NodePrivacy, release_degrees
from anonhist.ingest import read_profile
from anonhist.ingest.groups.read import read_groups
from anonhist.ingest.windows import read_cumulative
from anonhist.local import KRR, RAPPOR, Alphabet, HeavyHitters, Holm, LocalHashing, Projected, SubsetSelection
from anonhist.mechanisms import (
    BudgetShares,
    CumulativeMechanism,
    FrobeniusMechanism,
    PrevalenceMechanism,
    PrivHistMechanism,
    RelaxedPartitionMechanism,
    compare,
    plan,
    release,
)
from anonhist.mechanisms.estimators.entropy import EntropyMechanism
from anonhist.mechanisms.estimators.support import SupportCoverageMechanism
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.private import entropy as private_entropy
from anonhist.private import num_labels
from anonhist.profiles import Profile
from anonhist.properties import guessing_success, guesswork, work_factor
from anonhist.releases import Release
from anonhist.sketches import DomainSketch, HashedSketch, NoiseShare

if TYPE_CHECKING:
    from anonhist.graphs import Degrees, Graph
    from anonhist.local import Survey, Tally


def reading() -> None:
    assert_type(read_profile("a.csv", label="word", count="reads"), Profile)
    assert_type(read_profile("a.csv", label="word", count="none", user="who", max_per_user=5), Profile)
    assert_type(read_profile("a.txt", format="uniq"), Profile)
    read_groups("a.csv", label="word", count="reads", by="site", groups=["x"])
    read_cumulative("a.csv", label="word", count="reads", by="day(at)", days=["2026-11-01"], thresholds=[1])

    read_profile("a.csv", count=3)  # type: ignore[arg-type]
    read_profile("a.csv", count=False)  # type: ignore[arg-type]
    read_profile("a.csv", format="histogram")  # type: ignore[arg-type]
    read_groups("a.csv", by="site", groups=["x"], format="uniq")  # type: ignore[arg-type]


def central() -> None:
    half = FrobeniusMechanism(epsilon="0.5")
    for epsilon in (1, 0.5, "1/3", Decimal("0.1"), Fraction(1, 3)):
        FrobeniusMechanism(epsilon, PrivacyUnit.user(max_items=5), NeighboringRelation.SUBSTITUTE)
    assert_type(half.epsilon, Fraction)
    assert_type(half.unit, PrivacyUnit)
    assert_type(replace(half, epsilon="1/3").epsilon, Fraction)
    assert_type(CumulativeMechanism(1, public_cap=1e9).public_cap, int)
    assert_type(PrevalenceMechanism(1, public_cap=np.int64(100)).public_cap, int | None)
    assert_type(PrivHistMechanism("2", shares="thirds").shares, BudgetShares)
    assert_type(RelaxedPartitionMechanism(4, public_items=100, delta="1e-6").delta, Fraction)

    FrobeniusMechanism()  # type: ignore[call-arg]
    FrobeniusMechanism([0.5])  # type: ignore[arg-type]
    FrobeniusMechanism(1, "user")  # type: ignore[arg-type]
    FrobeniusMechanism(1, relation="substitute")  # type: ignore[arg-type]
    FrobeniusMechanism(1, public_cap=5)  # type: ignore[call-arg]
    CumulativeMechanism(1)  # type: ignore[call-arg]
    CumulativeMechanism(1, public_cap="100")  # type: ignore[arg-type]
    PrivHistMechanism(1, shares=(1, 2, 3))  # type: ignore[arg-type]
    PrivacyUnit.user(max_items="5")  # type: ignore[arg-type]
    replace(half, epsilon=None)  # type: ignore[arg-type]
    half.epsilon = Fraction(1)  # type: ignore[arg-type]


def releases(profile: Profile) -> None:
    half = FrobeniusMechanism("0.5")
    release(profile, epsilon="0.5", mechanism="cumulative", public_cap=100, simulations=0)
    assert_type(release(profile, mechanism=half, simulations=0), Release)
    plan(epsilons=[1], items=1000, shape="worst")
    plan(epsilons=[1], shape=profile)
    plan(epsilons=[1], items=1000, shape=profile)
    compare(profile, epsilons=[1], mechanisms=["auto", "privhist"])

    release(profile)  # type: ignore[call-overload]
    release(profile, mechanism="frobenius")  # type: ignore[call-overload]
    release(profile, epsilon=None)  # type: ignore[call-overload]
    release(profile, epsilon=1, mechanism="laplace")  # type: ignore[call-overload]
    release(profile, epsilon=1, mechanism=half)  # type: ignore[call-overload]
    release(profile, mechanism=half, unit=PrivacyUnit.item())  # type: ignore[call-overload]
    plan(epsilons=[1])  # type: ignore[call-overload]
    plan(epsilons=[1], items=1000, shape="flat")  # type: ignore[call-overload]
    compare(profile, epsilons=[1], mechanisms=["laplace"])  # type: ignore[list-item]


def estimators(profile: Profile) -> None:
    assert_type(EntropyMechanism("1", alphabet_size=np.int64(26)).alphabet_size, int | None)
    assert_type(SupportCoverageMechanism("1", draws=100).draws, int)
    private_entropy(profile, epsilon="0.5", alphabet_size=26)
    num_labels("visits.csv", user="person", epsilon="0.5")

    SupportCoverageMechanism(1)  # type: ignore[call-arg]
    EntropyMechanism(1, alphabet_size=26.0)  # type: ignore[arg-type]
    private_entropy(profile)  # type: ignore[call-arg]
    num_labels("visits.csv", epsilon=1)  # type: ignore[call-arg]
    private_entropy(profile, epsilon=[1])  # type: ignore[arg-type]
    private_entropy(profile, epsilon=1, unit="item")  # type: ignore[arg-type]


def graphs(graph: Graph, degrees: Degrees) -> None:
    release_degrees(graph, privacy=EdgePrivacy(), epsilon=1)
    release_degrees(degrees, privacy=EdgePrivacy(100), epsilon="0.5", mechanism="isotonic")
    release_degrees(graph, privacy=NodePrivacy(), epsilon=1, mechanism="survival")
    release_degrees(graph, privacy=NodePrivacy(), epsilon=1, mechanism=BoundedDegrees(8))
    EdgePolicy(Direction.IN, self_loops="count", duplicates="count")

    release_degrees(graph, privacy=EdgePrivacy())  # type: ignore[call-overload]
    release_degrees(graph, epsilon=1)  # type: ignore[call-overload]
    release_degrees(graph, privacy=EdgePrivacy(), epsilon=1, mechanism="survival")  # type: ignore[call-overload]
    release_degrees(graph, privacy=EdgePrivacy(), epsilon=1, mechanism=BoundedDegrees(8))  # type: ignore[call-overload]
    release_degrees(graph, privacy=NodePrivacy(), epsilon=1, mechanism="frobenius")  # type: ignore[call-overload]
    release_degrees(degrees, privacy=NodePrivacy(), epsilon=1)  # type: ignore[call-overload]
    EdgePolicy(self_loops="keep")  # type: ignore[arg-type]
    EdgePolicy(duplicates="drop")  # type: ignore[arg-type]
    BoundedDegrees(max_degree="all")  # type: ignore[arg-type]

    assert_type(BoundedDegrees(max_degree=np.int64(8), choice_share="1/8", candidates=[2, 8]).choice_share, Fraction)
    assert_type(EdgePrivacy(public_nodes=100).public_nodes, int | None)
    NodePrivacy(NeighboringRelation.SUBSTITUTE)

    BoundedDegrees(method="frobenius")  # type: ignore[arg-type]
    BoundedDegrees(bounding="cut")  # type: ignore[arg-type]
    BoundedDegrees(candidates=3)  # type: ignore[arg-type]
    EdgePrivacy("100")  # type: ignore[arg-type]
    NodePrivacy(max_degree=8)  # type: ignore[call-arg]


def guessing(profile: Profile) -> None:
    guesswork(profile, share=0.5, unit="bits")
    guessing_success(profile, guesses=10, unit="share")

    guesswork(profile, share=0.5, unit="share")  # type: ignore[arg-type]
    work_factor(profile, share=0.5, unit="nats")  # type: ignore[arg-type]
    guessing_success(profile, guesses=10, unit="guesses")  # type: ignore[arg-type]


def surveys(tally: Tally) -> None:
    survey: Survey = KRR(alphabet=["no", "yes"], epsilon="0.5")
    survey.estimate(tally, decoder=Projected(), correction="benjamini-hochberg")
    LocalHashing(epsilon=1).estimate(tally, candidates=["a"], decoder="mle", correction=Holm())

    survey.estimate(tally, decoder="lstsq")  # type: ignore[arg-type]
    survey.estimate(tally, correction="none")  # type: ignore[arg-type]
    LocalHashing(epsilon=1).estimate(tally, decoder="lstsq")  # type: ignore[arg-type]
    RAPPOR(buckets=32, cohorts=8, f="1/2", p=0, q=1).estimate(tally, decoder="lstsq")  # type: ignore[arg-type]


def local() -> None:
    assert_type(KRR(alphabet=["no", "yes"], epsilon="0.5").epsilon, Fraction)
    assert_type(KRR(alphabet=26, epsilon=1).labels, Alphabet)
    assert_type(LocalHashing(epsilon=1).alphabet, Alphabet | None)
    assert_type(LocalHashing(epsilon=1).buckets, int)
    assert_type(SubsetSelection(alphabet=1000, epsilon=1).subset_size, int)
    assert_type(HeavyHitters(epsilon=4, max_bytes=3).buckets, int)
    assert_type(RAPPOR(buckets=32, cohorts=8, f="1/2", p=0, q=0.75).epsilon, Fraction)

    KRR(alphabet=["no", "yes"])  # type: ignore[call-arg]
    KRR(epsilon=1)  # type: ignore[call-arg]
    KRR(alphabet=None, epsilon=1)  # type: ignore[arg-type]
    KRR(alphabet=2.5, epsilon=1)  # type: ignore[arg-type]
    LocalHashing(epsilon=None)  # type: ignore[arg-type]
    LocalHashing(epsilon=1, buckets="4")  # type: ignore[arg-type]
    RAPPOR(buckets=32, cohorts=8, epsilon=1, f="1/2", p=0, q=1)  # type: ignore[call-arg]
    RAPPOR(buckets=32, cohorts=8, f=None, p=0, q=1)  # type: ignore[arg-type]


def sketches() -> None:
    share = NoiseShare(honest=np.int64(2), session="week 47")
    HashedSketch(buckets=1000, epsilon="0.5", key=b"week 47", sampling_rate="1/2", noise_share=share)
    DomainSketch(alphabet=["cats", "dogs"], epsilon=0.5)

    HashedSketch(buckets=1000, epsilon=1)  # type: ignore[call-arg]
    HashedSketch(buckets=1000, epsilon=1, key="week 47")  # type: ignore[arg-type]
    HashedSketch(buckets="1000", epsilon=1, key=b"week 47")  # type: ignore[arg-type]
    HashedSketch(buckets=1000, epsilon=1, key=b"week 47", sampling_rate=[1])  # type: ignore[arg-type]
    NoiseShare(honest="2", session="week 47")  # type: ignore[arg-type]
