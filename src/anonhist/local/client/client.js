// @ts-check
/**
 * Local privacy in a browser: an answer is randomized on the device, once, and only the randomized report leaves it.
 *
 * It follows docs/drawing.md and docs/hashing.md of anonhist to the bit. All entropy comes from crypto.getRandomValues,
 * none is kept. Probabilities are exact: bounds are refined until they decide.
 *
 * @typedef {(count: number) => Uint32Array} Words Fresh 64-bit words, each as its low and its high 32 bits.
 * @typedef {[bigint, bigint]} Fraction
 * @typedef {{cohort: number, bits: Uint8Array}} Remembered
 * @typedef {{mechanism: string, epsilon: string, title: string, digest: string, parameters: any}} Survey
 */

// 1. Words and hashes: docs/hashing.md

/** The largest request that getRandomValues allows, in numbers of 32 bits. */
const MOST_HALVES = 16384;

/** @type {Words} */
export function systemWords(count) {
  const halves = new Uint32Array(2 * count);
  for (let at = 0; at < halves.length; at += MOST_HALVES) {
    try {
      crypto.getRandomValues(halves.subarray(at, at + MOST_HALVES));
    } catch (cause) {
      throw new Error("This browser gives no random numbers.", { cause });
    }
  }
  return halves;
}

const MASK = (1n << 64n) - 1n;
/** @param {Uint32Array} halves @param {number} [at] */
const wordAt = (halves, at = 0) => (BigInt(halves[2 * at + 1]) << 32n) | BigInt(halves[2 * at]);
/** @param {bigint} x @param {bigint} by */
const turn = (x, by) => ((x << by) | (x >> (64n - by))) & MASK;
/** @param {Iterable<number>} bytes */
export const hex = (bytes) => Array.from(bytes, (byte) => digits(byte, 2)).join("");
/** @param {number | bigint} x @param {number} most */
const digits = (x, most) => x.toString(16).padStart(most, "0");
/** @param {string} text */
const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** The bytes of a text, or a refusal of one that has none. @param {unknown} text */
function utf8(text) {
  if (typeof text !== "string") throw new TypeError("An answer to this survey must be text.");
  if (/[\ud800-\udfff]/u.test(text)) throw new RangeError("A text holds half a character (a lone surrogate).");
  return new TextEncoder().encode(text);
}

/** The first bits of the fractional parts of the roots of primes. @param {(prime: number) => number} root */
function rootBits(root) {
  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime)) primes.push(n);
  return Uint32Array.from(primes, (prime) => (root(prime) % 1) * 2 ** 32);
}
const ROUND_CONSTANTS = rootBits(Math.cbrt);

/** SHA-256, because crypto.subtle is missing on pages without TLS. @param {Uint8Array} message */
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

/** Bytes in the order in which thresholds add up their probabilities: few ones first, then ascending. */
const ones = (/** @type {number} */ byte) => byte.toString(2).replaceAll("0", "").length;
const PATTERNS = Array.from({ length: 256 }, (_, byte) => byte).sort((a, b) => ones(a) - ones(b) || a - b);

/** An exact probability: two fractions around it for any precision, equal ones if it is rational. */
export class Chance {
  /** @param {(precision: bigint) => Fraction[]} ends */
  constructor(ends) {
    this.ends = ends;
    /** @type {Map<string, bigint[]>} Public numbers, kept because they take long to compute. */
    this.known = new Map();
    /** @type {number | undefined} 0 or 1 if it is one of these. */
    this.certain = undefined;
  }

  /** The number above/below. @param {bigint} above @param {bigint} below */
  static rational(above, below) {
    const made = new Chance(() => [[above, below], [above, below]]);
    made.certain = above === 0n ? 0 : above === below ? 1 : undefined;
    return made;
  }

  /** The number (a + b·s)/(c + d·s), s = e^(−γ). @param {Fraction} gamma @param {...(bigint | number)} terms */
  static exponential(gamma, ...terms) {
    const [a, b, c, d] = terms.map(BigInt);
    return new Chance((precision) =>
      expBounds(gamma, precision).map((s) => [(a << precision) + b * s, (c << precision) + d * s]));
  }

