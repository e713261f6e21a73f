-- by ibis-framework 12.0.0 and sqlglot 30.29.0

-- events
SELECT
  *
FROM (
  SELECT
    "t3"."count",
    "t3"."is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t2"."count",
      "t2"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t1"."label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t0"."query" || '' || '' AS "label"
        FROM "events" AS "t0"
      ) AS "t1"
      GROUP BY
        1
    ) AS "t2"
  ) AS "t3"
  GROUP BY
    1,
    2
) AS "t4";

-- events, five of each user
WITH "numbered_rows" AS (
  SELECT
    "t2"."label",
    "t2"."user",
    "t2"."one",
    CASE
      WHEN "t2"."one" IS NOT NULL
      THEN SUM("t2"."one") OVER (
        PARTITION BY "t2"."user"
        ORDER BY "t2"."label" ASC
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      )
      ELSE NULL
    END AS "number",
    COALESCE(
      SUM("t2"."one") OVER (PARTITION BY "t2"."user" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
      0
    ) AS "total"
  FROM (
    SELECT
      "t1"."label",
      "t1"."user",
      "t1"."one"
    FROM (
      SELECT
        "t0"."query" || '' || '' AS "label",
        "t0"."user" || '' || '' AS "user",
        "t0"."user" || '' || '' AS "user_name",
        1 AS "one"
      FROM "events" AS "t0"
    ) AS "t1"
    WHERE
      NOT (
        (
          "t1"."user" IS NULL
        ) OR (
          "t1"."label" IS NULL
        )
      )
  ) AS "t2"
)
SELECT
  *
FROM (
  SELECT
    "t9"."count",
    "t9"."is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t8"."count",
      "t8"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t7"."label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t6"."label"
        FROM (
          SELECT
            "t5"."label",
            "t5"."user",
            "t5"."one",
            "t5"."number",
            "t5"."total",
            "t5"."hash",
            _NUMBER_N(
              SUBSTRING("t5"."hash", IIF((
                0 + 1
              ) >= 1, 0 + 1, 0 + 1 + LENGTH("t5"."hash")), 12)
            ) AS "start"
          FROM (
            SELECT
              "t4"."label",
              "t4"."user",
              "t4"."one",
              "t4"."number",
              "t4"."total",
              IIF(
                "t4"."total" > 5,
                _DIGEST_N('0123456789abcdef0123456789abcdef ' || "t4"."user"),
                NULL
              ) AS "hash"
            FROM "numbered_rows" AS "t4"
          ) AS "t5"
        ) AS "t6"
        WHERE
          (
            "t6"."total" <= 5
          )
          OR (
            (
              "t6"."total" <= 922337203685477580
            )
            AND (
              MOD(
                MOD(
                  (
                    CASE
                      WHEN (
                        "t6"."total" > 5
                      ) AND (
                        "t6"."total" <= 922337203685477580
                      )
                      THEN "t6"."number"
                      ELSE 0
                    END * 5
                  ) + MOD(MOD("t6"."start", "t6"."total") + "t6"."total", "t6"."total"),
                  "t6"."total"
                ) + "t6"."total",
                "t6"."total"
              ) < 5
            )
          )
      ) AS "t7"
      GROUP BY
        1
    ) AS "t8"
  ) AS "t9"
  GROUP BY
    1,
    2
) AS "t10";

-- events, the first five of each user
SELECT
  *
FROM (
  SELECT
    "t7"."count",
    "t7"."is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t6"."count",
      "t6"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t5"."label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t4"."label"
        FROM (
          SELECT
            "t3"."label",
            "t3"."user",
            "t3"."user_name",
            "t3"."rank_by",
            "t3"."one",
            "t3"."occurrence",
            "t3"."hash",
            CASE
              WHEN "t3"."one" IS NOT NULL
              THEN SUM("t3"."one") OVER (
                PARTITION BY "t3"."user"
                ORDER BY "t3"."rank_by" ASC, "t3"."hash" ASC, "t3"."label" ASC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              )
              ELSE NULL
            END AS "rank"
          FROM (
            SELECT
              "t2"."label",
              "t2"."user",
              "t2"."user_name",
              "t2"."rank_by",
              "t2"."one",
              "t2"."occurrence",
              _DIGEST_N(
                '0123456789abcdef0123456789abcdef' || CAST("t2"."occurrence" AS TEXT) || ' ' || "t2"."user_name" || '
' || IIF("t2"."label" IS NULL, '', '=' || "t2"."label")
              ) AS "hash"
            FROM (
              SELECT
                "t1"."label",
                "t1"."user",
                "t1"."user_name",
                "t1"."rank_by",
                "t1"."one",
                CASE
                  WHEN "t1"."one" IS NOT NULL
                  THEN SUM("t1"."one") OVER (
                    PARTITION BY "t1"."user", "t1"."label"
                    ORDER BY "t1"."rank_by" ASC
                    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                  )
                  ELSE NULL
                END AS "occurrence"
              FROM (
                SELECT
                  "t0"."query" || '' || '' AS "label",
                  "t0"."user" || '' || '' AS "user",
                  "t0"."user" || '' || '' AS "user_name",
                  CASE WHEN NOT (
                    "t0"."ts" IS NULL
                  ) THEN CAST("t0"."ts" AS REAL) ELSE NULL END AS "rank_by",
                  1 AS "one"
                FROM "events" AS "t0"
                WHERE
                  NOT (
                    (
                      "t0"."user" || '' || '' IS NULL
                    ) OR (
                      "t0"."query" || '' || '' IS NULL
                    )
                  )
              ) AS "t1"
            ) AS "t2"
          ) AS "t3"
        ) AS "t4"
        WHERE
          "t4"."rank" <= 5
      ) AS "t5"
      GROUP BY
        1
    ) AS "t6"
  ) AS "t7"
  GROUP BY
    1,
    2
) AS "t8";

