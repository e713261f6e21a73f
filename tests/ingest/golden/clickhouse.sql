-- by ibis-framework 12.0.0 and sqlglot 30.29.0

-- events
SELECT
  *
FROM (
  SELECT
    "t3"."count" AS "count",
    "t3"."is_null" AS "is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t2"."count" AS "count",
      isNull("t2"."label") AS "is_null"
    FROM (
      SELECT
        "t1"."label" AS "label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          CONCAT("t0"."query", '', '') AS "label"
        FROM "events" AS "t0"
      ) AS "t1"
      GROUP BY
        "t1"."label"
    ) AS "t2"
  ) AS "t3"
  GROUP BY
    "t3"."count",
    "t3"."is_null"
) AS "t4";

-- events, five of each user
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
            "t4"."one" AS "one",
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
                CASE
                  WHEN isNotNull("t2"."one")
                  THEN SUM("t2"."one") OVER (
                    PARTITION BY "t2"."user"
                    ORDER BY "t2"."label" ASC NULLS FIRST
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
                  "t1"."label" AS "label",
                  "t1"."user" AS "user",
                  "t1"."one" AS "one"
                FROM (
                  SELECT
                    CONCAT("t0"."query", '', '') AS "label",
                    CONCAT("t0"."user", '', '') AS "user",
                    CONCAT("t0"."user", '', '') AS "user_name",
                    1 AS "one"
                  FROM "events" AS "t0"
                ) AS "t1"
                WHERE
                  NOT (
                    isNull("t1"."user") OR isNull("t1"."label")
                  )
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
        "t6"."label"
    ) AS "t7"
  ) AS "t8"
  GROUP BY
    "t8"."count",
    "t8"."is_null"
) AS "t9";

-- events, the first five of each user
SELECT
  *
FROM (
  SELECT
    "t7"."count" AS "count",
    "t7"."is_null" AS "is_null",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t6"."count" AS "count",
      isNull("t6"."label") AS "is_null"
    FROM (
      SELECT
        "t5"."label" AS "label",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t4"."label" AS "label"
        FROM (
          SELECT
            "t3"."label" AS "label",
            "t3"."user" AS "user",
            "t3"."user_name" AS "user_name",
            "t3"."rank_by" AS "rank_by",
            "t3"."one" AS "one",
            "t3"."occurrence" AS "occurrence",
            "t3"."hash" AS "hash",
            CASE
              WHEN isNotNull("t3"."one")
              THEN SUM("t3"."one") OVER (
                PARTITION BY "t3"."user"
                ORDER BY "t3"."rank_by" ASC NULLS FIRST, "t3"."hash" ASC NULLS FIRST, "t3"."label" ASC NULLS FIRST
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              )
              ELSE NULL
            END AS "rank"
          FROM (
            SELECT
              "t2"."label" AS "label",
              "t2"."user" AS "user",
              "t2"."user_name" AS "user_name",
              "t2"."rank_by" AS "rank_by",
              "t2"."one" AS "one",
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
                      CASE WHEN isNull("t2"."label") THEN '' ELSE CONCAT('=', "t2"."label") END
                    )
                  )
                )
              ) AS "hash"
            FROM (
              SELECT
                "t1"."label" AS "label",
                "t1"."user" AS "user",
                "t1"."user_name" AS "user_name",
                "t1"."rank_by" AS "rank_by",
                "t1"."one" AS "one",
                CASE
                  WHEN isNotNull("t1"."one")
                  THEN SUM("t1"."one") OVER (
                    PARTITION BY "t1"."user", "t1"."label"
                    ORDER BY "t1"."rank_by" ASC NULLS FIRST
                    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                  )
                  ELSE NULL
                END AS "occurrence"
              FROM (
                SELECT
                  CONCAT("t0"."query", '', '') AS "label",
                  CONCAT("t0"."user", '', '') AS "user",
                  CONCAT("t0"."user", '', '') AS "user_name",
                  CASE
                    WHEN NOT (
                      isNull("t0"."ts")
                    )
                    THEN CAST("t0"."ts" AS Nullable(Float64))
                    ELSE NULL
                  END AS "rank_by",
                  1 AS "one"
                FROM "events" AS "t0"
                WHERE
                  NOT (
                    isNull(CONCAT("t0"."user", '', '')) OR isNull(CONCAT("t0"."query", '', ''))
                  )
              ) AS "t1"
            ) AS "t2"
          ) AS "t3"
        ) AS "t4"
        WHERE
          "t4"."rank" <= 5
      ) AS "t5"
      GROUP BY
        "t5"."label"
    ) AS "t6"
  ) AS "t7"
  GROUP BY
    "t7"."count",
    "t7"."is_null"
) AS "t8";

