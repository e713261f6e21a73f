// @ts-check
/**
 * Local privacy in a browser: an answer is randomized on the device, once, and only the randomized report leaves it.
 *
 * This follows docs/drawing.md and docs/hashing.md of anonhist to the bit.
 *
 * @typedef {(count: number) => Uint32Array} Words Fresh 64-bit words, each as its low and its high 32 bits.
 * @typedef {[bigint, bigint]} Fraction
 * @typedef {{digest?: string, unpinned?: true}} Pinned
 */

// 1. Words and hashes: docs/hashing.md

/** @type {Words} */
export function systemWords(count) {
  const halves = new Uint32Array(2 * count);
  try {
    // The largest request that is allowed.
    for (let at = 0; at < halves.length; at += 16384) crypto.getRandomValues(halves.subarray(at, at + 16384));
  } catch (cause) {
    throw new Error("This browser gives no random numbers.", { cause });
  }
  return halves;
}

/** Words for one report, the first four by one request. @returns {Words} */
function wordsAhead() {
  const ahead = systemWords(4);
  let end = 0;
  return (count) => {
    end += 2 * count;
    return end > ahead.length ? systemWords(count) : ahead.subarray(end - 2 * count, end);
  };
}

const MASK = (1n << 64n) - 1n;
/** @param {Uint32Array} halves @param {number} [at] */
const wordAt = (halves, at = 0) => (BigInt(halves[2 * at + 1]) << 32n) | BigInt(halves[2 * at]);
/** The i-th number of 16 bits. @param {Uint32Array} halves @param {number} i */
const slotAt = (halves, i) => (halves[i >> 1] >>> (16 * (i & 1))) & 0xffff;
/** @param {bigint} x @param {bigint} by */
const turn = (x, by) => ((x << by) | (x >> (64n - by))) & MASK;
const BYTES = Array.from({ length: 256 }, (_, byte) => byte);
/** @param {number | bigint} x @param {number} most */
const digits = (x, most) => x.toString(16).padStart(most, "0");
const PAIRS = BYTES.map((byte) => digits(byte, 2));
/** @param {Iterable<number>} bytes */
export function hex(bytes) {
  let text = "";
  for (const byte of bytes) text += PAIRS[byte];
  return text;
}

/** The bytes of a text. @param {unknown} text */
function utf8(text) {
  if (typeof text !== "string" || /[\ud800-\udfff]/u.test(text)) {
    throw new TypeError("An answer must be text without half characters (lone surrogates).");
  }
  return new TextEncoder().encode(text);
}

/** The first 32 fractional bits of roots of primes. @param {(prime: number) => number} root */
function rootBits(root) {
  /** @type {number[]} */
  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime)) primes.push(n);
  return Uint32Array.from(primes, (prime) => (root(prime) % 1) * 2 ** 32);
}
const ROUND_CONSTANTS = rootBits(Math.cbrt);

/** SHA-256, which browsers lack on pages without TLS. @param {Uint8Array} message */
export function sha256(message) {
  const state = rootBits(Math.sqrt).slice(0, 8);
  const padded = new DataView(new ArrayBuffer((Math.floor((message.length + 8) / 64) + 1) * 64));
  new Uint8Array(padded.buffer).set(message);
  padded.setUint8(message.length, 0x80);
  padded.setBigUint64(padded.byteLength - 8, BigInt(message.length) * 8n);
  const w = new Uint32Array(64);
  const right = (/** @type {number} */ x, /** @type {number} */ by) => (x >>> by) | (x << (32 - by));
  for (let block = 0; block < padded.byteLength; block += 64) {
    for (let i = 0; i < 16; i++) w[i] = padded.getUint32(block + 4 * i);
    for (let i = 16; i < 64; i++) {
      const x = w[i - 15], y = w[i - 2];
      w[i] = w[i - 16] + w[i - 7] + (right(x, 7) ^ right(x, 18) ^ (x >>> 3)) + (right(y, 17) ^ right(y, 19) ^ (y >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const t = h + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + ((e & f) ^ (~e & g)) + ROUND_CONSTANTS[i] + w[i];
      const u = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t) >>> 0, c, b, a, (t + u) >>> 0];
    }
    [a, b, c, d, e, f, g, h].forEach((x, i) => (state[i] += x));
  }
  const out = new DataView(new ArrayBuffer(32));
  state.forEach((x, i) => out.setUint32(4 * i, x));
  return new Uint8Array(out.buffer);
}

