-- by ibis-framework 12.0.0 and sqlglot 30.29.0

-- events
SELECT
  *
FROM (
  SELECT
    `t5`.`count`,
    `t5`.`is_null`,
    COUNT(*) AS `prevalence`
  FROM (
    SELECT
      `t4`.`count`,
      `t4`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t3`.`label`,
        COUNT(*) AS `count`
      FROM (
        SELECT
          CONCAT(`t2`.`query`, '', '') AS `label`
        FROM (
          SELECT
            `t1`.`query`,
            `t1`.`user`,
            `t1`.`ts`,
            `t1`.`price`,
            `t1`.`country`,
            `t1`.`seen`,
            DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
            `t1`.`count`,
            `t1`.`share`,
            `t1`.`written`,
            `t1`.`amount`
          FROM (
            SELECT
              CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
              CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
              `t0`.`ts`,
              `t0`.`price`,
              CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
              `t0`.`seen`,
              `t0`.`zoned`,
              `t0`.`count`,
              `t0`.`share`,
              CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
              `t0`.`amount`
            FROM `events` AS `t0`
          ) AS `t1`
        ) AS `t2`
      ) AS `t3`
      GROUP BY
        1
    ) AS `t4`
  ) AS `t5`
  GROUP BY
    1,
    2
) AS `t6`;

-- events, five of each user
SELECT
  *
FROM (
  SELECT
    `t9`.`count`,
    `t9`.`is_null`,
    COUNT(*) AS `prevalence`
  FROM (
    SELECT
      `t8`.`count`,
      `t8`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t7`.`label`,
        COUNT(*) AS `count`
      FROM (
        SELECT
          `t6`.`label`
        FROM (
          SELECT
            `t5`.`label`,
            `t5`.`user`,
            `t5`.`one`,
            `t5`.`number`,
            `t5`.`total`,
            IF(
              `t5`.`total` > 5,
              TO_HEX(MD5(CONCAT('0123456789abcdef0123456789abcdef ', `t5`.`user`))),
              NULL
            ) AS `hash`
          FROM (
            SELECT
              `t4`.`label`,
              `t4`.`user`,
              `t4`.`one`,
              CASE
                WHEN `t4`.`one` IS NOT NULL
                THEN SUM(`t4`.`one`) OVER (
                  PARTITION BY `t4`.`user`
                  ORDER BY `t4`.`label` ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                )
                ELSE NULL
              END AS `number`,
              COALESCE(
                SUM(`t4`.`one`) OVER (PARTITION BY `t4`.`user` ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
                0
              ) AS `total`
            FROM (
              SELECT
                `t3`.`label`,
                `t3`.`user`,
                `t3`.`one`
              FROM (
                SELECT
                  CONCAT(`t2`.`query`, '', '') AS `label`,
                  CONCAT(`t2`.`user`, '', '') AS `user`,
                  CONCAT(`t2`.`user`, '', '') AS `user_name`,
                  1 AS `one`
                FROM (
                  SELECT
                    `t1`.`query`,
                    `t1`.`user`,
                    `t1`.`ts`,
                    `t1`.`price`,
                    `t1`.`country`,
                    `t1`.`seen`,
                    DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
                    `t1`.`count`,
                    `t1`.`share`,
                    `t1`.`written`,
                    `t1`.`amount`
                  FROM (
                    SELECT
                      CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
                      CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
                      `t0`.`ts`,
                      `t0`.`price`,
                      CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
                      `t0`.`seen`,
                      `t0`.`zoned`,
                      `t0`.`count`,
                      `t0`.`share`,
                      CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
                      `t0`.`amount`
                    FROM `events` AS `t0`
                  ) AS `t1`
                ) AS `t2`
              ) AS `t3`
              WHERE
                NOT (
                  (
                    `t3`.`user` IS NULL
                  ) OR (
                    `t3`.`label` IS NULL
                  )
                )
            ) AS `t4`
          ) AS `t5`
        ) AS `t6`
        WHERE
          (
            `t6`.`total` <= 5
          )
          OR (
            (
              `t6`.`total` <= 922337203685477580
            )
            AND (
              (
                MOD(
                  (
                    MOD(
                      (
                        CASE
                          WHEN (
                            `t6`.`total` > 5
                          ) AND (
                            `t6`.`total` <= 922337203685477580
                          )
                          THEN `t6`.`number`
                          ELSE 0
                        END * 5
                      ) + (
                        MOD(
                          (
                            MOD(
                              CAST(CONCAT(
                                '0x',
                                SUBSTRING(`t6`.`hash`, IF((
                                  0 + 1
                                ) >= 1, 0 + 1, 0 + 1 + LENGTH(`t6`.`hash`)), 12)
                              ) AS INT64),
                              `t6`.`total`
                            )
                          ) + `t6`.`total`,
                          `t6`.`total`
                        )
                      ),
                      `t6`.`total`
                    )
                  ) + `t6`.`total`,
                  `t6`.`total`
                )
              ) < 5
            )
          )
      ) AS `t7`
      GROUP BY
        1
    ) AS `t8`
  ) AS `t9`
  GROUP BY
    1,
    2
) AS `t10`;

-- events, the first five of each user
SELECT
  *
