-- by ibis-framework 12.0.0 and sqlglot 30.29.0

-- events
SELECT
  *
FROM (
  SELECT
    `t3`.`count`,
    `t3`.`is_null`,
    COUNT(*) AS `prevalence`
  FROM (
    SELECT
      `t2`.`count`,
      `t2`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t1`.`label`,
        COUNT(*) AS `count`
      FROM (
        SELECT
          CONCAT(CAST(CAST(`t0`.`query` AS BYTES) AS STRING), '', '') AS `label`
        FROM `events` AS `t0`
      ) AS `t1`
      GROUP BY
        1
    ) AS `t2`
  ) AS `t3`
  GROUP BY
    1,
    2
) AS `t4`;

-- events, five of each user
SELECT
  *
FROM (
  SELECT
    `t7`.`count`,
    `t7`.`is_null`,
    COUNT(*) AS `prevalence`
  FROM (
    SELECT
      `t6`.`count`,
      `t6`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t5`.`label`,
        COUNT(*) AS `count`
      FROM (
        SELECT
          `t4`.`label`
        FROM (
          SELECT
            `t3`.`label`,
            `t3`.`user`,
            `t3`.`one`,
            `t3`.`number`,
            `t3`.`total`,
            IF(
              `t3`.`total` > 5,
              TO_HEX(MD5(CONCAT('0123456789abcdef0123456789abcdef ', `t3`.`user`))),
              NULL
            ) AS `hash`
          FROM (
            SELECT
              `t2`.`label`,
              `t2`.`user`,
              `t2`.`one`,
              CASE
                WHEN `t2`.`one` IS NOT NULL
                THEN SUM(`t2`.`one`) OVER (
                  PARTITION BY `t2`.`user`
                  ORDER BY `t2`.`label` ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                )
                ELSE NULL
              END AS `number`,
              COALESCE(
                SUM(`t2`.`one`) OVER (PARTITION BY `t2`.`user` ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
                0
              ) AS `total`
            FROM (
              SELECT
                `t1`.`label`,
                `t1`.`user`,
                `t1`.`one`
              FROM (
                SELECT
                  CONCAT(CAST(CAST(`t0`.`query` AS BYTES) AS STRING), '', '') AS `label`,
                  CONCAT(CAST(CAST(`t0`.`user` AS BYTES) AS STRING), '', '') AS `user`,
                  CONCAT(CAST(CAST(`t0`.`user` AS BYTES) AS STRING), '', '') AS `user_name`,
                  1 AS `one`
                FROM `events` AS `t0`
              ) AS `t1`
              WHERE
                NOT (
                  (
                    `t1`.`user` IS NULL
                  ) OR (
                    `t1`.`label` IS NULL
                  )
                )
            ) AS `t2`
          ) AS `t3`
        ) AS `t4`
        WHERE
          (
            `t4`.`total` <= 5
          )
          OR (
            (
              `t4`.`total` <= 922337203685477580
            )
            AND (
              (
                MOD(
                  (
                    MOD(
                      (
                        CASE
                          WHEN (
                            `t4`.`total` > 5
                          ) AND (
                            `t4`.`total` <= 922337203685477580
                          )
                          THEN `t4`.`number`
                          ELSE 0
                        END * 5
                      ) + (
                        MOD(
                          (
                            MOD(
                              CAST(CONCAT(
                                '0x',
                                SUBSTRING(`t4`.`hash`, IF((
                                  0 + 1
                                ) >= 1, 0 + 1, 0 + 1 + LENGTH(`t4`.`hash`)), 12)
                              ) AS INT64),
                              `t4`.`total`
                            )
                          ) + `t4`.`total`,
                          `t4`.`total`
                        )
                      ),
                      `t4`.`total`
                    )
                  ) + `t4`.`total`,
                  `t4`.`total`
                )
              ) < 5
            )
          )
      ) AS `t5`
      GROUP BY
        1
    ) AS `t6`
  ) AS `t7`
  GROUP BY
    1,
    2
) AS `t8`;

-- events, the first five of each user
SELECT
  *
