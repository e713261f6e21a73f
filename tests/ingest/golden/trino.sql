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
          CONCAT("t1"."query", '', '') AS "label"
        FROM (
          SELECT
            "t0"."query",
            "t0"."user",
            "t0"."ts",
            "t0"."price",
            "t0"."country",
            "t0"."seen",
            AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
            "t0"."count",
            "t0"."share",
            "t0"."written",
            "t0"."amount"
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
            FROM_BASE(
              SUBSTR("t5"."hash", IF((
                0 + 1
              ) >= 1, 0 + 1, 0 + 1 + LENGTH("t5"."hash")), 12),
              16
            ) AS "start"
          FROM (
            SELECT
              "t4"."label",
              "t4"."user",
              "t4"."one",
              "t4"."number",
              "t4"."total",
              IF(
                "t4"."total" > 5,
                LOWER(TO_HEX(MD5(TO_UTF8(CONCAT('0123456789abcdef0123456789abcdef ', "t4"."user"))))),
                NULL
              ) AS "hash"
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
                    CONCAT("t1"."query", '', '') AS "label",
                    CONCAT("t1"."user", '', '') AS "user",
                    CONCAT("t1"."user", '', '') AS "user_name",
                    1 AS "one"
                  FROM (
                    SELECT
                      "t0"."query",
                      "t0"."user",
                      "t0"."ts",
                      "t0"."price",
                      "t0"."country",
                      "t0"."seen",
                      AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
                      "t0"."count",
                      "t0"."share",
                      "t0"."written",
                      "t0"."amount"
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
              LOWER(
                TO_HEX(
                  MD5(
                    TO_UTF8(
                      CONCAT(
                        CONCAT(
                          CONCAT(
                            CONCAT(
                              CONCAT('0123456789abcdef0123456789abcdef', CAST("t3"."occurrence" AS VARCHAR)),
                              ' '
                            ),
                            "t3"."user_name"
                          ),
                          '
'
                        ),
                        IF("t3"."label" IS NULL, '', CONCAT('=', "t3"."label"))
                      )
                    )
                  )
                )
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
                  CONCAT("t1"."query", '', '') AS "label",
                  CONCAT("t1"."user", '', '') AS "user",
                  CONCAT("t1"."user", '', '') AS "user_name",
                  CASE WHEN NOT (
                    "t1"."ts" IS NULL
                  ) THEN CAST("t1"."ts" AS DOUBLE) ELSE NULL END AS "rank_by",
                  1 AS "one"
                FROM (
                  SELECT
                    "t0"."query",
                    "t0"."user",
                    "t0"."ts",
                    "t0"."price",
                    "t0"."country",
                    "t0"."seen",
                    AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
                    "t0"."count",
                    "t0"."share",
                    "t0"."written",
                    "t0"."amount"
                  FROM "events" AS "t0"
                ) AS "t1"
                WHERE
                  NOT (
                    (
                      CONCAT("t1"."user", '', '') IS NULL
                    )
                    OR (
                      CONCAT("t1"."query", '', '') IS NULL
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
              LOWER(
                TO_HEX(
                  MD5(
                    TO_UTF8(
                      CONCAT(
                        CONCAT(
                          CONCAT(
                            CONCAT(
                              CONCAT('0123456789abcdef0123456789abcdef', CAST("t4"."occurrence" AS VARCHAR)),
                              ' '
                            ),
                            "t4"."user_name"
                          ),
                          '
'
                        ),
                        IF("t4"."label" IS NULL, '', CONCAT('=', "t4"."label"))
                      )
                    )
                  )
                )
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
                        OR IF("t1"."price" IS NULL, NULL, IS_NAN("t1"."price"))
                      )
                      THEN CASE
                        WHEN COALESCE(
                          CASE
                            WHEN NOT (
                              (
                                "t1"."price" IS NULL
                              )
                              OR IF("t1"."price" IS NULL, NULL, IS_NAN("t1"."price"))
                            )
                            AND (
                              (
                                "t1"."price" > -9007199254740992
                              ) AND (
                                "t1"."price" < 9007199254740992
                              )
                            )
                            THEN "t1"."price"
                            ELSE CAST(0.5 AS DOUBLE)
                          END = CAST(ROUND(
                            CASE
                              WHEN NOT (
                                (
                                  "t1"."price" IS NULL
                                )
                                OR IF("t1"."price" IS NULL, NULL, IS_NAN("t1"."price"))
                              )
                              AND (
                                (
                                  "t1"."price" > -9007199254740992
                                ) AND (
                                  "t1"."price" < 9007199254740992
                                )
                              )
                              THEN "t1"."price"
                              ELSE CAST(0.5 AS DOUBLE)
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
                              OR IF("t1"."price" IS NULL, NULL, IS_NAN("t1"."price"))
                            )
                            AND (
                              (
                                "t1"."price" > -9007199254740992
                              ) AND (
                                "t1"."price" < 9007199254740992
                              )
                            )
                            THEN "t1"."price"
                            ELSE CAST(0.5 AS DOUBLE)
                          END,
                          0
                        ) AS BIGINT) AS VARCHAR)
                        ELSE CAST("t1"."price" AS VARCHAR)
                      END
                      ELSE NULL
                    END AS "label",
                    CONCAT("t1"."user", '', '') AS "user",
                    CONCAT("t1"."user", '', '') AS "user_name",
                    CASE
                      WHEN NOT (
                        (
                          "t1"."price" IS NULL
                        )
                        OR IF("t1"."price" IS NULL, NULL, IS_NAN("t1"."price"))
                      )
                      THEN "t1"."price" + CAST(0.0 AS DOUBLE)
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
                          OR IF("t1"."price" IS NULL, NULL, IS_NAN("t1"."price"))
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
                      AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
                      "t0"."count",
                      "t0"."share",
                      "t0"."written",
                      "t0"."amount"
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
              LOWER(
                TO_HEX(
                  MD5(
                    TO_UTF8(
                      CONCAT(
                        CONCAT(
                          CONCAT(
                            CONCAT(
                              CONCAT('0123456789abcdef0123456789abcdef', CAST("t4"."occurrence" AS VARCHAR)),
                              ' '
                            ),
                            "t4"."user_name"
                          ),
                          '
'
                        ),
                        IF("t4"."label" IS NULL, '', CONCAT('=', "t4"."label"))
                      )
                    )
                  )
                )
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
                        WHEN REGEXP_LIKE(CAST("t1"."amount" AS VARCHAR), '\.[0-9]+$')
                        THEN REGEXP_REPLACE(CAST("t1"."amount" AS VARCHAR), '\.?0+$', '')
                        ELSE CAST("t1"."amount" AS VARCHAR)
                      END
                      ELSE NULL
                    END AS "label",
                    CONCAT("t1"."user", '', '') AS "user",
                    CONCAT("t1"."user", '', '') AS "user_name",
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
                      AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
                      "t0"."count",
                      "t0"."share",
                      "t0"."written",
                      "t0"."amount"
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
              WHEN SUBSTR(
                CAST("t1"."seen" AS VARCHAR),
                IF(
                  (
                    (
                      20 - 1
                    ) + 1
                  ) >= 1,
                  (
                    20 - 1
                  ) + 1,
                  (
                    20 - 1
                  ) + 1 + LENGTH(CAST("t1"."seen" AS VARCHAR))
                ),
                1
              ) = '.'
              THEN CASE
                WHEN SUBSTR(
                  SUBSTR(
                    SUBSTR(
                      CONCAT(CAST("t1"."seen" AS VARCHAR), '', '00000000'),
                      IF(
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
                        ) + 1 + LENGTH(CONCAT(CAST("t1"."seen" AS VARCHAR), '', '00000000'))
                      ),
                      29
                    ),
                    IF(
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
                      ) + 1 + LENGTH(
                        SUBSTR(
                          CONCAT(CAST("t1"."seen" AS VARCHAR), '', '00000000'),
                          IF(
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
                            ) + 1 + LENGTH(CONCAT(CAST("t1"."seen" AS VARCHAR), '', '00000000'))
                          ),
                          29
                        )
                      )
                    ),
                    26
                  ),
                  IF(
                    (
                      (
                        20 - 1
                      ) + 1
                    ) >= 1,
                    (
                      20 - 1
                    ) + 1,
                    (
                      20 - 1
                    ) + 1 + LENGTH(
                      SUBSTR(
                        SUBSTR(
                          CONCAT(CAST("t1"."seen" AS VARCHAR), '', '00000000'),
                          IF(
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
                            ) + 1 + LENGTH(CONCAT(CAST("t1"."seen" AS VARCHAR), '', '00000000'))
                          ),
                          29
                        ),
                        IF(
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
                          ) + 1 + LENGTH(
                            SUBSTR(
                              CONCAT(CAST("t1"."seen" AS VARCHAR), '', '00000000'),
                              IF(
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
                                ) + 1 + LENGTH(CONCAT(CAST("t1"."seen" AS VARCHAR), '', '00000000'))
                              ),
                              29
                            )
                          )
                        ),
                        26
                      )
                    )
                  ),
                  LENGTH(
                    SUBSTR(
                      SUBSTR(
                        CONCAT(CAST("t1"."seen" AS VARCHAR), '', '00000000'),
                        IF(
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
                          ) + 1 + LENGTH(CONCAT(CAST("t1"."seen" AS VARCHAR), '', '00000000'))
                        ),
                        29
                      ),
                      IF(
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
                        ) + 1 + LENGTH(
                          SUBSTR(
                            CONCAT(CAST("t1"."seen" AS VARCHAR), '', '00000000'),
                            IF(
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
                              ) + 1 + LENGTH(CONCAT(CAST("t1"."seen" AS VARCHAR), '', '00000000'))
                            ),
                            29
                          )
                        )
                      ),
                      26
                    )
                  )
                ) = '.000000'
                THEN SUBSTR(
                  CAST("t1"."seen" AS VARCHAR),
                  IF(
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
                    ) + 1 + LENGTH(CAST("t1"."seen" AS VARCHAR))
                  ),
                  19
                )
                ELSE SUBSTR(
                  SUBSTR(
                    CONCAT(CAST("t1"."seen" AS VARCHAR), '', '00000000'),
                    IF(
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
                      ) + 1 + LENGTH(CONCAT(CAST("t1"."seen" AS VARCHAR), '', '00000000'))
                    ),
                    29
                  ),
                  IF(
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
                    ) + 1 + LENGTH(
                      SUBSTR(
                        CONCAT(CAST("t1"."seen" AS VARCHAR), '', '00000000'),
                        IF(
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
                          ) + 1 + LENGTH(CONCAT(CAST("t1"."seen" AS VARCHAR), '', '00000000'))
                        ),
                        29
                      )
                    )
                  ),
                  26
                )
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
            AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
            "t0"."count",
            "t0"."share",
            "t0"."written",
            "t0"."amount"
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
              WHEN SUBSTR(
                CAST("t1"."zoned" AS VARCHAR),
                IF(
                  (
                    (
                      20 - 1
                    ) + 1
                  ) >= 1,
                  (
                    20 - 1
                  ) + 1,
                  (
                    20 - 1
                  ) + 1 + LENGTH(CAST("t1"."zoned" AS VARCHAR))
                ),
                1
              ) = '.'
              THEN CASE
                WHEN SUBSTR(
                  SUBSTR(
                    SUBSTR(
                      CONCAT(CAST("t1"."zoned" AS VARCHAR), '', '00000000'),
                      IF(
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
                        ) + 1 + LENGTH(CONCAT(CAST("t1"."zoned" AS VARCHAR), '', '00000000'))
                      ),
                      29
                    ),
                    IF(
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
                      ) + 1 + LENGTH(
                        SUBSTR(
                          CONCAT(CAST("t1"."zoned" AS VARCHAR), '', '00000000'),
                          IF(
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
                            ) + 1 + LENGTH(CONCAT(CAST("t1"."zoned" AS VARCHAR), '', '00000000'))
                          ),
                          29
                        )
                      )
                    ),
                    26
                  ),
                  IF(
                    (
                      (
                        20 - 1
                      ) + 1
                    ) >= 1,
                    (
                      20 - 1
                    ) + 1,
                    (
                      20 - 1
                    ) + 1 + LENGTH(
                      SUBSTR(
                        SUBSTR(
                          CONCAT(CAST("t1"."zoned" AS VARCHAR), '', '00000000'),
                          IF(
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
                            ) + 1 + LENGTH(CONCAT(CAST("t1"."zoned" AS VARCHAR), '', '00000000'))
                          ),
                          29
                        ),
                        IF(
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
                          ) + 1 + LENGTH(
                            SUBSTR(
                              CONCAT(CAST("t1"."zoned" AS VARCHAR), '', '00000000'),
                              IF(
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
                                ) + 1 + LENGTH(CONCAT(CAST("t1"."zoned" AS VARCHAR), '', '00000000'))
                              ),
                              29
                            )
                          )
                        ),
                        26
                      )
                    )
                  ),
                  LENGTH(
                    SUBSTR(
                      SUBSTR(
                        CONCAT(CAST("t1"."zoned" AS VARCHAR), '', '00000000'),
                        IF(
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
                          ) + 1 + LENGTH(CONCAT(CAST("t1"."zoned" AS VARCHAR), '', '00000000'))
                        ),
                        29
                      ),
                      IF(
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
                        ) + 1 + LENGTH(
                          SUBSTR(
                            CONCAT(CAST("t1"."zoned" AS VARCHAR), '', '00000000'),
                            IF(
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
                              ) + 1 + LENGTH(CONCAT(CAST("t1"."zoned" AS VARCHAR), '', '00000000'))
                            ),
                            29
                          )
                        )
                      ),
                      26
                    )
                  )
                ) = '.000000'
                THEN SUBSTR(
                  CAST("t1"."zoned" AS VARCHAR),
                  IF(
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
                    ) + 1 + LENGTH(CAST("t1"."zoned" AS VARCHAR))
                  ),
                  19
                )
                ELSE SUBSTR(
                  SUBSTR(
                    CONCAT(CAST("t1"."zoned" AS VARCHAR), '', '00000000'),
                    IF(
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
                      ) + 1 + LENGTH(CONCAT(CAST("t1"."zoned" AS VARCHAR), '', '00000000'))
                    ),
                    29
                  ),
                  IF(
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
                    ) + 1 + LENGTH(
                      SUBSTR(
                        CONCAT(CAST("t1"."zoned" AS VARCHAR), '', '00000000'),
                        IF(
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
                          ) + 1 + LENGTH(CONCAT(CAST("t1"."zoned" AS VARCHAR), '', '00000000'))
                        ),
                        29
                      )
                    )
                  ),
                  26
                )
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
            AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
            "t0"."count",
            "t0"."share",
            "t0"."written",
            "t0"."amount"
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
            CONCAT("t1"."query", '', '') AS "label",
            CONCAT("t1"."user", '', '') AS "user"
          FROM (
            SELECT
              "t0"."query",
              "t0"."user",
              "t0"."ts",
              "t0"."price",
              "t0"."country",
              "t0"."seen",
              AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
              "t0"."count",
              "t0"."share",
              "t0"."written",
              "t0"."amount"
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
      "t0"."query",
      "t0"."user",
      "t0"."ts",
      "t0"."price",
      "t0"."country",
      "t0"."seen",
      AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
      "t0"."count",
      "t0"."share",
      "t0"."written",
      "t0"."amount"
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
            CONCAT(
              CASE
                WHEN "t2"."group0" IS NULL
                THEN '0'
                ELSE REPLACE(REPLACE("t2"."group0", '', '2'), '', '1')
              END,
              '',
              CASE
                WHEN "t2"."group1" IS NULL
                THEN '0'
                ELSE REPLACE(REPLACE("t2"."group1", '', '2'), '', '1')
              END
            ) AS "group"
          FROM (
            SELECT
              CONCAT("t1"."query", '', '') AS "label",
              CONCAT("t1"."country", '', '') AS "group0",
              CASE
                WHEN (
                  CAST(EXTRACT(year FROM "t1"."zoned") AS BIGINT) >= 1
                )
                AND (
                  CAST(EXTRACT(year FROM "t1"."zoned") AS BIGINT) <= 9999
                )
                THEN SUBSTR(
                  DATE_FORMAT("t1"."zoned", '%Y-%m-%d'),
                  IF(
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
                    ) + 1 + LENGTH(DATE_FORMAT("t1"."zoned", '%Y-%m-%d'))
                  ),
                  10
                )
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
                AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
                "t0"."count",
                "t0"."share",
                "t0"."written",
                "t0"."amount"
              FROM "events" AS "t0"
            ) AS "t1"
          ) AS "t2"
          WHERE
            NOT (
              COALESCE("t2"."group0" IS NULL, FALSE) OR COALESCE("t2"."group1" IS NULL, FALSE)
            )
        ) AS "t3"
        WHERE
          IF("t3"."group" IS NULL, NULL, "t3"."group" IN ('de2026-11-01', 'f1r2026-11-02'))
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
            FROM_BASE(
              SUBSTR("t4"."hash", IF((
                0 + 1
              ) >= 1, 0 + 1, 0 + 1 + LENGTH("t4"."hash")), 12),
              16
            ) AS "start"
          FROM (
            SELECT
              "t3"."label",
              "t3"."user",
              "t3"."one",
              "t3"."group",
              "t3"."number",
              "t3"."total",
              IF(
                "t3"."total" > 5,
                LOWER(TO_HEX(MD5(TO_UTF8(CONCAT('0123456789abcdef0123456789abcdef ', "t3"."user"))))),
                NULL
              ) AS "hash"
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
                  CONCAT("t1"."query", '', '') AS "label",
                  CONCAT("t1"."user", '', '') AS "user",
                  1 AS "one",
                  CONCAT("t1"."country", '', '') AS "group"
                FROM (
                  SELECT
                    "t0"."query",
                    "t0"."user",
                    "t0"."ts",
                    "t0"."price",
                    "t0"."country",
                    "t0"."seen",
                    AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
                    "t0"."count",
                    "t0"."share",
                    "t0"."written",
                    "t0"."amount"
                  FROM "events" AS "t0"
                ) AS "t1"
                WHERE
                  NOT (
                    (
                      CONCAT("t1"."user", '', '') IS NULL
                    )
                    OR (
                      CONCAT("t1"."query", '', '') IS NULL
                    )
                  )
                  AND IF(
                    CONCAT("t1"."country", '', '') IS NULL,
                    NULL,
                    CONCAT("t1"."country", '', '') IN ('de', 'fr')
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
            "t7"."hash",
            FROM_BASE(
              SUBSTR("t7"."hash", IF((
                0 + 1
              ) >= 1, 0 + 1, 0 + 1 + LENGTH("t7"."hash")), 12),
              16
            ) AS "start"
          FROM (
            SELECT
              "t6"."label",
              "t6"."user",
              "t6"."one",
              "t6"."group",
              "t6"."number",
              "t6"."total",
              IF(
                "t6"."total" > 5,
                LOWER(
                  TO_HEX(
                    MD5(
                      TO_UTF8(
                        CONCAT(
                          CONCAT(CONCAT('0123456789abcdef0123456789abcdef ', "t6"."user"), '
'),
                          "t6"."group"
                        )
                      )
                    )
                  )
                ),
                NULL
              ) AS "hash"
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
                      DENSE_RANK() OVER (PARTITION BY "t3"."user" ORDER BY CONCAT("t3"."hash", "t3"."group") ASC) - 1
                    ) + 1 AS "group_rank"
                  FROM (
                    SELECT
                      "t2"."label",
                      "t2"."user",
                      "t2"."user_name",
                      "t2"."one",
                      "t2"."group",
                      "t2"."occurrence",
                      LOWER(
                        TO_HEX(
                          MD5(
                            TO_UTF8(
                              CONCAT(
                                CONCAT(
                                  CONCAT(
                                    CONCAT(
                                      CONCAT('0123456789abcdef0123456789abcdef', CAST("t2"."occurrence" AS VARCHAR)),
                                      ' '
                                    ),
                                    "t2"."user_name"
                                  ),
                                  '
'
                                ),
                                IF("t2"."group" IS NULL, '', CONCAT('=', "t2"."group"))
                              )
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
                          "t0"."query",
                          "t0"."user",
                          "t0"."ts",
                          "t0"."price",
                          "t0"."country",
                          "t0"."seen",
                          AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
                          "t0"."count",
                          "t0"."share",
                          "t0"."written",
                          "t0"."amount"
                        FROM "events" AS "t0"
                      ) AS "t1"
                      WHERE
                        NOT (
                          (
                            CONCAT("t1"."user", '', '') IS NULL
                          )
                          OR (
                            CONCAT("t1"."query", '', '') IS NULL
                          )
                        )
                        AND IF(
                          CONCAT("t1"."country", '', '') IS NULL,
                          NULL,
                          CONCAT("t1"."country", '', '') IN ('de', 'fr')
                        )
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
            LOWER(
              TO_HEX(
                MD5(
                  TO_UTF8(
                    CONCAT(
                      CONCAT(
                        CONCAT(
                          CONCAT(
                            CONCAT('0123456789abcdef0123456789abcdef', CAST("t5"."occurrence" AS VARCHAR)),
                            ' '
                          ),
                          "t5"."user_name"
                        ),
                        '
'
                      ),
                      IF("t5"."group" IS NULL, '', CONCAT('=', "t5"."group"))
                    )
                  )
                )
              )
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
                    CONCAT("t1"."query", '', '') AS "label",
                    CONCAT("t1"."country", '', '') AS "group0"
                  FROM (
                    SELECT
                      "t0"."query",
                      "t0"."user",
                      "t0"."ts",
                      "t0"."price",
                      "t0"."country",
                      "t0"."seen",
                      AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
                      "t0"."count",
                      "t0"."share",
                      "t0"."written",
                      "t0"."amount"
                    FROM "events" AS "t0"
                  ) AS "t1"
                ) AS "t2"
                WHERE
                  IF("t2"."group0" IS NULL, NULL, "t2"."group0" IN ('de', 'fr'))
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
                "t5"."hash",
                FROM_BASE(
                  SUBSTR("t5"."hash", IF((
                    0 + 1
                  ) >= 1, 0 + 1, 0 + 1 + LENGTH("t5"."hash")), 12),
                  16
                ) AS "start"
              FROM (
                SELECT
                  "t4"."label",
                  "t4"."at_day",
                  "t4"."user",
                  "t4"."one",
                  "t4"."number",
                  "t4"."total",
                  IF(
                    "t4"."total" > 5,
                    LOWER(TO_HEX(MD5(TO_UTF8(CONCAT('0123456789abcdef0123456789abcdef ', "t4"."user"))))),
                    NULL
                  ) AS "hash"
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
                        CONCAT("t1"."query", '', '') AS "label",
                        CASE
                          WHEN (
                            CAST(EXTRACT(year FROM "t1"."seen") AS BIGINT) >= 1
                          )
                          AND (
                            CAST(EXTRACT(year FROM "t1"."seen") AS BIGINT) <= 9999
                          )
                          THEN SUBSTR(
                            DATE_FORMAT("t1"."seen", '%Y-%m-%d'),
                            IF(
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
                              ) + 1 + LENGTH(DATE_FORMAT("t1"."seen", '%Y-%m-%d'))
                            ),
                            10
                          )
                          ELSE NULL
                        END AS "at_day",
                        CONCAT("t1"."user", '', '') AS "user",
                        CONCAT("t1"."user", '', '') AS "user_name",
                        1 AS "one"
                      FROM (
                        SELECT
                          "t0"."query",
                          "t0"."user",
                          "t0"."ts",
                          "t0"."price",
                          "t0"."country",
                          "t0"."seen",
                          AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
                          "t0"."count",
                          "t0"."share",
                          "t0"."written",
                          "t0"."amount"
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
                      AND IF("t2"."at_day" IS NULL, NULL, "t2"."at_day" IN ('2026-11-01', '2026-11-02'))
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
                CONCAT("t1"."query", '', '') AS "label",
                IF(
                  DATE_DIFF(
                    'DAY',
                    DATE_TRUNC('DAY', FROM_ISO8601_DATE(FORMAT('%04d-%02d-%02d', 1970, 1, 1))),
                    DATE_TRUNC('DAY', DATE("t1"."zoned"))
                  ) + 719162 BETWEEN 0 AND 3652058,
                  LPAD(
                    CAST(CAST(FLOOR(
                      CAST((
                        DATE_DIFF(
                          'DAY',
                          DATE_TRUNC('DAY', FROM_ISO8601_DATE(FORMAT('%04d-%02d-%02d', 1970, 1, 1))),
                          DATE_TRUNC('DAY', DATE("t1"."zoned"))
                        ) + 719162
                      ) AS DOUBLE) / (
                        7
                      )
                    ) AS BIGINT) AS VARCHAR),
                    GREATEST(
                      LENGTH(
                        CAST(CAST(FLOOR(
                          CAST((
                            DATE_DIFF(
                              'DAY',
                              DATE_TRUNC('DAY', FROM_ISO8601_DATE(FORMAT('%04d-%02d-%02d', 1970, 1, 1))),
                              DATE_TRUNC('DAY', DATE("t1"."zoned"))
                            ) + 719162
                          ) AS DOUBLE) / (
                            7
                          )
                        ) AS BIGINT) AS VARCHAR)
                      ),
                      6
                    ),
                    '0'
                  ),
                  NULL
                ) AS "at_day"
              FROM (
                SELECT
                  "t0"."query",
                  "t0"."user",
                  "t0"."ts",
                  "t0"."price",
                  "t0"."country",
                  "t0"."seen",
                  AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
                  "t0"."count",
                  "t0"."share",
                  "t0"."written",
                  "t0"."amount"
                FROM "events" AS "t0"
              ) AS "t1"
            ) AS "t2"
            WHERE
              IF("t2"."at_day" IS NULL, NULL, "t2"."at_day" IN ('105702', '105703'))
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
            ) AS DOUBLE) / (
              4294967296
            )) AS BIGINT)
            ELSE NULL
          END AS "size"
        FROM (
          SELECT
            CONCAT("t1"."query", '', '') AS "label",
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
              AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
              "t0"."count",
              "t0"."share",
              "t0"."written",
              "t0"."amount"
            FROM "events" AS "t0"
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
            ) AS DOUBLE) / (
              4294967296
            )) AS BIGINT)
            ELSE NULL
          END AS "size"
        FROM (
          SELECT
            CONCAT("t1"."query", '', '') AS "label",
            CAST(CASE
              WHEN NOT (
                "t1"."written" IS NULL
              )
              AND COALESCE(
                REGEXP_LIKE("t1"."written", '^ *0*[0-9]{1,18} *$')
                OR (
                  REGEXP_LIKE("t1"."written", '^ *[1-9][0-9]{18} *$')
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
                  REGEXP_LIKE("t1"."written", '^ *0*[0-9]{1,18} *$')
                  OR (
                    REGEXP_LIKE("t1"."written", '^ *[1-9][0-9]{18} *$')
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
              AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
              "t0"."count",
              "t0"."share",
              "t0"."written",
              "t0"."amount"
            FROM "events" AS "t0"
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
          CONCAT("t1"."query", '', '') AS "label"
        FROM (
          SELECT
            "t0"."query",
            "t0"."user",
            "t0"."ts",
            "t0"."price",
            "t0"."country",
            "t0"."seen",
            AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
            "t0"."count",
            "t0"."share",
            "t0"."written",
            "t0"."amount"
          FROM "events" AS "t0"
        ) AS "t1"
        WHERE
          NOT (
            "t1"."country" IS NULL
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
            "t1"."query" IS NULL
          )
          AND CONCAT("t1"."query", '', '') < 'ä'
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
          CONCAT("t1"."query", '', '') AS "label"
        FROM (
          SELECT
            "t0"."query",
            "t0"."user",
            "t0"."ts",
            "t0"."price",
            "t0"."country",
            "t0"."seen",
            AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
            "t0"."count",
            "t0"."share",
            "t0"."written",
            "t0"."amount"
          FROM "events" AS "t0"
        ) AS "t1"
        WHERE
          NOT (
            (
              "t1"."price" IS NULL
            )
            OR IF("t1"."price" IS NULL, NULL, IS_NAN("t1"."price"))
          )
          AND "t1"."price" <= CAST(2.5 AS DOUBLE)
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
        ) AS DOUBLE) / (
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
                OR IF("t1"."share" IS NULL, NULL, IS_NAN("t1"."share"))
              )
              AND (
                "t1"."share" >= 0
              )
              AND (
                "t1"."share" <= 9007199254740992
              )
              THEN "t1"."share"
              ELSE CAST(0.5 AS DOUBLE)
            END = CAST(ROUND(
              CASE
                WHEN NOT (
                  (
                    "t1"."share" IS NULL
                  )
                  OR IF("t1"."share" IS NULL, NULL, IS_NAN("t1"."share"))
                )
                AND (
                  "t1"."share" >= 0
                )
                AND (
                  "t1"."share" <= 9007199254740992
                )
                THEN "t1"."share"
                ELSE CAST(0.5 AS DOUBLE)
              END,
              0
            ) AS BIGINT),
            FALSE
          )
          THEN "t1"."share"
          ELSE CAST(0.0 AS DOUBLE)
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
                  OR IF("t1"."share" IS NULL, NULL, IS_NAN("t1"."share"))
                )
                AND (
                  "t1"."share" >= 0
                )
                AND (
                  "t1"."share" <= 9007199254740992
                )
                THEN "t1"."share"
                ELSE CAST(0.5 AS DOUBLE)
              END = CAST(ROUND(
                CASE
                  WHEN NOT (
                    (
                      "t1"."share" IS NULL
                    )
                    OR IF("t1"."share" IS NULL, NULL, IS_NAN("t1"."share"))
                  )
                  AND (
                    "t1"."share" >= 0
                  )
                  AND (
                    "t1"."share" <= 9007199254740992
                  )
                  THEN "t1"."share"
                  ELSE CAST(0.5 AS DOUBLE)
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
          "t0"."query",
          "t0"."user",
          "t0"."ts",
          "t0"."price",
          "t0"."country",
          "t0"."seen",
          AT_TIMEZONE("t0"."zoned", 'UTC') AS "zoned",
          "t0"."count",
          "t0"."share",
          "t0"."written",
          "t0"."amount"
        FROM "events" AS "t0"
      ) AS "t1"
    ) AS "t2"
  ) AS "t3"
  GROUP BY
    1
) AS "t4";
