// The hash, buckets and counters of docs/hashing.md, for clients in JavaScript. The secret is the first 16 bytes of
// await crypto.subtle.digest("SHA-256", …) over domain and key.
const MASK = (1n << 64n) - 1n;
const turn = (x, s) => ((x << s) | (x >> (64n - s))) & MASK;

function hash(bytes, secret) {
  const word = (source, at) => new DataView(source.buffer, source.byteOffset).getBigUint64(at, true);
  const k0 = word(secret, 0), k1 = word(secret, 8);
  let v0 = k0 ^ 0x736f6d6570736575n, v1 = k1 ^ 0x646f72616e646f6dn ^ 0xeen;
  let v2 = k0 ^ 0x6c7967656e657261n, v3 = k1 ^ 0x7465646279746573n;
  const rounds = (n) => {
    while (n--) {
      v0 = (v0 + v1) & MASK; v1 = turn(v1, 13n) ^ v0; v0 = turn(v0, 32n);
      v2 = (v2 + v3) & MASK; v3 = turn(v3, 16n) ^ v2;
      v0 = (v0 + v3) & MASK; v3 = turn(v3, 21n) ^ v0;
      v2 = (v2 + v1) & MASK; v1 = turn(v1, 17n) ^ v2; v2 = turn(v2, 32n);
    }
    return v0 ^ v1 ^ v2 ^ v3;
  };
  const full = bytes.length - (bytes.length % 8);
  const padded = new Uint8Array(full + 8);
  padded.set(bytes);
  padded[full + 7] = bytes.length % 256;
  for (let at = 0; at <= full; at += 8) {
    const m = word(padded, at);
    v3 ^= m; rounds(2); v0 ^= m;
  }
  const out = new DataView(new ArrayBuffer(16));
  v2 ^= 0xeen; out.setBigUint64(0, rounds(4), true);
  v1 ^= 0xddn; out.setBigUint64(8, rounds(4), true);
  return new Uint8Array(out.buffer);
}

function bucket(words, seed, secret, g) {
  const coefficient = (j) => {
    const message = new DataView(new ArrayBuffer(8));
    message.setUint32(0, seed, true);
    message.setUint32(4, j >>> 2, true);
    return new DataView(hash(new Uint8Array(message.buffer), secret).buffer).getUint32(4 * (j & 3), true);
  };
  const t = words.reduce((sum, x, i) => (sum + Math.imul(coefficient(i + 1), x)) >>> 0, coefficient(0));
  return ((t >>> 16) * g) >>> 16;
}

// -1: not in the sample. The sampling rate is numerator/denominator, two BigInts.
function counter(bytes, secret, counters, numerator = 1n, denominator = 1n) {
  const halves = new DataView(hash(bytes, secret).buffer);
  const isSampled = numerator === denominator || halves.getBigUint64(8, true) < (numerator << 64n) / denominator;
  return isSampled ? Number(halves.getBigUint64(0, true) % BigInt(counters)) : -1;
}