  /** The first 16 bits of p. */
  get slot() {
    return (this.first ??= Number(this.floor(64n) >> 48n));
  }

  /** ⌊p·2^bits⌋. @param {bigint} bits */
  floor(bits) {
    return this.floors("bit", bits, ([above, below]) => [(above << bits) / below])[0];
  }

  /** The 255 thresholds of bytes with independent bits. @param {bigint} bits */
  byteFloors(bits) {
    return this.floors("byte", bits, ([above, below]) => {
      let sum = 0n;
      const weights = Array.from({ length: 9 }, (_, i) => above ** BigInt(i) * (below - above) ** BigInt(8 - i));
      return PATTERNS.slice(0, 255).map((byte) => ((sum += weights[ones(byte)]) << bits) / below ** 8n);
    });
  }

  /** Thresholds are monotone in p, so they are known where both ends agree. @param {string} what @param {bigint} bits
   * @param {(end: Fraction) => bigint[]} floors */
  floors(what, bits, floors) {
    const name = what + bits;
    let found = this.known.get(name);
    for (let guard = 64n; !found; guard *= 2n) {
      const [low, high] = this.ends(bits + guard).map(floors);
      if (low.every((each, j) => each === high[j])) found = low;
    }
    if (bits === 64n) this.known.set(name, found);
    return found;
  }

  /** What 16 bits decide of a byte; the rarest byte where they leave it open. */
  get lookup() {
    if (!this.table) {
      const floors = this.byteFloors(64n).map((each) => Number(each >> 48n));
      this.rarest = this.floor(1n) ? 0 : 255;
      this.table = new Uint8Array(65536);
      floors.forEach((from, j) => this.table?.fill(PATTERNS[j + 1], from));
      this.table.fill(PATTERNS[0], 0, floors[0]);
      for (const slot of floors) this.table[slot] = this.rarest;
    }
    return this.table;
  }
}

/** A bit that is true with this probability. @param {Chance} chance @param {Words} words */
function bernoulli(chance, words) {
  if (chance.certain !== undefined) return chance.certain === 1;
  const slot = words(1)[0] & 0xffff;
  if (slot !== chance.slot) return slot < chance.slot;
  let prefix = (BigInt(slot) << 48n) | (wordAt(words(1)) >> 16n);
  for (let bits = 64n; ; bits += 64n) {
    const floor = chance.floor(bits);
    if (prefix !== floor) return prefix < floor;
    prefix = (prefix << 64n) | wordAt(words(1));
  }
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
  const slotAt = (/** @type {number} */ i) => (halves[i >> 1] >>> (16 * (i & 1))) & 0xffff;
  for (let i = 0; i < out.length; i++) if ((out[i] = lookup[slotAt(i)]) === chance.rarest) undecided.push(i);
  if (!undecided.length) return;
  const more = words(undecided.length);
  undecided.forEach((i, at) => {
    let prefix = (BigInt(slotAt(i)) << 48n) | (wordAt(more, at) >> 16n);
    for (let bits = 64n; ; bits += 64n) {
      const floors = chance.byteFloors(bits), above = floors.findIndex((each) => each > prefix);
      const count = above < 0 ? 255 : above;
      out[i] = PATTERNS[count];
      if (!count || floors[count - 1] !== prefix) return;
      prefix = (prefix << 64n) | wordAt(words(1));
    }
  });
}

/** Uniform whole numbers below a bound, of the bound's type. @template {number | bigint} T
 * @param {T} bound @param {number} count @param {Words} words @returns {T[]} */