FROM (
  SELECT
    `t9`.`count`,
    `t9`.`is_null`,
    COUNT(*) AS `prevalence`
  FROM (
    SELECT
      `t8`.`count`,
      `t8`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t7`.`label`,
        COUNT(*) AS `count`
      FROM (
        SELECT
          `t6`.`label`
        FROM (
          SELECT
            `t5`.`label`,
            `t5`.`user`,
            `t5`.`user_name`,
            `t5`.`rank_by`,
            `t5`.`one`,
            `t5`.`occurrence`,
            `t5`.`hash`,
            CASE
              WHEN `t5`.`one` IS NOT NULL
              THEN SUM(`t5`.`one`) OVER (
                PARTITION BY `t5`.`user`
                ORDER BY `t5`.`rank_by` ASC, `t5`.`hash` ASC, `t5`.`label` ASC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              )
              ELSE NULL
            END AS `rank`
          FROM (
            SELECT
              `t4`.`label`,
              `t4`.`user`,
              `t4`.`user_name`,
              `t4`.`rank_by`,
              `t4`.`one`,
              `t4`.`occurrence`,
              TO_HEX(
                MD5(
                  CONCAT(
                    CONCAT(
                      CONCAT(
                        CONCAT(CONCAT('0123456789abcdef0123456789abcdef', CAST(`t4`.`occurrence` AS STRING)), ' '),
                        `t4`.`user_name`
                      ),
                      '\n'
                    ),
                    IF(`t4`.`label` IS NULL, '', CONCAT('=', `t4`.`label`))
                  )
                )
              ) AS `hash`
            FROM (
              SELECT
                `t3`.`label`,
                `t3`.`user`,
                `t3`.`user_name`,
                `t3`.`rank_by`,
                `t3`.`one`,
                CASE
                  WHEN `t3`.`one` IS NOT NULL
                  THEN SUM(`t3`.`one`) OVER (
                    PARTITION BY `t3`.`user`, `t3`.`label`
                    ORDER BY `t3`.`rank_by` ASC
                    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                  )
                  ELSE NULL
                END AS `occurrence`
              FROM (
                SELECT
                  CONCAT(`t2`.`query`, '', '') AS `label`,
                  CONCAT(`t2`.`user`, '', '') AS `user`,
                  CONCAT(`t2`.`user`, '', '') AS `user_name`,
                  CASE WHEN NOT (
                    `t2`.`ts` IS NULL
                  ) THEN CAST(`t2`.`ts` AS FLOAT64) ELSE NULL END AS `rank_by`,
                  1 AS `one`
                FROM (
                  SELECT
                    `t1`.`query`,
                    `t1`.`user`,
                    `t1`.`ts`,
                    `t1`.`price`,
                    `t1`.`country`,
                    `t1`.`seen`,
                    DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
                    `t1`.`count`,
                    `t1`.`share`,
                    `t1`.`written`,
                    `t1`.`amount`
                  FROM (
                    SELECT
                      CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
                      CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
                      `t0`.`ts`,
                      `t0`.`price`,
                      CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
                      `t0`.`seen`,
                      `t0`.`zoned`,
                      `t0`.`count`,
                      `t0`.`share`,
                      CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
                      `t0`.`amount`
                    FROM `events` AS `t0`
                  ) AS `t1`
                ) AS `t2`
                WHERE
                  NOT (
                    (
                      CONCAT(`t2`.`user`, '', '') IS NULL
                    )
                    OR (
                      CONCAT(`t2`.`query`, '', '') IS NULL
                    )
                  )
              ) AS `t3`
            ) AS `t4`
          ) AS `t5`
        ) AS `t6`
        WHERE
          `t6`.`rank` <= 5
      ) AS `t7`
      GROUP BY
        1
    ) AS `t8`
  ) AS `t9`
  GROUP BY
    1,
    2
) AS `t10`;

-- events, fractions and NaN
SELECT
  `t11`.`count`,
  `t11`.`is_null`,
  `t11`.`prevalence`,
  `t11`.`named`
FROM (
  SELECT
    `t10`.`count`,
    `t10`.`is_null`,
    `t10`.`named`,
    COUNT(*) AS `prevalence`
  FROM (
    SELECT
      `t9`.`count`,
      `t9`.`named`,
      `t9`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t8`.`label`,
        `t8`.`named`,
        COUNT(*) AS `count`
      FROM (
        SELECT
          `t7`.`label`,
          `t7`.`named`
        FROM (
          SELECT
            `t6`.`label`,
            `t6`.`user`,
            `t6`.`user_name`,
            `t6`.`rank_by`,
            `t6`.`named`,
            `t6`.`one`,
            `t6`.`occurrence`,
            `t6`.`hash`,
            CASE
              WHEN `t6`.`one` IS NOT NULL
              THEN SUM(`t6`.`one`) OVER (
                PARTITION BY `t6`.`user`
                ORDER BY `t6`.`rank_by` ASC, `t6`.`named` ASC, `t6`.`hash` ASC, `t6`.`label` ASC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              )
              ELSE NULL
            END AS `rank`
          FROM (
            SELECT
              `t5`.`label`,
              `t5`.`user`,
              `t5`.`user_name`,
              `t5`.`rank_by`,
              `t5`.`named`,
              `t5`.`one`,
              `t5`.`occurrence`,
              TO_HEX(
                MD5(
                  CONCAT(
                    CONCAT(
                      CONCAT(
                        CONCAT(CONCAT('0123456789abcdef0123456789abcdef', CAST(`t5`.`occurrence` AS STRING)), ' '),
                        `t5`.`user_name`
                      ),
                      '\n'
                    ),
                    IF(`t5`.`label` IS NULL, '', CONCAT('=', `t5`.`label`))
                  )
                )
              ) AS `hash`
            FROM (
              SELECT
                `t4`.`label`,
                `t4`.`user`,
                `t4`.`user_name`,
                `t4`.`rank_by`,
                `t4`.`named`,
                `t4`.`one`,
                CASE
                  WHEN `t4`.`one` IS NOT NULL
                  THEN SUM(`t4`.`one`) OVER (
                    PARTITION BY `t4`.`user`, `t4`.`label`
                    ORDER BY `t4`.`rank_by` ASC
                    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                  )
                  ELSE NULL
                END AS `occurrence`
              FROM (
                SELECT
                  *
                FROM (
                  SELECT
                    CASE
                      WHEN NOT (
                        (
                          `t2`.`price` IS NULL
                        )
                        OR IF(`t2`.`price` IS NULL, NULL, IS_NAN(`t2`.`price`))
                      )
                      THEN CASE
                        WHEN COALESCE(
                          CASE
                            WHEN NOT (
                              (
                                `t2`.`price` IS NULL
                              )
                              OR IF(`t2`.`price` IS NULL, NULL, IS_NAN(`t2`.`price`))
                            )
                            AND (
                              (
                                `t2`.`price` > -9007199254740992
                              ) AND (
                                `t2`.`price` < 9007199254740992
                              )
                            )
                            THEN `t2`.`price`
                            ELSE 0.5
                          END = CAST(ROUND(
                            CASE
                              WHEN NOT (
                                (
                                  `t2`.`price` IS NULL
                                )
                                OR IF(`t2`.`price` IS NULL, NULL, IS_NAN(`t2`.`price`))
                              )
                              AND (
                                (
                                  `t2`.`price` > -9007199254740992
                                ) AND (
                                  `t2`.`price` < 9007199254740992
                                )
                              )
                              THEN `t2`.`price`
                              ELSE 0.5
                            END,
                            0
                          ) AS INT64),
                          FALSE
                        )
                        THEN CAST(CAST(ROUND(
                          CASE
                            WHEN NOT (
                              (
                                `t2`.`price` IS NULL
                              )
                              OR IF(`t2`.`price` IS NULL, NULL, IS_NAN(`t2`.`price`))
                            )
                            AND (
                              (
                                `t2`.`price` > -9007199254740992
                              ) AND (
                                `t2`.`price` < 9007199254740992
                              )
                            )
                            THEN `t2`.`price`
                            ELSE 0.5
                          END,
                          0
                        ) AS INT64) AS STRING)
                        ELSE CAST(`t2`.`price` AS STRING)
                      END
                      ELSE NULL
                    END AS `label`,
                    CONCAT(`t2`.`user`, '', '') AS `user`,
                    CONCAT(`t2`.`user`, '', '') AS `user_name`,
                    CASE
                      WHEN NOT (
                        (
                          `t2`.`price` IS NULL
                        )
                        OR IF(`t2`.`price` IS NULL, NULL, IS_NAN(`t2`.`price`))
                      )
                      THEN `t2`.`price` + 0.0
                      ELSE NULL
                    END AS `rank_by`,
                    CASE
                      WHEN COALESCE(
                        NOT (
                          COALESCE(
                            (
                              `t2`.`price` > -9007199254740992
                            ) AND (
                              `t2`.`price` < 9007199254740992
                            ),
                            FALSE
                          )
                        )
                        AND NOT (
                          (
                            `t2`.`price` IS NULL
                          )
                          OR IF(`t2`.`price` IS NULL, NULL, IS_NAN(`t2`.`price`))
                        ),
                        FALSE
                      )
                      THEN 0
                      ELSE 1
                    END AS `named`,
                    1 AS `one`
                  FROM (
                    SELECT
                      `t1`.`query`,
                      `t1`.`user`,
                      `t1`.`ts`,
                      `t1`.`price`,
                      `t1`.`country`,
                      `t1`.`seen`,
                      DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
                      `t1`.`count`,
                      `t1`.`share`,
                      `t1`.`written`,
                      `t1`.`amount`
                    FROM (
                      SELECT
                        CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
                        CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
                        `t0`.`ts`,
                        `t0`.`price`,
                        CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
                        `t0`.`seen`,
                        `t0`.`zoned`,
                        `t0`.`count`,
                        `t0`.`share`,
                        CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
                        `t0`.`amount`
                      FROM `events` AS `t0`
                    ) AS `t1`
                  ) AS `t2`
                ) AS `t3`
                WHERE
                  NOT (
                    (
                      `t3`.`user` IS NULL
                    ) OR (
                      `t3`.`label` IS NULL
                    )
                  )
              ) AS `t4`
            ) AS `t5`
          ) AS `t6`
        ) AS `t7`
        WHERE
          `t7`.`rank` <= 5
      ) AS `t8`
      GROUP BY
        1,
        2
    ) AS `t9`
  ) AS `t10`
  GROUP BY
    1,
    2,
    3
) AS `t11`;

-- events, decimals
SELECT
  *
