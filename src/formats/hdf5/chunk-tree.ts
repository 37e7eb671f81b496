/** Writes a B-tree of version 1 over chunks: the index that all libraries read. */

export interface TreeEntry {
  /** Its first element. */
  readonly start: readonly number[];
  readonly byteLength: number;
  readonly mask: number;
  readonly address: number;
}

interface ChunksToIndex {
  readonly count: number;
  readonly lengths: readonly number[];
  readonly elementBytes: number;
  /** In row-major order. */
  entryAt(i: number): TreeEntry;
}

/** What libraries take for granted where a file does not say it. */
const MOST_ENTRIES = 64;
const HEAD_BYTES = 24;
const NO_ADDRESS = 2n ** 64n - 1n;

export class ChunkTree {
  readonly byteLength: number;
  readonly #chunks: ChunksToIndex;
  readonly #address: number;
  readonly #nodeBytes: number;
  readonly #keyBytes: number;
  /** Nodes of each level, from the leaves up. */
  readonly #counts: readonly number[];

  constructor(chunks: ChunksToIndex, address: number) {
    this.#chunks = chunks;
    this.#address = address;
    this.#keyBytes = 8 + 8 * (chunks.lengths.length + 1);
    this.#nodeBytes = HEAD_BYTES + MOST_ENTRIES * (this.#keyBytes + 8) + this.#keyBytes;
    const counts: number[] = [];
    for (let count = chunks.count; count > 1 || counts.length === 0; ) {
      count = Math.ceil(count / MOST_ENTRIES);
      counts.push(count);
    }
    this.#counts = counts;
    this.byteLength = this.#nodeBytes * counts.reduce((sum, count) => sum + count, 0);
  }

  /** The root is the last node. */
  get root(): number {
    return this.#address + this.byteLength - this.#nodeBytes;
  }

  *nodes(): Generator<Uint8Array> {
    let before = 0;
    for (const [level, count] of this.#counts.entries()) {
      for (let node = 0; node < count; node++) yield this.#node(level, node, count, before);
      before += count;
    }
  }

  #node(level: number, node: number, count: number, before: number): Uint8Array {
    const { entryAt, count: chunkCount, lengths, elementBytes } = this.#chunks;
    const below = level === 0 ? chunkCount : (this.#counts[level - 1] ?? 0);
    const first = node * MOST_ENTRIES;
    const end = Math.min(below, first + MOST_ENTRIES);
    const bytes = Buffer.alloc(this.#nodeBytes);
    const addressOf = (number: number) => BigInt(this.#address + number * this.#nodeBytes);
    bytes.write('TREE', 'latin1');
    bytes.set([1, level], 4);
    bytes.writeUInt16LE(end - first, 6);
    bytes.writeBigUInt64LE(node === 0 ? NO_ADDRESS : addressOf(before + node - 1), 8);
    bytes.writeBigUInt64LE(node === count - 1 ? NO_ADDRESS : addressOf(before + node + 1), 16);
    let at = HEAD_BYTES;
    const writeKey = ({ start, byteLength, mask }: Omit<TreeEntry, 'address'>, last = 0) => {
      bytes.writeUInt32LE(byteLength, at);
      bytes.writeUInt32LE(mask, at + 4);
      for (const [i, element] of [...start, last].entries()) bytes.writeBigUInt64LE(BigInt(element), at + 8 + 8 * i);
      at += this.#keyBytes;
    };
    const span = MOST_ENTRIES ** level;
    for (let i = first; i < end; i++) {
      const entry = entryAt(i * span);
      writeKey(entry);
      bytes.writeBigUInt64LE(level === 0 ? BigInt(entry.address) : addressOf(before - below + i), at);
      at += 8;
    }
    if (end < below) writeKey(entryAt(end * span));
    else {
      const start = entryAt(chunkCount - 1).start.map((each, i) => each + (lengths[i] ?? 1));
      writeKey({ start, byteLength: 0, mask: 0 }, elementBytes);
    }
    return bytes;
  }
}
