{{ config(materialized="external", location=var("day") ~ ".parquet") }}

SELECT "user", query
FROM read_csv('log.csv', all_varchar = true)
WHERE day = '{{ var("day") }}'
