-- by ibis-framework 12.0.0 and sqlglot 30.29.0

-- events
SELECT
  *
FROM (
  SELECT
    "t5"."count",
    "t5"."is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t4"."count",
      "t4"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t3"."label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t2"."query" || '' || '' AS "label"
        FROM (
          SELECT
            "t1"."query",
            "t1"."user",
            "t1"."ts",
            "t1"."price",
            "t1"."country",
            "t1"."seen",
            TIMEZONE('UTC', "t1"."zoned") AS "zoned",
            "t1"."count",
            "t1"."share",
            "t1"."written",
            NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
          FROM (
            SELECT
              CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
              CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
              "t0"."ts",
              "t0"."price",
              CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
              "t0"."seen",
              "t0"."zoned",
              "t0"."count",
              "t0"."share",
              CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
              "t0"."amount"
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

-- events, five of each user
SELECT
  *
FROM (
  SELECT
    "t14"."count",
    "t14"."is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t13"."count",
      "t13"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t12"."label",
        COALESCE(SUM("t12"."times"), 0) AS "count"
      FROM (
        SELECT
          "t11"."label",
          "t11"."times"
        FROM (
          SELECT
            "t10"."user",
            "t10"."label",
            "t10"."items",
            "t10"."label_bytes",
            "t10"."last",
            "t10"."total",
            "t10"."hash",
            "t10"."start",
            CASE
              WHEN "t10"."total" <= 5
              THEN "t10"."items"
              WHEN "t10"."total" <= 922337203685477580
              THEN INT8DIV((
                "t10"."last" * 5
              ) + (
                "t10"."start" % "t10"."total"
              ), "t10"."total") - INT8DIV(
                (
                  (
                    "t10"."last" - "t10"."items"
                  ) * 5
                ) + (
                  "t10"."start" % "t10"."total"
                ),
                "t10"."total"
              )
              ELSE 0
            END AS "times"
          FROM (
            SELECT
              "t9"."user",
              "t9"."label",
              "t9"."items",
              "t9"."label_bytes",
              "t9"."last",
              "t9"."total",
              "t9"."hash",
              MAX(
                (
                  INT8(
                    GET_BYTE(
                      DECODE(
                        SUBSTRING("t9"."hash" FROM CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t9"."hash") END FOR 12),
                        'hex'
                      ),
                      0
                    )
                  ) * 1099511627776
                ) + (
                  INT8(
                    GET_BYTE(
                      DECODE(
                        SUBSTRING("t9"."hash" FROM CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t9"."hash") END FOR 12),
                        'hex'
                      ),
                      1
                    )
                  ) * 4294967296
                ) + (
                  INT8(
                    GET_BYTE(
                      DECODE(
                        SUBSTRING("t9"."hash" FROM CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t9"."hash") END FOR 12),
                        'hex'
                      ),
                      2
                    )
                  ) * 16777216
                ) + (
                  INT8(
                    GET_BYTE(
                      DECODE(
                        SUBSTRING("t9"."hash" FROM CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t9"."hash") END FOR 12),
                        'hex'
                      ),
                      3
                    )
                  ) * 65536
                ) + (
                  INT8(
                    GET_BYTE(
                      DECODE(
                        SUBSTRING("t9"."hash" FROM CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t9"."hash") END FOR 12),
                        'hex'
                      ),
                      4
                    )
                  ) * 256
                ) + (
                  INT8(
                    GET_BYTE(
                      DECODE(
                        SUBSTRING("t9"."hash" FROM CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t9"."hash") END FOR 12),
                        'hex'
                      ),
                      5
                    )
                  ) * 1
                )
              ) OVER (
                PARTITION BY "t9"."user"
                ORDER BY "t9"."label_bytes" ASC NULLS FIRST
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              ) AS "start"
            FROM (
              SELECT
                "t8"."user",
                "t8"."label",
                "t8"."items",
                "t8"."label_bytes",
                "t8"."last",
                "t8"."total",
                CASE
                  WHEN (
                    "t8"."total" > 5
                  ) AND (
                    "t8"."last" = "t8"."items"
                  )
                  THEN MD5('0123456789abcdef0123456789abcdef ' || "t8"."user")
                  ELSE NULL
                END AS "hash"
              FROM (
                SELECT
                  "t7"."user",
                  "t7"."label",
                  "t7"."items",
                  "t7"."label_bytes",
                  INT8(
                    SUM("t7"."items") OVER (
                      PARTITION BY "t7"."user"
                      ORDER BY "t7"."label_bytes" ASC NULLS FIRST
                      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                    )
                  ) AS "last",
                  INT8(
                    SUM("t7"."items") OVER (PARTITION BY "t7"."user" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
                  ) AS "total"
                FROM (
                  SELECT
                    "t6"."user",
                    "t6"."label",
                    "t6"."items",
                    CONVERT_TO("t6"."label", 'UTF8') AS "label_bytes"
                  FROM (
                    SELECT
                      *
                    FROM (
                      SELECT
                        "t4"."user",
                        "t4"."label",
                        COUNT(*) AS "items"
                      FROM (
                        SELECT
                          "t3"."label",
                          "t3"."user",
                          "t3"."one"
                        FROM (
                          SELECT
                            "t2"."query" || '' || '' AS "label",
                            "t2"."user" || '' || '' AS "user",
                            "t2"."user" || '' || '' AS "user_name",
                            1 AS "one"
                          FROM (
                            SELECT
                              "t1"."query",
                              "t1"."user",
                              "t1"."ts",
                              "t1"."price",
                              "t1"."country",
                              "t1"."seen",
                              TIMEZONE('UTC', "t1"."zoned") AS "zoned",
                              "t1"."count",
                              "t1"."share",
                              "t1"."written",
                              NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
                            FROM (
                              SELECT
                                CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
                                CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
                                "t0"."ts",
                                "t0"."price",
                                CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
                                "t0"."seen",
                                "t0"."zoned",
                                "t0"."count",
                                "t0"."share",
                                CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
                                "t0"."amount"
                              FROM "events" AS "t0"
                            ) AS "t1"
                          ) AS "t2"
                        ) AS "t3"
                        WHERE
                          NOT (
                            (
                              "t3"."user" IS NULL
                            ) OR (
                              "t3"."label" IS NULL
                            )
                          )
                      ) AS "t4"
                      GROUP BY
                        1,
                        2
                    ) AS "t5"
                  ) AS "t6"
                ) AS "t7"
              ) AS "t8"
            ) AS "t9"
          ) AS "t10"
        ) AS "t11"
        WHERE
          "t11"."times" > 0
      ) AS "t12"
      GROUP BY
        1
    ) AS "t13"
  ) AS "t14"
  GROUP BY
    1,
    2
) AS "t15";

-- events, the first five of each user
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
                  "t2"."query" || '' || '' AS "label",
                  "t2"."user" || '' || '' AS "user",
                  "t2"."user" || '' || '' AS "user_name",
                  CASE
                    WHEN NOT (
                      "t2"."ts" IS NULL
                    )
                    THEN CAST("t2"."ts" AS DOUBLE PRECISION)
                    ELSE NULL
                  END AS "rank_by",
                  1 AS "one"
                FROM (
                  SELECT
                    "t1"."query",
                    "t1"."user",
                    "t1"."ts",
                    "t1"."price",
                    "t1"."country",
                    "t1"."seen",
                    TIMEZONE('UTC', "t1"."zoned") AS "zoned",
                    "t1"."count",
                    "t1"."share",
                    "t1"."written",
                    NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
                  FROM (
                    SELECT
                      CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
                      CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
                      "t0"."ts",
                      "t0"."price",
                      CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
                      "t0"."seen",
                      "t0"."zoned",
                      "t0"."count",
                      "t0"."share",
                      CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
                      "t0"."amount"
                    FROM "events" AS "t0"
                  ) AS "t1"
                ) AS "t2"
                WHERE
                  NOT (
                    (
                      (
                        "t2"."user" || '' || ''
                      ) IS NULL
                    )
                    OR (
                      (
                        "t2"."query" || '' || ''
                      ) IS NULL
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

-- events, fractions and NaN
SELECT
  "t11"."count",
  "t11"."is_null",
  "t11"."prevalence",
  "t11"."named"
FROM (
  SELECT
    "t10"."count",
    "t10"."is_null",
    "t10"."named",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t9"."count",
      "t9"."named",
      "t9"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t8"."label",
        "t8"."named",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t7"."label",
          "t7"."named"
        FROM (
          SELECT
            "t6"."label",
            "t6"."user",
            "t6"."user_name",
            "t6"."rank_by",
            "t6"."named",
            "t6"."one",
            "t6"."occurrence",
            "t6"."hash",
            CASE
              WHEN "t6"."one" IS NOT NULL
              THEN SUM("t6"."one") OVER (
                PARTITION BY "t6"."user"
                ORDER BY "t6"."rank_by" ASC NULLS FIRST, "t6"."named" ASC NULLS FIRST, "t6"."hash" ASC NULLS FIRST, "t6"."label" ASC NULLS FIRST
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              )
              ELSE NULL
            END AS "rank"
          FROM (
            SELECT
              "t5"."label",
              "t5"."user",
              "t5"."user_name",
              "t5"."rank_by",
              "t5"."named",
              "t5"."one",
              "t5"."occurrence",
              MD5(
                '0123456789abcdef0123456789abcdef' || CAST("t5"."occurrence" AS VARCHAR) || ' ' || "t5"."user_name" || '
' || CASE WHEN "t5"."label" IS NULL THEN '' ELSE '=' || "t5"."label" END
              ) AS "hash"
            FROM (
              SELECT
                "t4"."label",
                "t4"."user",
                "t4"."user_name",
                "t4"."rank_by",
                "t4"."named",
                "t4"."one",
                CASE
                  WHEN "t4"."one" IS NOT NULL
                  THEN SUM("t4"."one") OVER (
                    PARTITION BY "t4"."user", "t4"."label"
                    ORDER BY "t4"."rank_by" ASC NULLS FIRST
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
                          "t2"."price" IS NULL
                        )
                        OR CASE
                          WHEN "t2"."price" IS NULL
                          THEN NULL
                          ELSE "t2"."price" = CAST('NaN' AS DOUBLE PRECISION)
                        END
                      )
                      THEN CASE
                        WHEN COALESCE(
                          CASE
                            WHEN NOT (
                              (
                                "t2"."price" IS NULL
                              )
                              OR CASE
                                WHEN "t2"."price" IS NULL
                                THEN NULL
                                ELSE "t2"."price" = CAST('NaN' AS DOUBLE PRECISION)
                              END
                            )
                            AND (
                              (
                                "t2"."price" > -9007199254740992
                              ) AND (
                                "t2"."price" < 9007199254740992
                              )
                            )
                            THEN "t2"."price"
                            ELSE 0.5
                          END = CAST(ROUND(
                            CASE
                              WHEN NOT (
                                (
                                  "t2"."price" IS NULL
                                )
                                OR CASE
                                  WHEN "t2"."price" IS NULL
                                  THEN NULL
                                  ELSE "t2"."price" = CAST('NaN' AS DOUBLE PRECISION)
                                END
                              )
                              AND (
                                (
                                  "t2"."price" > -9007199254740992
                                ) AND (
                                  "t2"."price" < 9007199254740992
                                )
                              )
                              THEN "t2"."price"
                              ELSE 0.5
                            END
                          ) AS BIGINT),
                          FALSE
                        )
                        THEN CAST(CAST(ROUND(
                          CASE
                            WHEN NOT (
                              (
                                "t2"."price" IS NULL
                              )
                              OR CASE
                                WHEN "t2"."price" IS NULL
                                THEN NULL
                                ELSE "t2"."price" = CAST('NaN' AS DOUBLE PRECISION)
                              END
                            )
                            AND (
                              (
                                "t2"."price" > -9007199254740992
                              ) AND (
                                "t2"."price" < 9007199254740992
                              )
                            )
                            THEN "t2"."price"
                            ELSE 0.5
                          END
                        ) AS BIGINT) AS VARCHAR)
                        ELSE CAST("t2"."price" AS VARCHAR)
                      END
                      ELSE NULL
                    END AS "label",
                    "t2"."user" || '' || '' AS "user",
                    "t2"."user" || '' || '' AS "user_name",
                    CASE
                      WHEN NOT (
                        (
                          "t2"."price" IS NULL
                        )
                        OR CASE
                          WHEN "t2"."price" IS NULL
                          THEN NULL
                          ELSE "t2"."price" = CAST('NaN' AS DOUBLE PRECISION)
                        END
                      )
                      THEN "t2"."price" + 0.0
                      ELSE NULL
                    END AS "rank_by",
                    CASE
                      WHEN COALESCE(
                        NOT (
                          COALESCE(
                            (
                              "t2"."price" > -9007199254740992
                            ) AND (
                              "t2"."price" < 9007199254740992
                            ),
                            FALSE
                          )
                        )
                        AND NOT (
                          (
                            "t2"."price" IS NULL
                          )
                          OR CASE
                            WHEN "t2"."price" IS NULL
                            THEN NULL
                            ELSE "t2"."price" = CAST('NaN' AS DOUBLE PRECISION)
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
                      "t1"."query",
                      "t1"."user",
                      "t1"."ts",
                      "t1"."price",
                      "t1"."country",
                      "t1"."seen",
                      TIMEZONE('UTC', "t1"."zoned") AS "zoned",
                      "t1"."count",
                      "t1"."share",
                      "t1"."written",
                      NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
                    FROM (
                      SELECT
                        CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
                        CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
                        "t0"."ts",
                        "t0"."price",
                        CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
                        "t0"."seen",
                        "t0"."zoned",
                        "t0"."count",
                        "t0"."share",
                        CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
                        "t0"."amount"
                      FROM "events" AS "t0"
                    ) AS "t1"
                  ) AS "t2"
                ) AS "t3"
                WHERE
                  NOT (
                    (
                      "t3"."user" IS NULL
                    ) OR (
                      "t3"."label" IS NULL
                    )
                  )
              ) AS "t4"
            ) AS "t5"
          ) AS "t6"
        ) AS "t7"
        WHERE
          "t7"."rank" <= 5
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

-- events, decimals
SELECT
  *
FROM (
  SELECT
    "t10"."count",
    "t10"."is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t9"."count",
      "t9"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t8"."label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t7"."label"
        FROM (
          SELECT
            "t6"."label",
            "t6"."user",
            "t6"."user_name",
            "t6"."rank_by",
            "t6"."one",
            "t6"."occurrence",
            "t6"."hash",
            CASE
              WHEN "t6"."one" IS NOT NULL
              THEN SUM("t6"."one") OVER (
                PARTITION BY "t6"."user"
                ORDER BY "t6"."rank_by" ASC NULLS FIRST, "t6"."hash" ASC NULLS FIRST, "t6"."label" ASC NULLS FIRST
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              )
              ELSE NULL
            END AS "rank"
          FROM (
            SELECT
              "t5"."label",
              "t5"."user",
              "t5"."user_name",
              "t5"."rank_by",
              "t5"."one",
              "t5"."occurrence",
              MD5(
                '0123456789abcdef0123456789abcdef' || CAST("t5"."occurrence" AS VARCHAR) || ' ' || "t5"."user_name" || '
' || CASE WHEN "t5"."label" IS NULL THEN '' ELSE '=' || "t5"."label" END
              ) AS "hash"
            FROM (
              SELECT
                "t4"."label",
                "t4"."user",
                "t4"."user_name",
                "t4"."rank_by",
                "t4"."one",
                CASE
                  WHEN "t4"."one" IS NOT NULL
                  THEN SUM("t4"."one") OVER (
                    PARTITION BY "t4"."user", "t4"."label"
                    ORDER BY "t4"."rank_by" ASC NULLS FIRST
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
                        "t2"."amount" IS NULL
                      )
                      THEN CASE
                        WHEN CAST("t2"."amount" AS VARCHAR) ~ '\.[0-9]+$'
                        THEN REGEXP_REPLACE(CAST("t2"."amount" AS VARCHAR), '\.?0+$', '', 'g')
                        ELSE CAST("t2"."amount" AS VARCHAR)
                      END
                      ELSE NULL
                    END AS "label",
                    "t2"."user" || '' || '' AS "user",
                    "t2"."user" || '' || '' AS "user_name",
                    CASE WHEN NOT (
                      "t2"."amount" IS NULL
                    ) THEN "t2"."amount" ELSE NULL END AS "rank_by",
                    1 AS "one"
                  FROM (
                    SELECT
                      "t1"."query",
                      "t1"."user",
                      "t1"."ts",
                      "t1"."price",
                      "t1"."country",
                      "t1"."seen",
                      TIMEZONE('UTC', "t1"."zoned") AS "zoned",
                      "t1"."count",
                      "t1"."share",
                      "t1"."written",
                      NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
                    FROM (
                      SELECT
                        CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
                        CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
                        "t0"."ts",
                        "t0"."price",
                        CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
                        "t0"."seen",
                        "t0"."zoned",
                        "t0"."count",
                        "t0"."share",
                        CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
                        "t0"."amount"
                      FROM "events" AS "t0"
                    ) AS "t1"
                  ) AS "t2"
                ) AS "t3"
                WHERE
                  NOT (
                    (
                      "t3"."user" IS NULL
                    ) OR (
                      "t3"."label" IS NULL
                    )
                  )
              ) AS "t4"
            ) AS "t5"
          ) AS "t6"
        ) AS "t7"
        WHERE
          "t7"."rank" <= 5
      ) AS "t8"
      GROUP BY
        1
    ) AS "t9"
  ) AS "t10"
  GROUP BY
    1,
    2
) AS "t11";

-- events, times
SELECT
  *
FROM (
  SELECT
    "t5"."count",
    "t5"."is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t4"."count",
      "t4"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t3"."label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          CASE
            WHEN NOT (
              "t2"."seen" IS NULL
            )
            THEN CASE
              WHEN SUBSTRING(CAST("t2"."seen" AS VARCHAR) FROM CASE
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
                ) + 1 + LENGTH(CAST("t2"."seen" AS VARCHAR))
              END FOR 1) = '.'
              THEN CASE
                WHEN SUBSTRING(SUBSTRING(SUBSTRING(CAST("t2"."seen" AS VARCHAR) || '' || '00000000' FROM CASE
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
                  ) + 1 + LENGTH(CAST("t2"."seen" AS VARCHAR) || '' || '00000000')
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
                    SUBSTRING(CAST("t2"."seen" AS VARCHAR) || '' || '00000000' FROM CASE
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
                      ) + 1 + LENGTH(CAST("t2"."seen" AS VARCHAR) || '' || '00000000')
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
                    SUBSTRING(SUBSTRING(CAST("t2"."seen" AS VARCHAR) || '' || '00000000' FROM CASE
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
                      ) + 1 + LENGTH(CAST("t2"."seen" AS VARCHAR) || '' || '00000000')
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
                        SUBSTRING(CAST("t2"."seen" AS VARCHAR) || '' || '00000000' FROM CASE
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
                          ) + 1 + LENGTH(CAST("t2"."seen" AS VARCHAR) || '' || '00000000')
                        END FOR 29)
                      )
                    END FOR 26)
                  )
                END FOR LENGTH(
                  SUBSTRING(SUBSTRING(CAST("t2"."seen" AS VARCHAR) || '' || '00000000' FROM CASE
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
                    ) + 1 + LENGTH(CAST("t2"."seen" AS VARCHAR) || '' || '00000000')
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
                      SUBSTRING(CAST("t2"."seen" AS VARCHAR) || '' || '00000000' FROM CASE
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
                        ) + 1 + LENGTH(CAST("t2"."seen" AS VARCHAR) || '' || '00000000')
                      END FOR 29)
                    )
                  END FOR 26)
                )) = '.000000'
                THEN SUBSTRING(CAST("t2"."seen" AS VARCHAR) FROM CASE
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
                  ) + 1 + LENGTH(CAST("t2"."seen" AS VARCHAR))
                END FOR 19)
                ELSE SUBSTRING(SUBSTRING(CAST("t2"."seen" AS VARCHAR) || '' || '00000000' FROM CASE
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
                  ) + 1 + LENGTH(CAST("t2"."seen" AS VARCHAR) || '' || '00000000')
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
                    SUBSTRING(CAST("t2"."seen" AS VARCHAR) || '' || '00000000' FROM CASE
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
                      ) + 1 + LENGTH(CAST("t2"."seen" AS VARCHAR) || '' || '00000000')
                    END FOR 29)
                  )
                END FOR 26)
              END
              ELSE CAST("t2"."seen" AS VARCHAR)
            END
            ELSE NULL
          END AS "label"
        FROM (
          SELECT
            "t1"."query",
            "t1"."user",
            "t1"."ts",
            "t1"."price",
            "t1"."country",
            "t1"."seen",
            TIMEZONE('UTC', "t1"."zoned") AS "zoned",
            "t1"."count",
            "t1"."share",
            "t1"."written",
            NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
          FROM (
            SELECT
              CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
              CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
              "t0"."ts",
              "t0"."price",
              CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
              "t0"."seen",
              "t0"."zoned",
              "t0"."count",
              "t0"."share",
              CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
              "t0"."amount"
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

-- events, times with a zone
SELECT
  *
FROM (
  SELECT
    "t5"."count",
    "t5"."is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t4"."count",
      "t4"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t3"."label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          CASE
            WHEN NOT (
              "t2"."zoned" IS NULL
            )
            THEN CASE
              WHEN SUBSTRING(CAST("t2"."zoned" AS VARCHAR) FROM CASE
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
                ) + 1 + LENGTH(CAST("t2"."zoned" AS VARCHAR))
              END FOR 1) = '.'
              THEN CASE
                WHEN SUBSTRING(SUBSTRING(SUBSTRING(CAST("t2"."zoned" AS VARCHAR) || '' || '00000000' FROM CASE
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
                  ) + 1 + LENGTH(CAST("t2"."zoned" AS VARCHAR) || '' || '00000000')
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
                    SUBSTRING(CAST("t2"."zoned" AS VARCHAR) || '' || '00000000' FROM CASE
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
                      ) + 1 + LENGTH(CAST("t2"."zoned" AS VARCHAR) || '' || '00000000')
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
                    SUBSTRING(SUBSTRING(CAST("t2"."zoned" AS VARCHAR) || '' || '00000000' FROM CASE
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
                      ) + 1 + LENGTH(CAST("t2"."zoned" AS VARCHAR) || '' || '00000000')
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
                        SUBSTRING(CAST("t2"."zoned" AS VARCHAR) || '' || '00000000' FROM CASE
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
                          ) + 1 + LENGTH(CAST("t2"."zoned" AS VARCHAR) || '' || '00000000')
                        END FOR 29)
                      )
                    END FOR 26)
                  )
                END FOR LENGTH(
                  SUBSTRING(SUBSTRING(CAST("t2"."zoned" AS VARCHAR) || '' || '00000000' FROM CASE
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
                    ) + 1 + LENGTH(CAST("t2"."zoned" AS VARCHAR) || '' || '00000000')
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
                      SUBSTRING(CAST("t2"."zoned" AS VARCHAR) || '' || '00000000' FROM CASE
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
                        ) + 1 + LENGTH(CAST("t2"."zoned" AS VARCHAR) || '' || '00000000')
                      END FOR 29)
                    )
                  END FOR 26)
                )) = '.000000'
                THEN SUBSTRING(CAST("t2"."zoned" AS VARCHAR) FROM CASE
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
                  ) + 1 + LENGTH(CAST("t2"."zoned" AS VARCHAR))
                END FOR 19)
                ELSE SUBSTRING(SUBSTRING(CAST("t2"."zoned" AS VARCHAR) || '' || '00000000' FROM CASE
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
                  ) + 1 + LENGTH(CAST("t2"."zoned" AS VARCHAR) || '' || '00000000')
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
                    SUBSTRING(CAST("t2"."zoned" AS VARCHAR) || '' || '00000000' FROM CASE
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
                      ) + 1 + LENGTH(CAST("t2"."zoned" AS VARCHAR) || '' || '00000000')
                    END FOR 29)
                  )
                END FOR 26)
              END
              ELSE CAST("t2"."zoned" AS VARCHAR)
            END
            ELSE NULL
          END AS "label"
        FROM (
          SELECT
            "t1"."query",
            "t1"."user",
            "t1"."ts",
            "t1"."price",
            "t1"."country",
            "t1"."seen",
            TIMEZONE('UTC', "t1"."zoned") AS "zoned",
            "t1"."count",
            "t1"."share",
            "t1"."written",
            NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
          FROM (
            SELECT
              CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
              CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
              "t0"."ts",
              "t0"."price",
              CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
              "t0"."seen",
              "t0"."zoned",
              "t0"."count",
              "t0"."share",
              CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
              "t0"."amount"
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

-- users
SELECT
  *
FROM (
  SELECT
    "t6"."items",
    COUNT(*) AS "users"
  FROM (
    SELECT
      *
    FROM (
      SELECT
        "t4"."user",
        COUNT(*) AS "items"
      FROM (
        SELECT
          *
        FROM (
          SELECT
            "t2"."query" || '' || '' AS "label",
            "t2"."user" || '' || '' AS "user"
          FROM (
            SELECT
              "t1"."query",
              "t1"."user",
              "t1"."ts",
              "t1"."price",
              "t1"."country",
              "t1"."seen",
              TIMEZONE('UTC', "t1"."zoned") AS "zoned",
              "t1"."count",
              "t1"."share",
              "t1"."written",
              NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
            FROM (
              SELECT
                CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
                CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
                "t0"."ts",
                "t0"."price",
                CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
                "t0"."seen",
                "t0"."zoned",
                "t0"."count",
                "t0"."share",
                CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
                "t0"."amount"
              FROM "events" AS "t0"
            ) AS "t1"
          ) AS "t2"
        ) AS "t3"
        WHERE
          NOT (
            (
              "t3"."user" IS NULL
            ) OR (
              "t3"."label" IS NULL
            )
          )
      ) AS "t4"
      GROUP BY
        1
    ) AS "t5"
  ) AS "t6"
  GROUP BY
    1
) AS "t7";

-- rows left out
SELECT
  COUNT(*) AS "rows",
  COALESCE(SUM("t3"."missing"), 0) AS "missing"
FROM (
  SELECT
    CASE WHEN "t2"."user" IS NULL THEN 1 ELSE 0 END AS "missing"
  FROM (
    SELECT
      "t1"."query",
      "t1"."user",
      "t1"."ts",
      "t1"."price",
      "t1"."country",
      "t1"."seen",
      TIMEZONE('UTC', "t1"."zoned") AS "zoned",
      "t1"."count",
      "t1"."share",
      "t1"."written",
      NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
    FROM (
      SELECT
        CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
        CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
        "t0"."ts",
        "t0"."price",
        CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
        "t0"."seen",
        "t0"."zoned",
        "t0"."count",
        "t0"."share",
        CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
        "t0"."amount"
      FROM "events" AS "t0"
    ) AS "t1"
  ) AS "t2"
) AS "t3";

-- groups
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
            "t3"."group0",
            "t3"."group1",
            CASE
              WHEN "t3"."group0" IS NULL
              THEN '0'
              ELSE REPLACE(REPLACE("t3"."group0", '', '2'), '', '1')
            END || '' || CASE
              WHEN "t3"."group1" IS NULL
              THEN '0'
              ELSE REPLACE(REPLACE("t3"."group1", '', '2'), '', '1')
            END AS "group"
          FROM (
            SELECT
              "t2"."query" || '' || '' AS "label",
              "t2"."country" || '' || '' AS "group0",
              CASE
                WHEN (
                  CAST(EXTRACT(year FROM CASE
                    WHEN (
                      "t2"."zoned" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                    )
                    AND (
                      "t2"."zoned" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                    )
                    THEN "t2"."zoned"
                    ELSE NULL
                  END) AS BIGINT) >= 1
                )
                AND (
                  CAST(EXTRACT(year FROM CASE
                    WHEN (
                      "t2"."zoned" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                    )
                    AND (
                      "t2"."zoned" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                    )
                    THEN "t2"."zoned"
                    ELSE NULL
                  END) AS BIGINT) <= 9999
                )
                THEN SUBSTRING(TO_CHAR(
                  CASE
                    WHEN (
                      "t2"."zoned" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                    )
                    AND (
                      "t2"."zoned" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                    )
                    THEN "t2"."zoned"
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
                          "t2"."zoned" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                        )
                        AND (
                          "t2"."zoned" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                        )
                        THEN "t2"."zoned"
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
                "t1"."query",
                "t1"."user",
                "t1"."ts",
                "t1"."price",
                "t1"."country",
                "t1"."seen",
                TIMEZONE('UTC', "t1"."zoned") AS "zoned",
                "t1"."count",
                "t1"."share",
                "t1"."written",
                NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
              FROM (
                SELECT
                  CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
                  CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
                  "t0"."ts",
                  "t0"."price",
                  CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
                  "t0"."seen",
                  "t0"."zoned",
                  "t0"."count",
                  "t0"."share",
                  CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
                  "t0"."amount"
                FROM "events" AS "t0"
              ) AS "t1"
            ) AS "t2"
          ) AS "t3"
          WHERE
            NOT (
              COALESCE("t3"."group0" IS NULL, FALSE) OR COALESCE("t3"."group1" IS NULL, FALSE)
            )
        ) AS "t4"
        WHERE
          CASE
            WHEN "t4"."group" IS NULL
            THEN NULL
            ELSE "t4"."group" IN ('de2026-11-01', 'f1r2026-11-02')
          END
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

-- groups, five items of each user
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
        COALESCE(SUM("t11"."times"), 0) AS "count"
      FROM (
        SELECT
          "t10"."label",
          "t10"."group",
          "t10"."times"
        FROM (
          SELECT
            "t9"."user",
            "t9"."group",
            "t9"."label",
            "t9"."items",
            "t9"."group_bytes",
            "t9"."label_bytes",
            "t9"."last",
            "t9"."total",
            "t9"."hash",
            "t9"."start",
            CASE
              WHEN "t9"."total" <= 5
              THEN "t9"."items"
              WHEN "t9"."total" <= 922337203685477580
              THEN INT8DIV((
                "t9"."last" * 5
              ) + (
                "t9"."start" % "t9"."total"
              ), "t9"."total") - INT8DIV(
                (
                  (
                    "t9"."last" - "t9"."items"
                  ) * 5
                ) + (
                  "t9"."start" % "t9"."total"
                ),
                "t9"."total"
              )
              ELSE 0
            END AS "times"
          FROM (
            SELECT
              "t8"."user",
              "t8"."group",
              "t8"."label",
              "t8"."items",
              "t8"."group_bytes",
              "t8"."label_bytes",
              "t8"."last",
              "t8"."total",
              "t8"."hash",
              MAX(
                (
                  INT8(
                    GET_BYTE(
                      DECODE(
                        SUBSTRING("t8"."hash" FROM CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t8"."hash") END FOR 12),
                        'hex'
                      ),
                      0
                    )
                  ) * 1099511627776
                ) + (
                  INT8(
                    GET_BYTE(
                      DECODE(
                        SUBSTRING("t8"."hash" FROM CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t8"."hash") END FOR 12),
                        'hex'
                      ),
                      1
                    )
                  ) * 4294967296
                ) + (
                  INT8(
                    GET_BYTE(
                      DECODE(
                        SUBSTRING("t8"."hash" FROM CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t8"."hash") END FOR 12),
                        'hex'
                      ),
                      2
                    )
                  ) * 16777216
                ) + (
                  INT8(
                    GET_BYTE(
                      DECODE(
                        SUBSTRING("t8"."hash" FROM CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t8"."hash") END FOR 12),
                        'hex'
                      ),
                      3
                    )
                  ) * 65536
                ) + (
                  INT8(
                    GET_BYTE(
                      DECODE(
                        SUBSTRING("t8"."hash" FROM CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t8"."hash") END FOR 12),
                        'hex'
                      ),
                      4
                    )
                  ) * 256
                ) + (
                  INT8(
                    GET_BYTE(
                      DECODE(
                        SUBSTRING("t8"."hash" FROM CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t8"."hash") END FOR 12),
                        'hex'
                      ),
                      5
                    )
                  ) * 1
                )
              ) OVER (
                PARTITION BY "t8"."user"
                ORDER BY "t8"."group_bytes" ASC NULLS FIRST, "t8"."label_bytes" ASC NULLS FIRST
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              ) AS "start"
            FROM (
              SELECT
                "t7"."user",
                "t7"."group",
                "t7"."label",
                "t7"."items",
                "t7"."group_bytes",
                "t7"."label_bytes",
                "t7"."last",
                "t7"."total",
                CASE
                  WHEN (
                    "t7"."total" > 5
                  ) AND (
                    "t7"."last" = "t7"."items"
                  )
                  THEN MD5('0123456789abcdef0123456789abcdef ' || "t7"."user")
                  ELSE NULL
                END AS "hash"
              FROM (
                SELECT
                  "t6"."user",
                  "t6"."group",
                  "t6"."label",
                  "t6"."items",
                  "t6"."group_bytes",
                  "t6"."label_bytes",
                  INT8(
                    SUM("t6"."items") OVER (
                      PARTITION BY "t6"."user"
                      ORDER BY "t6"."group_bytes" ASC NULLS FIRST, "t6"."label_bytes" ASC NULLS FIRST
                      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                    )
                  ) AS "last",
                  INT8(
                    SUM("t6"."items") OVER (PARTITION BY "t6"."user" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
                  ) AS "total"
                FROM (
                  SELECT
                    "t5"."user",
                    "t5"."group",
                    "t5"."label",
                    "t5"."items",
                    CONVERT_TO("t5"."group", 'UTF8') AS "group_bytes",
                    CONVERT_TO("t5"."label", 'UTF8') AS "label_bytes"
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
                          "t2"."query" || '' || '' AS "label",
                          "t2"."user" || '' || '' AS "user",
                          1 AS "one",
                          "t2"."country" || '' || '' AS "group"
                        FROM (
                          SELECT
                            "t1"."query",
                            "t1"."user",
                            "t1"."ts",
                            "t1"."price",
                            "t1"."country",
                            "t1"."seen",
                            TIMEZONE('UTC', "t1"."zoned") AS "zoned",
                            "t1"."count",
                            "t1"."share",
                            "t1"."written",
                            NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
                          FROM (
                            SELECT
                              CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
                              CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
                              "t0"."ts",
                              "t0"."price",
                              CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
                              "t0"."seen",
                              "t0"."zoned",
                              "t0"."count",
                              "t0"."share",
                              CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
                              "t0"."amount"
                            FROM "events" AS "t0"
                          ) AS "t1"
                        ) AS "t2"
                        WHERE
                          NOT (
                            (
                              (
                                "t2"."user" || '' || ''
                              ) IS NULL
                            )
                            OR (
                              (
                                "t2"."query" || '' || ''
                              ) IS NULL
                            )
                          )
                          AND CASE
                            WHEN (
                              "t2"."country" || '' || ''
                            ) IS NULL
                            THEN NULL
                            ELSE "t2"."country" || '' || '' IN ('de', 'fr')
                          END
                      ) AS "t3"
                      GROUP BY
                        1,
                        2,
                        3
                    ) AS "t4"
                  ) AS "t5"
                ) AS "t6"
              ) AS "t7"
            ) AS "t8"
          ) AS "t9"
        ) AS "t10"
        WHERE
          "t10"."times" > 0
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

-- groups, one of each user
SELECT
  "t17"."count",
  "t17"."is_null",
  "t17"."prevalence",
  "t17"."group"
FROM (
  SELECT
    "t16"."count",
    "t16"."is_null",
    "t16"."group",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t15"."count",
      "t15"."group",
      "t15"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t14"."label",
        "t14"."group",
        COALESCE(SUM("t14"."times"), 0) AS "count"
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
            "t12"."group_bytes",
            "t12"."label_bytes",
            "t12"."last",
            "t12"."total",
            "t12"."hash",
            "t12"."start",
            CASE
              WHEN "t12"."total" <= 5
              THEN "t12"."items"
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
              "t11"."group_bytes",
              "t11"."label_bytes",
              "t11"."last",
              "t11"."total",
              "t11"."hash",
              MAX(
                (
                  INT8(
                    GET_BYTE(
                      DECODE(
                        SUBSTRING("t11"."hash" FROM CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t11"."hash") END FOR 12),
                        'hex'
                      ),
                      0
                    )
                  ) * 1099511627776
                ) + (
                  INT8(
                    GET_BYTE(
                      DECODE(
                        SUBSTRING("t11"."hash" FROM CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t11"."hash") END FOR 12),
                        'hex'
                      ),
                      1
                    )
                  ) * 4294967296
                ) + (
                  INT8(
                    GET_BYTE(
                      DECODE(
                        SUBSTRING("t11"."hash" FROM CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t11"."hash") END FOR 12),
                        'hex'
                      ),
                      2
                    )
                  ) * 16777216
                ) + (
                  INT8(
                    GET_BYTE(
                      DECODE(
                        SUBSTRING("t11"."hash" FROM CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t11"."hash") END FOR 12),
                        'hex'
                      ),
                      3
                    )
                  ) * 65536
                ) + (
                  INT8(
                    GET_BYTE(
                      DECODE(
                        SUBSTRING("t11"."hash" FROM CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t11"."hash") END FOR 12),
                        'hex'
                      ),
                      4
                    )
                  ) * 256
                ) + (
                  INT8(
                    GET_BYTE(
                      DECODE(
                        SUBSTRING("t11"."hash" FROM CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t11"."hash") END FOR 12),
                        'hex'
                      ),
                      5
                    )
                  ) * 1
                )
              ) OVER (
                PARTITION BY "t11"."user", "t11"."group"
                ORDER BY "t11"."group_bytes" ASC NULLS FIRST, "t11"."label_bytes" ASC NULLS FIRST
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              ) AS "start"
            FROM (
              SELECT
                "t10"."user",
                "t10"."group",
                "t10"."label",
                "t10"."items",
                "t10"."group_bytes",
                "t10"."label_bytes",
                "t10"."last",
                "t10"."total",
                CASE
                  WHEN (
                    "t10"."total" > 5
                  ) AND (
                    "t10"."last" = "t10"."items"
                  )
                  THEN MD5(
                    '0123456789abcdef0123456789abcdef ' || "t10"."user" || '
' || "t10"."group"
                  )
                  ELSE NULL
                END AS "hash"
              FROM (
                SELECT
                  "t9"."user",
                  "t9"."group",
                  "t9"."label",
                  "t9"."items",
                  "t9"."group_bytes",
                  "t9"."label_bytes",
                  INT8(
                    SUM("t9"."items") OVER (
                      PARTITION BY "t9"."user", "t9"."group"
                      ORDER BY "t9"."group_bytes" ASC NULLS FIRST, "t9"."label_bytes" ASC NULLS FIRST
                      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                    )
                  ) AS "last",
                  INT8(
                    SUM("t9"."items") OVER (
                      PARTITION BY "t9"."user", "t9"."group"
                      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
                    )
                  ) AS "total"
                FROM (
                  SELECT
                    "t8"."user",
                    "t8"."group",
                    "t8"."label",
                    "t8"."items",
                    CONVERT_TO("t8"."group", 'UTF8') AS "group_bytes",
                    CONVERT_TO("t8"."label", 'UTF8') AS "label_bytes"
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
                                ORDER BY "t4"."hash" || "t4"."group" ASC
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
                              MD5(
                                '0123456789abcdef0123456789abcdef' || CAST("t3"."occurrence" AS VARCHAR) || ' ' || "t3"."user_name" || '
' || CASE WHEN "t3"."group" IS NULL THEN '' ELSE '=' || "t3"."group" END
                              ) AS "hash"
                            FROM (
                              SELECT
                                "t2"."query" || '' || '' AS "label",
                                "t2"."user" || '' || '' AS "user",
                                "t2"."user" || '' || '' AS "user_name",
                                1 AS "one",
                                "t2"."country" || '' || '' AS "group",
                                0 AS "occurrence"
                              FROM (
                                SELECT
                                  "t1"."query",
                                  "t1"."user",
                                  "t1"."ts",
                                  "t1"."price",
                                  "t1"."country",
                                  "t1"."seen",
                                  TIMEZONE('UTC', "t1"."zoned") AS "zoned",
                                  "t1"."count",
                                  "t1"."share",
                                  "t1"."written",
                                  NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
                                FROM (
                                  SELECT
                                    CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
                                    CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
                                    "t0"."ts",
                                    "t0"."price",
                                    CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
                                    "t0"."seen",
                                    "t0"."zoned",
                                    "t0"."count",
                                    "t0"."share",
                                    CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
                                    "t0"."amount"
                                  FROM "events" AS "t0"
                                ) AS "t1"
                              ) AS "t2"
                              WHERE
                                NOT (
                                  (
                                    (
                                      "t2"."user" || '' || ''
                                    ) IS NULL
                                  )
                                  OR (
                                    (
                                      "t2"."query" || '' || ''
                                    ) IS NULL
                                  )
                                )
                                AND CASE
                                  WHEN (
                                    "t2"."country" || '' || ''
                                  ) IS NULL
                                  THEN NULL
                                  ELSE "t2"."country" || '' || '' IN ('de', 'fr')
                                END
                            ) AS "t3"
                          ) AS "t4"
                        ) AS "t5"
                        WHERE
                          "t5"."group_rank" <= 1
                      ) AS "t6"
                      GROUP BY
                        1,
                        2,
                        3
                    ) AS "t7"
                  ) AS "t8"
                ) AS "t9"
              ) AS "t10"
            ) AS "t11"
          ) AS "t12"
        ) AS "t13"
        WHERE
          "t13"."times" > 0
      ) AS "t14"
      GROUP BY
        1,
        2
    ) AS "t15"
  ) AS "t16"
  GROUP BY
    1,
    2,
    3
) AS "t17";

-- groups, one of each label
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
        "t8"."count",
        "t8"."user_name",
        "t8"."occurrence",
        "t8"."hash",
        "t8"."one",
        CASE
          WHEN "t8"."one" IS NOT NULL
          THEN SUM("t8"."one") OVER (
            PARTITION BY "t8"."user_name", "t8"."occurrence"
            ORDER BY "t8"."hash" ASC NULLS FIRST, "t8"."group" ASC NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS "rank"
      FROM (
        SELECT
          "t7"."label",
          "t7"."group",
          "t7"."count",
          "t7"."user_name",
          "t7"."occurrence",
          "t7"."hash",
          1 AS "one"
        FROM (
          SELECT
            "t6"."label",
            "t6"."group",
            "t6"."count",
            "t6"."user_name",
            "t6"."occurrence",
            MD5(
              '0123456789abcdef0123456789abcdef' || CAST("t6"."occurrence" AS VARCHAR) || ' ' || "t6"."user_name" || '
' || CASE WHEN "t6"."group" IS NULL THEN '' ELSE '=' || "t6"."group" END
            ) AS "hash"
          FROM (
            SELECT
              "t5"."label",
              "t5"."group",
              "t5"."count",
              CASE WHEN "t5"."label" IS NULL THEN '' ELSE "t5"."label" END AS "user_name",
              CASE WHEN "t5"."label" IS NULL THEN 0 ELSE 1 END AS "occurrence"
            FROM (
              SELECT
                "t4"."label",
                "t4"."group",
                COUNT(*) AS "count"
              FROM (
                SELECT
                  "t3"."label",
                  "t3"."group0" AS "group"
                FROM (
                  SELECT
                    "t2"."query" || '' || '' AS "label",
                    "t2"."country" || '' || '' AS "group0"
                  FROM (
                    SELECT
                      "t1"."query",
                      "t1"."user",
                      "t1"."ts",
                      "t1"."price",
                      "t1"."country",
                      "t1"."seen",
                      TIMEZONE('UTC', "t1"."zoned") AS "zoned",
                      "t1"."count",
                      "t1"."share",
                      "t1"."written",
                      NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
                    FROM (
                      SELECT
                        CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
                        CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
                        "t0"."ts",
                        "t0"."price",
                        CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
                        "t0"."seen",
                        "t0"."zoned",
                        "t0"."count",
                        "t0"."share",
                        CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
                        "t0"."amount"
                      FROM "events" AS "t0"
                    ) AS "t1"
                  ) AS "t2"
                ) AS "t3"
                WHERE
                  CASE WHEN "t3"."group0" IS NULL THEN NULL ELSE "t3"."group0" IN ('de', 'fr') END
              ) AS "t4"
              GROUP BY
                1,
                2
            ) AS "t5"
          ) AS "t6"
        ) AS "t7"
      ) AS "t8"
    ) AS "t9"
    WHERE
      "t9"."rank" <= 1
  ) AS "t10"
  GROUP BY
    1,
    2,
    3
) AS "t11";

