"""Labels hashed to few buckets: colliding labels are separated across cohorts."""