function uniform(bound, count, words) {
  const convert = /** @type {(x: number | bigint) => T} */ (typeof bound === "bigint" ? BigInt : Number);
  /** @type {T[]} */
  const out = Array(count).fill(convert(0));
  if (bound == 1) return out;
  const bits = bound <= 4096 ? 16 : bound <= 2 ** 28 ? 32 : 64;
  const small = Number(bound), limit = small * Math.floor(2 ** bits / small);
  const large = BigInt(bound), largeLimit = large * ((1n << 64n) / large);
  for (let start = 0; start < count; start += 1 << 15) {
    let places = Array.from({ length: Math.min(1 << 15, count - start) }, (_, i) => start + i);
    while (places.length) {
      const halves = words(Math.ceil((places.length * bits) / 64));
      places = places.filter((place, i) => {
        if (bits === 64) {
          const x = wordAt(halves, i);
          out[place] = convert(x % large);
          return x >= largeLimit;
        }
        const x = bits === 32 ? halves[i] : (halves[i >> 1] >>> (16 * (i & 1))) & 0xffff;
        out[place] = convert(x % small);
        return x >= limit;
      });
    }
  }
  return out;
}

/** A uniform ascending subset. @param {number} population @param {number} chosen @param {Words} words */
function subset(population, chosen, words) {
  const fewer = Math.min(chosen, population - chosen);
  const members = Float64Array.from(uniform(population, fewer, words)).sort();
  for (;;) {
    const again = Array.from(members.keys()).filter((i) => i && members[i] === members[i - 1]);
    if (!again.length) break;
    uniform(population, again.length, words).forEach((fresh, at) => (members[again[at]] = fresh));
    members.sort();
  }
  if (fewer === chosen) return Array.from(members);
  const left = new Set(members);
  return Array.from({ length: population }, (_, i) => i).filter((i) => !left.has(i));
}

// 3. Surveys: from an answer to a report

/** Columns of a report are bytes, or numbers below a size.
 * @typedef {Record<string, number | bigint | Uint8Array>} Report
 * @typedef {{sizes: Record<string, number | bigint>, code: (value: unknown) => any,
 *   draw: (code: any, words: Words) => Report,
 *   remember?: (code: any, words: Words) => Remembered, again?: (state: Remembered, words: Words) => Report}} Randomizer
 */

/** The most hashes of an alphabet that a device computes for an answer. */
const MOST_HASHED = 20000;
const OUTSIDE = "This answer is not one of those that the survey offers.";

/** An exact number such as "1/3". @param {string} text @returns {Fraction} */
function fraction(text) {
  const [above, below = "1"] = text.split("/");
  return [BigInt(above), BigInt(below)];
}

/** The position of a value among the labels of an alphabet. @param {any} alphabet @returns {(value: unknown) => number} */
function coder({ labels, size, other }) {
  if (!labels) {
    return (value) => {
      const code = typeof value === "string" && /^(0|[1-9]\d{0,9})$/.test(value) ? Number(value) : value;
      if (typeof code !== "number" || !Number.isInteger(code) || code < 0 || code >= size) throw new RangeError(OUTSIDE);
      return code;
    };
  }
  const places = new Map(labels.map((/** @type {string} */ label, /** @type {number} */ place) => [label, place]));
  return (value) => {
    const code = places.get(value) ?? (other !== undefined && typeof value === "string" ? places.get(other) : undefined);
    if (code === undefined) throw new RangeError(OUTSIDE);
    return code;
  };
}

const sizeOf = (/** @type {any} */ alphabet) => alphabet.size ?? alphabet.labels.length;

/** k-ary randomized response on numbers below a bound. @param {Fraction} epsilon @param {number} size */
function response(epsilon, size) {
  const kept = Chance.exponential(epsilon, 1, -1, 1, size - 1);
  return (/** @type {number} */ code, /** @type {Words} */ words) => {
    const isKept = bernoulli(kept, words), [noise] = uniform(size, 1, words);
    return isKept ? code : noise;
  };
}

/** Overwrite a bit of packed ones. @param {Uint8Array} bits @param {number} place @param {boolean} is */
function setBit(bits, place, is) {
  const mask = 1 << (place & 7);
  bits[place >> 3] = (bits[place >> 3] & ~mask) | (is ? mask : 0);
}

/** Bits for all places, then one for each place of the value. @param {Chance} own @param {Chance} others
 * @param {number} size @param {number[]} places @param {Words} words */