-- events, fractions and NaN
SELECT
  "t9"."count",
  "t9"."is_null",
  "t9"."prevalence",
  "t9"."named"
FROM (
  SELECT
    "t8"."count",
    "t8"."is_null",
    "t8"."named",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t7"."count",
      "t7"."named",
      "t7"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t6"."label",
        "t6"."named",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t5"."label",
          "t5"."named"
        FROM (
          SELECT
            "t4"."label",
            "t4"."user",
            "t4"."user_name",
            "t4"."rank_by",
            "t4"."named",
            "t4"."one",
            "t4"."occurrence",
            "t4"."hash",
            CASE
              WHEN "t4"."one" IS NOT NULL
              THEN SUM("t4"."one") OVER (
                PARTITION BY "t4"."user"
                ORDER BY "t4"."rank_by" ASC, "t4"."named" ASC, "t4"."hash" ASC, "t4"."label" ASC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              )
              ELSE NULL
            END AS "rank"
          FROM (
            SELECT
              "t3"."label",
              "t3"."user",
              "t3"."user_name",
              "t3"."rank_by",
              "t3"."named",
              "t3"."one",
              "t3"."occurrence",
              _DIGEST_N(
                '0123456789abcdef0123456789abcdef' || CAST("t3"."occurrence" AS TEXT) || ' ' || "t3"."user_name" || '
' || IIF("t3"."label" IS NULL, '', '=' || "t3"."label")
              ) AS "hash"
            FROM (
              SELECT
                "t2"."label",
                "t2"."user",
                "t2"."user_name",
                "t2"."rank_by",
                "t2"."named",
                "t2"."one",
                CASE
                  WHEN "t2"."one" IS NOT NULL
                  THEN SUM("t2"."one") OVER (
                    PARTITION BY "t2"."user", "t2"."label"
                    ORDER BY "t2"."rank_by" ASC
                    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                  )
                  ELSE NULL
                END AS "occurrence"
              FROM (
                SELECT
                  *
                FROM (
                  SELECT
                    CASE
                      WHEN NOT (
                        "t0"."price" IS NULL
                      )
                      THEN CASE
                        WHEN COALESCE(
                          CASE
                            WHEN NOT (
                              "t0"."price" IS NULL
                            )
                            AND (
                              (
                                "t0"."price" > -9007199254740992
                              ) AND (
                                "t0"."price" < 9007199254740992
                              )
                            )
                            THEN "t0"."price"
                            ELSE 0.5
                          END = CAST(ROUND(
                            CASE
                              WHEN NOT (
                                "t0"."price" IS NULL
                              )
                              AND (
                                (
                                  "t0"."price" > -9007199254740992
                                ) AND (
                                  "t0"."price" < 9007199254740992
                                )
                              )
                              THEN "t0"."price"
                              ELSE 0.5
                            END,
                            0
                          ) AS INTEGER),
                          FALSE
                        )
                        THEN CAST(CAST(ROUND(
                          CASE
                            WHEN NOT (
                              "t0"."price" IS NULL
                            )
                            AND (
                              (
                                "t0"."price" > -9007199254740992
                              ) AND (
                                "t0"."price" < 9007199254740992
                              )
                            )
                            THEN "t0"."price"
                            ELSE 0.5
                          END,
                          0
                        ) AS INTEGER) AS TEXT)
                        ELSE CAST("t0"."price" AS TEXT)
                      END
                      ELSE NULL
                    END AS "label",
                    "t0"."user" || '' || '' AS "user",
                    "t0"."user" || '' || '' AS "user_name",
                    CASE WHEN NOT (
                      "t0"."price" IS NULL
                    ) THEN "t0"."price" + 0.0 ELSE NULL END AS "rank_by",
                    CASE
                      WHEN COALESCE(
                        NOT (
                          COALESCE(
                            (
                              "t0"."price" > -9007199254740992
                            ) AND (
                              "t0"."price" < 9007199254740992
                            ),
                            FALSE
                          )
                        )
                        AND NOT (
                          "t0"."price" IS NULL
                        ),
                        FALSE
                      )
                      THEN 0
                      ELSE 1
                    END AS "named",
                    1 AS "one"
                  FROM "events" AS "t0"
                ) AS "t1"
                WHERE
                  NOT (
                    (
                      "t1"."user" IS NULL
                    ) OR (
                      "t1"."label" IS NULL
                    )
                  )
              ) AS "t2"
            ) AS "t3"
          ) AS "t4"
        ) AS "t5"
        WHERE
          "t5"."rank" <= 5
      ) AS "t6"
      GROUP BY
        1,
        2
    ) AS "t7"
  ) AS "t8"
  GROUP BY
    1,
    2,
    3
) AS "t9";