/** The keyed hash under a key: SipHash-2-4 with 128 bits. @param {string} key @returns {(bytes: Uint8Array) => DataView} */
export function keyedHash(key) {
  const secret = new DataView(sha256(Uint8Array.of(...utf8("anonhist keyed hash 1\0"), ...utf8(key))).buffer);
  const k0 = secret.getBigUint64(0, true), k1 = secret.getBigUint64(8, true);
  return (bytes) => {
    let v0 = k0 ^ 0x736f6d6570736575n, v1 = k1 ^ 0x646f72616e646f6dn ^ 0xeen;
    let v2 = k0 ^ 0x6c7967656e657261n, v3 = k1 ^ 0x7465646279746573n;
    const rounds = (/** @type {number} */ n) => {
      while (n--) {
        v0 = (v0 + v1) & MASK; v1 = turn(v1, 13n) ^ v0; v0 = turn(v0, 32n);
        v2 = (v2 + v3) & MASK; v3 = turn(v3, 16n) ^ v2;
        v0 = (v0 + v3) & MASK; v3 = turn(v3, 21n) ^ v0;
        v2 = (v2 + v1) & MASK; v1 = turn(v1, 17n) ^ v2; v2 = turn(v2, 32n);
      }
      return v0 ^ v1 ^ v2 ^ v3;
    };
    const padded = new Uint8Array(bytes.length - (bytes.length % 8) + 8);
    padded.set(bytes);
    padded[padded.length - 1] = bytes.length % 256;
    const view = new DataView(padded.buffer);
    for (let at = 0; at < padded.length; at += 8) {
      const m = view.getBigUint64(at, true);
      v3 ^= m; rounds(2); v0 ^= m;
    }
    const out = new DataView(new ArrayBuffer(16));
    v2 ^= 0xeen; out.setBigUint64(0, rounds(4), true);
    v1 ^= 0xddn; out.setBigUint64(8, rounds(4), true);
    return out;
  };
}

/** Two numbers of 32 bits as eight bytes. @param {number} first @param {number} second */
function pair(first, second) {
  const out = new DataView(new ArrayBuffer(8));
  out.setUint32(0, first, true);
  out.setUint32(4, second, true);
  return new Uint8Array(out.buffer);
}

/** The first words of 16 bits of a hash. @param {DataView} hash @param {number} count */
const labelWords = (hash, count) => Array.from({ length: count }, (_, i) => hash.getUint16(2 * i, true));

/** The bucket of words under a seed. @param {(bytes: Uint8Array) => DataView} hash @param {number[]} words
 * @param {number} seed @param {number} buckets */
export function bucket(hash, words, seed, buckets) {
  const coefficient = (/** @type {number} */ j) => hash(pair(seed, j >>> 2)).getUint32(4 * (j & 3), true);
  const t = words.reduce((sum, x, i) => (sum + Math.imul(coefficient(i + 1), x)) >>> 0, coefficient(0));
  return Math.floor(((t >>> 16) * buckets) / 65536);
}

// 2. Exact probabilities and draws: docs/drawing.md, sections 2 to 4

/** Whole numbers below and above e^(−γ)·2^bits, γ = above/below > 0. @param {Fraction} gamma @param {bigint} bits */
function expBounds([above, below], bits) {
  const halvings = BigInt((above / below).toString(2).length + 8), guard = halvings + 8n, precision = bits + guard;
  const denominator = below << halvings, square = 1n << (2n * precision);
  let term = 1n << precision, total = 0n, count = 0n;
  while (term) {
    total += term;
    count++;
    term = (term * above) / (denominator * count);
  }
  let lower = square / (total + 2n * count + 4n), upper = square / total + 1n;
  for (let i = 0n; i < halvings; i++) {
    lower = (lower * lower) >> precision;
    upper = ((upper * upper) >> precision) + 1n;
  }
  return [lower >> guard, (upper >> guard) + 1n];
}

const ones = (/** @type {number | bigint} */ bits) => bits.toString(2).replaceAll("0", "").length;
/** All bytes in the order of thresholds. */
const PATTERNS = [...BYTES].sort((a, b) => ones(a) - ones(b) || a - b);

/** Thresholds of so many bits: monotone in a probability, so known where they agree at both ends of it.
 * @param {(precision: bigint) => Fraction[]} ends @param {(end: Fraction, bits: bigint) => bigint[]} floors */
function thresholds(ends, floors) {
  /** @type {bigint[] | undefined} Those of 64 bits, slow to compute. */
  let known;
  return (/** @type {bigint} */ bits) => {
    if (known && bits === 64n) return known;
    for (let guard = 64n; ; guard *= 2n) {
      const [low, high] = ends(bits + guard).map((end) => floors(end, bits));
      if (low.every((each, j) => each === high[j])) return bits === 64n ? (known = low) : low;
    }
  };
}

/** An exact probability p: two fractions around it for any precision, equal ones if it is rational. */
class Chance {
  /** @type {number | undefined} 0 or 1 if it is one of these. */
  certain;

