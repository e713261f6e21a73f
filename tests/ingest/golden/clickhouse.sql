-- by ibis-framework 12.0.0 and sqlglot 30.29.0

-- events
SELECT
  *
FROM (
  SELECT
    "t4"."count" AS "count",
    "t4"."is_null" AS "is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t3"."count" AS "count",
      isNull("t3"."label") AS "is_null"
    FROM (
      SELECT
        "t2"."label" AS "label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          CONCAT("t1"."query", '', '') AS "label"
        FROM (
          SELECT
            "t0"."query" AS "query",
            "t0"."user" AS "user",
            "t0"."ts" AS "ts",
            "t0"."price" AS "price",
            "t0"."country" AS "country",
            "t0"."seen" AS "seen",
            toTimeZone("t0"."zoned", 'UTC') AS "zoned",
            "t0"."count" AS "count",
            "t0"."share" AS "share",
            "t0"."written" AS "written",
            "t0"."amount" AS "amount"
          FROM "events" AS "t0"
        ) AS "t1"
      ) AS "t2"
      GROUP BY
        "t2"."label"
    ) AS "t3"
  ) AS "t4"
  GROUP BY
    "t4"."count",
    "t4"."is_null"
) AS "t5";

-- events, five of each user
SELECT
  *
FROM (
  SELECT
    "t9"."count" AS "count",
    "t9"."is_null" AS "is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t8"."count" AS "count",
      isNull("t8"."label") AS "is_null"
    FROM (
      SELECT
        "t7"."label" AS "label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t6"."label" AS "label"
        FROM (
          SELECT
            "t5"."label" AS "label",
            "t5"."user" AS "user",
            "t5"."one" AS "one",
            "t5"."number" AS "number",
            "t5"."total" AS "total",
            "t5"."hash" AS "hash",
            reinterpretAsInt64(
              REVERSE(
                UNHEX(
                  SUBSTRING(
                    "t5"."hash",
                    CASE WHEN (
                      0 + 1
                    ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t5"."hash") END,
                    12
                  )
                )
              )
            ) AS "start"
          FROM (
            SELECT
              "t4"."label" AS "label",
              "t4"."user" AS "user",
              "t4"."one" AS "one",
              "t4"."number" AS "number",
              "t4"."total" AS "total",
              CASE
                WHEN "t4"."total" > 5
                THEN LOWER(HEX(MD5(CONCAT('0123456789abcdef0123456789abcdef ', "t4"."user"))))
                ELSE NULL
              END AS "hash"
            FROM (
              SELECT
                "t3"."label" AS "label",
                "t3"."user" AS "user",
                "t3"."one" AS "one",
                CASE
                  WHEN isNotNull("t3"."one")
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
                  "t2"."label" AS "label",
                  "t2"."user" AS "user",
                  "t2"."one" AS "one"
                FROM (
                  SELECT
                    CONCAT("t1"."query", '', '') AS "label",
                    CONCAT("t1"."user", '', '') AS "user",
                    CONCAT("t1"."user", '', '') AS "user_name",
                    1 AS "one"
                  FROM (
                    SELECT
                      "t0"."query" AS "query",
                      "t0"."user" AS "user",
                      "t0"."ts" AS "ts",
                      "t0"."price" AS "price",
                      "t0"."country" AS "country",
                      "t0"."seen" AS "seen",
                      toTimeZone("t0"."zoned", 'UTC') AS "zoned",
                      "t0"."count" AS "count",
                      "t0"."share" AS "share",
                      "t0"."written" AS "written",
                      "t0"."amount" AS "amount"
                    FROM "events" AS "t0"
                  ) AS "t1"
                ) AS "t2"
                WHERE
                  NOT (
                    isNull("t2"."user") OR isNull("t2"."label")
                  )
              ) AS "t3"
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
                            "t6"."start" % "t6"."total"
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
        "t7"."label"
    ) AS "t8"
  ) AS "t9"
  GROUP BY
    "t9"."count",
    "t9"."is_null"
) AS "t10";

-- events, the first five of each user
SELECT
  *
FROM (
  SELECT
    "t8"."count" AS "count",
    "t8"."is_null" AS "is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t7"."count" AS "count",
      isNull("t7"."label") AS "is_null"
    FROM (
      SELECT
        "t6"."label" AS "label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t5"."label" AS "label"
        FROM (
          SELECT
            "t4"."label" AS "label",
            "t4"."user" AS "user",
            "t4"."user_name" AS "user_name",
            "t4"."rank_by" AS "rank_by",
            "t4"."one" AS "one",
            "t4"."occurrence" AS "occurrence",
            "t4"."hash" AS "hash",
            CASE
              WHEN isNotNull("t4"."one")
              THEN SUM("t4"."one") OVER (
                PARTITION BY "t4"."user"
                ORDER BY "t4"."rank_by" ASC NULLS FIRST, "t4"."hash" ASC NULLS FIRST, "t4"."label" ASC NULLS FIRST
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              )
              ELSE NULL
            END AS "rank"
          FROM (
            SELECT
              "t3"."label" AS "label",
              "t3"."user" AS "user",
              "t3"."user_name" AS "user_name",
              "t3"."rank_by" AS "rank_by",
              "t3"."one" AS "one",
              "t3"."occurrence" AS "occurrence",
              LOWER(
                HEX(
                  MD5(
                    CONCAT(
                      CONCAT(
                        CONCAT(
                          CONCAT(
                            CONCAT('0123456789abcdef0123456789abcdef', CAST("t3"."occurrence" AS Nullable(String))),
                            ' '
                          ),
                          "t3"."user_name"
                        ),
                        '\n'
                      ),
                      CASE WHEN isNull("t3"."label") THEN '' ELSE CONCAT('=', "t3"."label") END
                    )
                  )
                )
              ) AS "hash"
            FROM (
              SELECT
                "t2"."label" AS "label",
                "t2"."user" AS "user",
                "t2"."user_name" AS "user_name",
                "t2"."rank_by" AS "rank_by",
                "t2"."one" AS "one",
                CASE
                  WHEN isNotNull("t2"."one")
                  THEN SUM("t2"."one") OVER (
                    PARTITION BY "t2"."user", "t2"."label"
                    ORDER BY "t2"."rank_by" ASC NULLS FIRST
                    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                  )
                  ELSE NULL
                END AS "occurrence"
              FROM (
                SELECT
                  CONCAT("t1"."query", '', '') AS "label",
                  CONCAT("t1"."user", '', '') AS "user",
                  CONCAT("t1"."user", '', '') AS "user_name",
                  CASE
                    WHEN NOT (
                      isNull("t1"."ts")
                    )
                    THEN CAST("t1"."ts" AS Nullable(Float64))
                    ELSE NULL
                  END AS "rank_by",
                  1 AS "one"
                FROM (
                  SELECT
                    "t0"."query" AS "query",
                    "t0"."user" AS "user",
                    "t0"."ts" AS "ts",
                    "t0"."price" AS "price",
                    "t0"."country" AS "country",
                    "t0"."seen" AS "seen",
                    toTimeZone("t0"."zoned", 'UTC') AS "zoned",
                    "t0"."count" AS "count",
                    "t0"."share" AS "share",
                    "t0"."written" AS "written",
                    "t0"."amount" AS "amount"
                  FROM "events" AS "t0"
                ) AS "t1"
                WHERE
                  NOT (
                    isNull(CONCAT("t1"."user", '', '')) OR isNull(CONCAT("t1"."query", '', ''))
                  )
              ) AS "t2"
            ) AS "t3"
          ) AS "t4"
        ) AS "t5"
        WHERE
          "t5"."rank" <= 5
      ) AS "t6"
      GROUP BY
        "t6"."label"
    ) AS "t7"
  ) AS "t8"
  GROUP BY
    "t8"."count",
    "t8"."is_null"
) AS "t9";