function filter(own, others, size, places, words) {
  const bits = bernoulliBits(others, size, words);
  for (const place of places) setBit(bits, place, bernoulli(own, words));
  return bits;
}

/** The two probabilities z/(1 + z) and 1/(1 + z), z = e^γ. @param {Fraction} gamma */
const symmetric = (gamma) => [Chance.exponential(gamma, 1, 0, 1, 1), Chance.exponential(gamma, 0, 1, 1, 1)];

/** @type {Record<string, (survey: {epsilon: Fraction, parameters: any}) => Randomizer>} */
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
  "k-rappor": ({ epsilon: [above, below], parameters: { alphabet } }) => unary(alphabet, symmetric([above, 2n * below])),
  "optimized-unary": ({ epsilon, parameters: { alphabet } }) =>
    unary(alphabet, [Chance.rational(1n, 2n), Chance.exponential(epsilon, 0, 1, 1, 1)]),
  "local-hashing": ({ epsilon, parameters: { alphabet, buckets, key } }) => {
    const hash = keyedHash(key), code = alphabet && coder(alphabet), size = alphabet && sizeOf(alphabet);
    return {
      sizes: { seed: 2 ** 32, report: buckets },
      code: (value) => {
        if (!alphabet) return labelWords(hash(utf8(value)), 3);
        const place = code(value), low = place % 65536;
        return size > 65536 ? [low, Math.floor(place / 65536)] : [low];
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
        const length = Math.min(uniform(Math.max(1, 2 * most - 2), 1, words)[0], most - 1);
        const prefix = code.slice().fill(0, length + 1);
        return { length, ...report(labelWords(hash(prefix), 3), words) };
      },
    };
  },
  "hadamard-response": ({ epsilon, parameters: { alphabet, blocks } }) => {
    const columns = BigInt(Math.ceil(sizeOf(alphabet) / blocks)), points = 1n << BigInt(columns.toString(2).length);
    return inBlocks(alphabet, epsilon, BigInt(blocks), {
      points, items: points - 1n, support: points / 2n,
      supporter: (item, choice) => {
        const column = item + 1n, lowest = column & -column, below = choice & (lowest - 1n);
        const row = below | ((choice - below) << 1n);
        let odd = row & column;
        for (const by of [32n, 16n, 8n, 4n, 2n, 1n]) odd ^= odd >> by;
        return row | (lowest * (odd & 1n));
      },
    });
  },
  "projective-geometry": ({ epsilon, parameters: { alphabet, field } }) =>
    inBlocks(alphabet, epsilon, 1n, projective(BigInt(field), sizeOf(alphabet))),
  "hybrid-projective-geometry": ({ epsilon, parameters: { alphabet, field, blocks } }) =>
    inBlocks(alphabet, epsilon, BigInt(blocks), projective(BigInt(field), Math.ceil(sizeOf(alphabet) / blocks))),
  "o-rr": ({ epsilon, parameters }) => {
    const { buckets, code, places } = cohorts(parameters), respond = response(epsilon, buckets);
    return {
      sizes: { cohort: parameters.cohorts, report: buckets },
      code,
      draw: (code, words) => {
        const [cohort] = uniform(parameters.cohorts, 1, words);
        return { cohort, report: respond(places(code, cohort)[0], words) };
      },
    };
  },
  "o-rappor": ({ epsilon: [above, below], parameters }) => {
    const { buckets, code, places } = cohorts(parameters);
    const [own, others] = symmetric([above, 2n * below * BigInt(parameters.hashes)]);
    return {
      sizes: { cohort: parameters.cohorts },
      code,
      draw: (code, words) => {
        const [cohort] = uniform(parameters.cohorts, 1, words);
        return { cohort, report: filter(own, others, buckets, places(code, cohort), words) };
      },
    };
  },
  rappor: ({ parameters }) => {
    const { buckets, code, places } = cohorts(parameters), [above, below] = fraction(parameters.permanent);
    const others = Chance.rational(above, 2n * below), own = Chance.rational(2n * below - above, 2n * below);
    const [zero, one] = [parameters.zero, parameters.one].map((each) => Chance.rational(...fraction(each)));
    const remember = (/** @type {any} */ code, /** @type {Words} */ words) => {
      const [cohort] = uniform(parameters.cohorts, 1, words);
      return { cohort, bits: filter(own, others, buckets, places(code, cohort), words) };
    };
    const again = (/** @type {Remembered} */ { cohort, bits }, /** @type {Words} */ words) => {
      const zeros = bernoulliBits(zero, buckets, words), ones = bernoulliBits(one, buckets, words);
      return { cohort, report: zeros.map((each, i) => each ^ (bits[i] & (each ^ ones[i]))) };
    };
    return {
      sizes: { cohort: parameters.cohorts },
      code, remember, again,
      draw: (code, words) => again(remember(code, words), words),
    };
  },
};
RANDOMIZERS.warner = RANDOMIZERS["k-rr"];

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
    const [seed] = uniform(2 ** 32, 1, words);
    return { seed, report: respond(bucket(hash, label, seed, buckets), words) };
  };
}

