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
            CASE
              WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
              THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
              ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
            END AS "zoned",
            "t1"."count",
            "t1"."share",
            "t1"."written",
            "t1"."amount"
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
              DECODE(ENCODE("t0"."written" || '')) AS "written",
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
            CASE
              WHEN "t5"."total" > 5
              THEN MD5('0123456789abcdef0123456789abcdef ' || "t5"."user")
              ELSE NULL
            END AS "hash"
          FROM (
            SELECT
              "t4"."label",
              "t4"."user",
              "t4"."one",
              CASE
                WHEN "t4"."one" IS NOT NULL
                THEN SUM("t4"."one") OVER (
                  PARTITION BY "t4"."user"
                  ORDER BY "t4"."label" ASC NULLS FIRST
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                )
                ELSE NULL
              END AS "number",
              COALESCE(
                SUM("t4"."one") OVER (PARTITION BY "t4"."user" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
                0
              ) AS "total"
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
                    CASE
                      WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
                      THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
                      ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
                    END AS "zoned",
                    "t1"."count",
                    "t1"."share",
                    "t1"."written",
                    "t1"."amount"
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
                      DECODE(ENCODE("t0"."written" || '')) AS "written",
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
        WHERE
          (
            "t6"."total" <= 5
          )
          OR (
            (
              "t6"."total" <= 922337203685477580
            )
            AND (
              (
                (
                  (
                    (
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
                      ) + (
                        (
                          (
                            CAST('0x' || SUBSTRING(
                              "t6"."hash",
                              CASE WHEN (
                                0 + 1
                              ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t6"."hash") END,
                              12
                            ) AS BIGINT) % "t6"."total"
                          ) + "t6"."total"
                        ) % "t6"."total"
                      )
                    ) % "t6"."total"
                  ) + "t6"."total"
                ) % "t6"."total"
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
                '0123456789abcdef0123456789abcdef' || CAST("t4"."occurrence" AS TEXT) || ' ' || "t4"."user_name" || '
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
                  CASE WHEN NOT (
                    "t2"."ts" IS NULL
                  ) THEN CAST("t2"."ts" AS DOUBLE) ELSE NULL END AS "rank_by",
                  1 AS "one"
                FROM (
                  SELECT
                    "t1"."query",
                    "t1"."user",
                    "t1"."ts",
                    "t1"."price",
                    "t1"."country",
                    "t1"."seen",
                    CASE
                      WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
                      THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
                      ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
                    END AS "zoned",
                    "t1"."count",
                    "t1"."share",
                    "t1"."written",
                    "t1"."amount"
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
                      DECODE(ENCODE("t0"."written" || '')) AS "written",
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
                '0123456789abcdef0123456789abcdef' || CAST("t5"."occurrence" AS TEXT) || ' ' || "t5"."user_name" || '
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
                        OR CASE WHEN "t2"."price" IS NULL THEN NULL ELSE ISNAN("t2"."price") END
                      )
                      THEN CASE
                        WHEN COALESCE(
                          CASE
                            WHEN NOT (
                              (
                                "t2"."price" IS NULL
                              )
                              OR CASE WHEN "t2"."price" IS NULL THEN NULL ELSE ISNAN("t2"."price") END
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
                                OR CASE WHEN "t2"."price" IS NULL THEN NULL ELSE ISNAN("t2"."price") END
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
                            END,
                            0
                          ) AS BIGINT),
                          FALSE
                        )
                        THEN CAST(CAST(ROUND(
                          CASE
                            WHEN NOT (
                              (
                                "t2"."price" IS NULL
                              )
                              OR CASE WHEN "t2"."price" IS NULL THEN NULL ELSE ISNAN("t2"."price") END
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
                          END,
                          0
                        ) AS BIGINT) AS TEXT)
                        ELSE CAST("t2"."price" AS TEXT)
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
                        OR CASE WHEN "t2"."price" IS NULL THEN NULL ELSE ISNAN("t2"."price") END
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
                          OR CASE WHEN "t2"."price" IS NULL THEN NULL ELSE ISNAN("t2"."price") END
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
                      CASE
                        WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
                        THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
                        ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
                      END AS "zoned",
                      "t1"."count",
                      "t1"."share",
                      "t1"."written",
                      "t1"."amount"
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
                        DECODE(ENCODE("t0"."written" || '')) AS "written",
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
                '0123456789abcdef0123456789abcdef' || CAST("t5"."occurrence" AS TEXT) || ' ' || "t5"."user_name" || '
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
                        WHEN REGEXP_MATCHES(CAST("t2"."amount" AS TEXT), '\.[0-9]+$')
                        THEN REGEXP_REPLACE(CAST("t2"."amount" AS TEXT), '\.?0+$', '', 'g')
                        ELSE CAST("t2"."amount" AS TEXT)
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
                      CASE
                        WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
                        THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
                        ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
                      END AS "zoned",
                      "t1"."count",
                      "t1"."share",
                      "t1"."written",
                      "t1"."amount"
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
                        DECODE(ENCODE("t0"."written" || '')) AS "written",
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
              WHEN SUBSTRING(
                CAST("t2"."seen" AS TEXT),
                CASE
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
                  ) + 1 + LENGTH(CAST("t2"."seen" AS TEXT))
                END,
                1
              ) = '.'
              THEN CASE
                WHEN SUBSTRING(
                  SUBSTRING(
                    SUBSTRING(
                      CAST("t2"."seen" AS TEXT) || '' || '00000000',
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
                        ) + 1 + LENGTH(CAST("t2"."seen" AS TEXT) || '' || '00000000')
                      END,
                      29
                    ),
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
                      ) + 1 + LENGTH(
                        SUBSTRING(
                          CAST("t2"."seen" AS TEXT) || '' || '00000000',
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
                            ) + 1 + LENGTH(CAST("t2"."seen" AS TEXT) || '' || '00000000')
                          END,
                          29
                        )
                      )
                    END,
                    26
                  ),
                  CASE
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
                      SUBSTRING(
                        SUBSTRING(
                          CAST("t2"."seen" AS TEXT) || '' || '00000000',
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
                            ) + 1 + LENGTH(CAST("t2"."seen" AS TEXT) || '' || '00000000')
                          END,
                          29
                        ),
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
                          ) + 1 + LENGTH(
                            SUBSTRING(
                              CAST("t2"."seen" AS TEXT) || '' || '00000000',
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
                                ) + 1 + LENGTH(CAST("t2"."seen" AS TEXT) || '' || '00000000')
                              END,
                              29
                            )
                          )
                        END,
                        26
                      )
                    )
                  END,
                  LENGTH(
                    SUBSTRING(
                      SUBSTRING(
                        CAST("t2"."seen" AS TEXT) || '' || '00000000',
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
                          ) + 1 + LENGTH(CAST("t2"."seen" AS TEXT) || '' || '00000000')
                        END,
                        29
                      ),
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
                        ) + 1 + LENGTH(
                          SUBSTRING(
                            CAST("t2"."seen" AS TEXT) || '' || '00000000',
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
                              ) + 1 + LENGTH(CAST("t2"."seen" AS TEXT) || '' || '00000000')
                            END,
                            29
                          )
                        )
                      END,
                      26
                    )
                  )
                ) = '.000000'
                THEN SUBSTRING(
                  CAST("t2"."seen" AS TEXT),
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
                    ) + 1 + LENGTH(CAST("t2"."seen" AS TEXT))
                  END,
                  19
                )
                ELSE SUBSTRING(
                  SUBSTRING(
                    CAST("t2"."seen" AS TEXT) || '' || '00000000',
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
                      ) + 1 + LENGTH(CAST("t2"."seen" AS TEXT) || '' || '00000000')
                    END,
                    29
                  ),
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
                    ) + 1 + LENGTH(
                      SUBSTRING(
                        CAST("t2"."seen" AS TEXT) || '' || '00000000',
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
                          ) + 1 + LENGTH(CAST("t2"."seen" AS TEXT) || '' || '00000000')
                        END,
                        29
                      )
                    )
                  END,
                  26
                )
              END
              ELSE CAST("t2"."seen" AS TEXT)
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
            CASE
              WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
              THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
              ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
            END AS "zoned",
            "t1"."count",
            "t1"."share",
            "t1"."written",
            "t1"."amount"
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
              DECODE(ENCODE("t0"."written" || '')) AS "written",
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
              WHEN SUBSTRING(
                CAST("t2"."zoned" AS TEXT),
                CASE
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
                  ) + 1 + LENGTH(CAST("t2"."zoned" AS TEXT))
                END,
                1
              ) = '.'
              THEN CASE
                WHEN SUBSTRING(
                  SUBSTRING(
                    SUBSTRING(
                      CAST("t2"."zoned" AS TEXT) || '' || '00000000',
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
                        ) + 1 + LENGTH(CAST("t2"."zoned" AS TEXT) || '' || '00000000')
                      END,
                      29
                    ),
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
                      ) + 1 + LENGTH(
                        SUBSTRING(
                          CAST("t2"."zoned" AS TEXT) || '' || '00000000',
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
                            ) + 1 + LENGTH(CAST("t2"."zoned" AS TEXT) || '' || '00000000')
                          END,
                          29
                        )
                      )
                    END,
                    26
                  ),
                  CASE
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
                      SUBSTRING(
                        SUBSTRING(
                          CAST("t2"."zoned" AS TEXT) || '' || '00000000',
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
                            ) + 1 + LENGTH(CAST("t2"."zoned" AS TEXT) || '' || '00000000')
                          END,
                          29
                        ),
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
                          ) + 1 + LENGTH(
                            SUBSTRING(
                              CAST("t2"."zoned" AS TEXT) || '' || '00000000',
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
                                ) + 1 + LENGTH(CAST("t2"."zoned" AS TEXT) || '' || '00000000')
                              END,
                              29
                            )
                          )
                        END,
                        26
                      )
                    )
                  END,
                  LENGTH(
                    SUBSTRING(
                      SUBSTRING(
                        CAST("t2"."zoned" AS TEXT) || '' || '00000000',
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
                          ) + 1 + LENGTH(CAST("t2"."zoned" AS TEXT) || '' || '00000000')
                        END,
                        29
                      ),
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
                        ) + 1 + LENGTH(
                          SUBSTRING(
                            CAST("t2"."zoned" AS TEXT) || '' || '00000000',
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
                              ) + 1 + LENGTH(CAST("t2"."zoned" AS TEXT) || '' || '00000000')
                            END,
                            29
                          )
                        )
                      END,
                      26
                    )
                  )
                ) = '.000000'
                THEN SUBSTRING(
                  CAST("t2"."zoned" AS TEXT),
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
                    ) + 1 + LENGTH(CAST("t2"."zoned" AS TEXT))
                  END,
                  19
                )
                ELSE SUBSTRING(
                  SUBSTRING(
                    CAST("t2"."zoned" AS TEXT) || '' || '00000000',
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
                      ) + 1 + LENGTH(CAST("t2"."zoned" AS TEXT) || '' || '00000000')
                    END,
                    29
                  ),
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
                    ) + 1 + LENGTH(
                      SUBSTRING(
                        CAST("t2"."zoned" AS TEXT) || '' || '00000000',
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
                          ) + 1 + LENGTH(CAST("t2"."zoned" AS TEXT) || '' || '00000000')
                        END,
                        29
                      )
                    )
                  END,
                  26
                )
              END
              ELSE CAST("t2"."zoned" AS TEXT)
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
            CASE
              WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
              THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
              ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
            END AS "zoned",
            "t1"."count",
            "t1"."share",
            "t1"."written",
            "t1"."amount"
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
              DECODE(ENCODE("t0"."written" || '')) AS "written",
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
              CASE
                WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
                THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
                ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
              END AS "zoned",
              "t1"."count",
              "t1"."share",
              "t1"."written",
              "t1"."amount"
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
                DECODE(ENCODE("t0"."written" || '')) AS "written",
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
      CASE
        WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
        THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
        ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
      END AS "zoned",
      "t1"."count",
      "t1"."share",
      "t1"."written",
      "t1"."amount"
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
        DECODE(ENCODE("t0"."written" || '')) AS "written",
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
                  CAST(EXTRACT(year FROM "t2"."zoned") AS BIGINT) >= 1
                )
                AND (
                  CAST(EXTRACT(year FROM "t2"."zoned") AS BIGINT) <= 9999
                )
                THEN SUBSTRING(
                  STRFTIME("t2"."zoned", '%Y-%m-%d'),
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
                    ) + 1 + LENGTH(STRFTIME("t2"."zoned", '%Y-%m-%d'))
                  END,
                  10
                )
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
                CASE
                  WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
                  THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
                  ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
                END AS "zoned",
                "t1"."count",
                "t1"."share",
                "t1"."written",
                "t1"."amount"
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
                  DECODE(ENCODE("t0"."written" || '')) AS "written",
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
              "t3"."group",
              CASE
                WHEN "t3"."one" IS NOT NULL
                THEN SUM("t3"."one") OVER (
                  PARTITION BY "t3"."user"
                  ORDER BY "t3"."group" ASC NULLS FIRST, "t3"."label" ASC NULLS FIRST
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
                  CASE
                    WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
                    THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
                    ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
                  END AS "zoned",
                  "t1"."count",
                  "t1"."share",
                  "t1"."written",
                  "t1"."amount"
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
                    DECODE(ENCODE("t0"."written" || '')) AS "written",
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
  GROUP BY
    1,
    2,
    3
) AS "t9";