-- events, fractions and NaN
SELECT
  "t10"."count" AS "count",
  "t10"."is_null" AS "is_null",
  "t10"."prevalence" AS "prevalence",
  "t10"."named" AS "named"
FROM (
  SELECT
    "t9"."count" AS "count",
    "t9"."is_null" AS "is_null",
    "t9"."named" AS "named",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t8"."count" AS "count",
      "t8"."named" AS "named",
      isNull("t8"."label") AS "is_null"
    FROM (
      SELECT
        "t7"."label" AS "label",
        "t7"."named" AS "named",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t6"."label" AS "label",
          "t6"."named" AS "named"
        FROM (
          SELECT
            "t5"."label" AS "label",
            "t5"."user" AS "user",
            "t5"."user_name" AS "user_name",
            "t5"."rank_by" AS "rank_by",
            "t5"."named" AS "named",
            "t5"."one" AS "one",
            "t5"."occurrence" AS "occurrence",
            "t5"."hash" AS "hash",
            CASE
              WHEN isNotNull("t5"."one")
              THEN SUM("t5"."one") OVER (
                PARTITION BY "t5"."user"
                ORDER BY "t5"."rank_by" ASC NULLS FIRST, "t5"."named" ASC NULLS FIRST, "t5"."hash" ASC NULLS FIRST, "t5"."label" ASC NULLS FIRST
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              )
              ELSE NULL
            END AS "rank"
          FROM (
            SELECT
              "t4"."label" AS "label",
              "t4"."user" AS "user",
              "t4"."user_name" AS "user_name",
              "t4"."rank_by" AS "rank_by",
              "t4"."named" AS "named",
              "t4"."one" AS "one",
              "t4"."occurrence" AS "occurrence",
              LOWER(
                HEX(
                  MD5(
                    CONCAT(
                      CONCAT(
                        CONCAT(
                          CONCAT(
                            CONCAT('0123456789abcdef0123456789abcdef', CAST("t4"."occurrence" AS Nullable(String))),
                            ' '
                          ),
                          "t4"."user_name"
                        ),
                        '\n'
                      ),
                      CASE WHEN isNull("t4"."label") THEN '' ELSE CONCAT('=', "t4"."label") END
                    )
                  )
                )
              ) AS "hash"
            FROM (
              SELECT
                "t3"."label" AS "label",
                "t3"."user" AS "user",
                "t3"."user_name" AS "user_name",
                "t3"."rank_by" AS "rank_by",
                "t3"."named" AS "named",
                "t3"."one" AS "one",
                CASE
                  WHEN isNotNull("t3"."one")
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
                        isNull("t1"."price")
                        OR CASE WHEN isNull("t1"."price") THEN NULL ELSE isNaN("t1"."price") END
                      )
                      THEN CASE
                        WHEN COALESCE(
                          CASE
                            WHEN NOT (
                              isNull("t1"."price")
                              OR CASE WHEN isNull("t1"."price") THEN NULL ELSE isNaN("t1"."price") END
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
                                isNull("t1"."price")
                                OR CASE WHEN isNull("t1"."price") THEN NULL ELSE isNaN("t1"."price") END
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
                          ) AS Nullable(Int64)),
                          FALSE
                        )
                        THEN CAST(CAST(ROUND(
                          CASE
                            WHEN NOT (
                              isNull("t1"."price")
                              OR CASE WHEN isNull("t1"."price") THEN NULL ELSE isNaN("t1"."price") END
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
                        ) AS Nullable(Int64)) AS Nullable(String))
                        ELSE CAST("t1"."price" AS Nullable(String))
                      END
                      ELSE NULL
                    END AS "label",
                    CONCAT("t1"."user", '', '') AS "user",
                    CONCAT("t1"."user", '', '') AS "user_name",
                    CASE
                      WHEN NOT (
                        isNull("t1"."price")
                        OR CASE WHEN isNull("t1"."price") THEN NULL ELSE isNaN("t1"."price") END
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
                          isNull("t1"."price")
                          OR CASE WHEN isNull("t1"."price") THEN NULL ELSE isNaN("t1"."price") END
                        ),
                        FALSE
                      )
                      THEN 0
                      ELSE 1
                    END AS "named",
                    1 AS "one"
                  FROM (
                    SELECT
                      "t0"."query" AS "query",
                      "t0"."user" AS "user",
                      "t0"."ts" AS "ts",
                      "t0"."price" AS "price",
                      "t0"."country" AS "country",
                      "t0"."seen" AS "seen",
                      toTimeZone("t0"."zoned", 'UTC') AS "zoned",
                      "t0"."count" AS "count",
                      "t0"."share" AS "share",
                      "t0"."written" AS "written",
                      "t0"."amount" AS "amount"
                    FROM "events" AS "t0"
                  ) AS "t1"
                ) AS "t2"
                WHERE
                  NOT (
                    isNull("t2"."user") OR isNull("t2"."label")
                  )
              ) AS "t3"
            ) AS "t4"
          ) AS "t5"
        ) AS "t6"
        WHERE
          "t6"."rank" <= 5
      ) AS "t7"
      GROUP BY
        "t7"."label",
        "t7"."named"
    ) AS "t8"
  ) AS "t9"
  GROUP BY
    "t9"."count",
    "t9"."is_null",
    "t9"."named"
) AS "t10";

-- events, decimals
SELECT
  *
FROM (
  SELECT
    "t9"."count" AS "count",
    "t9"."is_null" AS "is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t8"."count" AS "count",
      isNull("t8"."label") AS "is_null"
    FROM (
      SELECT
        "t7"."label" AS "label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t6"."label" AS "label"
        FROM (
          SELECT
            "t5"."label" AS "label",
            "t5"."user" AS "user",
            "t5"."user_name" AS "user_name",
            "t5"."rank_by" AS "rank_by",
            "t5"."one" AS "one",
            "t5"."occurrence" AS "occurrence",
            "t5"."hash" AS "hash",
            CASE
              WHEN isNotNull("t5"."one")
              THEN SUM("t5"."one") OVER (
                PARTITION BY "t5"."user"
                ORDER BY "t5"."rank_by" ASC NULLS FIRST, "t5"."hash" ASC NULLS FIRST, "t5"."label" ASC NULLS FIRST
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              )
              ELSE NULL
            END AS "rank"
          FROM (
            SELECT
              "t4"."label" AS "label",
              "t4"."user" AS "user",
              "t4"."user_name" AS "user_name",
              "t4"."rank_by" AS "rank_by",
              "t4"."one" AS "one",
              "t4"."occurrence" AS "occurrence",
              LOWER(
                HEX(
                  MD5(
                    CONCAT(
                      CONCAT(
                        CONCAT(
                          CONCAT(
                            CONCAT('0123456789abcdef0123456789abcdef', CAST("t4"."occurrence" AS Nullable(String))),
                            ' '
                          ),
                          "t4"."user_name"
                        ),
                        '\n'
                      ),
                      CASE WHEN isNull("t4"."label") THEN '' ELSE CONCAT('=', "t4"."label") END
                    )
                  )
                )
              ) AS "hash"
            FROM (
              SELECT
                "t3"."label" AS "label",
                "t3"."user" AS "user",
                "t3"."user_name" AS "user_name",
                "t3"."rank_by" AS "rank_by",
                "t3"."one" AS "one",
                CASE
                  WHEN isNotNull("t3"."one")
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
                        isNull("t1"."amount")
                      )
                      THEN CASE
                        WHEN match(CAST("t1"."amount" AS Nullable(String)), '\\.[0-9]+$')
                        THEN replaceRegexpAll(CAST("t1"."amount" AS Nullable(String)), '\\.?0+$', '')
                        ELSE CAST("t1"."amount" AS Nullable(String))
                      END
                      ELSE NULL
                    END AS "label",
                    CONCAT("t1"."user", '', '') AS "user",
                    CONCAT("t1"."user", '', '') AS "user_name",
                    CASE WHEN NOT (
                      isNull("t1"."amount")
                    ) THEN "t1"."amount" ELSE NULL END AS "rank_by",
                    1 AS "one"
                  FROM (
                    SELECT
                      "t0"."query" AS "query",
                      "t0"."user" AS "user",
                      "t0"."ts" AS "ts",
                      "t0"."price" AS "price",
                      "t0"."country" AS "country",
                      "t0"."seen" AS "seen",
                      toTimeZone("t0"."zoned", 'UTC') AS "zoned",
                      "t0"."count" AS "count",
                      "t0"."share" AS "share",
                      "t0"."written" AS "written",
                      "t0"."amount" AS "amount"
                    FROM "events" AS "t0"
                  ) AS "t1"
                ) AS "t2"
                WHERE
                  NOT (
                    isNull("t2"."user") OR isNull("t2"."label")
                  )
              ) AS "t3"
            ) AS "t4"
          ) AS "t5"
        ) AS "t6"
        WHERE
          "t6"."rank" <= 5
      ) AS "t7"
      GROUP BY
        "t7"."label"
    ) AS "t8"
  ) AS "t9"
  GROUP BY
    "t9"."count",
    "t9"."is_null"
) AS "t10";

