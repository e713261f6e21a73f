# The public names of the room, each listed here alone: see lazy.py.
from anonhist.species.comparison import SiteComparison as SiteComparison
from anonhist.species.comparison import compare_sites as compare_sites
from anonhist.species.incidence import IncidenceFrequencies as IncidenceFrequencies
from anonhist.species.reading import read_sampling_units as read_sampling_units
from anonhist.species.reading import read_species as read_species
from anonhist.species.releasing import IncidenceRelease as IncidenceRelease
from anonhist.species.releasing import release_incidence as release_incidence
from anonhist.species.richness import species_richness as species_richness
from anonhist.species.sampling_units import SamplingUnits as SamplingUnits
from anonhist.species.site import Diversity as Diversity
from anonhist.species.site import Site as Site
