/** The limit of the head, with the kernel's histograms: against the keys, sorted. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { HeadFilter, HeadLimit, LARGEST_KEY, SLOT_COUNT } from '#workers/piles/head-limit.js';
import { atScale } from '../../fixtures/scale.js';
import { recordKey } from '../kernel/kernel-twin.js';

const TABLE = ARENA_START;
const HISTOGRAM = TABLE + 2 ** 14;
const TALLIES = HISTOGRAM + 4 * SLOT_COUNT;
const RECORDS = TALLIES + 4096;
const BUFFERS = RECORDS + 4096;

/** A thread that scatters records of one byte, each batch of an input of its own, and leaves out what is too large. */
class Thread {
  readonly #kernel = new Kernel();
  readonly #filter: HeadFilter;

  constructor(limit: HeadLimit) {
    this.#kernel.ensureArena(2 ** 20);
    this.#kernel.wasm.prepareScatter(1, TALLIES, 2 ** 16, 1n);
    this.#kernel.wasm.useBuffer(0, BUFFERS);
    this.#kernel.flush = () => BUFFERS;
    this.#filter = new HeadFilter(this.#kernel, limit, HISTOGRAM);
  }

  scatter(count: number, inputKey: bigint): void {
    for (let i = 0; i < count; i++) {
      this.#kernel.view.setUint32(TABLE + 8 * i, RECORDS + i, true);
      this.#kernel.view.setUint32(TABLE + 8 * i + 4, RECORDS + i + 1, true);
    }
    this.#kernel.wasm.scatterRecords(TABLE, count, RECORDS, 0n, inputKey);
    this.#filter.afterScatter();
  }

  end(): void {
    this.#filter.end();
  }

  get counts() {
    const { wasm, view } = this.#kernel;
    const kept = Number(view.getBigUint64(TALLIES + 8, true));
    return { kept, leftOut: Number(wasm.leftOutRecords.value), leftOutBytes: Number(wasm.leftOutBytes.value) };
  }
}

describe('the limit of the head', () => {
  it('never falls below the last key of the head, and comes close to it', () => {
    const batches = fc.array(fc.tuple(fc.integer({ min: 1, max: 1000 }), fc.nat({ max: 2 })), { maxLength: 30 });
    fc.assert(
      fc.property(batches, fc.integer({ min: 1, max: 300 }), (given, headCount) => {
        const limit = new HeadLimit(HeadLimit.create({ records: headCount, largestKey: LARGEST_KEY }));
        const threads = [new Thread(limit), new Thread(limit), new Thread(limit)];
        const keys: bigint[] = [];
        for (const [batch, [count, thread]] of given.entries()) {
          threads[thread]?.scatter(count, BigInt(batch));
          for (let i = 0; i < count; i++) keys.push(recordKey(BigInt(i), BigInt(batch)));
        }
        for (const thread of threads) thread.end();
        const last = keys.toSorted((a, b) => (a < b ? -1 : 1))[headCount - 1] ?? LARGEST_KEY;
        expect(limit.largestKey >= last).toBe(true);
        expect(limit.largestKey <= last + last / 64n).toBe(true);
        const sum = (what: 'kept' | 'leftOut' | 'leftOutBytes') =>
          threads.reduce((total, { counts }) => total + counts[what], 0);
        expect(sum('kept') + sum('leftOut')).toBe(keys.length);
        expect(sum('leftOutBytes')).toBe(sum('leftOut'));
        expect(sum('kept')).toBeGreaterThanOrEqual(keys.filter((key) => key <= last).length);
      }),
      { numRuns: atScale(10, 20, 40) },
    );
  });

  it('begins where it is told, and waits while another thread changes it', () => {
    const buffer = HeadLimit.create({ records: 1, largestKey: 1000n });
    const limit = new HeadLimit(buffer);
    expect([limit.records, limit.largestKey]).toEqual([1, 1000n]);
    const counts = new Uint32Array(SLOT_COUNT);
    // Slot 0 has the keys 0 and 1.
    counts[0] = 1;
    const words = new Int32Array(buffer);
    words[2] = 1;
    expect(limit.tryAdd(counts)).toBe(false);
    expect([limit.largestKey, counts[0]]).toEqual([1000n, 1]);
    words[2] = 0;
    expect(limit.tryAdd(counts)).toBe(true);
    expect([limit.largestKey, counts[0]]).toEqual([1n, 0]);
  });
});
