"""Labels in few buckets, told apart because each cohort of devices puts them elsewhere."""
