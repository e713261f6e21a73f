"""The profiles that come with the repository and the package, by their names in tables; and runs on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import anonhist as ah

if TYPE_CHECKING:
    import numpy as np

    from anonhist.mechanisms import CentralMechanism

DATA = Path(__file__).parent.parent / "data"
SAMPLES = Path(__file__).parent.parent / "papers" / "src" / "anonhist_papers" / "inspectre" / "samples"
PROFILES = {name: DATA / f"{name}.csv" for name in ("pw_rockyou", "pw_phpbb", "pw_myspace", "bci_trees")}
PROFILES |= {name: SAMPLES / f"{name}.csv" for name in ("hamlet", "surnames")}


def read_bundled(name: str) -> ah.Profile:
    """Read one of them."""
    return ah.read_profile(PROFILES[name])


def runs_of(
    mechanism: CentralMechanism, profile: ah.Profile, *, size: int, rng: np.random.Generator
) -> list[ah.Profile]:
    """Return runs on a public profile: releases, if these fit what simulated runs only draw."""
    if mechanism.fits_draws:
        return [mechanism.release(profile).profile for _ in range(size)]
    return mechanism.simulate(profile, size=size, rng=rng)