-- events, times
SELECT
  *
FROM (
  SELECT
    "t4"."count" AS "count",
    "t4"."is_null" AS "is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t3"."count" AS "count",
      isNull("t3"."label") AS "is_null"
    FROM (
      SELECT
        "t2"."label" AS "label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          CASE
            WHEN NOT (
              isNull("t1"."seen")
            )
            THEN CASE
              WHEN SUBSTRING(
                CAST("t1"."seen" AS Nullable(String)),
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
                  ) + 1 + LENGTH(CAST("t1"."seen" AS Nullable(String)))
                END,
                1
              ) = '.'
              THEN CASE
                WHEN SUBSTRING(
                  SUBSTRING(
                    SUBSTRING(
                      CONCAT(CAST("t1"."seen" AS Nullable(String)), '', '00000000'),
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
                        ) + 1 + LENGTH(CONCAT(CAST("t1"."seen" AS Nullable(String)), '', '00000000'))
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
                          CONCAT(CAST("t1"."seen" AS Nullable(String)), '', '00000000'),
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
                            ) + 1 + LENGTH(CONCAT(CAST("t1"."seen" AS Nullable(String)), '', '00000000'))
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
                          CONCAT(CAST("t1"."seen" AS Nullable(String)), '', '00000000'),
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
                            ) + 1 + LENGTH(CONCAT(CAST("t1"."seen" AS Nullable(String)), '', '00000000'))
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
                              CONCAT(CAST("t1"."seen" AS Nullable(String)), '', '00000000'),
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
                                ) + 1 + LENGTH(CONCAT(CAST("t1"."seen" AS Nullable(String)), '', '00000000'))
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
                        CONCAT(CAST("t1"."seen" AS Nullable(String)), '', '00000000'),
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
                          ) + 1 + LENGTH(CONCAT(CAST("t1"."seen" AS Nullable(String)), '', '00000000'))
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
                            CONCAT(CAST("t1"."seen" AS Nullable(String)), '', '00000000'),
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
                              ) + 1 + LENGTH(CONCAT(CAST("t1"."seen" AS Nullable(String)), '', '00000000'))
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
                  CAST("t1"."seen" AS Nullable(String)),
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
                    ) + 1 + LENGTH(CAST("t1"."seen" AS Nullable(String)))
                  END,
                  19
                )
                ELSE SUBSTRING(
                  SUBSTRING(
                    CONCAT(CAST("t1"."seen" AS Nullable(String)), '', '00000000'),
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
                      ) + 1 + LENGTH(CONCAT(CAST("t1"."seen" AS Nullable(String)), '', '00000000'))
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
                        CONCAT(CAST("t1"."seen" AS Nullable(String)), '', '00000000'),
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
                          ) + 1 + LENGTH(CONCAT(CAST("t1"."seen" AS Nullable(String)), '', '00000000'))
                        END,
                        29
                      )
                    )
                  END,
                  26
                )
              END
              ELSE CAST("t1"."seen" AS Nullable(String))
            END
            ELSE NULL
          END AS "label"
        FROM (
          SELECT
            "t0"."query" AS "query",
            "t0"."user" AS "user",
            "t0"."ts" AS "ts",
            "t0"."price" AS "price",
            "t0"."country" AS "country",
            "t0"."seen" AS "seen",
            toTimeZone("t0"."zoned", 'UTC') AS "zoned",
            "t0"."count" AS "count",
            "t0"."share" AS "share",
            "t0"."written" AS "written",
            "t0"."amount" AS "amount"
          FROM "events" AS "t0"
        ) AS "t1"
      ) AS "t2"
      GROUP BY
        "t2"."label"
    ) AS "t3"
  ) AS "t4"
  GROUP BY
    "t4"."count",
    "t4"."is_null"
) AS "t5";

-- events, times with a zone
SELECT
  *
FROM (
  SELECT
    "t4"."count" AS "count",
    "t4"."is_null" AS "is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t3"."count" AS "count",
      isNull("t3"."label") AS "is_null"
    FROM (
      SELECT
        "t2"."label" AS "label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          CASE
            WHEN NOT (
              isNull("t1"."zoned")
            )
            THEN CASE
              WHEN SUBSTRING(
                CAST("t1"."zoned" AS Nullable(String)),
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
                  ) + 1 + LENGTH(CAST("t1"."zoned" AS Nullable(String)))
                END,
                1
              ) = '.'
              THEN CASE
                WHEN SUBSTRING(
                  SUBSTRING(
                    SUBSTRING(
                      CONCAT(CAST("t1"."zoned" AS Nullable(String)), '', '00000000'),
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
                        ) + 1 + LENGTH(CONCAT(CAST("t1"."zoned" AS Nullable(String)), '', '00000000'))
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
                          CONCAT(CAST("t1"."zoned" AS Nullable(String)), '', '00000000'),
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
                            ) + 1 + LENGTH(CONCAT(CAST("t1"."zoned" AS Nullable(String)), '', '00000000'))
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
                          CONCAT(CAST("t1"."zoned" AS Nullable(String)), '', '00000000'),
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
                            ) + 1 + LENGTH(CONCAT(CAST("t1"."zoned" AS Nullable(String)), '', '00000000'))
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
                              CONCAT(CAST("t1"."zoned" AS Nullable(String)), '', '00000000'),
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
                                ) + 1 + LENGTH(CONCAT(CAST("t1"."zoned" AS Nullable(String)), '', '00000000'))
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
                        CONCAT(CAST("t1"."zoned" AS Nullable(String)), '', '00000000'),
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
                          ) + 1 + LENGTH(CONCAT(CAST("t1"."zoned" AS Nullable(String)), '', '00000000'))
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
                            CONCAT(CAST("t1"."zoned" AS Nullable(String)), '', '00000000'),
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
                              ) + 1 + LENGTH(CONCAT(CAST("t1"."zoned" AS Nullable(String)), '', '00000000'))
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
                  CAST("t1"."zoned" AS Nullable(String)),
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
                    ) + 1 + LENGTH(CAST("t1"."zoned" AS Nullable(String)))
                  END,
                  19
                )
                ELSE SUBSTRING(
                  SUBSTRING(
                    CONCAT(CAST("t1"."zoned" AS Nullable(String)), '', '00000000'),
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
                      ) + 1 + LENGTH(CONCAT(CAST("t1"."zoned" AS Nullable(String)), '', '00000000'))
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
                        CONCAT(CAST("t1"."zoned" AS Nullable(String)), '', '00000000'),
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
                          ) + 1 + LENGTH(CONCAT(CAST("t1"."zoned" AS Nullable(String)), '', '00000000'))
                        END,
                        29
                      )
                    )
                  END,
                  26
                )
              END
              ELSE CAST("t1"."zoned" AS Nullable(String))
            END
            ELSE NULL
          END AS "label"
        FROM (
          SELECT
            "t0"."query" AS "query",
            "t0"."user" AS "user",
            "t0"."ts" AS "ts",
            "t0"."price" AS "price",
            "t0"."country" AS "country",
            "t0"."seen" AS "seen",
            toTimeZone("t0"."zoned", 'UTC') AS "zoned",
            "t0"."count" AS "count",
            "t0"."share" AS "share",
            "t0"."written" AS "written",
            "t0"."amount" AS "amount"
          FROM "events" AS "t0"
        ) AS "t1"
      ) AS "t2"
      GROUP BY
        "t2"."label"
    ) AS "t3"
  ) AS "t4"
  GROUP BY
    "t4"."count",
    "t4"."is_null"
) AS "t5";