-- events, fractions and NaN
SELECT
  "t9"."count" AS "count",
  "t9"."is_null" AS "is_null",
  "t9"."prevalence" AS "prevalence",
  "t9"."named" AS "named"
FROM (
  SELECT
    "t8"."count" AS "count",
    "t8"."is_null" AS "is_null",
    "t8"."named" AS "named",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t7"."count" AS "count",
      "t7"."named" AS "named",
      isNull("t7"."label") AS "is_null"
    FROM (
      SELECT
        "t6"."label" AS "label",
        "t6"."named" AS "named",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t5"."label" AS "label",
          "t5"."named" AS "named"
        FROM (
          SELECT
            "t4"."label" AS "label",
            "t4"."user" AS "user",
            "t4"."user_name" AS "user_name",
            "t4"."rank_by" AS "rank_by",
            "t4"."named" AS "named",
            "t4"."one" AS "one",
            "t4"."occurrence" AS "occurrence",
            "t4"."hash" AS "hash",
            CASE
              WHEN isNotNull("t4"."one")
              THEN SUM("t4"."one") OVER (
                PARTITION BY "t4"."user"
                ORDER BY "t4"."rank_by" ASC NULLS FIRST, "t4"."named" ASC NULLS FIRST, "t4"."hash" ASC NULLS FIRST, "t4"."label" ASC NULLS FIRST
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
              "t3"."named" AS "named",
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
                "t2"."named" AS "named",
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
                  *
                FROM (
                  SELECT
                    CASE
                      WHEN NOT (
                        isNull("t0"."price")
                        OR CASE WHEN isNull("t0"."price") THEN NULL ELSE isNaN("t0"."price") END
                      )
                      THEN CASE
                        WHEN COALESCE(
                          CASE
                            WHEN NOT (
                              isNull("t0"."price")
                              OR CASE WHEN isNull("t0"."price") THEN NULL ELSE isNaN("t0"."price") END
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
                                isNull("t0"."price")
                                OR CASE WHEN isNull("t0"."price") THEN NULL ELSE isNaN("t0"."price") END
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
                          ) AS Nullable(Int64)),
                          FALSE
                        )
                        THEN CAST(CAST(ROUND(
                          CASE
                            WHEN NOT (
                              isNull("t0"."price")
                              OR CASE WHEN isNull("t0"."price") THEN NULL ELSE isNaN("t0"."price") END
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
                        ) AS Nullable(Int64)) AS Nullable(String))
                        ELSE CAST("t0"."price" AS Nullable(String))
                      END
                      ELSE NULL
                    END AS "label",
                    CONCAT("t0"."user", '', '') AS "user",
                    CONCAT("t0"."user", '', '') AS "user_name",
                    CASE
                      WHEN NOT (
                        isNull("t0"."price")
                        OR CASE WHEN isNull("t0"."price") THEN NULL ELSE isNaN("t0"."price") END
                      )
                      THEN "t0"."price" + 0.0
                      ELSE NULL
                    END AS "rank_by",
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
                          isNull("t0"."price")
                          OR CASE WHEN isNull("t0"."price") THEN NULL ELSE isNaN("t0"."price") END
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
                    isNull("t1"."user") OR isNull("t1"."label")
                  )
              ) AS "t2"
            ) AS "t3"
          ) AS "t4"
        ) AS "t5"
        WHERE
          "t5"."rank" <= 5
      ) AS "t6"
      GROUP BY
        "t6"."label",
        "t6"."named"
    ) AS "t7"
  ) AS "t8"
  GROUP BY
    "t8"."count",
    "t8"."is_null",
    "t8"."named"
) AS "t9";