FROM (
  SELECT
    `t8`.`count`,
    `t8`.`is_null`,
    COUNT(*) AS `prevalence`
  FROM (
    SELECT
      `t7`.`count`,
      `t7`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t6`.`label`,
        COUNT(*) AS `count`
      FROM (
        SELECT
          `t5`.`label`
        FROM (
          SELECT
            `t4`.`label`,
            `t4`.`user`,
            `t4`.`user_name`,
            `t4`.`rank_by`,
            `t4`.`one`,
            `t4`.`occurrence`,
            `t4`.`hash`,
            CASE
              WHEN `t4`.`one` IS NOT NULL
              THEN SUM(`t4`.`one`) OVER (
                PARTITION BY `t4`.`user`
                ORDER BY `t4`.`rank_by` ASC, `t4`.`hash` ASC, `t4`.`label` ASC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              )
              ELSE NULL
            END AS `rank`
          FROM (
            SELECT
              `t3`.`label`,
              `t3`.`user`,
              `t3`.`user_name`,
              `t3`.`rank_by`,
              `t3`.`one`,
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
                    IF(`t3`.`label` IS NULL, '', CONCAT('=', `t3`.`label`))
                  )
                )
              ) AS `hash`
            FROM (
              SELECT
                `t2`.`label`,
                `t2`.`user`,
                `t2`.`user_name`,
                `t2`.`rank_by`,
                `t2`.`one`,
                CASE
                  WHEN `t2`.`one` IS NOT NULL
                  THEN SUM(`t2`.`one`) OVER (
                    PARTITION BY `t2`.`user`, `t2`.`label`
                    ORDER BY `t2`.`rank_by` ASC
                    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                  )
                  ELSE NULL
                END AS `occurrence`
              FROM (
                SELECT
                  *
                FROM (
                  SELECT
                    CONCAT(CAST(CAST(`t0`.`query` AS BYTES) AS STRING), '', '') AS `label`,
                    CONCAT(CAST(CAST(`t0`.`user` AS BYTES) AS STRING), '', '') AS `user`,
                    CONCAT(CAST(CAST(`t0`.`user` AS BYTES) AS STRING), '', '') AS `user_name`,
                    CASE WHEN NOT (
                      `t0`.`ts` IS NULL
                    ) THEN CAST(`t0`.`ts` AS FLOAT64) ELSE NULL END AS `rank_by`,
                    1 AS `one`
                  FROM `events` AS `t0`
                ) AS `t1`
                WHERE
                  NOT (
                    (
                      `t1`.`user` IS NULL
                    ) OR (
                      `t1`.`label` IS NULL
                    )
                  )
              ) AS `t2`
            ) AS `t3`
          ) AS `t4`
        ) AS `t5`
        WHERE
          `t5`.`rank` <= 5
      ) AS `t6`
      GROUP BY
        1
    ) AS `t7`
  ) AS `t8`
  GROUP BY
    1,
    2
) AS `t9`;

-- events, fractions and NaN
SELECT
  `t9`.`count`,
  `t9`.`is_null`,
  `t9`.`prevalence`,
  `t9`.`named`
FROM (
  SELECT
    `t8`.`count`,
    `t8`.`is_null`,
    `t8`.`named`,
    COUNT(*) AS `prevalence`
  FROM (
    SELECT
      `t7`.`count`,
      `t7`.`named`,
      `t7`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t6`.`label`,
        `t6`.`named`,
        COUNT(*) AS `count`
      FROM (
        SELECT
          `t5`.`label`,
          `t5`.`named`
        FROM (
          SELECT
            `t4`.`label`,
            `t4`.`user`,
            `t4`.`user_name`,
            `t4`.`rank_by`,
            `t4`.`named`,
            `t4`.`one`,
            `t4`.`occurrence`,
            `t4`.`hash`,
            CASE
              WHEN `t4`.`one` IS NOT NULL
              THEN SUM(`t4`.`one`) OVER (
                PARTITION BY `t4`.`user`
                ORDER BY `t4`.`rank_by` ASC, `t4`.`named` ASC, `t4`.`hash` ASC, `t4`.`label` ASC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              )
              ELSE NULL
            END AS `rank`
          FROM (
            SELECT
              `t3`.`label`,
              `t3`.`user`,
              `t3`.`user_name`,
              `t3`.`rank_by`,
              `t3`.`named`,
              `t3`.`one`,
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
                    IF(`t3`.`label` IS NULL, '', CONCAT('=', `t3`.`label`))
                  )
                )
              ) AS `hash`
            FROM (
              SELECT
                `t2`.`label`,
                `t2`.`user`,
                `t2`.`user_name`,
                `t2`.`rank_by`,
                `t2`.`named`,
                `t2`.`one`,
                CASE
                  WHEN `t2`.`one` IS NOT NULL
                  THEN SUM(`t2`.`one`) OVER (
                    PARTITION BY `t2`.`user`, `t2`.`label`
                    ORDER BY `t2`.`rank_by` ASC
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
                          `t0`.`price` IS NULL
                        )
                        OR IF(`t0`.`price` IS NULL, NULL, IS_NAN(`t0`.`price`))
                      )
                      THEN CASE
                        WHEN COALESCE(
                          CASE
                            WHEN NOT (
                              (
                                `t0`.`price` IS NULL
                              )
                              OR IF(`t0`.`price` IS NULL, NULL, IS_NAN(`t0`.`price`))
                            )
                            AND (
                              (
                                `t0`.`price` > -9007199254740992
                              ) AND (
                                `t0`.`price` < 9007199254740992
                              )
                            )
                            THEN `t0`.`price`
                            ELSE 0.5
                          END = CAST(ROUND(
                            CASE
                              WHEN NOT (
                                (
                                  `t0`.`price` IS NULL
                                )
                                OR IF(`t0`.`price` IS NULL, NULL, IS_NAN(`t0`.`price`))
                              )
                              AND (
                                (
                                  `t0`.`price` > -9007199254740992
                                ) AND (
                                  `t0`.`price` < 9007199254740992
                                )
                              )
                              THEN `t0`.`price`
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
                                `t0`.`price` IS NULL
                              )
                              OR IF(`t0`.`price` IS NULL, NULL, IS_NAN(`t0`.`price`))
                            )
                            AND (
                              (
                                `t0`.`price` > -9007199254740992
                              ) AND (
                                `t0`.`price` < 9007199254740992
                              )
                            )
                            THEN `t0`.`price`
                            ELSE 0.5
                          END,
                          0
                        ) AS INT64) AS STRING)
                        ELSE CAST(`t0`.`price` AS STRING)
                      END
                      ELSE NULL
                    END AS `label`,
                    CONCAT(CAST(CAST(`t0`.`user` AS BYTES) AS STRING), '', '') AS `user`,
                    CONCAT(CAST(CAST(`t0`.`user` AS BYTES) AS STRING), '', '') AS `user_name`,
                    CASE
                      WHEN NOT (
                        (
                          `t0`.`price` IS NULL
                        )
                        OR IF(`t0`.`price` IS NULL, NULL, IS_NAN(`t0`.`price`))
                      )
                      THEN `t0`.`price` + 0.0
                      ELSE NULL
                    END AS `rank_by`,
                    CASE
                      WHEN COALESCE(
                        NOT (
                          COALESCE(
                            (
                              `t0`.`price` > -9007199254740992
                            ) AND (
                              `t0`.`price` < 9007199254740992
                            ),
                            FALSE
                          )
                        )
                        AND NOT (
                          (
                            `t0`.`price` IS NULL
                          )
                          OR IF(`t0`.`price` IS NULL, NULL, IS_NAN(`t0`.`price`))
                        ),
                        FALSE
                      )
                      THEN 0
                      ELSE 1
                    END AS `named`,
                    1 AS `one`
                  FROM `events` AS `t0`
                ) AS `t1`
                WHERE
                  NOT (
                    (
                      `t1`.`user` IS NULL
                    ) OR (
                      `t1`.`label` IS NULL
                    )
                  )
              ) AS `t2`
            ) AS `t3`
          ) AS `t4`
        ) AS `t5`
        WHERE
          `t5`.`rank` <= 5
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

