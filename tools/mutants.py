"""Show that tests notice what must never happen: change the code in one place, and check that the named tests fail.

python tools/mutants.py [--only NAME-PART] [--list]

Each mutant is one change in a copy of the package; the tree itself is left alone. A test that fails kills it. If one
survives, or its piece of code does not occur exactly once, the exit status is 1.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from time import monotonic

ROOT = Path(__file__).parent.parent
AT_A_TIME = 2
LONGEST = 300  # seconds: a mutant may make a loop endless
PYTEST = ("-m", "pytest", "-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--no-header")
# Of a change that makes no sense, which any test would notice; also where several cases of a test failed.
SENSELESS = re.compile(r"^[ |E+]*(Import|ModuleNotFound|Syntax|Indentation|Name)Error\b", re.MULTILINE)


@dataclass(frozen=True)
class Mutant:
    """A change of the code that tests must notice.

    Attributes
    ----------
    name
        What it does, in plain words.
    file
        Where, below src/anonhist.
    piece, replacement
        Code that stands there once outside of docstrings, and what stands there instead.
    test
        A test, or a file of tests, below tests, that must fail then.
    """

    name: str
    file: str
    piece: str
    replacement: str
    test: str

    def apply(self, package: Path) -> bool:
        """Change a copy of the package, unless the piece is not there exactly once."""
        path = package / self.file
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        docstrings = docstring_lines(text) if path.suffix == ".py" else set()
        found = [each.start() for each in re.finditer(re.escape(self.piece), text)]
        places = [at for at in found if text.count("\n", 0, at) + 1 not in docstrings]
        if len(places) != 1:
            return False
        path.write_text(text[: places[0]] + self.replacement + text[places[0] + len(self.piece) :], encoding="utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()
        return True


MUTANTS = (
    # Noise, and what it is for.
    Mutant("all noise that is drawn exactly × .7", "randomness/source.py",
           "    if exact < SMALLEST_GAMMA:",
           "    exact = exact * 10 / 7\n    if exact < SMALLEST_GAMMA:",
           "randomness/test_distributions.py::test_the_mean_absolute_value"),
    Mutant("noise of the Frobenius mechanism × .7", "mechanisms/frobenius/mechanism.py",
           "CoordinateNoise(self.epsilon_per_cell, noise)",
           "CoordinateNoise(self.epsilon_per_cell * 10 / 7, noise)",
           "mechanisms/test_frobenius.py::test_all_noise_is_of_the_rate_that_a_unit_pays_for"),
    Mutant("partitions drawn with ε / .7", "mechanisms/exponential/calibration.py",
           "target = float(epsilon) * (1 - _SAFETY)",
           "target = float(epsilon) / 0.7",
           "mechanisms/test_partition_distribution.py::test_calibration_spends_at_most_epsilon"),
    Mutant("bounded partitions drawn with ε / .7", "mechanisms/exponential/partition.py",
           "calibrate(self.epsilon_per_cell, 0.0, chains=_CHAINS)",
           "calibrate(self.epsilon_per_cell * 10 / 7, 0.0, chains=_CHAINS)",
           "mechanisms/test_bounded_partition.py::test_exact_losses_on_all_neighbours"),
    Mutant("a walk that goes one item beyond its cap", "mechanisms/exponential/boundary_walk.py",
           "self.most // (count + 1)",
           "(self.most + 1) // (count + 1)",
           "mechanisms/test_bounded_walk.py::test_the_walk_has_the_stated_distribution"),
    Mutant("a walk that flips corners at its cap", "mechanisms/exponential/boundary_walk.py",
           "        if away and ahead < rose:",
           "        if away and ahead < 1:",
           "mechanisms/test_bounded_walk.py::test_the_walk_has_the_stated_distribution"),
    Mutant("a walk whose flags survive at its cap", "mechanisms/exponential/boundary_walk.py",
           "return 1, not rose and coins.wait() >= gap - 1 and coins.once(), False",
           "return 1, not rose and coins.wait() >= gap - 1 and coins.once(), coins.share()",
           "mechanisms/test_bounded_walk.py::test_the_walk_has_the_stated_distribution"),
    Mutant("a walk that need not turn before its cap", "mechanisms/exponential/boundary_walk.py",
           "if left >= room else",
           "if left > room else",
           "mechanisms/test_bounded_walk.py::test_the_walk_has_the_stated_distribution"),
    Mutant("noise of large counts of PrivHist × .7", "mechanisms/privhist.py",
           "noise(for_cut, large.size)",
           "noise(for_cut * 10 / 7, large.size)",
           "mechanisms/test_privhist.py::test_every_step_draws_noise_of_the_rate_it_pays_for"),
    Mutant("noise of the prevalence mechanism × .7", "mechanisms/additive.py",
           "return self.epsilon / changes",
           "return self.epsilon * 10 / (7 * changes)",
           "mechanisms/test_prevalence.py::test_an_item_changes_prevalences_by_what_the_noise_is_for"),
    Mutant("noise of the cumulative mechanism × .7", "mechanisms/additive.py",
           "noise(self.epsilon_per_cell, self.public_cap)",
           "noise(self.epsilon_per_cell * 10 / 7, self.public_cap)",
           "mechanisms/test_noise_distributions.py::test_noise_for_less_than_what_neighbours_differ_in_is_caught[cumulative]"),
    Mutant("noise of the isotonic mechanism × .7", "mechanisms/additive.py",
           "noise(self.epsilon_per_cell, self.public_labels)",
           "noise(self.epsilon_per_cell * 10 / 7, self.public_labels)",
           "mechanisms/test_noise_distributions.py::test_noise_for_less_than_what_neighbours_differ_in_is_caught[isotonic]"),
    # Slow as a whole, with all estimators: that noise has the rate it is paid for is tested nowhere else.
    Mutant("noise of private estimators × .7", "mechanisms/estimators/statistic_mechanism.py",
           "noise(self._statistic_epsilon / self._sensitivity(weights), 1)",
           "noise(self._statistic_epsilon * 10 / (7 * self._sensitivity(weights)), 1)",
           "mechanisms/estimators/test_private_distributions.py::test_largest_loss_over_all_neighbours_is_epsilon_at_most[entropy-plug-in]"),
    Mutant("windows of groups that forget how many a label is in", "mechanisms/window_mechanism.py",
           "return unit.groups if unit.max_count is not None else unit.max_distance",
           "return 1 if unit.max_count is not None else unit.max_distance",
           "mechanisms/test_windows_groups.py::test_noise_is_for_all_groups_of_a_unit"),
    Mutant("noise of a sketch × .7", "sketches/sketch.py",
           "counters = draw(gamma, addresses.size, source=entropy)",
           "counters = draw(gamma * 10 / 7, addresses.size, source=entropy)",
           "sketches/test_sketch.py::test_the_noise_is_drawn_for_every_counter_before_anything_else"),
    Mutant("merged sketches that forget how many a user is in", "sketches/promise.py",
           "PrivacyUnit.user(max_items=unit.max_items, sketches=sketches, name=unit.name)",
           "PrivacyUnit.user(max_items=unit.max_items, name=unit.name)",
           "sketches/test_promise.py::test_users_may_be_in_every_sketch_so_epsilons_add_up"),
    # Reports of people.
    Mutant("k-rr that forgets one label", "local/randomizers/closed.py",
           "return self.odds / (self.odds + (self.size - 1))",
           "return self.odds / (self.odds + (self.size - 2))",
           "local/test_matrices.py::test_no_report_is_more_than_e_to_the_epsilon_times_likelier"),
    Mutant("k-rappor that spends ε on each bit", "local/randomizers/unary.py",
           "ExponentialQuotient.exponential(self.epsilon / 2)",
           "ExponentialQuotient.exponential(self.epsilon)",
           "local/test_matrices.py::test_no_report_is_more_than_e_to_the_epsilon_times_likelier"),
    Mutant("RAPPOR that promises for one hash alone", "local/randomizers/rappor.py",
           "logarithm(((1 - self._half) / self._half) ** 2, self.hashes)",
           "logarithm(((1 - self._half) / self._half) ** 2, 1)",
           "local/test_rappor.py::test_any_number_of_reports_costs_epsilon_at_most_and_one_costs_less"),
    Mutant("local hashing that keeps the bucket too often", "local/randomizers/local_hashing.py",
           "bernoulli((self.odds - 1) / (self.odds + (self.buckets - 1)), users",
           "bernoulli(self.odds / (self.odds + (self.buckets - 1)), users",
           "local/test_local_hashing.py::test_open_surveys_take_any_text_and_need_candidates"),
    Mutant("subset selection that holds the value too often", "local/randomizers/closed.py",
           "holding = self.subset_size * self.odds\n",
           "holding = (self.subset_size + 1) * self.odds\n",
           "local/test_matrices.py::test_no_report_is_more_than_e_to_the_epsilon_times_likelier"),
    Mutant("reports of blocks that hold the value too often", "local/block_design.py",
           "chosen = self.design.support * (odds - 1) * self.base(odds)",
           "chosen = self.design.support * odds * self.base(odds)",
           "local/test_block_design.py::test_reports_follow_the_matrix_and_not_another"),
    # Graphs.
    Mutant("an edge that changes one degree", "graphs/graph.py",
           "return 1 if self.direction.is_directed else 2",
           "return 1",
           "graphs/edge/test_edge_mechanism.py::test_one_edge_moves_the_list_by_what_the_unit_says"),
    Mutant("a projection whose distance is one less", "graphs/projection.py",
           "if direction.is_directed else 2 * max_degree\n\n\ndef histogram",
           "if direction.is_directed else 2 * max_degree - 1\n\n\ndef histogram",
           "graphs/node/test_sensitivity.py::test_without_directions_a_star_among_pairs_attains_the_constants"),
    Mutant("a flow whose distance is the bound, not twice it", "graphs/flow.py",
           "return (3 if direction.is_directed else 2) * parse",
           "return (3 if direction.is_directed else 1) * parse",
           "graphs/flow/test_degree_flow.py::test_one_node_moves_the_list_of_every_small_graph_by_twice_the_cap"),
    # Bounds on what counts, and what chooses it.
    Mutant("one item more of a user in DuckDB", "ingest/user_bounds.py",
           "(number * {most} + start) % total < {most}{or_named}",
           "(number * {most} + start) % total <= {most}{or_named}",
           "ingest/test_users.py::test_null_labels_are_bounded[csv]"),
    Mutant("one item more of a user in memory", "ingest/user_bounds.py",
           "((product + start % total) % total < bound.most)",
           "((product + start % total) % total <= bound.most)",
           "ingest/test_users.py::test_null_labels_are_bounded[polars]"),
    Mutant("one item more of a user in parts", "ingest/parts/rows.py",
           "kept = np.flatnonzero(rank < most)",
           "kept = np.flatnonzero(rank <= most)",
           "ingest/test_parts.py::test_the_first_rows_of_each_user_are_kept_across_batches"),
    Mutant("counts above the cap that stay one above it", "mechanisms/setting.py",
           "np.append(profile.counts[below], max_count)",
           "np.append(profile.counts[below], max_count + 1)",
           "mechanisms/test_prevalence.py::test_capping_keeps_labels"),
    Mutant("one group more of a label", "ingest/group_names.py",
           'return ranked.filter(nw.col("rank") <= most)',
           'return ranked.filter(nw.col("rank") <= most + 1)',
           "ingest/test_groups.py::test_labels_are_in_few_groups_whichever"),
    Mutant("a key of the random order that is always the same", "ingest/random_order.py",
           "SystemSource().words(2).tolist()",
           "(7, 7)",
           "ingest/test_users.py::test_the_key_is_drawn_anew_and_kept"),
    # Budgets.
    Mutant("noise that is drawn before its charge", "releases/content.py",
           "    with recording(account, price) if earlier is None",
           "    make(None)\n    with recording(account, price) if earlier is None",
           "accounting/test_recording.py::test_no_noise_is_drawn_where_too_little_is_left"),
    Mutant("private estimates that nobody charges", "mechanisms/estimators/statistic_mechanism.py",
           "with recording(self.account, lambda: price) as recorded:",
           "with recording(None, lambda: price) as recorded:",
           "accounting/test_recording.py::test_private_estimates_are_charged"),
    Mutant("a refund although data were read", "accounting/recording.py",
           "if not (isinstance(error, AnonhistError) and error.is_same_for_all_rows):\n                self.keep()",
           "if False:\n                self.keep()",
           "accounting/test_recording.py::test_what_fails_while_reading_stays_charged_unless_it_is_public"),
    Mutant("a budget that cannot be spent to the last bit", "accounting/ledger.py",
           "if quote.cost.epsilon > quote.left.epsilon or quote.cost.delta > quote.left.delta:",
           "if quote.cost.epsilon >= quote.left.epsilon or quote.cost.delta > quote.left.delta:",
           "accounting/test_ledger.py::test_charges_add_up_exactly_and_to_the_last_bit"),
    Mutant("a composition whose δ does not grow with the steps", "privacy/guarantee.py",
           "losses = [(steps * epsilon, delta_after(steps, epsilon, delta)) for",
           "losses = [(steps * epsilon, delta) for",
           "privacy/test_composition.py::test_items_cost_a_user_m_times_if_that_is_assumed"),
    # What is read.
    Mutant("times of pandas whose names depend on other rows", "ingest/naming.py",
           "map(partial(value_name, only_whole=only_whole)).astype(object)",
           "astype(str)",
           "ingest/test_one_name.py::test_no_other_row_changes_how_a_time_of_pandas_is_written"),
    Mutant("items without a label that are counted as labels", "ingest/query.py",
           "left_out = sum(int(count) * int(prevalence) for",
           "left_out = sum(int(prevalence) for",
           "ingest/test_users.py::test_null_labels_without_users[csv]"),
    # What is told and written.
    Mutant("quantiles of noise .8 as wide", "mechanisms/noise.py",
           "return quantile if rate == epsilon else",
           "return int(0.8 * quantile) if rate == epsilon else",
           "mechanisms/test_noise_quantile.py::test_the_quantile_is_the_least_that_holds"),
    Mutant("a page without its banner", "report/frame.html",
           "{% if banner %}<p",
           "{% if not banner %}<p",
           "report/test_degree_page.py::test_the_truth_is_shown_only_under_a_loud_banner"),
    Mutant("a part that any file replaces", "replacing.py",
           "if there not in (None, kind):",
           "if there not in (None, kind, PrivateKind.PART):",
           "formats/test_replacing.py::test_private_files_are_replaced_by_their_like_alone"),
    Mutant("a file of an older version that is read", "formats/untrusted.py",
           'or top["version"] != version:',
           'or top["version"] > version:',
           "formats/test_bad_files.py::test_bad_documents_are_refused_through_every_way_in"),
    Mutant("a release file whose δ is not that of its mechanism", "formats/document.py",
           "if (guarantee.delta, guarantee.arithmetic) != (mechanism.delta, mechanism.arithmetic):",
           "if guarantee.arithmetic != mechanism.arithmetic:",
           "formats/test_bad_promises.py::test_promises_that_no_mechanism_makes_are_refused_through_every_way_in"),
    Mutant("an error that names a value outside of the alphabet", "local/alphabet.py",
           "except (KeyError, TypeError):\n                raise DataError(_OUTSIDE) from None",
           'except (KeyError, TypeError) as error:\n                raise DataError(f"{_OUTSIDE} {error}") from None',
           "local/test_alphabet.py::test_values_outside_are_refused_without_being_named"),
)  # fmt: skip


def docstring_lines(text: str) -> set[int]:
    """Return the numbers of all lines of docstrings."""
    return {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def python(source: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python at the root of the repository, so that it imports a copy of the package and not what is installed."""
    path = os.pathsep.join(map(str, (source, ROOT / "tests" / "kit", ROOT / "papers" / "src")))
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST
    )


