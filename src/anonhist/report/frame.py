"""The frame of every page: one self-contained HTML file that opens offline and asks nothing of any network."""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template

from anonhist.errors import UsageError
from anonhist.formats.atomic import check_free, write_whole

# What a page says of the command that made it, where that draws noise.
DRAWN_AGAIN = "The same command draws new noise, and spends the budget once more."


def check_report_path(path: str | Path) -> None:
    """Refuse a report path that does not end in ``.html``."""
    if Path(path).suffix.lower() != ".html":
        message = f"A report is an HTML page: end its path in .html, not {str(path)!r}."
        raise UsageError(message)


def check_page(path: str | Path, *, overwrite: bool) -> None:
    """Refuse a path at which no page can be written, before it is made."""
    check_report_path(path)
    check_free(path, overwrite=overwrite)


def write_page(path: str | Path, main: str, *, title: str, overwrite: bool) -> None:
    """Write a page, whole or not at all; ``main`` is HTML, ``title`` plain text."""
    page = template("frame.html").substitute(title=escape(title), style=_text("style.css"), main=main)
    # Arguments of a shell need not be valid text; what is not is shown escaped.
    write_whole(path, page.encode("utf-8", "backslashreplace"), overwrite=overwrite)


def template(name: str) -> Template:
    """Return a template of this folder."""
    return Template(_text(name))


def reproduce(command: str | None, note: str) -> str:
    """Return the section that repeats a command, or nothing where there was none."""
    if command is None:
        return ""
    return f"<h2>Make one like it</h2><p>{escape(note)}</p><pre>{escape(command)}</pre>"


def warning_box(sentence: str) -> str:
    """Return a warning for the top of a page, or nothing where there is none."""
    return f'<p class="warning" role="alert"><b>Warning.</b> {escape(sentence)}</p>' if sentence else ""


def _text(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
