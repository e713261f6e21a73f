# The public names of the room, each listed here alone: see lazy.py.
from anonhist.species.comparison import Diversity as Diversity
from anonhist.species.comparison import Site as Site
from anonhist.species.comparison import SiteComparison as SiteComparison
from anonhist.species.comparison import compare_sites as compare_sites
from anonhist.species.incidence import IncidenceFrequencies as IncidenceFrequencies
from anonhist.species.reading import read_species as read_species
from anonhist.species.richness import species_richness as species_richness
