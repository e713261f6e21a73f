"""Release real data privately and show the release beside the truth: ``make demo`` runs this.

python tools/demo.py FOLDER

The data are public, so the truth may be shown. Progress goes to standard error, results go to standard output.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import anonhist as ah
from anonhist.cli.entry import run
from anonhist.properties.estimate import format_number


@dataclass(frozen=True)
class Demo:
    """A command without its outputs, and what to show of its release: words by (k, whether k or more)."""

    title: str
    command: tuple[str, ...]
    name: str
    shown: dict[tuple[int, bool], str]

    def arguments(self, folder: Path) -> list[str]:
        """Complete the command with its outputs."""
        return [*self.command, "-o", f"{folder / self.name}.json", "--report", f"{folder / self.name}.html"]

    def show(self, folder: Path) -> None:
        """Print what was released beside the truth."""
        release = ah.read(folder / f"{self.name}.json")
        assert isinstance(release, ah.Release)  # noqa: S101  # for type checkers
        path = self.command[1]
        truth = ah.read_edges(path).degree_profile().profile if "edge" in self.command else ah.read_profile(path)
        print(f"\n{self.title}\n$ anonhist {' '.join(self.arguments(folder))}\n")
        print(f"  {'':<40}{'released':>12}{'':8}{'truth':>12}")
        for (k, or_more), words in self.shown.items():
            found = release.k_plus(k) if or_more else release.prevalence(k)
            exact = truth.k_plus(k) if or_more else truth.prevalence(k)
            error = f" ± {format_number(found.standard_error, digits=2)}"
            print(f"  {words:<40}{found.value:>12,.0f}{error:<8}{exact:>12,}")


DEMOS = (
    Demo(
        "How often 32.6 million passwords of RockYou are used; every account is protected at ε = 1:",
        ("release", "data/pw_rockyou.csv", "--epsilon", "1"),
        "rockyou",
        {
            (1, False): "passwords that one account uses",
            (7, False): "passwords that exactly 7 accounts use",
            (100, True): "passwords that 100 accounts or more use",
        },
    ),
    Demo(
        "The trees of Barro Colorado Island by species; every tree is protected at ε = 2:",
        ("release", "data/bci_trees.csv", "--epsilon", "2"),
        "trees",
        {(1, False): "species with a single tree", (100, True): "species with 100 trees or more"},
    ),
    Demo(
        "How many friends 4,039 people on Facebook have; every friendship is protected at ε = 1:",
        ("degrees", "data/graph_facebook_combined.txt.gz", "--unit", "edge", "--epsilon", "1"),
        "friends",
        {(1, False): "people with a single friend", (100, True): "people with 100 friends or more"},
    ),
)


def main() -> None:
    """Make all releases, and say where they are."""
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for demo in DEMOS:
        print(f"Releasing {demo.command[1]} ...", file=sys.stderr, flush=True)
        if code := run([*demo.arguments(folder), "--force", "--quiet"]):
            sys.exit(code)
        demo.show(folder)
    print("\n± is one standard error of the noise: about two in three numbers are that near to the truth or nearer.")
    pages = [folder / f"{demo.name}.html" for demo in DEMOS]
    print("\nOpen these pages in a browser:", *(page.resolve().as_uri() for page in pages), sep="\n  ")
    print("The released numbers, for programs:", *(page.with_suffix(".json") for page in pages), sep="\n  ")


if __name__ == "__main__":
    main()
