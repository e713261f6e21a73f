// The client draws what the library draws, from the same words: examples/drawing_vectors.json.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "./first.mjs";

const client = await import(process.env.CLIENT ?? "../../src/anonhist/local/client/client.js");
const { domain, surveys } = JSON.parse(readFileSync(new URL("../../examples/drawing_vectors.json", import.meta.url)));

function stream(seed, head) {
  const source = (count) => {
    const out = new Uint32Array(2 * count);
    for (let i = 0; i < count; i++, source.used++) {
      let word;
      if (source.used < head.length) word = BigInt("0x" + head[source.used]);
      else {
        const counted = Buffer.alloc(16);
        counted.writeBigUInt64LE(BigInt(seed), 0);
        counted.writeBigUInt64LE(BigInt(source.used - head.length), 8);
        word = createHash("sha256").update(domain).update(counted).digest().readBigUInt64LE(0);
      }
      out[2 * i] = Number(word & 0xffffffffn);
      out[2 * i + 1] = Number(word >> 32n);
    }
    return out;
  };
  source.used = 0;
  return source;
}

const mechanisms = new Set(surveys.map((survey) => survey.mechanism));
test("there are vectors of every mechanism", () => assert.equal(mechanisms.size, 13));

for (const [place, survey] of surveys.entries()) {
  test(`${survey.mechanism}, survey ${place}`, () => {
    const randomizer = client.randomizer(survey);
    for (const [answer, seed, head, used, report] of survey.vectors) {
      const words = stream(seed, head), drawn = randomizer.draw(randomizer.code(answer), words);
      const columns = survey.columns.map((name) =>
        drawn[name] instanceof Uint8Array ? Buffer.from(drawn[name]).toString("hex") : String(drawn[name]));
      assert.deepEqual([columns, words.used], [report, used], `answer ${answer}, seed ${seed}, head ${head}`);
    }
  });
}