  /** @param {(precision: bigint) => Fraction[]} ends */
  constructor(ends) {
    // The threshold of a bit, and the 255 of a byte.
    this.bit = thresholds(ends, ([above, below], bits) => [(above << bits) / below]);
    this.byte = thresholds(ends, ([above, below], bits) => {
      let sum = 0n;
      const weights = Array.from({ length: 9 }, (_, i) => above ** BigInt(i) * (below - above) ** BigInt(8 - i));
      return PATTERNS.slice(0, 255).map((byte) => ((sum += weights[ones(byte)]) << bits) / below ** 8n);
    });
  }

  /** above/below. @param {bigint} above @param {bigint} below */
  static rational(above, below) {
    const made = new Chance(() => [[above, below], [above, below]]);
    if (!above || above === below) made.certain = Number(above / below);
    return made;
  }

  /** (a + b·s)/(c + d·s), s = e^(−γ). @param {Fraction} gamma @param {...(bigint | number)} terms */
  static exponential(gamma, ...terms) {
    const [a, b, c, d] = terms.map(BigInt);
    return new Chance((precision) =>
      expBounds(gamma, precision).map((s) => [(a << precision) + b * s, (c << precision) + d * s]));
  }

  /** What 16 bits decide of a byte; the rarest byte where they leave it open. */
  get lookup() {
    if (!this.table) {
      const floors = this.byte(64n).map((each) => Number(each >> 48n));
      const table = (this.table = new Uint8Array(65536)), rarest = (this.rarest = this.bit(1n)[0] ? 0 : 255);
      floors.forEach((from, j) => table.fill(PATTERNS[j + 1], from));
      floors.forEach((slot) => (table[slot] = rarest));
    }
    return this.table;
  }
}

/** How many thresholds are at most x, extended while it equals one. @param {(bits: bigint) => bigint[]} floorsOf
 * @param {number} slot The first 16 bits of x @param {bigint} word 48 more @param {Words} words */
function reached(floorsOf, slot, word, words) {
  let x = (BigInt(slot) << 48n) | (word >> 16n);
  for (let bits = 64n; ; bits += 64n) {
    const floors = floorsOf(bits), count = floors.filter((each) => each <= x).length;
    if (!count || floors[count - 1] !== x) return count;
    x = (x << 64n) | wordAt(words(1));
  }
}

/** A bit that is true with this probability. @param {Chance} chance @param {Words} words */
function bernoulli(chance, words) {
  if (chance.certain !== undefined) return chance.certain === 1;
  const slot = slotAt(words(1), 0), first = Number(chance.bit(64n)[0] >> 48n);
  if (slot !== first) return slot < first;
  return !reached(chance.bit, slot, wordAt(words(1)), words);
}

/** Packed bits that are 1 with this probability. @param {Chance} chance @param {number} columns @param {Words} words */
function bernoulliBits(chance, columns, words) {
  const packed = new Uint8Array(Math.ceil(columns / 8));
  if (chance.certain !== undefined) packed.fill(255 * chance.certain);
  else for (let at = 0; at < packed.length; at += 1 << 17) fillBytes(packed.subarray(at, at + (1 << 17)), chance, words);
  if (columns % 8) packed[packed.length - 1] &= (1 << (columns % 8)) - 1;
  return packed;
}

/** @param {Uint8Array} out @param {Chance} chance @param {Words} words */
function fillBytes(out, chance, words) {
  const halves = words(Math.ceil(out.length / 4)), lookup = chance.lookup, undecided = [];
  for (let i = 0; i < out.length; i++) if ((out[i] = lookup[slotAt(halves, i)]) === chance.rarest) undecided.push(i);
  const more = words(undecided.length);
  undecided.forEach((i, at) => {
    out[i] = PATTERNS[reached(chance.byte, slotAt(halves, i), wordAt(more, at), words)];
  });
}

/** Uniform whole numbers below a bound, as BigInts if it is above 2^28. @param {number | bigint} bound
 * @param {number} count @param {Words} words @returns {any[]} */
function uniform(bound, count, words) {
  const out = Array(count).fill(0);
  if (bound == 1) return out;
  const bits = bound <= 4096 ? 16 : bound <= 2 ** 28 ? 32 : 64;
  /** @type {any[]} */
  const [modulus, all] = bits === 64 ? [BigInt(bound), 1n << 64n] : [Number(bound), 2 ** bits];
  const limit = all - (all % modulus);
  for (let start = 0; start < count; start += 1 << 15) {
    let places = Array.from({ length: Math.min(1 << 15, count - start) }, (_, i) => start + i);
    while (places.length) {
      const halves = words(Math.ceil((places.length * bits) / 64));
      places = places.filter((place, i) => {
        /** @type {any} */
        const x = bits === 64 ? wordAt(halves, i) : bits === 32 ? halves[i] : slotAt(halves, i);
        out[place] = x % modulus;
        return x >= limit;
      });
    }
  }
  return out;
}