/** The places of values in cohorts. @param {any} parameters */
function cohorts({ alphabet, buckets, hashes = 1, key }) {
  const hash = keyedHash(key), numbers = (/** @type {number} */ cohort) =>
    Array.from({ length: hashes }, (_, i) => cohort * hashes + i);
  if (!alphabet) {
    return {
      buckets,
      code: (/** @type {unknown} */ value) => labelWords(hash(utf8(value)), 4),
      places: (/** @type {number[]} */ label, /** @type {number} */ cohort) =>
        numbers(cohort).map((number) => bucket(hash, label, number, buckets)),
    };
  }
  const size = sizeOf(alphabet), places = buckets ?? size;
  if (size * hashes > MOST_HASHED) {
    throw new RangeError(`This survey takes ${size * hashes} hashes an answer; this client computes up to 20,000.`);
  }
  const rank = (/** @type {number} */ number, /** @type {number} */ code) => {
    const values = Array.from({ length: size }, (_, label) => hash(pair(number, label)).getBigUint64(0, true));
    return values.filter((each, label) => each < values[code] || (each === values[code] && label < code)).length;
  };
  return {
    buckets: places,
    code: coder(alphabet),
    places: (/** @type {number} */ code, /** @type {number} */ cohort) =>
      numbers(cohort).map((number) => rank(number, code) % places),
  };
}

/** @typedef {{points: bigint, items: bigint, support: bigint, supporter: (item: bigint, choice: bigint) => bigint}} Design */

/** A cell of one of some blocks. @param {any} alphabet @param {Fraction} epsilon @param {bigint} blocks
 * @param {Design} design @returns {Randomizer} */
function inBlocks(alphabet, epsilon, blocks, { points, items, support, supporter }) {
  const cells = blocks * points, chance = Chance.exponential(epsilon, support, -support, support, cells - support);
  const code = coder(alphabet);
  return {
    sizes: { report: cells },
    code: (value) => BigInt(code(value)),
    draw: (code, words) => {
      const [report] = uniform(cells, 1, words);
      if (!bernoulli(chance, words)) return { report };
      const [choice] = uniform(support, 1, words);
      return { report: (code / items) * points + supporter(code % items, choice) };
    },
  };
}

/** The smallest space over a field with so many points. @param {bigint} field @param {number} size @returns {Design} */
function projective(field, size) {
  const powers = [1n, field], first = [0n, 1n];
  let points = field + 1n;
  while (points < size) {
    powers.push(field ** BigInt(powers.length));
    first.push(points);
    points = field * points + 1n;
  }
  const top = powers.length - 1;
  // A point as the digits of a number to the base F, and its degree.
  const vector = (/** @type {bigint} */ number) => {
    const degree = first.findLastIndex((each) => each <= number);
    return { digits: number - first[degree] + powers[degree], degree };
  };
  const middle = (/** @type {bigint} */ x, /** @type {bigint} */ y) => {
    let total = 0n;
    for (let i = 0; i <= top; i++) total += ((x / powers[i]) % field) * ((y / powers[top - i]) % field);
    return total % field;
  };
  return {
    points, items: points, support: (points - 1n) / field,
    supporter: (item, choice) => {
      const { digits: x, degree } = vector(item), z = vector(choice).digits, place = powers[top - degree];
      let y = (z / place) * place * field + (z % place);
      y += place * ((field - middle(x, y)) % field);
      const highest = powers.findLastIndex((each) => each <= y);
      return y - powers[highest] + first[highest];
    },
  };
}