FROM (
  SELECT
    `t10`.`count`,
    `t10`.`is_null`,
    COUNT(*) AS `prevalence`
  FROM (
    SELECT
      `t9`.`count`,
      `t9`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t8`.`label`,
        COUNT(*) AS `count`
      FROM (
        SELECT
          `t7`.`label`
        FROM (
          SELECT
            `t6`.`label`,
            `t6`.`user`,
            `t6`.`user_name`,
            `t6`.`rank_by`,
            `t6`.`one`,
            `t6`.`occurrence`,
            `t6`.`hash`,
            CASE
              WHEN `t6`.`one` IS NOT NULL
              THEN SUM(`t6`.`one`) OVER (
                PARTITION BY `t6`.`user`
                ORDER BY `t6`.`rank_by` ASC, `t6`.`hash` ASC, `t6`.`label` ASC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              )
              ELSE NULL
            END AS `rank`
          FROM (
            SELECT
              `t5`.`label`,
              `t5`.`user`,
              `t5`.`user_name`,
              `t5`.`rank_by`,
              `t5`.`one`,
              `t5`.`occurrence`,
              TO_HEX(
                MD5(
                  CONCAT(
                    CONCAT(
                      CONCAT(
                        CONCAT(CONCAT('0123456789abcdef0123456789abcdef', CAST(`t5`.`occurrence` AS STRING)), ' '),
                        `t5`.`user_name`
                      ),
                      '\n'
                    ),
                    IF(`t5`.`label` IS NULL, '', CONCAT('=', `t5`.`label`))
                  )
                )
              ) AS `hash`
            FROM (
              SELECT
                `t4`.`label`,
                `t4`.`user`,
                `t4`.`user_name`,
                `t4`.`rank_by`,
                `t4`.`one`,
                CASE
                  WHEN `t4`.`one` IS NOT NULL
                  THEN SUM(`t4`.`one`) OVER (
                    PARTITION BY `t4`.`user`, `t4`.`label`
                    ORDER BY `t4`.`rank_by` ASC
                    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                  )
                  ELSE NULL
                END AS `occurrence`
              FROM (
                SELECT
                  *
                FROM (
                  SELECT
                    CASE
                      WHEN NOT (
                        `t2`.`amount` IS NULL
                      )
                      THEN CASE
                        WHEN REGEXP_CONTAINS(CAST(`t2`.`amount` AS STRING), '\\.[0-9]+$')
                        THEN REGEXP_REPLACE(CAST(`t2`.`amount` AS STRING), '\\.?0+$', '')
                        ELSE CAST(`t2`.`amount` AS STRING)
                      END
                      ELSE NULL
                    END AS `label`,
                    CONCAT(`t2`.`user`, '', '') AS `user`,
                    CONCAT(`t2`.`user`, '', '') AS `user_name`,
                    CASE WHEN NOT (
                      `t2`.`amount` IS NULL
                    ) THEN `t2`.`amount` ELSE NULL END AS `rank_by`,
                    1 AS `one`
                  FROM (
                    SELECT
                      `t1`.`query`,
                      `t1`.`user`,
                      `t1`.`ts`,
                      `t1`.`price`,
                      `t1`.`country`,
                      `t1`.`seen`,
                      DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
                      `t1`.`count`,
                      `t1`.`share`,
                      `t1`.`written`,
                      `t1`.`amount`
                    FROM (
                      SELECT
                        CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
                        CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
                        `t0`.`ts`,
                        `t0`.`price`,
                        CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
                        `t0`.`seen`,
                        `t0`.`zoned`,
                        `t0`.`count`,
                        `t0`.`share`,
                        CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
                        `t0`.`amount`
                      FROM `events` AS `t0`
                    ) AS `t1`
                  ) AS `t2`
                ) AS `t3`
                WHERE
                  NOT (
                    (
                      `t3`.`user` IS NULL
                    ) OR (
                      `t3`.`label` IS NULL
                    )
                  )
              ) AS `t4`
            ) AS `t5`
          ) AS `t6`
        ) AS `t7`
        WHERE
          `t7`.`rank` <= 5
      ) AS `t8`
      GROUP BY
        1
    ) AS `t9`
  ) AS `t10`
  GROUP BY
    1,
    2
) AS `t11`;

-- events, times
SELECT
  *
FROM (
  SELECT
    `t5`.`count`,
    `t5`.`is_null`,
    COUNT(*) AS `prevalence`
  FROM (
    SELECT
      `t4`.`count`,
      `t4`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t3`.`label`,
        COUNT(*) AS `count`
      FROM (
        SELECT
          CASE
            WHEN NOT (
              `t2`.`seen` IS NULL
            )
            THEN CASE
              WHEN SUBSTRING(
                CAST(`t2`.`seen` AS STRING),
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
                  ) + 1 + LENGTH(CAST(`t2`.`seen` AS STRING))
                ),
                1
              ) = '.'
              THEN CASE
                WHEN SUBSTRING(
                  SUBSTRING(
                    SUBSTRING(
                      CONCAT(CAST(`t2`.`seen` AS STRING), '', '00000000'),
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
                        ) + 1 + LENGTH(CONCAT(CAST(`t2`.`seen` AS STRING), '', '00000000'))
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
                        SUBSTRING(
                          CONCAT(CAST(`t2`.`seen` AS STRING), '', '00000000'),
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
                            ) + 1 + LENGTH(CONCAT(CAST(`t2`.`seen` AS STRING), '', '00000000'))
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
                      SUBSTRING(
                        SUBSTRING(
                          CONCAT(CAST(`t2`.`seen` AS STRING), '', '00000000'),
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
                            ) + 1 + LENGTH(CONCAT(CAST(`t2`.`seen` AS STRING), '', '00000000'))
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
                            SUBSTRING(
                              CONCAT(CAST(`t2`.`seen` AS STRING), '', '00000000'),
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
                                ) + 1 + LENGTH(CONCAT(CAST(`t2`.`seen` AS STRING), '', '00000000'))
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
                    SUBSTRING(
                      SUBSTRING(
                        CONCAT(CAST(`t2`.`seen` AS STRING), '', '00000000'),
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
                          ) + 1 + LENGTH(CONCAT(CAST(`t2`.`seen` AS STRING), '', '00000000'))
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
                          SUBSTRING(
                            CONCAT(CAST(`t2`.`seen` AS STRING), '', '00000000'),
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
                              ) + 1 + LENGTH(CONCAT(CAST(`t2`.`seen` AS STRING), '', '00000000'))
                            ),
                            29
                          )
                        )
                      ),
                      26
                    )
                  )
                ) = '.000000'
                THEN SUBSTRING(
                  CAST(`t2`.`seen` AS STRING),
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
                    ) + 1 + LENGTH(CAST(`t2`.`seen` AS STRING))
                  ),
                  19
                )
                ELSE SUBSTRING(
                  SUBSTRING(
                    CONCAT(CAST(`t2`.`seen` AS STRING), '', '00000000'),
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
                      ) + 1 + LENGTH(CONCAT(CAST(`t2`.`seen` AS STRING), '', '00000000'))
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
                      SUBSTRING(
                        CONCAT(CAST(`t2`.`seen` AS STRING), '', '00000000'),
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
                          ) + 1 + LENGTH(CONCAT(CAST(`t2`.`seen` AS STRING), '', '00000000'))
                        ),
                        29
                      )
                    )
                  ),
                  26
                )
              END
              ELSE CAST(`t2`.`seen` AS STRING)
            END
            ELSE NULL
          END AS `label`
        FROM (
          SELECT
            `t1`.`query`,
            `t1`.`user`,
            `t1`.`ts`,
            `t1`.`price`,
            `t1`.`country`,
            `t1`.`seen`,
            DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
            `t1`.`count`,
            `t1`.`share`,
            `t1`.`written`,
            `t1`.`amount`
          FROM (
            SELECT
              CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
              CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
              `t0`.`ts`,
              `t0`.`price`,
              CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
              `t0`.`seen`,
              `t0`.`zoned`,
              `t0`.`count`,
              `t0`.`share`,
              CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
              `t0`.`amount`
            FROM `events` AS `t0`
          ) AS `t1`
        ) AS `t2`
      ) AS `t3`
      GROUP BY
        1
    ) AS `t4`
  ) AS `t5`
  GROUP BY
    1,
    2
) AS `t6`;

-- events, times with a zone
SELECT
  *