-- users
SELECT
  *
FROM (
  SELECT
    "t4"."items",
    COUNT(*) AS "users"
  FROM (
    SELECT
      *
    FROM (
      SELECT
        "t2"."user",
        COUNT(*) AS "items"
      FROM (
        SELECT
          *
        FROM (
          SELECT
            "t0"."query" || '' || '' AS "label",
            "t0"."user" || '' || '' AS "user"
          FROM "events" AS "t0"
        ) AS "t1"
        WHERE
          NOT (
            (
              "t1"."user" IS NULL
            ) OR (
              "t1"."label" IS NULL
            )
          )
      ) AS "t2"
      GROUP BY
        1
    ) AS "t3"
  ) AS "t4"
  GROUP BY
    1
) AS "t5";

-- rows left out
SELECT
  COUNT(*) AS "rows",
  COALESCE(SUM("t1"."missing"), 0) AS "missing"
FROM (
  SELECT
    CASE WHEN "t0"."user" IS NULL THEN 1 ELSE 0 END AS "missing"
  FROM "events" AS "t0"
) AS "t1";

-- groups
SELECT
  "t6"."count",
  "t6"."is_null",
  "t6"."prevalence",
  "t6"."group"
FROM (
  SELECT
    "t5"."count",
    "t5"."is_null",
    "t5"."group",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t4"."count",
      "t4"."group",
      "t4"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t3"."label",
        "t3"."group",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t2"."label",
          "t2"."group"
        FROM (
          SELECT
            "t1"."label",
            "t1"."group0",
            "t1"."group1",
            CASE
              WHEN "t1"."group0" IS NULL
              THEN '0'
              ELSE REPLACE(REPLACE("t1"."group0", '', '2'), '', '1')
            END || '' || CASE
              WHEN "t1"."group1" IS NULL
              THEN '0'
              ELSE REPLACE(REPLACE("t1"."group1", '', '2'), '', '1')
            END AS "group"
          FROM (
            SELECT
              "t0"."query" || '' || '' AS "label",
              "t0"."country" || '' || '' AS "group0",
              CASE
                WHEN (
                  CAST(CAST(STRFTIME('%Y', "t0"."zoned") AS INTEGER) AS INTEGER) >= 1
                )
                AND (
                  CAST(CAST(STRFTIME('%Y', "t0"."zoned") AS INTEGER) AS INTEGER) <= 9999
                )
                THEN SUBSTRING(
                  STRFTIME('%Y-%m-%d', "t0"."zoned"),
                  IIF(
                    (
                      (
                        1 - 1
                      ) + 1
                    ) >= 1,
                    (
                      1 - 1
                    ) + 1,
                    (
                      1 - 1
                    ) + 1 + LENGTH(STRFTIME('%Y-%m-%d', "t0"."zoned"))
                  ),
                  10
                )
                ELSE NULL
              END AS "group1"
            FROM "events" AS "t0"
          ) AS "t1"
          WHERE
            NOT (
              COALESCE("t1"."group0" IS NULL, FALSE) OR COALESCE("t1"."group1" IS NULL, FALSE)
            )
        ) AS "t2"
        WHERE
          IIF("t2"."group" IS NULL, NULL, "t2"."group" IN ('de2026-11-01', 'f1r2026-11-02'))
      ) AS "t3"
      GROUP BY
        1,
        2
    ) AS "t4"
  ) AS "t5"
  GROUP BY
    1,
    2,
    3
) AS "t6";

