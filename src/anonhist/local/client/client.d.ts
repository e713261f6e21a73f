/** Fresh 64-bit words, each as its low and its high 32 bits. */
export type Words = (count: number) => Uint32Array;

/** The digest of the collection; or that the page accepts any, and so any epsilon. */
export type Pinned = { digest: string } | { unpinned: true };

/** What the devices of a collection agree to: the file of `anonhist collect new`. */
export class Collection {
  /** The digest of everything in the file. */
  readonly digest: string;
  /** The content of the file. */
  readonly description: Record<string, any>;

  /** Fetch a collection, and refuse any other than the one that the page expects. */
  static load(url: string | URL, pinned: Pinned): Promise<Collection>;
  constructor(text: string, pinned: Pinned);

  /** The report of an answer, a line of JSON: randomized once, remembered, and the same bytes ever after. Where only
   * invited people may answer, it takes the invitation, by default that after # in the address of the page. */
  answer(value: unknown, options?: { occasion?: string; invitation?: string }): Promise<string>;
  /** Whether a report of this occasion is remembered. */
  answered(options?: { occasion?: string }): Promise<boolean>;
  /** The report of a simulated person; it is not remembered. */
  simulate(value: unknown): string;
  /** Send the reports that were not sent, each after a random delay of at most `within` seconds. */
  send(url: string | URL, options?: { consented?: boolean; within?: number }): Promise<void>;
}

/** How a survey randomizes with given words: for test vectors. */
export function randomizer(survey: { mechanism: string; epsilon: string; parameters: any }): {
  code: (value: unknown) => any;
  draw: (code: any, words: Words) => Record<string, number | bigint | Uint8Array>;
};
export function systemWords(count: number): Uint32Array;
export function sha256(message: Uint8Array): Uint8Array;
export function keyedHash(key: string): (bytes: Uint8Array) => DataView;
export function bucket(hash: (bytes: Uint8Array) => DataView, words: number[], seed: number, buckets: number): number;
export function hex(bytes: Iterable<number>): string;
