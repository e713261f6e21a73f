"""Tables and files, for other programs as well: written whole or not at all, checked when they are read.

``ah.write`` and ``ah.read`` handle this package's own files. Modules in this package import each other, not from here.
"""

from anonhist.lazy import load_lazily

load_lazily(__name__)