-- windows of days, five items of each user
SELECT
  *
FROM (
  SELECT
    "t16"."at_day",
    MIN("t16"."named") AS "named",
    COALESCE(SUM("t16"."reached0"), 0) AS "reached0",
    COALESCE(SUM("t16"."reached1"), 0) AS "reached1"
  FROM (
    SELECT
      "t15"."at_day",
      "t15"."named",
      CASE
        WHEN (
          "t15"."after" >= 1
        ) AND (
          (
            "t15"."after" - "t15"."count"
          ) < 1
        )
        THEN 1
        ELSE 0
      END AS "reached0",
      CASE
        WHEN (
          "t15"."after" >= 2
        ) AND (
          (
            "t15"."after" - "t15"."count"
          ) < 2
        )
        THEN 1
        ELSE 0
      END AS "reached1"
    FROM (
      SELECT
        "t14"."label",
        "t14"."at_day",
        "t14"."count",
        "t14"."known",
        "t14"."named",
        CASE
          WHEN "t14"."count" IS NOT NULL
          THEN SUM("t14"."count") OVER (
            PARTITION BY "t14"."known"
            ORDER BY "t14"."at_day" ASC NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS "after"
      FROM (
        SELECT
          "t13"."label",
          "t13"."at_day",
          "t13"."count",
          "t13"."label" AS "known",
          1 AS "named"
        FROM (
          SELECT
            "t12"."label",
            "t12"."at_day",
            COALESCE(SUM("t12"."times"), 0) AS "count"
          FROM (
            SELECT
              "t11"."label",
              "t11"."at_day",
              "t11"."times"
            FROM (
              SELECT
                "t10"."user",
                "t10"."at_day",
                "t10"."label",
                "t10"."items",
                "t10"."at_day_bytes",
                "t10"."label_bytes",
                "t10"."last",
                "t10"."total",
                "t10"."hash",
                "t10"."start",
                CASE
                  WHEN "t10"."total" <= 5
                  THEN "t10"."items"
                  WHEN "t10"."total" <= 922337203685477580
                  THEN INT8DIV((
                    "t10"."last" * 5
                  ) + (
                    "t10"."start" % "t10"."total"
                  ), "t10"."total") - INT8DIV(
                    (
                      (
                        "t10"."last" - "t10"."items"
                      ) * 5
                    ) + (
                      "t10"."start" % "t10"."total"
                    ),
                    "t10"."total"
                  )
                  ELSE 0
                END AS "times"
              FROM (
                SELECT
                  "t9"."user",
                  "t9"."at_day",
                  "t9"."label",
                  "t9"."items",
                  "t9"."at_day_bytes",
                  "t9"."label_bytes",
                  "t9"."last",
                  "t9"."total",
                  "t9"."hash",
                  MAX(
                    (
                      INT8(
                        GET_BYTE(
                          DECODE(
                            SUBSTRING("t9"."hash" FROM CASE WHEN (
                              0 + 1
                            ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t9"."hash") END FOR 12),
                            'hex'
                          ),
                          0
                        )
                      ) * 1099511627776
                    ) + (
                      INT8(
                        GET_BYTE(
                          DECODE(
                            SUBSTRING("t9"."hash" FROM CASE WHEN (
                              0 + 1
                            ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t9"."hash") END FOR 12),
                            'hex'
                          ),
                          1
                        )
                      ) * 4294967296
                    ) + (
                      INT8(
                        GET_BYTE(
                          DECODE(
                            SUBSTRING("t9"."hash" FROM CASE WHEN (
                              0 + 1
                            ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t9"."hash") END FOR 12),
                            'hex'
                          ),
                          2
                        )
                      ) * 16777216
                    ) + (
                      INT8(
                        GET_BYTE(
                          DECODE(
                            SUBSTRING("t9"."hash" FROM CASE WHEN (
                              0 + 1
                            ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t9"."hash") END FOR 12),
                            'hex'
                          ),
                          3
                        )
                      ) * 65536
                    ) + (
                      INT8(
                        GET_BYTE(
                          DECODE(
                            SUBSTRING("t9"."hash" FROM CASE WHEN (
                              0 + 1
                            ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t9"."hash") END FOR 12),
                            'hex'
                          ),
                          4
                        )
                      ) * 256
                    ) + (
                      INT8(
                        GET_BYTE(
                          DECODE(
                            SUBSTRING("t9"."hash" FROM CASE WHEN (
                              0 + 1
                            ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t9"."hash") END FOR 12),
                            'hex'
                          ),
                          5
                        )
                      ) * 1
                    )
                  ) OVER (
                    PARTITION BY "t9"."user"
                    ORDER BY "t9"."at_day_bytes" ASC NULLS FIRST, "t9"."label_bytes" ASC NULLS FIRST
                    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                  ) AS "start"
                FROM (
                  SELECT
                    "t8"."user",
                    "t8"."at_day",
                    "t8"."label",
                    "t8"."items",
                    "t8"."at_day_bytes",
                    "t8"."label_bytes",
                    "t8"."last",
                    "t8"."total",
                    CASE
                      WHEN (
                        "t8"."total" > 5
                      ) AND (
                        "t8"."last" = "t8"."items"
                      )
                      THEN MD5('0123456789abcdef0123456789abcdef ' || "t8"."user")
                      ELSE NULL
                    END AS "hash"
                  FROM (
                    SELECT
                      "t7"."user",
                      "t7"."at_day",
                      "t7"."label",
                      "t7"."items",
                      "t7"."at_day_bytes",
                      "t7"."label_bytes",
                      INT8(
                        SUM("t7"."items") OVER (
                          PARTITION BY "t7"."user"
                          ORDER BY "t7"."at_day_bytes" ASC NULLS FIRST, "t7"."label_bytes" ASC NULLS FIRST
                          ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                        )
                      ) AS "last",
                      INT8(
                        SUM("t7"."items") OVER (PARTITION BY "t7"."user" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
                      ) AS "total"
                    FROM (
                      SELECT
                        "t6"."user",
                        "t6"."at_day",
                        "t6"."label",
                        "t6"."items",
                        CONVERT_TO("t6"."at_day", 'UTF8') AS "at_day_bytes",
                        CONVERT_TO("t6"."label", 'UTF8') AS "label_bytes"
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
                              "t3"."label",
                              "t3"."at_day",
                              "t3"."user",
                              "t3"."one"
                            FROM (
                              SELECT
                                "t2"."query" || '' || '' AS "label",
                                CASE
                                  WHEN (
                                    CAST(EXTRACT(year FROM CASE
                                      WHEN (
                                        "t2"."seen" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                                      )
                                      AND (
                                        "t2"."seen" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                                      )
                                      THEN "t2"."seen"
                                      ELSE NULL
                                    END) AS BIGINT) >= 1
                                  )
                                  AND (
                                    CAST(EXTRACT(year FROM CASE
                                      WHEN (
                                        "t2"."seen" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                                      )
                                      AND (
                                        "t2"."seen" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                                      )
                                      THEN "t2"."seen"
                                      ELSE NULL
                                    END) AS BIGINT) <= 9999
                                  )
                                  THEN SUBSTRING(TO_CHAR(
                                    CASE
                                      WHEN (
                                        "t2"."seen" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                                      )
                                      AND (
                                        "t2"."seen" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                                      )
                                      THEN "t2"."seen"
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
                                            "t2"."seen" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                                          )
                                          AND (
                                            "t2"."seen" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                                          )
                                          THEN "t2"."seen"
                                          ELSE NULL
                                        END,
                                        'YYYY-MM-DD'
                                      )
                                    )
                                  END FOR 10)
                                  ELSE NULL
                                END AS "at_day",
                                "t2"."user" || '' || '' AS "user",
                                "t2"."user" || '' || '' AS "user_name",
                                1 AS "one"
                              FROM (
                                SELECT
                                  "t1"."query",
                                  "t1"."user",
                                  "t1"."ts",
                                  "t1"."price",
                                  "t1"."country",
                                  "t1"."seen",
                                  TIMEZONE('UTC', "t1"."zoned") AS "zoned",
                                  "t1"."count",
                                  "t1"."share",
                                  "t1"."written",
                                  NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
                                FROM (
                                  SELECT
                                    CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
                                    CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
                                    "t0"."ts",
                                    "t0"."price",
                                    CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
                                    "t0"."seen",
                                    "t0"."zoned",
                                    "t0"."count",
                                    "t0"."share",
                                    CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
                                    "t0"."amount"
                                  FROM "events" AS "t0"
                                ) AS "t1"
                              ) AS "t2"
                            ) AS "t3"
                            WHERE
                              NOT (
                                (
                                  "t3"."user" IS NULL
                                ) OR (
                                  "t3"."label" IS NULL
                                )
                              )
                              AND CASE
                                WHEN "t3"."at_day" IS NULL
                                THEN NULL
                                ELSE "t3"."at_day" IN ('2026-11-01', '2026-11-02')
                              END
                          ) AS "t4"
                          GROUP BY
                            1,
                            2,
                            3
                        ) AS "t5"
                      ) AS "t6"
                    ) AS "t7"
                  ) AS "t8"
                ) AS "t9"
              ) AS "t10"
            ) AS "t11"
            WHERE
              "t11"."times" > 0
          ) AS "t12"
          GROUP BY
            1,
            2
        ) AS "t13"
      ) AS "t14"
    ) AS "t15"
  ) AS "t16"
  GROUP BY
    1
) AS "t17";

-- windows of weeks
SELECT
  *
FROM (
  SELECT
    "t8"."at_day",
    MIN("t8"."named") AS "named",
    COALESCE(SUM("t8"."reached0"), 0) AS "reached0",
    COALESCE(SUM("t8"."reached1"), 0) AS "reached1"
  FROM (
    SELECT
      "t7"."at_day",
      "t7"."named",
      CASE
        WHEN (
          "t7"."after" >= 1
        ) AND (
          (
            "t7"."after" - "t7"."count"
          ) < 1
        )
        THEN 1
        ELSE 0
      END AS "reached0",
      CASE
        WHEN (
          "t7"."after" >= 2
        ) AND (
          (
            "t7"."after" - "t7"."count"
          ) < 2
        )
        THEN 1
        ELSE 0
      END AS "reached1"
    FROM (
      SELECT
        "t6"."label",
        "t6"."at_day",
        "t6"."count",
        "t6"."known",
        "t6"."named",
        CASE
          WHEN "t6"."count" IS NOT NULL
          THEN SUM("t6"."count") OVER (
            PARTITION BY "t6"."known"
            ORDER BY "t6"."at_day" ASC NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS "after"
      FROM (
        SELECT
          "t5"."label",
          "t5"."at_day",
          "t5"."count",
          "t5"."label" AS "known",
          1 AS "named"
        FROM (
          SELECT
            "t4"."label",
            "t4"."at_day",
            COUNT(*) AS "count"
          FROM (
            SELECT
              *
            FROM (
              SELECT
                "t2"."query" || '' || '' AS "label",
                CASE
                  WHEN CAST(EXTRACT(epoch FROM CAST(DATE(
                    CASE
                      WHEN (
                        "t2"."zoned" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                      )
                      AND (
                        "t2"."zoned" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                      )
                      THEN "t2"."zoned"
                      ELSE NULL
                    END
                  ) AS TIMESTAMP) - CAST(MAKE_DATE(CAST(1970 AS INT), CAST(1 AS INT), CAST(1 AS INT)) AS TIMESTAMP)) / 86400 AS BIGINT) + 719162 BETWEEN 0 AND 3652058
                  THEN LPAD(
                    CAST(CAST(FLOOR(
                      CAST((
                        CAST(EXTRACT(epoch FROM CAST(DATE(
                          CASE
                            WHEN (
                              "t2"."zoned" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                            )
                            AND (
                              "t2"."zoned" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                            )
                            THEN "t2"."zoned"
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
                                  "t2"."zoned" >= CAST('0001-01-01T00:00:00' AS TIMESTAMP)
                                )
                                AND (
                                  "t2"."zoned" <= CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
                                )
                                THEN "t2"."zoned"
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
                  "t1"."query",
                  "t1"."user",
                  "t1"."ts",
                  "t1"."price",
                  "t1"."country",
                  "t1"."seen",
                  TIMEZONE('UTC', "t1"."zoned") AS "zoned",
                  "t1"."count",
                  "t1"."share",
                  "t1"."written",
                  NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
                FROM (
                  SELECT
                    CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
                    CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
                    "t0"."ts",
                    "t0"."price",
                    CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
                    "t0"."seen",
                    "t0"."zoned",
                    "t0"."count",
                    "t0"."share",
                    CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
                    "t0"."amount"
                  FROM "events" AS "t0"
                ) AS "t1"
              ) AS "t2"
            ) AS "t3"
            WHERE
              CASE
                WHEN "t3"."at_day" IS NULL
                THEN NULL
                ELSE "t3"."at_day" IN ('105702', '105703')
              END
              AND NOT (
                "t3"."label" IS NULL
              )
          ) AS "t4"
          GROUP BY
            1,
            2
        ) AS "t5"
      ) AS "t6"
    ) AS "t7"
  ) AS "t8"
  GROUP BY
    1
) AS "t9";

-- counts
SELECT
  *
FROM (
  SELECT
    "t6"."count",
    "t6"."is_null",
    COUNT(*) AS "prevalence",
    COALESCE(SUM("t6"."wrong"), 0) AS "wrong",
    MAX("t6"."size") AS "size"
  FROM (
    SELECT
      "t5"."label",
      "t5"."count",
      "t5"."wrong",
      "t5"."size",
      "t5"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t4"."label",
        COALESCE(SUM("t4"."count"), 0) AS "count",
        COALESCE(SUM("t4"."wrong"), 0) AS "wrong",
        COALESCE(SUM("t4"."size"), 0) AS "size"
      FROM (
        SELECT
          "t3"."label",
          "t3"."count",
          "t3"."wrong",
          CASE
            WHEN 4294967296 <> 0
            THEN CAST(FLOOR(CAST((
              "t3"."count"
            ) AS DOUBLE PRECISION) / (
              4294967296
            )) AS BIGINT)
            ELSE NULL
          END AS "size"
        FROM (
          SELECT
            "t2"."query" || '' || '' AS "label",
            CASE
              WHEN NOT (
                "t2"."count" IS NULL
              )
              AND COALESCE((
                "t2"."count" >= 0
              ) AND (
                "t2"."count" <= 9223372036854775807
              ), FALSE)
              THEN "t2"."count"
              ELSE 0
            END AS "count",
            CASE
              WHEN NOT (
                NOT (
                  "t2"."count" IS NULL
                )
                AND COALESCE((
                  "t2"."count" >= 0
                ) AND (
                  "t2"."count" <= 9223372036854775807
                ), FALSE)
              )
              THEN 1
              ELSE 0
            END AS "wrong"
          FROM (
            SELECT
              "t1"."query",
              "t1"."user",
              "t1"."ts",
              "t1"."price",
              "t1"."country",
              "t1"."seen",
              TIMEZONE('UTC', "t1"."zoned") AS "zoned",
              "t1"."count",
              "t1"."share",
              "t1"."written",
              NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
            FROM (
              SELECT
                CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
                CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
                "t0"."ts",
                "t0"."price",
                CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
                "t0"."seen",
                "t0"."zoned",
                "t0"."count",
                "t0"."share",
                CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
                "t0"."amount"
              FROM "events" AS "t0"
            ) AS "t1"
          ) AS "t2"
        ) AS "t3"
      ) AS "t4"
      GROUP BY
        1
    ) AS "t5"
    WHERE
      COALESCE("t5"."count" <> 0, FALSE)
      OR COALESCE("t5"."size" <> 0, FALSE)
      OR COALESCE("t5"."wrong" <> 0, FALSE)
  ) AS "t6"
  GROUP BY
    1,
    2
) AS "t7";

-- counts as text
SELECT
  *
FROM (
  SELECT
    "t6"."count",
    "t6"."is_null",
    COUNT(*) AS "prevalence",
    COALESCE(SUM("t6"."wrong"), 0) AS "wrong",
    MAX("t6"."size") AS "size"
  FROM (
    SELECT
      "t5"."label",
      "t5"."count",
      "t5"."wrong",
      "t5"."size",
      "t5"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t4"."label",
        COALESCE(SUM("t4"."count"), 0) AS "count",
        COALESCE(SUM("t4"."wrong"), 0) AS "wrong",
        COALESCE(SUM("t4"."size"), 0) AS "size"
      FROM (
        SELECT
          "t3"."label",
          "t3"."count",
          "t3"."wrong",
          CASE
            WHEN 4294967296 <> 0
            THEN CAST(FLOOR(CAST((
              "t3"."count"
            ) AS DOUBLE PRECISION) / (
              4294967296
            )) AS BIGINT)
            ELSE NULL
          END AS "size"
        FROM (
          SELECT
            "t2"."query" || '' || '' AS "label",
            CAST(CASE
              WHEN NOT (
                "t2"."written" IS NULL
              )
              AND COALESCE(
                "t2"."written" ~ '^ *0*[0-9]{1,18} *$'
                OR (
                  "t2"."written" ~ '^ *[1-9][0-9]{18} *$'
                  AND (
                    TRIM(' 	
' FROM "t2"."written") <= '9223372036854775807'
                  )
                ),
                FALSE
              )
              THEN TRIM(' 	
' FROM "t2"."written")
              ELSE '0'
            END AS BIGINT) AS "count",
            CASE
              WHEN NOT (
                NOT (
                  "t2"."written" IS NULL
                )
                AND COALESCE(
                  "t2"."written" ~ '^ *0*[0-9]{1,18} *$'
                  OR (
                    "t2"."written" ~ '^ *[1-9][0-9]{18} *$'
                    AND (
                      TRIM(' 	
' FROM "t2"."written") <= '9223372036854775807'
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
              "t1"."query",
              "t1"."user",
              "t1"."ts",
              "t1"."price",
              "t1"."country",
              "t1"."seen",
              TIMEZONE('UTC', "t1"."zoned") AS "zoned",
              "t1"."count",
              "t1"."share",
              "t1"."written",
              NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
            FROM (
              SELECT
                CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
                CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
                "t0"."ts",
                "t0"."price",
                CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
                "t0"."seen",
                "t0"."zoned",
                "t0"."count",
                "t0"."share",
                CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
                "t0"."amount"
              FROM "events" AS "t0"
            ) AS "t1"
          ) AS "t2"
        ) AS "t3"
      ) AS "t4"
      GROUP BY
        1
    ) AS "t5"
    WHERE
      COALESCE("t5"."count" <> 0, FALSE)
      OR COALESCE("t5"."size" <> 0, FALSE)
      OR COALESCE("t5"."wrong" <> 0, FALSE)
  ) AS "t6"
  GROUP BY
    1,
    2
) AS "t7";

-- events of some rows, by text
SELECT
  *
FROM (
  SELECT
    "t5"."count",
    "t5"."is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t4"."count",
      "t4"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t3"."label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t2"."query" || '' || '' AS "label"
        FROM (
          SELECT
            "t1"."query",
            "t1"."user",
            "t1"."ts",
            "t1"."price",
            "t1"."country",
            "t1"."seen",
            TIMEZONE('UTC', "t1"."zoned") AS "zoned",
            "t1"."count",
            "t1"."share",
            "t1"."written",
            NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
          FROM (
            SELECT
              CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
              CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
              "t0"."ts",
              "t0"."price",
              CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
              "t0"."seen",
              "t0"."zoned",
              "t0"."count",
              "t0"."share",
              CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
              "t0"."amount"
            FROM "events" AS "t0"
          ) AS "t1"
        ) AS "t2"
        WHERE
          NOT (
            "t2"."country" IS NULL
          )
          AND (
            (
              "t2"."country" || '' || '' = 'de'
            )
            OR (
              "t2"."country" || '' || '' = 'it''s'
            )
          )
          AND NOT (
            "t2"."query" IS NULL
          )
          AND "t2"."query" || '' || '' < 'ä'
      ) AS "t3"
      GROUP BY
        1
    ) AS "t4"
  ) AS "t5"
  GROUP BY
    1,
    2
) AS "t6";

-- events of some rows, by numbers
SELECT
  *
FROM (
  SELECT
    "t5"."count",
    "t5"."is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t4"."count",
      "t4"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t3"."label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t2"."query" || '' || '' AS "label"
        FROM (
          SELECT
            "t1"."query",
            "t1"."user",
            "t1"."ts",
            "t1"."price",
            "t1"."country",
            "t1"."seen",
            TIMEZONE('UTC', "t1"."zoned") AS "zoned",
            "t1"."count",
            "t1"."share",
            "t1"."written",
            NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
          FROM (
            SELECT
              CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
              CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
              "t0"."ts",
              "t0"."price",
              CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
              "t0"."seen",
              "t0"."zoned",
              "t0"."count",
              "t0"."share",
              CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
              "t0"."amount"
            FROM "events" AS "t0"
          ) AS "t1"
        ) AS "t2"
        WHERE
          NOT (
            (
              "t2"."price" IS NULL
            )
            OR CASE
              WHEN "t2"."price" IS NULL
              THEN NULL
              ELSE "t2"."price" = CAST('NaN' AS DOUBLE PRECISION)
            END
          )
          AND "t2"."price" <= 2.5
          AND NOT (
            "t2"."ts" IS NULL
          )
          AND "t2"."ts" > 7
          AND NOT (
            "t2"."ts" = 9223372036854775807
          )
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
  "t5"."count",
  "t5"."prevalence",
  "t5"."rows",
  "t5"."wrong_counts",
  "t5"."wrong",
  "t5"."size"
FROM (
  SELECT
    "t4"."count",
    COALESCE(SUM("t4"."prevalence"), 0) AS "prevalence",
    COALESCE(SUM("t4"."wrong_counts"), 0) AS "wrong_counts",
    COALESCE(SUM("t4"."wrong"), 0) AS "wrong",
    COALESCE(SUM("t4"."size"), 0) AS "size",
    COUNT(*) AS "rows"
  FROM (
    SELECT
      "t3"."count",
      "t3"."prevalence",
      "t3"."wrong_counts",
      "t3"."wrong",
      CASE
        WHEN 4294967296 <> 0
        THEN CAST(FLOOR(CAST((
          "t3"."prevalence"
        ) AS DOUBLE PRECISION) / (
          4294967296
        )) AS BIGINT)
        ELSE NULL
      END AS "size"
    FROM (
      SELECT
        CASE
          WHEN NOT (
            "t2"."count" IS NULL
          )
          AND COALESCE((
            "t2"."count" >= 0
          ) AND (
            "t2"."count" <= 9223372036854775807
          ), FALSE)
          THEN "t2"."count"
          ELSE 0
        END AS "count",
        CAST(CASE
          WHEN NOT (
            "t2"."share" IS NULL
          )
          AND COALESCE(
            CASE
              WHEN NOT (
                (
                  "t2"."share" IS NULL
                )
                OR CASE
                  WHEN "t2"."share" IS NULL
                  THEN NULL
                  ELSE "t2"."share" = CAST('NaN' AS DOUBLE PRECISION)
                END
              )
              AND (
                "t2"."share" >= 0
              )
              AND (
                "t2"."share" <= 9007199254740992
              )
              THEN "t2"."share"
              ELSE 0.5
            END = CAST(ROUND(
              CASE
                WHEN NOT (
                  (
                    "t2"."share" IS NULL
                  )
                  OR CASE
                    WHEN "t2"."share" IS NULL
                    THEN NULL
                    ELSE "t2"."share" = CAST('NaN' AS DOUBLE PRECISION)
                  END
                )
                AND (
                  "t2"."share" >= 0
                )
                AND (
                  "t2"."share" <= 9007199254740992
                )
                THEN "t2"."share"
                ELSE 0.5
              END
            ) AS BIGINT),
            FALSE
          )
          THEN "t2"."share"
          ELSE 0.0
        END AS BIGINT) AS "prevalence",
        CASE
          WHEN NOT (
            NOT (
              "t2"."count" IS NULL
            )
            AND COALESCE((
              "t2"."count" >= 0
            ) AND (
              "t2"."count" <= 9223372036854775807
            ), FALSE)
          )
          THEN 1
          ELSE 0
        END AS "wrong_counts",
        CASE
          WHEN NOT (
            NOT (
              "t2"."share" IS NULL
            )
            AND COALESCE(
              CASE
                WHEN NOT (
                  (
                    "t2"."share" IS NULL
                  )
                  OR CASE
                    WHEN "t2"."share" IS NULL
                    THEN NULL
                    ELSE "t2"."share" = CAST('NaN' AS DOUBLE PRECISION)
                  END
                )
                AND (
                  "t2"."share" >= 0
                )
                AND (
                  "t2"."share" <= 9007199254740992
                )
                THEN "t2"."share"
                ELSE 0.5
              END = CAST(ROUND(
                CASE
                  WHEN NOT (
                    (
                      "t2"."share" IS NULL
                    )
                    OR CASE
                      WHEN "t2"."share" IS NULL
                      THEN NULL
                      ELSE "t2"."share" = CAST('NaN' AS DOUBLE PRECISION)
                    END
                  )
                  AND (
                    "t2"."share" >= 0
                  )
                  AND (
                    "t2"."share" <= 9007199254740992
                  )
                  THEN "t2"."share"
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
          "t1"."query",
          "t1"."user",
          "t1"."ts",
          "t1"."price",
          "t1"."country",
          "t1"."seen",
          TIMEZONE('UTC', "t1"."zoned") AS "zoned",
          "t1"."count",
          "t1"."share",
          "t1"."written",
          NULLIF(CAST("t1"."amount" AS DECIMAL), CAST('NaN' AS DECIMAL)) AS "amount"
        FROM (
          SELECT
            CONVERT_FROM(CONVERT_TO("t0"."query" || '', 'UTF8'), 'UTF8') AS "query",
            CONVERT_FROM(CONVERT_TO("t0"."user" || '', 'UTF8'), 'UTF8') AS "user",
            "t0"."ts",
            "t0"."price",
            CONVERT_FROM(CONVERT_TO("t0"."country" || '', 'UTF8'), 'UTF8') AS "country",
            "t0"."seen",
            "t0"."zoned",
            "t0"."count",
            "t0"."share",
            CONVERT_FROM(CONVERT_TO("t0"."written" || '', 'UTF8'), 'UTF8') AS "written",
            "t0"."amount"
          FROM "events" AS "t0"
        ) AS "t1"
      ) AS "t2"
    ) AS "t3"
  ) AS "t4"
  GROUP BY
    1
) AS "t5";
