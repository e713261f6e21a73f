# The public names of the room, each listed here alone: see lazy.py.
from anonhist.formats.tables import csv_text as csv_text
from anonhist.formats.tables import to_arrow as to_arrow
from anonhist.local.rappor_counts import read_rappor as read_rappor
from anonhist.sketches.files import sketch_in_place as sketch_in_place
