"""Write the SQL of the queries on engines of Ibis, for the tests to compare: use it after Ibis or a query changed.

python tools/write_golden_sql.py
"""

from pathlib import Path

from anonhist_testing.warehouses import write

ROOT = Path(__file__).parents[1]

if __name__ == "__main__":
    write(ROOT / "tests" / "ingest" / "golden")
