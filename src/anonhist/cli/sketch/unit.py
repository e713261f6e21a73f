"""The option of whom a sketch protects."""

from __future__ import annotations

import click

unit_option = click.option(
    "--unit",
    type=click.Choice(("item", "user")),
    help="What to protect: one item (a row), or one user. By default, users if --max-per-user is given, otherwise "
    "items.",
)