-- users
SELECT
  *
FROM (
  SELECT
    `t4`.`items`,
    COUNT(*) AS `users`
  FROM (
    SELECT
      *
    FROM (
      SELECT
        `t2`.`user`,
        COUNT(*) AS `items`
      FROM (
        SELECT
          *
        FROM (
          SELECT
            CONCAT(CAST(CAST(`t0`.`query` AS BYTES) AS STRING), '', '') AS `label`,
            CONCAT(CAST(CAST(`t0`.`user` AS BYTES) AS STRING), '', '') AS `user`
          FROM `events` AS `t0`
        ) AS `t1`
        WHERE
          NOT (
            (
              `t1`.`user` IS NULL
            ) OR (
              `t1`.`label` IS NULL
            )
          )
      ) AS `t2`
      GROUP BY
        1
    ) AS `t3`
  ) AS `t4`
  GROUP BY
    1
) AS `t5`;

-- rows left out
SELECT
  COUNT(*) AS `rows`,
  COALESCE(SUM(`t1`.`missing`), 0) AS `missing`
FROM (
  SELECT
    CASE WHEN CAST(CAST(`t0`.`user` AS BYTES) AS STRING) IS NULL THEN 1 ELSE 0 END AS `missing`
  FROM `events` AS `t0`
) AS `t1`;

-- groups
SELECT
  `t6`.`count`,
  `t6`.`is_null`,
  `t6`.`prevalence`,
  `t6`.`group`
