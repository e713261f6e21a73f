-- by ibis-framework 12.0.0 and sqlglot 30.29.0

-- events
SELECT
  *
FROM (
  SELECT
    "t4"."count",
    "t4"."is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t3"."count",
      "t3"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t2"."label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t1"."query" || '' || '' AS "label"
        FROM (
          SELECT
            DECODE(ENCODE("t0"."query" || '')) AS "query",
            DECODE(ENCODE("t0"."user" || '')) AS "user",
            "t0"."ts",
            "t0"."price",
            DECODE(ENCODE("t0"."country" || '')) AS "country",
            "t0"."seen",
            "t0"."zoned",
            "t0"."count",
            "t0"."share",
            DECODE(ENCODE("t0"."written" || '')) AS "written"
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

-- events, five of each user
SELECT
  *
FROM (
  SELECT
    "t8"."count",
    "t8"."is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t7"."count",
      "t7"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t6"."label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t5"."label"
        FROM (
          SELECT
            "t4"."label",
            "t4"."user",
            "t4"."one",
            "t4"."number",
            "t4"."total",
            CASE
              WHEN "t4"."total" > 5
              THEN MD5('0123456789abcdef0123456789abcdef ' || "t4"."user")
              ELSE NULL
            END AS "hash"
          FROM (
            SELECT
              "t3"."label",
              "t3"."user",
              "t3"."one",
              CASE
                WHEN "t3"."one" IS NOT NULL
                THEN SUM("t3"."one") OVER (
                  PARTITION BY "t3"."user"
                  ORDER BY "t3"."label" ASC NULLS FIRST
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                )
                ELSE NULL
              END AS "number",
              COALESCE(
                SUM("t3"."one") OVER (PARTITION BY "t3"."user" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
                0
              ) AS "total"
            FROM (
              SELECT
                "t2"."label",
                "t2"."user",
                "t2"."one"
              FROM (
                SELECT
                  "t1"."query" || '' || '' AS "label",
                  "t1"."user" || '' || '' AS "user",
                  "t1"."user" || '' || '' AS "user_name",
                  1 AS "one"
                FROM (
                  SELECT
                    DECODE(ENCODE("t0"."query" || '')) AS "query",
                    DECODE(ENCODE("t0"."user" || '')) AS "user",
                    "t0"."ts",
                    "t0"."price",
                    DECODE(ENCODE("t0"."country" || '')) AS "country",
                    "t0"."seen",
                    "t0"."zoned",
                    "t0"."count",
                    "t0"."share",
                    DECODE(ENCODE("t0"."written" || '')) AS "written"
                  FROM "events" AS "t0"
                ) AS "t1"
              ) AS "t2"
              WHERE
                NOT (
                  (
                    "t2"."user" IS NULL
                  ) OR (
                    "t2"."label" IS NULL
                  )
                )
            ) AS "t3"
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
              (
                (
                  (
                    (
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
                      ) + (
                        (
                          (
                            CAST('0x' || SUBSTRING(
                              "t5"."hash",
                              CASE WHEN (
                                0 + 1
                              ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t5"."hash") END,
                              12
                            ) AS BIGINT) % "t5"."total"
                          ) + "t5"."total"
                        ) % "t5"."total"
                      )
                    ) % "t5"."total"
                  ) + "t5"."total"
                ) % "t5"."total"
              ) < 5
            )
          )
      ) AS "t6"
      GROUP BY
        1
    ) AS "t7"
  ) AS "t8"
  GROUP BY
    1,
    2
) AS "t9";

-- events, the first five of each user
SELECT
  *
