/**
 * Records that several tasks append in turns, compressed or as they are: they are in order, whichever task compresses
 * first; shards are valid files; and the tasks report every position with its checksum.
 */

import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AbortError } from '#src/errors.js';
import { compressionOf } from '#src/formats/encoder-table.js';
import { JobControl, UNGATED } from '#src/job-control.js';
import { cutAt, type ShardCuts } from '#src/plan/shard-cuts.js';
import { openSink } from '#src/sinks/appended-sink.js';
import type { OpenShard, OutputHasher, OutputSink, SinkBuffer } from '#src/sinks/output-target.js';
import {
  type AppendedTarget,
  addRegion,
  type StreamTarget,
  stagedPath,
  type WrittenRegion,
} from '#src/sinks/output-target.js';
import { atScale } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const GAP = 100;

function bufferOf(capacityBytes: number): SinkBuffer {
  const memory = new Uint8Array(3 * (capacityBytes + GAP));
  return { addresses: [GAP, capacityBytes + 2 * GAP], capacityBytes, memory: () => memory };
}

/** As the kernel's, but of another function. */
function hasherOf(): OutputHasher {
  let hash = createHash('sha256');
  return {
    begin: () => {
      hash = createHash('sha256');
    },
    add: (bytes, offset, byteLength) => void hash.update(bytes.subarray(offset, offset + byteLength)),
    checksum: () => hash.digest().readBigUInt64LE(),
  };
}

const checksumOf = (bytes: Uint8Array) =>
  createHash('sha256').update(bytes).digest().readBigUInt64LE().toString(16).padStart(16, '0');

const ONE_SHARD: ShardCuts = { by: 'byte', shardCount: 1, totalBytes: 1000 };

interface Task {
  readonly from: number;
  readonly to: number;
}

/** One that can be stopped in the middle. */
class RunningTask {
  readonly sink: OutputSink;
  readonly #buffer: SinkBuffer;
  readonly #bytes: Uint8Array;
  #at: number;
  readonly #to: number;

