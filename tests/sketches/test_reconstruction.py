"""From a sketch to a release: by which decoder, of what, and what it says of itself."""

from typing import Any

import numpy as np
import pytest

import anonhist
from anonhist.errors import UsageError
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.sketches import Decompounding, DomainSketch, EmpiricalBayes, HashedSketch, NoiseShare, Sketch, WuPagh
from anonhist.sketches.release import DECODERS, OF_SHARED_COUNTERS, SketchMechanism
from anonhist_testing.sources import SeededSource

LABELS = [f"label {number}" for number in range(40)]


def _hashed_sketch(**given: Any) -> HashedSketch:
    return HashedSketch(**{"buckets": 30, "epsilon": 2, "key": b"k", "source": SeededSource(7), **given})


def _domain_sketch(**given: Any) -> DomainSketch:
    return DomainSketch(**{"alphabet": LABELS, "epsilon": 2, "source": SeededSource(7), **given})


@pytest.mark.parametrize(
    ("sketch", "default", "told"),
    [
        (
            _hashed_sketch(),
            Decompounding(),
            "Labels that share counters were separated by the distribution of their sums",
        ),
        (_domain_sketch(), EmpiricalBayes(), "Each counter is one label's"),
    ],
)
def test_each_kind_of_sketch_has_its_default_decoder(sketch: Sketch, default: object, told: str) -> None:
    sketch.update(LABELS)
    release = sketch.reconstruct(simulations=7)
    assert isinstance(release.mechanism, SketchMechanism)
    assert release.mechanism.decoder == default
    assert release.reason == f"{told} (decoder {release.mechanism.decoder.name}, the default)."
    assert (release.simulations, release.library_version) == (7, anonhist.__version__)
    assert release.profile == sketch.reconstruct(release.mechanism.decoder.name).profile


def test_a_decoder_is_given_or_named() -> None:
    sketch = _hashed_sketch()
    one, other = sketch.reconstruct("wu-pagh"), sketch.reconstruct(WuPagh(norm="1"))
    assert [each.mechanism.parameters["norm"] for each in (one, other)] == ["2", "1"]
    # Read label by label, though labels share buckets; by no default.
    told = "Each counter was read as one label: labels that share one were not separated (decoder wu-pagh)."
    assert one.reason == other.reason == told
    for wrong in ("guess", WuPagh, 5):
        with pytest.raises(UsageError, match="decoder must be one of empirical-bayes, "):
            sketch.reconstruct(wrong)  # type: ignore[arg-type]


def test_a_release_promises_what_its_sketch_does_and_knows_what_it_was_read_from() -> None:
    unit = PrivacyUnit.user(max_items=3)
    sketch = _domain_sketch(sampling_rate="1/2", unit=unit)
    sketch.merge(_domain_sketch(sampling_rate="1/2", unit=unit, source=None))
    release = sketch.reconstruct("three-tap")
    mechanism = release.mechanism
    assert isinstance(mechanism, SketchMechanism)
    assert release.guarantee == mechanism.guarantee == sketch.guarantee
    assert release.profile.unit == PrivacyUnit.user(max_items=6)
    assert (mechanism.counters, mechanism.domain_size) == (sketch.addresses.size, 40)
    assert mechanism.sampling_rate == sketch.addresses.sampling_rate
    assert mechanism.setting.noise == sketch.noise_distribution
    hashed = _hashed_sketch().reconstruct("three-tap").mechanism
    assert isinstance(hashed, SketchMechanism)
    assert (hashed.counters, hashed.domain_size, hashed.setting.is_hashed) == (30, None, True)


def test_what_cannot_be_read_is_refused() -> None:
    clipped = _hashed_sketch()
    clipped.clip(5)
    with pytest.raises(UsageError, match="cannot be read before it is unfolded"):
        clipped.reconstruct()
    with pytest.raises(UsageError, match="not private: it holds 1 of at least 3 shares"):
        _hashed_sketch(noise_share=NoiseShare(honest=2, session="s")).reconstruct()
    for decoder in OF_SHARED_COUNTERS:
        for given in (decoder, DECODERS[decoder]()):
            with pytest.raises(UsageError, match=f"{decoder} is for hashed sketches"):
                _domain_sketch().reconstruct(given)


def _rare_and_huge(buckets: int, rare: int, huge: int, seed: int, decoder: str) -> Profile:
    """Read a sketch of labels that occur once, and of some beyond all windows."""
    sketch = HashedSketch(buckets=buckets, epsilon=20, key=b"%d" % seed, source=SeededSource(seed))
    sketch.update([f"rare {number}" for number in range(rare)])
    sketch.update([f"huge {number}" for number in range(huge)], counts=10**6 + 1000 * np.arange(huge))
    return sketch.reconstruct(decoder, simulations=2).profile


@pytest.mark.slow
@pytest.mark.parametrize(
    ("decoder", "buckets", "rare", "huge", "runs"), [("decompounding", 50, 60, 15, 3), ("fourier", 4000, 2000, 2000, 1)]
)
def test_labels_in_buckets_with_huge_ones_are_not_lost(
    decoder: str, buckets: int, rare: int, huge: int, runs: int
) -> None:
    found = [_rare_and_huge(buckets, rare, huge, seed, decoder) for seed in range(runs)]
    # A quarter of the rare labels and more are in a bucket with a huge one; standard errors are at most 4 and 8%.
    assert np.mean([each.k_plus(1) - each.k_plus(1000) for each in found]) == pytest.approx(rare, rel=0.15)
    assert np.mean([each.k_plus(1000) for each in found]) == pytest.approx(huge, rel=0.15)


@pytest.mark.parametrize("decoder", OF_SHARED_COUNTERS)
def test_buckets_that_are_all_huge_are_read_as_if_half_a_bucket_were_not(decoder: str) -> None:
    found = _rare_and_huge(4, 0, 60, 7, decoder)
    # With T of B buckets −ln(1 − T/B)·B/T labels in each, here as if T were 3.5 of 4: never fewer than one.
    assert found.num_labels == found.k_plus(10**6) == round(4 * np.log(8) * 4 / 3.5)
