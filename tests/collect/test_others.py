"""What is sent to the wrong place or named on purpose: reports of other collections, and labels that look like code."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from anonhist.collect.reading import read_collected
from anonhist.local import KRR, Collection, OptimizedUnary, RandomizedResponse
from anonhist_testing.collector import Running, lines_of, serving
