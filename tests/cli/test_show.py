"""What ``anonhist show`` prints of a file: all of it, or the numbers of one count."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import anonhist as ah
from anonhist.profiles.grouped import GroupedProfile
from anonhist_testing.cases import each_of

Cli = Callable[..., CompletedProcess[str]]


def test_the_numbers_of_one_count_are_shown(cli: Cli, folder: Path) -> None:
    release = ah.release(ah.Profile.from_counts([9, 7, 7, 1, 1, 1]), epsilon=3, simulations=2)
    release.save(folder / "made.json")
    assert cli("show", "made.json", "--times", "7").stdout == (
        f"labels with exactly 7 items: {release.prevalence(7)}\nlabels with 7 items or more: {release.k_plus(7)}\n"
    )
    assert cli("show", "made.json", "--times", "1").stdout.startswith("labels with exactly 1 item: ")


def test_of_groups_one_is_named(cli: Cli, folder: Path) -> None:
    profiles = {(name,): ah.Profile.from_counts([3, 3, 1]) for name in ("DE", "FR")}
    release = ah.release_groups(GroupedProfile(("country",), profiles, unit=ah.PrivacyUnit.item()), epsilon=9)
    release.save(folder / "made.json")
    assert f": {release['FR'].k_plus(3)}\n" in cli("show", "made.json", "--times", "3", "--group", "FR").stdout
    refused = cli("show", "made.json", "--times", "3")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "of a release of groups, name one (--group)" in refused.stderr


@each_of(
    ("given", "told"),
    [
        (("--times", "0"), "--times must be a whole number of at least 1"),
        (
            (
                *("--times", "3", "--registry", "a.yaml", "--curator", "x"),
                *("--curator-type", "nonprofit", "--published", "2026-01-31"),
            ),
            "leave --times out",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused(given: tuple[str, ...], told: str, cli: Cli, folder: Path) -> None:
    ah.release(ah.Profile.from_counts([3, 1]), epsilon=9, simulations=2).save(folder / "made.json", overwrite=True)
    refused = cli("show", "made.json", *given)
    assert refused.returncode == 2
    assert told in refused.stderr
    assert not (folder / "a.yaml").exists()