FROM (
  SELECT
    `t5`.`count`,
    `t5`.`is_null`,
    COUNT(*) AS `prevalence`
  FROM (
    SELECT
      `t4`.`count`,
      `t4`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t3`.`label`,
        COUNT(*) AS `count`
      FROM (
        SELECT
          CASE
            WHEN NOT (
              `t2`.`zoned` IS NULL
            )
            THEN CASE
              WHEN SUBSTRING(
                CAST(`t2`.`zoned` AS STRING),
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
                  ) + 1 + LENGTH(CAST(`t2`.`zoned` AS STRING))
                ),
                1
              ) = '.'
              THEN CASE
                WHEN SUBSTRING(
                  SUBSTRING(
                    SUBSTRING(
                      CONCAT(CAST(`t2`.`zoned` AS STRING), '', '00000000'),
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
                        ) + 1 + LENGTH(CONCAT(CAST(`t2`.`zoned` AS STRING), '', '00000000'))
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
                        SUBSTRING(
                          CONCAT(CAST(`t2`.`zoned` AS STRING), '', '00000000'),
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
                            ) + 1 + LENGTH(CONCAT(CAST(`t2`.`zoned` AS STRING), '', '00000000'))
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
                      SUBSTRING(
                        SUBSTRING(
                          CONCAT(CAST(`t2`.`zoned` AS STRING), '', '00000000'),
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
                            ) + 1 + LENGTH(CONCAT(CAST(`t2`.`zoned` AS STRING), '', '00000000'))
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
                            SUBSTRING(
                              CONCAT(CAST(`t2`.`zoned` AS STRING), '', '00000000'),
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
                                ) + 1 + LENGTH(CONCAT(CAST(`t2`.`zoned` AS STRING), '', '00000000'))
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
                    SUBSTRING(
                      SUBSTRING(
                        CONCAT(CAST(`t2`.`zoned` AS STRING), '', '00000000'),
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
                          ) + 1 + LENGTH(CONCAT(CAST(`t2`.`zoned` AS STRING), '', '00000000'))
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
                          SUBSTRING(
                            CONCAT(CAST(`t2`.`zoned` AS STRING), '', '00000000'),
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
                              ) + 1 + LENGTH(CONCAT(CAST(`t2`.`zoned` AS STRING), '', '00000000'))
                            ),
                            29
                          )
                        )
                      ),
                      26
                    )
                  )
                ) = '.000000'
                THEN SUBSTRING(
                  CAST(`t2`.`zoned` AS STRING),
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
                    ) + 1 + LENGTH(CAST(`t2`.`zoned` AS STRING))
                  ),
                  19
                )
                ELSE SUBSTRING(
                  SUBSTRING(
                    CONCAT(CAST(`t2`.`zoned` AS STRING), '', '00000000'),
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
                      ) + 1 + LENGTH(CONCAT(CAST(`t2`.`zoned` AS STRING), '', '00000000'))
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
                      SUBSTRING(
                        CONCAT(CAST(`t2`.`zoned` AS STRING), '', '00000000'),
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
                          ) + 1 + LENGTH(CONCAT(CAST(`t2`.`zoned` AS STRING), '', '00000000'))
                        ),
                        29
                      )
                    )
                  ),
                  26
                )
              END
              ELSE CAST(`t2`.`zoned` AS STRING)
            END
            ELSE NULL
          END AS `label`
        FROM (
          SELECT
            `t1`.`query`,
            `t1`.`user`,
            `t1`.`ts`,
            `t1`.`price`,
            `t1`.`country`,
            `t1`.`seen`,
            DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
            `t1`.`count`,
            `t1`.`share`,
            `t1`.`written`,
            `t1`.`amount`
          FROM (
            SELECT
              CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
              CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
              `t0`.`ts`,
              `t0`.`price`,
              CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
              `t0`.`seen`,
              `t0`.`zoned`,
              `t0`.`count`,
              `t0`.`share`,
              CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
              `t0`.`amount`
            FROM `events` AS `t0`
          ) AS `t1`
        ) AS `t2`
      ) AS `t3`
      GROUP BY
        1
    ) AS `t4`
  ) AS `t5`
  GROUP BY
    1,
    2
) AS `t6`;

-- users
SELECT
  *
FROM (
  SELECT
    `t6`.`items`,
    COUNT(*) AS `users`
  FROM (
    SELECT
      *
    FROM (
      SELECT
        `t4`.`user`,
        COUNT(*) AS `items`
      FROM (
        SELECT
          *
        FROM (
          SELECT
            CONCAT(`t2`.`query`, '', '') AS `label`,
            CONCAT(`t2`.`user`, '', '') AS `user`
          FROM (
            SELECT
              `t1`.`query`,
              `t1`.`user`,
              `t1`.`ts`,
              `t1`.`price`,
              `t1`.`country`,
              `t1`.`seen`,
              DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
              `t1`.`count`,
              `t1`.`share`,
              `t1`.`written`,
              `t1`.`amount`
            FROM (
              SELECT
                CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
                CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
                `t0`.`ts`,
                `t0`.`price`,
                CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
                `t0`.`seen`,
                `t0`.`zoned`,
                `t0`.`count`,
                `t0`.`share`,
                CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
                `t0`.`amount`
              FROM `events` AS `t0`
            ) AS `t1`
          ) AS `t2`
        ) AS `t3`
        WHERE
          NOT (
            (
              `t3`.`user` IS NULL
            ) OR (
              `t3`.`label` IS NULL
            )
          )
      ) AS `t4`
      GROUP BY
        1
    ) AS `t5`
  ) AS `t6`
  GROUP BY
    1
) AS `t7`;

-- rows left out
SELECT
  COUNT(*) AS `rows`,
  COALESCE(SUM(`t3`.`missing`), 0) AS `missing`
FROM (
  SELECT
    CASE WHEN `t2`.`user` IS NULL THEN 1 ELSE 0 END AS `missing`
  FROM (
    SELECT
      `t1`.`query`,
      `t1`.`user`,
      `t1`.`ts`,
      `t1`.`price`,
      `t1`.`country`,
      `t1`.`seen`,
      DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
      `t1`.`count`,
      `t1`.`share`,
      `t1`.`written`,
      `t1`.`amount`
    FROM (
      SELECT
        CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
        CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
        `t0`.`ts`,
        `t0`.`price`,
        CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
        `t0`.`seen`,
        `t0`.`zoned`,
        `t0`.`count`,
        `t0`.`share`,
        CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
        `t0`.`amount`
      FROM `events` AS `t0`
    ) AS `t1`
  ) AS `t2`
) AS `t3`;

-- groups
SELECT
  `t8`.`count`,
  `t8`.`is_null`,
  `t8`.`prevalence`,
  `t8`.`group`
FROM (
  SELECT
    `t7`.`count`,
    `t7`.`is_null`,
    `t7`.`group`,
    COUNT(*) AS `prevalence`
  FROM (
    SELECT
      `t6`.`count`,
      `t6`.`group`,
      `t6`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t5`.`label`,
        `t5`.`group`,
        COUNT(*) AS `count`
      FROM (
        SELECT
          `t4`.`label`,
          `t4`.`group`
        FROM (
          SELECT
            `t3`.`label`,
            `t3`.`group0`,
            `t3`.`group1`,
            CONCAT(
              CASE
                WHEN `t3`.`group0` IS NULL
                THEN '\x1b0'
                ELSE REPLACE(REPLACE(`t3`.`group0`, '\x1b', '\x1b2'), '\x1f', '\x1b1')
              END,
              '\x1f',
              CASE
                WHEN `t3`.`group1` IS NULL
                THEN '\x1b0'
                ELSE REPLACE(REPLACE(`t3`.`group1`, '\x1b', '\x1b2'), '\x1f', '\x1b1')
              END
            ) AS `group`
          FROM (
            SELECT
              CONCAT(`t2`.`query`, '', '') AS `label`,
              CONCAT(`t2`.`country`, '', '') AS `group0`,
              CASE
                WHEN (
                  CAST(EXTRACT(year FROM `t2`.`zoned`) AS INT64) >= 1
                )
                AND (
                  CAST(EXTRACT(year FROM `t2`.`zoned`) AS INT64) <= 9999
                )
                THEN SUBSTRING(
                  FORMAT_DATETIME('%F', `t2`.`zoned`),
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
                    ) + 1 + LENGTH(FORMAT_DATETIME('%F', `t2`.`zoned`))
                  ),
                  10
                )
                ELSE NULL
              END AS `group1`
            FROM (
              SELECT
                `t1`.`query`,
                `t1`.`user`,
                `t1`.`ts`,
                `t1`.`price`,
                `t1`.`country`,
                `t1`.`seen`,
                DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
                `t1`.`count`,
                `t1`.`share`,
                `t1`.`written`,
                `t1`.`amount`
              FROM (
                SELECT
                  CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
                  CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
                  `t0`.`ts`,
                  `t0`.`price`,
                  CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
                  `t0`.`seen`,
                  `t0`.`zoned`,
                  `t0`.`count`,
                  `t0`.`share`,
                  CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
                  `t0`.`amount`
                FROM `events` AS `t0`
              ) AS `t1`
            ) AS `t2`
          ) AS `t3`
          WHERE
            NOT (
              COALESCE(`t3`.`group0` IS NULL, FALSE) OR COALESCE(`t3`.`group1` IS NULL, FALSE)
            )
        ) AS `t4`
        WHERE
          IF(
            `t4`.`group` IS NULL,
            NULL,
            `t4`.`group` IN ('de\x1f2026-11-01', 'f\x1b1r\x1f2026-11-02')
          )
      ) AS `t5`
      GROUP BY
        1,
        2
    ) AS `t6`
  ) AS `t7`
  GROUP BY
    1,
    2,
    3
) AS `t8`;

-- groups, five items of each user
SELECT
  `t9`.`count`,
  `t9`.`is_null`,
  `t9`.`prevalence`,
  `t9`.`group`