FROM (
  SELECT
    "t8"."count",
    "t8"."is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t7"."count",
      "t7"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t6"."label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t5"."label"
        FROM (
          SELECT
            "t4"."label",
            "t4"."user",
            "t4"."user_name",
            "t4"."rank_by",
            "t4"."one",
            "t4"."occurrence",
            "t4"."hash",
            CASE
              WHEN "t4"."one" IS NOT NULL
              THEN SUM("t4"."one") OVER (
                PARTITION BY "t4"."user"
                ORDER BY "t4"."rank_by" ASC NULLS FIRST, "t4"."hash" ASC NULLS FIRST, "t4"."label" ASC NULLS FIRST
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
              "t3"."one",
              "t3"."occurrence",
              MD5(
                '0123456789abcdef0123456789abcdef' || CAST("t3"."occurrence" AS TEXT) || ' ' || "t3"."user_name" || '
' || CASE WHEN "t3"."label" IS NULL THEN '' ELSE '=' || "t3"."label" END
              ) AS "hash"
            FROM (
              SELECT
                "t2"."label",
                "t2"."user",
                "t2"."user_name",
                "t2"."rank_by",
                "t2"."one",
                CASE
                  WHEN "t2"."one" IS NOT NULL
                  THEN SUM("t2"."one") OVER (
                    PARTITION BY "t2"."user", "t2"."label"
                    ORDER BY "t2"."rank_by" ASC NULLS FIRST
                    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                  )
                  ELSE NULL
                END AS "occurrence"
              FROM (
                SELECT
                  "t1"."query" || '' || '' AS "label",
                  "t1"."user" || '' || '' AS "user",
                  "t1"."user" || '' || '' AS "user_name",
                  CASE WHEN NOT (
                    "t1"."ts" IS NULL
                  ) THEN CAST("t1"."ts" AS DOUBLE) ELSE NULL END AS "rank_by",
                  1 AS "one"
                FROM (
                  SELECT
                    DECODE(ENCODE("t0"."query" || '')) AS "query",
                    DECODE(ENCODE("t0"."user" || '')) AS "user",
                    "t0"."ts",
                    "t0"."price",
                    DECODE(ENCODE("t0"."country" || '')) AS "country",
                    "t0"."seen",
                    "t0"."zoned",
                    "t0"."count",
                    "t0"."share",
                    DECODE(ENCODE("t0"."written" || '')) AS "written"
                  FROM "events" AS "t0"
                ) AS "t1"
                WHERE
                  NOT (
                    (
                      (
                        "t1"."user" || '' || ''
                      ) IS NULL
                    )
                    OR (
                      (
                        "t1"."query" || '' || ''
                      ) IS NULL
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
        1
    ) AS "t7"
  ) AS "t8"
  GROUP BY
    1,
    2
) AS "t9";

-- events, fractions and NaN
SELECT
  "t10"."count",
  "t10"."is_null",
  "t10"."prevalence",
  "t10"."named"
FROM (
  SELECT
    "t9"."count",
    "t9"."is_null",
    "t9"."named",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t8"."count",
      "t8"."named",
      "t8"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t7"."label",
        "t7"."named",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t6"."label",
          "t6"."named"
        FROM (
          SELECT
            "t5"."label",
            "t5"."user",
            "t5"."user_name",
            "t5"."rank_by",
            "t5"."named",
            "t5"."one",
            "t5"."occurrence",
            "t5"."hash",
            CASE
              WHEN "t5"."one" IS NOT NULL
              THEN SUM("t5"."one") OVER (
                PARTITION BY "t5"."user"
                ORDER BY "t5"."rank_by" ASC NULLS FIRST, "t5"."named" ASC NULLS FIRST, "t5"."hash" ASC NULLS FIRST, "t5"."label" ASC NULLS FIRST
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              )
              ELSE NULL
            END AS "rank"
          FROM (
            SELECT
              "t4"."label",
              "t4"."user",
              "t4"."user_name",
              "t4"."rank_by",
              "t4"."named",
              "t4"."one",
              "t4"."occurrence",
              MD5(
                '0123456789abcdef0123456789abcdef' || CAST("t4"."occurrence" AS TEXT) || ' ' || "t4"."user_name" || '
' || CASE WHEN "t4"."label" IS NULL THEN '' ELSE '=' || "t4"."label" END
              ) AS "hash"
            FROM (
              SELECT
                "t3"."label",
                "t3"."user",
                "t3"."user_name",
                "t3"."rank_by",
                "t3"."named",
                "t3"."one",
                CASE
                  WHEN "t3"."one" IS NOT NULL
                  THEN SUM("t3"."one") OVER (
                    PARTITION BY "t3"."user", "t3"."label"
                    ORDER BY "t3"."rank_by" ASC NULLS FIRST
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
                        (
                          "t1"."price" IS NULL
                        )
                        OR CASE WHEN "t1"."price" IS NULL THEN NULL ELSE ISNAN("t1"."price") END
                      )
                      THEN CASE
                        WHEN COALESCE(
                          CASE
                            WHEN NOT (
                              (
                                "t1"."price" IS NULL
                              )
                              OR CASE WHEN "t1"."price" IS NULL THEN NULL ELSE ISNAN("t1"."price") END
                            )
                            AND (
                              (
                                "t1"."price" > -9007199254740992
                              ) AND (
                                "t1"."price" < 9007199254740992
                              )
                            )
                            THEN "t1"."price"
                            ELSE 0.5
                          END = CAST(ROUND(
                            CASE
                              WHEN NOT (
                                (
                                  "t1"."price" IS NULL
                                )
                                OR CASE WHEN "t1"."price" IS NULL THEN NULL ELSE ISNAN("t1"."price") END
                              )
                              AND (
                                (
                                  "t1"."price" > -9007199254740992
                                ) AND (
                                  "t1"."price" < 9007199254740992
                                )
                              )
                              THEN "t1"."price"
                              ELSE 0.5
                            END,
                            0
                          ) AS BIGINT),
                          FALSE
                        )
                        THEN CAST(CAST(ROUND(
                          CASE
                            WHEN NOT (
                              (
                                "t1"."price" IS NULL
                              )
                              OR CASE WHEN "t1"."price" IS NULL THEN NULL ELSE ISNAN("t1"."price") END
                            )
                            AND (
                              (
                                "t1"."price" > -9007199254740992
                              ) AND (
                                "t1"."price" < 9007199254740992
                              )
                            )
                            THEN "t1"."price"
                            ELSE 0.5
                          END,
                          0
                        ) AS BIGINT) AS TEXT)
                        ELSE CAST("t1"."price" AS TEXT)
                      END
                      ELSE NULL
                    END AS "label",
                    "t1"."user" || '' || '' AS "user",
                    "t1"."user" || '' || '' AS "user_name",
                    CASE
                      WHEN NOT (
                        (
                          "t1"."price" IS NULL
                        )
                        OR CASE WHEN "t1"."price" IS NULL THEN NULL ELSE ISNAN("t1"."price") END
                      )
                      THEN "t1"."price" + 0.0
                      ELSE NULL
                    END AS "rank_by",
                    CASE
                      WHEN COALESCE(
                        NOT (
                          COALESCE(
                            (
                              "t1"."price" > -9007199254740992
                            ) AND (
                              "t1"."price" < 9007199254740992
                            ),
                            FALSE
                          )
                        )
                        AND NOT (
                          (
                            "t1"."price" IS NULL
                          )
                          OR CASE WHEN "t1"."price" IS NULL THEN NULL ELSE ISNAN("t1"."price") END
                        ),
                        FALSE
                      )
                      THEN 0
                      ELSE 1
                    END AS "named",
                    1 AS "one"
                  FROM (
                    SELECT
                      DECODE(ENCODE("t0"."query" || '')) AS "query",
                      DECODE(ENCODE("t0"."user" || '')) AS "user",
                      "t0"."ts",
                      "t0"."price",
                      DECODE(ENCODE("t0"."country" || '')) AS "country",
                      "t0"."seen",
                      "t0"."zoned",
                      "t0"."count",
                      "t0"."share",
                      DECODE(ENCODE("t0"."written" || '')) AS "written"
                    FROM "events" AS "t0"
                  ) AS "t1"
                ) AS "t2"
                WHERE
                  NOT (
                    (
                      "t2"."user" IS NULL
                    ) OR (
                      "t2"."label" IS NULL
                    )
                  )
              ) AS "t3"
            ) AS "t4"
          ) AS "t5"
        ) AS "t6"
        WHERE
          "t6"."rank" <= 5
      ) AS "t7"
      GROUP BY
        1,
        2
    ) AS "t8"
  ) AS "t9"
  GROUP BY
    1,
    2,
    3
) AS "t10";