  constructor(
    target: AppendedTarget | StreamTarget,
    bytes: Uint8Array,
    task: Task,
    turn: number,
    capacity: number,
    control: JobControl,
  ) {
    const cuts = target.kind === 'stream' ? ONE_SHARD : target.cuts;
    const shards = Array.from({ length: cuts.shardCount }, (_, shard) => shard);
    const shard = shards.findLast((each) => cutAt(cuts, each) <= task.from) ?? 0;
    this.#buffer = bufferOf(capacity);
    this.#bytes = bytes;
    this.#at = task.from;
    this.#to = task.to;
    const start = { shard, shardByte: 0, turn };
    this.sink = openSink({ target, start, end: undefined, buffer: this.#buffer, control, hasher: hasherOf() });
  }

  /** Puts all records, one byte each, into the sink. */
  async fill(): Promise<void> {
    const { sink } = this;
    while (this.#at < this.#to) {
      const { at } = sink.nextCut;
      if (this.#at >= at) await sink.cut();
      else if (sink.roomBytes === 0) expect(await sink.flush()).toBe(true);
      else {
        const count = Math.min(sink.roomBytes, at - this.#at, this.#to - this.#at);
        this.#buffer.memory().set(this.#bytes.subarray(this.#at, this.#at + count), sink.fillAddress);
        sink.filled(count);
        this.#at += count;
      }
    }
  }
}

const targetOf = (cuts: ShardCuts, headerBytes: number): AppendedTarget => ({
  kind: 'appended',
  stagingDirectory: directory.path(),
  cuts,
  headerBytes,
  gate: UNGATED,
  compression: compressionOf('gzip', 1),
});

describe('AppendedSink', () => {
  it('appends what tasks compressed in any order, cut into shards, in the order of their turns', async () => {
    const job = fc.record({
      headerBytes: fc.constantFrom(0, 33),
      byteLength: fc.integer({ min: 1, max: 3000 }),
      shardCount: fc.integer({ min: 1, max: 5 }),
      limits: fc.array(fc.nat({ max: 2999 }), { maxLength: 4 }),
      capacityBytes: fc.integer({ min: 1, max: 700 }),
      by: fc.constantFrom('rank', 'byte'),
    });
    await fc.assert(
      fc.asyncProperty(job, async ({ headerBytes, byteLength, shardCount, limits, capacityBytes, by }) => {
        for (let shard = 0; shard < 5; shard++) rmSync(stagedPath(directory.path(), shard), { force: true });
        const bytes = Uint8Array.from({ length: byteLength }, (_, i) => (i * 31) % 251);
        const cuts: ShardCuts =
          by === 'rank' ? { by, shardCount, totalRecords: byteLength } : { by, shardCount, totalBytes: byteLength };
        const target = targetOf(cuts, headerBytes);
        const ends = [...new Set(limits.filter((at) => at > 0 && at < byteLength)), byteLength].sort((a, b) => a - b);
        const control = JobControl.create([], 2 ** 24);
        const tasks = ends.map(
          (to, turn) => new RunningTask(target, bytes, { from: ends[turn - 1] ?? 0, to }, turn, capacityBytes, control),
        );
        // The last one is the first to compress.
        for (const task of tasks.toReversed()) await task.fill();
        const regions: WrittenRegion[] = [];
        for (const { sink } of tasks) {
          regions.push(...(await sink.close()));
          await sink.abandon();
        }
        expect(control.spareBytes).toBe(2 ** 24);
        for (let shard = 0; shard < shardCount; shard++) {
          const expected = bytes.subarray(cutAt(cuts, shard), Math.min(byteLength, cutAt(cuts, shard + 1)));
          const path = stagedPath(directory.path(), shard);
          const stored = existsSync(path) ? readFileSync(path).subarray(headerBytes) : Buffer.alloc(0);
          expect(stored.byteLength === 0 ? stored : gunzipSync(stored)).toEqual(Buffer.from(expected));
          let end = 0;
          for (const region of regions.filter((each) => each.shard === shard)) {
            expect(region.start).toBe(end);
            end = region.end;
            const ofRegion = stored.subarray(region.start, region.end);
            expect(region.checksum).toBe(checksumOf(ofRegion));
            expect(gunzipSync(ofRegion)).toHaveLength(region.recordBytes);
          }
          expect(end).toBe(stored.byteLength);
        }
      }),
      { numRuns: atScale(15, 60) },
    );
  });

  it('appends plain records as they are, cut into shards, and holds none of them', async () => {
    const job = fc.record({
      headerBytes: fc.constantFrom(0, 33),
      byteLength: fc.integer({ min: 1, max: 3000 }),
      shardCount: fc.integer({ min: 1, max: 5 }),
      taskBytes: fc.integer({ min: 1, max: 900 }),
      capacityBytes: fc.integer({ min: 1, max: 700 }),
    });
    await fc.assert(
      fc.asyncProperty(job, async ({ headerBytes, byteLength, shardCount, taskBytes, capacityBytes }) => {
        for (let shard = 0; shard < 5; shard++) rmSync(stagedPath(directory.path(), shard), { force: true });
        const bytes = Uint8Array.from({ length: byteLength }, (_, i) => (i * 31) % 251);
        const cuts: ShardCuts = { by: 'rank', shardCount, totalRecords: byteLength };
        const target = { ...targetOf(cuts, headerBytes), compression: undefined };
        const control = JobControl.create([], 0);
        const regions: WrittenRegion[] = [];
        for (let from = 0, turn = 0; from < byteLength; from += taskBytes, turn++) {
          const to = Math.min(byteLength, from + taskBytes);
          const task = new RunningTask(target, bytes, { from, to }, turn, capacityBytes, control);
          await task.fill();
          regions.push(...(await task.sink.close()));
          await task.sink.abandon();
          expect(control.hasTurn(turn + 1)).toBe(true);
        }
        for (let shard = 0; shard < shardCount; shard++) {
          const expected = bytes.subarray(cutAt(cuts, shard), Math.min(byteLength, cutAt(cuts, shard + 1)));
          const path = stagedPath(directory.path(), shard);
          const stored = existsSync(path) ? readFileSync(path).subarray(headerBytes) : Buffer.alloc(0);
          expect(stored).toEqual(Buffer.from(expected));
          let end = 0;
          for (const region of regions.filter((each) => each.shard === shard)) {
            expect(region).toMatchObject({ start: end, recordBytes: region.end - region.start });
            expect(region.checksum).toBe(checksumOf(stored.subarray(region.start, region.end)));
            end = region.end;
          }
          expect(end).toBe(stored.byteLength);
        }
      }),
      { numRuns: atScale(15, 60) },
    );
  });

  const textOf = (length: number) => new Uint8Array(length).fill(0x61);

  it('writes as it goes when it is its turn, and lets nothing wait', async () => {
    const control = JobControl.create([], 0);
    const task = new RunningTask(targetOf(ONE_SHARD, 0), textOf(1000), { from: 0, to: 1000 }, 0, 10, control);
    await task.fill();
    const written = readFileSync(stagedPath(directory.path(), 0));
    expect(gunzipSync(written).byteLength).toBeGreaterThanOrEqual(800);
    await task.sink.close();
    await task.sink.abandon();
    expect(control.hasTurn(1)).toBe(true);
  });

  it('waits for its turn when it finds no more spare memory, and leaves when the job is stopped', async () => {
    const control = JobControl.create([], 60);
    const task = new RunningTask(targetOf(ONE_SHARD, 0), textOf(1000), { from: 0, to: 1000 }, 1, 10, control);
    control.abort();
    await expect(task.fill()).rejects.toThrow(AbortError);
    // It had taken room for two of its members.
    expect(control.spareBytes).toBeLessThan(25);
    await task.sink.abandon();
    expect(control.spareBytes).toBe(60);
    expect(existsSync(stagedPath(directory.path(), 0))).toBe(false);
  });

  it('tells the places of its bytes in a stream, so that a stream without end is one region', async () => {
    const path = directory.path('stream');
    const fd = openSync(path, 'w');
    const target = { kind: 'stream', fd, path, compression: undefined } as const;
    const control = JobControl.create([], 0);
    const regions: WrittenRegion[] = [];
    for (const [turn, to] of [400, 1000].entries()) {
      const task = new RunningTask(target, textOf(1000), { from: 400 * turn, to }, turn, 30, control);
      await task.fill();
      expect(await task.sink.takeBack()).toBe(false);
      for (const region of await task.sink.close()) addRegion(regions, region);
      await task.sink.abandon();
    }
    closeSync(fd);
    expect(readFileSync(path)).toEqual(Buffer.from(textOf(1000)));
    expect(regions).toMatchObject([{ shard: 0, start: 0, end: 1000, recordBytes: 1000 }]);
  });

  it.each([
    ['compressed', compressionOf('gzip', 1)],
    ['plain', undefined],
  ])('takes back what it appended itself, and no byte before: %s', async (_, compression) => {
    const target = { ...targetOf(ONE_SHARD, 6), compression };
    const control = JobControl.create([], 0);
    const run = async (turn: number) => {
      const task = new RunningTask(
        target,
        textOf(1000),
        { from: 400 * turn, to: 400 * turn + 400 },
        turn,
        100,
        control,
      );
      await task.fill();
      return task.sink;
    };
    const first = await run(0);
    await first.close();
    await first.abandon();
    const before = readFileSync(stagedPath(directory.path(), 0));
    const second = await run(1);
    expect(readFileSync(stagedPath(directory.path(), 0)).byteLength).toBeGreaterThan(before.byteLength);
    expect(await second.takeBack()).toBe(true);
    await second.abandon();
    expect(readFileSync(stagedPath(directory.path(), 0))).toEqual(before);
    expect(control.hasTurn(1)).toBe(true);
  });

  it('does not take back what it appended to bytes that waited in memory', async () => {
    const target = { ...targetOf(ONE_SHARD, 0), compression: undefined };
    const asked: string[] = [];
    const shard: OpenShard = {
      end: 7,
      canBeShortened: false,
      append: () => asked.push('append'),
      describe: () => {},
      close: () => asked.push('close'),
      uploaded: () => void asked.push('wait'),
      abandon: () => asked.push('abandon'),
    };
    const start = { shard: 0, shardByte: 0, turn: 0 };
    const parts = { target, start, end: undefined, buffer: bufferOf(10), control: JobControl.create([], 0) };
    const sink = openSink({ ...parts, hasher: hasherOf(), openShard: () => shard });
    sink.filled(10);
    await sink.flush();
    expect(await sink.takeBack()).toBe(false);
    expect(asked).toEqual(['append', 'abandon', 'wait']);
  });
});
