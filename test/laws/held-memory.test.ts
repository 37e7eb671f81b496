/**
 * A job whose memory for records fills up, at any moment: what is held by then is scattered from where it lies, and the
 * output has the same bytes. No input is read twice, not even a stream; only a record for which no room is left is read
 * again.
 */
import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type JobProfile, type ShuffleOptions, shuffle } from '#src/index.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { atScale, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { blockHeader } from '../formats/codecs/zstd-samples.mjs';
import { encode } from './encodings.js';
import { orderRecords, recordsOf, referenceOrder } from './reference-order.js';

const directory = useMemoryDirectory();

/** Records of 5 to 900 bytes, and one that is longer than a region, and than the room in which records are put together. */
const INPUTS = Array.from({ length: 3 }, (_, input) => {
  const lines = Array.from({ length: 300 }, (__, i) => `${input} ${i} ${'.'.repeat((i * 37) % 890)}\n`);
  lines.splice(150, 0, `${'x'.repeat(70_000)}\n`);
  return Buffer.from(lines.join(''));
});

const SIZES: Tuning = {
  hold: true,
  inline: true,
  pileCount: 5,
  bufferBytes: 4096,
  readBytes: 4096,
  outputBytes: 4096,
  sliceBytes: 20_000,
  regionBytes: 8192,
};

/** @returns the kinds of the tasks that the job did, how many parts of inputs were decoded, and the output. */
async function shuffleIn(recordMemoryBytes: number, options: Partial<ShuffleOptions>, tuning: Tuning = {}) {
  let kinds: readonly string[] = [];
  let decodedCount = 0;
  const onProfile = ({ tasks, decoders }: JobProfile) => {
    kinds = tasks.map(({ kind }) => kind);
    decodedCount = Object.values(decoders).reduce((sum, count) => sum + count, 0);
  };
  const output = directory.path('out');
  await shuffle(
    { inputs: [], output, seed: 's', force: true, memoryBytes: 64 * 2 ** 20, onProfile, ...options },
    { ...SIZES, ...tuning, recordMemoryBytes },
  );
  return { kinds, decodedCount, bytes: readFileSync(output) };
}

function written(encoding: 'plain' | 'gzip' | 'bgzf'): string[] {
  return INPUTS.map((bytes, i) => {
    writeFileSync(directory.path(`in-${i}`), encode(bytes, encoding));
    return directory.path(`in-${i}`);
  });
}

/** From too little for anything to more than enough. */
const MEMORIES = Array.from({ length: atScale(8, 60) }, (_, i) => Math.round(240_000 + (i * 690_000) / atScale(8, 60)));

describe('the memory for records', () => {
  it.each(sampled(['gzip', 'plain', 'bgzf'] as const, 3))(
    'may fill up at any record of %s inputs',
    async (encoding) => {
      const inputs = written(encoding);
      const expected = Buffer.concat(referenceOrder(INPUTS, 's'));
      const outcomes = new Set<string>();
      for (const memoryBytes of MEMORIES) {
        const { kinds, decodedCount, bytes } = await shuffleIn(memoryBytes, { inputs });
        expect(bytes.equals(expected), `${memoryBytes} bytes`).toBe(true);
        if (encoding === 'gzip') expect(decodedCount).toBe(3);
        outcomes.add(
          kinds.includes('scatter-held') ? 'some slices were held' : kinds.includes('hold') ? 'one way' : 'no hold',
        );
      }
      expect(outcomes).toEqual(new Set(['one way', 'some slices were held']));
    },
  );

  it('may fill up on several threads', async () => {
    const inputs = written('plain');
    const expected = Buffer.concat(referenceOrder(INPUTS, 's'));
    for (const memoryBytes of atScale([450_000], [400_000, 450_000, 500_000, 600_000, 700_000, 1_000_000])) {
      const { bytes } = await shuffleIn(memoryBytes, { inputs, workers: 2 }, { inline: false });
      expect(bytes.equals(expected), `${memoryBytes} bytes`).toBe(true);
    }
  });

  it('may fill up in the middle of a stream', async () => {
    const pipe = directory.path('pipe');
    execFileSync('mkfifo', [pipe]);
    const header = Buffer.from('header\n');
    const records = INPUTS.slice(0, 2).map((bytes) => recordsOf(bytes, 0x0a));
    const expected = Buffer.concat([header, ...orderRecords(records, 's', [header.byteLength, header.byteLength])]);
    const [path = '', other = ''] = INPUTS.slice(0, 2).map((bytes, i) => {
      writeFileSync(directory.path(`in-${i}`), Buffer.concat([header, bytes]));
      return directory.path(`in-${i}`);
    });
    const outcomes = new Set<boolean>();
    for (const memoryBytes of sampled([250_000, 320_000, 500_000, 900_000], 2)) {
      const writer = spawn('sh', ['-c', `cat "${path}" > "${pipe}"`]);
      const { kinds, bytes } = await shuffleIn(memoryBytes, { inputs: [pipe, other], header: { lines: 1 } });
      expect(bytes.equals(expected), `${memoryBytes} bytes`).toBe(true);
      expect(writer.exitCode ?? 0).toBe(0);
      outcomes.add(kinds.includes('scatter-held'));
    }
    expect(outcomes).toEqual(new Set([false, true]));
  });
});