-- users
SELECT
  *
FROM (
  SELECT
    "t5"."items",
    COUNT(*) AS "users"
  FROM (
    SELECT
      *
    FROM (
      SELECT
        "t3"."user",
        COUNT(*) AS "items"
      FROM (
        SELECT
          *
        FROM (
          SELECT
            "t1"."query" || '' || '' AS "label",
            "t1"."user" || '' || '' AS "user"
          FROM (
            SELECT
              DECODE(ENCODE("t0"."query" || '')) AS "query",
              DECODE(ENCODE("t0"."user" || '')) AS "user",
              "t0"."ts",
              "t0"."price",
              DECODE(ENCODE("t0"."country" || '')) AS "country",
              "t0"."seen",
              "t0"."zoned",
              "t0"."count",
              "t0"."share",
              DECODE(ENCODE("t0"."written" || '')) AS "written"
            FROM "events" AS "t0"
          ) AS "t1"
        ) AS "t2"
        WHERE
          NOT (
            (
              "t2"."user" IS NULL
            ) OR (
              "t2"."label" IS NULL
            )
          )
      ) AS "t3"
      GROUP BY
        1
    ) AS "t4"
  ) AS "t5"
  GROUP BY
    1
) AS "t6";

-- rows left out
SELECT
  COUNT(*) AS "rows",
  COALESCE(SUM("t2"."missing"), 0) AS "missing"
FROM (
  SELECT
    CASE WHEN "t1"."user" IS NULL THEN 1 ELSE 0 END AS "missing"
  FROM (
    SELECT
      DECODE(ENCODE("t0"."query" || '')) AS "query",
      DECODE(ENCODE("t0"."user" || '')) AS "user",
      "t0"."ts",
      "t0"."price",
      DECODE(ENCODE("t0"."country" || '')) AS "country",
      "t0"."seen",
      "t0"."zoned",
      "t0"."count",
      "t0"."share",
      DECODE(ENCODE("t0"."written" || '')) AS "written"
    FROM "events" AS "t0"
  ) AS "t1"
) AS "t2";

-- groups
SELECT
  "t7"."count",
  "t7"."is_null",
  "t7"."prevalence",
  "t7"."group"
FROM (
  SELECT
    "t6"."count",
    "t6"."is_null",
    "t6"."group",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t5"."count",
      "t5"."group",
      "t5"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t4"."label",
        "t4"."group",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t3"."label",
          "t3"."group"
        FROM (
          SELECT
            "t2"."label",
            "t2"."group0",
            "t2"."group1",
            CASE
              WHEN "t2"."group0" IS NULL
              THEN '0'
              ELSE REPLACE(REPLACE("t2"."group0", '', '2'), '', '1')
            END || '' || CASE
              WHEN "t2"."group1" IS NULL
              THEN '0'
              ELSE REPLACE(REPLACE("t2"."group1", '', '2'), '', '1')
            END AS "group"
          FROM (
            SELECT
              "t1"."query" || '' || '' AS "label",
              "t1"."country" || '' || '' AS "group0",
              CASE
                WHEN (
                  CAST(EXTRACT(year FROM "t1"."zoned") AS BIGINT) >= 1
                )
                AND (
                  CAST(EXTRACT(year FROM "t1"."zoned") AS BIGINT) <= 9999
                )
                THEN SUBSTRING(
                  STRFTIME("t1"."zoned", '%Y-%m-%d'),
                  CASE
                    WHEN (
                      (
                        1 - 1
                      ) + 1
                    ) >= 1
                    THEN (
                      1 - 1
                    ) + 1
                    ELSE (
                      1 - 1
                    ) + 1 + LENGTH(STRFTIME("t1"."zoned", '%Y-%m-%d'))
                  END,
                  10
                )
                ELSE NULL
              END AS "group1"
            FROM (
              SELECT
                DECODE(ENCODE("t0"."query" || '')) AS "query",
                DECODE(ENCODE("t0"."user" || '')) AS "user",
                "t0"."ts",
                "t0"."price",
                DECODE(ENCODE("t0"."country" || '')) AS "country",
                "t0"."seen",
                "t0"."zoned",
                "t0"."count",
                "t0"."share",
                DECODE(ENCODE("t0"."written" || '')) AS "written"
              FROM "events" AS "t0"
            ) AS "t1"
          ) AS "t2"
          WHERE
            NOT (
              COALESCE("t2"."group0" IS NULL, FALSE) OR COALESCE("t2"."group1" IS NULL, FALSE)
            )
        ) AS "t3"
        WHERE
          CASE
            WHEN "t3"."group" IS NULL
            THEN NULL
            ELSE "t3"."group" IN ('de2026-11-01', 'f1r2026-11-02')
          END
      ) AS "t4"
      GROUP BY
        1,
        2
    ) AS "t5"
  ) AS "t6"
  GROUP BY
    1,
    2,
    3
) AS "t7";

-- groups, five items of each user
SELECT
  "t8"."count",
  "t8"."is_null",
  "t8"."prevalence",
  "t8"."group"
