"""Private estimators: a linear statistic of the profile, with exact noise added to it."""

from anonhist.catalogue import PROPERTIES
from anonhist.properties.by_name import property_at

# Each takes epsilon, unit, relation, known_items and level as well.
PRIVATE_PROPERTIES = {
    name: property_at(entry.private, entry.private_methods, entry.required)
    for name, entry in PROPERTIES.items()
    if entry.private
}