/** How a survey randomizes. @param {Survey} survey @returns {Randomizer} */
export function randomizer({ mechanism, epsilon, parameters }) {
  const make = Object.hasOwn(RANDOMIZERS, mechanism) ? RANDOMIZERS[mechanism] : undefined;
  if (!make) throw new RangeError("This client does not know the mechanism of the survey; take a newer one.");
  return make({ epsilon: fraction(epsilon), parameters });
}

// 4. Collections

/** JSON with sorted keys and without spaces: what digests cover. @param {any} value @returns {string} */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!value || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}
const digestOf = (/** @type {any} */ value) => hex(sha256(utf8(canonical(value))));

const NO_MEMORY =
  "This browser does not let the page remember an answer, which could then cost twice the privacy: none was given.";
const NOT_THE_ONE = "The description of this collection is not the one that this page expects; nothing was answered.";

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const resultOf = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

/** Do something in one transaction; what it returns is on disk. @template T
 * @param {(reports: IDBObjectStore, memories: IDBObjectStore) => Promise<T>} work @returns {Promise<T>} */
async function remembering(work) {
  let database;
  try {
    if (!globalThis.indexedDB) throw new DOMException("There is no IndexedDB.");
    const request = indexedDB.open("anonhist", 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("reports", { keyPath: ["collection", "occasion"] });
      request.result.createObjectStore("memories", { keyPath: "collection" });
    };
    database = await resultOf(request);
    const transaction = database.transaction(["reports", "memories"], "readwrite", { durability: "strict" });
    const ended = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error ?? new DOMException("It was ended."));
    });
    ended.catch(() => {});
    const result = await work(transaction.objectStore("reports"), transaction.objectStore("memories")).catch((error) => {
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

/** Wait up to `most` random seconds after the `least`. @param {number} most @param {number} [least] */
const pause = (most, least = 0) => new Promise((resolve) =>
  setTimeout(resolve, 1000 * (least + (most * systemWords(1)[0]) / 2 ** 32)));

/** What the devices of a collection agree to: the file of `anonhist collect new`. */
export class Collection {
  #text;
  #day;
  #isOver;
  #times;
  #randomizer;

  /** Fetch a collection, and refuse any other than the one with this digest. @param {string | URL} url
   * @param {{digest: string}} [pinned] */
  static async load(url, pinned) {
    const response = await fetch(url, { credentials: "omit", referrerPolicy: "no-referrer" });
    if (!response.ok) throw new Error("The description of this collection cannot be fetched.");
    return new Collection(await response.text(), pinned);
  }

  /** @param {string} text The file @param {{digest: string}} [pinned] */
  constructor(text, pinned) {
    const { format, version, digest, today, ...content } = JSON.parse(text);
    const expected = pinned === undefined ? digest : pinned.digest;
    // A field that is named twice and other forms of numbers show in the text.
    const isPlain = text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, "$1") === JSON.stringify(JSON.parse(text));
    if (format !== "anonhist/collection" || version !== 1) throw new Error("This client cannot read this collection.");
    if (!isPlain || digestOf(content) !== digest || expected !== digest) throw new Error(NOT_THE_ONE);
    const { mechanism, epsilon, title, parameters, digest: survey } = content.survey;
    if (digestOf({ ...parameters, mechanism, epsilon, title }).slice(0, 32) !== survey) throw new Error(NOT_THE_ONE);
    const isOnce = content.answers === "once";
    if (!isOnce && !(Number.isInteger(content.answers) && content.answers > 1)) throw new Error(NOT_THE_ONE);
    // A server says the day: clocks of devices can be wrong.
    this.#day = today === undefined ? 0 : Date.parse(today) / 864e5;
    if ((this.#day & 65535) !== this.#day) throw new Error(NOT_THE_ONE);
    this.#isOver = today > content.last_day;
    this.#text = text;
    this.#times = isOnce ? 1 : content.answers;
    this.#randomizer = randomizer(content.survey);
    this.digest = digest;
    Object.freeze(this);
  }

  /** The content of the file: what pages show of it. */
  get description() {
    return JSON.parse(this.#text);
  }

  /**
   * The report of an answer: randomized, remembered before it is returned, and the same bytes whenever it is asked for
   * again. The first answer stands; the answer itself is never stored.
   *
   * @param {unknown} value The answer.
   * @param {{occasion?: string}} [options] With several answers: which one, such as a week.
   * @returns {Promise<string>} A line of JSON, which may be sent anywhere.
   */
  async answer(value, { occasion = "" } = {}) {
    const code = this.#randomizer.code(value);
    if (typeof occasion !== "string" || (this.#times > 1) !== (occasion !== "")) {
      throw new RangeError("Name the occasion of the answer if, and only if, there may be several answers.");
    }
    return remembering(async (reports, memories) => {
      const known = await resultOf(reports.get([this.digest, occasion]));
      if (known) return known.report;
      if (this.#isOver) throw new RangeError("This collection has ended.");
      if ((await resultOf(reports.count(this.#mine))) >= this.#times) {
        throw new RangeError("All answers that this collection asks a person for were given.");
      }
      let drawn;
      const { remember, again, draw } = this.#randomizer;
      if (remember && again && this.#times > 1) {
        let memory = await resultOf(memories.get(this.digest));
        if (!memory) {
          memory = { collection: this.digest, ...remember(code, systemWords) };
          await resultOf(memories.add(memory));
        }
        drawn = again(memory, systemWords);
      } else drawn = draw(code, systemWords);
      const report = this.#line(drawn);
      await resultOf(reports.add({ collection: this.digest, occasion, report, state: "unsent", tries: 0 }));
      return report;
    });
  }

  /** Whether a report of this occasion is remembered. @param {{occasion?: string}} [options] */
  async answered({ occasion = "" } = {}) {
    return remembering(async (reports) => (await resultOf(reports.getKey([this.digest, occasion]))) !== undefined);
  }

  /** The report of a simulated person. It is not remembered: never give it the answer of a real one.
   * @param {unknown} value */
  simulate(value) {
    return this.#line(this.#randomizer.draw(this.#randomizer.code(value), systemWords));
  }

  /**
   * Send the reports that were not sent, each after a random delay. Retries send the same bytes, at most 10 times; 410
   * drops a report. Nothing is sent, and nothing is said, if the browser asks for privacy and the person was not asked.
   *
   * @param {string | URL} url Takes POST requests of one report each.
   * @param {{consented?: boolean, within?: number}} [options] Whether the person agreed; the longest delay in seconds.
   */
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

  /** Count a try of a report, or note its end, unless it had one. @param {string} occasion @param {string} [end] */
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
    return IDBKeyRange.bound([this.digest], [this.digest, []]);
  }

  /** A report as one line, of the same length for all reports of the survey. @param {Report} report */
  #line(report) {
    const id = digits(this.#day, 4) + hex(new Uint8Array(systemWords(2).buffer)).slice(4);
    const { sizes } = this.#randomizer;
    const reports = Object.fromEntries(Object.entries(report).map(([name, value]) => [name, [
      value instanceof Uint8Array ? hex(value) : digits(value, digits(BigInt(sizes[name]) - 1n, 0).length),
    ]]));
    return `${JSON.stringify({ id, reports })}\n`;
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
    if (response.status === 410) end = "dropped";
    wait = Math.min(Number(response.headers.get("Retry-After")) || 0, 3600);
  } catch {
    // Nothing arrived, or nothing came back.
  }
  return { end, wait };
}