/** One of them. @param {number} bound @param {Words} words */
const numberBelow = (bound, words) => Number(uniform(bound, 1, words)[0]);

/** A uniform ascending subset. @param {number} population @param {number} chosen @param {Words} words */
function subset(population, chosen, words) {
  const fewer = Math.min(chosen, population - chosen);
  const members = Float64Array.from(uniform(population, fewer, words), Number).sort();
  for (;;) {
    const again = [...members.keys()].filter((i) => members[i] === members[i - 1]);
    if (!again.length) break;
    uniform(population, again.length, words).forEach((fresh, at) => (members[again[at]] = Number(fresh)));
    members.sort();
  }
  const drawn = new Set(members);
  return fewer === chosen ? [...drawn] : Array.from({ length: population }, (_, i) => i).filter((i) => !drawn.has(i));
}

// 3. Surveys: from an answer to a report

/** Columns of a report are bytes, or numbers below a size.
 * @typedef {Record<string, number | bigint | Uint8Array>} Report
 * @typedef {{epsilon: Fraction, parameters: any}} SurveyParts
 * @typedef {{sizes: Record<string, number | bigint>, code: (value: unknown) => any,
 *   draw: (code: any, words: Words) => Report,
 *   remember?: (code: any, words: Words) => any, again?: (memory: any, words: Words) => Report}} Randomizer
 */

const OUTSIDE = "This answer is not one of those that the survey offers.";

/** An exact number such as "1/3". @param {string} text @returns {Fraction} */
function fraction(text) {
  const [above, below = "1"] = text.split("/");
  return [BigInt(above), BigInt(below)];
}

/** The positions of values in an alphabet. @param {any} alphabet @returns {(value: unknown) => number} */
function coder({ labels, size, other }) {
  if (!labels) {
    return (value) => {
      /** @type {any} */
      const code = typeof value === "string" && /^(0|[1-9]\d{0,9})$/.test(value) ? Number(value) : value;
      if (!Number.isInteger(code) || code < 0 || code >= size) throw new RangeError(OUTSIDE);
      return code;
    };
  }
  const places = new Map(labels.map((/** @type {string} */ label, /** @type {number} */ place) => [label, place]));
  return (value) => {
    const code = places.get(value) ?? (typeof value === "string" ? places.get(other) : undefined);
    if (code === undefined) throw new RangeError(OUTSIDE);
    return code;
  };
}

const sizeOf = (/** @type {any} */ alphabet) => alphabet.size ?? alphabet.labels.length;
/** k-ary randomized response. @param {Fraction} epsilon @param {number} size */
function response(epsilon, size) {
  const kept = Chance.exponential(epsilon, 1, -1, 1, size - 1);
  return (/** @type {number} */ code, /** @type {Words} */ words) => {
    const isKept = bernoulli(kept, words), noise = numberBelow(size, words);
    return isKept ? code : noise;
  };
}

/** Bits for all places, then one for each place of the value. @param {Chance} own @param {Chance} others
 * @param {number} size @param {number[]} places @param {Words} words */
function filter(own, others, size, places, words) {
  const bits = bernoulliBits(others, size, words);
  for (const place of places) {
    const at = place >> 3, mask = 1 << (place & 7);
    bits[at] = bernoulli(own, words) ? bits[at] | mask : bits[at] & ~mask;
  }
  return bits;
}

/** The two probabilities z/(1 + z) and 1/(1 + z), z = e^(ε/parts). @param {Fraction} epsilon @param {number} parts */
function symmetric([above, below], parts) {
  /** @type {Fraction} */
  const gamma = [above, below * BigInt(parts)];
  return [Chance.exponential(gamma, 1, 0, 1, 1), Chance.exponential(gamma, 0, 1, 1, 1)];
}