-- groups, five items of each user
WITH "numbered_rows" AS (
  SELECT
    "t1"."label",
    "t1"."user",
    "t1"."one",
    "t1"."group",
    CASE
      WHEN "t1"."one" IS NOT NULL
      THEN SUM("t1"."one") OVER (
        PARTITION BY "t1"."user"
        ORDER BY "t1"."group" ASC, "t1"."label" ASC
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      )
      ELSE NULL
    END AS "number",
    COALESCE(
      SUM("t1"."one") OVER (PARTITION BY "t1"."user" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
      0
    ) AS "total"
  FROM (
    SELECT
      "t0"."query" || '' || '' AS "label",
      "t0"."user" || '' || '' AS "user",
      1 AS "one",
      "t0"."country" || '' || '' AS "group"
    FROM "events" AS "t0"
    WHERE
      NOT (
        (
          "t0"."user" || '' || '' IS NULL
        ) OR (
          "t0"."query" || '' || '' IS NULL
        )
      )
      AND IIF("t0"."country" || '' || '' IS NULL, NULL, "t0"."country" || '' || '' IN ('de', 'fr'))
  ) AS "t1"
)
SELECT
  "t9"."count",
  "t9"."is_null",
  "t9"."prevalence",
  "t9"."group"
FROM (
  SELECT
    "t8"."count",
    "t8"."is_null",
    "t8"."group",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t7"."count",
      "t7"."group",
      "t7"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t6"."label",
        "t6"."group",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t5"."label",
          "t5"."group"
        FROM (
          SELECT
            "t4"."label",
            "t4"."user",
            "t4"."one",
            "t4"."group",
            "t4"."number",
            "t4"."total",
            "t4"."hash",
            _NUMBER_N(
              SUBSTRING("t4"."hash", IIF((
                0 + 1
              ) >= 1, 0 + 1, 0 + 1 + LENGTH("t4"."hash")), 12)
            ) AS "start"
          FROM (
            SELECT
              "t3"."label",
              "t3"."user",
              "t3"."one",
              "t3"."group",
              "t3"."number",
              "t3"."total",
              IIF(
                "t3"."total" > 5,
                _DIGEST_N('0123456789abcdef0123456789abcdef ' || "t3"."user"),
                NULL
              ) AS "hash"
            FROM "numbered_rows" AS "t3"
          ) AS "t4"
        ) AS "t5"
        WHERE
          (
            "t5"."total" <= 5
          )
          OR (
            (
              "t5"."total" <= 922337203685477580
            )
            AND (
              MOD(
                MOD(
                  (
                    CASE
                      WHEN (
                        "t5"."total" > 5
                      ) AND (
                        "t5"."total" <= 922337203685477580
                      )
                      THEN "t5"."number"
                      ELSE 0
                    END * 5
                  ) + MOD(MOD("t5"."start", "t5"."total") + "t5"."total", "t5"."total"),
                  "t5"."total"
                ) + "t5"."total",
                "t5"."total"
              ) < 5
            )
          )
      ) AS "t6"
      GROUP BY
        1,
        2
    ) AS "t7"
  ) AS "t8"
  GROUP BY
    1,
    2,
    3
) AS "t9";

-- groups, one of each user
WITH "rows_in_groups" AS (
  SELECT
    "t0"."query" || '' || '' AS "label",
    "t0"."user" || '' || '' AS "user",
    "t0"."user" || '' || '' AS "user_name",
    1 AS "one",
    "t0"."country" || '' || '' AS "group"
  FROM "events" AS "t0"
  WHERE
    NOT (
      (
        "t0"."user" || '' || '' IS NULL
      ) OR (
        "t0"."query" || '' || '' IS NULL
      )
    )
    AND IIF("t0"."country" || '' || '' IS NULL, NULL, "t0"."country" || '' || '' IN ('de', 'fr'))
), "numbered_rows" AS (
  SELECT
    "t6"."label",
    "t6"."user",
    "t6"."one",
    "t6"."group",
    CASE
      WHEN "t6"."one" IS NOT NULL
      THEN SUM("t6"."one") OVER (
        PARTITION BY "t6"."user", "t6"."group"
        ORDER BY "t6"."group" ASC, "t6"."label" ASC
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      )
      ELSE NULL
    END AS "number",
    COALESCE(
      SUM("t6"."one") OVER (
        PARTITION BY "t6"."user", "t6"."group"
        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
      ),
      0
    ) AS "total"
  FROM (
    SELECT
      "t5"."label",
      "t5"."user",
      "t5"."one",
      "t5"."group"
    FROM (
      SELECT
        "t4"."label",
        "t4"."user",
        "t4"."user_name",
        "t4"."one",
        "t4"."group",
        "t4"."occurrence",
        "t4"."hash",
        (
          DENSE_RANK() OVER (
            PARTITION BY "t4"."user"
            ORDER BY "t4"."hash" || "t4"."group" ASC NULLS LAST
            RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          ) - 1
        ) + 1 AS "group_rank"
      FROM (
        SELECT
          "t3"."label",
          "t3"."user",
          "t3"."user_name",
          "t3"."one",
          "t3"."group",
          "t3"."occurrence",
          _DIGEST_N(
            '0123456789abcdef0123456789abcdef' || CAST("t3"."occurrence" AS TEXT) || ' ' || "t3"."user_name" || '
' || IIF("t3"."group" IS NULL, '', '=' || "t3"."group")
          ) AS "hash"
        FROM (
          SELECT
            "t2"."label",
            "t2"."user",
            "t2"."user_name",
            "t2"."one",
            "t2"."group",
            0 AS "occurrence"
          FROM "rows_in_groups" AS "t2"
        ) AS "t3"
      ) AS "t4"
    ) AS "t5"
    WHERE
      "t5"."group_rank" <= 1
  ) AS "t6"
)
SELECT
  "t14"."count",
  "t14"."is_null",
  "t14"."prevalence",
  "t14"."group"
