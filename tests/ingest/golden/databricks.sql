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
          CONCAT(CAST(CAST(`t0`.`query` AS BINARY) AS STRING), '', '') AS `label`
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
            `t4`.`one`,
            `t4`.`number`,
            `t4`.`total`,
            `t4`.`hash`,
            CAST(CONV(
              SUBSTRING(`t4`.`hash`, IF((
                0 + 1
              ) >= 1, 0 + 1, 0 + 1 + LENGTH(`t4`.`hash`)), 12),
              16,
              10
            ) AS BIGINT) AS `start`
          FROM (
            SELECT
              `t3`.`label`,
              `t3`.`user`,
              `t3`.`one`,
              `t3`.`number`,
              `t3`.`total`,
              IF(
                `t3`.`total` > 5,
                MD5(CONCAT('0123456789abcdef0123456789abcdef ', `t3`.`user`)),
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
                    CONCAT(CAST(CAST(`t0`.`query` AS BINARY) AS STRING), '', '') AS `label`,
                    CONCAT(CAST(CAST(`t0`.`user` AS BINARY) AS STRING), '', '') AS `user`,
                    CONCAT(CAST(CAST(`t0`.`user` AS BINARY) AS STRING), '', '') AS `user_name`,
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
          (
            `t5`.`total` <= 5
          )
          OR (
            (
              `t5`.`total` <= 922337203685477580
            )
            AND (
              (
                (
                  (
                    (
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
                        (
                          (
                            `t5`.`start` % `t5`.`total`
                          ) + `t5`.`total`
                        ) % `t5`.`total`
                      )
                    ) % `t5`.`total`
                  ) + `t5`.`total`
                ) % `t5`.`total`
              ) < 5
            )
          )
      ) AS `t6`
      GROUP BY
        1
    ) AS `t7`
  ) AS `t8`
  GROUP BY
    1,
    2
) AS `t9`;

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
                    CONCAT(CAST(CAST(`t0`.`query` AS BINARY) AS STRING), '', '') AS `label`,
                    CONCAT(CAST(CAST(`t0`.`user` AS BINARY) AS STRING), '', '') AS `user`,
                    CONCAT(CAST(CAST(`t0`.`user` AS BINARY) AS STRING), '', '') AS `user_name`,
                    CASE WHEN NOT (
                      `t0`.`ts` IS NULL
                    ) THEN CAST(`t0`.`ts` AS DOUBLE) ELSE NULL END AS `rank_by`,
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
                        `t0`.`price` IS NULL
                        OR ISNAN(`t0`.`price`)
                        OR IF(`t0`.`price` IS NULL OR ISNAN(`t0`.`price`), NULL, ISNAN(`t0`.`price`))
                      )
                      THEN CASE
                        WHEN COALESCE(
                          CASE
                            WHEN NOT (
                              `t0`.`price` IS NULL
                              OR ISNAN(`t0`.`price`)
                              OR IF(`t0`.`price` IS NULL OR ISNAN(`t0`.`price`), NULL, ISNAN(`t0`.`price`))
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
                                `t0`.`price` IS NULL
                                OR ISNAN(`t0`.`price`)
                                OR IF(`t0`.`price` IS NULL OR ISNAN(`t0`.`price`), NULL, ISNAN(`t0`.`price`))
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
                          ) AS BIGINT),
                          FALSE
                        )
                        THEN CAST(CAST(ROUND(
                          CASE
                            WHEN NOT (
                              `t0`.`price` IS NULL
                              OR ISNAN(`t0`.`price`)
                              OR IF(`t0`.`price` IS NULL OR ISNAN(`t0`.`price`), NULL, ISNAN(`t0`.`price`))
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
                        ) AS BIGINT) AS STRING)
                        ELSE CAST(`t0`.`price` AS STRING)
                      END
                      ELSE NULL
                    END AS `label`,
                    CONCAT(CAST(CAST(`t0`.`user` AS BINARY) AS STRING), '', '') AS `user`,
                    CONCAT(CAST(CAST(`t0`.`user` AS BINARY) AS STRING), '', '') AS `user_name`,
                    CASE
                      WHEN NOT (
                        `t0`.`price` IS NULL
                        OR ISNAN(`t0`.`price`)
                        OR IF(`t0`.`price` IS NULL OR ISNAN(`t0`.`price`), NULL, ISNAN(`t0`.`price`))
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
                          `t0`.`price` IS NULL
                          OR ISNAN(`t0`.`price`)
                          OR IF(`t0`.`price` IS NULL OR ISNAN(`t0`.`price`), NULL, ISNAN(`t0`.`price`))
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
            CONCAT(CAST(CAST(`t0`.`query` AS BINARY) AS STRING), '', '') AS `label`,
            CONCAT(CAST(CAST(`t0`.`user` AS BINARY) AS STRING), '', '') AS `user`
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
    CASE WHEN CAST(CAST(`t0`.`user` AS BINARY) AS STRING) IS NULL THEN 1 ELSE 0 END AS `missing`
  FROM `events` AS `t0`
) AS `t1`;

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
                THEN '\0330'
                ELSE REPLACE(REPLACE(`t3`.`group0`, '\033', '\0332'), '\037', '\0331')
              END,
              '\037',
              CASE
                WHEN `t3`.`group1` IS NULL
                THEN '\0330'
                ELSE REPLACE(REPLACE(`t3`.`group1`, '\033', '\0332'), '\037', '\0331')
              END
            ) AS `group`
          FROM (
            SELECT
              CONCAT(`t2`.`query`, '', '') AS `label`,
              CONCAT(`t2`.`country`, '', '') AS `group0`,
              CASE
                WHEN (
                  CAST(EXTRACT(year FROM `t2`.`zoned`) AS BIGINT) >= 1
                )
                AND (
                  CAST(EXTRACT(year FROM `t2`.`zoned`) AS BIGINT) <= 9999
                )
                THEN SUBSTRING(
                  DATE_FORMAT(`t2`.`zoned`, 'yyyy-MM-dd'),
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
                    ) + 1 + LENGTH(DATE_FORMAT(`t2`.`zoned`, 'yyyy-MM-dd'))
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
                DATE_FROM_UNIX_DATE(
                  CAST(CAST(FLOOR((
                    UNIX_SECONDS(`t1`.`zoned`)
                  ) / (
                    86400
                  )) AS BIGINT) AS INT)
                ) AS `zoned`,
                `t1`.`count`,
                `t1`.`share`,
                `t1`.`written`
              FROM (
                SELECT
                  CAST(CAST(`t0`.`query` AS BINARY) AS STRING) AS `query`,
                  CAST(CAST(`t0`.`user` AS BINARY) AS STRING) AS `user`,
                  `t0`.`ts`,
                  `t0`.`price`,
                  CAST(CAST(`t0`.`country` AS BINARY) AS STRING) AS `country`,
                  `t0`.`seen`,
                  `t0`.`zoned`,
                  `t0`.`count`,
                  `t0`.`share`,
                  CAST(CAST(`t0`.`written` AS BINARY) AS STRING) AS `written`
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
            `t4`.`group` IN ('de\0372026-11-01', 'f\0331r\0372026-11-02')
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
            `t4`.`hash`,
            CAST(CONV(
              SUBSTRING(`t4`.`hash`, IF((
                0 + 1
              ) >= 1, 0 + 1, 0 + 1 + LENGTH(`t4`.`hash`)), 12),
              16,
              10
            ) AS BIGINT) AS `start`
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
                MD5(CONCAT('0123456789abcdef0123456789abcdef ', `t3`.`user`)),
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
                    CONCAT(CAST(CAST(`t0`.`query` AS BINARY) AS STRING), '', '') AS `label`,
                    CONCAT(CAST(CAST(`t0`.`country` AS BINARY) AS STRING), '', '') AS `group0`,
                    CONCAT(CAST(CAST(`t0`.`user` AS BINARY) AS STRING), '', '') AS `user`,
                    CONCAT(CAST(CAST(`t0`.`user` AS BINARY) AS STRING), '', '') AS `user_name`,
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
                (
                  (
                    (
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
                        (
                          (
                            `t5`.`start` % `t5`.`total`
                          ) + `t5`.`total`
                        ) % `t5`.`total`
                      )
                    ) % `t5`.`total`
                  ) + `t5`.`total`
                ) % `t5`.`total`
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
            `t7`.`hash`,
            CAST(CONV(
              SUBSTRING(`t7`.`hash`, IF((
                0 + 1
              ) >= 1, 0 + 1, 0 + 1 + LENGTH(`t7`.`hash`)), 12),
              16,
              10
            ) AS BIGINT) AS `start`
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
                MD5(
                  CONCAT(
                    CONCAT(CONCAT('0123456789abcdef0123456789abcdef ', `t6`.`user`), '\n'),
                    `t6`.`group`
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
                      DENSE_RANK() OVER (
                        PARTITION BY `t3`.`user`
                        ORDER BY CONCAT(`t3`.`hash`, `t3`.`group`) ASC NULLS LAST
                      ) - 1
                    ) + 1 AS `group_rank`
                  FROM (
                    SELECT
                      `t2`.`label`,
                      `t2`.`user`,
                      `t2`.`user_name`,
                      `t2`.`one`,
                      `t2`.`group`,
                      `t2`.`occurrence`,
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
                          CONCAT(CAST(CAST(`t0`.`query` AS BINARY) AS STRING), '', '') AS `label`,
                          CONCAT(CAST(CAST(`t0`.`country` AS BINARY) AS STRING), '', '') AS `group0`,
                          CONCAT(CAST(CAST(`t0`.`user` AS BINARY) AS STRING), '', '') AS `user`,
                          CONCAT(CAST(CAST(`t0`.`user` AS BINARY) AS STRING), '', '') AS `user_name`,
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
                (
                  (
                    (
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
                        (
                          (
                            `t8`.`start` % `t8`.`total`
                          ) + `t8`.`total`
                        ) % `t8`.`total`
                      )
                    ) % `t8`.`total`
                  ) + `t8`.`total`
                ) % `t8`.`total`
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
                    CONCAT(CAST(CAST(`t0`.`query` AS BINARY) AS STRING), '', '') AS `label`,
                    CONCAT(CAST(CAST(`t0`.`country` AS BINARY) AS STRING), '', '') AS `group0`
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
    `t10`.`at_day`,
    MIN(`t10`.`named`) AS `named`,
    COALESCE(SUM(`t10`.`reached0`), 0) AS `reached0`,
    COALESCE(SUM(`t10`.`reached1`), 0) AS `reached1`
  FROM (
    SELECT
      `t9`.`at_day`,
      `t9`.`named`,
      CASE
        WHEN (
          `t9`.`after` >= 1
        ) AND (
          (
            `t9`.`after` - `t9`.`count`
          ) < 1
        )
        THEN 1
        ELSE 0
      END AS `reached0`,
      CASE
        WHEN (
          `t9`.`after` >= 2
        ) AND (
          (
            `t9`.`after` - `t9`.`count`
          ) < 2
        )
        THEN 1
        ELSE 0
      END AS `reached1`
    FROM (
      SELECT
        `t8`.`label`,
        `t8`.`at_day`,
        `t8`.`count`,
        `t8`.`known`,
        `t8`.`named`,
        CASE
          WHEN `t8`.`count` IS NOT NULL
          THEN SUM(`t8`.`count`) OVER (
            PARTITION BY `t8`.`known`
            ORDER BY `t8`.`at_day` ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          )
          ELSE NULL
        END AS `after`
      FROM (
        SELECT
          `t7`.`label`,
          `t7`.`at_day`,
          `t7`.`count`,
          `t7`.`label` AS `known`,
          1 AS `named`
        FROM (
          SELECT
            `t6`.`label`,
            `t6`.`at_day`,
            COUNT(*) AS `count`
          FROM (
            SELECT
              `t5`.`label`,
              `t5`.`at_day`
            FROM (
              SELECT
                `t4`.`label`,
                `t4`.`at_day`,
                `t4`.`user`,
                `t4`.`one`,
                `t4`.`number`,
                `t4`.`total`,
                `t4`.`hash`,
                CAST(CONV(
                  SUBSTRING(`t4`.`hash`, IF((
                    0 + 1
                  ) >= 1, 0 + 1, 0 + 1 + LENGTH(`t4`.`hash`)), 12),
                  16,
                  10
                ) AS BIGINT) AS `start`
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
                    MD5(CONCAT('0123456789abcdef0123456789abcdef ', `t3`.`user`)),
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
                        CONCAT(CAST(CAST(`t0`.`query` AS BINARY) AS STRING), '', '') AS `label`,
                        CASE
                          WHEN (
                            CAST(EXTRACT(year FROM `t0`.`seen`) AS BIGINT) >= 1
                          )
                          AND (
                            CAST(EXTRACT(year FROM `t0`.`seen`) AS BIGINT) <= 9999
                          )
                          THEN SUBSTRING(
                            DATE_FORMAT(`t0`.`seen`, 'yyyy-MM-dd'),
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
                              ) + 1 + LENGTH(DATE_FORMAT(`t0`.`seen`, 'yyyy-MM-dd'))
                            ),
                            10
                          )
                          ELSE NULL
                        END AS `at_day`,
                        CONCAT(CAST(CAST(`t0`.`user` AS BINARY) AS STRING), '', '') AS `user`,
                        CONCAT(CAST(CAST(`t0`.`user` AS BINARY) AS STRING), '', '') AS `user_name`,
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
                    (
                      (
                        (
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
                            (
                              (
                                `t5`.`start` % `t5`.`total`
                              ) + `t5`.`total`
                            ) % `t5`.`total`
                          )
                        ) % `t5`.`total`
                      ) + `t5`.`total`
                    ) % `t5`.`total`
                  ) < 5
                )
              )
          ) AS `t6`
          GROUP BY
            1,
            2
        ) AS `t7`
      ) AS `t8`
    ) AS `t9`
  ) AS `t10`
  GROUP BY
    1
) AS `t11`;

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
                  DATEDIFF(DAY, MAKE_DATE(1970, 1, 1), `t2`.`zoned`) + 719162 BETWEEN 0 AND 3652058,
                  LPAD(
                    CAST(CAST(FLOOR((
                      DATEDIFF(DAY, MAKE_DATE(1970, 1, 1), `t2`.`zoned`) + 719162
                    ) / (
                      7
                    )) AS BIGINT) AS STRING),
                    GREATEST(
                      LENGTH(
                        CAST(CAST(FLOOR((
                          DATEDIFF(DAY, MAKE_DATE(1970, 1, 1), `t2`.`zoned`) + 719162
                        ) / (
                          7
                        )) AS BIGINT) AS STRING)
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
                  DATE_FROM_UNIX_DATE(
                    CAST(CAST(FLOOR((
                      UNIX_SECONDS(`t1`.`zoned`)
                    ) / (
                      86400
                    )) AS BIGINT) AS INT)
                  ) AS `zoned`,
                  `t1`.`count`,
                  `t1`.`share`,
                  `t1`.`written`
                FROM (
                  SELECT
                    CAST(CAST(`t0`.`query` AS BINARY) AS STRING) AS `query`,
                    CAST(CAST(`t0`.`user` AS BINARY) AS STRING) AS `user`,
                    `t0`.`ts`,
                    `t0`.`price`,
                    CAST(CAST(`t0`.`country` AS BINARY) AS STRING) AS `country`,
                    `t0`.`seen`,
                    `t0`.`zoned`,
                    `t0`.`count`,
                    `t0`.`share`,
                    CAST(CAST(`t0`.`written` AS BINARY) AS STRING) AS `written`
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
            THEN CAST(FLOOR((
              `t1`.`count`
            ) / (
              4294967296
            )) AS BIGINT)
            ELSE NULL
          END AS `size`
        FROM (
          SELECT
            CONCAT(CAST(CAST(`t0`.`query` AS BINARY) AS STRING), '', '') AS `label`,
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
                  CONTAINS(CAST(`t0`.`count` AS STRING), '.')
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
                    CONTAINS(CAST(`t0`.`count` AS STRING), '.')
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
            THEN CAST(FLOOR((
              `t2`.`count`
            ) / (
              4294967296
            )) AS BIGINT)
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
                REGEXP_LIKE(`t1`.`count`, '^ *0*[1-9][0-9]{0,17} *$')
                OR (
                  REGEXP_LIKE(`t1`.`count`, '^ *[1-9][0-9]{18} *$')
                  AND (
                    TRIM(' \t\n\r\013\014' FROM `t1`.`count`) <= '9223372036854775807'
                  )
                ),
                FALSE
              )
              THEN TRIM(' \t\n\r\013\014' FROM `t1`.`count`)
              ELSE '0'
            END AS BIGINT) AS `count`,
            CASE
              WHEN NOT (
                NOT (
                  `t1`.`count` IS NULL
                )
                AND COALESCE(
                  REGEXP_LIKE(`t1`.`count`, '^ *0*[1-9][0-9]{0,17} *$')
                  OR (
                    REGEXP_LIKE(`t1`.`count`, '^ *[1-9][0-9]{18} *$')
                    AND (
                      TRIM(' \t\n\r\013\014' FROM `t1`.`count`) <= '9223372036854775807'
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
              CAST(CAST(`t0`.`query` AS BINARY) AS STRING) AS `label`,
              CAST(CAST(`t0`.`written` AS BINARY) AS STRING) AS `count`
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
        THEN CAST(FLOOR((
          `t1`.`prevalence`
        ) / (
          4294967296
        )) AS BIGINT)
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
              CONTAINS(CAST(`t0`.`count` AS STRING), '.')
            ),
            FALSE
          )
          THEN `t0`.`count`
          ELSE 0
        END AS `count`,
        CAST(CASE
          WHEN NOT (
            `t0`.`share` IS NULL OR ISNAN(`t0`.`share`)
          )
          AND COALESCE(
            CASE
              WHEN NOT (
                `t0`.`share` IS NULL
                OR ISNAN(`t0`.`share`)
                OR IF(`t0`.`share` IS NULL OR ISNAN(`t0`.`share`), NULL, ISNAN(`t0`.`share`))
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
                  `t0`.`share` IS NULL
                  OR ISNAN(`t0`.`share`)
                  OR IF(`t0`.`share` IS NULL OR ISNAN(`t0`.`share`), NULL, ISNAN(`t0`.`share`))
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
            ) AS BIGINT),
            FALSE
          )
          THEN `t0`.`share`
          ELSE 0.0
        END AS BIGINT) AS `prevalence`,
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
                CONTAINS(CAST(`t0`.`count` AS STRING), '.')
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
              `t0`.`share` IS NULL OR ISNAN(`t0`.`share`)
            )
            AND COALESCE(
              CASE
                WHEN NOT (
                  `t0`.`share` IS NULL
                  OR ISNAN(`t0`.`share`)
                  OR IF(`t0`.`share` IS NULL OR ISNAN(`t0`.`share`), NULL, ISNAN(`t0`.`share`))
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
                    `t0`.`share` IS NULL
                    OR ISNAN(`t0`.`share`)
                    OR IF(`t0`.`share` IS NULL OR ISNAN(`t0`.`share`), NULL, ISNAN(`t0`.`share`))
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
              ) AS BIGINT),
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