FROM (
  SELECT
    `t8`.`count`,
    `t8`.`is_null`,
    `t8`.`group`,
    COUNT(*) AS `prevalence`
  FROM (
    SELECT
      `t7`.`count`,
      `t7`.`group`,
      `t7`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t6`.`label`,
        `t6`.`group`,
        COUNT(*) AS `count`
      FROM (
        SELECT
          `t5`.`label`,
          `t5`.`group`
        FROM (
          SELECT
            `t4`.`label`,
            `t4`.`user`,
            `t4`.`one`,
            `t4`.`group`,
            `t4`.`number`,
            `t4`.`total`,
            IF(
              `t4`.`total` > 5,
              TO_HEX(MD5(CONCAT('0123456789abcdef0123456789abcdef ', `t4`.`user`))),
              NULL
            ) AS `hash`
          FROM (
            SELECT
              `t3`.`label`,
              `t3`.`user`,
              `t3`.`one`,
              `t3`.`group`,
              CASE
                WHEN `t3`.`one` IS NOT NULL
                THEN SUM(`t3`.`one`) OVER (
                  PARTITION BY `t3`.`user`
                  ORDER BY `t3`.`group` ASC, `t3`.`label` ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                )
                ELSE NULL
              END AS `number`,
              COALESCE(
                SUM(`t3`.`one`) OVER (PARTITION BY `t3`.`user` ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
                0
              ) AS `total`
            FROM (
              SELECT
                CONCAT(`t2`.`query`, '', '') AS `label`,
                CONCAT(`t2`.`user`, '', '') AS `user`,
                1 AS `one`,
                CONCAT(`t2`.`country`, '', '') AS `group`
              FROM (
                SELECT
                  `t1`.`query`,
                  `t1`.`user`,
                  `t1`.`ts`,
                  `t1`.`price`,
                  `t1`.`country`,
                  `t1`.`seen`,
                  DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
                  `t1`.`count`,
                  `t1`.`share`,
                  `t1`.`written`,
                  `t1`.`amount`
                FROM (
                  SELECT
                    CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
                    CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
                    `t0`.`ts`,
                    `t0`.`price`,
                    CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
                    `t0`.`seen`,
                    `t0`.`zoned`,
                    `t0`.`count`,
                    `t0`.`share`,
                    CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
                    `t0`.`amount`
                  FROM `events` AS `t0`
                ) AS `t1`
              ) AS `t2`
              WHERE
                NOT (
                  (
                    CONCAT(`t2`.`user`, '', '') IS NULL
                  )
                  OR (
                    CONCAT(`t2`.`query`, '', '') IS NULL
                  )
                )
                AND IF(
                  CONCAT(`t2`.`country`, '', '') IS NULL,
                  NULL,
                  CONCAT(`t2`.`country`, '', '') IN ('de', 'fr')
                )
            ) AS `t3`
          ) AS `t4`
        ) AS `t5`
        WHERE
          (
            `t5`.`total` <= 5
          )
          OR (
            (
              `t5`.`total` <= 922337203685477580
            )
            AND (
              (
                MOD(
                  (
                    MOD(
                      (
                        CASE
                          WHEN (
                            `t5`.`total` > 5
                          ) AND (
                            `t5`.`total` <= 922337203685477580
                          )
                          THEN `t5`.`number`
                          ELSE 0
                        END * 5
                      ) + (
                        MOD(
                          (
                            MOD(
                              CAST(CONCAT(
                                '0x',
                                SUBSTRING(`t5`.`hash`, IF((
                                  0 + 1
                                ) >= 1, 0 + 1, 0 + 1 + LENGTH(`t5`.`hash`)), 12)
                              ) AS INT64),
                              `t5`.`total`
                            )
                          ) + `t5`.`total`,
                          `t5`.`total`
                        )
                      ),
                      `t5`.`total`
                    )
                  ) + `t5`.`total`,
                  `t5`.`total`
                )
              ) < 5
            )
          )
      ) AS `t6`
      GROUP BY
        1,
        2
    ) AS `t7`
  ) AS `t8`
  GROUP BY
    1,
    2,
    3
) AS `t9`;

-- groups, one of each user
SELECT
  `t12`.`count`,
  `t12`.`is_null`,
  `t12`.`prevalence`,
  `t12`.`group`
FROM (
  SELECT
    `t11`.`count`,
    `t11`.`is_null`,
    `t11`.`group`,
    COUNT(*) AS `prevalence`
  FROM (
    SELECT
      `t10`.`count`,
      `t10`.`group`,
      `t10`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t9`.`label`,
        `t9`.`group`,
        COUNT(*) AS `count`
      FROM (
        SELECT
          `t8`.`label`,
          `t8`.`group`
        FROM (
          SELECT
            `t7`.`label`,
            `t7`.`user`,
            `t7`.`one`,
            `t7`.`group`,
            `t7`.`number`,
            `t7`.`total`,
            IF(
              `t7`.`total` > 5,
              TO_HEX(
                MD5(
                  CONCAT(
                    CONCAT(CONCAT('0123456789abcdef0123456789abcdef ', `t7`.`user`), '\n'),
                    `t7`.`group`
                  )
                )
              ),
              NULL
            ) AS `hash`
          FROM (
            SELECT
              `t6`.`label`,
              `t6`.`user`,
              `t6`.`one`,
              `t6`.`group`,
              CASE
                WHEN `t6`.`one` IS NOT NULL
                THEN SUM(`t6`.`one`) OVER (
                  PARTITION BY `t6`.`user`, `t6`.`group`
                  ORDER BY `t6`.`group` ASC, `t6`.`label` ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                )
                ELSE NULL
              END AS `number`,
              COALESCE(
                SUM(`t6`.`one`) OVER (
                  PARTITION BY `t6`.`user`, `t6`.`group`
                  ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
                ),
                0
              ) AS `total`
            FROM (
              SELECT
                `t5`.`label`,
                `t5`.`user`,
                `t5`.`one`,
                `t5`.`group`
              FROM (
                SELECT
                  `t4`.`label`,
                  `t4`.`user`,
                  `t4`.`user_name`,
                  `t4`.`one`,
                  `t4`.`group`,
                  `t4`.`occurrence`,
                  `t4`.`hash`,
                  (
                    DENSE_RANK() OVER (PARTITION BY `t4`.`user` ORDER BY CONCAT(`t4`.`hash`, `t4`.`group`) ASC) - 1
                  ) + 1 AS `group_rank`
                FROM (
                  SELECT
                    `t3`.`label`,
                    `t3`.`user`,
                    `t3`.`user_name`,
                    `t3`.`one`,
                    `t3`.`group`,
                    `t3`.`occurrence`,
                    TO_HEX(
                      MD5(
                        CONCAT(
                          CONCAT(
                            CONCAT(
                              CONCAT(CONCAT('0123456789abcdef0123456789abcdef', CAST(`t3`.`occurrence` AS STRING)), ' '),
                              `t3`.`user_name`
                            ),
                            '\n'
                          ),
                          IF(`t3`.`group` IS NULL, '', CONCAT('=', `t3`.`group`))
                        )
                      )
                    ) AS `hash`
                  FROM (
                    SELECT
                      CONCAT(`t2`.`query`, '', '') AS `label`,
                      CONCAT(`t2`.`user`, '', '') AS `user`,
                      CONCAT(`t2`.`user`, '', '') AS `user_name`,
                      1 AS `one`,
                      CONCAT(`t2`.`country`, '', '') AS `group`,
                      0 AS `occurrence`
                    FROM (
                      SELECT
                        `t1`.`query`,
                        `t1`.`user`,
                        `t1`.`ts`,
                        `t1`.`price`,
                        `t1`.`country`,
                        `t1`.`seen`,
                        DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
                        `t1`.`count`,
                        `t1`.`share`,
                        `t1`.`written`,
                        `t1`.`amount`
                      FROM (
                        SELECT
                          CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
                          CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
                          `t0`.`ts`,
                          `t0`.`price`,
                          CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
                          `t0`.`seen`,
                          `t0`.`zoned`,
                          `t0`.`count`,
                          `t0`.`share`,
                          CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
                          `t0`.`amount`
                        FROM `events` AS `t0`
                      ) AS `t1`
                    ) AS `t2`
                    WHERE
                      NOT (
                        (
                          CONCAT(`t2`.`user`, '', '') IS NULL
                        )
                        OR (
                          CONCAT(`t2`.`query`, '', '') IS NULL
                        )
                      )
                      AND IF(
                        CONCAT(`t2`.`country`, '', '') IS NULL,
                        NULL,
                        CONCAT(`t2`.`country`, '', '') IN ('de', 'fr')
                      )
                  ) AS `t3`
                ) AS `t4`
              ) AS `t5`
              WHERE
                `t5`.`group_rank` <= 1
            ) AS `t6`
          ) AS `t7`
        ) AS `t8`
        WHERE
          (
            `t8`.`total` <= 5
          )
          OR (
            (
              `t8`.`total` <= 922337203685477580
            )
            AND (
              (
                MOD(
                  (
                    MOD(
                      (
                        CASE
                          WHEN (
                            `t8`.`total` > 5
                          ) AND (
                            `t8`.`total` <= 922337203685477580
                          )
                          THEN `t8`.`number`
                          ELSE 0
                        END * 5
                      ) + (
                        MOD(
                          (
                            MOD(
                              CAST(CONCAT(
                                '0x',
                                SUBSTRING(`t8`.`hash`, IF((
                                  0 + 1
                                ) >= 1, 0 + 1, 0 + 1 + LENGTH(`t8`.`hash`)), 12)
                              ) AS INT64),
                              `t8`.`total`
                            )
                          ) + `t8`.`total`,
                          `t8`.`total`
                        )
                      ),
                      `t8`.`total`
                    )
                  ) + `t8`.`total`,
                  `t8`.`total`
                )
              ) < 5
            )
          )
      ) AS `t9`
      GROUP BY
        1,
        2
    ) AS `t10`
  ) AS `t11`
  GROUP BY
    1,
    2,
    3
) AS `t12`;

-- groups, one of each label
SELECT
  `t11`.`count`,
  `t11`.`is_null`,
  `t11`.`prevalence`,
  `t11`.`group`