-- users
SELECT
  *
FROM (
  SELECT
    "t5"."items" AS "items",
    COUNT(*) AS "users"
  FROM (
    SELECT
      *
    FROM (
      SELECT
        "t3"."user" AS "user",
        COUNT(*) AS "items"
      FROM (
        SELECT
          *
        FROM (
          SELECT
            CONCAT("t1"."query", '', '') AS "label",
            CONCAT("t1"."user", '', '') AS "user"
          FROM (
            SELECT
              "t0"."query" AS "query",
              "t0"."user" AS "user",
              "t0"."ts" AS "ts",
              "t0"."price" AS "price",
              "t0"."country" AS "country",
              "t0"."seen" AS "seen",
              toTimeZone("t0"."zoned", 'UTC') AS "zoned",
              "t0"."count" AS "count",
              "t0"."share" AS "share",
              "t0"."written" AS "written",
              "t0"."amount" AS "amount"
            FROM "events" AS "t0"
          ) AS "t1"
        ) AS "t2"
        WHERE
          NOT (
            isNull("t2"."user") OR isNull("t2"."label")
          )
      ) AS "t3"
      GROUP BY
        "t3"."user"
    ) AS "t4"
  ) AS "t5"
  GROUP BY
    "t5"."items"
) AS "t6";

-- rows left out
SELECT
  COUNT(*) AS "rows",
  COALESCE(SUM("t2"."missing"), 0) AS "missing"
FROM (
  SELECT
    CASE WHEN isNull("t1"."user") THEN 1 ELSE 0 END AS "missing"
  FROM (
    SELECT
      "t0"."query" AS "query",
      "t0"."user" AS "user",
      "t0"."ts" AS "ts",
      "t0"."price" AS "price",
      "t0"."country" AS "country",
      "t0"."seen" AS "seen",
      toTimeZone("t0"."zoned", 'UTC') AS "zoned",
      "t0"."count" AS "count",
      "t0"."share" AS "share",
      "t0"."written" AS "written",
      "t0"."amount" AS "amount"
    FROM "events" AS "t0"
  ) AS "t1"
) AS "t2";

-- groups
SELECT
  "t7"."count" AS "count",
  "t7"."is_null" AS "is_null",
  "t7"."prevalence" AS "prevalence",
  "t7"."group" AS "group"
FROM (
  SELECT
    "t6"."count" AS "count",
    "t6"."is_null" AS "is_null",
    "t6"."group" AS "group",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t5"."count" AS "count",
      "t5"."group" AS "group",
      isNull("t5"."label") AS "is_null"
    FROM (
      SELECT
        "t4"."label" AS "label",
        "t4"."group" AS "group",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t3"."label" AS "label",
          "t3"."group" AS "group"
        FROM (
          SELECT
            "t2"."label" AS "label",
            "t2"."group0" AS "group0",
            "t2"."group1" AS "group1",
            CONCAT(
              CASE
                WHEN isNull("t2"."group0")
                THEN '\e0'
                ELSE replaceAll(replaceAll("t2"."group0", '\e', '\e2'), '\x1f', '\e1')
              END,
              '\x1f',
              CASE
                WHEN isNull("t2"."group1")
                THEN '\e0'
                ELSE replaceAll(replaceAll("t2"."group1", '\e', '\e2'), '\x1f', '\e1')
              END
            ) AS "group"
          FROM (
            SELECT
              CONCAT("t1"."query", '', '') AS "label",
              CONCAT("t1"."country", '', '') AS "group0",
              CASE
                WHEN (
                  CAST(toYear("t1"."zoned") AS Nullable(Int64)) >= 1
                )
                AND (
                  CAST(toYear("t1"."zoned") AS Nullable(Int64)) <= 9999
                )
                THEN SUBSTRING(
                  formatDateTime("t1"."zoned", '%Y-%m-%d'),
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
                    ) + 1 + LENGTH(formatDateTime("t1"."zoned", '%Y-%m-%d'))
                  END,
                  10
                )
                ELSE NULL
              END AS "group1"
            FROM (
              SELECT
                "t0"."query" AS "query",
                "t0"."user" AS "user",
                "t0"."ts" AS "ts",
                "t0"."price" AS "price",
                "t0"."country" AS "country",
                "t0"."seen" AS "seen",
                toTimeZone("t0"."zoned", 'UTC') AS "zoned",
                "t0"."count" AS "count",
                "t0"."share" AS "share",
                "t0"."written" AS "written",
                "t0"."amount" AS "amount"
              FROM "events" AS "t0"
            ) AS "t1"
          ) AS "t2"
          WHERE
            NOT (
              COALESCE(isNull("t2"."group0"), FALSE) OR COALESCE(isNull("t2"."group1"), FALSE)
            )
        ) AS "t3"
        WHERE
          CASE
            WHEN isNull("t3"."group")
            THEN NULL
            ELSE "t3"."group" IN ('de\x1f2026-11-01', 'f\e1r\x1f2026-11-02')
          END
      ) AS "t4"
      GROUP BY
        "t4"."label",
        "t4"."group"
    ) AS "t5"
  ) AS "t6"
  GROUP BY
    "t6"."count",
    "t6"."is_null",
    "t6"."group"
) AS "t7";

-- groups, five items of each user
SELECT
  "t9"."count" AS "count",
  "t9"."is_null" AS "is_null",
  "t9"."prevalence" AS "prevalence",
  "t9"."group" AS "group"
