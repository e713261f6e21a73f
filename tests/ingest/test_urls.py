"""Files of web servers and of object stores are read in parts, and whatever is not whole is an error.

The servers are on this machine: one of the tests for files of the web, and moto's for S3.
"""

import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.cli.entry import run
from anonhist.errors import DataError, MissingExtraError, UsageError
from anonhist.graphs.reading import read_degrees
from anonhist.ingest import read_profile
from anonhist_testing.web import Web, serve

pytest.importorskip("fsspec.implementations.http", reason="fsspec[http] is not installed")

WriteTable = Callable[..., str]
Refused = Callable[..., str]
LABELS = {"label": ["b", "#a", "b", None], "other": list("1234")}
SIGNATURE = "X-Amz-Signature=hunter2"


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    with serve(tmp_path) as running:
        yield running


@pytest.mark.full
@pytest.mark.first(2)
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.csv.zst", "a.tsv", "a.jsonl", "a.jsonl.zst", "a.parquet"])
def test_every_ending_is_read(web: Web, tmp_path: Path, write_table: WriteTable, name: str) -> None:
    write_table(tmp_path / name, LABELS)
    for url in (f"{web.address}/{name}", f"{web.address}/{name}?{SIGNATURE}&x=*"):
        profile = read_profile(url, label="label", user="other", max_per_user=1)
        assert profile.counts.tolist() == [1, 2]


def test_of_parquet_only_the_columns_that_count_are_sent(web: Web, tmp_path: Path) -> None:
    random = np.random.default_rng()
    large = {"large": random.bytes(2**22), "label": random.integers(0, 9, 2**12)}
    table = pa.table(
        {"large": [large["large"][at << 10 : (at + 1) << 10] for at in range(2**12)], "label": large["label"]}
    )
    pq.write_table(table, tmp_path / "a.parquet", compression="none")
    assert read_profile(f"{web.address}/a.parquet", label="label").n == 2**12
    assert web.sent["a.parquet"] < 2**17 < (tmp_path / "a.parquet").stat().st_size / 8


@pytest.mark.full
def test_rows_are_those_of_a_local_file(web: Web, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = ["\ufefflabel, x", "#a,1", '"a,b",1', "%,2", '"a\nb",3', ",4", *(f"w{at % 9},{at}" for at in range(2000))]
    path.write_text("\n".join([*rows, ""]))
    for label in ("label", "x"):
        assert read_profile(f"{web.address}/a.csv", label=label) == read_profile(path, label=label)
    path.write_text("label\r\na\r\na,b\r\n")
    with pytest.raises(DataError, match="more or fewer columns"):
        read_profile(f"{web.address}/a.csv")


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (404, "There is no file"),
        (410, "There is no file"),
        (401, "may not be read with your credentials"),
        (403, "may not be read with your credentials"),
        (500, "the server answered with the status 500"),
    ],
)
def test_what_a_server_refuses_is_said_without_the_signature(
    web: Web, refuse: Refused, status: int, told: str, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("label\na\n")
    web.status = status
    message = refuse(DataError, f"{web.address}/a.csv?{SIGNATURE}", secret="hunter2")  # noqa: S106
    assert told in message
    assert "a.csv?***" in message


@pytest.mark.first(2)
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.csv.zst", "a.jsonl", "a.parquet"])
@pytest.mark.parametrize("how", ["kept back", "shortened", "cut at the source"])
def test_what_is_cut_off_is_an_error_and_never_fewer_rows(
    web: Web, tmp_path: Path, write_table: WriteTable, refuse: Refused, name: str, how: str
) -> None:
    random = np.random.default_rng()
    labels = [f"{number:x}" for number in random.integers(0, 2**60, 20_000)]
    write_table(tmp_path / name, {"label": labels})
    size = (tmp_path / name).stat().st_size
    assert read_profile(f"{web.address}/{name}", label="label").n == 20_000
    # At the end of a line, so that what is left looks whole.
    cut = 17 if name == "a.csv" else size // 4
    if how == "kept back":
        web.kept_back = cut
    elif how == "shortened":
        web.shortened = cut
    else:
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:-cut])
    if how == "cut at the source" and name in ("a.csv", "a.jsonl"):
        return  # nothing says how long text should be
    message = refuse(DataError, f"{web.address}/{name}?{SIGNATURE}", label="label", secret="hunter2")  # noqa: S106
    assert how == "cut at the source" or "was cut off during the download" in message


def test_a_server_that_sends_no_parts_is_refused(web: Web, tmp_path: Path, refuse: Refused) -> None:
    (tmp_path / "a.csv").write_text("label\na\n")
    (tmp_path / "b.csv").write_text("")
    assert "is empty" in refuse(DataError, f"{web.address}/b.csv")
    web.ranges = False
    assert "does not send files in parts: download the file first" in refuse(DataError, f"{web.address}/a.csv")


def test_a_server_that_is_not_there_is_said_to_be(web: Web, refuse: Refused) -> None:
    address = re.sub("[0-9]+$", "9", web.address)
    message = refuse(DataError, f"{address}/a.csv?{SIGNATURE}", secret="hunter2")  # noqa: S106
    assert "cannot be reached: check the address and the network" in message


