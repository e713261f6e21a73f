// A collection is refused unless it is the one that was agreed to; its reports are lines of one length.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "./first.mjs";

const client = await import(process.env.CLIENT ?? "../../src/anonhist/local/client/client.js");
const vectors = (name) => JSON.parse(readFileSync(new URL(`../../examples/${name}`, import.meta.url)));
const GOOD = readFileSync(new URL("../formats/golden/collection.json", import.meta.url), "utf8");
const OPEN = readFileSync(new URL("../formats/golden/collection-open.json", import.meta.url), "utf8");
const DIGEST = JSON.parse(GOOD).digest;
const UNPINNED = { unpinned: true };

test("SHA-256 is that of Node", () => {
  for (let length = 0; length < 300; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 7 + length) % 256);
    assert.equal(client.hex(client.sha256(bytes)), createHash("sha256").update(bytes).digest("hex"));
  }
});

test("hashes and buckets are those of the vectors", () => {
  const { hashes, buckets } = vectors("hashing_vectors.json");
  const ofKey = (key) => client.keyedHash(Buffer.from(key, "hex").toString());
  const isText = (key) => Buffer.from(Buffer.from(key, "hex").toString()).toString("hex") === key;
  const ours = hashes.filter(({ key }) => isText(key));
  assert.ok(ours.length >= 5);
  for (const { key, utf8, hash } of ours) {
    assert.equal(client.hex(new Uint8Array(ofKey(key)(Uint8Array.from(Buffer.from(utf8, "hex"))).buffer)), hash);
  }
  for (const { key, words, seed, buckets: expected } of buckets.filter(({ key }) => isText(key))) {
    for (const [g, place] of Object.entries(expected)) {
      assert.equal(client.bucket(ofKey(key), words, seed, Number(g)), place);
    }
  }
});

test("a good description is accepted, with its digest or where a page says that it names none", () => {
  for (const pinned of [{ digest: DIGEST }, UNPINNED, { digest: DIGEST, unpinned: true }]) {
    assert.equal(new client.Collection(GOOD, pinned).digest, DIGEST);
    assert.equal(new client.Collection(JSON.stringify(JSON.parse(GOOD)), pinned).digest, DIGEST);
  }
  assert.deepEqual(new client.Collection(GOOD, UNPINNED).description, JSON.parse(GOOD));
});

test("a page that names no digest is refused in a sentence, unless it says so", async () => {
  for (const pinned of [undefined, {}, { digest: undefined }, { unpinned: false }, { unpinned: "yes" }]) {
    assert.throws(() => new client.Collection(GOOD, pinned), /^Error: Without a digest, .* any epsilon: /);
  }
  const { fetch } = globalThis;
  globalThis.fetch = async () => new Response(GOOD);
  await assert.rejects(client.Collection.load("./collection.json"), /any epsilon/);
  assert.equal((await client.Collection.load("./collection.json", UNPINNED)).digest, DIGEST);
  globalThis.fetch = fetch;
});

const CHANGED = {
  "another epsilon": (text) => text.replace('"epsilon": "1"', '"epsilon": "8"'),
  "another answer count": (text) => text.replace('"answers": "once"', '"answers": 9'),
  "another label": (text) => text.replace('"bus"', '"bis"'),
  "another promise": (text) => text.replace("1-differentially", "0.1-differentially"),
  "a field twice": (text) => text.replace('"answers": "once"', '"answers": "twice", "answers": "once"'),
  "a number in another form": (text) => text.replace('"keep_ids": 14', '"keep_ids": 14.0'),
  "100,000 digits": (text) => text.replace('"keep_ids": 14', `"keep_ids": ${"1".repeat(100000)}`),
  "NaN": (text) => text.replace('"keep_ids": 14', '"keep_ids": NaN'),
  "half a character": (text) => text.replace('"bus"', '"\\ud800"'),
  "another field": (text) => text.replace('"version": 1,', '"version": 1, "more": 1,'),
  "a later version": (text) => text.replace('"version": 1', '"version": 2'),
  "a survey": (text) => text.replace("anonhist/collection", "anonhist/survey"),
};
for (const [what, change] of Object.entries(CHANGED)) {
  test(`${what} is refused`, () => {
    assert.notEqual(change(GOOD), GOOD);
    assert.throws(() => new client.Collection(change(GOOD), UNPINNED));
  });
}

test("another collection is refused where one is pinned", () => {
  assert.throws(() => new client.Collection(OPEN, { digest: DIGEST }), /not the one/);
  new client.Collection(OPEN, UNPINNED);
});

test("a digest that is named in a wrong way accepts nothing", () => {
  for (const pinned of [DIGEST, {}, { digest: undefined }, { digest: null }, { digest: null, unpinned: true }, { Digest: DIGEST }, null]) {
    assert.throws(() => new client.Collection(OPEN, pinned));
  }
});

test("reports of another epsilon do not carry the digest of a survey", () => {
  // A parameter of this name once hid the epsilon that was drawn with; the description agrees with its own digest.
  const canonical = (value) => {
    if (!value || typeof value !== "object") return JSON.stringify(value);
    if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
    return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
  };
  const { format, version, digest, ...content } = JSON.parse(GOOD);
  const text = () => {
    const digest = createHash("sha256").update(canonical(content)).digest("hex");
    return JSON.stringify({ format, version, ...content, digest });
  };
  assert.equal(new client.Collection(text(), { digest }).digest, digest);
  content.survey.parameters.epsilon = content.survey.epsilon;
  content.survey.epsilon = "8";
  assert.throws(() => new client.Collection(text(), UNPINNED), /not the one/);
});