/** @type {Record<string, (survey: SurveyParts) => Randomizer>} */
const RANDOMIZERS = {
  "k-rr": ({ epsilon, parameters: { alphabet } }) => {
    const size = sizeOf(alphabet), respond = response(epsilon, size);
    return {
      sizes: { report: size },
      code: coder(alphabet),
      draw: (code, words) => ({ report: respond(code, words) }),
    };
  },
  "subset-selection": ({ epsilon, parameters: { alphabet, chosen } }) => {
    const size = sizeOf(alphabet), width = size <= 65536 ? 2 : 4;
    const holding = Chance.exponential(epsilon, chosen, 0, chosen, size - chosen);
    return {
      sizes: {},
      code: coder(alphabet),
      draw: (code, words) => {
        const holds = bernoulli(holding, words);
        const others = subset(size - 1, chosen - Number(holds), words).map((each) => each + Number(each >= code));
        const report = new DataView(new ArrayBuffer(chosen * width));
        [...others, ...(holds ? [code] : [])].sort((a, b) => a - b).forEach((each, i) =>
          width === 2 ? report.setUint16(2 * i, each, true) : report.setUint32(4 * i, each, true));
        return { report: new Uint8Array(report.buffer) };
      },
    };
  },
  "k-rappor": ({ epsilon, parameters: { alphabet } }) => unary(alphabet, symmetric(epsilon, 2)),
  "optimized-unary": ({ epsilon, parameters: { alphabet } }) =>
    unary(alphabet, [Chance.rational(1n, 2n), Chance.exponential(epsilon, 0, 1, 1, 1)]),
  "local-hashing": ({ epsilon, parameters: { alphabet, buckets, key } }) => {
    const hash = keyedHash(key), code = alphabet && coder(alphabet);
    return {
      sizes: { seed: 2 ** 32, report: buckets },
      code: (value) => {
        if (!alphabet) return labelWords(hash(utf8(value)), 3);
        const place = code(value);
        return [place % 65536, Math.floor(place / 65536)];
      },
      draw: hashed(hash, epsilon, buckets),
    };
  },
  "heavy-hitters": ({ epsilon, parameters: { max_bytes: most, buckets, key } }) => {
    const hash = keyedHash(key), report = hashed(hash, epsilon, buckets);
    return {
      sizes: { length: most, seed: 2 ** 32, report: buckets },
      code: (value) => {
        const bytes = utf8(value), padded = new Uint8Array(most);
        if (bytes.includes(0)) throw new RangeError("An answer must not contain the null character.");
        let end = Math.min(bytes.length, most);
        while (end < bytes.length && (bytes[end] & 0xc0) === 0x80) end--;
        padded.set(bytes.subarray(0, end));
        return padded;
      },
      draw: (code, words) => {
        const length = Math.min(numberBelow(Math.max(1, 2 * most - 2), words), most - 1);
        const prefix = code.slice().fill(0, length + 1);
        return { length, ...report(labelWords(hash(prefix), 3), words) };
      },
    };
  },
  "hadamard-response": (survey) => inBlocks(survey, (size) => {
    const points = 1n << BigInt(size.toString(2).length);
    return {
      points, items: points - 1n, support: points / 2n,
      supporter: (item, choice) => {
        const column = item + 1n, lowest = column & -column, below = choice & (lowest - 1n);
        const row = below | ((choice - below) << 1n);
        return row | (lowest * BigInt(ones(row & column) % 2));
      },
    };
  }),
  "projective-geometry": (survey) => inBlocks(survey, (size) => projective(BigInt(survey.parameters.field), size)),
  "o-rr": ({ epsilon, parameters }) => {
    const { buckets, code, choose } = cohorts(parameters), respond = response(epsilon, buckets);
    return {
      sizes: { cohort: parameters.cohorts, report: buckets },
      code,
      draw: (code, words) => {
        const { cohort, places } = choose(code, words);
        return { cohort, report: respond(places[0], words) };
      },
    };
  },
  "o-rappor": ({ epsilon, parameters }) => inCohorts(parameters, symmetric(epsilon, 2 * parameters.hashes)),
  rappor: ({ parameters }) => {
    const [above, below] = fraction(parameters.permanent), chances = [2n * below - above, above];
    const { draw: remember, ...rest } = inCohorts(parameters, chances.map((each) => Chance.rational(each, 2n * below)));
    const [zero, one] = [parameters.zero, parameters.one].map((each) => Chance.rational(...fraction(each)));
    const again = (/** @type {any} */ { cohort, report: bits }, /** @type {Words} */ words) => {
      const [zeros, ones] = [zero, one].map((each) => bernoulliBits(each, rest.buckets, words));
      return { cohort, report: zeros.map((each, i) => each ^ (bits[i] & (each ^ ones[i]))) };
    };
    return { ...rest, remember, again, draw: (code, words) => again(remember(code, words), words) };
  },
};
RANDOMIZERS.warner = RANDOMIZERS["k-rr"];
RANDOMIZERS["hybrid-projective-geometry"] = RANDOMIZERS["projective-geometry"];

/** A bit for each label. @param {any} alphabet @param {Chance[]} chances @returns {Randomizer} */
function unary(alphabet, [own, others]) {
  const size = sizeOf(alphabet);
  return {
    sizes: {},
    code: coder(alphabet),
    draw: (code, words) => ({ report: filter(own, others, size, [code], words) }),
  };
}