FROM (
  SELECT
    "t7"."count",
    "t7"."is_null",
    "t7"."group",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t6"."count",
      "t6"."group",
      "t6"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t5"."label",
        "t5"."group",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t4"."label",
          "t4"."group"
        FROM (
          SELECT
            "t3"."label",
            "t3"."user",
            "t3"."one",
            "t3"."group",
            "t3"."number",
            "t3"."total",
            CASE
              WHEN "t3"."total" > 5
              THEN MD5('0123456789abcdef0123456789abcdef ' || "t3"."user")
              ELSE NULL
            END AS "hash"
          FROM (
            SELECT
              "t2"."label",
              "t2"."user",
              "t2"."one",
              "t2"."group",
              CASE
                WHEN "t2"."one" IS NOT NULL
                THEN SUM("t2"."one") OVER (
                  PARTITION BY "t2"."user"
                  ORDER BY "t2"."group" ASC NULLS FIRST, "t2"."label" ASC NULLS FIRST
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
                "t1"."query" || '' || '' AS "label",
                "t1"."user" || '' || '' AS "user",
                1 AS "one",
                "t1"."country" || '' || '' AS "group"
              FROM (
                SELECT
                  DECODE(ENCODE("t0"."query" || '')) AS "query",
                  DECODE(ENCODE("t0"."user" || '')) AS "user",
                  "t0"."ts",
                  "t0"."price",
                  DECODE(ENCODE("t0"."country" || '')) AS "country",
                  "t0"."seen",
                  "t0"."zoned",
                  "t0"."count",
                  "t0"."share",
                  DECODE(ENCODE("t0"."written" || '')) AS "written"
                FROM "events" AS "t0"
              ) AS "t1"
              WHERE
                NOT (
                  (
                    (
                      "t1"."user" || '' || ''
                    ) IS NULL
                  )
                  OR (
                    (
                      "t1"."query" || '' || ''
                    ) IS NULL
                  )
                )
                AND CASE
                  WHEN (
                    "t1"."country" || '' || ''
                  ) IS NULL
                  THEN NULL
                  ELSE "t1"."country" || '' || '' IN ('de', 'fr')
                END
            ) AS "t2"
          ) AS "t3"
        ) AS "t4"
        WHERE
          (
            "t4"."total" <= 5
          )
          OR (
            (
              "t4"."total" <= 922337203685477580
            )
            AND (
              (
                (
                  (
                    (
                      (
                        CASE
                          WHEN (
                            "t4"."total" > 5
                          ) AND (
                            "t4"."total" <= 922337203685477580
                          )
                          THEN "t4"."number"
                          ELSE 0
                        END * 5
                      ) + (
                        (
                          (
                            CAST('0x' || SUBSTRING(
                              "t4"."hash",
                              CASE WHEN (
                                0 + 1
                              ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t4"."hash") END,
                              12
                            ) AS BIGINT) % "t4"."total"
                          ) + "t4"."total"
                        ) % "t4"."total"
                      )
                    ) % "t4"."total"
                  ) + "t4"."total"
                ) % "t4"."total"
              ) < 5
            )
          )
      ) AS "t5"
      GROUP BY
        1,
        2
    ) AS "t6"
  ) AS "t7"
  GROUP BY
    1,
    2,
    3
) AS "t8";

-- groups, one of each user
SELECT
  "t11"."count",
  "t11"."is_null",
  "t11"."prevalence",
  "t11"."group"
FROM (
  SELECT
    "t10"."count",
    "t10"."is_null",
    "t10"."group",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t9"."count",
      "t9"."group",
      "t9"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t8"."label",
        "t8"."group",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t7"."label",
          "t7"."group"
        FROM (
          SELECT
            "t6"."label",
            "t6"."user",
            "t6"."one",
            "t6"."group",
            "t6"."number",
            "t6"."total",
            CASE
              WHEN "t6"."total" > 5
              THEN MD5(
                '0123456789abcdef0123456789abcdef ' || "t6"."user" || '
' || "t6"."group"
              )
              ELSE NULL
            END AS "hash"
          FROM (
            SELECT
              "t5"."label",
              "t5"."user",
              "t5"."one",
              "t5"."group",
              CASE
                WHEN "t5"."one" IS NOT NULL
                THEN SUM("t5"."one") OVER (
                  PARTITION BY "t5"."user", "t5"."group"
                  ORDER BY "t5"."group" ASC NULLS FIRST, "t5"."label" ASC NULLS FIRST
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                )
                ELSE NULL
              END AS "number",
              COALESCE(
                SUM("t5"."one") OVER (
                  PARTITION BY "t5"."user", "t5"."group"
                  ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
                ),
                0
              ) AS "total"
            FROM (
              SELECT
                "t4"."label",
                "t4"."user",
                "t4"."one",
                "t4"."group"
              FROM (
                SELECT
                  "t3"."label",
                  "t3"."user",
                  "t3"."user_name",
                  "t3"."one",
                  "t3"."group",
                  "t3"."occurrence",
                  "t3"."hash",
                  (
                    DENSE_RANK() OVER (
                      PARTITION BY "t3"."user"
                      ORDER BY "t3"."hash" || "t3"."group" ASC
                      RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                    ) - 1
                  ) + 1 AS "group_rank"
                FROM (
                  SELECT
                    "t2"."label",
                    "t2"."user",
                    "t2"."user_name",
                    "t2"."one",
                    "t2"."group",
                    "t2"."occurrence",
                    MD5(
                      '0123456789abcdef0123456789abcdef' || CAST("t2"."occurrence" AS TEXT) || ' ' || "t2"."user_name" || '
' || CASE WHEN "t2"."group" IS NULL THEN '' ELSE '=' || "t2"."group" END
                    ) AS "hash"
                  FROM (
                    SELECT
                      "t1"."query" || '' || '' AS "label",
                      "t1"."user" || '' || '' AS "user",
                      "t1"."user" || '' || '' AS "user_name",
                      1 AS "one",
                      "t1"."country" || '' || '' AS "group",
                      0 AS "occurrence"
                    FROM (
                      SELECT
                        DECODE(ENCODE("t0"."query" || '')) AS "query",
                        DECODE(ENCODE("t0"."user" || '')) AS "user",
                        "t0"."ts",
                        "t0"."price",
                        DECODE(ENCODE("t0"."country" || '')) AS "country",
                        "t0"."seen",
                        "t0"."zoned",
                        "t0"."count",
                        "t0"."share",
                        DECODE(ENCODE("t0"."written" || '')) AS "written"
                      FROM "events" AS "t0"
                    ) AS "t1"
                    WHERE
                      NOT (
                        (
                          (
                            "t1"."user" || '' || ''
                          ) IS NULL
                        )
                        OR (
                          (
                            "t1"."query" || '' || ''
                          ) IS NULL
                        )
                      )
                      AND CASE
                        WHEN (
                          "t1"."country" || '' || ''
                        ) IS NULL
                        THEN NULL
                        ELSE "t1"."country" || '' || '' IN ('de', 'fr')
                      END
                  ) AS "t2"
                ) AS "t3"
              ) AS "t4"
              WHERE
                "t4"."group_rank" <= 1
            ) AS "t5"
          ) AS "t6"
        ) AS "t7"
        WHERE
          (
            "t7"."total" <= 5
          )
          OR (
            (
              "t7"."total" <= 922337203685477580
            )
            AND (
              (
                (
                  (
                    (
                      (
                        CASE
                          WHEN (
                            "t7"."total" > 5
                          ) AND (
                            "t7"."total" <= 922337203685477580
                          )
                          THEN "t7"."number"
                          ELSE 0
                        END * 5
                      ) + (
                        (
                          (
                            CAST('0x' || SUBSTRING(
                              "t7"."hash",
                              CASE WHEN (
                                0 + 1
                              ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t7"."hash") END,
                              12
                            ) AS BIGINT) % "t7"."total"
                          ) + "t7"."total"
                        ) % "t7"."total"
                      )
                    ) % "t7"."total"
                  ) + "t7"."total"
                ) % "t7"."total"
              ) < 5
            )
          )
      ) AS "t8"
      GROUP BY
        1,
        2
    ) AS "t9"
  ) AS "t10"
  GROUP BY
    1,
    2,
    3
) AS "t11";

