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
          "t1"."query" AS "label"
        FROM (
          SELECT
            "t0"."query",
            "t0"."user",
            "t0"."ts",
            "t0"."price",
            "t0"."country",
            "t0"."seen",
            TIMEZONE('UTC', "t0"."zoned") AS "zoned",
            "t0"."count",
            "t0"."share",
            "t0"."written",
            NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
          FROM (
            SELECT
              (
                "query" || ''
              ) COLLATE "C" AS "query",
              (
                "user" || ''
              ) COLLATE "C" AS "user",
              "ts",
              "price",
              (
                "country" || ''
              ) COLLATE "C" AS "country",
              "seen",
              "zoned",
              "count",
              "share",
              (
                "written" || ''
              ) COLLATE "C" AS "written",
              "amount"
            FROM "events"
          ) AS "t0"
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
WITH "t6" AS (
  SELECT
    "t5"."user",
    "t5"."label",
    "t5"."items",
    INT8(
      SUM("t5"."items") OVER (PARTITION BY "t5"."user" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
    ) AS "total"
  FROM (
    SELECT
      *
    FROM (
      SELECT
        "t3"."user",
        "t3"."label",
        COUNT(*) AS "items"
      FROM (
        SELECT
          "t2"."label" || NAME('') AS "label",
          "t2"."user",
          "t2"."one"
        FROM (
          SELECT
            "t1"."query" AS "label",
            "t1"."user",
            1 AS "one"
          FROM (
            SELECT
              "t0"."query",
              "t0"."user",
              "t0"."ts",
              "t0"."price",
              "t0"."country",
              "t0"."seen",
              TIMEZONE('UTC', "t0"."zoned") AS "zoned",
              "t0"."count",
              "t0"."share",
              "t0"."written",
              NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
            FROM (
              SELECT
                (
                  "query" || ''
                ) COLLATE "C" AS "query",
                (
                  "user" || ''
                ) COLLATE "C" AS "user",
                "ts",
                "price",
                (
                  "country" || ''
                ) COLLATE "C" AS "country",
                "seen",
                "zoned",
                "count",
                "share",
                (
                  "written" || ''
                ) COLLATE "C" AS "written",
                "amount"
              FROM "events"
            ) AS "t0"
          ) AS "t1"
          WHERE
            NOT (
              (
                "t1"."user" IS NULL
              ) OR (
                "t1"."query" IS NULL
              )
            )
        ) AS "t2"
      ) AS "t3"
      GROUP BY
        1,
        2
    ) AS "t4"
  ) AS "t5"
)
SELECT
  *
FROM (
  SELECT
    "t17"."count",
    "t17"."is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t16"."count",
      "t16"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t15"."label",
        COALESCE(SUM("t15"."times"), 0) AS "count"
      FROM (
        SELECT
          *
        FROM (
          SELECT
            "t7"."label",
            "t7"."items" AS "times"
          FROM "t6" AS "t7"
          WHERE
            "t7"."total" <= 5
        ) AS "t8"
        UNION ALL
        SELECT
          *
        FROM (
          SELECT
            "t13"."label",
            "t13"."times"
          FROM (
            SELECT
              "t12"."user",
              "t12"."label",
              "t12"."items",
              "t12"."total",
              "t12"."last",
              "t12"."hash",
              "t12"."start",
              CASE
                WHEN "t12"."total" <= 922337203685477580
                THEN INT8DIV((
                  "t12"."last" * 5
                ) + (
                  "t12"."start" % "t12"."total"
                ), "t12"."total") - INT8DIV(
                  (
                    (
                      "t12"."last" - "t12"."items"
                    ) * 5
                  ) + (
                    "t12"."start" % "t12"."total"
                  ),
                  "t12"."total"
                )
                ELSE 0
              END AS "times"
            FROM (
              SELECT
                "t11"."user",
                "t11"."label",
                "t11"."items",
                "t11"."total",
                "t11"."last",
                "t11"."hash",
                MAX(
                  (
                    INT8(GET_BYTE("t11"."hash", 0)) * 1099511627776
                  ) + (
                    INT8(GET_BYTE("t11"."hash", 1)) * 4294967296
                  ) + (
                    INT8(GET_BYTE("t11"."hash", 2)) * 16777216
                  ) + (
                    INT8(GET_BYTE("t11"."hash", 3)) * 65536
                  ) + (
                    INT8(GET_BYTE("t11"."hash", 4)) * 256
                  ) + (
                    INT8(GET_BYTE("t11"."hash", 5)) * 1
                  )
                ) OVER (
                  PARTITION BY "t11"."user"
                  ORDER BY "t11"."label" ASC NULLS FIRST
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "start"
              FROM (
                SELECT
                  "t10"."user",
                  "t10"."label",
                  "t10"."items",
                  "t10"."total",
                  "t10"."last",
                  CASE
                    WHEN "t10"."last" = "t10"."items"
                    THEN DECODE(MD5('0123456789abcdef0123456789abcdef ' || "t10"."user"), 'hex')
                    ELSE NULL
                  END AS "hash"
                FROM (
                  SELECT
                    "t9"."user",
                    "t9"."label",
                    "t9"."items",
                    "t9"."total",
                    INT8(
                      SUM("t9"."items") OVER (
                        PARTITION BY "t9"."user"
                        ORDER BY "t9"."label" ASC NULLS FIRST
                        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                      )
                    ) AS "last"
                  FROM (
                    SELECT
                      *
                    FROM "t6" AS "t7"
                    WHERE
                      "t7"."total" > 5
                  ) AS "t9"
                ) AS "t10"
              ) AS "t11"
            ) AS "t12"
          ) AS "t13"
          WHERE
            "t13"."times" > 0
        ) AS "t14"
      ) AS "t15"
      GROUP BY
        1
    ) AS "t16"
  ) AS "t17"
  GROUP BY
    1,
    2
) AS "t18";

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
                '0123456789abcdef0123456789abcdef' || CAST("t3"."occurrence" AS VARCHAR) || ' ' || "t3"."user_name" || '
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
                  "t1"."query" AS "label",
                  "t1"."user",
                  "t1"."user" AS "user_name",
                  CASE
                    WHEN NOT (
                      "t1"."ts" IS NULL
                    )
                    THEN CAST("t1"."ts" AS DOUBLE PRECISION)
                    ELSE NULL
                  END AS "rank_by",
                  1 AS "one"
                FROM (
                  SELECT
                    "t0"."query",
                    "t0"."user",
                    "t0"."ts",
                    "t0"."price",
                    "t0"."country",
                    "t0"."seen",
                    TIMEZONE('UTC', "t0"."zoned") AS "zoned",
                    "t0"."count",
                    "t0"."share",
                    "t0"."written",
                    NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
                  FROM (
                    SELECT
                      (
                        "query" || ''
                      ) COLLATE "C" AS "query",
                      (
                        "user" || ''
                      ) COLLATE "C" AS "user",
                      "ts",
                      "price",
                      (
                        "country" || ''
                      ) COLLATE "C" AS "country",
                      "seen",
                      "zoned",
                      "count",
                      "share",
                      (
                        "written" || ''
                      ) COLLATE "C" AS "written",
                      "amount"
                    FROM "events"
                  ) AS "t0"
                ) AS "t1"
                WHERE
                  NOT (
                    (
                      "t1"."user" IS NULL
                    ) OR (
                      "t1"."query" IS NULL
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
                '0123456789abcdef0123456789abcdef' || CAST("t4"."occurrence" AS VARCHAR) || ' ' || "t4"."user_name" || '
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
                        OR CASE
                          WHEN "t1"."price" IS NULL
                          THEN NULL
                          ELSE "t1"."price" = CAST('NaN' AS DOUBLE PRECISION)
                        END
                      )
                      THEN CASE
                        WHEN COALESCE(
                          CASE
                            WHEN NOT (
                              (
                                "t1"."price" IS NULL
                              )
                              OR CASE
                                WHEN "t1"."price" IS NULL
                                THEN NULL
                                ELSE "t1"."price" = CAST('NaN' AS DOUBLE PRECISION)
                              END
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
                                OR CASE
                                  WHEN "t1"."price" IS NULL
                                  THEN NULL
                                  ELSE "t1"."price" = CAST('NaN' AS DOUBLE PRECISION)
                                END
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
                            END
                          ) AS BIGINT),
                          FALSE
                        )
                        THEN CAST(CAST(ROUND(
                          CASE
                            WHEN NOT (
                              (
                                "t1"."price" IS NULL
                              )
                              OR CASE
                                WHEN "t1"."price" IS NULL
                                THEN NULL
                                ELSE "t1"."price" = CAST('NaN' AS DOUBLE PRECISION)
                              END
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
                          END
                        ) AS BIGINT) AS VARCHAR)
                        ELSE CAST("t1"."price" AS VARCHAR)
                      END
                      ELSE NULL
                    END AS "label",
                    "t1"."user",
                    "t1"."user" AS "user_name",
                    CASE
                      WHEN NOT (
                        (
                          "t1"."price" IS NULL
                        )
                        OR CASE
                          WHEN "t1"."price" IS NULL
                          THEN NULL
                          ELSE "t1"."price" = CAST('NaN' AS DOUBLE PRECISION)
                        END
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
                          OR CASE
                            WHEN "t1"."price" IS NULL
                            THEN NULL
                            ELSE "t1"."price" = CAST('NaN' AS DOUBLE PRECISION)
                          END
                        ),
                        FALSE
                      )
                      THEN 0
                      ELSE 1
                    END AS "named",
                    1 AS "one"
                  FROM (
                    SELECT
                      "t0"."query",
                      "t0"."user",
                      "t0"."ts",
                      "t0"."price",
                      "t0"."country",
                      "t0"."seen",
                      TIMEZONE('UTC', "t0"."zoned") AS "zoned",
                      "t0"."count",
                      "t0"."share",
                      "t0"."written",
                      NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
                    FROM (
                      SELECT
                        (
                          "query" || ''
                        ) COLLATE "C" AS "query",
                        (
                          "user" || ''
                        ) COLLATE "C" AS "user",
                        "ts",
                        "price",
                        (
                          "country" || ''
                        ) COLLATE "C" AS "country",
                        "seen",
                        "zoned",
                        "count",
                        "share",
                        (
                          "written" || ''
                        ) COLLATE "C" AS "written",
                        "amount"
                      FROM "events"
                    ) AS "t0"
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

-- events, decimals
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
            "t5"."user_name",
            "t5"."rank_by",
            "t5"."one",
            "t5"."occurrence",
            "t5"."hash",
            CASE
              WHEN "t5"."one" IS NOT NULL
              THEN SUM("t5"."one") OVER (
                PARTITION BY "t5"."user"
                ORDER BY "t5"."rank_by" ASC NULLS FIRST, "t5"."hash" ASC NULLS FIRST, "t5"."label" ASC NULLS FIRST
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
              "t4"."one",
              "t4"."occurrence",
              MD5(
                '0123456789abcdef0123456789abcdef' || CAST("t4"."occurrence" AS VARCHAR) || ' ' || "t4"."user_name" || '
' || CASE WHEN "t4"."label" IS NULL THEN '' ELSE '=' || "t4"."label" END
              ) AS "hash"
            FROM (
              SELECT
                "t3"."label",
                "t3"."user",
                "t3"."user_name",
                "t3"."rank_by",
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
                        "t1"."amount" IS NULL
                      )
                      THEN CASE
                        WHEN CAST("t1"."amount" AS VARCHAR) ~ '\.[0-9]+$'
                        THEN REGEXP_REPLACE(CAST("t1"."amount" AS VARCHAR), '\.?0+$', '', 'g')
                        ELSE CAST("t1"."amount" AS VARCHAR)
                      END
                      ELSE NULL
                    END AS "label",
                    "t1"."user",
                    "t1"."user" AS "user_name",
                    CASE WHEN NOT (
                      "t1"."amount" IS NULL
                    ) THEN "t1"."amount" ELSE NULL END AS "rank_by",
                    1 AS "one"
                  FROM (
                    SELECT
                      "t0"."query",
                      "t0"."user",
                      "t0"."ts",
                      "t0"."price",
                      "t0"."country",
                      "t0"."seen",
                      TIMEZONE('UTC', "t0"."zoned") AS "zoned",
                      "t0"."count",
                      "t0"."share",
                      "t0"."written",
                      NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
                    FROM (
                      SELECT
                        (
                          "query" || ''
                        ) COLLATE "C" AS "query",
                        (
                          "user" || ''
                        ) COLLATE "C" AS "user",
                        "ts",
                        "price",
                        (
                          "country" || ''
                        ) COLLATE "C" AS "country",
                        "seen",
                        "zoned",
                        "count",
                        "share",
                        (
                          "written" || ''
                        ) COLLATE "C" AS "written",
                        "amount"
                      FROM "events"
                    ) AS "t0"
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
        1
    ) AS "t8"
  ) AS "t9"
  GROUP BY
    1,
    2
) AS "t10";

-- events, times
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
          CASE
            WHEN NOT (
              "t1"."seen" IS NULL
            )
            THEN CASE
              WHEN SUBSTRING(CAST("t1"."seen" AS VARCHAR) FROM CASE
                WHEN (
                  (
                    20 - 1
                  ) + 1
                ) >= 1
                THEN (
                  20 - 1
                ) + 1
                ELSE (
                  20 - 1
                ) + 1 + LENGTH(CAST("t1"."seen" AS VARCHAR))
              END FOR 1) = '.'
              THEN CASE
                WHEN SUBSTRING(SUBSTRING(SUBSTRING(CAST("t1"."seen" AS VARCHAR) || '' || '00000000' FROM CASE
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
                  ) + 1 + LENGTH(CAST("t1"."seen" AS VARCHAR) || '' || '00000000')
                END FOR 29) FROM CASE
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
                  ) + 1 + LENGTH(
                    SUBSTRING(CAST("t1"."seen" AS VARCHAR) || '' || '00000000' FROM CASE
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
                      ) + 1 + LENGTH(CAST("t1"."seen" AS VARCHAR) || '' || '00000000')
                    END FOR 29)
                  )
                END FOR 26) FROM CASE
                  WHEN (
                    (
                      20 - 1
                    ) + 1
                  ) >= 1
                  THEN (
                    20 - 1
                  ) + 1
                  ELSE (
                    20 - 1
                  ) + 1 + LENGTH(
                    SUBSTRING(SUBSTRING(CAST("t1"."seen" AS VARCHAR) || '' || '00000000' FROM CASE
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
                      ) + 1 + LENGTH(CAST("t1"."seen" AS VARCHAR) || '' || '00000000')
                    END FOR 29) FROM CASE
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
                      ) + 1 + LENGTH(
                        SUBSTRING(CAST("t1"."seen" AS VARCHAR) || '' || '00000000' FROM CASE
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
                          ) + 1 + LENGTH(CAST("t1"."seen" AS VARCHAR) || '' || '00000000')
                        END FOR 29)
                      )
                    END FOR 26)
                  )
                END FOR LENGTH(
                  SUBSTRING(SUBSTRING(CAST("t1"."seen" AS VARCHAR) || '' || '00000000' FROM CASE
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
                    ) + 1 + LENGTH(CAST("t1"."seen" AS VARCHAR) || '' || '00000000')
                  END FOR 29) FROM CASE
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
                    ) + 1 + LENGTH(
                      SUBSTRING(CAST("t1"."seen" AS VARCHAR) || '' || '00000000' FROM CASE
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
                        ) + 1 + LENGTH(CAST("t1"."seen" AS VARCHAR) || '' || '00000000')
                      END FOR 29)
                    )
                  END FOR 26)
                )) = '.000000'
                THEN SUBSTRING(CAST("t1"."seen" AS VARCHAR) FROM CASE
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
                  ) + 1 + LENGTH(CAST("t1"."seen" AS VARCHAR))
                END FOR 19)
                ELSE SUBSTRING(SUBSTRING(CAST("t1"."seen" AS VARCHAR) || '' || '00000000' FROM CASE
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
                  ) + 1 + LENGTH(CAST("t1"."seen" AS VARCHAR) || '' || '00000000')
                END FOR 29) FROM CASE
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
                  ) + 1 + LENGTH(
                    SUBSTRING(CAST("t1"."seen" AS VARCHAR) || '' || '00000000' FROM CASE
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
                      ) + 1 + LENGTH(CAST("t1"."seen" AS VARCHAR) || '' || '00000000')
                    END FOR 29)
                  )
                END FOR 26)
              END
              ELSE CAST("t1"."seen" AS VARCHAR)
            END
            ELSE NULL
          END AS "label"
        FROM (
          SELECT
            "t0"."query",
            "t0"."user",
            "t0"."ts",
            "t0"."price",
            "t0"."country",
            "t0"."seen",
            TIMEZONE('UTC', "t0"."zoned") AS "zoned",
            "t0"."count",
            "t0"."share",
            "t0"."written",
            NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
          FROM (
            SELECT
              (
                "query" || ''
              ) COLLATE "C" AS "query",
              (
                "user" || ''
              ) COLLATE "C" AS "user",
              "ts",
              "price",
              (
                "country" || ''
              ) COLLATE "C" AS "country",
              "seen",
              "zoned",
              "count",
              "share",
              (
                "written" || ''
              ) COLLATE "C" AS "written",
              "amount"
            FROM "events"
          ) AS "t0"
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

-- events, times with a zone
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
          CASE
            WHEN NOT (
              "t1"."zoned" IS NULL
            )
            THEN CASE
              WHEN SUBSTRING(CAST("t1"."zoned" AS VARCHAR) FROM CASE
                WHEN (
                  (
                    20 - 1
                  ) + 1
                ) >= 1
                THEN (
                  20 - 1
                ) + 1
                ELSE (
                  20 - 1
                ) + 1 + LENGTH(CAST("t1"."zoned" AS VARCHAR))
              END FOR 1) = '.'
              THEN CASE
                WHEN SUBSTRING(SUBSTRING(SUBSTRING(CAST("t1"."zoned" AS VARCHAR) || '' || '00000000' FROM CASE
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
                  ) + 1 + LENGTH(CAST("t1"."zoned" AS VARCHAR) || '' || '00000000')
                END FOR 29) FROM CASE
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
                  ) + 1 + LENGTH(
                    SUBSTRING(CAST("t1"."zoned" AS VARCHAR) || '' || '00000000' FROM CASE
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
                      ) + 1 + LENGTH(CAST("t1"."zoned" AS VARCHAR) || '' || '00000000')
                    END FOR 29)
                  )
                END FOR 26) FROM CASE
                  WHEN (
                    (
                      20 - 1
                    ) + 1
                  ) >= 1
                  THEN (
                    20 - 1
                  ) + 1
                  ELSE (
                    20 - 1
                  ) + 1 + LENGTH(
                    SUBSTRING(SUBSTRING(CAST("t1"."zoned" AS VARCHAR) || '' || '00000000' FROM CASE
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
                      ) + 1 + LENGTH(CAST("t1"."zoned" AS VARCHAR) || '' || '00000000')
                    END FOR 29) FROM CASE
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
                      ) + 1 + LENGTH(
                        SUBSTRING(CAST("t1"."zoned" AS VARCHAR) || '' || '00000000' FROM CASE
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
                          ) + 1 + LENGTH(CAST("t1"."zoned" AS VARCHAR) || '' || '00000000')
                        END FOR 29)
                      )
                    END FOR 26)
                  )
                END FOR LENGTH(
                  SUBSTRING(SUBSTRING(CAST("t1"."zoned" AS VARCHAR) || '' || '00000000' FROM CASE
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
                    ) + 1 + LENGTH(CAST("t1"."zoned" AS VARCHAR) || '' || '00000000')
                  END FOR 29) FROM CASE
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
                    ) + 1 + LENGTH(
                      SUBSTRING(CAST("t1"."zoned" AS VARCHAR) || '' || '00000000' FROM CASE
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
                        ) + 1 + LENGTH(CAST("t1"."zoned" AS VARCHAR) || '' || '00000000')
                      END FOR 29)
                    )
                  END FOR 26)
                )) = '.000000'
                THEN SUBSTRING(CAST("t1"."zoned" AS VARCHAR) FROM CASE
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
                  ) + 1 + LENGTH(CAST("t1"."zoned" AS VARCHAR))
                END FOR 19)
                ELSE SUBSTRING(SUBSTRING(CAST("t1"."zoned" AS VARCHAR) || '' || '00000000' FROM CASE
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
                  ) + 1 + LENGTH(CAST("t1"."zoned" AS VARCHAR) || '' || '00000000')
                END FOR 29) FROM CASE
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
                  ) + 1 + LENGTH(
                    SUBSTRING(CAST("t1"."zoned" AS VARCHAR) || '' || '00000000' FROM CASE
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
                      ) + 1 + LENGTH(CAST("t1"."zoned" AS VARCHAR) || '' || '00000000')
                    END FOR 29)
                  )
                END FOR 26)
              END
              ELSE CAST("t1"."zoned" AS VARCHAR)
            END
            ELSE NULL
          END AS "label"
        FROM (
          SELECT
            "t0"."query",
            "t0"."user",
            "t0"."ts",
            "t0"."price",
            "t0"."country",
            "t0"."seen",
            TIMEZONE('UTC', "t0"."zoned") AS "zoned",
            "t0"."count",
            "t0"."share",
            "t0"."written",
            NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
          FROM (
            SELECT
              (
                "query" || ''
              ) COLLATE "C" AS "query",
              (
                "user" || ''
              ) COLLATE "C" AS "user",
              "ts",
              "price",
              (
                "country" || ''
              ) COLLATE "C" AS "country",
              "seen",
              "zoned",
              "count",
              "share",
              (
                "written" || ''
              ) COLLATE "C" AS "written",
              "amount"
            FROM "events"
          ) AS "t0"
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
          "t1"."query" AS "label",
          "t1"."user"
        FROM (
          SELECT
            "t0"."query",
            "t0"."user",
            "t0"."ts",
            "t0"."price",
            "t0"."country",
            "t0"."seen",
            TIMEZONE('UTC', "t0"."zoned") AS "zoned",
            "t0"."count",
            "t0"."share",
            "t0"."written",
            NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
          FROM (
            SELECT
              (
                "query" || ''
              ) COLLATE "C" AS "query",
              (
                "user" || ''
              ) COLLATE "C" AS "user",
              "ts",
              "price",
              (
                "country" || ''
              ) COLLATE "C" AS "country",
              "seen",
              "zoned",
              "count",
              "share",
              (
                "written" || ''
              ) COLLATE "C" AS "written",
              "amount"
            FROM "events"
          ) AS "t0"
        ) AS "t1"
        WHERE
          NOT (
            (
              "t1"."user" IS NULL
            ) OR (
              "t1"."query" IS NULL
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
  COALESCE(SUM("t2"."missing"), 0) AS "missing"
FROM (
  SELECT
    CASE WHEN "t1"."user" IS NULL THEN 1 ELSE 0 END AS "missing"
  FROM (
    SELECT
      "t0"."query",
      "t0"."user",
      "t0"."ts",
      "t0"."price",
      "t0"."country",
      "t0"."seen",
      TIMEZONE('UTC', "t0"."zoned") AS "zoned",
      "t0"."count",
      "t0"."share",
      "t0"."written",
      NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
    FROM (
      SELECT
        (
          "query" || ''
        ) COLLATE "C" AS "query",
        (
          "user" || ''
        ) COLLATE "C" AS "user",
        "ts",
        "price",
        (
          "country" || ''
        ) COLLATE "C" AS "country",
        "seen",
        "zoned",
        "count",
        "share",
        (
          "written" || ''
        ) COLLATE "C" AS "written",
        "amount"
      FROM "events"
    ) AS "t0"
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
              "t1"."query" AS "label",
              "t1"."country" AS "group0",
              CASE
                WHEN (
                  CAST(EXTRACT(year FROM CASE
                    WHEN (
                      "t1"."zoned" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                    )
                    AND (
                      "t1"."zoned" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                    )
                    THEN "t1"."zoned"
                    ELSE NULL
                  END) AS BIGINT) >= 1
                )
                AND (
                  CAST(EXTRACT(year FROM CASE
                    WHEN (
                      "t1"."zoned" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                    )
                    AND (
                      "t1"."zoned" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                    )
                    THEN "t1"."zoned"
                    ELSE NULL
                  END) AS BIGINT) <= 9999
                )
                THEN SUBSTRING(TO_CHAR(
                  CASE
                    WHEN (
                      "t1"."zoned" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                    )
                    AND (
                      "t1"."zoned" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                    )
                    THEN "t1"."zoned"
                    ELSE NULL
                  END,
                  'YYYY-MM-DD'
                ) FROM CASE
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
                  ) + 1 + LENGTH(
                    TO_CHAR(
                      CASE
                        WHEN (
                          "t1"."zoned" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                        )
                        AND (
                          "t1"."zoned" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                        )
                        THEN "t1"."zoned"
                        ELSE NULL
                      END,
                      'YYYY-MM-DD'
                    )
                  )
                END FOR 10)
                ELSE NULL
              END AS "group1"
            FROM (
              SELECT
                "t0"."query",
                "t0"."user",
                "t0"."ts",
                "t0"."price",
                "t0"."country",
                "t0"."seen",
                TIMEZONE('UTC', "t0"."zoned") AS "zoned",
                "t0"."count",
                "t0"."share",
                "t0"."written",
                NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
              FROM (
                SELECT
                  (
                    "query" || ''
                  ) COLLATE "C" AS "query",
                  (
                    "user" || ''
                  ) COLLATE "C" AS "user",
                  "ts",
                  "price",
                  (
                    "country" || ''
                  ) COLLATE "C" AS "country",
                  "seen",
                  "zoned",
                  "count",
                  "share",
                  (
                    "written" || ''
                  ) COLLATE "C" AS "written",
                  "amount"
                FROM "events"
              ) AS "t0"
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
WITH "t6" AS (
  SELECT
    "t5"."user",
    "t5"."group",
    "t5"."label",
    "t5"."items",
    INT8(
      SUM("t5"."items") OVER (PARTITION BY "t5"."user" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
    ) AS "total"
  FROM (
    SELECT
      *
    FROM (
      SELECT
        "t3"."user",
        "t3"."group",
        "t3"."label",
        COUNT(*) AS "items"
      FROM (
        SELECT
          "t2"."label" || NAME('') AS "label",
          "t2"."user",
          "t2"."one",
          "t2"."group" || NAME('') AS "group"
        FROM (
          SELECT
            "t1"."query" AS "label",
            "t1"."user",
            1 AS "one",
            "t1"."country" AS "group"
          FROM (
            SELECT
              "t0"."query",
              "t0"."user",
              "t0"."ts",
              "t0"."price",
              "t0"."country",
              "t0"."seen",
              TIMEZONE('UTC', "t0"."zoned") AS "zoned",
              "t0"."count",
              "t0"."share",
              "t0"."written",
              NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
            FROM (
              SELECT
                (
                  "query" || ''
                ) COLLATE "C" AS "query",
                (
                  "user" || ''
                ) COLLATE "C" AS "user",
                "ts",
                "price",
                (
                  "country" || ''
                ) COLLATE "C" AS "country",
                "seen",
                "zoned",
                "count",
                "share",
                (
                  "written" || ''
                ) COLLATE "C" AS "written",
                "amount"
              FROM "events"
            ) AS "t0"
          ) AS "t1"
          WHERE
            NOT (
              (
                "t1"."user" IS NULL
              ) OR (
                "t1"."query" IS NULL
              )
            )
            AND CASE WHEN "t1"."country" IS NULL THEN NULL ELSE "t1"."country" IN ('de', 'fr') END
        ) AS "t2"
      ) AS "t3"
      GROUP BY
        1,
        2,
        3
    ) AS "t4"
  ) AS "t5"
)
SELECT
  "t18"."count",
  "t18"."is_null",
  "t18"."prevalence",
  "t18"."group"
FROM (
  SELECT
    "t17"."count",
    "t17"."is_null",
    "t17"."group",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t16"."count",
      "t16"."group",
      "t16"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t15"."label",
        "t15"."group",
        COALESCE(SUM("t15"."times"), 0) AS "count"
      FROM (
        SELECT
          *
        FROM (
          SELECT
            "t7"."label",
            "t7"."group",
            "t7"."items" AS "times"
          FROM "t6" AS "t7"
          WHERE
            "t7"."total" <= 5
        ) AS "t8"
        UNION ALL
        SELECT
          *
        FROM (
          SELECT
            "t13"."label",
            "t13"."group",
            "t13"."times"
          FROM (
            SELECT
              "t12"."user",
              "t12"."group",
              "t12"."label",
              "t12"."items",
              "t12"."total",
              "t12"."last",
              "t12"."hash",
              "t12"."start",
              CASE
                WHEN "t12"."total" <= 922337203685477580
                THEN INT8DIV((
                  "t12"."last" * 5
                ) + (
                  "t12"."start" % "t12"."total"
                ), "t12"."total") - INT8DIV(
                  (
                    (
                      "t12"."last" - "t12"."items"
                    ) * 5
                  ) + (
                    "t12"."start" % "t12"."total"
                  ),
                  "t12"."total"
                )
                ELSE 0
              END AS "times"
            FROM (
              SELECT
                "t11"."user",
                "t11"."group",
                "t11"."label",
                "t11"."items",
                "t11"."total",
                "t11"."last",
                "t11"."hash",
                MAX(
                  (
                    INT8(GET_BYTE("t11"."hash", 0)) * 1099511627776
                  ) + (
                    INT8(GET_BYTE("t11"."hash", 1)) * 4294967296
                  ) + (
                    INT8(GET_BYTE("t11"."hash", 2)) * 16777216
                  ) + (
                    INT8(GET_BYTE("t11"."hash", 3)) * 65536
                  ) + (
                    INT8(GET_BYTE("t11"."hash", 4)) * 256
                  ) + (
                    INT8(GET_BYTE("t11"."hash", 5)) * 1
                  )
                ) OVER (
                  PARTITION BY "t11"."user"
                  ORDER BY "t11"."group" ASC NULLS FIRST, "t11"."label" ASC NULLS FIRST
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "start"
              FROM (
                SELECT
                  "t10"."user",
                  "t10"."group",
                  "t10"."label",
                  "t10"."items",
                  "t10"."total",
                  "t10"."last",
                  CASE
                    WHEN "t10"."last" = "t10"."items"
                    THEN DECODE(MD5('0123456789abcdef0123456789abcdef ' || "t10"."user"), 'hex')
                    ELSE NULL
                  END AS "hash"
                FROM (
                  SELECT
                    "t9"."user",
                    "t9"."group",
                    "t9"."label",
                    "t9"."items",
                    "t9"."total",
                    INT8(
                      SUM("t9"."items") OVER (
                        PARTITION BY "t9"."user"
                        ORDER BY "t9"."group" ASC NULLS FIRST, "t9"."label" ASC NULLS FIRST
                        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                      )
                    ) AS "last"
                  FROM (
                    SELECT
                      *
                    FROM "t6" AS "t7"
                    WHERE
                      "t7"."total" > 5
                  ) AS "t9"
                ) AS "t10"
              ) AS "t11"
            ) AS "t12"
          ) AS "t13"
          WHERE
            "t13"."times" > 0
        ) AS "t14"
      ) AS "t15"
      GROUP BY
        1,
        2
    ) AS "t16"
  ) AS "t17"
  GROUP BY
    1,
    2,
    3
) AS "t18";

-- groups, one of each user
WITH "t9" AS (
  SELECT
    "t8"."user",
    "t8"."group",
    "t8"."label",
    "t8"."items",
    INT8(
      SUM("t8"."items") OVER (
        PARTITION BY "t8"."user", "t8"."group"
        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
      )
    ) AS "total"
  FROM (
    SELECT
      *
    FROM (
      SELECT
        "t6"."user",
        "t6"."group",
        "t6"."label",
        COUNT(*) AS "items"
      FROM (
        SELECT
          "t5"."label" || NAME('') AS "label",
          "t5"."user",
          "t5"."one",
          "t5"."group" || NAME('') AS "group"
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
                  '0123456789abcdef0123456789abcdef' || CAST("t2"."occurrence" AS VARCHAR) || ' ' || "t2"."user_name" || '
' || CASE WHEN "t2"."group" IS NULL THEN '' ELSE '=' || "t2"."group" END
                ) AS "hash"
              FROM (
                SELECT
                  "t1"."query" AS "label",
                  "t1"."user",
                  "t1"."user" AS "user_name",
                  1 AS "one",
                  "t1"."country" AS "group",
                  0 AS "occurrence"
                FROM (
                  SELECT
                    "t0"."query",
                    "t0"."user",
                    "t0"."ts",
                    "t0"."price",
                    "t0"."country",
                    "t0"."seen",
                    TIMEZONE('UTC', "t0"."zoned") AS "zoned",
                    "t0"."count",
                    "t0"."share",
                    "t0"."written",
                    NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
                  FROM (
                    SELECT
                      (
                        "query" || ''
                      ) COLLATE "C" AS "query",
                      (
                        "user" || ''
                      ) COLLATE "C" AS "user",
                      "ts",
                      "price",
                      (
                        "country" || ''
                      ) COLLATE "C" AS "country",
                      "seen",
                      "zoned",
                      "count",
                      "share",
                      (
                        "written" || ''
                      ) COLLATE "C" AS "written",
                      "amount"
                    FROM "events"
                  ) AS "t0"
                ) AS "t1"
                WHERE
                  NOT (
                    (
                      "t1"."user" IS NULL
                    ) OR (
                      "t1"."query" IS NULL
                    )
                  )
                  AND CASE WHEN "t1"."country" IS NULL THEN NULL ELSE "t1"."country" IN ('de', 'fr') END
              ) AS "t2"
            ) AS "t3"
          ) AS "t4"
          WHERE
            "t4"."group_rank" <= 1
        ) AS "t5"
      ) AS "t6"
      GROUP BY
        1,
        2,
        3
    ) AS "t7"
  ) AS "t8"
)
SELECT
  "t21"."count",
  "t21"."is_null",
  "t21"."prevalence",
  "t21"."group"
FROM (
  SELECT
    "t20"."count",
    "t20"."is_null",
    "t20"."group",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t19"."count",
      "t19"."group",
      "t19"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t18"."label",
        "t18"."group",
        COALESCE(SUM("t18"."times"), 0) AS "count"
      FROM (
        SELECT
          *
        FROM (
          SELECT
            "t10"."label",
            "t10"."group",
            "t10"."items" AS "times"
          FROM "t9" AS "t10"
          WHERE
            "t10"."total" <= 5
        ) AS "t11"
        UNION ALL
        SELECT
          *
        FROM (
          SELECT
            "t16"."label",
            "t16"."group",
            "t16"."times"
          FROM (
            SELECT
              "t15"."user",
              "t15"."group",
              "t15"."label",
              "t15"."items",
              "t15"."total",
              "t15"."last",
              "t15"."hash",
              "t15"."start",
              CASE
                WHEN "t15"."total" <= 922337203685477580
                THEN INT8DIV((
                  "t15"."last" * 5
                ) + (
                  "t15"."start" % "t15"."total"
                ), "t15"."total") - INT8DIV(
                  (
                    (
                      "t15"."last" - "t15"."items"
                    ) * 5
                  ) + (
                    "t15"."start" % "t15"."total"
                  ),
                  "t15"."total"
                )
                ELSE 0
              END AS "times"
            FROM (
              SELECT
                "t14"."user",
                "t14"."group",
                "t14"."label",
                "t14"."items",
                "t14"."total",
                "t14"."last",
                "t14"."hash",
                MAX(
                  (
                    INT8(GET_BYTE("t14"."hash", 0)) * 1099511627776
                  ) + (
                    INT8(GET_BYTE("t14"."hash", 1)) * 4294967296
                  ) + (
                    INT8(GET_BYTE("t14"."hash", 2)) * 16777216
                  ) + (
                    INT8(GET_BYTE("t14"."hash", 3)) * 65536
                  ) + (
                    INT8(GET_BYTE("t14"."hash", 4)) * 256
                  ) + (
                    INT8(GET_BYTE("t14"."hash", 5)) * 1
                  )
                ) OVER (
                  PARTITION BY "t14"."user", "t14"."group"
                  ORDER BY "t14"."group" ASC NULLS FIRST, "t14"."label" ASC NULLS FIRST
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "start"
              FROM (
                SELECT
                  "t13"."user",
                  "t13"."group",
                  "t13"."label",
                  "t13"."items",
                  "t13"."total",
                  "t13"."last",
                  CASE
                    WHEN "t13"."last" = "t13"."items"
                    THEN DECODE(
                      MD5(
                        '0123456789abcdef0123456789abcdef ' || "t13"."user" || '
' || "t13"."group"
                      ),
                      'hex'
                    )
                    ELSE NULL
                  END AS "hash"
                FROM (
                  SELECT
                    "t12"."user",
                    "t12"."group",
                    "t12"."label",
                    "t12"."items",
                    "t12"."total",
                    INT8(
                      SUM("t12"."items") OVER (
                        PARTITION BY "t12"."user", "t12"."group"
                        ORDER BY "t12"."group" ASC NULLS FIRST, "t12"."label" ASC NULLS FIRST
                        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                      )
                    ) AS "last"
                  FROM (
                    SELECT
                      *
                    FROM "t9" AS "t10"
                    WHERE
                      "t10"."total" > 5
                  ) AS "t12"
                ) AS "t13"
              ) AS "t14"
            ) AS "t15"
          ) AS "t16"
          WHERE
            "t16"."times" > 0
        ) AS "t17"
      ) AS "t18"
      GROUP BY
        1,
        2
    ) AS "t19"
  ) AS "t20"
  GROUP BY
    1,
    2,
    3
) AS "t21";

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
            ORDER BY "t6"."hash" ASC NULLS FIRST, "t6"."group" ASC NULLS FIRST
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
            MD5(
              '0123456789abcdef0123456789abcdef' || CAST("t4"."occurrence" AS VARCHAR) || ' ' || "t4"."user_name" || '
' || CASE WHEN "t4"."group" IS NULL THEN '' ELSE '=' || "t4"."group" END
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
                  "t1"."query" AS "label",
                  "t1"."country" AS "group"
                FROM (
                  SELECT
                    "t0"."query",
                    "t0"."user",
                    "t0"."ts",
                    "t0"."price",
                    "t0"."country",
                    "t0"."seen",
                    TIMEZONE('UTC', "t0"."zoned") AS "zoned",
                    "t0"."count",
                    "t0"."share",
                    "t0"."written",
                    NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
                  FROM (
                    SELECT
                      (
                        "query" || ''
                      ) COLLATE "C" AS "query",
                      (
                        "user" || ''
                      ) COLLATE "C" AS "user",
                      "ts",
                      "price",
                      (
                        "country" || ''
                      ) COLLATE "C" AS "country",
                      "seen",
                      "zoned",
                      "count",
                      "share",
                      (
                        "written" || ''
                      ) COLLATE "C" AS "written",
                      "amount"
                    FROM "events"
                  ) AS "t0"
                ) AS "t1"
                WHERE
                  CASE WHEN "t1"."country" IS NULL THEN NULL ELSE "t1"."country" IN ('de', 'fr') END
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
WITH "t7" AS (
  SELECT
    "t6"."user",
    "t6"."at_day",
    "t6"."label",
    "t6"."items",
    INT8(
      SUM("t6"."items") OVER (PARTITION BY "t6"."user" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
    ) AS "total"
  FROM (
    SELECT
      *
    FROM (
      SELECT
        "t4"."user",
        "t4"."at_day",
        "t4"."label",
        COUNT(*) AS "items"
      FROM (
        SELECT
          "t3"."label" || NAME('') AS "label",
          "t3"."at_day" || NAME('') AS "at_day",
          "t3"."user",
          "t3"."one"
        FROM (
          SELECT
            "t2"."label",
            "t2"."at_day",
            "t2"."user",
            "t2"."one"
          FROM (
            SELECT
              "t1"."query" AS "label",
              CASE
                WHEN (
                  CAST(EXTRACT(year FROM CASE
                    WHEN (
                      "t1"."seen" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                    )
                    AND (
                      "t1"."seen" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                    )
                    THEN "t1"."seen"
                    ELSE NULL
                  END) AS BIGINT) >= 1
                )
                AND (
                  CAST(EXTRACT(year FROM CASE
                    WHEN (
                      "t1"."seen" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                    )
                    AND (
                      "t1"."seen" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                    )
                    THEN "t1"."seen"
                    ELSE NULL
                  END) AS BIGINT) <= 9999
                )
                THEN SUBSTRING(TO_CHAR(
                  CASE
                    WHEN (
                      "t1"."seen" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                    )
                    AND (
                      "t1"."seen" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                    )
                    THEN "t1"."seen"
                    ELSE NULL
                  END,
                  'YYYY-MM-DD'
                ) FROM CASE
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
                  ) + 1 + LENGTH(
                    TO_CHAR(
                      CASE
                        WHEN (
                          "t1"."seen" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                        )
                        AND (
                          "t1"."seen" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                        )
                        THEN "t1"."seen"
                        ELSE NULL
                      END,
                      'YYYY-MM-DD'
                    )
                  )
                END FOR 10)
                ELSE NULL
              END AS "at_day",
              "t1"."user",
              "t1"."user" AS "user_name",
              1 AS "one"
            FROM (
              SELECT
                "t0"."query",
                "t0"."user",
                "t0"."ts",
                "t0"."price",
                "t0"."country",
                "t0"."seen",
                TIMEZONE('UTC', "t0"."zoned") AS "zoned",
                "t0"."count",
                "t0"."share",
                "t0"."written",
                NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
              FROM (
                SELECT
                  (
                    "query" || ''
                  ) COLLATE "C" AS "query",
                  (
                    "user" || ''
                  ) COLLATE "C" AS "user",
                  "ts",
                  "price",
                  (
                    "country" || ''
                  ) COLLATE "C" AS "country",
                  "seen",
                  "zoned",
                  "count",
                  "share",
                  (
                    "written" || ''
                  ) COLLATE "C" AS "written",
                  "amount"
                FROM "events"
              ) AS "t0"
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
      GROUP BY
        1,
        2,
        3
    ) AS "t5"
  ) AS "t6"
)
SELECT
  *
FROM (
  SELECT
    "t20"."at_day",
    MIN("t20"."named") AS "named",
    COALESCE(SUM("t20"."reached0"), 0) AS "reached0",
    COALESCE(SUM("t20"."reached1"), 0) AS "reached1"
  FROM (
    SELECT
      "t19"."at_day",
      "t19"."named",
      CASE
        WHEN (
          "t19"."after" >= 1
        ) AND (
          (
            "t19"."after" - "t19"."count"
          ) < 1
        )
        THEN 1
        ELSE 0
      END AS "reached0",
      CASE
        WHEN (
          "t19"."after" >= 2
        ) AND (
          (
            "t19"."after" - "t19"."count"
          ) < 2
        )
        THEN 1
        ELSE 0
      END AS "reached1"
    FROM (
      SELECT
        "t18"."label",
        "t18"."at_day",
        "t18"."count",
        "t18"."known",
        "t18"."named",
        CASE
          WHEN "t18"."count" IS NOT NULL
          THEN SUM("t18"."count") OVER (
            PARTITION BY "t18"."known"
            ORDER BY "t18"."at_day" ASC NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS "after"
      FROM (
        SELECT
          "t17"."label",
          "t17"."at_day",
          "t17"."count",
          "t17"."label" AS "known",
          1 AS "named"
        FROM (
          SELECT
            "t16"."label",
            "t16"."at_day",
            COALESCE(SUM("t16"."times"), 0) AS "count"
          FROM (
            SELECT
              *
            FROM (
              SELECT
                "t8"."label",
                "t8"."at_day",
                "t8"."items" AS "times"
              FROM "t7" AS "t8"
              WHERE
                "t8"."total" <= 5
            ) AS "t9"
            UNION ALL
            SELECT
              *
            FROM (
              SELECT
                "t14"."label",
                "t14"."at_day",
                "t14"."times"
              FROM (
                SELECT
                  "t13"."user",
                  "t13"."at_day",
                  "t13"."label",
                  "t13"."items",
                  "t13"."total",
                  "t13"."last",
                  "t13"."hash",
                  "t13"."start",
                  CASE
                    WHEN "t13"."total" <= 922337203685477580
                    THEN INT8DIV((
                      "t13"."last" * 5
                    ) + (
                      "t13"."start" % "t13"."total"
                    ), "t13"."total") - INT8DIV(
                      (
                        (
                          "t13"."last" - "t13"."items"
                        ) * 5
                      ) + (
                        "t13"."start" % "t13"."total"
                      ),
                      "t13"."total"
                    )
                    ELSE 0
                  END AS "times"
                FROM (
                  SELECT
                    "t12"."user",
                    "t12"."at_day",
                    "t12"."label",
                    "t12"."items",
                    "t12"."total",
                    "t12"."last",
                    "t12"."hash",
                    MAX(
                      (
                        INT8(GET_BYTE("t12"."hash", 0)) * 1099511627776
                      ) + (
                        INT8(GET_BYTE("t12"."hash", 1)) * 4294967296
                      ) + (
                        INT8(GET_BYTE("t12"."hash", 2)) * 16777216
                      ) + (
                        INT8(GET_BYTE("t12"."hash", 3)) * 65536
                      ) + (
                        INT8(GET_BYTE("t12"."hash", 4)) * 256
                      ) + (
                        INT8(GET_BYTE("t12"."hash", 5)) * 1
                      )
                    ) OVER (
                      PARTITION BY "t12"."user"
                      ORDER BY "t12"."at_day" ASC NULLS FIRST, "t12"."label" ASC NULLS FIRST
                      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                    ) AS "start"
                  FROM (
                    SELECT
                      "t11"."user",
                      "t11"."at_day",
                      "t11"."label",
                      "t11"."items",
                      "t11"."total",
                      "t11"."last",
                      CASE
                        WHEN "t11"."last" = "t11"."items"
                        THEN DECODE(MD5('0123456789abcdef0123456789abcdef ' || "t11"."user"), 'hex')
                        ELSE NULL
                      END AS "hash"
                    FROM (
                      SELECT
                        "t10"."user",
                        "t10"."at_day",
                        "t10"."label",
                        "t10"."items",
                        "t10"."total",
                        INT8(
                          SUM("t10"."items") OVER (
                            PARTITION BY "t10"."user"
                            ORDER BY "t10"."at_day" ASC NULLS FIRST, "t10"."label" ASC NULLS FIRST
                            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                          )
                        ) AS "last"
                      FROM (
                        SELECT
                          *
                        FROM "t7" AS "t8"
                        WHERE
                          "t8"."total" > 5
                      ) AS "t10"
                    ) AS "t11"
                  ) AS "t12"
                ) AS "t13"
              ) AS "t14"
              WHERE
                "t14"."times" > 0
            ) AS "t15"
          ) AS "t16"
          GROUP BY
            1,
            2
        ) AS "t17"
      ) AS "t18"
    ) AS "t19"
  ) AS "t20"
  GROUP BY
    1
) AS "t21";

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
                "t1"."query" AS "label",
                CASE
                  WHEN CAST(EXTRACT(epoch FROM CAST(DATE(
                    CASE
                      WHEN (
                        "t1"."zoned" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                      )
                      AND (
                        "t1"."zoned" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                      )
                      THEN "t1"."zoned"
                      ELSE NULL
                    END
                  ) AS TIMESTAMP) - CAST(MAKE_DATE(CAST(1970 AS INT), CAST(1 AS INT), CAST(1 AS INT)) AS TIMESTAMP)) / 86400 AS BIGINT) + 719162 BETWEEN 0 AND 3652058
                  THEN LPAD(
                    CAST(CAST(FLOOR(
                      CAST((
                        CAST(EXTRACT(epoch FROM CAST(DATE(
                          CASE
                            WHEN (
                              "t1"."zoned" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                            )
                            AND (
                              "t1"."zoned" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                            )
                            THEN "t1"."zoned"
                            ELSE NULL
                          END
                        ) AS TIMESTAMP) - CAST(MAKE_DATE(CAST(1970 AS INT), CAST(1 AS INT), CAST(1 AS INT)) AS TIMESTAMP)) / 86400 AS BIGINT) + 719162
                      ) AS DOUBLE PRECISION) / (
                        7
                      )
                    ) AS BIGINT) AS VARCHAR),
                    GREATEST(
                      LENGTH(
                        CAST(CAST(FLOOR(
                          CAST((
                            CAST(EXTRACT(epoch FROM CAST(DATE(
                              CASE
                                WHEN (
                                  "t1"."zoned" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                                )
                                AND (
                                  "t1"."zoned" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                                )
                                THEN "t1"."zoned"
                                ELSE NULL
                              END
                            ) AS TIMESTAMP) - CAST(MAKE_DATE(CAST(1970 AS INT), CAST(1 AS INT), CAST(1 AS INT)) AS TIMESTAMP)) / 86400 AS BIGINT) + 719162
                          ) AS DOUBLE PRECISION) / (
                            7
                          )
                        ) AS BIGINT) AS VARCHAR)
                      ),
                      6
                    ),
                    '0'
                  )
                  ELSE NULL
                END AS "at_day"
              FROM (
                SELECT
                  "t0"."query",
                  "t0"."user",
                  "t0"."ts",
                  "t0"."price",
                  "t0"."country",
                  "t0"."seen",
                  TIMEZONE('UTC', "t0"."zoned") AS "zoned",
                  "t0"."count",
                  "t0"."share",
                  "t0"."written",
                  NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
                FROM (
                  SELECT
                    (
                      "query" || ''
                    ) COLLATE "C" AS "query",
                    (
                      "user" || ''
                    ) COLLATE "C" AS "user",
                    "ts",
                    "price",
                    (
                      "country" || ''
                    ) COLLATE "C" AS "country",
                    "seen",
                    "zoned",
                    "count",
                    "share",
                    (
                      "written" || ''
                    ) COLLATE "C" AS "written",
                    "amount"
                  FROM "events"
                ) AS "t0"
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
            THEN CAST(FLOOR(CAST((
              "t2"."count"
            ) AS DOUBLE PRECISION) / (
              4294967296
            )) AS BIGINT)
            ELSE NULL
          END AS "size"
        FROM (
          SELECT
            "t1"."query" AS "label",
            CASE
              WHEN NOT (
                "t1"."count" IS NULL
              )
              AND COALESCE((
                "t1"."count" >= 0
              ) AND (
                "t1"."count" <= 9223372036854775807
              ), FALSE)
              THEN "t1"."count"
              ELSE 0
            END AS "count",
            CASE
              WHEN NOT (
                NOT (
                  "t1"."count" IS NULL
                )
                AND COALESCE((
                  "t1"."count" >= 0
                ) AND (
                  "t1"."count" <= 9223372036854775807
                ), FALSE)
              )
              THEN 1
              ELSE 0
            END AS "wrong"
          FROM (
            SELECT
              "t0"."query",
              "t0"."user",
              "t0"."ts",
              "t0"."price",
              "t0"."country",
              "t0"."seen",
              TIMEZONE('UTC', "t0"."zoned") AS "zoned",
              "t0"."count",
              "t0"."share",
              "t0"."written",
              NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
            FROM (
              SELECT
                (
                  "query" || ''
                ) COLLATE "C" AS "query",
                (
                  "user" || ''
                ) COLLATE "C" AS "user",
                "ts",
                "price",
                (
                  "country" || ''
                ) COLLATE "C" AS "country",
                "seen",
                "zoned",
                "count",
                "share",
                (
                  "written" || ''
                ) COLLATE "C" AS "written",
                "amount"
              FROM "events"
            ) AS "t0"
          ) AS "t1"
        ) AS "t2"
      ) AS "t3"
      GROUP BY
        1
    ) AS "t4"
    WHERE
      COALESCE("t4"."count" <> 0, FALSE)
      OR COALESCE("t4"."size" <> 0, FALSE)
      OR COALESCE("t4"."wrong" <> 0, FALSE)
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
            THEN CAST(FLOOR(CAST((
              "t2"."count"
            ) AS DOUBLE PRECISION) / (
              4294967296
            )) AS BIGINT)
            ELSE NULL
          END AS "size"
        FROM (
          SELECT
            "t1"."query" AS "label",
            CAST(CASE
              WHEN NOT (
                "t1"."written" IS NULL
              )
              AND COALESCE(
                "t1"."written" ~ '^ *0*[0-9]{1,18} *$'
                OR (
                  "t1"."written" ~ '^ *[1-9][0-9]{18} *$'
                  AND (
                    TRIM(' 	
' FROM "t1"."written") <= '9223372036854775807'
                  )
                ),
                FALSE
              )
              THEN TRIM(' 	
' FROM "t1"."written")
              ELSE '0'
            END AS BIGINT) AS "count",
            CASE
              WHEN NOT (
                NOT (
                  "t1"."written" IS NULL
                )
                AND COALESCE(
                  "t1"."written" ~ '^ *0*[0-9]{1,18} *$'
                  OR (
                    "t1"."written" ~ '^ *[1-9][0-9]{18} *$'
                    AND (
                      TRIM(' 	
' FROM "t1"."written") <= '9223372036854775807'
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
              "t0"."query",
              "t0"."user",
              "t0"."ts",
              "t0"."price",
              "t0"."country",
              "t0"."seen",
              TIMEZONE('UTC', "t0"."zoned") AS "zoned",
              "t0"."count",
              "t0"."share",
              "t0"."written",
              NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
            FROM (
              SELECT
                (
                  "query" || ''
                ) COLLATE "C" AS "query",
                (
                  "user" || ''
                ) COLLATE "C" AS "user",
                "ts",
                "price",
                (
                  "country" || ''
                ) COLLATE "C" AS "country",
                "seen",
                "zoned",
                "count",
                "share",
                (
                  "written" || ''
                ) COLLATE "C" AS "written",
                "amount"
              FROM "events"
            ) AS "t0"
          ) AS "t1"
        ) AS "t2"
      ) AS "t3"
      GROUP BY
        1
    ) AS "t4"
    WHERE
      COALESCE("t4"."count" <> 0, FALSE)
      OR COALESCE("t4"."size" <> 0, FALSE)
      OR COALESCE("t4"."wrong" <> 0, FALSE)
  ) AS "t5"
  GROUP BY
    1,
    2
) AS "t6";

-- events of some rows, by text
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
          "t1"."query" AS "label"
        FROM (
          SELECT
            "t0"."query",
            "t0"."user",
            "t0"."ts",
            "t0"."price",
            "t0"."country",
            "t0"."seen",
            TIMEZONE('UTC', "t0"."zoned") AS "zoned",
            "t0"."count",
            "t0"."share",
            "t0"."written",
            NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
          FROM (
            SELECT
              (
                "query" || ''
              ) COLLATE "C" AS "query",
              (
                "user" || ''
              ) COLLATE "C" AS "user",
              "ts",
              "price",
              (
                "country" || ''
              ) COLLATE "C" AS "country",
              "seen",
              "zoned",
              "count",
              "share",
              (
                "written" || ''
              ) COLLATE "C" AS "written",
              "amount"
            FROM "events"
          ) AS "t0"
        ) AS "t1"
        WHERE
          NOT (
            "t1"."country" IS NULL
          )
          AND (
            (
              "t1"."country" = 'de'
            ) OR (
              "t1"."country" = 'it''s'
            )
          )
          AND NOT (
            "t1"."query" IS NULL
          )
          AND "t1"."query" < 'ä'
      ) AS "t2"
      GROUP BY
        1
    ) AS "t3"
  ) AS "t4"
  GROUP BY
    1,
    2
) AS "t5";

-- events of some rows, by numbers
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
          "t1"."query" AS "label"
        FROM (
          SELECT
            "t0"."query",
            "t0"."user",
            "t0"."ts",
            "t0"."price",
            "t0"."country",
            "t0"."seen",
            TIMEZONE('UTC', "t0"."zoned") AS "zoned",
            "t0"."count",
            "t0"."share",
            "t0"."written",
            NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
          FROM (
            SELECT
              (
                "query" || ''
              ) COLLATE "C" AS "query",
              (
                "user" || ''
              ) COLLATE "C" AS "user",
              "ts",
              "price",
              (
                "country" || ''
              ) COLLATE "C" AS "country",
              "seen",
              "zoned",
              "count",
              "share",
              (
                "written" || ''
              ) COLLATE "C" AS "written",
              "amount"
            FROM "events"
          ) AS "t0"
        ) AS "t1"
        WHERE
          NOT (
            (
              "t1"."price" IS NULL
            )
            OR CASE
              WHEN "t1"."price" IS NULL
              THEN NULL
              ELSE "t1"."price" = CAST('NaN' AS DOUBLE PRECISION)
            END
          )
          AND "t1"."price" <= 2.5
          AND NOT (
            "t1"."ts" IS NULL
          )
          AND "t1"."ts" > 7
          AND NOT (
            "t1"."ts" = 9223372036854775807
          )
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
        THEN CAST(FLOOR(CAST((
          "t2"."prevalence"
        ) AS DOUBLE PRECISION) / (
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
          AND COALESCE((
            "t1"."count" >= 0
          ) AND (
            "t1"."count" <= 9223372036854775807
          ), FALSE)
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
                OR CASE
                  WHEN "t1"."share" IS NULL
                  THEN NULL
                  ELSE "t1"."share" = CAST('NaN' AS DOUBLE PRECISION)
                END
              )
              AND (
                "t1"."share" >= 0
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
                  OR CASE
                    WHEN "t1"."share" IS NULL
                    THEN NULL
                    ELSE "t1"."share" = CAST('NaN' AS DOUBLE PRECISION)
                  END
                )
                AND (
                  "t1"."share" >= 0
                )
                AND (
                  "t1"."share" <= 9007199254740992
                )
                THEN "t1"."share"
                ELSE 0.5
              END
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
            AND COALESCE((
              "t1"."count" >= 0
            ) AND (
              "t1"."count" <= 9223372036854775807
            ), FALSE)
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
                  OR CASE
                    WHEN "t1"."share" IS NULL
                    THEN NULL
                    ELSE "t1"."share" = CAST('NaN' AS DOUBLE PRECISION)
                  END
                )
                AND (
                  "t1"."share" >= 0
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
                    OR CASE
                      WHEN "t1"."share" IS NULL
                      THEN NULL
                      ELSE "t1"."share" = CAST('NaN' AS DOUBLE PRECISION)
                    END
                  )
                  AND (
                    "t1"."share" >= 0
                  )
                  AND (
                    "t1"."share" <= 9007199254740992
                  )
                  THEN "t1"."share"
                  ELSE 0.5
                END
              ) AS BIGINT),
              FALSE
            )
          )
          THEN 1
          ELSE 0
        END AS "wrong"
      FROM (
        SELECT
          "t0"."query",
          "t0"."user",
          "t0"."ts",
          "t0"."price",
          "t0"."country",
          "t0"."seen",
          TIMEZONE('UTC', "t0"."zoned") AS "zoned",
          "t0"."count",
          "t0"."share",
          "t0"."written",
          NULLIF(CAST("t0"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
        FROM (
          SELECT
            (
              "query" || ''
            ) COLLATE "C" AS "query",
            (
              "user" || ''
            ) COLLATE "C" AS "user",
            "ts",
            "price",
            (
              "country" || ''
            ) COLLATE "C" AS "country",
            "seen",
            "zoned",
            "count",
            "share",
            (
              "written" || ''
            ) COLLATE "C" AS "written",
            "amount"
          FROM "events"
        ) AS "t0"
      ) AS "t1"
    ) AS "t2"
  ) AS "t3"
  GROUP BY
    1
) AS "t4";