FROM (
  SELECT
    `t5`.`count`,
    `t5`.`is_null`,
    `t5`.`group`,
    COUNT(*) AS `prevalence`
  FROM (
    SELECT
      `t4`.`count`,
      `t4`.`group`,
      `t4`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t3`.`label`,
        `t3`.`group`,
        COUNT(*) AS `count`
      FROM (
        SELECT
          `t2`.`label`,
          `t2`.`group`
        FROM (
          SELECT
            `t1`.`label`,
            `t1`.`group0`,
            `t1`.`group1`,
            CONCAT(
              CASE
                WHEN `t1`.`group0` IS NULL
                THEN '\x1b0'
                ELSE REPLACE(REPLACE(`t1`.`group0`, '\x1b', '\x1b2'), '\x1f', '\x1b1')
              END,
              '\x1f',
              CASE
                WHEN `t1`.`group1` IS NULL
                THEN '\x1b0'
                ELSE REPLACE(REPLACE(`t1`.`group1`, '\x1b', '\x1b2'), '\x1f', '\x1b1')
              END
            ) AS `group`
          FROM (
            SELECT
              CONCAT(CAST(CAST(`t0`.`query` AS BYTES) AS STRING), '', '') AS `label`,
              CONCAT(CAST(CAST(`t0`.`country` AS BYTES) AS STRING), '', '') AS `group0`,
              CASE
                WHEN (
                  CAST(EXTRACT(year FROM `t0`.`zoned`) AS INT64) >= 1
                )
                AND (
                  CAST(EXTRACT(year FROM `t0`.`zoned`) AS INT64) <= 9999
                )
                THEN SUBSTRING(
                  FORMAT_TIMESTAMP('%F', `t0`.`zoned`, 'UTC'),
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
                    ) + 1 + LENGTH(FORMAT_TIMESTAMP('%F', `t0`.`zoned`, 'UTC'))
                  ),
                  10
                )
                ELSE NULL
              END AS `group1`
            FROM `events` AS `t0`
          ) AS `t1`
          WHERE
            NOT (
              COALESCE(`t1`.`group0` IS NULL, FALSE) OR COALESCE(`t1`.`group1` IS NULL, FALSE)
            )
        ) AS `t2`
        WHERE
          IF(
            `t2`.`group` IS NULL,
            NULL,
            `t2`.`group` IN ('de\x1f2026-11-01', 'f\x1b1r\x1f2026-11-02')
          )
      ) AS `t3`
      GROUP BY
        1,
        2
    ) AS `t4`
  ) AS `t5`
  GROUP BY
    1,
    2,
    3
) AS `t6`;

-- groups, five items of each user
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
            `t3`.`user`,
            `t3`.`one`,
            `t3`.`group`,
            `t3`.`number`,
            `t3`.`total`,
            IF(
              `t3`.`total` > 5,
              TO_HEX(MD5(CONCAT('0123456789abcdef0123456789abcdef ', `t3`.`user`))),
              NULL
            ) AS `hash`
          FROM (
            SELECT
              `t2`.`label`,
              `t2`.`user`,
              `t2`.`one`,
              `t2`.`group`,
              CASE
                WHEN `t2`.`one` IS NOT NULL
                THEN SUM(`t2`.`one`) OVER (
                  PARTITION BY `t2`.`user`
                  ORDER BY `t2`.`group` ASC, `t2`.`label` ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                )
                ELSE NULL
              END AS `number`,
              COALESCE(
                SUM(`t2`.`one`) OVER (PARTITION BY `t2`.`user` ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
                0
              ) AS `total`
            FROM (
              SELECT
                `t1`.`label`,
                `t1`.`user`,
                `t1`.`one`,
                `t1`.`group0` AS `group`
              FROM (
                SELECT
                  CONCAT(CAST(CAST(`t0`.`query` AS BYTES) AS STRING), '', '') AS `label`,
                  CONCAT(CAST(CAST(`t0`.`country` AS BYTES) AS STRING), '', '') AS `group0`,
                  CONCAT(CAST(CAST(`t0`.`user` AS BYTES) AS STRING), '', '') AS `user`,
                  CONCAT(CAST(CAST(`t0`.`user` AS BYTES) AS STRING), '', '') AS `user_name`,
                  1 AS `one`
                FROM `events` AS `t0`
              ) AS `t1`
              WHERE
                NOT (
                  (
                    `t1`.`user` IS NULL
                  ) OR (
                    `t1`.`label` IS NULL
                  )
                )
                AND IF(`t1`.`group0` IS NULL, NULL, `t1`.`group0` IN ('de', 'fr'))
            ) AS `t2`
          ) AS `t3`
        ) AS `t4`
        WHERE
          (
            `t4`.`total` <= 5
          )
          OR (
            (
              `t4`.`total` <= 922337203685477580
            )
            AND (
              (
                MOD(
                  (
                    MOD(
                      (
                        CASE
                          WHEN (
                            `t4`.`total` > 5
                          ) AND (
                            `t4`.`total` <= 922337203685477580
                          )
                          THEN `t4`.`number`
                          ELSE 0
                        END * 5
                      ) + (
                        MOD(
                          (
                            MOD(
                              CAST(CONCAT(
                                '0x',
                                SUBSTRING(`t4`.`hash`, IF((
                                  0 + 1
                                ) >= 1, 0 + 1, 0 + 1 + LENGTH(`t4`.`hash`)), 12)
                              ) AS INT64),
                              `t4`.`total`
                            )
                          ) + `t4`.`total`,
                          `t4`.`total`
                        )
                      ),
                      `t4`.`total`
                    )
                  ) + `t4`.`total`,
                  `t4`.`total`
                )
              ) < 5
            )
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

-- groups, one of each user
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
        COUNT(*) AS `count`
      FROM (
        SELECT
          `t7`.`label`,
          `t7`.`group`
        FROM (
          SELECT
            `t6`.`label`,
            `t6`.`user`,
            `t6`.`one`,
            `t6`.`group`,
            `t6`.`number`,
            `t6`.`total`,
            IF(
              `t6`.`total` > 5,
              TO_HEX(
                MD5(
                  CONCAT(
                    CONCAT(CONCAT('0123456789abcdef0123456789abcdef ', `t6`.`user`), '\n'),
                    `t6`.`group`
                  )
                )
              ),
              NULL
            ) AS `hash`
          FROM (
            SELECT
              `t5`.`label`,
              `t5`.`user`,
              `t5`.`one`,
              `t5`.`group`,
              CASE
                WHEN `t5`.`one` IS NOT NULL
                THEN SUM(`t5`.`one`) OVER (
                  PARTITION BY `t5`.`user`, `t5`.`group`
                  ORDER BY `t5`.`group` ASC, `t5`.`label` ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                )
                ELSE NULL
              END AS `number`,
              COALESCE(
                SUM(`t5`.`one`) OVER (
                  PARTITION BY `t5`.`user`, `t5`.`group`
                  ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
                ),
                0
              ) AS `total`
            FROM (
              SELECT
                `t4`.`label`,
                `t4`.`user`,
                `t4`.`one`,
                `t4`.`group`
              FROM (
                SELECT
                  `t3`.`label`,
                  `t3`.`user`,
                  `t3`.`user_name`,
                  `t3`.`one`,
                  `t3`.`group`,
                  `t3`.`occurrence`,
                  `t3`.`hash`,
                  (
                    DENSE_RANK() OVER (PARTITION BY `t3`.`user` ORDER BY CONCAT(`t3`.`hash`, `t3`.`group`) ASC) - 1
                  ) + 1 AS `group_rank`
                FROM (
                  SELECT
                    `t2`.`label`,
                    `t2`.`user`,
                    `t2`.`user_name`,
                    `t2`.`one`,
                    `t2`.`group`,
                    `t2`.`occurrence`,
                    TO_HEX(
                      MD5(
                        CONCAT(
                          CONCAT(
                            CONCAT(
                              CONCAT(CONCAT('0123456789abcdef0123456789abcdef', CAST(`t2`.`occurrence` AS STRING)), ' '),
                              `t2`.`user_name`
                            ),
                            '\n'
                          ),
                          IF(`t2`.`group` IS NULL, '', CONCAT('=', `t2`.`group`))
                        )
                      )
                    ) AS `hash`
                  FROM (
                    SELECT
                      `t1`.`label`,
                      `t1`.`user`,
                      `t1`.`user_name`,
                      `t1`.`one`,
                      `t1`.`group0` AS `group`,
                      0 AS `occurrence`
                    FROM (
                      SELECT
                        CONCAT(CAST(CAST(`t0`.`query` AS BYTES) AS STRING), '', '') AS `label`,
                        CONCAT(CAST(CAST(`t0`.`country` AS BYTES) AS STRING), '', '') AS `group0`,
                        CONCAT(CAST(CAST(`t0`.`user` AS BYTES) AS STRING), '', '') AS `user`,
                        CONCAT(CAST(CAST(`t0`.`user` AS BYTES) AS STRING), '', '') AS `user_name`,
                        1 AS `one`
                      FROM `events` AS `t0`
                    ) AS `t1`
                    WHERE
                      NOT (
                        (
                          `t1`.`user` IS NULL
                        ) OR (
                          `t1`.`label` IS NULL
                        )
                      )
                      AND IF(`t1`.`group0` IS NULL, NULL, `t1`.`group0` IN ('de', 'fr'))
                  ) AS `t2`
                ) AS `t3`
              ) AS `t4`
              WHERE
                `t4`.`group_rank` <= 1
            ) AS `t5`
          ) AS `t6`
        ) AS `t7`
        WHERE
          (
            `t7`.`total` <= 5
          )
          OR (
            (
              `t7`.`total` <= 922337203685477580
            )
            AND (
              (
                MOD(
                  (
                    MOD(
                      (
                        CASE
                          WHEN (
                            `t7`.`total` > 5
                          ) AND (
                            `t7`.`total` <= 922337203685477580
                          )
                          THEN `t7`.`number`
                          ELSE 0
                        END * 5
                      ) + (
                        MOD(
                          (
                            MOD(
                              CAST(CONCAT(
                                '0x',
                                SUBSTRING(`t7`.`hash`, IF((
                                  0 + 1
                                ) >= 1, 0 + 1, 0 + 1 + LENGTH(`t7`.`hash`)), 12)
                              ) AS INT64),
                              `t7`.`total`
                            )
                          ) + `t7`.`total`,
                          `t7`.`total`
                        )
                      ),
                      `t7`.`total`
                    )
                  ) + `t7`.`total`,
                  `t7`.`total`
                )
              ) < 5
            )
          )
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

-- groups, one of each label
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
        `t6`.`count`,
        `t6`.`user_name`,
        `t6`.`occurrence`,
        `t6`.`hash`,
        `t6`.`one`,
        CASE
          WHEN `t6`.`one` IS NOT NULL
          THEN SUM(`t6`.`one`) OVER (
            PARTITION BY `t6`.`user_name`, `t6`.`occurrence`
            ORDER BY `t6`.`hash` ASC, `t6`.`group` ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS `rank`
      FROM (
        SELECT
          `t5`.`label`,
          `t5`.`group`,
          `t5`.`count`,
          `t5`.`user_name`,
          `t5`.`occurrence`,
          `t5`.`hash`,
          1 AS `one`
        FROM (
          SELECT
            `t4`.`label`,
            `t4`.`group`,
            `t4`.`count`,
            `t4`.`user_name`,
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
                  IF(`t4`.`group` IS NULL, '', CONCAT('=', `t4`.`group`))
                )
              )
            ) AS `hash`
          FROM (
            SELECT
              `t3`.`label`,
              `t3`.`group`,
              `t3`.`count`,
              CASE WHEN `t3`.`label` IS NULL THEN '' ELSE `t3`.`label` END AS `user_name`,
              CASE WHEN `t3`.`label` IS NULL THEN 0 ELSE 1 END AS `occurrence`
            FROM (
              SELECT
                `t2`.`label`,
                `t2`.`group`,
                COUNT(*) AS `count`
              FROM (
                SELECT
                  `t1`.`label`,
                  `t1`.`group0` AS `group`
                FROM (
                  SELECT
                    CONCAT(CAST(CAST(`t0`.`query` AS BYTES) AS STRING), '', '') AS `label`,
                    CONCAT(CAST(CAST(`t0`.`country` AS BYTES) AS STRING), '', '') AS `group0`
                  FROM `events` AS `t0`
                ) AS `t1`
                WHERE
                  IF(`t1`.`group0` IS NULL, NULL, `t1`.`group0` IN ('de', 'fr'))
              ) AS `t2`
              GROUP BY
                1,
                2
            ) AS `t3`
          ) AS `t4`
        ) AS `t5`
      ) AS `t6`
    ) AS `t7`
    WHERE
      `t7`.`rank` <= 1
  ) AS `t8`
  GROUP BY
    1,
    2,
    3
) AS `t9`;

-- windows of days, five items of each user
SELECT
  *
FROM (
  SELECT
    `t9`.`at_day`,
    MIN(`t9`.`named`) AS `named`,
    COALESCE(SUM(`t9`.`reached0`), 0) AS `reached0`,
    COALESCE(SUM(`t9`.`reached1`), 0) AS `reached1`
  FROM (
    SELECT
      `t8`.`at_day`,
      `t8`.`named`,
      CASE
        WHEN (
          `t8`.`after` >= 1
        ) AND (
          (
            `t8`.`after` - `t8`.`count`
          ) < 1
        )
        THEN 1
        ELSE 0
      END AS `reached0`,
      CASE
        WHEN (
          `t8`.`after` >= 2
        ) AND (
          (
            `t8`.`after` - `t8`.`count`
          ) < 2
        )
        THEN 1
        ELSE 0
      END AS `reached1`
    FROM (
      SELECT
        `t7`.`label`,
        `t7`.`at_day`,
        `t7`.`count`,
        `t7`.`known`,
        `t7`.`named`,
        CASE
          WHEN `t7`.`count` IS NOT NULL
          THEN SUM(`t7`.`count`) OVER (
            PARTITION BY `t7`.`known`
            ORDER BY `t7`.`at_day` ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS `after`
      FROM (
        SELECT
          `t6`.`label`,
          `t6`.`at_day`,
          `t6`.`count`,
          `t6`.`label` AS `known`,
          1 AS `named`
        FROM (
          SELECT
            `t5`.`label`,
            `t5`.`at_day`,
            COUNT(*) AS `count`
          FROM (
            SELECT
              `t4`.`label`,
              `t4`.`at_day`
            FROM (
              SELECT
                `t3`.`label`,
                `t3`.`at_day`,
                `t3`.`user`,
                `t3`.`one`,
                `t3`.`number`,
                `t3`.`total`,
                IF(
                  `t3`.`total` > 5,
                  TO_HEX(MD5(CONCAT('0123456789abcdef0123456789abcdef ', `t3`.`user`))),
                  NULL
                ) AS `hash`
              FROM (
                SELECT
                  `t2`.`label`,
                  `t2`.`at_day`,
                  `t2`.`user`,
                  `t2`.`one`,
                  CASE
                    WHEN `t2`.`one` IS NOT NULL
                    THEN SUM(`t2`.`one`) OVER (
                      PARTITION BY `t2`.`user`
                      ORDER BY `t2`.`at_day` ASC, `t2`.`label` ASC
                      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                    )
                    ELSE NULL
                  END AS `number`,
                  COALESCE(
                    SUM(`t2`.`one`) OVER (PARTITION BY `t2`.`user` ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
                    0
                  ) AS `total`
                FROM (
                  SELECT
                    `t1`.`label`,
                    `t1`.`at_day`,
                    `t1`.`user`,
                    `t1`.`one`
                  FROM (
                    SELECT
                      CONCAT(CAST(CAST(`t0`.`query` AS BYTES) AS STRING), '', '') AS `label`,
                      CASE
                        WHEN (
                          CAST(EXTRACT(year FROM `t0`.`seen`) AS INT64) >= 1
                        )
                        AND (
                          CAST(EXTRACT(year FROM `t0`.`seen`) AS INT64) <= 9999
                        )
                        THEN SUBSTRING(
                          FORMAT_DATETIME('%F', `t0`.`seen`),
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
                            ) + 1 + LENGTH(FORMAT_DATETIME('%F', `t0`.`seen`))
                          ),
                          10
                        )
                        ELSE NULL
                      END AS `at_day`,
                      CONCAT(CAST(CAST(`t0`.`user` AS BYTES) AS STRING), '', '') AS `user`,
                      CONCAT(CAST(CAST(`t0`.`user` AS BYTES) AS STRING), '', '') AS `user_name`,
                      1 AS `one`
                    FROM `events` AS `t0`
                  ) AS `t1`
                  WHERE
                    NOT (
                      (
                        `t1`.`user` IS NULL
                      ) OR (
                        `t1`.`label` IS NULL
                      )
                    )
                    AND IF(`t1`.`at_day` IS NULL, NULL, `t1`.`at_day` IN ('2026-11-01', '2026-11-02'))
                ) AS `t2`
              ) AS `t3`
            ) AS `t4`
            WHERE
              (
                `t4`.`total` <= 5
              )
              OR (
                (
                  `t4`.`total` <= 922337203685477580
                )
                AND (
                  (
                    MOD(
                      (
                        MOD(
                          (
                            CASE
                              WHEN (
                                `t4`.`total` > 5
                              ) AND (
                                `t4`.`total` <= 922337203685477580
                              )
                              THEN `t4`.`number`
                              ELSE 0
                            END * 5
                          ) + (
                            MOD(
                              (
                                MOD(
                                  CAST(CONCAT(
                                    '0x',
                                    SUBSTRING(`t4`.`hash`, IF((
                                      0 + 1
                                    ) >= 1, 0 + 1, 0 + 1 + LENGTH(`t4`.`hash`)), 12)
                                  ) AS INT64),
                                  `t4`.`total`
                                )
                              ) + `t4`.`total`,
                              `t4`.`total`
                            )
                          ),
                          `t4`.`total`
                        )
                      ) + `t4`.`total`,
                      `t4`.`total`
                    )
                  ) < 5
                )
              )
          ) AS `t5`
          GROUP BY
            1,
            2
        ) AS `t6`
      ) AS `t7`
    ) AS `t8`
  ) AS `t9`
  GROUP BY
    1
) AS `t10`;

-- windows of weeks
SELECT
  *
FROM (
  SELECT
    `t6`.`at_day`,
    MIN(`t6`.`named`) AS `named`,
    COALESCE(SUM(`t6`.`reached0`), 0) AS `reached0`,
    COALESCE(SUM(`t6`.`reached1`), 0) AS `reached1`
  FROM (
    SELECT
      `t5`.`at_day`,
      `t5`.`named`,
      CASE
        WHEN (
          `t5`.`after` >= 1
        ) AND (
          (
            `t5`.`after` - `t5`.`count`
          ) < 1
        )
        THEN 1
        ELSE 0
      END AS `reached0`,
      CASE
        WHEN (
          `t5`.`after` >= 2
        ) AND (
          (
            `t5`.`after` - `t5`.`count`
          ) < 2
        )
        THEN 1
        ELSE 0
      END AS `reached1`
    FROM (
      SELECT
        `t4`.`label`,
        `t4`.`at_day`,
        `t4`.`count`,
        `t4`.`known`,
        `t4`.`named`,
        CASE
          WHEN `t4`.`count` IS NOT NULL
          THEN SUM(`t4`.`count`) OVER (
            PARTITION BY `t4`.`known`
            ORDER BY `t4`.`at_day` ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS `after`
      FROM (
        SELECT
          `t3`.`label`,
          `t3`.`at_day`,
          `t3`.`count`,
          `t3`.`label` AS `known`,
          1 AS `named`
        FROM (
          SELECT
            `t2`.`label`,
            `t2`.`at_day`,
            COUNT(*) AS `count`
          FROM (
            SELECT
              *
            FROM (
              SELECT
                CONCAT(CAST(CAST(`t0`.`query` AS BYTES) AS STRING), '', '') AS `label`,
                IF(
                  DATE_DIFF(DATE(`t0`.`zoned`), DATE(1970, 1, 1), DAY) + 719162 BETWEEN 0 AND 3652058,
                  LPAD(
                    CAST(CAST(FLOOR(ieee_divide(DATE_DIFF(DATE(`t0`.`zoned`), DATE(1970, 1, 1), DAY) + 719162, 7)) AS INT64) AS STRING),
                    GREATEST(
                      LENGTH(
                        CAST(CAST(FLOOR(ieee_divide(DATE_DIFF(DATE(`t0`.`zoned`), DATE(1970, 1, 1), DAY) + 719162, 7)) AS INT64) AS STRING)
                      ),
                      6
                    ),
                    '0'
                  ),
                  NULL
                ) AS `at_day`
              FROM `events` AS `t0`
            ) AS `t1`
            WHERE
              IF(`t1`.`at_day` IS NULL, NULL, `t1`.`at_day` IN ('105702', '105703'))
              AND NOT (
                `t1`.`label` IS NULL
              )
          ) AS `t2`
          GROUP BY
            1,
            2
        ) AS `t3`
      ) AS `t4`
    ) AS `t5`
  ) AS `t6`
  GROUP BY
    1
) AS `t7`;

-- counts
SELECT
  *
FROM (
  SELECT
    `t4`.`count`,
    `t4`.`is_null`,
    COUNT(*) AS `prevalence`,
    COALESCE(SUM(`t4`.`wrong`), 0) AS `wrong`,
    MAX(`t4`.`size`) AS `size`
  FROM (
    SELECT
      `t3`.`label`,
      `t3`.`count`,
      `t3`.`wrong`,
      `t3`.`size`,
      `t3`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t2`.`label`,
        COALESCE(SUM(`t2`.`count`), 0) AS `count`,
        COALESCE(SUM(`t2`.`wrong`), 0) AS `wrong`,
        COALESCE(SUM(`t2`.`size`), 0) AS `size`
      FROM (
        SELECT
          `t1`.`label`,
          `t1`.`count`,
          `t1`.`wrong`,
          CASE
            WHEN 4294967296 <> 0
            THEN CAST(FLOOR(ieee_divide(`t1`.`count`, 4294967296)) AS INT64)
            ELSE NULL
          END AS `size`
        FROM (
          SELECT
            CONCAT(CAST(CAST(`t0`.`query` AS BYTES) AS STRING), '', '') AS `label`,
            CASE
              WHEN NOT (
                `t0`.`count` IS NULL
              )
              AND COALESCE(
                (
                  `t0`.`count` >= 1
                )
                AND (
                  `t0`.`count` <= 9223372036854775807
                )
                AND NOT (
                  INSTR(CAST(`t0`.`count` AS STRING), '.') > 0
                ),
                FALSE
              )
              THEN `t0`.`count`
              ELSE 0
            END AS `count`,
            CASE
              WHEN NOT (
                NOT (
                  `t0`.`count` IS NULL
                )
                AND COALESCE(
                  (
                    `t0`.`count` >= 1
                  )
                  AND (
                    `t0`.`count` <= 9223372036854775807
                  )
                  AND NOT (
                    INSTR(CAST(`t0`.`count` AS STRING), '.') > 0
                  ),
                  FALSE
                )
              )
              THEN 1
              ELSE 0
            END AS `wrong`
          FROM `events` AS `t0`
        ) AS `t1`
      ) AS `t2`
      GROUP BY
        1
    ) AS `t3`
  ) AS `t4`
  GROUP BY
    1,
    2
) AS `t5`;

