/**
 * Records whose place in the one file is claimed in turns: they are in order, whichever task writes first, whether a task
 * knows beforehand how much it will write or not.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JobControl, UNGATED } from '#src/job-control.js';
import { openSink } from '#src/sinks/appended-sink.js';
import { type OutputSink, type PlacedTarget, type SinkBuffer, stagedPath } from '#src/sinks/output-target.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const HEADER_BYTES = 3;
const PAGE = 4096;

function bufferOf(capacityBytes: number): SinkBuffer {
  const memory = new Uint8Array(PAGE + 2 * (capacityBytes + PAGE));
  return { addresses: [PAGE, 2 * PAGE + capacityBytes], capacityBytes, memory: () => memory };
}

function targetOf(name: string): PlacedTarget {
  const cuts = { by: 'rank', shardCount: 1, totalRecords: 1e6 } as const;
  const staged = { stagingDirectory: directory.path(name), cuts, headerBytes: HEADER_BYTES, gate: UNGATED };
  return { kind: 'claimed', ...staged, direct: false };
}

interface Part {
  readonly byteLength: number;
  readonly isAnnounced: boolean;
}

class Writer {
  readonly sink: OutputSink;
  readonly #buffer: SinkBuffer;

  /** @param byteLength undefined: the task does not know how much it will write. */
  constructor(target: PlacedTarget, turn: number, control: JobControl, byteLength?: number) {
    this.#buffer = bufferOf(16);
    const start = { shard: 0, shardByte: 0, turn };
    const parts = { target, start, end: undefined, buffer: this.#buffer, control, hasher: undefined };
    this.sink = openSink(parts, byteLength);
  }

  async write(bytes: Uint8Array): Promise<void> {
    const { sink } = this;
    for (let done = 0; done < bytes.byteLength; ) {
      if (sink.roomBytes === 0) expect(await sink.flush()).toBe(true);
      const count = Math.min(sink.roomBytes, bytes.byteLength - done);
      this.#buffer.memory().set(bytes.subarray(done, done + count), sink.fillAddress);
      sink.filled(count);
      done += count;
    }
  }
}

describe('claimed places', () => {
  const part = fc.record({ byteLength: fc.nat({ max: 60 }), isAnnounced: fc.boolean() });
  let job = 0;

  it('follow each other in the order of the turns, whoever writes first', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), async (parts: readonly Part[]) => {
        const control = JobControl.create([], 0);
        job += 1;
        const target = targetOf(`job-${job}`);
        mkdirSync(target.stagingDirectory);
        writeFileSync(stagedPath(target.stagingDirectory, 0), '');
        const contents = parts.map(({ byteLength }, i) => Buffer.alloc(byteLength, 65 + i));
        const late: (() => Promise<void>)[] = [];
        let place = 0;
        for (const [turn, { isAnnounced, byteLength }] of parts.entries()) {
          const writer = new Writer(target, turn, control, isAnnounced ? byteLength : undefined);
          const start = place;
          const finish = async () => {
            await writer.write(contents[turn] ?? Buffer.of());
            const regions = await writer.sink.close();
            const region = { shard: 0, start, end: start + byteLength, recordBytes: byteLength, checksum: '' };
            expect(regions).toEqual(byteLength === 0 ? [] : [region]);
            expect(await writer.sink.takeBack()).toBe(false);
            await writer.sink.abandon();
          };
          place += byteLength;
          // The turn is passed on: those behind may write before.
          if (isAnnounced) late.unshift(finish);
          else await finish();
        }
        for (const finish of late) await finish();
        const file = readFileSync(stagedPath(target.stagingDirectory, 0));
        expect(file.subarray(HEADER_BYTES).equals(Buffer.concat(contents))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('can be taken back until the turn is passed on', async () => {
    const control = JobControl.create([], 0);
    const target = targetOf('back');
    mkdirSync(target.stagingDirectory);
    const first = new Writer(target, 0, control);
    await first.write(Buffer.from('wrong'));
    expect(await first.sink.takeBack()).toBe(true);
    await first.sink.abandon();
    const again = new Writer(target, 0, control);
    await again.write(Buffer.from('right'));
    expect(await again.sink.close()).toMatchObject([{ start: 0, end: 5 }]);
    expect(readFileSync(stagedPath(target.stagingDirectory, 0), 'latin1')).toBe('\0\0\0right');
  });
});
