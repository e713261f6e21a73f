"""Files and tables that Spark reads: as DuckDB reads them, or refused with a sentence."""

import gzip
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.cli.entry import run
from anonhist.errors import AnonhistError, DataError, MissingExtraError, UsageError
from anonhist.ingest import EngineLimits, SparkFiles, read_profile
from anonhist.ingest.columns import Schema
from anonhist.ingest.files import read_by
from anonhist.ingest.groups.read import read_groups
from anonhist.ingest.spark import check_reachable, opened_table
from anonhist.profiles import Profile
from anonhist_testing.cases import each_of

KEY = "0123456789abcdef" * 2
EVENTS = b'who,what \nu1,a\nu1,"b ""c"", d"\nu2,\nu2,"x\ny"\nu1,""\n,a\nu3, a \nu3,7.0\nu3,7\nu3,NULL\nu3,#\n'
LINES = [
    *({"what": value, "who": "u1"} for value in ("a", 7.0, 7, 1.5, True, None, [1, 2], {"a": 1}, "", 1e3, "7.0")),
    {"who": "u2"},
    {"what": 12345678901234567890, "who": "u2"},
    {"what": "é", "who": None, "more": 1},
]


def write(folder: Path, files: dict[str, bytes]) -> None:
    """Write files, packed as their endings say."""
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
@each_of(
    ("files", "pattern", "said"),
    [
        ({"a.csv": EVENTS}, "*.csv", {}),
        ({"a.csv.gz": EVENTS}, "*.csv.gz", {}),
        ({"a.tsv": b"who\twhat\nu1\ta,b\n"}, "a.tsv", {}),
        ({"a.csv": b"who;what\nu1;a\n"}, "a.csv", {"delimiter": ";"}),
        ({"a.csv": b"\xef\xbb\xbfwho,what\r\nu1,a\r\nu1,a\r\n"}, "a.csv", {}),
        ({"a.csv": b"who,what\n"}, "a.csv", {}),
        ({"who=u9/a.csv": EVENTS, "who=u9/b.csv": EVENTS}, "who=*/*.csv", {}),
        (
            {"a.csv": b"\xef\xbb\xbfu1,a\nu1,b\n"},
            "a.csv",
            {"header": False, "label": "column1", "user": "column0"},
        ),
        ({"a.jsonl": "\n\n".join(map(json.dumps, LINES)).encode() + b"\nnull\n"}, "a.jsonl", {}),
    ],
)
def test_the_same_rows_count_as_with_duckdb(
    files: dict[str, bytes], pattern: str, said: dict[str, Any], tmp_path: Path
) -> None:
    write(tmp_path, files)
    path = str(tmp_path / pattern)
    given: dict[str, Any] = {"label": "what", "user": "who"} | said
    label = {name: value for name, value in given.items() if name != "user"}
    if "a.csv" not in files or b"what " not in files["a.csv"]:
        assert read_profile(SparkFiles(path), **label) == read_profile(path, **label)
    bounded: dict[str, Any] = given | {"max_per_user": 2, "order_key": KEY, "keep_null": True, "count_users": True}
    spark, duckdb = read_profile(SparkFiles(path), **bounded), read_profile(path, **bounded)
    assert (spark, spark.users) == (duckdb, duckdb.users)


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_counted_data_count_as_with_duckdb(tmp_path: Path) -> None:
    uniq = "      3 kiwi fruit\n     12  two  spaces \n      2 \n      1 kiwi fruit\n      4 \ufeffé\n".encode()
    write(tmp_path, {"a.csv": b"who,what,n\nu,a,3\nu,b,0\nu,a,2\nu,,7\n", "b.tsv": b"1\t5\n2\t0\n", "a.txt": uniq})
    for name, given in (
        ("a.csv", {"label": "what", "count": "n"}),
        ("a.csv", {"label": "what", "count": "none"}),
        ("b.tsv", {"header": False, "format": "prevalences"}),
        ("b.tsv", {"header": False, "format": "counts"}),
        ("a.txt", {"format": "uniq"}),
    ):
        for keep_null in (False, True):
            said: dict[str, Any] = given | {"keep_null": keep_null}
            assert read_profile(SparkFiles(tmp_path / name), **said) == read_profile(tmp_path / name, **said)
    for text, told in ((b"a;b\n1;2\n", "';' in its name"), (b"sep=;\na;b\n", "a line for Excel")):
        write(tmp_path, {"c.csv": text})
        with pytest.raises(DataError, match=told):
            read_profile(SparkFiles(tmp_path / "c.csv"))
    with pytest.raises(UsageError, match="Column 'n' may hold"):
        read_profile(SparkFiles(tmp_path / "a.csv"), label="what")
    write(tmp_path, {"a.txt": b"      3 a\nhunter2\n"})
    with pytest.raises(DataError, match="is not output of uniq -c"):
        read_profile(SparkFiles(tmp_path / "a.txt"), format="uniq")


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_lines_and_parquet(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": b'\xef\xbb\xbfa\nb\n\na,"b\n'})
    assert read_profile(SparkFiles(tmp_path / "a.txt"), format="labels") == Profile.from_counts([1, 1, 1])
    pq.write_table(pa.table({"what.is": ["a", "b", "a"], "g": [1, 1, 2]}), tmp_path / "a.parquet")
    files = SparkFiles(tmp_path / "*.parquet")
    assert read_profile(files, label="what.is") == Profile.from_counts([2, 1])
    assert read_groups(files, label="what.is", by="g", groups=[1])["1"].n == 2
    # The name of a folder is no column.
    folder = tmp_path / "all.parquet"
    (folder / "day=1").mkdir(parents=True)
    (tmp_path / "a.parquet").rename(folder / "day=1" / "a.parquet")
    assert read_profile(SparkFiles(folder), label="what.is") == Profile.from_counts([2, 1])
    with pytest.raises(DataError, match="There is no column 'day' to use as label"):
        read_profile(SparkFiles(folder), label="day")


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_nan_is_missing_and_words_are_labels(tmp_path: Path) -> None:
    words = ("NaN", "Infinity", "-INF", '"NaN"', "\U0001f600", r"\ud83d")
    rows = ['{"what":NaN}'] * 50 + [json.dumps({"what": word}) for word in words for _ in range(50)]
    write(tmp_path, {"a.jsonl": "\n".join(rows).encode()})
    assert read_profile(SparkFiles(tmp_path / "a.jsonl"), label="what") == Profile.from_counts([50] * 6)
    for number in ("Infinity", "-Infinity", "1e400"):
        write(tmp_path, {"a.jsonl": f'{{"what":{number}}}\n'.encode()})
        with pytest.raises(AnonhistError, match="cannot represent every whole number"):
            read_profile(SparkFiles(tmp_path / "a.jsonl"), label="what")


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
@each_of(
    ("files", "said", "told"),
    [
        ({"a.csv": b"who,what\nu1\n"}, {}, "more or fewer columns than the first"),
        # The field that is missing is not asked for.
        ({"a.csv": b"what,who\na\n"}, {}, "more or fewer columns than the first"),
        ({"a.csv": b"what,who\na,u1,x\n"}, {}, "more or fewer columns than the first"),
        ({"a.csv": b"what,who\na,u\n", "b.csv": b"who,what\na,u\n"}, {}, "begins with other columns than the first"),
        ({"a.csv": b'what\n"a"b\n'}, {}, "check delimiter and quoting"),
        ({"a.csv": b"what\na\r\nb\n"}, {}, "lines have different endings"),
        ({"a.csv": b"what\n\xff\n"}, {}, "is not UTF-8 text"),
        ({"a.csv": b""}, {}, "is empty: a table needs at least a header line"),
        ({"a.csv": b"what,What\na,b\n"}, {}, "Spark cannot distinguish"),
        ({"a.csv": b"who\nu\n"}, {}, "There is no column 'what' to use as label; there is 1 column"),
        ({"a.txt": b"a\n\xff\n"}, {"format": "labels", "label": None}, "is not UTF-8 text"),
        ({"a.jsonl": b'{"what":"a"\n'}, {}, "is not in JSON lines format"),
        ({"a.jsonl": b'{"what":"a"} x\n'}, {}, "is not in JSON lines format"),
        ({"a.jsonl": b'[{"what":"a"}]\n'}, {}, "is not in JSON lines format"),
        ({"a.jsonl": b"{'what':'a'}\n"}, {}, "is not in JSON lines format"),
        ({"a.jsonl": rb'{"what":"\\\ud83d"}'}, {}, "contains half of a surrogate pair"),
        ({"a.jsonl": rb'{"what":"\ude00\ud83d\ude00"}'}, {}, "contains half of a surrogate pair"),
        ({"a.jsonl": b'{"what":1e17}\n'}, {}, "floats of 2^53 and more"),
        ({"a.jsonl": b'{"what":"a"}\n'}, {"label": None}, "name the key that holds the labels"),
        ({"a.jsonl": b'{"what":"a\xff"}\n'}, {}, "is not UTF-8 text"),
        ({"a.parquet": b"none"}, {}, "is not a complete Parquet file"),
        ({"a.csv.zst": b""}, {}, "it unpacks .gz, but not .zst"),
        ({"a": b""}, {}, "does not end like files that Spark reads"),
        ({}, {}, "does not exist, according to Spark"),
    ],
)
def test_what_is_refused(files: dict[str, bytes], said: dict[str, Any], told: str, tmp_path: Path) -> None:
    write(tmp_path, files)
    ending = "".join(Path(next(iter(files), "x.csv")).suffixes)
    with pytest.raises(AnonhistError) as caught:
        read_profile(SparkFiles(tmp_path / f"*{ending}"), **({"label": "what"} | said))
    sentence = str(caught.value)
    assert told in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert caught.value.__cause__ is None


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_parquet_files_of_several_types_are_refused(tmp_path: Path) -> None:
    for at, values in enumerate((["a"], [1])):
        pq.write_table(pa.table({"what": values}), tmp_path / f"{at}.parquet")
    with pytest.raises(DataError, match="consists of files with different columns"):
        read_profile(SparkFiles(tmp_path / "*.parquet"))


@pytest.mark.slow
def test_tables_over_a_connection(spark_server: tuple[Any, str], tmp_path: Path) -> None:
    session, url = spark_server
    pq.write_table(pa.table({"what": ["a", "b", "a"]}), tmp_path / "a.parquet")
    session.sql(f"CREATE TABLE IF NOT EXISTS events USING parquet LOCATION '{tmp_path}/a.parquet'")
    assert read_profile(url, label="what", table="events") == Profile.from_counts([2, 1])
    with pytest.raises(DataError, match=r"Spark has no table 'none'; it has .*'events'"):
        read_profile(url, label="what", table="none")
    with pytest.raises(UsageError, match=r"Name the table of Spark to read .*'events'"):
        read_profile(url, label="what")
    with pytest.raises(UsageError, match="held by another engine"):
        read_profile(url, label="what", table="events", limits=EngineLimits(threads=1))
    # Which keys lines of JSON have, their rows decide.
    (tmp_path / "a.json").write_text('{"what": "a"}\n')
    for name, is_declared in (
        ("events", True),
        (f"parquet.`{tmp_path}/a.parquet`", True),
        (f"json.`{tmp_path}/a.json`", False),
    ):
        with opened_table(url, name) as opened:
            assert (opened.header.names, opened.header.schema is Schema.DECLARED) == (["what"], is_declared)
    session.sql("DROP TABLE events")


@pytest.mark.slow
def test_the_command_line(
    spark_server: tuple[Any, str], tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    session, url = spark_server
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.csv"
    write(tmp_path, {"a.csv": b"what,who,day\na,u,2026-11-02\nb,u,2026-11-02\na,v,2026-11-03\n"})
    session.sql(f"CREATE TABLE IF NOT EXISTS shop USING csv OPTIONS (header true) LOCATION '{path}'")
    said = ["--label", "what", "--quiet"]
    noise = ["--epsilon", "1", "--simulations", "0"]
    days = ["--cumulative-by", "day(day)", "--days", "2026-11-02..2026-11-03", "--thresholds", "1"]
    for number, words in enumerate(
        [
            ["release", str(path), "--engine", "spark", *said, *noise],
            ["release", str(path), "--engine", "spark", *said, *noise, "--by", "who", "--groups", "u,v"],
            ["release", str(path), "--engine", "spark", *said, "--epsilon", "1", *days],
            ["release", str(path), "--engine", "spark", *said, "--epsilon", "1", *days, "--by", "who", "--groups", "u"],
            ["release", url, "--table", "shop", *said, *noise],
        ]
    ):
        assert run([*words, "-o", f"{number}.json"]) == 0, capfd.readouterr().err
    (tmp_path / "edges.csv").write_text("from,to\na,b\nb,c\n")
    degrees = ["degrees", f"{tmp_path}/edges.csv", "--unit", "edge", "--engine", "spark", "--quiet"]
    assert run([*degrees, *noise, "-o", "degrees.json"]) == 0, capfd.readouterr().err
    assert run(["sketch", "new", "--epsilon", "1", "--buckets", "16", "-o", "a.sketch"]) == 0
    update = ["sketch", "update", "a.sketch", str(path), "--label", "what", "--engine", "spark", "--quiet"]
    assert run(update) == 2
    assert "partials" in capfd.readouterr().err
    assert run([*update, "--partials", "exact"]) == 0, capfd.readouterr().err
    assert run(["estimate", "support-size", str(path), "--engine", "spark", *said]) == 0
    assert run(["curve", "guessing", str(path), "--engine", "spark", *said, "-o", "curve.csv"]) == 0
    assert (
        run(
            [
                "compare",
                str(path),
                "--engine",
                "spark",
                *said,
                "--epsilon",
                "1",
                "--repeats",
                "2",
                "--mechanism",
                "partition",
            ]
        )
        == 0
    )
    capfd.readouterr()
    for words, told in (
        ([str(path), "--engine", "spark", "--threads", "1"], "set its limits there"),
        (["-", "--engine", "spark"], "Spark cannot read standard input"),
        ([url, "--engine", "spark"], "--engine applies only to files"),
        ([str(tmp_path / "none.csv"), "--engine", "spark"], "does not exist, according to Spark"),
    ):
        assert run(["release", *words, *said, *noise, "-o", "none.json"]) in (2, 3)
        assert told in capfd.readouterr().err
    session.sql("DROP TABLE shop")


@pytest.mark.slow
def test_a_cluster(spark: Any, tmp_path: Path) -> None:
    del spark  # Java is there
    pq.write_table(pa.table({"what": ["a", "b", "a"]}), tmp_path / "a.parquet")
    with cluster() as url:
        command = [sys.executable, "-m", "anonhist", "release", url, "--table", f"parquet.`{tmp_path}/a.parquet`"]
        rest = ["--epsilon", "50", "--simulations", "0", "--quiet", "--label", "what", "-o", "-"]
        done = subprocess.run([*command, *rest], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split(",")[:2] for line in done.stdout.splitlines()[1:]] == [["1", "1"], ["2", "1"]]


@contextmanager
def cluster() -> Iterator[str]:
    """Run a cluster of one worker, and yield its address."""
    import pyspark

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    url = f"spark://127.0.0.1:{port}"
    home = Path(pyspark.__file__).parent
    deploy, here = "org.apache.spark.deploy", ["--host", "127.0.0.1", "--webui-port", "0"]
    with TemporaryDirectory() as folder:
        worker = [f"{deploy}.worker.Worker", *here, "--cores", "1", "--memory", "1g", "--work-dir", folder, url]
        running = [
            subprocess.Popen(
                [str(home / "bin" / "spark-class"), *words],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "SPARK_HOME": str(home)},
            )
            for words in ([f"{deploy}.master.Master", *here, "--port", port], worker)
        ]
        try:
            for _ in range(300):
                with socket.socket() as asked:
                    if not asked.connect_ex(("127.0.0.1", int(port))):
                        break
                sleep(0.1)
            yield url
        finally:
            for each in running:
                each.kill()
                each.wait()


@pytest.mark.slow
def test_a_spark_of_its_own_says_nothing(spark: Any, tmp_path: Path) -> None:
    del spark  # Java is there
    write(tmp_path, {"a.csv": b"what\na\nb\n"})
    command = [sys.executable, "-m", "anonhist", "release", "a.csv", "--engine", "spark", "--epsilon", "1", "-o", "-"]
    done = subprocess.run(
        [*command, "--simulations", "0", "--quiet"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("count,prevalence,")


def test_no_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"sc://127.0.0.1:{server.getsockname()[1]}"
        for name in ("pyspark", "pyspark.sql", "pyspark.sql.connect", "pyspark.sql.connect.session"):
            monkeypatch.setitem(sys.modules, name, None)
        for source, table in ((SparkFiles("a.csv"), None), (url, "events")):
            with pytest.raises(MissingExtraError, match=r"pip install 'anonhist\[spark\]'\.$"):
                read_profile(source, label="what", table=table)


def test_no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    monkeypatch.setattr(sql.SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(
        MissingExtraError, match=r"Java 17 or later, beside pyspark \(pip install 'anonhist\[spark\]'\)"
    ):
        read_profile(SparkFiles("a.csv"), label="what")


def test_an_address_that_nobody_answers_at() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        check_reachable(f"spark://127.0.0.1:1,{address}")
        check_reachable(f"sc://{address}/;token=secret")
    for url in (f"sc://{address}/;token=secret", f"spark://{address}", "sc://127.0.0.1:many"):
        with pytest.raises(DataError, match="cannot be reached; check its address") as caught:
            read_profile(url, label="what", table="events")
        assert "secret" not in str(caught.value)


def test_what_reads_what() -> None:
    with pytest.raises(UsageError, match="must be one of duckdb, spark, not 'dask'"):
        read_by("dask", "a.csv")
    assert read_by(None, "sc://host") == "sc://host"
    assert read_by("duckdb", "-") == "-"
    for engine, source in (
        ("duckdb", "sc://host"),
        ("spark", "postgresql://me:secret@host/db"),
        ("spark", "spark://h"),
    ):
        with pytest.raises(UsageError, match="is not one: leave it out") as caught:
            read_by(engine, source)
        assert "secret" not in str(caught.value)
