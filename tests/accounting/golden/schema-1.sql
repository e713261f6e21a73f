BEGIN TRANSACTION;
CREATE TABLE anonhist_accounts (
        dataset TEXT PRIMARY KEY,
        created BIGINT NOT NULL,
        spent_epsilon TEXT NOT NULL,
        spent_delta TEXT NOT NULL
    );
INSERT INTO "anonhist_accounts" VALUES('passwords',1,'1','0');
CREATE TABLE anonhist_entries (
        number BIGINT PRIMARY KEY,
        dataset TEXT NOT NULL,
        about BIGINT UNIQUE,
        document TEXT NOT NULL,
        digest TEXT NOT NULL
    );
INSERT INTO "anonhist_entries" VALUES(1,'passwords',NULL,'{"by":"eve","dataset":"passwords","details":{"delta":"1/1000000000","epsilon":"2","relation":"add-or-remove","unit":"user"},"kind":"create","ledger":"401ec0c5de904a0aafd34ed338b25f15","number":1,"time":"2026-11-24T02:46:00.000000Z","version":"0.1.0"}','8fb79d2380ea81335848d407ca3019fa1ec29be920a619e462fe07360789be3c');
INSERT INTO "anonhist_entries" VALUES(2,'passwords',NULL,'{"by":"eve","dataset":"passwords","details":{"arithmetic":"noise is exact","conditions":[],"cost":["1/2","0"],"delta":"0","epsilon":"1/2","mechanism":"frobenius","parameters":{"epsilon":"1/2"},"party_epsilon":null,"purpose":"press 2026","relation":"add-or-remove","unit":{"bound":5,"groups":1,"kind":"user","sketches":1}},"kind":"charge","ledger":"401ec0c5de904a0aafd34ed338b25f15","number":2,"time":"2026-11-24T02:46:01.000000Z","version":"0.1.0"}','5d22bca88ea1f4288bcac56b05dcfdb4e29918857cb9420c9322b92c3288b440');
INSERT INTO "anonhist_entries" VALUES(3,'passwords',2,'{"by":"eve","dataset":"passwords","details":{"charge":2,"digest":"abababababababababababababababababababababababababababababababab"},"kind":"complete","ledger":"401ec0c5de904a0aafd34ed338b25f15","number":3,"time":"2026-11-24T02:46:02.000000Z","version":"0.1.0"}','327160a3db44b1e866f7df1911e282ef249e815b36480e939e57281fe71f9c4b');
INSERT INTO "anonhist_entries" VALUES(4,'passwords',NULL,'{"by":"eve","dataset":"passwords","details":{"arithmetic":"noise is exact","conditions":[],"cost":["3/4","0"],"delta":"0","epsilon":"3/4","mechanism":"frobenius","parameters":{"epsilon":"3/4"},"party_epsilon":null,"purpose":"","relation":"add-or-remove","unit":{"bound":5,"groups":1,"kind":"user","sketches":1}},"kind":"charge","ledger":"401ec0c5de904a0aafd34ed338b25f15","number":4,"time":"2026-11-24T02:46:03.000000Z","version":"0.1.0"}','5f7acc249eb17bf9cea5b0e2c0865c4d11c3448118de2cd53f095755f8006121');
INSERT INTO "anonhist_entries" VALUES(5,'passwords',4,'{"by":"eve","dataset":"passwords","details":{"charge":4,"reason":"a wrong column"},"kind":"void","ledger":"401ec0c5de904a0aafd34ed338b25f15","number":5,"time":"2026-11-24T02:46:04.000000Z","version":"0.1.0"}','9d0fa8d27aa43b9c7723b52e46182ceb9ae66ec4c8326afc4152732e29ec9b00');
INSERT INTO "anonhist_entries" VALUES(6,'passwords',NULL,'{"by":"eve","dataset":"passwords","details":{"arithmetic":"noise is exact","conditions":[],"cost":["1/2","0"],"delta":"0","epsilon":"1/2","mechanism":"frobenius","parameters":{"epsilon":"1/2"},"party_epsilon":null,"purpose":"","relation":"add-or-remove","unit":{"bound":5,"groups":1,"kind":"user","sketches":1}},"kind":"charge","ledger":"401ec0c5de904a0aafd34ed338b25f15","number":6,"time":"2026-11-24T02:46:05.000000Z","version":"0.1.0"}','ed425f9f4c6bc9dee218f9c363bdc4a0a43adfc6ac3af6958083df58f3a98bd5');
CREATE TABLE anonhist_ledger (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "anonhist_ledger" VALUES('id','401ec0c5de904a0aafd34ed338b25f15');
INSERT INTO "anonhist_ledger" VALUES('schema','1');
CREATE INDEX anonhist_entries_of ON anonhist_entries (dataset, number);
CREATE TRIGGER anonhist_no_update BEFORE UPDATE ON anonhist_entries BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
CREATE TRIGGER anonhist_no_delete BEFORE DELETE ON anonhist_entries BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
COMMIT;