/** A seed, and the response on the bucket. @param {(bytes: Uint8Array) => DataView} hash @param {Fraction} epsilon
 * @param {number} buckets */
function hashed(hash, epsilon, buckets) {
  const respond = response(epsilon, buckets);
  return (/** @type {number[]} */ label, /** @type {Words} */ words) => {
    const seed = numberBelow(2 ** 32, words);
    return { seed, report: respond(bucket(hash, label, seed, buckets), words) };
  };
}

/** Cohorts, and the places of values in them. @param {any} parameters */
function cohorts({ alphabet, buckets, hashes = 1, key, cohorts: number }) {
  const hash = keyedHash(key), size = alphabet ? sizeOf(alphabet) : 0;
  if (size * hashes > 20000) throw new RangeError("This survey takes more than 20,000 hashes an answer: too many here.");
  buckets ??= size;
  const rank = (/** @type {number} */ code, /** @type {number} */ of) => {
    const values = Array.from({ length: size }, (_, label) => hash(pair(of, label)).getBigUint64(0, true));
    return values.filter((each, label) => each < values[code] || (each === values[code] && label < code)).length;
  };
  return {
    buckets,
    code: alphabet ? coder(alphabet) : (/** @type {unknown} */ value) => labelWords(hash(utf8(value)), 4),
    choose: (/** @type {any} */ code, /** @type {Words} */ words) => {
      const cohort = numberBelow(number, words), functions = Array.from({ length: hashes }, (_, i) => cohort * hashes + i);
      return { cohort, places: functions.map((of) => alphabet ? rank(code, of) % buckets : bucket(hash, code, of, buckets)) };
    },
  };
}

/** Bits for the places of a value in a cohort. @param {any} parameters @param {Chance[]} chances */
function inCohorts(parameters, [own, others]) {
  const { buckets, code, choose } = cohorts(parameters);
  return {
    buckets, code,
    sizes: { cohort: parameters.cohorts },
    draw: (/** @type {any} */ code, /** @type {Words} */ words) => {
      const { cohort, places } = choose(code, words);
      return { cohort, report: filter(own, others, buckets, places, words) };
    },
  };
}

/** A cell of one of some blocks. @param {SurveyParts} survey
 * @param {(size: number) => ReturnType<typeof projective>} design @returns {Randomizer} */
function inBlocks({ epsilon, parameters: { alphabet, blocks = 1 } }, design) {
  const { points, items, support, supporter } = design(Math.ceil(sizeOf(alphabet) / blocks));
  const cells = BigInt(blocks) * points, chance = Chance.exponential(epsilon, support, -support, support, cells - support);
  const code = coder(alphabet);
  return {
    sizes: { report: cells },
    code: (value) => BigInt(code(value)),
    draw: (code, words) => {
      const report = BigInt(uniform(cells, 1, words)[0]);
      if (!bernoulli(chance, words)) return { report };
      const choice = BigInt(uniform(support, 1, words)[0]);
      return { report: (code / items) * points + supporter(code % items, choice) };
    },
  };
}

/** The smallest space with so many points. @param {bigint} field @param {number} size */
function projective(field, size) {
  const powers = [1n, field], first = [0n, 1n];
  let points = field + 1n;
  while (points < size) {
    powers.push(field ** BigInt(powers.length));
    first.push(points);
    points = field * points + 1n;
  }
  const top = powers.length - 1;
  const last = (/** @type {bigint[]} */ all, /** @type {bigint} */ most) => all.filter((each) => each <= most).length - 1;
  // The digits of a point to the base F, and its degree.
  const vector = (/** @type {bigint} */ number) => {
    const degree = last(first, number);
    return { digits: number - first[degree] + powers[degree], degree };
  };
  const middle = (/** @type {bigint} */ x, /** @type {bigint} */ y) => {
    let total = 0n;
    for (let i = 0; i <= top; i++) total += ((x / powers[i]) % field) * ((y / powers[top - i]) % field);
    return total % field;
  };
  return {
    points, items: points, support: (points - 1n) / field,
    supporter: (/** @type {bigint} */ item, /** @type {bigint} */ choice) => {
      const { digits: x, degree } = vector(item), z = vector(choice).digits, place = powers[top - degree];
      let y = (z / place) * place * field + (z % place);
      y += place * ((field - middle(x, y)) % field);
      const highest = last(powers, y);
      return y - powers[highest] + first[highest];
    },
  };
}

