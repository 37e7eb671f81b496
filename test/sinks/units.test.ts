/**
 * Units that several tasks append: each is one member, whichever task writes it and however the records come; nothing is
 * written of records that belong to others; the end of a file, and that of a stream, is made from what lies there.
 */
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JobControl, UNGATED } from '#src/job-control.js';
import type { ShardCuts } from '#src/plan/shard-cuts.js';
import { type OwnUnits, planUnitCuts, type UnitCuts, unitsFrom } from '#src/plan/unit-cuts.js';
import { openSink } from '#src/sinks/appended-sink.js';
import type { Member, MemberWriter } from '#src/sinks/member-writer.js';
import { type AppendedTarget, type StreamTarget, stagedPath, type WrittenRegion } from '#src/sinks/output-target.js';
import { atScale } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();

/** A member is its records in brackets; its description is the bracket that closes. */
class Brackets implements MemberWriter {
  readonly endsWithBuffer = false;
  isClosed = false;
  open = 0;
  #records = '';

  add(records: Uint8Array): void {
    this.#records += Buffer.from(records).toString('latin1');
  }

  end(): Member | undefined {
    if (this.#records === '') return undefined;
    const pieces = ['[', this.#records, ']'].map((text) => Buffer.from(text, 'latin1'));
    const byteLength = this.#records.length + 2;
    this.#records = '';
    this.open += 1;
    const description = Buffer.from(']');
    return {
      byteLength,
      memoryBytes: byteLength,
      description,
      pieces: () => pieces,
      release: () => {
        this.open -= 1;
      },
    };
  }

  close(): void {
    this.isClosed = true;
  }
}

interface Order {
  readonly bytes: Buffer;
  readonly units: UnitCuts;
  readonly cuts: ShardCuts;
}

const orders = fc
  .record({
    length: fc.integer({ min: 1, max: 400 }),
    shardCount: fc.integer({ min: 1, max: 5 }),
    most: fc.integer({ min: 1, max: 60 }),
  })
  .map(({ length, shardCount, most }): Order => {
    const cuts: ShardCuts = { by: 'rank', shardCount, totalRecords: length };
    const total = { records: length, bytes: length };
    const bytes = Buffer.from(Array.from({ length }, (_, i) => 97 + (i % 26)));
    return { bytes, cuts, units: planUnitCuts(cuts, total, { bytes: 2 ** 20, records: most }) };
  });

/** What the file of a shard holds behind its header. */
function expectedOf({ bytes, units }: Order, shard: number): string {
  const ofShard = [...unitsFrom(units, 0)].filter((unit) => unit.shard === shard);
  return ofShard.map(({ begin, end }) => `[${bytes.toString('latin1', begin, end)}]`).join('');
}

/** One record a byte. The task gets the records from before its units to behind them. */
async function writeUnits(
  { bytes }: Order,
  own: OwnUnits,
  target: AppendedTarget | StreamTarget,
  { turn, control, capacityBytes }: { turn: number; control: JobControl; capacityBytes: number },
) {
  const memory = new Uint8Array(capacityBytes);
  const members = new Brackets();
  const buffer = { addresses: [0] as const, capacityBytes, memory: () => memory };
  const start = { shard: own.firstShard, shardByte: 0, turn };
  const sink = openSink({ target, start, end: undefined, buffer, control, hasher: undefined, units: { own, members } });
  let at = Math.max(0, own.first - 3);
  const to = Math.min(
    bytes.byteLength,
    Math.max(own.end, [...unitsFrom(own.units, 0)].findLast(({ begin }) => begin < own.end)?.end ?? 0) + 3,
  );
  const fill = async () => {
    while (at < to) {
      const { nextCut } = sink;
      if (at >= nextCut.at) await sink.cut();
      else if (sink.roomBytes === 0) await sink.flush();
      else {
        const count = Math.min(sink.roomBytes, nextCut.at - at, to - at);
        memory.set(bytes.subarray(at, at + count), sink.fillAddress);
        sink.filled(count);
        at += count;
      }
    }
  };
  return { sink, members, fill };
}

const tasks = fc.record({
  limits: fc.array(fc.nat({ max: 399 }), { maxLength: 4 }),
  capacityBytes: fc.integer({ min: 1, max: 50 }),
});

function ownOf({ units, bytes }: Order, limits: readonly number[]): OwnUnits[] {
  const starts = [...new Set([0, ...limits.filter((at) => at < bytes.byteLength)])].sort((a, b) => a - b);
  return starts.map((first, i) => ({ units, first, end: starts[i + 1] ?? bytes.byteLength, firstShard: 0 }));
}

describe('units', () => {
  it('are appended once each, in their order, to the files of their shards', async () => {
    await fc.assert(
      fc.asyncProperty(orders, tasks, fc.nat({ max: 2000 }), async (order, { limits, capacityBytes }, spareBytes) => {
        for (let shard = 0; shard < 5; shard++) rmSync(stagedPath(directory.path(), shard), { force: true });
        const { cuts, bytes } = order;
        const target = {
          kind: 'appended',
          stagingDirectory: directory.path(),
          cuts,
          headerBytes: 7,
          gate: UNGATED,
          compression: undefined,
        } as const;
        const control = JobControl.create([], 2 ** 20 + spareBytes);
        const running = await Promise.all(
          ownOf(order, limits).map((own, turn) => writeUnits(order, own, target, { turn, control, capacityBytes })),
        );
        // The last task is the first to make its units.
        for (const { fill } of running.toReversed()) await fill();
        const regions: WrittenRegion[] = [];
        for (const { sink, members } of running) {
          regions.push(...(await sink.close()));
          if (sink.leavesTurn === true) control.passTurn();
          await sink.abandon();
          expect([members.open, members.isClosed]).toEqual([0, true]);
        }
        expect(control.spareBytes).toBe(2 ** 20 + spareBytes);
        for (let shard = 0; shard < cuts.shardCount; shard++) {
          const path = stagedPath(directory.path(), shard);
          const stored = existsSync(path) ? readFileSync(path, 'latin1').slice(7) : '';
          expect(stored).toBe(expectedOf(order, shard));
          let end = 0;
          for (const region of regions.filter((each) => each.shard === shard)) {
            expect(region.start).toBe(end);
            end = region.end;
          }
          expect(end).toBe(stored.length);
        }
        expect(regions.reduce((sum, { recordBytes }) => sum + recordBytes, 0)).toBe(bytes.byteLength);
      }),
      { numRuns: atScale(40, 200) },
    );
  });

  it('of a stream leave their descriptions at their places in a file with holes', async () => {
    const order = {
      bytes: Buffer.from('abcdefghijklmnopqrstuvwxyz'),
      cuts: { by: 'rank', shardCount: 1, totalRecords: 26 },
    } as const;
    const units = planUnitCuts(order.cuts, { records: 26, bytes: 26 }, { bytes: 7 });
    const path = directory.path('stream');
    const fd = openSync(path, 'w');
    const descriptions = { path: directory.path('descriptions'), start: 4 };
    const target = { kind: 'stream', fd, path, compression: undefined, descriptions } as const;
    const control = JobControl.create([], 2 ** 20);
    for (const [turn, own] of ownOf({ ...order, units }, [10]).entries()) {
      const { sink, fill } = await writeUnits({ ...order, units }, own, target, { turn, control, capacityBytes: 5 });
      await fill();
      await sink.close();
      expect(sink.leavesTurn).toBe(false);
      await sink.abandon();
    }
    closeSync(fd);
    const written = readFileSync(path, 'latin1');
    expect(written).toBe('[abcdef][ghijklm][nopqrs][tuvwxyz]');
    expect(readFileSync(descriptions.path, 'latin1')).toBe(`\0\0\0\0${written.replaceAll(/[^\]]/g, '\0')}`);
  });

  it('that come out wrong are taken back, and no byte before them', async () => {
    const order = { bytes: Buffer.alloc(40, 'x'), cuts: { by: 'rank', shardCount: 1, totalRecords: 40 } } as const;
    const units = planUnitCuts(order.cuts, { records: 40, bytes: 40 }, { bytes: 10 });
    const target = {
      kind: 'appended',
      stagingDirectory: directory.path(),
      cuts: order.cuts,
      headerBytes: 4,
      gate: UNGATED,
      compression: undefined,
    } as const;
    const control = JobControl.create([], 2 ** 20);
    const [first, second] = ownOf({ ...order, units }, [15]);
    if (first === undefined || second === undefined) return expect.fail('two tasks');
    const how = { control, capacityBytes: 5 };
    const one = await writeUnits({ ...order, units }, first, target, { turn: 0, ...how });
    await one.fill();
    await one.sink.close();
    if (one.sink.leavesTurn === true) control.passTurn();
    await one.sink.abandon();
    const before = readFileSync(stagedPath(directory.path(), 0));
    const two = await writeUnits({ ...order, units }, second, target, { turn: 1, ...how });
    await two.fill();
    expect(readFileSync(stagedPath(directory.path(), 0)).byteLength).toBeGreaterThan(before.byteLength);
    expect(await two.sink.takeBack()).toBe(true);
    await two.sink.abandon();
    expect(readFileSync(stagedPath(directory.path(), 0))).toEqual(before);
    expect([two.members.open, two.members.isClosed]).toEqual([0, true]);
  });
});