FROM (
  SELECT
    "t13"."count",
    "t13"."is_null",
    "t13"."group",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t12"."count",
      "t12"."group",
      "t12"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t11"."label",
        "t11"."group",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t10"."label",
          "t10"."group"
        FROM (
          SELECT
            "t9"."label",
            "t9"."user",
            "t9"."one",
            "t9"."group",
            "t9"."number",
            "t9"."total",
            "t9"."hash",
            _NUMBER_N(
              SUBSTRING("t9"."hash", IIF((
                0 + 1
              ) >= 1, 0 + 1, 0 + 1 + LENGTH("t9"."hash")), 12)
            ) AS "start"
          FROM (
            SELECT
              "t8"."label",
              "t8"."user",
              "t8"."one",
              "t8"."group",
              "t8"."number",
              "t8"."total",
              IIF(
                "t8"."total" > 5,
                _DIGEST_N(
                  '0123456789abcdef0123456789abcdef ' || "t8"."user" || '
' || "t8"."group"
                ),
                NULL
              ) AS "hash"
            FROM "numbered_rows" AS "t8"
          ) AS "t9"
        ) AS "t10"
        WHERE
          (
            "t10"."total" <= 5
          )
          OR (
            (
              "t10"."total" <= 922337203685477580
            )
            AND (
              MOD(
                MOD(
                  (
                    CASE
                      WHEN (
                        "t10"."total" > 5
                      ) AND (
                        "t10"."total" <= 922337203685477580
                      )
                      THEN "t10"."number"
                      ELSE 0
                    END * 5
                  ) + MOD(MOD("t10"."start", "t10"."total") + "t10"."total", "t10"."total"),
                  "t10"."total"
                ) + "t10"."total",
                "t10"."total"
              ) < 5
            )
          )
      ) AS "t11"
      GROUP BY
        1,
        2
    ) AS "t12"
  ) AS "t13"
  GROUP BY
    1,
    2,
    3
) AS "t14";

-- groups, one of each label
SELECT
  "t9"."count",
  "t9"."is_null",
  "t9"."prevalence",
  "t9"."group"
FROM (
  SELECT
    "t8"."count",
    "t8"."is_null",
    "t8"."group",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t7"."count",
      "t7"."group",
      "t7"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t6"."label",
        "t6"."group",
        "t6"."count",
        "t6"."user_name",
        "t6"."occurrence",
        "t6"."hash",
        "t6"."one",
        CASE
          WHEN "t6"."one" IS NOT NULL
          THEN SUM("t6"."one") OVER (
            PARTITION BY "t6"."user_name", "t6"."occurrence"
            ORDER BY "t6"."hash" ASC, "t6"."group" ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS "rank"
      FROM (
        SELECT
          "t5"."label",
          "t5"."group",
          "t5"."count",
          "t5"."user_name",
          "t5"."occurrence",
          "t5"."hash",
          1 AS "one"
        FROM (
          SELECT
            "t4"."label",
            "t4"."group",
            "t4"."count",
            "t4"."user_name",
            "t4"."occurrence",
            _DIGEST_N(
              '0123456789abcdef0123456789abcdef' || CAST("t4"."occurrence" AS TEXT) || ' ' || "t4"."user_name" || '
' || IIF("t4"."group" IS NULL, '', '=' || "t4"."group")
            ) AS "hash"
          FROM (
            SELECT
              "t3"."label",
              "t3"."group",
              "t3"."count",
              CASE WHEN "t3"."label" IS NULL THEN '' ELSE "t3"."label" END AS "user_name",
              CASE WHEN "t3"."label" IS NULL THEN 0 ELSE 1 END AS "occurrence"
            FROM (
              SELECT
                "t2"."label",
                "t2"."group",
                COUNT(*) AS "count"
              FROM (
                SELECT
                  "t1"."label",
                  "t1"."group0" AS "group"
                FROM (
                  SELECT
                    "t0"."query" || '' || '' AS "label",
                    "t0"."country" || '' || '' AS "group0"
                  FROM "events" AS "t0"
                ) AS "t1"
                WHERE
                  IIF("t1"."group0" IS NULL, NULL, "t1"."group0" IN ('de', 'fr'))
              ) AS "t2"
              GROUP BY
                1,
                2
            ) AS "t3"
          ) AS "t4"
        ) AS "t5"
      ) AS "t6"
    ) AS "t7"
    WHERE
      "t7"."rank" <= 1
  ) AS "t8"
  GROUP BY
    1,
    2,
    3
) AS "t9";

