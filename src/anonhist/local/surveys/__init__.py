"""What every survey is: the values there can be, reports, their tally, and estimates with intervals."""
