"""Tables and files, for other programs as well: written whole or not at all, checked when they are read.

``ah.write`` and ``ah.read`` are for files of our own. Modules in this package import each other, not from here.
"""

from anonhist.lazy import load_lazily

load_lazily(__name__)