-- users
SELECT
  *
FROM (
  SELECT
    "t4"."items" AS "items",
    COUNT(*) AS "users"
  FROM (
    SELECT
      *
    FROM (
      SELECT
        "t2"."user" AS "user",
        COUNT(*) AS "items"
      FROM (
        SELECT
          *
        FROM (
          SELECT
            CONCAT("t0"."query", '', '') AS "label",
            CONCAT("t0"."user", '', '') AS "user"
          FROM "events" AS "t0"
        ) AS "t1"
        WHERE
          NOT (
            isNull("t1"."user") OR isNull("t1"."label")
          )
      ) AS "t2"
      GROUP BY
        "t2"."user"
    ) AS "t3"
  ) AS "t4"
  GROUP BY
    "t4"."items"
) AS "t5";

-- rows left out
SELECT
  COUNT(*) AS "rows",
  COALESCE(SUM("t1"."missing"), 0) AS "missing"
FROM (
  SELECT
    CASE WHEN isNull("t0"."user") THEN 1 ELSE 0 END AS "missing"
  FROM "events" AS "t0"
) AS "t1";

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
                "t0"."written" AS "written"
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
  "t8"."count" AS "count",
  "t8"."is_null" AS "is_null",
  "t8"."prevalence" AS "prevalence",
  "t8"."group" AS "group"
