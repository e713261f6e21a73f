"""Count items by their rank within their label, with Tumult Analytics: what ``bench/alternatives.py --tumult`` runs.

python bench/tumult_counts.py EXACT NOISY EPSILON

EXACT and NOISY are files of NumPy's: how many items are the first, second, … of their label, exact and under noise. An
item more adds one row to a table of items with their rank, so one of these counts changes, by one. This package cannot
be imported here: Tumult Analytics needs older libraries.
"""

from __future__ import annotations

import sys

import numpy as np
from pyspark.sql import SparkSession
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session


def noisy_counts(exact: np.ndarray, epsilon: float) -> np.ndarray:
    spark = SparkSession.builder.config("spark.driver.memory", "4g").getOrCreate()
    ranks = np.arange(1, exact.size + 1)
    pairs = [pair for pair in zip(ranks.tolist(), exact.tolist(), strict=True) if pair[1]]
    spark.createDataFrame(pairs, ["rank", "items"]).createOrReplaceTempView("counted")
    items = spark.sql("SELECT rank FROM (SELECT rank, explode(sequence(1, items)) FROM counted)")
    session = Session.from_dataframe(PureDPBudget(epsilon), "items", items, protected_change=AddOneRow())
    query = QueryBuilder("items").groupby(KeySet.from_dict({"rank": ranks.tolist()})).count()
    found = session.evaluate(query, PureDPBudget(epsilon)).toPandas()
    return found.sort_values("rank")["count"].to_numpy()


if __name__ == "__main__":
    np.save(sys.argv[2], noisy_counts(np.load(sys.argv[1]), float(sys.argv[3])))
