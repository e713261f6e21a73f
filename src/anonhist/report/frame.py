"""The frame of every page: one self-contained HTML file that opens offline and asks nothing of any network."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from string import Template

from anonhist.errors import UsageError
from anonhist.formats.atomic import check_free, write_whole
from anonhist.version import __version__

_LONGEST_TITLE = 200


def check_report_path(path: str | Path) -> None:
    """Refuse a report path that does not end in ``.html``."""
    if Path(path).suffix.lower() != ".html":
        raise UsageError(f"A report is an HTML page: end its path in .html, not {str(path)!r}.")


@dataclass(frozen=True)
class Sheet:
    """Where a page goes, and what whoever makes it has to say of it; all of that is published with the page.

    Attributes
    ----------
    path
        Must end in ``.html``.
    title
        Stands first, in place of what the page would be called.
    data_name
        What the data are called.
    command
        The command that makes such a page again.
    overwrite
        Replace an existing file.
    """

    path: str | Path
    title: str | None = None
    data_name: str | None = None
    command: str | None = None
    overwrite: bool = False

    def check(self) -> None:
        """Refuse what no page can be made of, before anything is computed for it.

        Raises
        ------
        UsageError
            If the path does not end in ``.html`` or exists already, or the title is empty or very long.
        """
        check_report_path(self.path)
        check_free(self.path, overwrite=self.overwrite)
        if self.title is not None and not (self.title.strip() and len(self.title) <= _LONGEST_TITLE):
            raise UsageError(f"`title` must have between 1 and {_LONGEST_TITLE} characters, one of them visible.")

    def write(self, main: str, *, headline: str, subtitle: str, banner: str = "", version: str | None = None) -> None:
        """Write the page, whole or not at all.

        Parameters
        ----------
        main
            HTML below the title.
        headline, subtitle
            What such pages are, as plain text.
        banner
            Stands above everything else, and first in the title of the window.
        version
            Of this package, where another made what is shown.
        """
        told = headline if self.title is None else f"{headline}. "
        page = template("frame.html").substitute(
            window=escape(" – ".join(filter(None, (banner, self.title or headline)))),
            style=_text("style.css"),
            banner=f'<p class="banner" role="alert">{escape(banner)}</p>' if banner else "",
            title=escape(self.title or headline),
            subtitle=escape(subtitle if self.title is None else told + subtitle),
            origin=escape(self._origin(version or __version__)),
            main=main,
        )
        # Arguments of a shell need not be valid text; what is not is shown escaped.
        write_whole(self.path, page.encode("utf-8", "backslashreplace"), overwrite=self.overwrite)

    def _origin(self, version: str) -> str:
        data = f"Data: {self.data_name}. " if self.data_name else ""
        return f"{data}Written on {datetime.now(UTC).date()}, made with anonhist {version}."


def template(name: str) -> Template:
    """Return a template of this folder."""
    return Template(_text(name))


def _text(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