FROM (
  SELECT
    `t10`.`count`,
    `t10`.`is_null`,
    `t10`.`group`,
    COUNT(*) AS `prevalence`
  FROM (
    SELECT
      `t9`.`count`,
      `t9`.`group`,
      `t9`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t8`.`label`,
        `t8`.`group`,
        `t8`.`count`,
        `t8`.`user_name`,
        `t8`.`occurrence`,
        `t8`.`hash`,
        `t8`.`one`,
        CASE
          WHEN `t8`.`one` IS NOT NULL
          THEN SUM(`t8`.`one`) OVER (
            PARTITION BY `t8`.`user_name`, `t8`.`occurrence`
            ORDER BY `t8`.`hash` ASC, `t8`.`group` ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS `rank`
      FROM (
        SELECT
          `t7`.`label`,
          `t7`.`group`,
          `t7`.`count`,
          `t7`.`user_name`,
          `t7`.`occurrence`,
          `t7`.`hash`,
          1 AS `one`
        FROM (
          SELECT
            `t6`.`label`,
            `t6`.`group`,
            `t6`.`count`,
            `t6`.`user_name`,
            `t6`.`occurrence`,
            TO_HEX(
              MD5(
                CONCAT(
                  CONCAT(
                    CONCAT(
                      CONCAT(CONCAT('0123456789abcdef0123456789abcdef', CAST(`t6`.`occurrence` AS STRING)), ' '),
                      `t6`.`user_name`
                    ),
                    '\n'
                  ),
                  IF(`t6`.`group` IS NULL, '', CONCAT('=', `t6`.`group`))
                )
              )
            ) AS `hash`
          FROM (
            SELECT
              `t5`.`label`,
              `t5`.`group`,
              `t5`.`count`,
              CASE WHEN `t5`.`label` IS NULL THEN '' ELSE `t5`.`label` END AS `user_name`,
              CASE WHEN `t5`.`label` IS NULL THEN 0 ELSE 1 END AS `occurrence`
            FROM (
              SELECT
                `t4`.`label`,
                `t4`.`group`,
                COUNT(*) AS `count`
              FROM (
                SELECT
                  `t3`.`label`,
                  `t3`.`group0` AS `group`
                FROM (
                  SELECT
                    CONCAT(`t2`.`query`, '', '') AS `label`,
                    CONCAT(`t2`.`country`, '', '') AS `group0`
                  FROM (
                    SELECT
                      `t1`.`query`,
                      `t1`.`user`,
                      `t1`.`ts`,
                      `t1`.`price`,
                      `t1`.`country`,
                      `t1`.`seen`,
                      DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
                      `t1`.`count`,
                      `t1`.`share`,
                      `t1`.`written`,
                      `t1`.`amount`
                    FROM (
                      SELECT
                        CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
                        CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
                        `t0`.`ts`,
                        `t0`.`price`,
                        CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
                        `t0`.`seen`,
                        `t0`.`zoned`,
                        `t0`.`count`,
                        `t0`.`share`,
                        CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
                        `t0`.`amount`
                      FROM `events` AS `t0`
                    ) AS `t1`
                  ) AS `t2`
                ) AS `t3`
                WHERE
                  IF(`t3`.`group0` IS NULL, NULL, `t3`.`group0` IN ('de', 'fr'))
              ) AS `t4`
              GROUP BY
                1,
                2
            ) AS `t5`
          ) AS `t6`
        ) AS `t7`
      ) AS `t8`
    ) AS `t9`
    WHERE
      `t9`.`rank` <= 1
  ) AS `t10`
  GROUP BY
    1,
    2,
    3
) AS `t11`;

-- windows of days, five items of each user
SELECT
  *
FROM (
  SELECT
    `t11`.`at_day`,
    MIN(`t11`.`named`) AS `named`,
    COALESCE(SUM(`t11`.`reached0`), 0) AS `reached0`,
    COALESCE(SUM(`t11`.`reached1`), 0) AS `reached1`
  FROM (
    SELECT
      `t10`.`at_day`,
      `t10`.`named`,
      CASE
        WHEN (
          `t10`.`after` >= 1
        ) AND (
          (
            `t10`.`after` - `t10`.`count`
          ) < 1
        )
        THEN 1
        ELSE 0
      END AS `reached0`,
      CASE
        WHEN (
          `t10`.`after` >= 2
        ) AND (
          (
            `t10`.`after` - `t10`.`count`
          ) < 2
        )
        THEN 1
        ELSE 0
      END AS `reached1`
    FROM (
      SELECT
        `t9`.`label`,
        `t9`.`at_day`,
        `t9`.`count`,
        `t9`.`known`,
        `t9`.`named`,
        CASE
          WHEN `t9`.`count` IS NOT NULL
          THEN SUM(`t9`.`count`) OVER (
            PARTITION BY `t9`.`known`
            ORDER BY `t9`.`at_day` ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS `after`
      FROM (
        SELECT
          `t8`.`label`,
          `t8`.`at_day`,
          `t8`.`count`,
          `t8`.`label` AS `known`,
          1 AS `named`
        FROM (
          SELECT
            `t7`.`label`,
            `t7`.`at_day`,
            COUNT(*) AS `count`
          FROM (
            SELECT
              `t6`.`label`,
              `t6`.`at_day`
            FROM (
              SELECT
                `t5`.`label`,
                `t5`.`at_day`,
                `t5`.`user`,
                `t5`.`one`,
                `t5`.`number`,
                `t5`.`total`,
                IF(
                  `t5`.`total` > 5,
                  TO_HEX(MD5(CONCAT('0123456789abcdef0123456789abcdef ', `t5`.`user`))),
                  NULL
                ) AS `hash`
              FROM (
                SELECT
                  `t4`.`label`,
                  `t4`.`at_day`,
                  `t4`.`user`,
                  `t4`.`one`,
                  CASE
                    WHEN `t4`.`one` IS NOT NULL
                    THEN SUM(`t4`.`one`) OVER (
                      PARTITION BY `t4`.`user`
                      ORDER BY `t4`.`at_day` ASC, `t4`.`label` ASC
                      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                    )
                    ELSE NULL
                  END AS `number`,
                  COALESCE(
                    SUM(`t4`.`one`) OVER (PARTITION BY `t4`.`user` ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
                    0
                  ) AS `total`
                FROM (
                  SELECT
                    `t3`.`label`,
                    `t3`.`at_day`,
                    `t3`.`user`,
                    `t3`.`one`
                  FROM (
                    SELECT
                      CONCAT(`t2`.`query`, '', '') AS `label`,
                      CASE
                        WHEN (
                          CAST(EXTRACT(year FROM `t2`.`seen`) AS INT64) >= 1
                        )
                        AND (
                          CAST(EXTRACT(year FROM `t2`.`seen`) AS INT64) <= 9999
                        )
                        THEN SUBSTRING(
                          FORMAT_DATETIME('%F', `t2`.`seen`),
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
                            ) + 1 + LENGTH(FORMAT_DATETIME('%F', `t2`.`seen`))
                          ),
                          10
                        )
                        ELSE NULL
                      END AS `at_day`,
                      CONCAT(`t2`.`user`, '', '') AS `user`,
                      CONCAT(`t2`.`user`, '', '') AS `user_name`,
                      1 AS `one`
                    FROM (
                      SELECT
                        `t1`.`query`,
                        `t1`.`user`,
                        `t1`.`ts`,
                        `t1`.`price`,
                        `t1`.`country`,
                        `t1`.`seen`,
                        DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
                        `t1`.`count`,
                        `t1`.`share`,
                        `t1`.`written`,
                        `t1`.`amount`
                      FROM (
                        SELECT
                          CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
                          CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
                          `t0`.`ts`,
                          `t0`.`price`,
                          CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
                          `t0`.`seen`,
                          `t0`.`zoned`,
                          `t0`.`count`,
                          `t0`.`share`,
                          CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
                          `t0`.`amount`
                        FROM `events` AS `t0`
                      ) AS `t1`
                    ) AS `t2`
                  ) AS `t3`
                  WHERE
                    NOT (
                      (
                        `t3`.`user` IS NULL
                      ) OR (
                        `t3`.`label` IS NULL
                      )
                    )
                    AND IF(`t3`.`at_day` IS NULL, NULL, `t3`.`at_day` IN ('2026-11-01', '2026-11-02'))
                ) AS `t4`
              ) AS `t5`
            ) AS `t6`
            WHERE
              (
                `t6`.`total` <= 5
              )
              OR (
                (
                  `t6`.`total` <= 922337203685477580
                )
                AND (
                  (
                    MOD(
                      (
                        MOD(
                          (
                            CASE
                              WHEN (
                                `t6`.`total` > 5
                              ) AND (
                                `t6`.`total` <= 922337203685477580
                              )
                              THEN `t6`.`number`
                              ELSE 0
                            END * 5
                          ) + (
                            MOD(
                              (
                                MOD(
                                  CAST(CONCAT(
                                    '0x',
                                    SUBSTRING(`t6`.`hash`, IF((
                                      0 + 1
                                    ) >= 1, 0 + 1, 0 + 1 + LENGTH(`t6`.`hash`)), 12)
                                  ) AS INT64),
                                  `t6`.`total`
                                )
                              ) + `t6`.`total`,
                              `t6`.`total`
                            )
                          ),
                          `t6`.`total`
                        )
                      ) + `t6`.`total`,
                      `t6`.`total`
                    )
                  ) < 5
                )
              )
          ) AS `t7`
          GROUP BY
            1,
            2
        ) AS `t8`
      ) AS `t9`
    ) AS `t10`
  ) AS `t11`
  GROUP BY
    1
) AS `t12`;

-- windows of weeks
SELECT
  *
FROM (
  SELECT
    `t8`.`at_day`,
    MIN(`t8`.`named`) AS `named`,
    COALESCE(SUM(`t8`.`reached0`), 0) AS `reached0`,
    COALESCE(SUM(`t8`.`reached1`), 0) AS `reached1`
  FROM (
    SELECT
      `t7`.`at_day`,
      `t7`.`named`,
      CASE
        WHEN (
          `t7`.`after` >= 1
        ) AND (
          (
            `t7`.`after` - `t7`.`count`
          ) < 1
        )
        THEN 1
        ELSE 0
      END AS `reached0`,
      CASE
        WHEN (
          `t7`.`after` >= 2
        ) AND (
          (
            `t7`.`after` - `t7`.`count`
          ) < 2
        )
        THEN 1
        ELSE 0
      END AS `reached1`
    FROM (
      SELECT
        `t6`.`label`,
        `t6`.`at_day`,
        `t6`.`count`,
        `t6`.`known`,
        `t6`.`named`,
        CASE
          WHEN `t6`.`count` IS NOT NULL
          THEN SUM(`t6`.`count`) OVER (
            PARTITION BY `t6`.`known`
            ORDER BY `t6`.`at_day` ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS `after`
      FROM (
        SELECT
          `t5`.`label`,
          `t5`.`at_day`,
          `t5`.`count`,
          `t5`.`label` AS `known`,
          1 AS `named`
        FROM (
          SELECT
            `t4`.`label`,
            `t4`.`at_day`,
            COUNT(*) AS `count`
          FROM (
            SELECT
              *
            FROM (
              SELECT
                CONCAT(`t2`.`query`, '', '') AS `label`,
                IF(
                  DATE_DIFF(DATE(`t2`.`zoned`), DATE(1970, 1, 1), DAY) + 719162 BETWEEN 0 AND 3652058,
                  LPAD(
                    CAST(CAST(FLOOR(ieee_divide(DATE_DIFF(DATE(`t2`.`zoned`), DATE(1970, 1, 1), DAY) + 719162, 7)) AS INT64) AS STRING),
                    GREATEST(
                      LENGTH(
                        CAST(CAST(FLOOR(ieee_divide(DATE_DIFF(DATE(`t2`.`zoned`), DATE(1970, 1, 1), DAY) + 719162, 7)) AS INT64) AS STRING)
                      ),
                      6
                    ),
                    '0'
                  ),
                  NULL
                ) AS `at_day`
              FROM (
                SELECT
                  `t1`.`query`,
                  `t1`.`user`,
                  `t1`.`ts`,
                  `t1`.`price`,
                  `t1`.`country`,
                  `t1`.`seen`,
                  DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
                  `t1`.`count`,
                  `t1`.`share`,
                  `t1`.`written`,
                  `t1`.`amount`
                FROM (
                  SELECT
                    CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
                    CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
                    `t0`.`ts`,
                    `t0`.`price`,
                    CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
                    `t0`.`seen`,
                    `t0`.`zoned`,
                    `t0`.`count`,
                    `t0`.`share`,
                    CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
                    `t0`.`amount`
                  FROM `events` AS `t0`
                ) AS `t1`
              ) AS `t2`
            ) AS `t3`
            WHERE
              IF(`t3`.`at_day` IS NULL, NULL, `t3`.`at_day` IN ('105702', '105703'))
              AND NOT (
                `t3`.`label` IS NULL
              )
          ) AS `t4`
          GROUP BY
            1,
            2
        ) AS `t5`
      ) AS `t6`
    ) AS `t7`
  ) AS `t8`
  GROUP BY
    1
) AS `t9`;

-- counts
SELECT
  *
FROM (
  SELECT
    `t6`.`count`,
    `t6`.`is_null`,
    COUNT(*) AS `prevalence`,
    COALESCE(SUM(`t6`.`wrong`), 0) AS `wrong`,
    MAX(`t6`.`size`) AS `size`
  FROM (
    SELECT
      `t5`.`label`,
      `t5`.`count`,
      `t5`.`wrong`,
      `t5`.`size`,
      `t5`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t4`.`label`,
        COALESCE(SUM(`t4`.`count`), 0) AS `count`,
        COALESCE(SUM(`t4`.`wrong`), 0) AS `wrong`,
        COALESCE(SUM(`t4`.`size`), 0) AS `size`
      FROM (
        SELECT
          `t3`.`label`,
          `t3`.`count`,
          `t3`.`wrong`,
          CASE
            WHEN 4294967296 <> 0
            THEN CAST(FLOOR(ieee_divide(`t3`.`count`, 4294967296)) AS INT64)
            ELSE NULL
          END AS `size`
        FROM (
          SELECT
            CONCAT(`t2`.`query`, '', '') AS `label`,
            CASE
              WHEN NOT (
                `t2`.`count` IS NULL
              )
              AND COALESCE((
                `t2`.`count` >= 0
              ) AND (
                `t2`.`count` <= 9223372036854775807
              ), FALSE)
              THEN `t2`.`count`
              ELSE 0
            END AS `count`,
            CASE
              WHEN NOT (
                NOT (
                  `t2`.`count` IS NULL
                )
                AND COALESCE((
                  `t2`.`count` >= 0
                ) AND (
                  `t2`.`count` <= 9223372036854775807
                ), FALSE)
              )
              THEN 1
              ELSE 0
            END AS `wrong`
          FROM (
            SELECT
              `t1`.`query`,
              `t1`.`user`,
              `t1`.`ts`,
              `t1`.`price`,
              `t1`.`country`,
              `t1`.`seen`,
              DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
              `t1`.`count`,
              `t1`.`share`,
              `t1`.`written`,
              `t1`.`amount`
            FROM (
              SELECT
                CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
                CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
                `t0`.`ts`,
                `t0`.`price`,
                CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
                `t0`.`seen`,
                `t0`.`zoned`,
                `t0`.`count`,
                `t0`.`share`,
                CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
                `t0`.`amount`
              FROM `events` AS `t0`
            ) AS `t1`
          ) AS `t2`
        ) AS `t3`
      ) AS `t4`
      GROUP BY
        1
    ) AS `t5`
    WHERE
      COALESCE(`t5`.`count` <> 0, FALSE)
      OR COALESCE(`t5`.`size` <> 0, FALSE)
      OR COALESCE(`t5`.`wrong` <> 0, FALSE)
  ) AS `t6`
  GROUP BY
    1,
    2
) AS `t7`;

