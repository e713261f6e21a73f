"""All that outlives a call and can change is on a list, with the reason why threads may share it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import anonhist

# Threads that ask for one of these at the same time may each compute it, and one result stays: all must be equal, and
# nobody may write to them. So each is made of frozen values alone, with no randomness, no clock and no file.
NUMBERS = "a number, a text or a tuple of them"
ARRAYS = "read-only arrays, or frozen objects that hold such"
FROZEN = "frozen values that hold no state of their own"
REVIEWED_CACHES = {
    "accounting.budget": (NUMBERS, "_common_denominator"),
    "graphs.node_degrees.PartitionDegrees": (FROZEN, "central"),
    "graphs.noisy_sums": (ARRAYS, "cells_from_above cells_from_below"),
    "ingest.engine": ("nothing; registered twice, it empties what is empty", "let_go_at_exit"),
    "ingest.sqlite_values": ("functions, which Ibis gives an engine by their names", "_in_python"),
    "graphs.degree_data.DegreeData": (ARRAYS, "band degree_sum joint_band nodes_ends"),
    "mechanisms.legs.chain.NoisyLegs": (
        "arrays that one call makes and no other sees",
        "begins first group left numbers place run",
    ),
    "releases.relations.Design": ("mappings that one call makes and no other sees", "children levels parts relations"),
    "releases.grouped.RunsOfTotals": (
        "runs of a generator that follows from what was released",
        "on_nothing on_releases",
    ),
    "local.collection.Collection": (FROZEN, "digest guarantee shown_guarantee"),
    "collect.served.Served": ("numbers, and a mapping that never leaves the object", "_digits last_day"),
    "mechanisms.bound_choosing.PreparedChoice": ("mappings of numbers that never leave the object", "_growth _public"),
    "local.reports_once.OnceInEngine": ("a question to the engine of one reading", "left_out"),
    "local.alphabet.Alphabet": ("a mapping that never leaves the object", "_places"),
    "local.block_design.BlockEstimator": (
        NUMBERS,
        "_base _chances _gain average_neighbours factor null_probability offset ratio variances",
    ),
    "local.randomizers.blocks.BlockSurvey": (FROZEN, "estimator"),
    "local.randomizers.rappor.BloomSurvey": (NUMBERS, "honest_ones"),
    "local.cohort_counts.Supports": (ARRAYS, "distinct sharing"),
    "local.cohort_estimates.CohortLimits": (ARRAYS, "_sums"),
    "local.cohort_counts.HashedCohorts": (ARRAYS, "_coefficients"),
    "local.cohort_counts.PermutedCohorts": (ARRAYS, "_permutations"),
    "local.estimate.FrequencyEstimate": (ARRAYS, "intervals simultaneous_intervals"),
    "local.randomizers.blocks.HadamardResponse": (FROZEN, "block_design"),
    "local.heavy_hitters.HeavyHitters": (ARRAYS, "_bytes _hashing"),
    "local.randomizers.blocks.HybridProjectiveGeometry": (FROZEN, "block_design"),
    "local.randomizers.unary.KRAPPOR": (NUMBERS, "false_support_probability true_support_probability"),
    "local.randomizers.closed.KRR": (NUMBERS, "false_support_probability true_support_probability"),
    "local.randomizers.local_hashing.LocalHashing": (NUMBERS, "false_support_probability true_support_probability"),
    "local.randomizers.open.CohortSurvey": (FROZEN, "functions"),
    "local.randomizers.unary.OptimizedUnary": (NUMBERS, "false_support_probability true_support_probability"),
    "local.randomizers.blocks.ProjectiveGeometry": (
        FROZEN,
        "_design false_support_probability space true_support_probability",
    ),
    "local.randomizers.rappor.ORAPPOR": (NUMBERS, "false_support_probability true_support_probability"),
    "local.randomizers.open.ORR": (NUMBERS, "false_support_probability true_support_probability"),
    "local.randomizers.closed.SupportProbabilities": (NUMBERS, "_kept_probability _probabilities"),
    "local.randomizers.rappor.RAPPOR": (NUMBERS, "false_support_probability true_support_probability"),
    "local.randomizers.closed.SubsetSelection": (
        NUMBERS,
        "false_support_probability true_support_probability",
    ),
    "local.survey.Survey": (NUMBERS, "digest odds"),
    "local.randomizers.unary.UnarySurvey": (NUMBERS, "honest_ones"),
    "mechanisms.exponential.side_chain": ("see Band below; a chain keeps the one it was given", "band_of"),
    "mechanisms.bound_choosing": (NUMBERS, "_runs_on"),
    "mechanisms.exponential.calibration": (NUMBERS, "calibrate"),
    "mechanisms.estimators.entropy": (NUMBERS, "recommended_polynomial"),
    "mechanisms.estimators.num_labels.NumLabelsMechanism": (NUMBERS, "taken_off"),
    "mechanisms.estimators.statistic_mechanism": (ARRAYS, "populations"),
    "mechanisms.estimators.support": (NUMBERS, "recommended_smoothing"),
    "mechanisms.setting.Setting": (FROZEN, "guarantee"),
    "mechanisms.noise": (NUMBERS, "_mixed_quantile noise_quantile weighted_quantile"),
    "mechanisms.grouping.GroupSelection": (NUMBERS, "threshold"),
    "mechanisms.windows_by_day.Levels": (ARRAYS, "_block _covariance _part _precision _sizes variances"),
    "mechanisms.windows_by_day.TwoLevelMechanism": ("a mapping that never leaves the object", "_known"),
    "mechanisms.window_mechanism.WindowMechanism": (ARRAYS, "_spread"),
    "numeric.best_polynomial": (NUMBERS, "best_polynomial"),
    "numeric.exponential": (NUMBERS, "_exp_bounds"),
    "numeric.projective_space.ProjectiveSpace": (ARRAYS, "_first _gaps _powers"),
    "numeric.projective_space": (ARRAYS, "cyclic_order prime_factors"),
    "properties.entropy": (ARRAYS, "_head"),
    "properties.sampling.SampleDistribution": (ARRAYS, "_means _table"),
    "properties.unseen_labels": (ARRAYS, "log_factorials"),
    "randomness.categorical.InversionTable": (ARRAYS, "_floors _lookup"),
    "randomness.source": (NUMBERS, "_is_inside"),
    "randomness.bernoulli": (ARRAYS, "_table"),
    "randomness.geometric": (ARRAYS, "_laplace_tables _tables"),
    "report.shown": ("templates, each compiled once and kept with a lock held, as Jinja2 does", "_templates"),
    "sketches.addresses.DomainAddresses": (ARRAYS, "_index"),
    "sketches.noise.NoiseDistribution": (NUMBERS, "variance"),
}
# What functions change beyond themselves.
REVIEWED_OUTSIDE = {
    "accounting.recording.recording: _staying": "only commands ask for it, which make one release at a time",
    "accounting.recording.recording: error": "an error on its way, which the thread has that raised it",
    "accounting.recording.completing: error": "an error on its way, which the thread has that raised it",
    "ingest.holders.telling_of_rows: error": "an error on its way, which the thread has that raised it",
    "accounting.sql.SqlStorage.__init__: _forks": "with its lock held, which a fork holds, too",
    "cli.entry._prepare_streams: os": "the command line, before it does anything",
    "cli.entry._prepare_streams: sys": "the command line, before it does anything",
    "cli.signals._on_signal: _received": "signals come to the main thread; a list takes one more in one step",
    "cli.signals._watch: _received": "a list takes one more in one step, and only the first counts",
    "formats.atomic._remove: _parts": "each thread takes out the name that it put in; a set does so in one step",
    "formats.atomic.open_whole: _parts": "each name is put in once; a set does so in one step",
    "temporary_folder.temporary_folder: _folders": "each thread takes out what it put in; each is one step",
    "ingest.parts.write._listed: _folders": "each name is put in and taken out once; a set does so in one step",
    "ingest.sqlite_values.beside_sqlite: _BESIDE": "each thread puts in and takes out what has its own number",
    "local.survey.Survey.__init_subclass__: cls": "while the module is loaded",
}
# Objects that change after they were made.
CALL = "made in a call, for that call alone"
LOOP = "the event loop alone changes it; the thread of a scrape copies it in one step"
REVIEWED_OBJECTS = {
    "accounting.verification.Derivation": CALL,
    "accounting.sql._Forks": "with its lock held, from before a fork until after it",
    "accounting.ledger.Ledger": "its sums follow the entries in a transaction, one of which runs at a time",
    "accounting.recording.Recorded": CALL,
    "accounting.sql.SqlStorage": "its connection is made and used with its lock held, by the process that made it",
    "accounting.balance.Sums": "it follows entries in a transaction, one of which runs at a time",
    "accounting.sqlite.SqliteStorage": "what it knows of its file is found with the lock of its connection held",
    "collect.metrics.RequestTimes": LOOP,
    "collect.metrics._Times": LOOP,
    "collect.watching.Watch": LOOP,
    "collect.rate_limits.RateLimits": LOOP,
    "collect.connections.Sweep": LOOP,
    "collect.connections.": "the head of a connection, which the event loop reads",
    "collect.writer.Writer": "the event loop counts what waits, the writer's thread the session; between is a queue",
    "ingest.where._Rows": CALL,
    "ingest.where._Values": CALL,
    "profiles.where._Reader": CALL,
    "local.files._Lines": CALL,
    "local.files._Parquet": CALL,
    "sketches.files._Sink": CALL,
    "frozen.": "a value that is being copied or unpickled, which nobody has yet",
    "graphs.flow.Ratios": CALL,
    "lazy.LazyPackage": "a name always gets the same object; all are loaded with one lock held",
    "graphs.node_names.EndNames": CALL,
    "graphs.edge_documents._Vertices": CALL,
    "ingest.parts.files.PartWriter": CALL,
    "ingest.parts.rows.ascending": CALL,
    "ingest.query.Shares": CALL,
    "local.reading._Allowance": CALL,
    "ingest.locations._Whole": "threads of DuckDB read through files of their own, or one after another",
    "local.report_rows.TallySum": CALL,
    "sketches.reading._Counting": CALL,
    "mechanisms.exponential.side_chain.Band": "each power is put in place once, whole, and stays the same",
    "mechanisms.frobenius.row_weights.Future": CALL,
    "mechanisms.legs.chain.LegPosterior": CALL,
    "mechanisms.frobenius.posterior.RowPosterior": CALL,
    "mechanisms.exponential.side_chain.SideChain": CALL,
    "mechanisms.frobenius.row_weights.WindowSums": CALL,
    "numeric.hashing._Totals": CALL,
    "numeric.hashing._State": CALL,
    "numeric.fits._Counted": CALL,
    "releases.release.Release": "what was simulated first is put in place once, and all are told that",
    "sketches.likelihood.Compound": CALL,
    "sketches.sketch.Sketch": "it changes with its lock held",
}

PACKAGE = Path(anonhist.__file__).parent
CACHES = {"cache", "lru_cache", "cached_property"}
MUTATING = {"add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update"}
STARTS = {"__init__", "__post_init__", "__init_subclass__"}


def functions(tree: ast.AST, owner: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions of a module and of its classes by their qualified names; those within others go with them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from functions(node, f"{owner}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield f"{owner}{node.name}", node


def last_name(node: ast.expr) -> str:
    """Return ``cache`` of ``cache``, ``functools.cache`` and ``cache(...)``."""
    if isinstance(node, ast.Call):
        return last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def changes_in(nodes: list[ast.AST]) -> Iterator[ast.expr]:
    """Yield what is assigned to, and what a method is called of that changes things."""
    for node in nodes:
        if isinstance(node, ast.Assign | ast.Delete):
            yield from node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For | ast.NamedExpr):
            yield node.target
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATING:
            # NumPy's functions of such a name return something new.
            if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "np"):
                yield node.func
        elif isinstance(node, ast.Call) and last_name(node) in {"__setattr__", "setattr"}:
            yield ast.Attribute(node.args[0], "filled")


def root(node: ast.expr) -> ast.expr:
    """Return the variable whose part an expression is."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Starred | ast.Call):
        if isinstance(node, ast.Call):
            # What is done to vars(x) is done to x.
            node = node.args[0] if last_name(node) == "vars" and node.args else node.func
        else:
            node = node.value
    return node