def test_files_of_one_url_each_are_named_without_signatures(web: Web, tmp_path: Path, refuse: Refused) -> None:
    (tmp_path / "a.csv").write_text("\na\n")
    message = refuse(DataError, f"{web.address}/a.csv?{SIGNATURE}", secret="hunter2")  # noqa: S106
    assert "begins with an empty line" in message
    (tmp_path / "a.txt").write_text("a\n")
    (tmp_path / "a.xyz").write_text("a\n")
    (tmp_path / "a.db").write_text("a\n")
    for name in ("a.txt", "a.xyz", "a.db"):
        refuse(UsageError, f"{web.address}/{name}?{SIGNATURE}", secret="hunter2")  # noqa: S106


@pytest.mark.parametrize(
    "url",
    ["az://shop/a.csv", "HTTPS://host/a.csv", "hf://datasets/a.parquet", "ftp://host/a.csv", "mysql://host/a.csv"],
)
def test_of_other_urls_it_is_said_which_are_read(url: str, refuse: Refused) -> None:
    assert "https://…, http://…, s3://… or gs://…" in refuse(UsageError, url, label="label")


def test_without_the_extra_one_sentence_says_what_to_install(
    refuse: Refused, monkeypatch: pytest.MonkeyPatch, web: Web
) -> None:
    for module in ("fsspec", "fsspec.implementations.http", "fsspec.implementations.arrow"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    for url in (f"{web.address}/a.csv", "s3://shop/a.csv"):
        assert "pip install 'anonhist[remote]'" in refuse(MissingExtraError, url, label="label")


@pytest.mark.full
def test_a_release_of_a_url_does_not_hold_its_signature(
    web: Web, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text("label\n" + "a\nb\na\n" * 50)
    target, page = tmp_path / "release.json", tmp_path / "page.html"
    url = f"{web.address}/a.csv?{SIGNATURE}"
    assert run(["release", url, "--epsilon", "1", "-o", str(target), "--report", str(page)]) == 0
    assert json.loads(target.read_text())
    for text in (*capfd.readouterr(), target.read_text(), page.read_text()):
        assert "hunter2" not in text


def test_edges_behind_a_url(web: Web, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("source,target\na,b\nb,c\n")
    assert read_degrees(f"{web.address}/a.csv?{SIGNATURE}").profile == read_degrees(str(tmp_path / "a.csv")).profile


@pytest.fixture(scope="module")
def bucket() -> Iterator[Any]:
    """The bucket ``shop`` of a server of S3, as PyArrow's file system."""
    server = pytest.importorskip("moto.server", reason="moto[s3] with Flask is not installed")
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "eve")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setenv("AWS_REGION", "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        from pyarrow import fs

        system = fs.S3FileSystem(allow_bucket_creation=True, endpoint_override=f"http://{host}:{port}")
        system.create_dir("shop")
        yield system
    running.stop()


@pytest.mark.full
@pytest.mark.first(2)
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.csv.zst", "a.jsonl", "a.parquet"])
def test_objects_of_s3(bucket: Any, tmp_path: Path, write_table: WriteTable, name: str) -> None:
    write_table(tmp_path / name, LABELS)
    folder = name.replace(".", "-")
    for copy in ("1", "2"):
        with bucket.open_output_stream(f"shop/{folder}/{copy}{name}", compression=None) as stream:
            stream.write((tmp_path / name).read_bytes())
    assert read_profile(f"s3://shop/{folder}/1{name}", label="label").counts.tolist() == [1, 2]
    for pattern in (f"s3://shop/{folder}/*{name}", f"s3://shop/{folder[:3]}*/[12]{name}"):
        assert read_profile(pattern, label="label").counts.tolist() == [2, 4]


@pytest.mark.full
def test_objects_of_s3_that_are_not_there_or_cut(bucket: Any, refuse: Refused, tmp_path: Path) -> None:
    with bucket.open_output_stream("shop/cut/a.parquet") as stream:
        pq.write_table(pa.table({"label": list("abc") * 100}), tmp_path / "a.parquet")
        stream.write((tmp_path / "a.parquet").read_bytes()[:-30])
    assert "There is no file 's3://shop/a.csv'" in refuse(DataError, "s3://shop/a.csv")
    assert "There is no file 's3://nowhere/a.csv'" in refuse(DataError, "s3://nowhere/a.csv")
    assert "There is no file 's3://shop/none/*.csv'" in refuse(DataError, "s3://shop/none/*.csv", label="a")
    assert "is a folder" in refuse(DataError, "s3://shop/cut", label="a")
    assert "not a complete Parquet file" in refuse(DataError, "s3://shop/cut/a.parquet", label="label")


@pytest.mark.slow
def test_an_object_store_that_is_not_there(refuse: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "eve")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    for url in ("s3://shop/a.csv", "s3://shop/*.csv"):
        message = refuse(DataError, url, label="a", secret="hunter2")  # noqa: S106
        assert "cannot be reached" in message


def test_objects_of_google_cloud(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, write_table: WriteTable) -> None:
    from pyarrow import fs

    (tmp_path / "shop").mkdir()
    for name in ("1.parquet", "2.parquet"):
        write_table(tmp_path / "shop" / name, LABELS)
    # There is no server of it here: a folder stands for what PyArrow would reach.
    local = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    monkeypatch.setattr(fs, "GcsFileSystem", lambda **_: local)
    assert read_profile("gs://shop/1.parquet", label="label").counts.tolist() == [1, 2]
    assert read_profile("gs://shop/*.parquet", label="label").counts.tolist() == [2, 4]