/** How a survey randomizes. @param {{mechanism: string, epsilon: string, parameters: any}} survey @returns {Randomizer} */
export function randomizer({ mechanism, epsilon, parameters }) {
  const make = Object.hasOwn(RANDOMIZERS, mechanism) ? RANDOMIZERS[mechanism] : undefined;
  if (!make) throw new RangeError("This client does not know the mechanism of the survey; take a newer one.");
  return make({ epsilon: fraction(epsilon), parameters });
}

// 4. Collections

/** What digests cover: JSON with sorted keys. @param {any} value @returns {string} */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!value || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}
const digestOf = (/** @type {any} */ value) => hex(sha256(utf8(canonical(value))));

const NO_MEMORY =
  "This browser does not let the page remember an answer, so none was given: a second one would cost twice the privacy.";
const UNPINNED = "Without a digest, a page accepts any epsilon: name it, or say { unpinned: true }.";
const NOT_THE_ONE = "The description is not the one that this page expects; nothing was answered.";

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const resultOf = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

/** One transaction; what it returns is on disk. @template T
 * @param {(reports: IDBObjectStore) => Promise<T>} work @returns {Promise<T>} */
async function remembering(work) {
  let database;
  try {
    if (!globalThis.indexedDB) throw new DOMException("There is no IndexedDB.");
    const request = indexedDB.open("anonhist", 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("reports", { keyPath: ["collection", "occasion"] });
    };
    database = await resultOf(request);
    const transaction = database.transaction("reports", "readwrite", { durability: "strict" });
    const ended = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error ?? new DOMException("It was ended."));
    });
    ended.catch(() => {});
    const result = await work(transaction.objectStore("reports")).catch((error) => {
      if (!(error instanceof DOMException)) transaction.abort();
      throw error;
    });
    await ended;
    return result;
  } catch (error) {
    throw error instanceof DOMException ? new Error(NO_MEMORY, { cause: error }) : error;
  } finally {
    database?.close();
  }
}

/** Wait up to so many random seconds after the least. @param {number} most @param {number} [least] */
const pause = (most, least = 0) => new Promise((resolve) =>
  setTimeout(resolve, 1000 * (least + (most * systemWords(1)[0]) / 2 ** 32)));

/** What the devices of a collection agree to: the file of `anonhist collect new`. */
export class Collection {
  #text;
  #day;
  #isOver;
  #times;
  #lastDay;
  #randomizer;

  /** Fetch a collection. @param {string | URL} url @param {Pinned} [pinned] */
  static async load(url, pinned) {
    const response = await fetch(url, { credentials: "omit", referrerPolicy: "no-referrer" });
    if (!response.ok) throw new Error("The description cannot be fetched.");
    return new Collection(await response.text(), pinned);
  }