def flat(nodes: Iterator[ast.expr]) -> Iterator[ast.expr]:
    for node in nodes:
        yield from flat(iter(node.elts)) if isinstance(node, ast.Tuple | ast.List) else (node,)


def own_names(nodes: list[ast.AST]) -> set[str]:
    """Return the parameters and variables of a function, and of those within it."""
    outer = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    names = {node.arg for node in nodes if isinstance(node, ast.arg)}
    names |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return names - outer - {"cls"}


def find_in(text: str, room: str) -> tuple[set[str], set[str], set[str]]:
    """Return the names of caches, of what functions change beyond themselves, and of classes whose objects change."""
    caches, outside, objects = set(), set(), set()
    for name, function in functions(ast.parse(text)):
        if any(last_name(each) in CACHES for each in function.decorator_list):
            caches.add(f"{room}.{name}")
        nodes = list(ast.walk(function))
        variables = [(target, root(target)) for target in flat(changes_in(nodes))]
        names = {variable.id for _, variable in variables if isinstance(variable, ast.Name)} - {"self"}
        outside |= {f"{room}.{name}: {each}" for each in (names - own_names(nodes) if names else ())}
        parts = [part for part, of in variables if part is not of and isinstance(of, ast.Name) and of.id == "self"]
        if parts and function.name not in STARTS:
            objects.add(f"{room}.{name.rpartition('.')[0]}")
    return caches, outside, objects


