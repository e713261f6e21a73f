"""A value of every public class, for tests of rules that hold for all of them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np

import anonhist as ah
from anonhist import (
    accounting,
    errors,
    graphs,
    ingest,
    local,
    mechanisms,
    numeric,
    profiles,
    properties,
    releases,
    sketches,
    species,
    windows,
)
from anonhist.accounting.balance import Item
from anonhist.accounting.entry import Charged
from anonhist.catalogue import Levels
from anonhist.ingest.columns import MissingColumnError
from anonhist.privacy import NeighboringRelation
from anonhist.profiles.grouped import Group, GroupedProfile
from anonhist.randomness import SystemSource
from anonhist.releases.excess import Excess
from anonhist.report import Guessing
from anonhist.sketches.cluster import ExactPartials, NoisyPartials
from anonhist.sketches.kinds import BucketRecommendation, BucketRow

USER = ah.PrivacyUnit.user(max_items=5)
ADD_OR_REMOVE = NeighboringRelation.ADD_OR_REMOVE


def public_values() -> list[object]:
    """Return at least one value of each public class.

    Examples
    --------
    >>> len(public_values()) > 100
    True
    """
    return [
        *_data(),
        *_releases(),
        *_mechanisms(),
        *_accounting(),
        *_graphs(),
        *_local(),
        *_sketches(),
        *_species(),
        *_numbers(),
    ]


def _profile() -> ah.Profile:
    return ah.Profile.from_prevalences({1: 40, 2: 9, 5: 2, 60: 1})


def _groups(levels: Levels | None = None) -> GroupedProfile:
    known: dict[Group, ah.Profile] = {("DE", "mon"): _profile(), ("DE", None): _profile(), ("FR", "mon"): _profile()}
    above: tuple[GroupedProfile, ...] = ()
    if levels is Levels.CROSSING:
        above = tuple(
            GroupedProfile(("country", "day")[: len(names[0])], {name: _profile() for name in names}, unit=USER)
            for names in ([()], [("DE",), ("FR",)])
        )
    return GroupedProfile(("country", "day"), known, unit=USER, levels=levels, above=above)


def _windows() -> windows.CumulativeCounts:
    return windows.CumulativeCounts((1, 3), ("2026-11-01", "2026-11-02"), [[40, 1], [0, 20]])


def _grouped_windows() -> windows.GroupedCumulativeCounts:
    return windows.GroupedCumulativeCounts(("country",), {("DE",): _windows(), ("FR",): _windows()})


def _data() -> list[object]:
    users = profiles.BoundedUnits(3, ah.Profile.from_counts([1, 3, 4, 40]))
    found = ah.FindGroups("0.1", "1e-9")
    return [
        _profile(),
        ah.Profile.from_counts([3, 1]).with_unit(USER),
        ah.Profile([1, 3], [4, 1], unit=USER, order_key="0" * 32, users=users),
        users,
        profiles.FrobeniusCoordinates.of(_profile()),
        found,
        *map(_groups, (None, *Levels)),
        GroupedProfile(("day",), {("mon",): _profile()}, unit=USER, finding=found),
        _windows(),
        _grouped_windows(),
        ingest.EngineLimits(memory_limit="2 gb", threads=2),
        ExactPartials(),
        NoisyPartials(partitions=8),
        ingest.SparkFiles("events/*.parquet"),
        SystemSource(),
    ]


def _releases() -> list[object]:
    made = ah.release(_profile(), epsilon=2, simulations=4)
    grouped = [ah.release_groups(_groups(levels), epsilon=30, simulations=4) for levels in (None, *Levels)]
    band = releases.KPlusBand([2, 9], [3, 0], [5, 2])
    steps = releases.PrevalenceBand([2, 9], [3, 0], [5, 8])
    ones = np.ones(1)
    return [
        made,
        ah.release(_profile(), epsilon=3, simulations=4).with_error(),
        made.error,
        ah.release(_profile(), epsilon=1, mechanism="isotonic", public_labels=100, simulations=4),
        ah.release(_profile(), epsilon=2, unit=ah.PrivacyUnit.label(max_count=5), simulations=4),
        ah.release(_profile(), epsilon=2, simulations=0),
        *grouped,
        # Adjusted ones have no file of their own.
        *(each["DE"].unadjusted or each["DE"] for each in grouped[1:]),
        windows.release_cumulative(_windows(), epsilon=3),
        windows.release_cumulative_groups(_grouped_windows(), epsilon=3),
        band,
        steps,
        releases.Evidence(band, 2.5, steps, (0, 4), (3, 9)),
        Excess(3, 30, ADD_OR_REMOVE, Fraction(1, 80), Fraction(3, 80), 8_000, 2_000, 20_000),
        made.guarantee,
        made.guarantee.unit,
        ADD_OR_REMOVE,
        profiles.Bounded.GROUPS_OF_LABELS,
        made.prevalence(1),
        properties.Estimate(1.0, float("nan"), (0.0, float("inf")), "as released"),
        properties.Estimates((("n", made.num_items()),)),
        properties.Curve(
            "draws", "labels", ones, ones, ones, ones, ones, ("",), "m", parts=(("noise", np.nan * ones),)
        ),
        Guessing(np.arange(3), ones, (ones, ones), is_known=True),
    ]


def _mechanisms() -> list[object]:
    estimate = properties.Estimate(3.0, 0.5, (2.0, 4.0), "runs")
    compared = ah.compare(_profile(), epsilons=[2], mechanisms=["frobenius", "partition"], repeats=2)
    of_bound = mechanisms.BoundPlanRow(Fraction(1), Fraction(0), 4, 1.0, "frobenius", 9_000, 12.5, estimate)
    return [
        mechanisms.FrobeniusMechanism("0.2", USER),
        mechanisms.PartitionMechanism("0.05"),
        mechanisms.PartitionMechanism("0.05", member=mechanisms.calibrate(Fraction(1, 20))),
        mechanisms.BoundedPartitionMechanism(2, public_items=10_000),
        mechanisms.RelaxedPartitionMechanism(2, public_items=10_000),
        mechanisms.PrevalenceMechanism(1, public_cap=400),
        mechanisms.CumulativeMechanism(1, public_cap=400),
        mechanisms.IsotonicMechanism(1, public_labels=2_000),
        mechanisms.PrivHistMechanism(2),
        mechanisms.BudgetShares.thirds(),
        mechanisms.ChosenBound("0.5", 5_000, candidates=(1, 4)),
        mechanisms.ExcessMechanism(1, bound=1),
        mechanisms.calibrate(Fraction(1, 20)),
        mechanisms.METRICS[0],
        compared,
        *compared.rows,
        mechanisms.Skipped("isotonic", (Fraction(1),), "It needs a number."),
        mechanisms.GroupPlan(
            ("country",), Fraction(1), USER, "auto", (mechanisms.GroupPlanRow(("DE",), 9_000, estimate, 4),), 0.1
        ),
        mechanisms.GroupPlanRow(("DE",), 9_000, estimate, 4),
        mechanisms.BoundPlan((of_bound,)),
        of_bound,
        mechanisms.GroupSize(1_000, labels=80),
        mechanisms.PlanRow(Fraction(1), "frobenius", 9_000, estimate, 0.1),
    ]


def _accounting() -> list[object]:
    guarantee = mechanisms.FrobeniusMechanism("0.5").guarantee
    charge = accounting.Charge("letters", guarantee, "frobenius", {"epsilon": "1/2"}, purpose="press")
    cost = accounting.Cost(Fraction(1, 2), Fraction(0))
    entry = accounting.Entry("0" * 32, 2, Charged(charge, cost), "2026-11-24T02:46:38Z", "eve", "0.1.0")
    budget, receipt = accounting.Budget("letters", "item", epsilon=2), accounting.Receipt("0" * 32, 7, "f" * 64)
    public = errors.public_error("There is no file 'week.csv'.")
    return [
        budget,
        cost,
        charge,
        accounting.Charge("letters", guarantee),
        receipt,
        entry,
        accounting.Balance(budget, (Item(entry, Charged(charge, cost), None),)),
        accounting.Released("week.json", receipt, "f" * 64),
        accounting.Verification(3, 1, ("Entry 2 is missing.",)),
        ah.AnonhistError("Wrong."),
        ah.UsageError("Give `max_count`."),
        ah.DataError("No profile."),
        public,
        MissingColumnError("There is no column."),
        errors.MissingExtraError("Install it."),
        errors.BudgetError("Too much."),
        errors.RunError("It was released before."),
        errors.OutputError("Not written."),
    ]


def _graphs() -> list[object]:
    ring = graphs.as_graph([(node, (node + 1) % 9) for node in range(9)])
    bounded = graphs.BoundedDegrees(max_degree=8, method="histogram")
    release = ah.release_degrees(ring, privacy=graphs.EdgePrivacy(), epsilon=20)
    return [
        ring,
        ring.degree_profile(),
        graphs.EdgePolicy(graphs.Direction.IN),
        graphs.Direction.IN,
        graphs.EdgePrivacy(public_nodes=9),
        graphs.NodePrivacy(),
        bounded,
        graphs.Flow(),
        graphs.Projection(),
        graphs.DegreeChoice(epsilon=50, candidates=(1, 8, 64)),
        graphs.CumulativeDegrees(epsilon=1, max_degree=8),
        graphs.HistogramDegrees(epsilon=1, max_degree=8, direction=graphs.Direction.OUT),
        graphs.PartitionDegrees(epsilon=1, max_degree=8),
        graphs.SurvivalDegrees(epsilon=1, max_degree=8, bounding=graphs.Flow()),
        graphs.EdgeMechanism(mechanisms.FrobeniusMechanism(1, ah.PrivacyUnit.edge(degrees=2)), graphs.EdgePolicy()),
        release,
        ah.release_degrees(ring, privacy=graphs.NodePrivacy(), mechanism=bounded, epsilon=20),
        graphs.degree_statistics(release),
    ]


def _local() -> list[object]:
    labels = ["cat", "dog", "emu", "fox"]
    closed = [
        kind(alphabet=labels, epsilon=4, title="pets")
        for kind in (
            local.KRR,
            local.KRAPPOR,
            local.OptimizedUnary,
            local.SubsetSelection,
            local.HadamardResponse,
            local.ProjectiveGeometry,
            local.HybridProjectiveGeometry,
            local.LocalHashing,
        )
    ]
    cohorts = [
        local.ORAPPOR(buckets=64, cohorts=4, key="pets", epsilon=4),
        local.ORR(buckets=64, cohorts=4, key="pets", epsilon=4),
        local.RAPPOR(buckets=32, cohorts=4, hashes=2, key="pets", f="1/2", p="1/2", q="3/4"),
    ]
    told: list[object] = []
    for more, survey in enumerate((*closed, *cohorts)):
        # With equally many people, two surveys may find the same.
        reports = survey.randomize(labels * (50 + more))
        tally = survey.tally(reports)
        told += [survey, reports, tally]
        told.append(survey.estimate(tally) if survey in closed[:-1] else survey.estimate(tally, candidates=labels))
    return [
        *told,
        local.WarnerRR(epsilon=1),
        local.HeavyHitters(epsilon=4, max_bytes=3),
        local.Collection(survey=local.KRR(alphabet=2, epsilon=1), answers="once", last_day="2026-12-31"),
        local.read_wire_line(local.KRR(alphabet=2, epsilon=1), f'{{"id":"{7:032x}","reports":{{"report":["1","2"]}}}}'),
        local.Once(),
        local.Fresh(3),
        local.Looks(),
        local.Anybody(),
        local.Invited(),
        local.Batches(users=1_000, honest=500, delta="1e-6"),
        local.Alphabet(["cat", "dog"], other="another"),
        local.recommend(alphabet_size=1_000, epsilon=1, users=10_000),
        local.CloneBound.STANDARD,
        local.Bonferroni(),
        local.Holm(),
        local.BenjaminiHochberg(),
        local.Unbiased(),
        local.Normalized(),
        local.Projected(),
        local.ConstrainedLeastSquares(),
        local.MaximumLikelihood(),
        local.ExpectationMaximization(),
    ]


def _sketches() -> list[object]:
    share = sketches.NoiseShare(honest=2, session="week 47")
    hashed = sketches.HashedSketch(buckets=100, epsilon=1, key=b"week 47")
    hashed.update(["pets", "cats", "pets"])
    return [
        hashed,
        sketches.HashedSketch(buckets=8, epsilon=1, key=b"week 47", noise_share=share),
        sketches.DomainSketch(alphabet=["cats", "dogs"], epsilon=1),
        hashed.reconstruct(simulations=4),
        share,
        sketches.Adversary.PARTY,
        sketches.UsersIn.ONE_SKETCH,
        sketches.Decompounding(),
        sketches.FourierDecompounding(),
        sketches.EmpiricalBayes(),
        sketches.MaximumLikelihood(),
        sketches.Isotonic(),
        sketches.ThreeTap(),
        sketches.WuPagh(),
        BucketRecommendation((BucketRow(100, 0.5, 800, 0.1, 0.2, float("nan")),), 100, "Fewest."),
    ]


def _species() -> list[object]:
    ants = species.IncidenceFrequencies.from_frequencies([5, 3, 2, 1, 1])
    found = species.compare_sites({"north": ants}, points=4, bootstraps=3)
    plots = species.SamplingUnits([["oak", "elm"], ["oak"], []] * 5)
    released = species.release_incidence(plots, epsilon=1, max_per_unit=2, simulations=4)
    return [ants, found, found.sites[0], found.estimates[0], plots, released]


def _numbers() -> list[object]:
    pair = (0.5, 0.25)
    words, coefficients = np.array([[0], [1]], dtype=np.uint16), np.zeros((2, 2), dtype=np.uint32)
    return [
        numeric.BestPolynomial((Decimal(1), Decimal(2)), Decimal("0.1"), (Decimal(0),)),
        numeric.BlockMatrix((np.ones((2, 2)),), np.zeros(2, dtype=np.int64)),
        numeric.BlockVector(np.ones(2), np.zeros(1, dtype=np.int64)),
        numeric.ExponentialQuotient.exponential(Fraction(1, 2)),
        numeric.HashSupport(words, coefficients, np.array([0, 1]), 2),
        numeric.SignedSums(9, 1, 1, pair, pair, pair),
        numeric.TwoBinomials(9, 0.5, 0.25, 0.5, 0.75),
    ]