def verdict(mutant: Mutant, source: Path) -> str:
    """Make a mutant of a copy of the package and return what its tests say: first of all, whether it was killed."""
    if not mutant.apply(source / "anonhist"):
        return "LOST: its piece of code is not there exactly once"
    imported = python(source, "-c", "import anonhist; print(anonhist.__file__)").stdout.strip()
    if not Path(imported).is_relative_to(source):
        return f"BROKEN: tests do not import the copy, but {imported!r}"
    try:
        done = python(source, *PYTEST, f"tests/{mutant.test}")
    except subprocess.TimeoutExpired:
        return "BROKEN: its tests do not end"
    if done.returncode == 0:
        return "SURVIVED"
    failed = re.search(r"^FAILED (.*)$", done.stdout, re.MULTILINE)
    if done.returncode != 1 or failed is None or SENSELESS.search(done.stdout):
        return f"BROKEN: {(done.stdout + done.stderr).strip()[-500:]}"
    return f"killed: {failed[1].partition(' - ')[2]}"


def run(base: Path, mutant: Mutant) -> tuple[str, float]:
    """Return the verdict on a mutant of a package, and how many seconds it took."""
    begun = monotonic()
    with TemporaryDirectory() as folder:
        copytree(base, Path(folder) / "anonhist")
        return verdict(mutant, Path(folder).resolve()), monotonic() - begun


def main() -> int:
    """Run what is asked for, and return the exit status."""
    parser = argparse.ArgumentParser(description="Show that tests notice what must never happen.")
    parser.add_argument("--only", metavar="NAME-PART", default="", help="only mutants with this in their names")
    parser.add_argument("--list", action="store_true", help="list the mutants, and run none")
    asked = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if asked.only in mutant.name]
    if asked.list:
        print("\n".join(f"{mutant.name}: {mutant.file}, {mutant.test}" for mutant in chosen))
        return 0
    killed, begun = 0, monotonic()
    # All are mutants of one state of the code, whoever edits it meanwhile.
    with TemporaryDirectory() as folder, ThreadPoolExecutor(AT_A_TIME) as workers:
        base = copytree(ROOT / "src" / "anonhist", Path(folder) / "anonhist")
        for mutant, (told, seconds) in zip(chosen, workers.map(partial(run, base), chosen), strict=True):
            killed += told.startswith("killed")
            print(f"{mutant.name} ({seconds:.0f} s): {told}", flush=True)
    print(f"{killed} of {len(chosen)} mutants were killed, in {monotonic() - begun:.0f} s.")
    return 0 if chosen and killed == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