def find_all() -> tuple[set[str], set[str], set[str]]:
    kinds: tuple[set[str], set[str], set[str]] = (set(), set(), set())
    for path in PACKAGE.rglob("*.py"):
        room = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for kind, names in zip(kinds, find_in(path.read_text(encoding="utf-8"), room), strict=True):
            kind.update(names)
    return kinds


@pytest.mark.slow
def test_all_that_lasts_and_changes_is_reviewed() -> None:
    caches, outside, objects = find_all()
    assert caches == {f"{room}.{name}" for room, (_, names) in REVIEWED_CACHES.items() for name in names.split()}
    assert outside == set(REVIEWED_OUTSIDE)
    assert objects == set(REVIEWED_OBJECTS)


def test_nothing_of_the_kind_is_overlooked() -> None:
    text = """
import functools
from functools import cached_property, lru_cache
KNOWN = {}
count = 0

@functools.cache
def square(x): return x * x

@lru_cache(maxsize=3)
def cube(x): return x ** 3

def remember(x): KNOWN[x] = 1

def note(x): KNOWN.setdefault(x, []).append(x)

def counted():
    global count
    count += 1

def innocent(x):
    found = []
    found.append(x)
    x.values[0], found[0] = 1, 2
    return np.append(found, x)

class Thing:
    kinds = {}
    def __init__(self): self.here = 1
    @cached_property
    def lazy(self): return 1
    @classmethod
    def known(cls): cls.kinds[1] = 2

class Lazy:
    def grow(self): self._powers.append(1)

class Filled:
    def fill(self): object.__setattr__(self, "x", 1)

class Put:
    def put(self): self.__dict__["x"] = 1

class Made:
    def __init__(self): vars(self).update(x=1)

class Changed:
    def change(self): vars(self).update(x=1)
"""
    caches, outside, objects = find_in(text, "m")
    assert caches == {"m.square", "m.cube", "m.Thing.lazy"}
    assert outside == {"m.remember: KNOWN", "m.note: KNOWN", "m.counted: count", "m.Thing.known: cls"}
    assert objects == {"m.Lazy", "m.Filled", "m.Put", "m.Changed"}
