// Where only invited people may answer, the id of a report is the invitation; in a browser, tests/client/test_server.py.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "./first.mjs";

const client = await import(process.env.CLIENT ?? "../../src/anonhist/local/client/client.js");
const golden = (name) => readFileSync(new URL(`../formats/golden/${name}.json`, import.meta.url), "utf8");
const INVITED = golden("collection-invited"), ANYBODY = golden("collection");
const UNPINNED = { unpinned: true };
// 2026-12-31, and 14 bytes.
const INVITATION = "5152" + "0123456789abcdef0123456789ab", OTHER = "5152" + "f".repeat(28);

/** As much of IndexedDB as the client uses. */
function memory() {
  const records = new Map(), key = (value) => JSON.stringify(value);
  const soon = (result) => {
    const request = { result };
    setTimeout(() => request.onsuccess());
    return request;
  };
  const reports = {
    get: (place) => soon(records.get(key(place))),
    count: () => soon(records.size),
    add: (record) => soon(void records.set(key([record.collection, record.occasion]), record)),
  };
  const transaction = () => {
    const made = { objectStore: () => reports, abort: () => setTimeout(() => made.onabort()) };
    const ended = () => made.oncomplete?.();
    setTimeout(ended, 20);
    return made;
  };
  globalThis.IDBKeyRange = { bound: () => null };
  globalThis.indexedDB = { open: () => soon({ transaction, close() {} }) };
}

const answer = (text, options) => new client.Collection(text, UNPINNED).answer("yes", { occasion: "a", ...options });
const at = (address) => (globalThis.location = { hash: new URL(address).hash });

test("an invitation is the id of the report, and is asked for once", async () => {
  memory();
  const line = await answer(INVITED, { invitation: INVITATION });
  assert.equal(JSON.parse(line).id, INVITATION);
  assert.equal(await answer(INVITED), line);
  assert.equal(await answer(INVITED, { invitation: OTHER }), line);
});

test("by default, it is that of the address", async () => {
  for (const end of [`#invitation=${INVITATION}`, `?a=b#c&invitation=${INVITATION}&d`]) {
    memory();
    at(`https://example.org/ask${end}`);
    assert.equal(JSON.parse(await answer(INVITED)).id, INVITATION);
  }
  memory();
  assert.equal(JSON.parse(await answer(INVITED, { invitation: OTHER })).id, OTHER);
  delete globalThis.location;
});

test("without a whole invitation of the collection, nothing is drawn", async () => {
  memory();
  const wrong = ["", "5152", INVITATION.slice(1), INVITATION.toUpperCase(), `${INVITATION}\n`, "0".repeat(32), null, 7, [INVITATION, 1]];
  for (const invitation of [undefined, ...wrong]) await assert.rejects(answer(INVITED, { invitation }), /for invited people/);
  at(`https://example.org/?a&invitation=${INVITATION}`); // It was sent to a server.
  await assert.rejects(answer(INVITED), /for invited people/);
  assert.equal(JSON.parse(await answer(INVITED, { invitation: INVITATION })).id, INVITATION);
  delete globalThis.location;
});

test("where anybody may answer, an invitation changes nothing", async () => {
  memory();
  at(`https://example.org/#invitation=${INVITATION}`);
  const line = await new client.Collection(ANYBODY, UNPINNED).answer("bus", { invitation: INVITATION });
  assert.equal(JSON.parse(line).id.slice(0, 4), "0000");
  assert.notEqual(JSON.parse(line).id.slice(4), INVITATION.slice(4));
  delete globalThis.location;
});

test("who may answer is part of the digest", () => {
  for (const [from, to, text] of [["anybody", "invited", ANYBODY], ["invited", "anybody", INVITED]]) {
    const changed = text.replace(`"open_to": "${from}"`, `"open_to": "${to}"`);
    assert.notEqual(changed, text);
    assert.throws(() => new client.Collection(changed, UNPINNED), /not the one/);
  }
});
