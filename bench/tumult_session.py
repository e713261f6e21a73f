"""Tumult Analytics for ``alternatives.py``, in an interpreter of its own, because its pins exclude our NumPy.

``python tumult_session.py PROFILE CAP`` makes the table once, then reads one epsilon per line from standard input and
writes the noisy numbers.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session


class Items:
    """What is protected, in Spark's memory, and the public keys 1 to the cap."""

    def __init__(self, profile: Path, cap: int) -> None:
        os.environ["PYSPARK_PYTHON"] = sys.executable
        options = {"driver.memory": "6g", "ui.enabled": "false", "ui.showConsoleProgress": "false"}
        options |= {"sql.shuffle.partitions": "8", "log.level": "ERROR"}
        builder = SparkSession.builder.master("local[*]")
        for name, value in options.items():
            builder = builder.config(f"spark.{name}", value)
        spark = builder.getOrCreate()
        with profile.open(encoding="utf-8") as lines:
            prevalences = [(int(row["count"]), int(row["prevalence"])) for row in csv.DictReader(lines)]
        rows = spark.createDataFrame(prevalences, "count long, prevalence int")
        labels = rows.selectExpr("explode(array_repeat(count, prevalence)) AS number")
        self.table = labels.selectExpr("explode(sequence(1L, number)) AS number").cache()
        self.keys = KeySet.from_dataframe(spark.range(1, cap + 1).toDF("number"))
        self.table.count()

    def count(self, epsilon: float) -> DataFrame:
        """Count items by their place within their label, 1, 2, 3, …: one item more adds one row, to some place.

        So the count at a place r is the cumulative prevalence φ_{r+}, with noise of scale 1/ε.
        """
        budget = PureDPBudget(epsilon)
        session = Session.from_dataframe(budget, "items", self.table, protected_change=AddOneRow())
        return session.evaluate(QueryBuilder("items").groupby(self.keys).count("noisy"), budget)


def serve(items: Items) -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        noisy = items.count(float(line)).toPandas().sort_values("number")["noisy"].tolist()
        print(json.dumps(noisy), flush=True)


if __name__ == "__main__":
    serve(Items(Path(sys.argv[1]), int(sys.argv[2])))