-- counts as text
SELECT
  *
FROM (
  SELECT
    `t5`.`count`,
    `t5`.`is_null`,
    COUNT(*) AS `prevalence`,
    COALESCE(SUM(`t5`.`wrong`), 0) AS `wrong`,
    MAX(`t5`.`size`) AS `size`
  FROM (
    SELECT
      `t4`.`label`,
      `t4`.`count`,
      `t4`.`wrong`,
      `t4`.`size`,
      `t4`.`label` IS NULL AS `is_null`
    FROM (
      SELECT
        `t3`.`label`,
        COALESCE(SUM(`t3`.`count`), 0) AS `count`,
        COALESCE(SUM(`t3`.`wrong`), 0) AS `wrong`,
        COALESCE(SUM(`t3`.`size`), 0) AS `size`
      FROM (
        SELECT
          `t2`.`label`,
          `t2`.`count`,
          `t2`.`wrong`,
          CASE
            WHEN 4294967296 <> 0
            THEN CAST(FLOOR(ieee_divide(`t2`.`count`, 4294967296)) AS INT64)
            ELSE NULL
          END AS `size`
        FROM (
          SELECT
            CONCAT(`t1`.`label`, '', '') AS `label`,
            CAST(CASE
              WHEN NOT (
                `t1`.`count` IS NULL
              )
              AND COALESCE(
                REGEXP_CONTAINS(`t1`.`count`, '^ *0*[1-9][0-9]{0,17} *$')
                OR (
                  REGEXP_CONTAINS(`t1`.`count`, '^ *[1-9][0-9]{18} *$')
                  AND (
                    TRIM(`t1`.`count`, ' \t\n\r\v\f') <= '9223372036854775807'
                  )
                ),
                FALSE
              )
              THEN TRIM(`t1`.`count`, ' \t\n\r\v\f')
              ELSE '0'
            END AS INT64) AS `count`,
            CASE
              WHEN NOT (
                NOT (
                  `t1`.`count` IS NULL
                )
                AND COALESCE(
                  REGEXP_CONTAINS(`t1`.`count`, '^ *0*[1-9][0-9]{0,17} *$')
                  OR (
                    REGEXP_CONTAINS(`t1`.`count`, '^ *[1-9][0-9]{18} *$')
                    AND (
                      TRIM(`t1`.`count`, ' \t\n\r\v\f') <= '9223372036854775807'
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
              CAST(CAST(`t0`.`query` AS BYTES) AS STRING) AS `label`,
              CAST(CAST(`t0`.`written` AS BYTES) AS STRING) AS `count`
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

-- prevalences
SELECT
  `t3`.`count`,
  `t3`.`prevalence`,
  `t3`.`rows`,
  `t3`.`wrong_counts`,
  `t3`.`wrong`,
  `t3`.`size`
FROM (
  SELECT
    `t2`.`count`,
    COALESCE(SUM(`t2`.`prevalence`), 0) AS `prevalence`,
    COALESCE(SUM(`t2`.`wrong_counts`), 0) AS `wrong_counts`,
    COALESCE(SUM(`t2`.`wrong`), 0) AS `wrong`,
    COALESCE(SUM(`t2`.`size`), 0) AS `size`,
    COUNT(*) AS `rows`
  FROM (
    SELECT
      `t1`.`count`,
      `t1`.`prevalence`,
      `t1`.`wrong_counts`,
      `t1`.`wrong`,
      CASE
        WHEN 4294967296 <> 0
        THEN CAST(FLOOR(ieee_divide(`t1`.`prevalence`, 4294967296)) AS INT64)
        ELSE NULL
      END AS `size`
    FROM (
      SELECT
        CASE
          WHEN NOT (
            `t0`.`count` IS NULL
          )
          AND COALESCE(
            (
              `t0`.`count` >= 1
            )
            AND (
              `t0`.`count` <= 9223372036854775807
            )
            AND NOT (
              INSTR(CAST(`t0`.`count` AS STRING), '.') > 0
            ),
            FALSE
          )
          THEN `t0`.`count`
          ELSE 0
        END AS `count`,
        CAST(TRUNC(
          CASE
            WHEN NOT (
              `t0`.`share` IS NULL
            )
            AND COALESCE(
              CASE
                WHEN NOT (
                  (
                    `t0`.`share` IS NULL
                  )
                  OR IF(`t0`.`share` IS NULL, NULL, IS_NAN(`t0`.`share`))
                )
                AND (
                  `t0`.`share` >= 1
                )
                AND (
                  `t0`.`share` <= 9007199254740992
                )
                THEN `t0`.`share`
                ELSE 0.5
              END = CAST(ROUND(
                CASE
                  WHEN NOT (
                    (
                      `t0`.`share` IS NULL
                    )
                    OR IF(`t0`.`share` IS NULL, NULL, IS_NAN(`t0`.`share`))
                  )
                  AND (
                    `t0`.`share` >= 1
                  )
                  AND (
                    `t0`.`share` <= 9007199254740992
                  )
                  THEN `t0`.`share`
                  ELSE 0.5
                END,
                0
              ) AS INT64),
              FALSE
            )
            THEN `t0`.`share`
            ELSE 0.0
          END
        ) AS INT64) AS `prevalence`,
        CASE
          WHEN NOT (
            NOT (
              `t0`.`count` IS NULL
            )
            AND COALESCE(
              (
                `t0`.`count` >= 1
              )
              AND (
                `t0`.`count` <= 9223372036854775807
              )
              AND NOT (
                INSTR(CAST(`t0`.`count` AS STRING), '.') > 0
              ),
              FALSE
            )
          )
          THEN 1
          ELSE 0
        END AS `wrong_counts`,
        CASE
          WHEN NOT (
            NOT (
              `t0`.`share` IS NULL
            )
            AND COALESCE(
              CASE
                WHEN NOT (
                  (
                    `t0`.`share` IS NULL
                  )
                  OR IF(`t0`.`share` IS NULL, NULL, IS_NAN(`t0`.`share`))
                )
                AND (
                  `t0`.`share` >= 1
                )
                AND (
                  `t0`.`share` <= 9007199254740992
                )
                THEN `t0`.`share`
                ELSE 0.5
              END = CAST(ROUND(
                CASE
                  WHEN NOT (
                    (
                      `t0`.`share` IS NULL
                    )
                    OR IF(`t0`.`share` IS NULL, NULL, IS_NAN(`t0`.`share`))
                  )
                  AND (
                    `t0`.`share` >= 1
                  )
                  AND (
                    `t0`.`share` <= 9007199254740992
                  )
                  THEN `t0`.`share`
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
      FROM `events` AS `t0`
    ) AS `t1`
  ) AS `t2`
  GROUP BY
    1
) AS `t3`;