it('may have no room for the tables of pass 2, because records are shorter than expected', async () => {
  const lines = [...Array.from({ length: 200 }, (_, i) => `${String(i).padEnd(899, '.')}\n`), '\n'.repeat(10_000)];
  const input = Buffer.from(lines.join(''));
  writeFileSync(directory.path('in'), input);
  const sizes: Tuning = { pileCount: 1, sliceBytes: 40_000 };
  const { kinds, bytes } = await shuffleIn(725_000, { inputs: [directory.path('in')] }, sizes);
  expect(bytes.equals(Buffer.concat(referenceOrder([input], 's')))).toBe(true);
  const countOf = (wanted: string) => kinds.filter((kind) => kind === wanted).length;
  // No slice found the memory full.
  expect([countOf('hold'), countOf('scatter-held')]).toEqual([5, 5]);
});

const MIB = 2 ** 20;

function linesOf(count: number, byteLength: number): Buffer {
  return Buffer.from(Array.from({ length: count }, (_, i) => `${String(i).padEnd(byteLength - 1, '.')}\n`).join(''));
}

function longLine(byteLength: number): Buffer {
  return Buffer.from(`${'x'.repeat(byteLength - 1)}\n`);
}

/** A zstd frame with a window of 9 MiB that does not say how long it is, of one block. */
function zstdWithWindow(content: Buffer): Buffer {
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 13 * 8 + 1]);
  return Buffer.concat([header, Uint8Array.from(blockHeader(content.byteLength, 0, true)), content]);
}

describe('a record for which the memory beside held records has no room', () => {
  const sizes: Tuning = { readBytes: 65_536, sliceBytes: MIB, regionBytes: 65_536 };
  const memoryBytes = 8 * MIB;

  async function expectReadAgain(input: Buffer, recordMemoryBytes: number): Promise<void> {
    const openFiles = () => readdirSync('/proc/self/fd').length;
    const before = openFiles();
    writeFileSync(directory.path('in'), input);
    const { kinds, bytes } = await shuffleIn(recordMemoryBytes, { inputs: [directory.path('in')], memoryBytes }, sizes);
    expect(bytes.equals(Buffer.concat(referenceOrder([input], 's')))).toBe(true);
    // As in a job whose records never stay.
    expect(kinds).toContain('scatter');
    expect(openFiles()).toBe(before);
  }

  it('is read again when nothing is held any more', () =>
    expectReadAgain(Buffer.concat([linesOf(300, 10_000), longLine(4.4 * MIB)]), 3.5 * MIB));

  it('is read again if it was held itself, and others have filled the memory', () =>
    expectReadAgain(Buffer.concat([linesOf(20, 10_000), longLine(3.6 * MIB), linesOf(50, 10_000)]), 4 * MIB));

  it('ends the job if it came from a stream', async () => {
    const pipe = directory.path('pipe');
    execFileSync('mkfifo', [pipe]);
    writeFileSync(directory.path('in'), Buffer.concat([linesOf(300, 10_000), longLine(4.4 * MIB)]));
    const writer = spawn('sh', ['-c', `cat "${directory.path('in')}" > "${pipe}"`]);
    const refusal = { code: 'ERR_RECORD_TOO_LONG' };
    await expect(shuffleIn(3.5 * MIB, { inputs: [pipe], memoryBytes }, sizes)).rejects.toMatchObject(refusal);
    writer.kill();
  });

  it('may be the window of a decoder', async () => {
    const contents = [linesOf(700, 10_000), linesOf(1000, 100)];
    const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = contents;
    writeFileSync(directory.path('in-0'), encode(first, 'zstd'));
    writeFileSync(directory.path('in-1'), zstdWithWindow(second));
    const inputs = [directory.path('in-0'), directory.path('in-1')];
    const { kinds, bytes } = await shuffleIn(11.9 * MIB, { inputs, memoryBytes: 16 * MIB }, sizes);
    expect(bytes.equals(Buffer.concat(referenceOrder(contents, 's')))).toBe(true);
    expect(kinds).toContain('scatter');
  });
});