-- groups, one of each label
SELECT
  "t10"."count",
  "t10"."is_null",
  "t10"."prevalence",
  "t10"."group"
FROM (
  SELECT
    "t9"."count",
    "t9"."is_null",
    "t9"."group",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t8"."count",
      "t8"."group",
      "t8"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t7"."label",
        "t7"."group",
        "t7"."count",
        "t7"."user_name",
        "t7"."occurrence",
        "t7"."hash",
        "t7"."one",
        CASE
          WHEN "t7"."one" IS NOT NULL
          THEN SUM("t7"."one") OVER (
            PARTITION BY "t7"."user_name", "t7"."occurrence"
            ORDER BY "t7"."hash" ASC NULLS FIRST, "t7"."group" ASC NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS "rank"
      FROM (
        SELECT
          "t6"."label",
          "t6"."group",
          "t6"."count",
          "t6"."user_name",
          "t6"."occurrence",
          "t6"."hash",
          1 AS "one"
        FROM (
          SELECT
            "t5"."label",
            "t5"."group",
            "t5"."count",
            "t5"."user_name",
            "t5"."occurrence",
            MD5(
              '0123456789abcdef0123456789abcdef' || CAST("t5"."occurrence" AS TEXT) || ' ' || "t5"."user_name" || '
' || CASE WHEN "t5"."group" IS NULL THEN '' ELSE '=' || "t5"."group" END
            ) AS "hash"
          FROM (
            SELECT
              "t4"."label",
              "t4"."group",
              "t4"."count",
              CASE WHEN "t4"."label" IS NULL THEN '' ELSE "t4"."label" END AS "user_name",
              CASE WHEN "t4"."label" IS NULL THEN 0 ELSE 1 END AS "occurrence"
            FROM (
              SELECT
                "t3"."label",
                "t3"."group",
                COUNT(*) AS "count"
              FROM (
                SELECT
                  "t2"."label",
                  "t2"."group0" AS "group"
                FROM (
                  SELECT
                    "t1"."query" || '' || '' AS "label",
                    "t1"."country" || '' || '' AS "group0"
                  FROM (
                    SELECT
                      DECODE(ENCODE("t0"."query" || '')) AS "query",
                      DECODE(ENCODE("t0"."user" || '')) AS "user",
                      "t0"."ts",
                      "t0"."price",
                      DECODE(ENCODE("t0"."country" || '')) AS "country",
                      "t0"."seen",
                      "t0"."zoned",
                      "t0"."count",
                      "t0"."share",
                      DECODE(ENCODE("t0"."written" || '')) AS "written"
                    FROM "events" AS "t0"
                  ) AS "t1"
                ) AS "t2"
                WHERE
                  CASE WHEN "t2"."group0" IS NULL THEN NULL ELSE "t2"."group0" IN ('de', 'fr') END
              ) AS "t3"
              GROUP BY
                1,
                2
            ) AS "t4"
          ) AS "t5"
        ) AS "t6"
      ) AS "t7"
    ) AS "t8"
    WHERE
      "t8"."rank" <= 1
  ) AS "t9"
  GROUP BY
    1,
    2,
    3
) AS "t10";

-- windows of days, five items of each user
SELECT
  *