test("without entropy there is no report, and the reason is said", () => {
  const original = crypto.getRandomValues.bind(crypto);
  for (const error of [new Error("none"), new DOMException("none", "OperationError")]) {
    let good = -1, line;
    while (!line) {
      let left = ++good;
      crypto.getRandomValues = (array) => {
        if (!left--) throw error;
        return original(array);
      };
      try {
        line = new client.Collection(GOOD, UNPINNED).simulate("bus");
      } catch (refused) {
        assert.match(refused.message, /no random numbers/);
      }
    }
    assert.ok(good >= 1);
  }
  crypto.getRandomValues = original;
});

test("values outside the alphabet, and texts that are none, are refused without naming them", () => {
  for (const [text, values] of [[GOOD, ["plane", "", null, undefined, 7, {}, "BUS"]], [OPEN, ["\ud800", 7, null]]]) {
    for (const value of values) {
      assert.throws(() => new client.Collection(text, UNPINNED).simulate(value), (error) => !error.message.includes("plane"));
    }
  }
});

test("texts are numbers as in Python, and no others", () => {
  // tests/local/test_alphabet.py has the same.
  const { code } = client.randomizer({ mechanism: "k-rr", epsilon: "1", parameters: { alphabet: { size: 2 ** 32 } } });
  assert.deepEqual(["0", "7", "10", "4294967295", 7].map(code), [0, 7, 10, 4294967295, 7]);
  const wrong = ["05", "00", "+7", "-0", "-1", " 7", "7 ", "7\n", "7_0", "7.0", "1e1", "0x7", "", "٧", "4294967296", "9".repeat(5000)];
  for (const value of [...wrong, 7.5, -1, 2 ** 32, true, null, NaN, Infinity]) assert.throws(() => code(value), /not one of/);
});

test("without a memory there is no answer, and the reason is said", async () => {
  await assert.rejects(new client.Collection(GOOD, UNPINNED).answer("bus"), /does not let the page remember/);
});

test("lines have one length, another id each, and are drawn from the system's entropy", () => {
  const taken = [], original = crypto.getRandomValues.bind(crypto);
  crypto.getRandomValues = (array) => (taken.push(array.byteLength), original(array));
  const collection = new client.Collection(OPEN, UNPINNED);
  const lines = Array.from({ length: 300 }, (_, i) => collection.simulate(`answer ${i}`));
  crypto.getRandomValues = original;
  assert.equal(new Set(lines.map((line) => line.length)).size, 1);
  assert.equal(new Set(lines.map((line) => JSON.parse(line).id)).size, 300);
  // Of each report: a seed, a bit, a bucket, and two words for the identifier.
  assert.ok(taken.reduce((sum, bytes) => sum + bytes, 0) >= 300 * 5 * 8);
});

test("identifiers begin with the day that the description gives, never with one of the device", () => {
  const { now } = Date;
  Date.now = () => assert.fail("the clock was read");
  try {
    const day = (today) => {
      const text = today === undefined ? GOOD : GOOD.replace('"version": 1,', `"version": 1, "today": ${today},`);
      return JSON.parse(new client.Collection(text, { digest: DIGEST }).simulate("bus")).id.slice(0, 4);
    };
    assert.deepEqual([undefined, '"1970-01-02"', '"2026-11-28"', '"2149-06-06"'].map(day), ["0000", "0001", "5131", "ffff"]);
    for (const wrong of ['"2149-06-07"', '"1969-12-31"', '"2026-11-28T05:00Z"', '"today"', "null", "{}", "[]", "true", '""']) {
      assert.throws(() => day(wrong), wrong);
    }
    // The same text is read alike in all time zones.
    const { TZ } = process.env;
    try {
      for (process.env.TZ of ["UTC", "Asia/Karachi"]) {
        for (const other of ['"2026-11-28T05:00"', '"1970-01-01T05:00"', '"2026-11-28T00:00"', '"12/31/2027 UTC"', '"2027"', "0"]) {
          assert.throws(() => day(other), `${other} in ${process.env.TZ}`);
        }
        assert.equal(day('"2026-11-28"'), "5131");
      }
    } finally {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
    }
  } finally {
    Date.now = now;
  }
});

test("the lowest two bytes of the last two words are left out of identifiers", () => {
  const original = crypto.getRandomValues.bind(crypto);
  let last;
  crypto.getRandomValues = (array) => (last = original(array));
  const { id } = JSON.parse(new client.Collection(GOOD, UNPINNED).simulate("bus"));
  crypto.getRandomValues = original;
  const taken = Buffer.from(last.buffer, last.byteOffset, last.byteLength);
  assert.equal(id, "0000" + taken.subarray(-16).toString("hex").slice(4));
});

test("no other randomness is used", () => {
  const original = Math.random;
  Math.random = () => assert.fail("Math.random was called");
  try {
    new client.Collection(GOOD, UNPINNED).simulate("bus");
    new client.Collection(OPEN, UNPINNED).simulate("bus");
  } finally {
    Math.random = original;
  }
});

test("simulated reports follow their distribution", () => {
  // k-RR with k = 4 and ε = 1: kept with e/(e + 3). Missed by chance once in 10^9 runs.
  const collection = new client.Collection(GOOD, UNPINNED), users = 20000;
  let kept = 0;
  for (let i = 0; i < users; i++) kept += JSON.parse(collection.simulate("bus")).reports.report[0] === "0";
  const p = Math.E / (Math.E + 3);
  assert.ok(Math.abs(kept - users * p) < 6.2 * Math.sqrt(users * p * (1 - p)), `${kept}`);
});
