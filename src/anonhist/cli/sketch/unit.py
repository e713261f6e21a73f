"""The option of whom a sketch protects."""

from __future__ import annotations

import click

unit_option = click.option(
    "--unit",
    type=click.Choice(("item", "user")),
    help="Whom to protect: one item (a row), or one user. By default users where --max-per-user limits them, else "
    "items.",
)