-- counts as text
SELECT
  *
FROM (
  SELECT
    `t6`.`count`,
    `t6`.`is_null`,
    COUNT(*) AS `prevalence`,
    COALESCE(SUM(`t6`.`wrong`), 0) AS `wrong`,
    MAX(`t6`.`size`) AS `size`
  FROM (
    SELECT
      `t5`.`label`,
      `t5`.`count`,
      `t5`.`wrong`,
      `t5`.`size`,
      `t5`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t4`.`label`,
        COALESCE(SUM(`t4`.`count`), 0) AS `count`,
        COALESCE(SUM(`t4`.`wrong`), 0) AS `wrong`,
        COALESCE(SUM(`t4`.`size`), 0) AS `size`
      FROM (
        SELECT
          `t3`.`label`,
          `t3`.`count`,
          `t3`.`wrong`,
          CASE
            WHEN 4294967296 <> 0
            THEN CAST(FLOOR(ieee_divide(`t3`.`count`, 4294967296)) AS INT64)
            ELSE NULL
          END AS `size`
        FROM (
          SELECT
            CONCAT(`t2`.`query`, '', '') AS `label`,
            CAST(CASE
              WHEN NOT (
                `t2`.`written` IS NULL
              )
              AND COALESCE(
                REGEXP_CONTAINS(`t2`.`written`, '^ *0*[0-9]{1,18} *$')
                OR (
                  REGEXP_CONTAINS(`t2`.`written`, '^ *[1-9][0-9]{18} *$')
                  AND (
                    TRIM(`t2`.`written`, ' \t\n\r\v\f') <= '9223372036854775807'
                  )
                ),
                FALSE
              )
              THEN TRIM(`t2`.`written`, ' \t\n\r\v\f')
              ELSE '0'
            END AS INT64) AS `count`,
            CASE
              WHEN NOT (
                NOT (
                  `t2`.`written` IS NULL
                )
                AND COALESCE(
                  REGEXP_CONTAINS(`t2`.`written`, '^ *0*[0-9]{1,18} *$')
                  OR (
                    REGEXP_CONTAINS(`t2`.`written`, '^ *[1-9][0-9]{18} *$')
                    AND (
                      TRIM(`t2`.`written`, ' \t\n\r\v\f') <= '9223372036854775807'
                    )
                  ),
                  FALSE
                )
              )
              THEN 1
              ELSE 0
            END AS `wrong`
          FROM (
            SELECT
              `t1`.`query`,
              `t1`.`user`,
              `t1`.`ts`,
              `t1`.`price`,
              `t1`.`country`,
              `t1`.`seen`,
              DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
              `t1`.`count`,
              `t1`.`share`,
              `t1`.`written`,
              `t1`.`amount`
            FROM (
              SELECT
                CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
                CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
                `t0`.`ts`,
                `t0`.`price`,
                CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
                `t0`.`seen`,
                `t0`.`zoned`,
                `t0`.`count`,
                `t0`.`share`,
                CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
                `t0`.`amount`
              FROM `events` AS `t0`
            ) AS `t1`
          ) AS `t2`
        ) AS `t3`
      ) AS `t4`
      GROUP BY
        1
    ) AS `t5`
    WHERE
      COALESCE(`t5`.`count` <> 0, FALSE)
      OR COALESCE(`t5`.`size` <> 0, FALSE)
      OR COALESCE(`t5`.`wrong` <> 0, FALSE)
  ) AS `t6`
  GROUP BY
    1,
    2
) AS `t7`;

-- events of some rows, by text
SELECT
  *
FROM (
  SELECT
    `t5`.`count`,
    `t5`.`is_null`,
    COUNT(*) AS `prevalence`
  FROM (
    SELECT
      `t4`.`count`,
      `t4`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t3`.`label`,
        COUNT(*) AS `count`
      FROM (
        SELECT
          CONCAT(`t2`.`query`, '', '') AS `label`
        FROM (
          SELECT
            `t1`.`query`,
            `t1`.`user`,
            `t1`.`ts`,
            `t1`.`price`,
            `t1`.`country`,
            `t1`.`seen`,
            DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
            `t1`.`count`,
            `t1`.`share`,
            `t1`.`written`,
            `t1`.`amount`
          FROM (
            SELECT
              CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
              CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
              `t0`.`ts`,
              `t0`.`price`,
              CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
              `t0`.`seen`,
              `t0`.`zoned`,
              `t0`.`count`,
              `t0`.`share`,
              CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
              `t0`.`amount`
            FROM `events` AS `t0`
          ) AS `t1`
        ) AS `t2`
        WHERE
          NOT (
            `t2`.`country` IS NULL
          )
          AND (
            (
              CONCAT(`t2`.`country`, '', '') = 'de'
            )
            OR (
              CONCAT(`t2`.`country`, '', '') = 'it\'s'
            )
          )
          AND NOT (
            `t2`.`query` IS NULL
          )
          AND CONCAT(`t2`.`query`, '', '') < 'ä'
      ) AS `t3`
      GROUP BY
        1
    ) AS `t4`
  ) AS `t5`
  GROUP BY
    1,
    2
) AS `t6`;