FROM (
  SELECT
    "t7"."count" AS "count",
    "t7"."is_null" AS "is_null",
    "t7"."group" AS "group",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t6"."count" AS "count",
      "t6"."group" AS "group",
      isNull("t6"."label") AS "is_null"
    FROM (
      SELECT
        "t5"."label" AS "label",
        "t5"."group" AS "group",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t4"."label" AS "label",
          "t4"."group" AS "group"
        FROM (
          SELECT
            "t3"."label" AS "label",
            "t3"."user" AS "user",
            "t3"."one" AS "one",
            "t3"."group" AS "group",
            "t3"."number" AS "number",
            "t3"."total" AS "total",
            "t3"."hash" AS "hash",
            reinterpretAsInt64(
              REVERSE(
                UNHEX(
                  SUBSTRING(
                    "t3"."hash",
                    CASE WHEN (
                      0 + 1
                    ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t3"."hash") END,
                    12
                  )
                )
              )
            ) AS "start"
          FROM (
            SELECT
              "t2"."label" AS "label",
              "t2"."user" AS "user",
              "t2"."one" AS "one",
              "t2"."group" AS "group",
              "t2"."number" AS "number",
              "t2"."total" AS "total",
              CASE
                WHEN "t2"."total" > 5
                THEN LOWER(HEX(MD5(CONCAT('0123456789abcdef0123456789abcdef ', "t2"."user"))))
                ELSE NULL
              END AS "hash"
            FROM (
              SELECT
                "t1"."label" AS "label",
                "t1"."user" AS "user",
                "t1"."one" AS "one",
                "t1"."group" AS "group",
                CASE
                  WHEN isNotNull("t1"."one")
                  THEN SUM("t1"."one") OVER (
                    PARTITION BY "t1"."user"
                    ORDER BY "t1"."group" ASC NULLS FIRST, "t1"."label" ASC NULLS FIRST
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
                  CONCAT("t0"."query", '', '') AS "label",
                  CONCAT("t0"."user", '', '') AS "user",
                  1 AS "one",
                  CONCAT("t0"."country", '', '') AS "group"
                FROM "events" AS "t0"
                WHERE
                  NOT (
                    isNull(CONCAT("t0"."user", '', '')) OR isNull(CONCAT("t0"."query", '', ''))
                  )
                  AND CASE
                    WHEN isNull(CONCAT("t0"."country", '', ''))
                    THEN NULL
                    ELSE CONCAT("t0"."country", '', '') IN ('de', 'fr')
                  END
              ) AS "t1"
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
                            "t4"."start" % "t4"."total"
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
        "t5"."label",
        "t5"."group"
    ) AS "t6"
  ) AS "t7"
  GROUP BY
    "t7"."count",
    "t7"."is_null",
    "t7"."group"
) AS "t8";

-- groups, one of each user
SELECT
  "t11"."count" AS "count",
  "t11"."is_null" AS "is_null",
  "t11"."prevalence" AS "prevalence",
  "t11"."group" AS "group"
FROM (
  SELECT
    "t10"."count" AS "count",
    "t10"."is_null" AS "is_null",
    "t10"."group" AS "group",
    COUNT(*) AS "prevalence"
  FROM (
    SELECT
      "t9"."count" AS "count",
      "t9"."group" AS "group",
      isNull("t9"."label") AS "is_null"
    FROM (
      SELECT
        "t8"."label" AS "label",
        "t8"."group" AS "group",
        COUNT(*) AS "count"
      FROM (
        SELECT
          "t7"."label" AS "label",
          "t7"."group" AS "group"
        FROM (
          SELECT
            "t6"."label" AS "label",
            "t6"."user" AS "user",
            "t6"."one" AS "one",
            "t6"."group" AS "group",
            "t6"."number" AS "number",
            "t6"."total" AS "total",
            "t6"."hash" AS "hash",
            reinterpretAsInt64(
              REVERSE(
                UNHEX(
                  SUBSTRING(
                    "t6"."hash",
                    CASE WHEN (
                      0 + 1
                    ) >= 1 THEN 0 + 1 ELSE 0 + 1 + LENGTH("t6"."hash") END,
                    12
                  )
                )
              )
            ) AS "start"
          FROM (
            SELECT
              "t5"."label" AS "label",
              "t5"."user" AS "user",
              "t5"."one" AS "one",
              "t5"."group" AS "group",
              "t5"."number" AS "number",
              "t5"."total" AS "total",
              CASE
                WHEN "t5"."total" > 5
                THEN LOWER(
                  HEX(
                    MD5(
                      CONCAT(
                        CONCAT(CONCAT('0123456789abcdef0123456789abcdef ', "t5"."user"), '\n'),
                        "t5"."group"
                      )
                    )
                  )
                )
                ELSE NULL
              END AS "hash"
            FROM (
              SELECT
                "t4"."label" AS "label",
                "t4"."user" AS "user",
                "t4"."one" AS "one",
                "t4"."group" AS "group",
                CASE
                  WHEN isNotNull("t4"."one")
                  THEN SUM("t4"."one") OVER (
                    PARTITION BY "t4"."user", "t4"."group"
                    ORDER BY "t4"."group" ASC NULLS FIRST, "t4"."label" ASC NULLS FIRST
                    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                  )
                  ELSE NULL
                END AS "number",
                COALESCE(
                  SUM("t4"."one") OVER (
                    PARTITION BY "t4"."user", "t4"."group"
                    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
                  ),
                  0
                ) AS "total"
              FROM (
                SELECT
                  "t3"."label" AS "label",
                  "t3"."user" AS "user",
                  "t3"."one" AS "one",
                  "t3"."group" AS "group"
                FROM (
                  SELECT
                    "t2"."label" AS "label",
                    "t2"."user" AS "user",
                    "t2"."user_name" AS "user_name",
                    "t2"."one" AS "one",
                    "t2"."group" AS "group",
                    "t2"."occurrence" AS "occurrence",
                    "t2"."hash" AS "hash",
                    (
                      DENSE_RANK() OVER (
                        PARTITION BY "t2"."user"
                        ORDER BY CONCAT("t2"."hash", "t2"."group") ASC
                        RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                      ) - 1
                    ) + 1 AS "group_rank"
                  FROM (
                    SELECT
                      "t1"."label" AS "label",
                      "t1"."user" AS "user",
                      "t1"."user_name" AS "user_name",
                      "t1"."one" AS "one",
                      "t1"."group" AS "group",
                      "t1"."occurrence" AS "occurrence",
                      LOWER(
                        HEX(
                          MD5(
                            CONCAT(
                              CONCAT(
                                CONCAT(
                                  CONCAT(
                                    CONCAT('0123456789abcdef0123456789abcdef', CAST("t1"."occurrence" AS Nullable(String))),
                                    ' '
                                  ),
                                  "t1"."user_name"
                                ),
                                '\n'
                              ),
                              CASE WHEN isNull("t1"."group") THEN '' ELSE CONCAT('=', "t1"."group") END
                            )
                          )
                        )
                      ) AS "hash"
                    FROM (
                      SELECT
                        CONCAT("t0"."query", '', '') AS "label",
                        CONCAT("t0"."user", '', '') AS "user",
                        CONCAT("t0"."user", '', '') AS "user_name",
                        1 AS "one",
                        CONCAT("t0"."country", '', '') AS "group",
                        0 AS "occurrence"
                      FROM "events" AS "t0"
                      WHERE
                        NOT (
                          isNull(CONCAT("t0"."user", '', '')) OR isNull(CONCAT("t0"."query", '', ''))
                        )
                        AND CASE
                          WHEN isNull(CONCAT("t0"."country", '', ''))
                          THEN NULL
                          ELSE CONCAT("t0"."country", '', '') IN ('de', 'fr')
                        END
                    ) AS "t1"
                  ) AS "t2"
                ) AS "t3"
                WHERE
                  "t3"."group_rank" <= 1
              ) AS "t4"
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
                            "t7"."start" % "t7"."total"
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
        "t8"."label",
        "t8"."group"
    ) AS "t9"
  ) AS "t10"
  GROUP BY
    "t10"."count",
    "t10"."is_null",
    "t10"."group"
) AS "t11";

-- groups, one of each label
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
        "t6"."count" AS "count",
        "t6"."user_name" AS "user_name",
        "t6"."occurrence" AS "occurrence",
        "t6"."hash" AS "hash",
        "t6"."one" AS "one",
        CASE
          WHEN isNotNull("t6"."one")
          THEN SUM("t6"."one") OVER (
            PARTITION BY "t6"."user_name", "t6"."occurrence"
            ORDER BY "t6"."hash" ASC NULLS FIRST, "t6"."group" ASC NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS "rank"
      FROM (
        SELECT
          "t5"."label" AS "label",
          "t5"."group" AS "group",
          "t5"."count" AS "count",
          "t5"."user_name" AS "user_name",
          "t5"."occurrence" AS "occurrence",
          "t5"."hash" AS "hash",
          1 AS "one"
        FROM (
          SELECT
            "t4"."label" AS "label",
            "t4"."group" AS "group",
            "t4"."count" AS "count",
            "t4"."user_name" AS "user_name",
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
                    CASE WHEN isNull("t4"."group") THEN '' ELSE CONCAT('=', "t4"."group") END
                  )
                )
              )
            ) AS "hash"
          FROM (
            SELECT
              "t3"."label" AS "label",
              "t3"."group" AS "group",
              "t3"."count" AS "count",
              CASE WHEN isNull("t3"."label") THEN '' ELSE "t3"."label" END AS "user_name",
              CASE WHEN isNull("t3"."label") THEN 0 ELSE 1 END AS "occurrence"
            FROM (
              SELECT
                "t2"."label" AS "label",
                "t2"."group" AS "group",
                COUNT(*) AS "count"
              FROM (
                SELECT
                  "t1"."label" AS "label",
                  "t1"."group0" AS "group"
                FROM (
                  SELECT
                    CONCAT("t0"."query", '', '') AS "label",
                    CONCAT("t0"."country", '', '') AS "group0"
                  FROM "events" AS "t0"
                ) AS "t1"
                WHERE
                  CASE WHEN isNull("t1"."group0") THEN NULL ELSE "t1"."group0" IN ('de', 'fr') END
              ) AS "t2"
              GROUP BY
                "t2"."label",
                "t2"."group"
            ) AS "t3"
          ) AS "t4"
        ) AS "t5"
      ) AS "t6"
    ) AS "t7"
    WHERE
      "t7"."rank" <= 1
  ) AS "t8"
  GROUP BY
    "t8"."count",
    "t8"."is_null",
    "t8"."group"
) AS "t9";

-- windows of days, five items of each user
SELECT
  *
FROM (
  SELECT
    "t10"."at_day" AS "at_day",
    MIN("t10"."named") AS "named",
    COALESCE(SUM("t10"."reached0"), 0) AS "reached0",
    COALESCE(SUM("t10"."reached1"), 0) AS "reached1"
  FROM (
    SELECT
      "t9"."at_day" AS "at_day",
      "t9"."named" AS "named",
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
        "t8"."label" AS "label",
        "t8"."at_day" AS "at_day",
        "t8"."count" AS "count",
        "t8"."known" AS "known",
        "t8"."named" AS "named",
        CASE
          WHEN isNotNull("t8"."count")
          THEN SUM("t8"."count") OVER (
            PARTITION BY "t8"."known"
            ORDER BY "t8"."at_day" ASC NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS "after"
      FROM (
        SELECT
          "t7"."label" AS "label",
          "t7"."at_day" AS "at_day",
          "t7"."count" AS "count",
          "t7"."label" AS "known",
          1 AS "named"
        FROM (
          SELECT
            "t6"."label" AS "label",
            "t6"."at_day" AS "at_day",
            COUNT(*) AS "count"
          FROM (
            SELECT
              "t5"."label" AS "label",
              "t5"."at_day" AS "at_day"
            FROM (
              SELECT
                "t4"."label" AS "label",
                "t4"."at_day" AS "at_day",
                "t4"."user" AS "user",
                "t4"."one" AS "one",
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
                  "t3"."at_day" AS "at_day",
                  "t3"."user" AS "user",
                  "t3"."one" AS "one",
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
                    "t2"."at_day" AS "at_day",
                    "t2"."user" AS "user",
                    "t2"."one" AS "one",
                    CASE
                      WHEN isNotNull("t2"."one")
                      THEN SUM("t2"."one") OVER (
                        PARTITION BY "t2"."user"
                        ORDER BY "t2"."at_day" ASC NULLS FIRST, "t2"."label" ASC NULLS FIRST
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
                      "t1"."label" AS "label",
                      "t1"."at_day" AS "at_day",
                      "t1"."user" AS "user",
                      "t1"."one" AS "one"
                    FROM (
                      SELECT
                        CONCAT("t0"."query", '', '') AS "label",
                        CASE
                          WHEN (
                            CAST(toYear("t0"."seen") AS Nullable(Int64)) >= 1
                          )
                          AND (
                            CAST(toYear("t0"."seen") AS Nullable(Int64)) <= 9999
                          )
                          THEN SUBSTRING(
                            formatDateTime("t0"."seen", '%Y-%m-%d'),
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
                              ) + 1 + LENGTH(formatDateTime("t0"."seen", '%Y-%m-%d'))
                            END,
                            10
                          )
                          ELSE NULL
                        END AS "at_day",
                        CONCAT("t0"."user", '', '') AS "user",
                        CONCAT("t0"."user", '', '') AS "user_name",
                        1 AS "one"
                      FROM "events" AS "t0"
                    ) AS "t1"
                    WHERE
                      NOT (
                        isNull("t1"."user") OR isNull("t1"."label")
                      )
                      AND CASE
                        WHEN isNull("t1"."at_day")
                        THEN NULL
                        ELSE "t1"."at_day" IN ('2026-11-01', '2026-11-02')
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
            "t6"."at_day"
        ) AS "t7"
      ) AS "t8"
    ) AS "t9"
  ) AS "t10"
  GROUP BY
    "t10"."at_day"
) AS "t11";

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
                  "t0"."written" AS "written"
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
    "t4"."count" AS "count",
    "t4"."is_null" AS "is_null",
    COUNT(*) AS "prevalence",
    COALESCE(SUM("t4"."wrong"), 0) AS "wrong",
    MAX("t4"."size") AS "size"
  FROM (
    SELECT
      "t3"."label" AS "label",
      "t3"."count" AS "count",
      "t3"."wrong" AS "wrong",
      "t3"."size" AS "size",
      isNull("t3"."label") AS "is_null"
    FROM (
      SELECT
        "t2"."label" AS "label",
        COALESCE(SUM("t2"."count"), 0) AS "count",
        COALESCE(SUM("t2"."wrong"), 0) AS "wrong",
        COALESCE(SUM("t2"."size"), 0) AS "size"
      FROM (
        SELECT
          "t1"."label" AS "label",
          "t1"."count" AS "count",
          "t1"."wrong" AS "wrong",
          CASE
            WHEN 4294967296 <> 0
            THEN CAST(FLOOR((
              "t1"."count"
            ) / (
              4294967296
            )) AS Nullable(Int64))
            ELSE NULL
          END AS "size"
        FROM (
          SELECT
            CONCAT("t0"."query", '', '') AS "label",
            CASE
              WHEN NOT (
                isNull("t0"."count")
              )
              AND COALESCE(
                (
                  "t0"."count" >= 1
                )
                AND (
                  "t0"."count" <= 9223372036854775807
                )
                AND NOT (
                  position(CAST("t0"."count" AS Nullable(String)), '.') > 0
                ),
                FALSE
              )
              THEN "t0"."count"
              ELSE 0
            END AS "count",
            CASE
              WHEN NOT (
                NOT (
                  isNull("t0"."count")
                )
                AND COALESCE(
                  (
                    "t0"."count" >= 1
                  )
                  AND (
                    "t0"."count" <= 9223372036854775807
                  )
                  AND NOT (
                    position(CAST("t0"."count" AS Nullable(String)), '.') > 0
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
        "t2"."label"
    ) AS "t3"
  ) AS "t4"
  GROUP BY
    "t4"."count",
    "t4"."is_null"
) AS "t5";

-- counts as text
SELECT
  *
FROM (
  SELECT
    "t4"."count" AS "count",
    "t4"."is_null" AS "is_null",
    COUNT(*) AS "prevalence",
    COALESCE(SUM("t4"."wrong"), 0) AS "wrong",
    MAX("t4"."size") AS "size"
  FROM (
    SELECT
      "t3"."label" AS "label",
      "t3"."count" AS "count",
      "t3"."wrong" AS "wrong",
      "t3"."size" AS "size",
      isNull("t3"."label") AS "is_null"
    FROM (
      SELECT
        "t2"."label" AS "label",
        COALESCE(SUM("t2"."count"), 0) AS "count",
        COALESCE(SUM("t2"."wrong"), 0) AS "wrong",
        COALESCE(SUM("t2"."size"), 0) AS "size"
      FROM (
        SELECT
          "t1"."label" AS "label",
          "t1"."count" AS "count",
          "t1"."wrong" AS "wrong",
          CASE
            WHEN 4294967296 <> 0
            THEN CAST(FLOOR((
              "t1"."count"
            ) / (
              4294967296
            )) AS Nullable(Int64))
            ELSE NULL
          END AS "size"
        FROM (
          SELECT
            CONCAT("t0"."query", '', '') AS "label",
            CAST(CASE
              WHEN NOT (
                isNull("t0"."written")
              )
              AND COALESCE(
                match("t0"."written", '^ *0*[1-9][0-9]{0,17} *$')
                OR (
                  match("t0"."written", '^ *[1-9][0-9]{18} *$')
                  AND (
                    TRIM(BOTH ' \t\n\r\v\f' FROM "t0"."written") <= '9223372036854775807'
                  )
                ),
                FALSE
              )
              THEN TRIM(BOTH ' \t\n\r\v\f' FROM "t0"."written")
              ELSE '0'
            END AS Nullable(Int64)) AS "count",
            CASE
              WHEN NOT (
                NOT (
                  isNull("t0"."written")
                )
                AND COALESCE(
                  match("t0"."written", '^ *0*[1-9][0-9]{0,17} *$')
                  OR (
                    match("t0"."written", '^ *[1-9][0-9]{18} *$')
                    AND (
                      TRIM(BOTH ' \t\n\r\v\f' FROM "t0"."written") <= '9223372036854775807'
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
        "t2"."label"
    ) AS "t3"
  ) AS "t4"
  GROUP BY
    "t4"."count",
    "t4"."is_null"
) AS "t5";

-- prevalences
SELECT
  "t3"."count" AS "count",
  "t3"."prevalence" AS "prevalence",
  "t3"."rows" AS "rows",
  "t3"."wrong_counts" AS "wrong_counts",
  "t3"."wrong" AS "wrong",
  "t3"."size" AS "size"
FROM (
  SELECT
    "t2"."count" AS "count",
    COALESCE(SUM("t2"."prevalence"), 0) AS "prevalence",
    COALESCE(SUM("t2"."wrong_counts"), 0) AS "wrong_counts",
    COALESCE(SUM("t2"."wrong"), 0) AS "wrong",
    COALESCE(SUM("t2"."size"), 0) AS "size",
    COUNT(*) AS "rows"
  FROM (
    SELECT
      "t1"."count" AS "count",
      "t1"."prevalence" AS "prevalence",
      "t1"."wrong_counts" AS "wrong_counts",
      "t1"."wrong" AS "wrong",
      CASE
        WHEN 4294967296 <> 0
        THEN CAST(FLOOR((
          "t1"."prevalence"
        ) / (
          4294967296
        )) AS Nullable(Int64))
        ELSE NULL
      END AS "size"
    FROM (
      SELECT
        CASE
          WHEN NOT (
            isNull("t0"."count")
          )
          AND COALESCE(
            (
              "t0"."count" >= 1
            )
            AND (
              "t0"."count" <= 9223372036854775807
            )
            AND NOT (
              position(CAST("t0"."count" AS Nullable(String)), '.') > 0
            ),
            FALSE
          )
          THEN "t0"."count"
          ELSE 0
        END AS "count",
        CAST(CASE
          WHEN NOT (
            isNull("t0"."share")
          )
          AND COALESCE(
            CASE
              WHEN NOT (
                isNull("t0"."share")
                OR CASE WHEN isNull("t0"."share") THEN NULL ELSE isNaN("t0"."share") END
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
                  isNull("t0"."share")
                  OR CASE WHEN isNull("t0"."share") THEN NULL ELSE isNaN("t0"."share") END
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
            ) AS Nullable(Int64)),
            FALSE
          )
          THEN "t0"."share"
          ELSE 0.0
        END AS Nullable(Int64)) AS "prevalence",
        CASE
          WHEN NOT (
            NOT (
              isNull("t0"."count")
            )
            AND COALESCE(
              (
                "t0"."count" >= 1
              )
              AND (
                "t0"."count" <= 9223372036854775807
              )
              AND NOT (
                position(CAST("t0"."count" AS Nullable(String)), '.') > 0
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
              isNull("t0"."share")
            )
            AND COALESCE(
              CASE
                WHEN NOT (
                  isNull("t0"."share")
                  OR CASE WHEN isNull("t0"."share") THEN NULL ELSE isNaN("t0"."share") END
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
                    isNull("t0"."share")
                    OR CASE WHEN isNull("t0"."share") THEN NULL ELSE isNaN("t0"."share") END
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
              ) AS Nullable(Int64)),
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
    "t2"."count"
) AS "t3";
