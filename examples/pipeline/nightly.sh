#!/bin/sh
# Release one day: nightly.sh 2026-11-25. It may be started again, as often as a scheduler likes.
set -eu
day=$1
dbt --quiet run --project-dir pipeline --profiles-dir pipeline --vars "day: '$day'"
anonhist release "$day.parquet" --label query --user user --max-per-user 5 --epsilon 0.5 \
  -o "$day.json" --ledger budget.db --dataset searches --run-id "searches $day"
