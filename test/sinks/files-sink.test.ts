/**
 * Records that several tasks write into staged files, through the page cache and around it: each byte is at its place,
 * behind a header of any length, and the reports of the tasks tile the shards.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JobControl, UNGATED } from '#src/job-control.js';
import { cutAt, type ShardCuts } from '#src/plan/shard-cuts.js';
import { FilesSink } from '#src/sinks/files-sink.js';
import type { SinkBuffer } from '#src/sinks/output-target.js';
import { type PlacedTarget, stagedPath, type WrittenRegion } from '#src/sinks/output-target.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const BUFFERS = 3;
const MOST_CAPACITY_BYTES = 2 ** 16;
/** Aligned, as direct writes ask for. */
const memory = new Uint8Array(new WebAssembly.Memory({ initial: 2 * BUFFERS, maximum: 2 * BUFFERS }).buffer);
const control = JobControl.create([], 0);

function bufferOf(capacityBytes: number): SinkBuffer {
  const addresses = Array.from({ length: BUFFERS }, (_, i) => i * 2 * MOST_CAPACITY_BYTES);
  const [first = 0, ...others] = addresses;
  return { addresses: [first, ...others], capacityBytes, memory: () => memory };
}

/** Writes `bytes` from byte `from` of the whole to `to`, cut by bytes. */
async function writeRange(
  target: PlacedTarget,
  shardStarts: readonly number[],
  bytes: Uint8Array,
  from: number,
  to: number,
  capacityBytes: number,
): Promise<readonly WrittenRegion[]> {
  let shard = shardStarts.findLastIndex((start) => start <= from);
  const start = { shard, shardByte: from - (shardStarts[shard] ?? 0), turn: 0 };
  const sink = new FilesSink({
    target,
    start,
    end: undefined,
    buffer: bufferOf(capacityBytes),
    control,
    hasher: undefined,
  });
  try {
    for (let at = from; at < to; ) {
      const cut = shardStarts[shard + 1] ?? Number.POSITIVE_INFINITY;
      expect(sink.nextCut.at).toBe(cut);
      if (at === cut) {
        await sink.cut();
        shard += 1;
        continue;
      }
      if (sink.roomBytes === 0) expect(await sink.flush()).toBe(true);
      const count = Math.min(sink.roomBytes, cut - at, to - at);
      memory.set(bytes.subarray(at, at + count), sink.fillAddress);
      sink.filled(count);
      at += count;
    }
    return await sink.close();
  } finally {
    await sink.abandon();
  }
}

describe('FilesSink', () => {
  const directory = useTestDirectory();

  it.each([false, true])('puts every byte where it belongs behind the header: direct %s', async (direct) => {
    const job = fc.record({
      headerBytes: fc.oneof(fc.nat({ max: 20 }), fc.constantFrom(0, 128, 4095, 4096, 4097, 10_000)),
      byteLength: fc.nat({ max: 200_000 }),
      shardCount: fc.integer({ min: 1, max: 4 }),
      runs: fc.array(fc.nat({ max: 199_999 }), { maxLength: 4 }),
      capacityBytes: fc.constantFrom(4 * 4096, 5 * 4096, MOST_CAPACITY_BYTES),
    });
    await fc.assert(
      fc.asyncProperty(job, async ({ headerBytes, byteLength, shardCount, runs, capacityBytes }) => {
        for (let shard = 0; shard < 4; shard++) rmSync(stagedPath(directory.path(), shard), { force: true });
        const bytes = Uint8Array.from({ length: byteLength }, (_, i) => 1 + ((i * 31) % 251));
        const cuts: ShardCuts = { by: 'byte', shardCount, totalBytes: byteLength };
        const shardStarts = Array.from({ length: shardCount }, (_, shard) => cutAt(cuts, shard));
        const stagingDirectory = directory.path();
        const target = { kind: 'placed', stagingDirectory, cuts, headerBytes, gate: UNGATED, direct } as const;
        const ends = [...new Set(runs.filter((at) => at < byteLength)), byteLength].sort((a, b) => a - b);
        const regions: WrittenRegion[] = [];
        for (const [i, to] of ends.entries()) {
          regions.push(...(await writeRange(target, shardStarts, bytes, ends[i - 1] ?? 0, to, capacityBytes)));
        }
        for (const [shard, start] of shardStarts.entries()) {
          const expected = bytes.subarray(start, shardStarts[shard + 1] ?? byteLength);
          const path = stagedPath(stagingDirectory, shard);
          let end = 0;
          for (const region of regions.filter((each) => each.shard === shard)) {
            expect(region.start).toBe(end);
            end = region.end;
          }
          expect(end).toBe(expected.byteLength);
          const found = existsSync(path) ? readFileSync(path).subarray(headerBytes) : Buffer.alloc(0);
          expect(found.equals(expected), `shard ${shard}`).toBe(true);
        }
      }),
      { numRuns: 40 },
    );
  });
});