FROM (
  SELECT
    "t10"."at_day",
    MIN("t10"."named") AS "named",
    COALESCE(SUM("t10"."reached0"), 0) AS "reached0",
    COALESCE(SUM("t10"."reached1"), 0) AS "reached1"
  FROM (
    SELECT
      "t9"."at_day",
      "t9"."named",
      CASE
        WHEN (
          "t9"."after" >= 1
        ) AND (
          (
            "t9"."after" - "t9"."count"
          ) < 1
        )
        THEN 1
        ELSE 0
      END AS "reached0",
      CASE
        WHEN (
          "t9"."after" >= 2
        ) AND (
          (
            "t9"."after" - "t9"."count"
          ) < 2
        )
        THEN 1
        ELSE 0
      END AS "reached1"
    FROM (
      SELECT
        "t8"."label",
        "t8"."at_day",
        "t8"."count",
        "t8"."known",
        "t8"."named",
        CASE
          WHEN "t8"."count" IS NOT NULL
          THEN SUM("t8"."count") OVER (
            PARTITION BY "t8"."known"
            ORDER BY "t8"."at_day" ASC NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS "after"
      FROM (
        SELECT
          "t7"."label",
          "t7"."at_day",
          "t7"."count",
          "t7"."label" AS "known",
          1 AS "named"
        FROM (
          SELECT
            "t6"."label",
            "t6"."at_day",
            COUNT(*) AS "count"
          FROM (
            SELECT
              "t5"."label",
              "t5"."at_day"
            FROM (
              SELECT
                "t4"."label",
                "t4"."at_day",
                "t4"."user",
                "t4"."one",
                "t4"."number",
                "t4"."total",
                CASE
                  WHEN "t4"."total" > 5
                  THEN MD5('0123456789abcdef0123456789abcdef ' || "t4"."user")
                  ELSE NULL
                END AS "hash"
              FROM (
                SELECT
                  "t3"."label",
                  "t3"."at_day",
                  "t3"."user",
                  "t3"."one",
                  CASE
                    WHEN "t3"."one" IS NOT NULL
                    THEN SUM("t3"."one") OVER (
                      PARTITION BY "t3"."user"
                      ORDER BY "t3"."at_day" ASC NULLS FIRST, "t3"."label" ASC NULLS FIRST
                      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                    )
                    ELSE NULL
                  END AS "number",
                  COALESCE(
                    SUM("t3"."one") OVER (PARTITION BY "t3"."user" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
                    0
                  ) AS "total"
                FROM (
                  SELECT
                    "t2"."label",
                    "t2"."at_day",
                    "t2"."user",
                    "t2"."one"
                  FROM (
                    SELECT
                      "t1"."query" || '' || '' AS "label",
                      CASE
                        WHEN (
                          CAST(EXTRACT(year FROM "t1"."seen") AS BIGINT) >= 1
                        )
                        AND (
                          CAST(EXTRACT(year FROM "t1"."seen") AS BIGINT) <= 9999
                        )
                        THEN SUBSTRING(
                          STRFTIME("t1"."seen", '%Y-%m-%d'),
                          CASE
                            WHEN (
                              (
                                1 - 1
                              ) + 1
                            ) >= 1
                            THEN (
                              1 - 1
                            ) + 1
                            ELSE (
                              1 - 1
                            ) + 1 + LENGTH(STRFTIME("t1"."seen", '%Y-%m-%d'))
                          END,
                          10
                        )
                        ELSE NULL
                      END AS "at_day",
                      "t1"."user" || '' || '' AS "user",
                      "t1"."user" || '' || '' AS "user_name",
                      1 AS "one"
                    FROM (
                      SELECT
                        DECODE(ENCODE("t0"."query" || '')) AS "query",
                        DECODE(ENCODE("t0"."user" || '')) AS "user",
                        "t0"."ts",
                        "t0"."price",
                        DECODE(ENCODE("t0"."country" || '')) AS "country",
                        "t0"."seen",
                        "t0"."zoned",
                        "t0"."count",
                        "t0"."share",
                        DECODE(ENCODE("t0"."written" || '')) AS "written"
                      FROM "events" AS "t0"
                    ) AS "t1"
                  ) AS "t2"
                  WHERE
                    NOT (
                      (
                        "t2"."user" IS NULL
                      ) OR (
                        "t2"."label" IS NULL
                      )
                    )
                    AND CASE
                      WHEN "t2"."at_day" IS NULL
                      THEN NULL
                      ELSE "t2"."at_day" IN ('2026-11-01', '2026-11-02')
                    END
                ) AS "t3"
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
                  (
                    (
                      (
                        (
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
                          ) + (
                            (
                              (
                                CAST('0x' || SUBSTRING(
                                  "t5"."hash",
                                  CASE WHEN (
                                    0 + 1
                                  ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t5"."hash") END,
                                  12
                                ) AS BIGINT) % "t5"."total"
                              ) + "t5"."total"
                            ) % "t5"."total"
                          )
                        ) % "t5"."total"
                      ) + "t5"."total"
                    ) % "t5"."total"
                  ) < 5
                )
              )
          ) AS "t6"
          GROUP BY
            1,
            2
        ) AS "t7"
      ) AS "t8"
    ) AS "t9"
  ) AS "t10"
  GROUP BY
    1
) AS "t11";

-- windows of weeks
SELECT
  *
FROM (
  SELECT
    "t7"."at_day",
    MIN("t7"."named") AS "named",
    COALESCE(SUM("t7"."reached0"), 0) AS "reached0",
    COALESCE(SUM("t7"."reached1"), 0) AS "reached1"
  FROM (
    SELECT
      "t6"."at_day",
      "t6"."named",
      CASE
        WHEN (
          "t6"."after" >= 1
        ) AND (
          (
            "t6"."after" - "t6"."count"
          ) < 1
        )
        THEN 1
        ELSE 0
      END AS "reached0",
      CASE
        WHEN (
          "t6"."after" >= 2
        ) AND (
          (
            "t6"."after" - "t6"."count"
          ) < 2
        )
        THEN 1
        ELSE 0
      END AS "reached1"
    FROM (
      SELECT
        "t5"."label",
        "t5"."at_day",
        "t5"."count",
        "t5"."known",
        "t5"."named",
        CASE
          WHEN "t5"."count" IS NOT NULL
          THEN SUM("t5"."count") OVER (
            PARTITION BY "t5"."known"
            ORDER BY "t5"."at_day" ASC NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS "after"
      FROM (
        SELECT
          "t4"."label",
          "t4"."at_day",
          "t4"."count",
          "t4"."label" AS "known",
          1 AS "named"
        FROM (
          SELECT
            "t3"."label",
            "t3"."at_day",
            COUNT(*) AS "count"
          FROM (
            SELECT
              *
            FROM (
              SELECT
                "t1"."query" || '' || '' AS "label",
                CASE
                  WHEN DATE_DIFF('DAY', MAKE_DATE(1970, 1, 1), CAST("t1"."zoned" AS DATE)) + 719162 BETWEEN 0 AND 3652058
                  THEN CASE
                    WHEN 6 <= LENGTH(
                      CAST(CAST(FLOOR(
                        (
                          DATE_DIFF('DAY', MAKE_DATE(1970, 1, 1), CAST("t1"."zoned" AS DATE)) + 719162
                        ) / (
                          7
                        )
                      ) AS BIGINT) AS TEXT)
                    )
                    THEN CAST(CAST(FLOOR(
                      (
                        DATE_DIFF('DAY', MAKE_DATE(1970, 1, 1), CAST("t1"."zoned" AS DATE)) + 719162
                      ) / (
                        7
                      )
                    ) AS BIGINT) AS TEXT)
                    ELSE REPEAT(
                      '0',
                      6 - LENGTH(
                        CAST(CAST(FLOOR(
                          (
                            DATE_DIFF('DAY', MAKE_DATE(1970, 1, 1), CAST("t1"."zoned" AS DATE)) + 719162
                          ) / (
                            7
                          )
                        ) AS BIGINT) AS TEXT)
                      )
                    ) || CAST(CAST(FLOOR(
                      (
                        DATE_DIFF('DAY', MAKE_DATE(1970, 1, 1), CAST("t1"."zoned" AS DATE)) + 719162
                      ) / (
                        7
                      )
                    ) AS BIGINT) AS TEXT)
                  END
                  ELSE NULL
                END AS "at_day"
              FROM (
                SELECT
                  DECODE(ENCODE("t0"."query" || '')) AS "query",
                  DECODE(ENCODE("t0"."user" || '')) AS "user",
                  "t0"."ts",
                  "t0"."price",
                  DECODE(ENCODE("t0"."country" || '')) AS "country",
                  "t0"."seen",
                  "t0"."zoned",
                  "t0"."count",
                  "t0"."share",
                  DECODE(ENCODE("t0"."written" || '')) AS "written"
                FROM "events" AS "t0"
              ) AS "t1"
            ) AS "t2"
            WHERE
              CASE
                WHEN "t2"."at_day" IS NULL
                THEN NULL
                ELSE "t2"."at_day" IN ('105702', '105703')
              END
              AND NOT (
                "t2"."label" IS NULL
              )
          ) AS "t3"
          GROUP BY
            1,
            2
        ) AS "t4"
      ) AS "t5"
    ) AS "t6"
  ) AS "t7"
  GROUP BY
    1
) AS "t8";

-- counts
SELECT
  *
FROM (
  SELECT
    "t5"."count",
    "t5"."is_null",
    COUNT(*) AS "prevalence",
    COALESCE(SUM("t5"."wrong"), 0) AS "wrong",
    MAX("t5"."size") AS "size"
  FROM (
    SELECT
      "t4"."label",
      "t4"."count",
      "t4"."wrong",
      "t4"."size",
      "t4"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t3"."label",
        COALESCE(SUM("t3"."count"), 0) AS "count",
        COALESCE(SUM("t3"."wrong"), 0) AS "wrong",
        COALESCE(SUM("t3"."size"), 0) AS "size"
      FROM (
        SELECT
          "t2"."label",
          "t2"."count",
          "t2"."wrong",
          CASE
            WHEN 4294967296 <> 0
            THEN CAST(FLOOR((
              "t2"."count"
            ) / (
              4294967296
            )) AS BIGINT)
            ELSE NULL
          END AS "size"
        FROM (
          SELECT
            "t1"."query" || '' || '' AS "label",
            CASE
              WHEN NOT (
                "t1"."count" IS NULL
              )
              AND COALESCE(
                (
                  "t1"."count" >= 1
                )
                AND (
                  "t1"."count" <= 9223372036854775807
                )
                AND NOT (
                  CONTAINS(CAST("t1"."count" AS TEXT), '.')
                ),
                FALSE
              )
              THEN "t1"."count"
              ELSE 0
            END AS "count",
            CASE
              WHEN NOT (
                NOT (
                  "t1"."count" IS NULL
                )
                AND COALESCE(
                  (
                    "t1"."count" >= 1
                  )
                  AND (
                    "t1"."count" <= 9223372036854775807
                  )
                  AND NOT (
                    CONTAINS(CAST("t1"."count" AS TEXT), '.')
                  ),
                  FALSE
                )
              )
              THEN 1
              ELSE 0
            END AS "wrong"
          FROM (
            SELECT
              DECODE(ENCODE("t0"."query" || '')) AS "query",
              DECODE(ENCODE("t0"."user" || '')) AS "user",
              "t0"."ts",
              "t0"."price",
              DECODE(ENCODE("t0"."country" || '')) AS "country",
              "t0"."seen",
              "t0"."zoned",
              "t0"."count",
              "t0"."share",
              DECODE(ENCODE("t0"."written" || '')) AS "written"
            FROM "events" AS "t0"
          ) AS "t1"
        ) AS "t2"
      ) AS "t3"
      GROUP BY
        1
    ) AS "t4"
  ) AS "t5"
  GROUP BY
    1,
    2
) AS "t6";

-- counts as text
SELECT
  *
FROM (
  SELECT
    "t5"."count",
    "t5"."is_null",
    COUNT(*) AS "prevalence",
    COALESCE(SUM("t5"."wrong"), 0) AS "wrong",
    MAX("t5"."size") AS "size"
  FROM (
    SELECT
      "t4"."label",
      "t4"."count",
      "t4"."wrong",
      "t4"."size",
      "t4"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t3"."label",
        COALESCE(SUM("t3"."count"), 0) AS "count",
        COALESCE(SUM("t3"."wrong"), 0) AS "wrong",
        COALESCE(SUM("t3"."size"), 0) AS "size"
      FROM (
        SELECT
          "t2"."label",
          "t2"."count",
          "t2"."wrong",
          CASE
            WHEN 4294967296 <> 0
            THEN CAST(FLOOR((
              "t2"."count"
            ) / (
              4294967296
            )) AS BIGINT)
            ELSE NULL
          END AS "size"
        FROM (
          SELECT
            "t1"."query" || '' || '' AS "label",
            CAST(CASE
              WHEN NOT (
                "t1"."written" IS NULL
              )
              AND COALESCE(
                REGEXP_MATCHES("t1"."written", '^ *0*[1-9][0-9]{0,17} *$')
                OR (
                  REGEXP_MATCHES("t1"."written", '^ *[1-9][0-9]{18} *$')
                  AND (
                    TRIM("t1"."written", ' 	
') <= '9223372036854775807'
                  )
                ),
                FALSE
              )
              THEN TRIM("t1"."written", ' 	
')
              ELSE '0'
            END AS BIGINT) AS "count",
            CASE
              WHEN NOT (
                NOT (
                  "t1"."written" IS NULL
                )
                AND COALESCE(
                  REGEXP_MATCHES("t1"."written", '^ *0*[1-9][0-9]{0,17} *$')
                  OR (
                    REGEXP_MATCHES("t1"."written", '^ *[1-9][0-9]{18} *$')
                    AND (
                      TRIM("t1"."written", ' 	
') <= '9223372036854775807'
                    )
                  ),
                  FALSE
                )
              )
              THEN 1
              ELSE 0
            END AS "wrong"
          FROM (
            SELECT
              DECODE(ENCODE("t0"."query" || '')) AS "query",
              DECODE(ENCODE("t0"."user" || '')) AS "user",
              "t0"."ts",
              "t0"."price",
              DECODE(ENCODE("t0"."country" || '')) AS "country",
              "t0"."seen",
              "t0"."zoned",
              "t0"."count",
              "t0"."share",
              DECODE(ENCODE("t0"."written" || '')) AS "written"
            FROM "events" AS "t0"
          ) AS "t1"
        ) AS "t2"
      ) AS "t3"
      GROUP BY
        1
    ) AS "t4"
  ) AS "t5"
  GROUP BY
    1,
    2
) AS "t6";

-- prevalences
SELECT
  "t4"."count",
  "t4"."prevalence",
  "t4"."rows",
  "t4"."wrong_counts",
  "t4"."wrong",
  "t4"."size"
FROM (
  SELECT
    "t3"."count",
    COALESCE(SUM("t3"."prevalence"), 0) AS "prevalence",
    COALESCE(SUM("t3"."wrong_counts"), 0) AS "wrong_counts",
    COALESCE(SUM("t3"."wrong"), 0) AS "wrong",
    COALESCE(SUM("t3"."size"), 0) AS "size",
    COUNT(*) AS "rows"
  FROM (
    SELECT
      "t2"."count",
      "t2"."prevalence",
      "t2"."wrong_counts",
      "t2"."wrong",
      CASE
        WHEN 4294967296 <> 0
        THEN CAST(FLOOR((
          "t2"."prevalence"
        ) / (
          4294967296
        )) AS BIGINT)
        ELSE NULL
      END AS "size"
    FROM (
      SELECT
        CASE
          WHEN NOT (
            "t1"."count" IS NULL
          )
          AND COALESCE(
            (
              "t1"."count" >= 1
            )
            AND (
              "t1"."count" <= 9223372036854775807
            )
            AND NOT (
              CONTAINS(CAST("t1"."count" AS TEXT), '.')
            ),
            FALSE
          )
          THEN "t1"."count"
          ELSE 0
        END AS "count",
        CAST(CASE
          WHEN NOT (
            "t1"."share" IS NULL
          )
          AND COALESCE(
            CASE
              WHEN NOT (
                (
                  "t1"."share" IS NULL
                )
                OR CASE WHEN "t1"."share" IS NULL THEN NULL ELSE ISNAN("t1"."share") END
              )
              AND (
                "t1"."share" >= 1
              )
              AND (
                "t1"."share" <= 9007199254740992
              )
              THEN "t1"."share"
              ELSE 0.5
            END = CAST(ROUND(
              CASE
                WHEN NOT (
                  (
                    "t1"."share" IS NULL
                  )
                  OR CASE WHEN "t1"."share" IS NULL THEN NULL ELSE ISNAN("t1"."share") END
                )
                AND (
                  "t1"."share" >= 1
                )
                AND (
                  "t1"."share" <= 9007199254740992
                )
                THEN "t1"."share"
                ELSE 0.5
              END,
              0
            ) AS BIGINT),
            FALSE
          )
          THEN "t1"."share"
          ELSE 0.0
        END AS BIGINT) AS "prevalence",
        CASE
          WHEN NOT (
            NOT (
              "t1"."count" IS NULL
            )
            AND COALESCE(
              (
                "t1"."count" >= 1
              )
              AND (
                "t1"."count" <= 9223372036854775807
              )
              AND NOT (
                CONTAINS(CAST("t1"."count" AS TEXT), '.')
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
              "t1"."share" IS NULL
            )
            AND COALESCE(
              CASE
                WHEN NOT (
                  (
                    "t1"."share" IS NULL
                  )
                  OR CASE WHEN "t1"."share" IS NULL THEN NULL ELSE ISNAN("t1"."share") END
                )
                AND (
                  "t1"."share" >= 1
                )
                AND (
                  "t1"."share" <= 9007199254740992
                )
                THEN "t1"."share"
                ELSE 0.5
              END = CAST(ROUND(
                CASE
                  WHEN NOT (
                    (
                      "t1"."share" IS NULL
                    )
                    OR CASE WHEN "t1"."share" IS NULL THEN NULL ELSE ISNAN("t1"."share") END
                  )
                  AND (
                    "t1"."share" >= 1
                  )
                  AND (
                    "t1"."share" <= 9007199254740992
                  )
                  THEN "t1"."share"
                  ELSE 0.5
                END,
                0
              ) AS BIGINT),
              FALSE
            )
          )
          THEN 1
          ELSE 0
        END AS "wrong"
      FROM (
        SELECT
          DECODE(ENCODE("t0"."query" || '')) AS "query",
          DECODE(ENCODE("t0"."user" || '')) AS "user",
          "t0"."ts",
          "t0"."price",
          DECODE(ENCODE("t0"."country" || '')) AS "country",
          "t0"."seen",
          "t0"."zoned",
          "t0"."count",
          "t0"."share",
          DECODE(ENCODE("t0"."written" || '')) AS "written"
        FROM "events" AS "t0"
      ) AS "t1"
    ) AS "t2"
  ) AS "t3"
  GROUP BY
    1
) AS "t4";
