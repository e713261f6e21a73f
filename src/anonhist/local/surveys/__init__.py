"""The parts of every survey: possible values, reports, their tally, and estimates with intervals."""
