"""One thing has one option name in all commands, and whoever types another is told which."""

import re
from collections import defaultdict
from collections.abc import Callable
from difflib import SequenceMatcher
from itertools import combinations, product
from pathlib import Path
from subprocess import CompletedProcess

import click
import pytest

import anonhist as package
from anonhist.cli.entry import anonhist
from anonhist.terminal.hints import MEANT, commands_of, no_such_option, options_of

Cli = Callable[..., CompletedProcess[str]]

# Every option of every command: what it names, and what it takes. Who adds an option looks here for the thing first.
WORDS = {
    "--adversary": ("from whom shares of noise protect", "choice"),
    "--alphabet": ("the file of all labels there can be", "FILE"),
    "--alphabet-size": ("how many labels there can be", "K"),
    "--base": ("the base of logarithms", "B"),
    "--blocks": ("into how many blocks values are put", "B"),
    "--bootstraps": ("how many samples are drawn for the band of a curve", "B"),
    "--bounding": ("how edges are left out", "choice"),
    "--buckets": ("into how many buckets labels are hashed", "B"),
    "--by": ("the columns whose values make groups", "COLUMN,…"),
    "--by-sizes": ("the file of groups and their sizes to plan for", "FILE.csv"),
    "--candidates": ("the file of labels to estimate, of any there can be", "FILE"),
    "--characters": ("what labels can consist of", "TEXT"),
    "--choice-share": ("which share of the budget chooses the largest degree", "S"),
    "--subset-size": ("how many labels a report holds", "D"),
    "--cohorts": ("how many groups of devices have hashes of their own", "C"),
    "--correction": ("how tests of many labels are corrected", "NAME"),
    "--count": ("the column of counts", "COLUMN|none"),
    "--author": ("who writes a record", "NAME"),
    "--curator": ("who publishes a release", "NAME"),
    "--curator-type": ("what kind of institution publishes a release", "choice"),
    "--published": ("the day of publication", "DATE"),
    "--region": ("which region the data are about", "TEXT"),
    "--registry": ("where to write a record for the registry", "FILE.yaml"),
    "--dataset": ("whose budget is charged", "NAME"),
    "--cumulative-by": ("the dates at which labels so far are counted", "DATE"),
    "--days": ("which days are released", "DAYS"),
    "--decoder": ("how noisy counts are decoded", "NAME"),
    "--delimiter": ("what separates columns", "CHAR"),
    "--comment": ("what a line of comments begins with", "CHAR"),
    "--engine": ("what reads files", "choice"),
    "--memory-limit": ("how much memory the engine takes", "SIZE"),
    "--threads": ("how many threads count", "N"),
    "--partials": ("what partitions on a cluster send", "exact|K"),
    "--temp-directory": ("where temporary files are", "FOLDER"),
    "--delta": ("how much the promise may miss", "D"),
    "--directed": ("which direction of edges counts", "choice"),
    "--draws": ("how many draws to count labels in", "M"),
    "--duplicates": ("whether equal edges are one", "choice"),
    "--entry": ("which charge of a ledger is meant", "N"),
    "--epsilon": ("how much privacy to spend", "E or E,E,…"),
    "--every": ("how much time is between two releases", "SPAN"),
    "--excess-cap": ("how many items beyond the bound count of each user", "C"),
    "--excess-share": ("which share of epsilon pays for what a bound left out", "S"),
    "--expected-items": ("about how many items the source has, if that is public", "N"),
    "--field": ("the size of a finite field", "F"),
    "--for": ("how long what is left must last", "SPAN"),
    "--force": ("whether outputs may be replaced", "flag"),
    "--format": ("what a row of the source is", "choice"),
    "--find-groups": ("whether groups are found in the data", "flag"),
    "--find-share": ("which share of epsilon finds groups", "S"),
    "--group": ("which group of a file is taken", "NAME,…"),
    "--groups": ("which groups are released", "LIST"),
    "--guesses": ("how many guesses there are", "B"),
    "--hash-labels": ("whether labels are kept as hashes", "flag"),
    "--hashes": ("how many bits a label sets", "H"),
    "--honest-parties": ("how many parties draw their share of the noise", "H"),
    "--ignore-unknown": ("whether labels outside of the alphabet are left out", "flag"),
    "--items": ("how many items to plan for", "N"),
    "--json": ("whether a result is printed as JSON", "flag"),
    "--keep-null": ("whether rows without a label count", "flag"),
    "--key": ("the public text from which hashes are made", "TEXT"),
    "--label": ("the column of labels", "COLUMN"),
    "--labels": ("how many labels to plan for", "M"),
    "--ledger": ("where the account is kept", "FILE or URL"),
    "--level": ("how likely intervals are meant to hold", "P"),
    "--like": ("the file whose settings are taken", "PART or RELEASE or SKETCH"),
    "--max-bytes": ("how many bytes a thing may have", "B"),
    "--level-shares": ("how epsilon is split among levels", "S,…"),
    "--levels": ("what totals of groups count", "choice"),
    "--max-count": ("from where on counts are taken together", "C"),
    "--max-degree": ("how many edges of a node count", "N"),
    "--max-groups-per-label": ("in how many groups a label counts", "G"),
    "--max-groups-per-user": ("in how many groups a user counts", "G"),
    "--max-per-user": ("how many items of a user count", "M"),
    "--mechanism": ("how noise is added", "A,B,… or NAME"),
    "--method": ("how a property is estimated", "NAME"),
    "--no-header": ("whether the first line is data", "flag"),
    "--nodes": ("the file of all nodes", "FILE"),
    "--not-private-truth": ("whether the page shows the truth", "flag"),
    "--purpose": ("what a release is for", "TEXT"),
    "--run-id": ("which run a release is of", "TEXT"),
    "--q": ("q of RAPPOR", "Q"),
    "--onto": ("which running total is added to", "TOTAL.counts"),
    "--order": ("the order of a power sum", "Q or Q,Q,…"),
    "--order-by": ("the column by which items of a user come first", "COLUMN"),
    "--order-key": ("the key by which items of a user come first", "HEX"),
    "--other": ("what stands for labels outside of the alphabet", "LABEL"),
    "--other-group": ("the group of all rows of groups that are not listed", "NAME"),
    "--output": ("where to write", "FILE or FILE.counts or FILE.csv or FILE.json or FILE.sketch or FOLDER"),
    "--f": ("f of RAPPOR", "F"),
    "--part": ("the public name of events that are counted", "NAME"),
    "--points": ("at how many places a curve is computed", "P"),
    "--public-cap": ("a public bound of counts", "C"),
    "--known-items": ("the number of items, if that is public", "N"),
    "--public-items": ("how many items there are at most", "N"),
    "--public-labels": ("the number of labels, if that is public", "L"),
    "--public-nodes": ("the number of nodes, if that is public", "N"),
    "--quick": ("whether a small setting is run", "flag"),
    "--quiet": ("whether remarks are left out", "flag"),
    "--reason": ("why a charge is taken back", "TEXT"),
    "--relation": ("between which data sets the promise is", "choice"),
    "--repeats": ("how often an experiment is run", "R"),
    "--report": ("where to write a page", "FILE.html"),
    "--sampling-rate": ("which share of the labels is counted", "S"),
    "--self-loops": ("whether edges from a node to itself count", "choice"),
    "--session": ("which sketches are added under encryption", "NAME"),
    "--shape": ("the shape to plan for", "choice"),
    "--share": ("which share of accounts to break", "A"),
    "--shares": ("how a mechanism divides its budget", "A,B,C"),
    "--shuffled-users": ("the reports of how many people are mixed", "N"),
    "--simulations": ("how many simulations error estimates rest on", "R"),
    "--skip-bad": ("how many bad rows are left out", "N"),
    "--source": ("the column of the node that an edge leaves", "COLUMN"),
    "--table": ("which table of a database is read", "NAME"),
    "--target": ("the column of the node that an edge leads to", "COLUMN"),
    "--thresholds": ("from how many items on labels are counted", "K,K,…"),
    "--title": ("what a survey, a page or a publication is called", "TEXT"),
    "--top": ("how many labels are shown", "N"),
    "--unit": ("whom to protect", "choice"),
    "--user": ("the column of users", "COLUMN"),
    "--users": ("how many people to plan for", "N"),
    "--users-in": ("in how many sketches a user may be", "choice"),
    "--p": ("p of RAPPOR", "P"),
}
# Whose explanations are alike, though they name different things.
REVIEWED = {
    ("--alphabet-size", "--public-nodes"),
    ("--alphabet-size", "--top"),
    ("--blocks", "--guesses"),
    ("--buckets", "--guesses"),
    ("--choice-share", "--find-share"),
    ("--decoder", "--mechanism"),
    ("--decoder", "--method"),
    ("--mechanism", "--method"),
}
COMMANDS = dict(commands_of(anonhist))