  /** @param {string} text @param {Pinned} [pinned] */
  constructor(text, { digest: pinned, unpinned } = {}) {
    const { format, version, digest, today, ...content } = JSON.parse(text);
    const isPinned = pinned !== undefined;
    if (!isPinned && unpinned !== true) throw new Error(UNPINNED);
    // Fields that are named twice, and other forms of numbers, do not come back.
    const isPlain = text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, "$1") === JSON.stringify(JSON.parse(text));
    if (format !== "anonhist/collection" || version !== 1) throw new Error("This client cannot read this collection.");
    // A server says the day, for clocks of devices can be wrong; other forms mean another day in some time zones.
    const day = today === undefined ? 0 : /^\d{4}-\d\d-\d\d$/.test(today) ? Date.parse(today) / 864e5 : NaN;
    const times = content.answers === "once" ? 1 : content.answers;
    const { mechanism, epsilon, title, parameters, digest: survey } = content.survey ?? {};
    if (
      !isPlain || digestOf(content) !== digest || (isPinned && pinned !== digest) || !(Number.isInteger(times) && times > 0) ||
      digestOf({ ...parameters, mechanism, epsilon, title }).slice(0, 32) !== survey || (day & 65535) !== day
    ) throw new Error(NOT_THE_ONE);
    this.#day = day;
    this.#isOver = today > content.last_day;
    this.#text = text;
    this.#times = times;
    // Invitations begin with the last day.
    this.#lastDay = content.open_to === "invited" && digits(Date.parse(content.last_day) / 864e5, 4);
    this.#randomizer = randomizer(content.survey);
    this.digest = digest;
    Object.freeze(this);
  }

  /** The content of the file: what pages show of it. */
  get description() {
    return JSON.parse(this.#text);
  }

  /** The report of an answer, remembered before it is returned; the answer is never stored. @param {unknown} value
   * @param {{occasion?: string, invitation?: string}} [options] With several answers: which one, such as a week. Where
   * only invited people may answer: the invitation, by default that of the link that led to the page. */
  async answer(value, { occasion = "", invitation = /[#&]invitation=(\w+)/.exec(globalThis.location?.hash)?.[1] } = {}) {
    const code = this.#randomizer.code(value);
    if (typeof occasion !== "string" || (this.#times > 1) !== (occasion !== "")) {
      throw new RangeError("Name the occasion if, and only if, there may be several answers.");
    }
    return remembering(async (reports) => {
      const known = await resultOf(reports.get([this.digest, occasion]));
      if (known) return known.report;
      if (this.#isOver) throw new RangeError("This collection has ended.");
      if ((await resultOf(reports.count(this.#mine))) >= this.#times) {
        throw new RangeError("All answers that this collection asks a person for were given.");
      }
      if (this.#lastDay && !(/^[0-9a-f]{32}$/.test(`${invitation}`) && invitation?.startsWith(this.#lastDay))) {
        throw new RangeError("This collection is for invited people: open the whole link of the invitation.");
      }
      let drawn;
      const { remember, again, draw } = this.#randomizer;
      if (remember && again && this.#times > 1) {
        // Under a number, which names no occasion.
        let memory = await resultOf(reports.get([this.digest, 0]));
        if (!memory) {
          memory = { collection: this.digest, occasion: 0, ...remember(code, systemWords) };
          await resultOf(reports.add(memory));
        }
        drawn = again(memory, systemWords);
      } else drawn = draw(code, systemWords);
      const report = this.#line(drawn, systemWords, this.#lastDay ? invitation : undefined);
      await resultOf(reports.add({ collection: this.digest, occasion, report, state: "unsent", tries: 0 }));
      return report;
    });
  }

  /** Whether a report of this occasion is remembered. @param {{occasion?: string}} [options] */
  async answered({ occasion = "" } = {}) {
    return remembering(async (reports) => (await resultOf(reports.getKey([this.digest, occasion]))) !== undefined);
  }

  /** The report of a simulated person: never of a real one, since it is not remembered. @param {unknown} value */
  simulate(value) {
    const words = wordsAhead();
    return this.#line(this.#randomizer.draw(this.#randomizer.code(value), words), words);
  }

  /** Send what was not sent, unless the browser asks for privacy and the person was not asked.
   * @param {string | URL} url @param {{consented?: boolean, within?: number}} [options] */
  async send(url, { consented = false, within = 10 } = {}) {
    const wishes = /** @type {any} */ (navigator);
    if (!consented && (wishes.globalPrivacyControl || wishes.doNotTrack === "1")) return;
    const all = await remembering((reports) => resultOf(reports.getAll(this.#mine)));
    await Promise.all(all.filter(({ state }) => state === "unsent").map(async ({ occasion }) => {
      await pause(within);
      let record;
      while ((record = await this.#change(occasion))) {
        const { end, wait } = await post(url, record.report);
        if (end) await this.#change(occasion, end);
        else if (record.tries < 10) await pause(2 ** record.tries, wait);
      }
    }));
  }

  /** Count a try of a report, or note its end. @param {string} occasion @param {string} [end] */
  #change(occasion, end) {
    return remembering(async (reports) => {
      const record = await resultOf(reports.get([this.digest, occasion]));
      if (record?.state !== "unsent" || (!end && record.tries++ >= 10)) return;
      if (end) record.state = end;
      await resultOf(reports.put(record));
      return record;
    });
  }

  get #mine() {
    return IDBKeyRange.bound([this.digest, ""], [this.digest, []]);
  }

  /** A report as one line, of the same length for all reports of the survey. @param {Report} report
   * @param {Words} words @param {string} [invitation] */
  #line(report, words, invitation) {
    const { buffer, byteOffset } = words(2), { sizes } = this.#randomizer;
    const id = invitation ?? digits(this.#day, 4) + hex(new Uint8Array(buffer, byteOffset, 16)).slice(4);
    const columns = Object.entries(report).map(([name, value]) => `"${name}":["${
      value instanceof Uint8Array ? hex(value) : digits(value, digits(BigInt(sizes[name]) - 1n, 0).length)
    }"]`);
    return `{"id":"${id}","reports":{${columns}}}\n`;
  }
}

/** Post a report once. @param {string | URL} url @param {string} body */
async function post(url, body) {
  let wait = 0, end = "";
  try {
    const response = await fetch(url, {
      method: "POST", body, headers: { "Content-Type": "text/plain" }, credentials: "omit", cache: "no-store",
      // Browsers refuse longer bodies of requests that outlive the page.
      referrerPolicy: "no-referrer", keepalive: body.length < 60000,
    });
    if (response.ok) end = "sent";
    if (response.status === 410 || response.status === 403) end = "dropped";
    wait = Math.min(Number(response.headers.get("Retry-After")) || 0, 3600);
  } catch {
    // Nothing arrived, or nothing came back.
  }
  return { end, wait };
}