-- events of some rows, by numbers
SELECT
  *
FROM (
  SELECT
    `t5`.`count`,
    `t5`.`is_null`,
    COUNT(*) AS `prevalence`
  FROM (
    SELECT
      `t4`.`count`,
      `t4`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t3`.`label`,
        COUNT(*) AS `count`
      FROM (
        SELECT
          CONCAT(`t2`.`query`, '', '') AS `label`
        FROM (
          SELECT
            `t1`.`query`,
            `t1`.`user`,
            `t1`.`ts`,
            `t1`.`price`,
            `t1`.`country`,
            `t1`.`seen`,
            DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
            `t1`.`count`,
            `t1`.`share`,
            `t1`.`written`,
            `t1`.`amount`
          FROM (
            SELECT
              CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
              CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
              `t0`.`ts`,
              `t0`.`price`,
              CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
              `t0`.`seen`,
              `t0`.`zoned`,
              `t0`.`count`,
              `t0`.`share`,
              CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
              `t0`.`amount`
            FROM `events` AS `t0`
          ) AS `t1`
        ) AS `t2`
        WHERE
          NOT (
            (
              `t2`.`price` IS NULL
            )
            OR IF(`t2`.`price` IS NULL, NULL, IS_NAN(`t2`.`price`))
          )
          AND `t2`.`price` <= 2.5
          AND NOT (
            `t2`.`ts` IS NULL
          )
          AND `t2`.`ts` > 7
          AND NOT (
            `t2`.`ts` = 9223372036854775807
          )
      ) AS `t3`
      GROUP BY
        1
    ) AS `t4`
  ) AS `t5`
  GROUP BY
    1,
    2
) AS `t6`;

-- prevalences
SELECT
  `t5`.`count`,
  `t5`.`prevalence`,
  `t5`.`rows`,
  `t5`.`wrong_counts`,
  `t5`.`wrong`,
  `t5`.`size`
FROM (
  SELECT
    `t4`.`count`,
    COALESCE(SUM(`t4`.`prevalence`), 0) AS `prevalence`,
    COALESCE(SUM(`t4`.`wrong_counts`), 0) AS `wrong_counts`,
    COALESCE(SUM(`t4`.`wrong`), 0) AS `wrong`,
    COALESCE(SUM(`t4`.`size`), 0) AS `size`,
    COUNT(*) AS `rows`
  FROM (
    SELECT
      `t3`.`count`,
      `t3`.`prevalence`,
      `t3`.`wrong_counts`,
      `t3`.`wrong`,
      CASE
        WHEN 4294967296 <> 0
        THEN CAST(FLOOR(ieee_divide(`t3`.`prevalence`, 4294967296)) AS INT64)
        ELSE NULL
      END AS `size`
    FROM (
      SELECT
        CASE
          WHEN NOT (
            `t2`.`count` IS NULL
          )
          AND COALESCE((
            `t2`.`count` >= 0
          ) AND (
            `t2`.`count` <= 9223372036854775807
          ), FALSE)
          THEN `t2`.`count`
          ELSE 0
        END AS `count`,
        CAST(TRUNC(
          CASE
            WHEN NOT (
              `t2`.`share` IS NULL
            )
            AND COALESCE(
              CASE
                WHEN NOT (
                  (
                    `t2`.`share` IS NULL
                  )
                  OR IF(`t2`.`share` IS NULL, NULL, IS_NAN(`t2`.`share`))
                )
                AND (
                  `t2`.`share` >= 0
                )
                AND (
                  `t2`.`share` <= 9007199254740992
                )
                THEN `t2`.`share`
                ELSE 0.5
              END = CAST(ROUND(
                CASE
                  WHEN NOT (
                    (
                      `t2`.`share` IS NULL
                    )
                    OR IF(`t2`.`share` IS NULL, NULL, IS_NAN(`t2`.`share`))
                  )
                  AND (
                    `t2`.`share` >= 0
                  )
                  AND (
                    `t2`.`share` <= 9007199254740992
                  )
                  THEN `t2`.`share`
                  ELSE 0.5
                END,
                0
              ) AS INT64),
              FALSE
            )
            THEN `t2`.`share`
            ELSE 0.0
          END
        ) AS INT64) AS `prevalence`,
        CASE
          WHEN NOT (
            NOT (
              `t2`.`count` IS NULL
            )
            AND COALESCE((
              `t2`.`count` >= 0
            ) AND (
              `t2`.`count` <= 9223372036854775807
            ), FALSE)
          )
          THEN 1
          ELSE 0
        END AS `wrong_counts`,
        CASE
          WHEN NOT (
            NOT (
              `t2`.`share` IS NULL
            )
            AND COALESCE(
              CASE
                WHEN NOT (
                  (
                    `t2`.`share` IS NULL
                  )
                  OR IF(`t2`.`share` IS NULL, NULL, IS_NAN(`t2`.`share`))
                )
                AND (
                  `t2`.`share` >= 0
                )
                AND (
                  `t2`.`share` <= 9007199254740992
                )
                THEN `t2`.`share`
                ELSE 0.5
              END = CAST(ROUND(
                CASE
                  WHEN NOT (
                    (
                      `t2`.`share` IS NULL
                    )
                    OR IF(`t2`.`share` IS NULL, NULL, IS_NAN(`t2`.`share`))
                  )
                  AND (
                    `t2`.`share` >= 0
                  )
                  AND (
                    `t2`.`share` <= 9007199254740992
                  )
                  THEN `t2`.`share`
                  ELSE 0.5
                END,
                0
              ) AS INT64),
              FALSE
            )
          )
          THEN 1
          ELSE 0
        END AS `wrong`
      FROM (
        SELECT
          `t1`.`query`,
          `t1`.`user`,
          `t1`.`ts`,
          `t1`.`price`,
          `t1`.`country`,
          `t1`.`seen`,
          DATETIME(`t1`.`zoned`, 'UTC') AS `zoned`,
          `t1`.`count`,
          `t1`.`share`,
          `t1`.`written`,
          `t1`.`amount`
        FROM (
          SELECT
            CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `query`,
            CAST(CAST(`t0`.`user` AS BYTES) AS STRING) AS `user`,
            `t0`.`ts`,
            `t0`.`price`,
            CAST(CAST(`t0`.`country` AS BYTES) AS STRING) AS `country`,
            `t0`.`seen`,
            `t0`.`zoned`,
            `t0`.`count`,
            `t0`.`share`,
            CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `written`,
            `t0`.`amount`
          FROM `events` AS `t0`
        ) AS `t1`
      ) AS `t2`
    ) AS `t3`
  ) AS `t4`
  GROUP BY
    1
) AS `t5`;