FROM (
  SELECT
    "t8"."count" AS "count",
    "t8"."is_null" AS "is_null",
    "t8"."group" AS "group",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t7"."count" AS "count",
      "t7"."group" AS "group",
      isNull("t7"."label") AS "is_null"
    FROM (
      SELECT
        "t6"."label" AS "label",
        "t6"."group" AS "group",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t5"."label" AS "label",
          "t5"."group" AS "group"
        FROM (
          SELECT
            "t4"."label" AS "label",
            "t4"."user" AS "user",
            "t4"."one" AS "one",
            "t4"."group" AS "group",
            "t4"."number" AS "number",
            "t4"."total" AS "total",
            "t4"."hash" AS "hash",
            reinterpretAsInt64(
              REVERSE(
                UNHEX(
                  SUBSTRING(
                    "t4"."hash",
                    CASE WHEN (
                      0 + 1
                    ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t4"."hash") END,
                    12
                  )
                )
              )
            ) AS "start"
          FROM (
            SELECT
              "t3"."label" AS "label",
              "t3"."user" AS "user",
              "t3"."one" AS "one",
              "t3"."group" AS "group",
              "t3"."number" AS "number",
              "t3"."total" AS "total",
              CASE
                WHEN "t3"."total" > 5
                THEN LOWER(HEX(MD5(CONCAT('0123456789abcdef0123456789abcdef ', "t3"."user"))))
                ELSE NULL
              END AS "hash"
            FROM (
              SELECT
                "t2"."label" AS "label",
                "t2"."user" AS "user",
                "t2"."one" AS "one",
                "t2"."group" AS "group",
                CASE
                  WHEN isNotNull("t2"."one")
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
                  CONCAT("t1"."query", '', '') AS "label",
                  CONCAT("t1"."user", '', '') AS "user",
                  1 AS "one",
                  CONCAT("t1"."country", '', '') AS "group"
                FROM (
                  SELECT
                    "t0"."query" AS "query",
                    "t0"."user" AS "user",
                    "t0"."ts" AS "ts",
                    "t0"."price" AS "price",
                    "t0"."country" AS "country",
                    "t0"."seen" AS "seen",
                    toTimeZone("t0"."zoned", 'UTC') AS "zoned",
                    "t0"."count" AS "count",
                    "t0"."share" AS "share",
                    "t0"."written" AS "written",
                    "t0"."amount" AS "amount"
                  FROM "events" AS "t0"
                ) AS "t1"
                WHERE
                  NOT (
                    isNull(CONCAT("t1"."user", '', '')) OR isNull(CONCAT("t1"."query", '', ''))
                  )
                  AND CASE
                    WHEN isNull(CONCAT("t1"."country", '', ''))
                    THEN NULL
                    ELSE CONCAT("t1"."country", '', '') IN ('de', 'fr')
                  END
              ) AS "t2"
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
                            "t5"."start" % "t5"."total"
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
        "t6"."label",
        "t6"."group"
    ) AS "t7"
  ) AS "t8"
  GROUP BY
    "t8"."count",
    "t8"."is_null",
    "t8"."group"
) AS "t9";

-- groups, one of each user
SELECT
  "t12"."count" AS "count",
  "t12"."is_null" AS "is_null",
  "t12"."prevalence" AS "prevalence",
  "t12"."group" AS "group"
FROM (
  SELECT
    "t11"."count" AS "count",
    "t11"."is_null" AS "is_null",
    "t11"."group" AS "group",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t10"."count" AS "count",
      "t10"."group" AS "group",
      isNull("t10"."label") AS "is_null"
    FROM (
      SELECT
        "t9"."label" AS "label",
        "t9"."group" AS "group",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t8"."label" AS "label",
          "t8"."group" AS "group"
        FROM (
          SELECT
            "t7"."label" AS "label",
            "t7"."user" AS "user",
            "t7"."one" AS "one",
            "t7"."group" AS "group",
            "t7"."number" AS "number",
            "t7"."total" AS "total",
            "t7"."hash" AS "hash",
            reinterpretAsInt64(
              REVERSE(
                UNHEX(
                  SUBSTRING(
                    "t7"."hash",
                    CASE WHEN (
                      0 + 1
                    ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t7"."hash") END,
                    12
                  )
                )
              )
            ) AS "start"
          FROM (
            SELECT
              "t6"."label" AS "label",
              "t6"."user" AS "user",
              "t6"."one" AS "one",
              "t6"."group" AS "group",
              "t6"."number" AS "number",
              "t6"."total" AS "total",
              CASE
                WHEN "t6"."total" > 5
                THEN LOWER(
                  HEX(
                    MD5(
                      CONCAT(
                        CONCAT(CONCAT('0123456789abcdef0123456789abcdef ', "t6"."user"), '\n'),
                        "t6"."group"
                      )
                    )
                  )
                )
                ELSE NULL
              END AS "hash"
            FROM (
              SELECT
                "t5"."label" AS "label",
                "t5"."user" AS "user",
                "t5"."one" AS "one",
                "t5"."group" AS "group",
                CASE
                  WHEN isNotNull("t5"."one")
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
                  "t4"."label" AS "label",
                  "t4"."user" AS "user",
                  "t4"."one" AS "one",
                  "t4"."group" AS "group"
                FROM (
                  SELECT
                    "t3"."label" AS "label",
                    "t3"."user" AS "user",
                    "t3"."user_name" AS "user_name",
                    "t3"."one" AS "one",
                    "t3"."group" AS "group",
                    "t3"."occurrence" AS "occurrence",
                    "t3"."hash" AS "hash",
                    (
                      DENSE_RANK() OVER (
                        PARTITION BY "t3"."user"
                        ORDER BY CONCAT("t3"."hash", "t3"."group") ASC
                        RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                      ) - 1
                    ) + 1 AS "group_rank"
                  FROM (
                    SELECT
                      "t2"."label" AS "label",
                      "t2"."user" AS "user",
                      "t2"."user_name" AS "user_name",
                      "t2"."one" AS "one",
                      "t2"."group" AS "group",
                      "t2"."occurrence" AS "occurrence",
                      LOWER(
                        HEX(
                          MD5(
                            CONCAT(
                              CONCAT(
                                CONCAT(
                                  CONCAT(
                                    CONCAT('0123456789abcdef0123456789abcdef', CAST("t2"."occurrence" AS Nullable(String))),
                                    ' '
                                  ),
                                  "t2"."user_name"
                                ),
                                '\n'
                              ),
                              CASE WHEN isNull("t2"."group") THEN '' ELSE CONCAT('=', "t2"."group") END
                            )
                          )
                        )
                      ) AS "hash"
                    FROM (
                      SELECT
                        CONCAT("t1"."query", '', '') AS "label",
                        CONCAT("t1"."user", '', '') AS "user",
                        CONCAT("t1"."user", '', '') AS "user_name",
                        1 AS "one",
                        CONCAT("t1"."country", '', '') AS "group",
                        0 AS "occurrence"
                      FROM (
                        SELECT
                          "t0"."query" AS "query",
                          "t0"."user" AS "user",
                          "t0"."ts" AS "ts",
                          "t0"."price" AS "price",
                          "t0"."country" AS "country",
                          "t0"."seen" AS "seen",
                          toTimeZone("t0"."zoned", 'UTC') AS "zoned",
                          "t0"."count" AS "count",
                          "t0"."share" AS "share",
                          "t0"."written" AS "written",
                          "t0"."amount" AS "amount"
                        FROM "events" AS "t0"
                      ) AS "t1"
                      WHERE
                        NOT (
                          isNull(CONCAT("t1"."user", '', '')) OR isNull(CONCAT("t1"."query", '', ''))
                        )
                        AND CASE
                          WHEN isNull(CONCAT("t1"."country", '', ''))
                          THEN NULL
                          ELSE CONCAT("t1"."country", '', '') IN ('de', 'fr')
                        END
                    ) AS "t2"
                  ) AS "t3"
                ) AS "t4"
                WHERE
                  "t4"."group_rank" <= 1
              ) AS "t5"
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
                            "t8"."start" % "t8"."total"
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
        "t9"."label",
        "t9"."group"
    ) AS "t10"
  ) AS "t11"
  GROUP BY
    "t11"."count",
    "t11"."is_null",
    "t11"."group"
) AS "t12";

-- groups, one of each label
SELECT
  "t10"."count" AS "count",
  "t10"."is_null" AS "is_null",
  "t10"."prevalence" AS "prevalence",
  "t10"."group" AS "group"
FROM (
  SELECT
    "t9"."count" AS "count",
    "t9"."is_null" AS "is_null",
    "t9"."group" AS "group",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t8"."count" AS "count",
      "t8"."group" AS "group",
      isNull("t8"."label") AS "is_null"
    FROM (
      SELECT
        "t7"."label" AS "label",
        "t7"."group" AS "group",
        "t7"."count" AS "count",
        "t7"."user_name" AS "user_name",
        "t7"."occurrence" AS "occurrence",
        "t7"."hash" AS "hash",
        "t7"."one" AS "one",
        CASE
          WHEN isNotNull("t7"."one")
          THEN SUM("t7"."one") OVER (
            PARTITION BY "t7"."user_name", "t7"."occurrence"
            ORDER BY "t7"."hash" ASC NULLS FIRST, "t7"."group" ASC NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS "rank"
      FROM (
        SELECT
          "t6"."label" AS "label",
          "t6"."group" AS "group",
          "t6"."count" AS "count",
          "t6"."user_name" AS "user_name",
          "t6"."occurrence" AS "occurrence",
          "t6"."hash" AS "hash",
          1 AS "one"
        FROM (
          SELECT
            "t5"."label" AS "label",
            "t5"."group" AS "group",
            "t5"."count" AS "count",
            "t5"."user_name" AS "user_name",
            "t5"."occurrence" AS "occurrence",
            LOWER(
              HEX(
                MD5(
                  CONCAT(
                    CONCAT(
                      CONCAT(
                        CONCAT(
                          CONCAT('0123456789abcdef0123456789abcdef', CAST("t5"."occurrence" AS Nullable(String))),
                          ' '
                        ),
                        "t5"."user_name"
                      ),
                      '\n'
                    ),
                    CASE WHEN isNull("t5"."group") THEN '' ELSE CONCAT('=', "t5"."group") END
                  )
                )
              )
            ) AS "hash"
          FROM (
            SELECT
              "t4"."label" AS "label",
              "t4"."group" AS "group",
              "t4"."count" AS "count",
              CASE WHEN isNull("t4"."label") THEN '' ELSE "t4"."label" END AS "user_name",
              CASE WHEN isNull("t4"."label") THEN 0 ELSE 1 END AS "occurrence"
            FROM (
              SELECT
                "t3"."label" AS "label",
                "t3"."group" AS "group",
                COUNT(*) AS "count"
              FROM (
                SELECT
                  "t2"."label" AS "label",
                  "t2"."group0" AS "group"
                FROM (
                  SELECT
                    CONCAT("t1"."query", '', '') AS "label",
                    CONCAT("t1"."country", '', '') AS "group0"
                  FROM (
                    SELECT
                      "t0"."query" AS "query",
                      "t0"."user" AS "user",
                      "t0"."ts" AS "ts",
                      "t0"."price" AS "price",
                      "t0"."country" AS "country",
                      "t0"."seen" AS "seen",
                      toTimeZone("t0"."zoned", 'UTC') AS "zoned",
                      "t0"."count" AS "count",
                      "t0"."share" AS "share",
                      "t0"."written" AS "written",
                      "t0"."amount" AS "amount"
                    FROM "events" AS "t0"
                  ) AS "t1"
                ) AS "t2"
                WHERE
                  CASE WHEN isNull("t2"."group0") THEN NULL ELSE "t2"."group0" IN ('de', 'fr') END
              ) AS "t3"
              GROUP BY
                "t3"."label",
                "t3"."group"
            ) AS "t4"
          ) AS "t5"
        ) AS "t6"
      ) AS "t7"
    ) AS "t8"
    WHERE
      "t8"."rank" <= 1
  ) AS "t9"
  GROUP BY
    "t9"."count",
    "t9"."is_null",
    "t9"."group"
) AS "t10";

-- windows of days, five items of each user
SELECT
  *
FROM (
  SELECT
    "t11"."at_day" AS "at_day",
    MIN("t11"."named") AS "named",
    COALESCE(SUM("t11"."reached0"), 0) AS "reached0",
    COALESCE(SUM("t11"."reached1"), 0) AS "reached1"
  FROM (
    SELECT
      "t10"."at_day" AS "at_day",
      "t10"."named" AS "named",
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
        "t9"."label" AS "label",
        "t9"."at_day" AS "at_day",
        "t9"."count" AS "count",
        "t9"."known" AS "known",
        "t9"."named" AS "named",
        CASE
          WHEN isNotNull("t9"."count")
          THEN SUM("t9"."count") OVER (
            PARTITION BY "t9"."known"
            ORDER BY "t9"."at_day" ASC NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS "after"
      FROM (
        SELECT
          "t8"."label" AS "label",
          "t8"."at_day" AS "at_day",
          "t8"."count" AS "count",
          "t8"."label" AS "known",
          1 AS "named"
        FROM (
          SELECT
            "t7"."label" AS "label",
            "t7"."at_day" AS "at_day",
            COUNT(*) AS "count"
          FROM (
            SELECT
              "t6"."label" AS "label",
              "t6"."at_day" AS "at_day"
            FROM (
              SELECT
                "t5"."label" AS "label",
                "t5"."at_day" AS "at_day",
                "t5"."user" AS "user",
                "t5"."one" AS "one",
                "t5"."number" AS "number",
                "t5"."total" AS "total",
                "t5"."hash" AS "hash",
                reinterpretAsInt64(
                  REVERSE(
                    UNHEX(
                      SUBSTRING(
                        "t5"."hash",
                        CASE WHEN (
                          0 + 1
                        ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t5"."hash") END,
                        12
                      )
                    )
                  )
                ) AS "start"
              FROM (
                SELECT
                  "t4"."label" AS "label",
                  "t4"."at_day" AS "at_day",
                  "t4"."user" AS "user",
                  "t4"."one" AS "one",
                  "t4"."number" AS "number",
                  "t4"."total" AS "total",
                  CASE
                    WHEN "t4"."total" > 5
                    THEN LOWER(HEX(MD5(CONCAT('0123456789abcdef0123456789abcdef ', "t4"."user"))))
                    ELSE NULL
                  END AS "hash"
                FROM (
                  SELECT
                    "t3"."label" AS "label",
                    "t3"."at_day" AS "at_day",
                    "t3"."user" AS "user",
                    "t3"."one" AS "one",
                    CASE
                      WHEN isNotNull("t3"."one")
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
                      "t2"."label" AS "label",
                      "t2"."at_day" AS "at_day",
                      "t2"."user" AS "user",
                      "t2"."one" AS "one"
                    FROM (
                      SELECT
                        CONCAT("t1"."query", '', '') AS "label",
                        CASE
                          WHEN (
                            CAST(toYear("t1"."seen") AS Nullable(Int64)) >= 1
                          )
                          AND (
                            CAST(toYear("t1"."seen") AS Nullable(Int64)) <= 9999
                          )
                          THEN SUBSTRING(
                            formatDateTime("t1"."seen", '%Y-%m-%d'),
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
                              ) + 1 + LENGTH(formatDateTime("t1"."seen", '%Y-%m-%d'))
                            END,
                            10
                          )
                          ELSE NULL
                        END AS "at_day",
                        CONCAT("t1"."user", '', '') AS "user",
                        CONCAT("t1"."user", '', '') AS "user_name",
                        1 AS "one"
                      FROM (
                        SELECT
                          "t0"."query" AS "query",
                          "t0"."user" AS "user",
                          "t0"."ts" AS "ts",
                          "t0"."price" AS "price",
                          "t0"."country" AS "country",
                          "t0"."seen" AS "seen",
                          toTimeZone("t0"."zoned", 'UTC') AS "zoned",
                          "t0"."count" AS "count",
                          "t0"."share" AS "share",
                          "t0"."written" AS "written",
                          "t0"."amount" AS "amount"
                        FROM "events" AS "t0"
                      ) AS "t1"
                    ) AS "t2"
                    WHERE
                      NOT (
                        isNull("t2"."user") OR isNull("t2"."label")
                      )
                      AND CASE
                        WHEN isNull("t2"."at_day")
                        THEN NULL
                        ELSE "t2"."at_day" IN ('2026-11-01', '2026-11-02')
                      END
                  ) AS "t3"
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
                                "t6"."start" % "t6"."total"
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
            "t7"."label",
            "t7"."at_day"
        ) AS "t8"
      ) AS "t9"
    ) AS "t10"
  ) AS "t11"
  GROUP BY
    "t11"."at_day"
) AS "t12";

-- windows of weeks
SELECT
  *
FROM (
  SELECT
    "t7"."at_day" AS "at_day",
    MIN("t7"."named") AS "named",
    COALESCE(SUM("t7"."reached0"), 0) AS "reached0",
    COALESCE(SUM("t7"."reached1"), 0) AS "reached1"
  FROM (
    SELECT
      "t6"."at_day" AS "at_day",
      "t6"."named" AS "named",
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
        "t5"."label" AS "label",
        "t5"."at_day" AS "at_day",
        "t5"."count" AS "count",
        "t5"."known" AS "known",
        "t5"."named" AS "named",
        CASE
          WHEN isNotNull("t5"."count")
          THEN SUM("t5"."count") OVER (
            PARTITION BY "t5"."known"
            ORDER BY "t5"."at_day" ASC NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS "after"
      FROM (
        SELECT
          "t4"."label" AS "label",
          "t4"."at_day" AS "at_day",
          "t4"."count" AS "count",
          "t4"."label" AS "known",
          1 AS "named"
        FROM (
          SELECT
            "t3"."label" AS "label",
            "t3"."at_day" AS "at_day",
            COUNT(*) AS "count"
          FROM (
            SELECT
              *
            FROM (
              SELECT
                CONCAT("t1"."query", '', '') AS "label",
                CASE
                  WHEN DATE_DIFF(
                    DAY,
                    toDate(
                      CONCAT(toString(1970), '-', LPAD(toString(1), 2, '0'), '-', LPAD(toString(1), 2, '0'))
                    ),
                    toDate("t1"."zoned")
                  ) + 719162 BETWEEN 0 AND 3652058
                  THEN leftPadUTF8(
                    CAST(CAST(FLOOR(
                      (
                        DATE_DIFF(
                          DAY,
                          toDate(
                            CONCAT(toString(1970), '-', LPAD(toString(1), 2, '0'), '-', LPAD(toString(1), 2, '0'))
                          ),
                          toDate("t1"."zoned")
                        ) + 719162
                      ) / (
                        7
                      )
                    ) AS Nullable(Int64)) AS Nullable(String)),
                    GREATEST(
                      lengthUTF8(
                        CAST(CAST(FLOOR(
                          (
                            DATE_DIFF(
                              DAY,
                              toDate(
                                CONCAT(toString(1970), '-', LPAD(toString(1), 2, '0'), '-', LPAD(toString(1), 2, '0'))
                              ),
                              toDate("t1"."zoned")
                            ) + 719162
                          ) / (
                            7
                          )
                        ) AS Nullable(Int64)) AS Nullable(String))
                      ),
                      6
                    ),
                    '0'
                  )
                  ELSE NULL
                END AS "at_day"
              FROM (
                SELECT
                  "t0"."query" AS "query",
                  "t0"."user" AS "user",
                  "t0"."ts" AS "ts",
                  "t0"."price" AS "price",
                  "t0"."country" AS "country",
                  "t0"."seen" AS "seen",
                  toTimeZone("t0"."zoned", 'UTC') AS "zoned",
                  "t0"."count" AS "count",
                  "t0"."share" AS "share",
                  "t0"."written" AS "written",
                  "t0"."amount" AS "amount"
                FROM "events" AS "t0"
              ) AS "t1"
            ) AS "t2"
            WHERE
              CASE
                WHEN isNull("t2"."at_day")
                THEN NULL
                ELSE "t2"."at_day" IN ('105702', '105703')
              END
              AND NOT (
                isNull("t2"."label")
              )
          ) AS "t3"
          GROUP BY
            "t3"."label",
            "t3"."at_day"
        ) AS "t4"
      ) AS "t5"
    ) AS "t6"
  ) AS "t7"
  GROUP BY
    "t7"."at_day"
) AS "t8";

-- counts
SELECT
  *
FROM (
  SELECT
    "t5"."count" AS "count",
    "t5"."is_null" AS "is_null",
    COUNT(*) AS "prevalence",
    COALESCE(SUM("t5"."wrong"), 0) AS "wrong",
    MAX("t5"."size") AS "size"
  FROM (
    SELECT
      "t4"."label" AS "label",
      "t4"."count" AS "count",
      "t4"."wrong" AS "wrong",
      "t4"."size" AS "size",
      isNull("t4"."label") AS "is_null"
    FROM (
      SELECT
        "t3"."label" AS "label",
        COALESCE(SUM("t3"."count"), 0) AS "count",
        COALESCE(SUM("t3"."wrong"), 0) AS "wrong",
        COALESCE(SUM("t3"."size"), 0) AS "size"
      FROM (
        SELECT
          "t2"."label" AS "label",
          "t2"."count" AS "count",
          "t2"."wrong" AS "wrong",
          CASE
            WHEN 4294967296 <> 0
            THEN CAST(FLOOR((
              "t2"."count"
            ) / (
              4294967296
            )) AS Nullable(Int64))
            ELSE NULL
          END AS "size"
        FROM (
          SELECT
            CONCAT("t1"."query", '', '') AS "label",
            CASE
              WHEN NOT (
                isNull("t1"."count")
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
                  isNull("t1"."count")
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
              "t0"."query" AS "query",
              "t0"."user" AS "user",
              "t0"."ts" AS "ts",
              "t0"."price" AS "price",
              "t0"."country" AS "country",
              "t0"."seen" AS "seen",
              toTimeZone("t0"."zoned", 'UTC') AS "zoned",
              "t0"."count" AS "count",
              "t0"."share" AS "share",
              "t0"."written" AS "written",
              "t0"."amount" AS "amount"
            FROM "events" AS "t0"
          ) AS "t1"
        ) AS "t2"
      ) AS "t3"
      GROUP BY
        "t3"."label"
    ) AS "t4"
    WHERE
      COALESCE("t4"."count" <> 0, FALSE)
      OR COALESCE("t4"."size" <> 0, FALSE)
      OR COALESCE("t4"."wrong" <> 0, FALSE)
  ) AS "t5"
  GROUP BY
    "t5"."count",
    "t5"."is_null"
) AS "t6";

-- counts as text
SELECT
  *
FROM (
  SELECT
    "t5"."count" AS "count",
    "t5"."is_null" AS "is_null",
    COUNT(*) AS "prevalence",
    COALESCE(SUM("t5"."wrong"), 0) AS "wrong",
    MAX("t5"."size") AS "size"
  FROM (
    SELECT
      "t4"."label" AS "label",
      "t4"."count" AS "count",
      "t4"."wrong" AS "wrong",
      "t4"."size" AS "size",
      isNull("t4"."label") AS "is_null"
    FROM (
      SELECT
        "t3"."label" AS "label",
        COALESCE(SUM("t3"."count"), 0) AS "count",
        COALESCE(SUM("t3"."wrong"), 0) AS "wrong",
        COALESCE(SUM("t3"."size"), 0) AS "size"
      FROM (
        SELECT
          "t2"."label" AS "label",
          "t2"."count" AS "count",
          "t2"."wrong" AS "wrong",
          CASE
            WHEN 4294967296 <> 0
            THEN CAST(FLOOR((
              "t2"."count"
            ) / (
              4294967296
            )) AS Nullable(Int64))
            ELSE NULL
          END AS "size"
        FROM (
          SELECT
            CONCAT("t1"."query", '', '') AS "label",
            CAST(CASE
              WHEN NOT (
                isNull("t1"."written")
              )
              AND COALESCE(
                match("t1"."written", '^ *0*[0-9]{1,18} *$')
                OR (
                  match("t1"."written", '^ *[1-9][0-9]{18} *$')
                  AND (
                    TRIM(BOTH ' \t\n\r\v\f' FROM "t1"."written") <= '9223372036854775807'
                  )
                ),
                FALSE
              )
              THEN TRIM(BOTH ' \t\n\r\v\f' FROM "t1"."written")
              ELSE '0'
            END AS Nullable(Int64)) AS "count",
            CASE
              WHEN NOT (
                NOT (
                  isNull("t1"."written")
                )
                AND COALESCE(
                  match("t1"."written", '^ *0*[0-9]{1,18} *$')
                  OR (
                    match("t1"."written", '^ *[1-9][0-9]{18} *$')
                    AND (
                      TRIM(BOTH ' \t\n\r\v\f' FROM "t1"."written") <= '9223372036854775807'
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
              "t0"."query" AS "query",
              "t0"."user" AS "user",
              "t0"."ts" AS "ts",
              "t0"."price" AS "price",
              "t0"."country" AS "country",
              "t0"."seen" AS "seen",
              toTimeZone("t0"."zoned", 'UTC') AS "zoned",
              "t0"."count" AS "count",
              "t0"."share" AS "share",
              "t0"."written" AS "written",
              "t0"."amount" AS "amount"
            FROM "events" AS "t0"
          ) AS "t1"
        ) AS "t2"
      ) AS "t3"
      GROUP BY
        "t3"."label"
    ) AS "t4"
    WHERE
      COALESCE("t4"."count" <> 0, FALSE)
      OR COALESCE("t4"."size" <> 0, FALSE)
      OR COALESCE("t4"."wrong" <> 0, FALSE)
  ) AS "t5"
  GROUP BY
    "t5"."count",
    "t5"."is_null"
) AS "t6";

-- events of some rows, by text
SELECT
  *
FROM (
  SELECT
    "t4"."count" AS "count",
    "t4"."is_null" AS "is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t3"."count" AS "count",
      isNull("t3"."label") AS "is_null"
    FROM (
      SELECT
        "t2"."label" AS "label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          CONCAT("t1"."query", '', '') AS "label"
        FROM (
          SELECT
            "t0"."query" AS "query",
            "t0"."user" AS "user",
            "t0"."ts" AS "ts",
            "t0"."price" AS "price",
            "t0"."country" AS "country",
            "t0"."seen" AS "seen",
            toTimeZone("t0"."zoned", 'UTC') AS "zoned",
            "t0"."count" AS "count",
            "t0"."share" AS "share",
            "t0"."written" AS "written",
            "t0"."amount" AS "amount"
          FROM "events" AS "t0"
        ) AS "t1"
        WHERE
          NOT (
            isNull("t1"."country")
          )
          AND (
            (
              CONCAT("t1"."country", '', '') = 'de'
            )
            OR (
              CONCAT("t1"."country", '', '') = 'it''s'
            )
          )
          AND NOT (
            isNull("t1"."query")
          )
          AND CONCAT("t1"."query", '', '') < 'ä'
      ) AS "t2"
      GROUP BY
        "t2"."label"
    ) AS "t3"
  ) AS "t4"
  GROUP BY
    "t4"."count",
    "t4"."is_null"
) AS "t5";

-- events of some rows, by numbers
SELECT
  *
FROM (
  SELECT
    "t4"."count" AS "count",
    "t4"."is_null" AS "is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t3"."count" AS "count",
      isNull("t3"."label") AS "is_null"
    FROM (
      SELECT
        "t2"."label" AS "label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          CONCAT("t1"."query", '', '') AS "label"
        FROM (
          SELECT
            "t0"."query" AS "query",
            "t0"."user" AS "user",
            "t0"."ts" AS "ts",
            "t0"."price" AS "price",
            "t0"."country" AS "country",
            "t0"."seen" AS "seen",
            toTimeZone("t0"."zoned", 'UTC') AS "zoned",
            "t0"."count" AS "count",
            "t0"."share" AS "share",
            "t0"."written" AS "written",
            "t0"."amount" AS "amount"
          FROM "events" AS "t0"
        ) AS "t1"
        WHERE
          NOT (
            isNull("t1"."price")
            OR CASE WHEN isNull("t1"."price") THEN NULL ELSE isNaN("t1"."price") END
          )
          AND "t1"."price" <= 2.5
          AND NOT (
            isNull("t1"."ts")
          )
          AND "t1"."ts" > 7
          AND NOT (
            "t1"."ts" = 9223372036854775807
          )
      ) AS "t2"
      GROUP BY
        "t2"."label"
    ) AS "t3"
  ) AS "t4"
  GROUP BY
    "t4"."count",
    "t4"."is_null"
) AS "t5";

-- prevalences
SELECT
  "t4"."count" AS "count",
  "t4"."prevalence" AS "prevalence",
  "t4"."rows" AS "rows",
  "t4"."wrong_counts" AS "wrong_counts",
  "t4"."wrong" AS "wrong",
  "t4"."size" AS "size"
FROM (
  SELECT
    "t3"."count" AS "count",
    COALESCE(SUM("t3"."prevalence"), 0) AS "prevalence",
    COALESCE(SUM("t3"."wrong_counts"), 0) AS "wrong_counts",
    COALESCE(SUM("t3"."wrong"), 0) AS "wrong",
    COALESCE(SUM("t3"."size"), 0) AS "size",
    COUNT(*) AS "rows"
  FROM (
    SELECT
      "t2"."count" AS "count",
      "t2"."prevalence" AS "prevalence",
      "t2"."wrong_counts" AS "wrong_counts",
      "t2"."wrong" AS "wrong",
      CASE
        WHEN 4294967296 <> 0
        THEN CAST(FLOOR((
          "t2"."prevalence"
        ) / (
          4294967296
        )) AS Nullable(Int64))
        ELSE NULL
      END AS "size"
    FROM (
      SELECT
        CASE
          WHEN NOT (
            isNull("t1"."count")
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
            isNull("t1"."share")
          )
          AND COALESCE(
            CASE
              WHEN NOT (
                isNull("t1"."share")
                OR CASE WHEN isNull("t1"."share") THEN NULL ELSE isNaN("t1"."share") END
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
                  isNull("t1"."share")
                  OR CASE WHEN isNull("t1"."share") THEN NULL ELSE isNaN("t1"."share") END
                )
                AND (
                  "t1"."share" >= 0
                )
                AND (
                  "t1"."share" <= 9007199254740992
                )
                THEN "t1"."share"
                ELSE 0.5
              END,
              0
            ) AS Nullable(Int64)),
            FALSE
          )
          THEN "t1"."share"
          ELSE 0.0
        END AS Nullable(Int64)) AS "prevalence",
        CASE
          WHEN NOT (
            NOT (
              isNull("t1"."count")
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
              isNull("t1"."share")
            )
            AND COALESCE(
              CASE
                WHEN NOT (
                  isNull("t1"."share")
                  OR CASE WHEN isNull("t1"."share") THEN NULL ELSE isNaN("t1"."share") END
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
                    isNull("t1"."share")
                    OR CASE WHEN isNull("t1"."share") THEN NULL ELSE isNaN("t1"."share") END
                  )
                  AND (
                    "t1"."share" >= 0
                  )
                  AND (
                    "t1"."share" <= 9007199254740992
                  )
                  THEN "t1"."share"
                  ELSE 0.5
                END,
                0
              ) AS Nullable(Int64)),
              FALSE
            )
          )
          THEN 1
          ELSE 0
        END AS "wrong"
      FROM (
        SELECT
          "t0"."query" AS "query",
          "t0"."user" AS "user",
          "t0"."ts" AS "ts",
          "t0"."price" AS "price",
          "t0"."country" AS "country",
          "t0"."seen" AS "seen",
          toTimeZone("t0"."zoned", 'UTC') AS "zoned",
          "t0"."count" AS "count",
          "t0"."share" AS "share",
          "t0"."written" AS "written",
          "t0"."amount" AS "amount"
        FROM "events" AS "t0"
      ) AS "t1"
    ) AS "t2"
  ) AS "t3"
  GROUP BY
    "t3"."count"
) AS "t4";
