"""Tells where a build of the site is, in a line for each tenth of the pages: Sphinx has one for each page, or none.

Pages are read and written in several processes, which share the counts.
"""

import sys
from multiprocessing import get_context

_PARTS = 10


def say(sentence):
    """Write a line to standard error at once."""
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


class Told:
    """How many of some pages are done, told to standard error."""

    def __init__(self, what):
        self._what, self._all = what, 0
        self._done = get_context("fork").Value("i", 0)

    def begin(self, pages):
        """Say how many pages there are."""
        self._all = len(pages)
        say(f"{self._what} {self._all} pages …")

    def add(self):
        """Count a page."""
        with self._done.get_lock():
            self._done.value += 1
            done = self._done.value
        if done * _PARTS // self._all > (done - 1) * _PARTS // self._all:
            say(f"{self._what}: {100 * done // self._all} %")


def setup(app):
    """Let Sphinx tell when pages are read and written."""
    reading, writing = Told("Reading"), Told("Writing")
    app.connect("builder-inited", lambda _: say("Running the examples …"), priority=0)
    app.connect("env-before-read-docs", lambda _app, _env, names: reading.begin(names))
    app.connect("source-read", lambda *_: reading.add())
    app.connect("env-updated", lambda _app, env: writing.begin(env.found_docs))
    app.connect("doctree-resolved", lambda *_: writing.add())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