def _options_by_name() -> dict[str, list[tuple[str, click.Option]]]:
    """Return the options of all commands by their long names, each with the command that has it."""
    named = defaultdict(list)
    for path, command in COMMANDS.items():
        for option in set(options_of(command).values()):
            named[max(option.opts, key=len)].append((path, option))
    return named


def _takes(option: click.Option) -> str:
    if option.is_flag:
        return "flag"
    return option.metavar or ("choice" if isinstance(option.type, click.Choice) else option.type.name)


def test_each_option_of_each_command_is_in_the_table() -> None:
    taken = {word: " or ".join(sorted({_takes(one) for _, one in uses})) for word, uses in _options_by_name().items()}
    assert taken == {word: takes for word, (_, takes) in WORDS.items()}


def test_one_thing_has_one_name() -> None:
    things = [thing for thing, _ in WORDS.values()]
    assert sorted(things) == sorted(set(things))


def _are_alike(explained: str, otherwise: str) -> bool:
    words = [re.findall(r"[a-z0-9-]+", text.lower()) for text in (explained, otherwise)]
    matcher = SequenceMatcher(None, *words, autojunk=False)
    # The first is a bound on the second, and quicker.
    return matcher.quick_ratio() >= 0.5 and matcher.ratio() >= 0.5


def test_options_that_are_explained_alike_are_one_or_stand_side_by_side() -> None:
    texts = {word: {str(option.help) for _, option in uses} for word, uses in _options_by_name().items()}
    owners = {word: {path for path, _ in uses} for word, uses in _options_by_name().items()}
    apart = [pair for pair in combinations(sorted(texts), 2) if not owners[pair[0]] & owners[pair[1]]]
    alike = {
        (word, other)
        for word, other in apart
        if any(_are_alike(*explained) for explained in product(sorted(texts[word]), sorted(texts[other])))
    }
    assert alike == REVIEWED
    # What was found by hand before this test was there.
    assert _are_alike(
        "Probability with which the interval is meant to hold the truth.",
        "Probability with which intervals are meant to hold, and tests not to err.",
    )