-- windows of days, five items of each user
WITH "numbered_rows" AS (
  SELECT
    "t2"."label",
    "t2"."at_day",
    "t2"."user",
    "t2"."one",
    CASE
      WHEN "t2"."one" IS NOT NULL
      THEN SUM("t2"."one") OVER (
        PARTITION BY "t2"."user"
        ORDER BY "t2"."at_day" ASC, "t2"."label" ASC
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      )
      ELSE NULL
    END AS "number",
    COALESCE(
      SUM("t2"."one") OVER (PARTITION BY "t2"."user" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
      0
    ) AS "total"
  FROM (
    SELECT
      "t1"."label",
      "t1"."at_day",
      "t1"."user",
      "t1"."one"
    FROM (
      SELECT
        "t0"."query" || '' || '' AS "label",
        CASE
          WHEN (
            CAST(CAST(STRFTIME('%Y', "t0"."seen") AS INTEGER) AS INTEGER) >= 1
          )
          AND (
            CAST(CAST(STRFTIME('%Y', "t0"."seen") AS INTEGER) AS INTEGER) <= 9999
          )
          THEN SUBSTRING(
            STRFTIME('%Y-%m-%d', "t0"."seen"),
            IIF(
              (
                (
                  1 - 1
                ) + 1
              ) >= 1,
              (
                1 - 1
              ) + 1,
              (
                1 - 1
              ) + 1 + LENGTH(STRFTIME('%Y-%m-%d', "t0"."seen"))
            ),
            10
          )
          ELSE NULL
        END AS "at_day",
        "t0"."user" || '' || '' AS "user",
        "t0"."user" || '' || '' AS "user_name",
        1 AS "one"
      FROM "events" AS "t0"
    ) AS "t1"
    WHERE
      NOT (
        (
          "t1"."user" IS NULL
        ) OR (
          "t1"."label" IS NULL
        )
      )
      AND IIF("t1"."at_day" IS NULL, NULL, "t1"."at_day" IN ('2026-11-01', '2026-11-02'))
  ) AS "t2"
)
SELECT
  *
FROM (
  SELECT
    "t11"."at_day",
    MIN("t11"."named") AS "named",
    COALESCE(SUM("t11"."reached0"), 0) AS "reached0",
    COALESCE(SUM("t11"."reached1"), 0) AS "reached1"
  FROM (
    SELECT
      "t10"."at_day",
      "t10"."named",
      CASE
        WHEN (
          "t10"."after" >= 1
        ) AND (
          (
            "t10"."after" - "t10"."count"
          ) < 1
        )
        THEN 1
        ELSE 0
      END AS "reached0",
      CASE
        WHEN (
          "t10"."after" >= 2
        ) AND (
          (
            "t10"."after" - "t10"."count"
          ) < 2
        )
        THEN 1
        ELSE 0
      END AS "reached1"
    FROM (
      SELECT
        "t9"."label",
        "t9"."at_day",
        "t9"."count",
        "t9"."known",
        "t9"."named",
        CASE
          WHEN "t9"."count" IS NOT NULL
          THEN SUM("t9"."count") OVER (
            PARTITION BY "t9"."known"
            ORDER BY "t9"."at_day" ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS "after"
      FROM (
        SELECT
          "t8"."label",
          "t8"."at_day",
          "t8"."count",
          "t8"."label" AS "known",
          1 AS "named"
        FROM (
          SELECT
            "t7"."label",
            "t7"."at_day",
            COUNT(*) AS "count"
          FROM (
            SELECT
              "t6"."label",
              "t6"."at_day"
            FROM (
              SELECT
                "t5"."label",
                "t5"."at_day",
                "t5"."user",
                "t5"."one",
                "t5"."number",
                "t5"."total",
                "t5"."hash",
                _NUMBER_N(
                  SUBSTRING("t5"."hash", IIF((
                    0 + 1
                  ) >= 1, 0 + 1, 0 + 1 + LENGTH("t5"."hash")), 12)
                ) AS "start"
              FROM (
                SELECT
                  "t4"."label",
                  "t4"."at_day",
                  "t4"."user",
                  "t4"."one",
                  "t4"."number",
                  "t4"."total",
                  IIF(
                    "t4"."total" > 5,
                    _DIGEST_N('0123456789abcdef0123456789abcdef ' || "t4"."user"),
                    NULL
                  ) AS "hash"
                FROM "numbered_rows" AS "t4"
              ) AS "t5"
            ) AS "t6"
            WHERE
              (
                "t6"."total" <= 5
              )
              OR (
                (
                  "t6"."total" <= 922337203685477580
                )
                AND (
                  MOD(
                    MOD(
                      (
                        CASE
                          WHEN (
                            "t6"."total" > 5
                          ) AND (
                            "t6"."total" <= 922337203685477580
                          )
                          THEN "t6"."number"
                          ELSE 0
                        END * 5
                      ) + MOD(MOD("t6"."start", "t6"."total") + "t6"."total", "t6"."total"),
                      "t6"."total"
                    ) + "t6"."total",
                    "t6"."total"
                  ) < 5
                )
              )
          ) AS "t7"
          GROUP BY
            1,
            2
        ) AS "t8"
      ) AS "t9"
    ) AS "t10"
  ) AS "t11"
  GROUP BY
    1
) AS "t12";

-- windows of weeks
SELECT
  *
FROM (
  SELECT
    "t6"."at_day",
    MIN("t6"."named") AS "named",
    COALESCE(SUM("t6"."reached0"), 0) AS "reached0",
    COALESCE(SUM("t6"."reached1"), 0) AS "reached1"
  FROM (
    SELECT
      "t5"."at_day",
      "t5"."named",
      CASE
        WHEN (
          "t5"."after" >= 1
        ) AND (
          (
            "t5"."after" - "t5"."count"
          ) < 1
        )
        THEN 1
        ELSE 0
      END AS "reached0",
      CASE
        WHEN (
          "t5"."after" >= 2
        ) AND (
          (
            "t5"."after" - "t5"."count"
          ) < 2
        )
        THEN 1
        ELSE 0
      END AS "reached1"
    FROM (
      SELECT
        "t4"."label",
        "t4"."at_day",
        "t4"."count",
        "t4"."known",
        "t4"."named",
        CASE
          WHEN "t4"."count" IS NOT NULL
          THEN SUM("t4"."count") OVER (
            PARTITION BY "t4"."known"
            ORDER BY "t4"."at_day" ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS "after"
      FROM (
        SELECT
          "t3"."label",
          "t3"."at_day",
          "t3"."count",
          "t3"."label" AS "known",
          1 AS "named"
        FROM (
          SELECT
            "t2"."label",
            "t2"."at_day",
            COUNT(*) AS "count"
          FROM (
            SELECT
              "t1"."query" || '' || '' AS "label",
              "t1"."week(zoned)" AS "at_day"
            FROM (
              SELECT
                "t0"."query",
                "t0"."user",
                "t0"."ts",
                "t0"."price",
                "t0"."country",
                "t0"."seen",
                "t0"."zoned",
                "t0"."count",
                "t0"."share",
                "t0"."written",
                _WEEK_OF_TEXT_N(STRFTIME('%Y-%m-%d', "t0"."zoned")) AS "week(zoned)"
              FROM "events" AS "t0"
            ) AS "t1"
            WHERE
              IIF("t1"."week(zoned)" IS NULL, NULL, "t1"."week(zoned)" IN ('105702', '105703'))
              AND NOT (
                "t1"."query" || '' || '' IS NULL
              )
          ) AS "t2"
          GROUP BY
            1,
            2
        ) AS "t3"
      ) AS "t4"
    ) AS "t5"
  ) AS "t6"
  GROUP BY
    1
) AS "t7";

-- counts
SELECT
  *
FROM (
  SELECT
    "t4"."count",
    "t4"."is_null",
    COUNT(*) AS "prevalence",
    COALESCE(SUM("t4"."wrong"), 0) AS "wrong",
    MAX("t4"."size") AS "size"
  FROM (
    SELECT
      "t3"."label",
      "t3"."count",
      "t3"."wrong",
      "t3"."size",
      "t3"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t2"."label",
        COALESCE(SUM("t2"."count"), 0) AS "count",
        COALESCE(SUM("t2"."wrong"), 0) AS "wrong",
        COALESCE(SUM("t2"."size"), 0) AS "size"
      FROM (
        SELECT
          "t1"."label",
          "t1"."count",
          "t1"."wrong",
          CASE
            WHEN 4294967296 <> 0
            THEN CAST(FLOOR(CAST((
              "t1"."count"
            ) AS REAL) / (
              4294967296
            )) AS INTEGER)
            ELSE NULL
          END AS "size"
        FROM (
          SELECT
            "t0"."query" || '' || '' AS "label",
            CASE
              WHEN NOT (
                "t0"."count" IS NULL
              )
              AND COALESCE(
                (
                  "t0"."count" >= 1
                )
                AND (
                  "t0"."count" <= 9223372036854775807
                )
                AND NOT (
                  INSTR(CAST("t0"."count" AS TEXT), '.') >= 1
                ),
                FALSE
              )
              THEN "t0"."count"
              ELSE 0
            END AS "count",
            CASE
              WHEN NOT (
                NOT (
                  "t0"."count" IS NULL
                )
                AND COALESCE(
                  (
                    "t0"."count" >= 1
                  )
                  AND (
                    "t0"."count" <= 9223372036854775807
                  )
                  AND NOT (
                    INSTR(CAST("t0"."count" AS TEXT), '.') >= 1
                  ),
                  FALSE
                )
              )
              THEN 1
              ELSE 0
            END AS "wrong"
          FROM "events" AS "t0"
        ) AS "t1"
      ) AS "t2"
      GROUP BY
        1
    ) AS "t3"
  ) AS "t4"
  GROUP BY
    1,
    2
) AS "t5";

-- counts as text
SELECT
  *
FROM (
  SELECT
    "t4"."count",
    "t4"."is_null",
    COUNT(*) AS "prevalence",
    COALESCE(SUM("t4"."wrong"), 0) AS "wrong",
    MAX("t4"."size") AS "size"
  FROM (
    SELECT
      "t3"."label",
      "t3"."count",
      "t3"."wrong",
      "t3"."size",
      "t3"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t2"."label",
        COALESCE(SUM("t2"."count"), 0) AS "count",
        COALESCE(SUM("t2"."wrong"), 0) AS "wrong",
        COALESCE(SUM("t2"."size"), 0) AS "size"
      FROM (
        SELECT
          "t1"."label",
          "t1"."count",
          "t1"."wrong",
          CASE
            WHEN 4294967296 <> 0
            THEN CAST(FLOOR(CAST((
              "t1"."count"
            ) AS REAL) / (
              4294967296
            )) AS INTEGER)
            ELSE NULL
          END AS "size"
        FROM (
          SELECT
            "t0"."query" || '' || '' AS "label",
            CAST(CASE
              WHEN NOT (
                "t0"."written" IS NULL
              )
              AND COALESCE(
                _IBIS_REGEX_SEARCH("t0"."written", '^ *0*[1-9][0-9]{0,17} *$')
                OR (
                  _IBIS_REGEX_SEARCH("t0"."written", '^ *[1-9][0-9]{18} *$')
                  AND (
                    TRIM("t0"."written", ' 	
') <= '9223372036854775807'
                  )
                ),
                FALSE
              )
              THEN TRIM("t0"."written", ' 	
')
              ELSE '0'
            END AS INTEGER) AS "count",
            CASE
              WHEN NOT (
                NOT (
                  "t0"."written" IS NULL
                )
                AND COALESCE(
                  _IBIS_REGEX_SEARCH("t0"."written", '^ *0*[1-9][0-9]{0,17} *$')
                  OR (
                    _IBIS_REGEX_SEARCH("t0"."written", '^ *[1-9][0-9]{18} *$')
                    AND (
                      TRIM("t0"."written", ' 	
') <= '9223372036854775807'
                    )
                  ),
                  FALSE
                )
              )
              THEN 1
              ELSE 0
            END AS "wrong"
          FROM "events" AS "t0"
        ) AS "t1"
      ) AS "t2"
      GROUP BY
        1
    ) AS "t3"
  ) AS "t4"
  GROUP BY
    1,
    2
) AS "t5";

-- prevalences
SELECT
  "t3"."count",
  "t3"."prevalence",
  "t3"."rows",
  "t3"."wrong_counts",
  "t3"."wrong",
  "t3"."size"
FROM (
  SELECT
    "t2"."count",
    COALESCE(SUM("t2"."prevalence"), 0) AS "prevalence",
    COALESCE(SUM("t2"."wrong_counts"), 0) AS "wrong_counts",
    COALESCE(SUM("t2"."wrong"), 0) AS "wrong",
    COALESCE(SUM("t2"."size"), 0) AS "size",
    COUNT(*) AS "rows"
  FROM (
    SELECT
      "t1"."count",
      "t1"."prevalence",
      "t1"."wrong_counts",
      "t1"."wrong",
      CASE
        WHEN 4294967296 <> 0
        THEN CAST(FLOOR(CAST((
          "t1"."prevalence"
        ) AS REAL) / (
          4294967296
        )) AS INTEGER)
        ELSE NULL
      END AS "size"
    FROM (
      SELECT
        CASE
          WHEN NOT (
            "t0"."count" IS NULL
          )
          AND COALESCE(
            (
              "t0"."count" >= 1
            )
            AND (
              "t0"."count" <= 9223372036854775807
            )
            AND NOT (
              INSTR(CAST("t0"."count" AS TEXT), '.') >= 1
            ),
            FALSE
          )
          THEN "t0"."count"
          ELSE 0
        END AS "count",
        CAST(CASE
          WHEN NOT (
            "t0"."share" IS NULL
          )
          AND COALESCE(
            CASE
              WHEN NOT (
                "t0"."share" IS NULL
              )
              AND (
                "t0"."share" >= 1
              )
              AND (
                "t0"."share" <= 9007199254740992
              )
              THEN "t0"."share"
              ELSE 0.5
            END = CAST(ROUND(
              CASE
                WHEN NOT (
                  "t0"."share" IS NULL
                )
                AND (
                  "t0"."share" >= 1
                )
                AND (
                  "t0"."share" <= 9007199254740992
                )
                THEN "t0"."share"
                ELSE 0.5
              END,
              0
            ) AS INTEGER),
            FALSE
          )
          THEN "t0"."share"
          ELSE 0.0
        END AS INTEGER) AS "prevalence",
        CASE
          WHEN NOT (
            NOT (
              "t0"."count" IS NULL
            )
            AND COALESCE(
              (
                "t0"."count" >= 1
              )
              AND (
                "t0"."count" <= 9223372036854775807
              )
              AND NOT (
                INSTR(CAST("t0"."count" AS TEXT), '.') >= 1
              ),
              FALSE
            )
          )
          THEN 1
          ELSE 0
        END AS "wrong_counts",
        CASE
          WHEN NOT (
            NOT (
              "t0"."share" IS NULL
            )
            AND COALESCE(
              CASE
                WHEN NOT (
                  "t0"."share" IS NULL
                )
                AND (
                  "t0"."share" >= 1
                )
                AND (
                  "t0"."share" <= 9007199254740992
                )
                THEN "t0"."share"
                ELSE 0.5
              END = CAST(ROUND(
                CASE
                  WHEN NOT (
                    "t0"."share" IS NULL
                  )
                  AND (
                    "t0"."share" >= 1
                  )
                  AND (
                    "t0"."share" <= 9007199254740992
                  )
                  THEN "t0"."share"
                  ELSE 0.5
                END,
                0
              ) AS INTEGER),
              FALSE
            )
          )
          THEN 1
          ELSE 0
        END AS "wrong"
      FROM "events" AS "t0"
    ) AS "t1"
  ) AS "t2"
  GROUP BY
    1
) AS "t3";
