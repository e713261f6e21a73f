"""The profiles that come with the repository and the package, by their names in tables."""

from __future__ import annotations

from pathlib import Path

import anonhist as ah

DATA = Path(__file__).parent.parent / "data"
SAMPLES = Path(__file__).parent.parent / "papers" / "src" / "anonhist_papers" / "inspectre" / "samples"
PROFILES = {name: DATA / f"{name}.csv" for name in ("pw_rockyou", "pw_phpbb", "pw_myspace", "bci_trees")}
PROFILES |= {name: SAMPLES / f"{name}.csv" for name in ("hamlet", "surnames")}


def read_bundled(name: str) -> ah.Profile:
    """Read one of them."""
    return ah.read_profile(PROFILES[name])
