"""What read-outs of one noise cost together: never less than they reveal, and no more than once."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import anonhist as ah
from anonhist.accounting import Budget, Charge, Ledger
from anonhist.accounting.budget import Cost
from anonhist.accounting.charge import EarlierReading, NoisePart, Reading, further_cost
from anonhist.accounting.entry import Charged, Created, Entry
from anonhist.errors import BudgetError, DataError, UsageError
from anonhist.privacy import PrivacyUnit
from anonhist.sketches import HashedSketch, NoiseShare, Sketch
from anonhist.sketches.addresses import fingerprint
from anonhist_testing.cases import each_of

USER = PrivacyUnit.user(max_items=2)
REFUSED = "already read in another state"


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Ledger]:
    """Return a ledger with three budgets for items and one for users."""
    with Ledger(f"{tmp_path}/budget.db") as ledger:
        ledger.create("words", "item", epsilon=5)
        ledger.create("others", "item", epsilon=5)
        ledger.create("plants", "item", epsilon=5)
        ledger.create("people", "user", epsilon=5)
        yield ledger


def days(number: int, unit: PrivacyUnit | None = None, **options: Any) -> list[Sketch]:
    """Return sketches with some counts, which can be merged."""
    made: list[Sketch] = [HashedSketch(buckets=64, epsilon=1, key=b"k", unit=unit, **options) for _ in range(number)]
    for place, each in enumerate(made):
        each.update(["cat"] * (place + 3))
    return made


def read(sketch: Sketch, ledger: Ledger, dataset: str = "words") -> Fraction:
    """Read a sketch, and return what it cost."""
    before = ledger.balance(dataset).spent.epsilon
    release = sketch.reconstruct("three-tap", ledger=ledger, dataset=dataset, simulations=0)
    assert release.receipt is not None
    item = ledger.balance(dataset).items[-1]
    assert (item.entry.number, item.state) == (release.receipt.entry, "released")
    return ledger.balance(dataset).spent.epsilon - before


def test_a_state_is_charged_once_however_often_it_is_read(kept: Ledger) -> None:
    (day,) = days(1)
    assert [read(day, kept) for _ in range(3)] == [1, 0, 0]
    assert read(day, kept, "others") == 1
    day.update(["dog"])
    with pytest.raises(UsageError, match=rf"{REFUSED} \(entry \d of the ledger\)"):
        read(day, kept)
    # Nor may it be charged to another data set: both profiles together show the dog.
    with pytest.raises(UsageError, match=REFUSED):
        read(day, kept, "plants")


@pytest.mark.full
@each_of(("unit", "dataset", "costs"), [(None, "words", [1, 1, 0, 0, 1]), (USER, "people", [1, 1, 0, 1, 2])])
def test_sums_of_sketches(unit: PrivacyUnit | None, dataset: str, costs: list[int], tmp_path: Path) -> None:
    with Ledger(f"{tmp_path}/budget.db") as ledger:
        ledger.create("words", "item", epsilon=50)
        ledger.create("people", "user", epsilon=50)
        one, two, three, four, five = days(5, unit)
        sums = [one, two, one + two, one + two + three, four + five]
        assert [read(each, ledger, dataset) for each in sums] == costs
        total = one + two + three
        assert ledger.balance(dataset).spent.epsilon >= total.guarantee.epsilon + (four + five).guarantee.epsilon
        # What a part held when it was merged could have changed since.
        with pytest.raises(UsageError, match=REFUSED):
            read(three, ledger, dataset)


def test_new_noise_covers_what_was_counted_since(kept: Ledger) -> None:
    one, two = days(2)
    read(one, kept)
    one.update(["dog"])
    assert read(one + two, kept) == 0
    two.update(["emu"])
    with pytest.raises(UsageError, match=REFUSED):
        read(one + two, kept)


@pytest.mark.slow
def test_top_ups_are_one_loss(kept: Ledger) -> None:
    pytest.importorskip("dp_accounting", reason="dp-accounting is not installed (the extra accounting)")
    from anonhist.accounting.ledger import schedule
    from anonhist.report.budget_wording import composed_epsilon

    number, epsilon = 40, Fraction(1, 20)
    unit = PrivacyUnit.user(max_items=1)
    weeks: list[Sketch] = [HashedSketch(buckets=8, epsilon=epsilon, key=b"k", unit=unit) for _ in range(number)]
    total = weeks[0]
    for week in weeks[1:]:
        read(total, kept, "people")
        total = total + week
    read(total, kept, "people")
    balance = kept.balance("people")
    assert [each.cost.epsilon for each in balance.items] == [epsilon] * number
    assert balance.losses == ((number * epsilon, 0),)
    # Somebody counted in all weeks, just before the last is read: of all earlier noise the sums told, so that the last
    # read-out shows 40 counts in the noise of one sketch, whose δ at any smaller ε is far above 10⁻⁹.
    spent = float(balance.spent.epsilon)
    told = composed_epsilon(balance) or balance.spent.epsilon
    weight = np.exp(-float(epsilon) * np.abs(np.arange(-2000, 2001))) * np.tanh(float(epsilon) / 2)
    moved = np.roll(weight, number)
    assert np.maximum(weight - np.exp(float(told)) * moved, 0).sum() <= 1e-9
    assert np.maximum(weight - np.exp(0.83 * spent) * moved, 0).sum() > 0.1
    # Plans count with it, too: one release of what is left, and nothing for independence.
    assert schedule(balance, 1, with_distributions=True).at_delta == balance.left.epsilon


@pytest.mark.full
def test_read_outs_are_one_loss_if_others_link_them(kept: Ledger) -> None:
    one, two, three = days(3, USER)
    for each in (one, two, three):
        read(each, kept, "people")
    assert kept.balance("people").losses == ((1, 0),) * 3
    read(one + three, kept, "people")
    assert kept.balance("people").losses == ((1, 0), (2, 0))
    read(one + two + three, kept, "people")
    assert kept.balance("people").losses == ((3, 0),)
    read(days(1, USER)[0], kept, "people")
    assert kept.balance("people").losses == ((3, 0), (1, 0))


def test_noise_that_is_weaker_or_only_a_share_covers_nothing(kept: Ledger) -> None:
    (one,) = days(1)
    read(one, kept)
    one.update(["dog"])
    with pytest.raises(UsageError, match=REFUSED):
        read(one + HashedSketch(buckets=64, epsilon=2, key=b"k"), kept)
    share = NoiseShare(honest=2, session="week")
    parties = days(3, noise_share=share)
    with pytest.raises(UsageError, match=REFUSED):
        read(one + parties[0] + parties[1] + parties[2], kept)
    assert read(parties[0] + parties[1] + parties[2], kept) == 1


def test_a_read_out_that_was_killed_costs_no_more_when_it_is_made_again(kept: Ledger) -> None:
    from anonhist.sketches.release import prepare_reading

    (day,) = days(1)
    price = prepare_reading(day).price()
    receipt = kept.charge(Charge("words", price.guarantee, reading=price.reading))
    with pytest.raises(UsageError, match="read the same state again"):
        kept.void(receipt.entry, "killed")
    assert read(day, kept) == 0


def test_what_is_wrong_is_not_charged(kept: Ledger) -> None:
    (day,) = days(1)
    for wrong in ({"decoder": "none"}, {"simulations": -1}):
        with pytest.raises(UsageError):
            day.reconstruct(**wrong, ledger=kept, dataset="words")  # type: ignore[arg-type]
    (share,) = days(1, noise_share=NoiseShare(honest=2, session="week"))
    with pytest.raises(UsageError, match="not private"):
        read(share, kept)
    with pytest.raises(BudgetError):
        read(HashedSketch(buckets=8, epsilon=6, key=b"k"), kept)
    with pytest.raises(UsageError, match="is for users"):
        read(day, kept, "people")
    assert len(kept.entries()) == 4
    assert day.reconstruct(simulations=0).receipt is None


def test_entries_say_what_was_read_and_others_nothing_of_it(kept: Ledger) -> None:
    (day,) = days(1)
    read(day, kept)
    charged = kept.entries()[-2]
    assert isinstance(charged.event, Charged)
    reading = charged.event.charge.reading
    assert reading is not None
    assert reading.parts == (NoisePart(day.noise[0].identity, Fraction(1), is_whole=True),)
    assert Entry.read(charged.document) == charged
    for wrong in ('"parts":[[1]]', '"parts":7', '"parts":[["a","0/0",true]]'):
        head, _, rest = charged.document.partition('"parts":')
        with pytest.raises(DataError):
            Entry.read(head + wrong + rest[rest.index("]]") + 2 :])
    with pytest.raises(UsageError, match="64 hexadecimal digits"):
        replace(reading, fingerprint="0")
    assert '"reading"' not in Entry("0" * 32, 1, Created(Budget("a", "item", 1)), "", "", "").document


def test_fingerprints_of_sums_are_sums_of_fingerprints() -> None:
    rng = np.random.default_rng(1)
    one, two = (rng.integers(-(2**61), 2**61, 70_000) for _ in range(2))
    sums = [int(fingerprint(each)[48:], 16) for each in (one, two, one + two)]
    assert (sums[0] + sums[1]) % 2**64 == sums[2]
    # Each place matters, beyond the first block too; the order does.
    changed = {fingerprint(one + np.eye(1, one.size, place, dtype=np.int64)[0]) for place in (0, 1, 65_536, 69_999)}
    assert len({fingerprint(one), fingerprint(one[::-1]), *changed}) == 6
    # A written ledger compares with it: it must never change.
    assert fingerprint(np.array([1, -2, 3])) == "a1d50db56cfd3f6f94e6f66d6466f74a6ce0a00105464fe23e6ea1024404855f"


class Operator:
    """Someone who updates, merges and reads sketches at random, and what each item then loses at most."""

    def __init__(self, rng: np.random.Generator, *, of_users: bool) -> None:
        self.rng, self.of_users = rng, of_users
        self.rates = rng.integers(1, 3, size=4).tolist()
        self.states = [[int(each) for each in rng.integers(2**63, size=4)] for _ in self.rates]
        self.read: list[EarlierReading] = []
        self.times: list[int] = []
        # When each item was counted, and into which sketch; some before anything is read.
        self.items = [(0, sketch) for sketch in range(len(self.rates))]

    def act(self, time: int) -> None:
        """Count something more, or read the sum of some sketches."""
        if self.rng.random() < 0.3:
            sketch = int(self.rng.integers(len(self.rates)))
            self.states[sketch] = [int(each) for each in self.rng.integers(2**63, size=4)]
            self.items.append((time, sketch))
            return
        chosen = np.flatnonzero(self.rng.random(len(self.rates)) < 0.5).tolist()
        if not chosen:
            return
        lanes = [sum(self.states[each][lane] for each in chosen) % 2**64 for lane in range(4)]
        parts = tuple(NoisePart(f"{each}", Fraction(self.rates[each]), is_whole=True) for each in chosen)
        reading = Reading(parts, "".join(f"{each:016x}" for each in lanes))
        rates = [part.rate for part in parts]
        alone = Cost(sum(rates, Fraction(0)) if self.of_users else max(rates), Fraction(0))
        try:
            paid = further_cost(reading, alone, self.read)
        except UsageError:
            return
        self.read.append(EarlierReading(len(self.read) + 1, reading, paid))
        self.times.append(time)

    def loss(self, time: int, sketch: int) -> float:
        """Return what all read-outs together reveal of an item: the cheapest change of noises that hides it in all."""
        holds = np.array([[f"{each}" in one.reading.identities for each in range(4)] for one in self.read], dtype=float)
        sees = np.array([when >= time for when in self.times]) * holds[:, sketch]
        solved = linprog([*self.rates, *self.rates], A_eq=np.hstack([holds, -holds]), b_eq=-sees)
        assert solved.status == 0, "nothing hides it"
        return float(solved.fun)


@pytest.mark.slow
@each_of("kind", ["item", "user"])
def test_random_operators_pay_for_all_that_is_revealed(kind: str) -> None:
    of_users = kind == "user"
    again = summed = renewed = 0
    for seed in range(150):
        operator = Operator(np.random.default_rng(seed), of_users=of_users)
        for time in range(1, 14):
            operator.act(time)
        if not operator.read:
            continue
        losses = [(sketch, operator.loss(time, sketch)) for time, sketch in operator.items]
        worst = [max(loss for sketch, loss in losses if sketch == each) for each in range(4)]
        paid = sum(each.paid.epsilon for each in operator.read)
        # A user may have all items in the worst place of each sketch; another item is only in one.
        assert float(paid) >= (sum(worst) if of_users else max(worst)) - 1e-6
        free = [each for each in operator.read if not each.paid.epsilon]
        again += len(free)
        summed += any(len(each.reading.parts) > 1 for each in free)
        renewed += len({each.reading.identities for each in operator.read}) < len(operator.read)
    # All of it happens.
    assert min(again, summed, renewed) > 10


def test_a_release_of_a_sketch_is_verified(kept: Ledger, tmp_path: Path) -> None:
    from anonhist.accounting import verify
    from anonhist.formats.files import claim_of

    (day,) = days(1)
    names = []
    for decoder in ("three-tap", "fourier"):
        release = day.reconstruct(decoder, ledger=kept, dataset="words", simulations=2)  # type: ignore[arg-type]
        names.append(tmp_path / f"{decoder}.json")
        ah.write(release, names[-1])
    found = verify(kept, map(claim_of, names), dataset="words")
    assert (found.files, found.problems) == (2, ())
