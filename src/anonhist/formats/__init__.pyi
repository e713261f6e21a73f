# The public names of the room, each listed here alone: see lazy.py.
from anonhist.formats.rappor_files import read_rappor as read_rappor
from anonhist.formats.sketch_in_place import sketch_in_place as sketch_in_place
from anonhist.formats.tables import csv_text as csv_text
from anonhist.formats.tables import to_arrow as to_arrow