@pytest.mark.slow
def test_texts_name_options_that_exist() -> None:
    known = {word for command in COMMANDS.values() for word in options_of(command)} | {"--help", "--version"}
    # One has the words that are none, the others variables of style sheets.
    others = {"hints.py", "figures.py", "notebook.py"}
    for path in sorted(Path(package.__file__).parent.rglob("*.py")):
        named = re.findall(r"(?<![\w-])--[a-z][a-z-]*", path.read_text(encoding="utf-8"))
        assert path.name in others or set(named) <= known, (path.name, set(named) - known)


def test_what_is_read_is_called_the_same_everywhere() -> None:
    # The commands that read labels, whether of a file, of each of several, or for a survey.
    for path in ("release", "compare", "count", "estimate", "curve", "sketch update", "local randomize"):
        takes = {word: _takes(option) for word, option in options_of(COMMANDS[path]).items()}
        assert {"--label": "COLUMN", "--format": "choice", "--delimiter": "CHAR"}.items() <= takes.items(), path
        arguments = [
            param.metavar or str(param.name).upper() for param in COMMANDS[path].params if param.name[0] == "s"
        ]
        assert "SOURCE" in "".join(arguments), path


def test_the_right_word_is_said_for_every_other_word() -> None:
    used = set()
    for path, command in COMMANDS.items():
        own = options_of(command)
        for said, names in MEANT.items():
            meant = next((name for name in names if name in own), None)
            if said in own or meant is None:
                continue
            used.add(said)
            context = click.Context(command, parent=click.Context(anonhist), info_name=path)
            assert no_such_option(said, context).startswith(f"There is no {said} here: use {meant}"), (path, said)
    assert used == set(MEANT)


def test_options_of_other_commands_are_known(cli: Cli) -> None:
    told = {
        "sketch update a.sketch b.csv --column x": "There is no --column here: use --label COLUMN",
        "local randomize a.json b.csv --column=x": "There is no --column here: use --label COLUMN",
        "sketch new --labels words.txt": "There is no --labels here: use --alphabet FILE",
        "degrees a.txt --privacy edge": "There is no --privacy here: use --unit edge or --unit node",
        "release a.csv --columns x": "There is no --columns here (perhaps --label or --count)",
        "release a.csv --epsilom 1": "There is no --epsilom here (perhaps --epsilon)",
        "release a.csv --eps 1": "There is no --eps here: use --epsilon E",
        "release a.csv --max 1": "There is no --max here (perhaps --max-per-user, --max-count, "
        "--max-groups-per-label or --max-groups-per-user)",
        "release a.csv --candidates a": "There is no --candidates here: --candidates is an option of 'anonhist local "
        "estimate'",
        "release a.csv --candidate a": "There is no --candidate here: --candidates is an option of 'anonhist local "
        "estimate'",
        "show r.json --top 5": "There is no --top here: --top is an option of 'anonhist local estimate' and 'anonhist "
        "local rappor'",
        "show r.json --table t": "There is no --table here: --table is an option of 'anonhist compare', 'anonhist "
        "count', 'anonhist curve' and 4 more commands",
        "release a.csv --labels x": "There is no --labels here (perhaps --label): --labels is an option of 'anonhist "
        "sketch recommend'",
        "curve hill a.csv --users 5": "There is no --users here (perhaps --user): --users is an option of 'anonhist "
        "local recommend'",
        "release a.csv --seed 1": "There is no --seed here",
        "release a.csv -x": "There is no -x here",
    }
    for typed, sentence in told.items():
        words = typed.split()
        path = " ".join(words[:2]) if words[0] in ("sketch", "local") else words[0]
        done = cli(*words)
        wanted = (2, "", f"anonhist: {sentence}; see anonhist {path} --help.\n")
        assert (done.returncode, done.stdout, done.stderr) == wanted


def test_hidden_options_are_not_offered() -> None:
    # It is there to say how a curve is made private.
    curve = anonhist.commands["curve"]
    assert "--epsilon" in {word for param in curve.params for word in param.opts}
    assert "--epsilon" not in options_of(curve)