-- groups, one of each user
SELECT
  "t12"."count",
  "t12"."is_null",
  "t12"."prevalence",
  "t12"."group"
FROM (
  SELECT
    "t11"."count",
    "t11"."is_null",
    "t11"."group",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t10"."count",
      "t10"."group",
      "t10"."label" IS NULL AS "is_null"
    FROM (
      SELECT
        "t9"."label",
        "t9"."group",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t8"."label",
          "t8"."group"
        FROM (
          SELECT
            "t7"."label",
            "t7"."user",
            "t7"."one",
            "t7"."group",
            "t7"."number",
            "t7"."total",
            CASE
              WHEN "t7"."total" > 5
              THEN MD5(
                '0123456789abcdef0123456789abcdef ' || "t7"."user" || '
' || "t7"."group"
              )
              ELSE NULL
            END AS "hash"
          FROM (
            SELECT
              "t6"."label",
              "t6"."user",
              "t6"."one",
              "t6"."group",
              CASE
                WHEN "t6"."one" IS NOT NULL
                THEN SUM("t6"."one") OVER (
                  PARTITION BY "t6"."user", "t6"."group"
                  ORDER BY "t6"."group" ASC NULLS FIRST, "t6"."label" ASC NULLS FIRST
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
                      '0123456789abcdef0123456789abcdef' || CAST("t3"."occurrence" AS TEXT) || ' ' || "t3"."user_name" || '
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
                        CASE
                          WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
                          THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
                          ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
                        END AS "zoned",
                        "t1"."count",
                        "t1"."share",
                        "t1"."written",
                        "t1"."amount"
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
                          DECODE(ENCODE("t0"."written" || '')) AS "written",
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
          ) AS "t7"
        ) AS "t8"
        WHERE
          (
            "t8"."total" <= 5
          )
          OR (
            (
              "t8"."total" <= 922337203685477580
            )
            AND (
              (
                (
                  (
                    (
                      (
                        CASE
                          WHEN (
                            "t8"."total" > 5
                          ) AND (
                            "t8"."total" <= 922337203685477580
                          )
                          THEN "t8"."number"
                          ELSE 0
                        END * 5
                      ) + (
                        (
                          (
                            CAST('0x' || SUBSTRING(
                              "t8"."hash",
                              CASE WHEN (
                                0 + 1
                              ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t8"."hash") END,
                              12
                            ) AS BIGINT) % "t8"."total"
                          ) + "t8"."total"
                        ) % "t8"."total"
                      )
                    ) % "t8"."total"
                  ) + "t8"."total"
                ) % "t8"."total"
              ) < 5
            )
          )
      ) AS "t9"
      GROUP BY
        1,
        2
    ) AS "t10"
  ) AS "t11"
  GROUP BY
    1,
    2,
    3
) AS "t12";

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
              '0123456789abcdef0123456789abcdef' || CAST("t6"."occurrence" AS TEXT) || ' ' || "t6"."user_name" || '
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
                      CASE
                        WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
                        THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
                        ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
                      END AS "zoned",
                      "t1"."count",
                      "t1"."share",
                      "t1"."written",
                      "t1"."amount"
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
                        DECODE(ENCODE("t0"."written" || '')) AS "written",
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
            ORDER BY "t9"."at_day" ASC NULLS FIRST
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
                CASE
                  WHEN "t5"."total" > 5
                  THEN MD5('0123456789abcdef0123456789abcdef ' || "t5"."user")
                  ELSE NULL
                END AS "hash"
              FROM (
                SELECT
                  "t4"."label",
                  "t4"."at_day",
                  "t4"."user",
                  "t4"."one",
                  CASE
                    WHEN "t4"."one" IS NOT NULL
                    THEN SUM("t4"."one") OVER (
                      PARTITION BY "t4"."user"
                      ORDER BY "t4"."at_day" ASC NULLS FIRST, "t4"."label" ASC NULLS FIRST
                      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                    )
                    ELSE NULL
                  END AS "number",
                  COALESCE(
                    SUM("t4"."one") OVER (PARTITION BY "t4"."user" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
                    0
                  ) AS "total"
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
                          CAST(EXTRACT(year FROM "t2"."seen") AS BIGINT) >= 1
                        )
                        AND (
                          CAST(EXTRACT(year FROM "t2"."seen") AS BIGINT) <= 9999
                        )
                        THEN SUBSTRING(
                          STRFTIME("t2"."seen", '%Y-%m-%d'),
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
                            ) + 1 + LENGTH(STRFTIME("t2"."seen", '%Y-%m-%d'))
                          END,
                          10
                        )
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
                        CASE
                          WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
                          THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
                          ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
                        END AS "zoned",
                        "t1"."count",
                        "t1"."share",
                        "t1"."written",
                        "t1"."amount"
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
                          DECODE(ENCODE("t0"."written" || '')) AS "written",
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
                  (
                    (
                      (
                        (
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
                          ) + (
                            (
                              (
                                CAST('0x' || SUBSTRING(
                                  "t6"."hash",
                                  CASE WHEN (
                                    0 + 1
                                  ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t6"."hash") END,
                                  12
                                ) AS BIGINT) % "t6"."total"
                              ) + "t6"."total"
                            ) % "t6"."total"
                          )
                        ) % "t6"."total"
                      ) + "t6"."total"
                    ) % "t6"."total"
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
                  WHEN DATE_DIFF('DAY', MAKE_DATE(1970, 1, 1), CAST("t2"."zoned" AS DATE)) + 719162 BETWEEN 0 AND 3652058
                  THEN CASE
                    WHEN 6 <= LENGTH(
                      CAST(CAST(FLOOR(
                        (
                          DATE_DIFF('DAY', MAKE_DATE(1970, 1, 1), CAST("t2"."zoned" AS DATE)) + 719162
                        ) / (
                          7
                        )
                      ) AS BIGINT) AS TEXT)
                    )
                    THEN CAST(CAST(FLOOR(
                      (
                        DATE_DIFF('DAY', MAKE_DATE(1970, 1, 1), CAST("t2"."zoned" AS DATE)) + 719162
                      ) / (
                        7
                      )
                    ) AS BIGINT) AS TEXT)
                    ELSE REPEAT(
                      '0',
                      6 - LENGTH(
                        CAST(CAST(FLOOR(
                          (
                            DATE_DIFF('DAY', MAKE_DATE(1970, 1, 1), CAST("t2"."zoned" AS DATE)) + 719162
                          ) / (
                            7
                          )
                        ) AS BIGINT) AS TEXT)
                      )
                    ) || CAST(CAST(FLOOR(
                      (
                        DATE_DIFF('DAY', MAKE_DATE(1970, 1, 1), CAST("t2"."zoned" AS DATE)) + 719162
                      ) / (
                        7
                      )
                    ) AS BIGINT) AS TEXT)
                  END
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
                  CASE
                    WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
                    THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
                    ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
                  END AS "zoned",
                  "t1"."count",
                  "t1"."share",
                  "t1"."written",
                  "t1"."amount"
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
                    DECODE(ENCODE("t0"."written" || '')) AS "written",
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
            THEN CAST(FLOOR((
              "t3"."count"
            ) / (
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
              CASE
                WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
                THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
                ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
              END AS "zoned",
              "t1"."count",
              "t1"."share",
              "t1"."written",
              "t1"."amount"
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
                DECODE(ENCODE("t0"."written" || '')) AS "written",
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
            THEN CAST(FLOOR((
              "t3"."count"
            ) / (
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
                REGEXP_MATCHES("t2"."written", '^ *0*[0-9]{1,18} *$')
                OR (
                  REGEXP_MATCHES("t2"."written", '^ *[1-9][0-9]{18} *$')
                  AND (
                    TRIM("t2"."written", ' 	
') <= '9223372036854775807'
                  )
                ),
                FALSE
              )
              THEN TRIM("t2"."written", ' 	
')
              ELSE '0'
            END AS BIGINT) AS "count",
            CASE
              WHEN NOT (
                NOT (
                  "t2"."written" IS NULL
                )
                AND COALESCE(
                  REGEXP_MATCHES("t2"."written", '^ *0*[0-9]{1,18} *$')
                  OR (
                    REGEXP_MATCHES("t2"."written", '^ *[1-9][0-9]{18} *$')
                    AND (
                      TRIM("t2"."written", ' 	
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
              "t1"."query",
              "t1"."user",
              "t1"."ts",
              "t1"."price",
              "t1"."country",
              "t1"."seen",
              CASE
                WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
                THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
                ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
              END AS "zoned",
              "t1"."count",
              "t1"."share",
              "t1"."written",
              "t1"."amount"
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
                DECODE(ENCODE("t0"."written" || '')) AS "written",
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
            CASE
              WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
              THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
              ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
            END AS "zoned",
            "t1"."count",
            "t1"."share",
            "t1"."written",
            "t1"."amount"
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
              DECODE(ENCODE("t0"."written" || '')) AS "written",
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
            CASE
              WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
              THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
              ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
            END AS "zoned",
            "t1"."count",
            "t1"."share",
            "t1"."written",
            "t1"."amount"
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
              DECODE(ENCODE("t0"."written" || '')) AS "written",
              "t0"."amount"
            FROM "events" AS "t0"
          ) AS "t1"
        ) AS "t2"
        WHERE
          NOT (
            (
              "t2"."price" IS NULL
            )
            OR CASE WHEN "t2"."price" IS NULL THEN NULL ELSE ISNAN("t2"."price") END
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
        THEN CAST(FLOOR((
          "t3"."prevalence"
        ) / (
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
                OR CASE WHEN "t2"."share" IS NULL THEN NULL ELSE ISNAN("t2"."share") END
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
                  OR CASE WHEN "t2"."share" IS NULL THEN NULL ELSE ISNAN("t2"."share") END
                )
                AND (
                  "t2"."share" >= 0
                )
                AND (
                  "t2"."share" <= 9007199254740992
                )
                THEN "t2"."share"
                ELSE 0.5
              END,
              0
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
                  OR CASE WHEN "t2"."share" IS NULL THEN NULL ELSE ISNAN("t2"."share") END
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
                    OR CASE WHEN "t2"."share" IS NULL THEN NULL ELSE ISNAN("t2"."share") END
                  )
                  AND (
                    "t2"."share" >= 0
                  )
                  AND (
                    "t2"."share" <= 9007199254740992
                  )
                  THEN "t2"."share"
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
          "t1"."query",
          "t1"."user",
          "t1"."ts",
          "t1"."price",
          "t1"."country",
          "t1"."seen",
          CASE
            WHEN CAST("t1"."zoned" AS TEXT) IN ('infinity', '-infinity')
            THEN CAST(CAST("t1"."zoned" AS TEXT) AS TIMESTAMP)
            ELSE MAKE_TIMESTAMP(EPOCH_US("t1"."zoned"))
          END AS "zoned",
          "t1"."count",
          "t1"."share",
          "t1"."written",
          "t1"."amount"
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
            DECODE(ENCODE("t0"."written" || '')) AS "written",
            "t0"."amount"
          FROM "events" AS "t0"
        ) AS "t1"
      ) AS "t2"
    ) AS "t3"
  ) AS "t4"
  GROUP BY
    1
) AS "t5";
