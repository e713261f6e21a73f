"""docs/how-to/collecting-recipes.md: each recipe keeps lines, some sent twice and some forged, and leads to a tally."""

import http.client
import logging
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from socket import socket
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import anonhist as ah
from anonhist.cli.entry import anonhist as command_line
from anonhist_testing import postgresql

TEXT = (Path(__file__).parents[2] / "docs" / "how-to" / "collecting-recipes.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
PEOPLE = 60
pytestmark = pytest.mark.full


def block(language: str, word: str = "") -> str:
    (found,) = (text for each, text in BLOCKS if each == language and word in text)
    return found


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    made = ah.local.KRR(alphabet=["bus", "car", "bicycle"], epsilon=1)
    made.save("survey.json")
    return made


@pytest.fixture
def lines(survey: Any) -> list[str]:
    """Lines of 60 people, every third sent twice, and one that no client writes."""
    reports = survey.randomize(["bus", "car", "bus"] * (PEOPLE // 3))
    once = [ah.local.wire_line(survey, reports.rows(np.array([row])), f"{row:032x}") for row in range(PEOPLE)]
    return [*once, '{"id":"forged","reports":{"report":["77"]}}\n', *once[::3]]


def run(command: str) -> None:
    (given,) = re.findall(r"anonhist (local tally .*)", command)
    done = CliRunner().invoke(command_line, given.replace("'", "").split(), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert ah.read("tally.json").users == PEOPLE


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed: its recipe is not run")
def test_nginx(lines: list[str]) -> None:
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    temporary = "".join(f"{each}_temp_path {each};" for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    server = block("nginx").replace("8080", str(port)).replace("listen ", "listen 127.0.0.1:")
    # Its workers would not be let into the folder of this test.
    user = "" if os.getuid() else "user root;"
    Path("nginx.conf").write_text(f"{user} daemon off; pid pid; events {{}} http {{ {temporary} {server} }}")
    with subprocess.Popen([str(NGINX), "-p", str(Path.cwd()), "-c", "nginx.conf", "-e", "errors"]) as running:
        try:
            until(lambda: post(port, b"not a line") == 204)
            assert [post(port, line.encode()) for line in lines] == [204] * len(lines)
            assert post(port, b"x" * (1 << 21)) == 413
            until(lambda: lines[-1] in Path("reports.ndjson").read_text())
        finally:
            running.terminate()
    run(block("", "reports*.ndjson"))


def post(port: int, body: bytes) -> int:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        try:
            connection.request("POST", "/reports", body, {"Content-Type": "text/plain"})
        except ConnectionRefusedError:
            return 0
        answer = connection.getresponse()
        answer.read()
    return answer.status


def until(is_so: Callable[[], bool]) -> None:
    for _ in range(200):
        if is_so():
            return
        time.sleep(0.05)
    pytest.fail("It took longer than ten seconds.")


@pytest.mark.skipif(postgresql.programs() is None, reason="PostgreSQL is not installed: its recipe is not run")
def test_postgresql(survey: Any, lines: list[str]) -> None:
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    ibis = pytest.importorskip("ibis", reason="Ibis is not installed")
    psql = shutil.which("psql")
    assert psql is not None
    with postgresql.server() as server:
        address = server.database()
        with psycopg.connect(address, autocommit=True) as connection:
            for statement in block("postgresql").splitlines():
                connection.execute(statement)
            for line in lines:
                connection.execute(f"EXECUTE keep ('{line}')".encode())
        database = ibis.connect(address)
        found = ah.tally_reports(survey, database.table("reports"), unique="id", skip_bad=1)
        with psycopg.connect(address, autocommit=True) as connection:
            # Identifiers may have the type for them, and other columns types that are no matter.
            kinds = b"CREATE TABLE kinds AS SELECT id::uuid AS id, reports, interval '1 month' AS more FROM reports"
            connection.execute(kinds + b" WHERE id <> 'forged'")
        assert ah.tally_reports(survey, database.table("kinds"), unique="id") == found
        database.disconnect()
        command = block("", "psql")
        (copied,) = re.findall(r'psql -c "(.*)" \|', command)
        told = subprocess.run([psql, address, "-c", copied], capture_output=True, check=True).stdout
    Path("piped.ndjson").write_bytes(told)
    run(command.replace(" - ", " piped.ndjson "))
    assert ah.read("tally.json") == found


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    server = pytest.importorskip("moto.server", reason="moto[s3] with Flask is not installed")
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    address = "http://{}:{}".format(*running.get_host_and_port())
    own = {
        "ACCESS_KEY_ID": "eve",
        "SECRET_ACCESS_KEY": "hunter2",
        "EC2_METADATA_DISABLED": "true",
        "REGION": "us-east-1",
    }
    for name, value in {**own, "ENDPOINT_URL": address}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    from pyarrow import fs

    system = fs.S3FileSystem(allow_bucket_creation=True, endpoint_override=address)
    system.create_dir("bucket")
    yield system
    running.stop()


def test_objects_in_s3(bucket: Any, lines: list[str]) -> None:
    for at in range(0, len(lines), 9):
        with bucket.open_output_stream(f"bucket/reports/{at}.ndjson") as stream:
            stream.write("".join(lines[at : at + 9]).encode())
    run(block("", "s3://"))


@pytest.mark.slow
def test_kafka_parquet_and_spark(lines: list[str], tmp_path: Path, spark: Any) -> None:
    names: dict[str, Any] = {}
    exec(compile(block("python"), "docs/how-to/collecting-recipes.md", "exec"), names)  # noqa: S102
    messages = spark.createDataFrame([(line.encode(),) for line in [*lines, "not a line"]], "value binary")
    names["reports_in"](messages).repartition(3).write.parquet(str(tmp_path / "reports"))
    assert names["tally"](spark.read.parquet(str(tmp_path / "reports"))).users == PEOPLE
