"""Databases by URL, through Ibis: which there are, and what is said where a driver or a connection is missing."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from anonhist.errors import DataError, MissingExtraError
from anonhist.ingest.postgresql import connect_to_postgresql

# How each is called, and what its URL is made of.
WAREHOUSES = {
    "bigquery": ("BigQuery", "bigquery://PROJECT/DATASET"),
    "clickhouse": ("ClickHouse", "clickhouse://USER:PASSWORD@HOST:PORT/DATABASE"),
    "databricks": ("Databricks", "databricks://token:TOKEN@HOST/CATALOG/SCHEMA?http_path=PATH"),
    "snowflake": ("Snowflake", "snowflake://USER:PASSWORD@ACCOUNT/DATABASE/SCHEMA?warehouse=WAREHOUSE"),
    "trino": ("Trino", "trino://USER@HOST:PORT/CATALOG/SCHEMA"),
}


def connect_to(url: str) -> Any:
    """Return a connection of Ibis to the database of a URL.

    Passwords may stand in the URL, as in that of PostgreSQL, or wherever the driver looks for them.

    Raises
    ------
    MissingExtraError
        If the driver is not installed.
    DataError
        If a warehouse does not answer; the sentence has no part of the URL.
    """
    import ibis

    scheme = url.partition("://")[0]
    if scheme not in WAREHOUSES:
        return connect_to_postgresql(url)
    name, form = WAREHOUSES[scheme]
    try:
        return _databricks(url) if scheme == "databricks" else ibis.connect(url)
    except ImportError:
        raise MissingExtraError(
            f"{name} is read through Ibis and a driver; install both with: pip install 'ibis-framework[{scheme}]'."
        ) from None
    except Exception:  # noqa: BLE001  # drivers raise what they like, with the URL and what is in it
        raise DataError(
            f"{name} cannot be reached: check the URL, whose form is {form}, your credentials and your permissions."
        ) from None


def _databricks(url: str) -> Any:
    """Connect to Databricks, for which Ibis takes no URL; the driver looks for missing parts in the environment."""
    import ibis

    parts = urlsplit(url)
    catalog, _, schema = parts.path.strip("/").partition("/")
    token = None if parts.password is None else unquote(parts.password)
    named = {"server_hostname": parts.hostname, "access_token": token, "catalog": catalog, "schema": schema}
    return ibis.databricks.connect(
        **{name: value for name, value in named.items() if value}, **dict(parse_qsl(parts.query))
    )
