/**
 * The law of compressed bytes: they follow from the records, the codec and its level alone. An output is a sequence of
 * members, which a short model here cuts and compresses again: whatever memory, threads, piles and buffers made the output,
 * and wherever it went. So readers can work in parallel, and two outputs of the same records are the same files.
 */
import { readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listZstdFrames } from '#src/formats/codecs/zstd-frames.js';
import { compressionOf, openEncoder } from '#src/formats/encoder-table.js';
import { type FramingSpec, framingOf, LINES } from '#src/formats/framing-table.js';
import type { ShardRule } from '#src/index.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { findCuts } from '#src/sources/cut-points.js';
import { listInputs } from '#src/sources/list-inputs.js';
import { runCommand } from '../fixtures/run-command.js';
import { atScale, fromCi } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { decodeWithTool } from '../formats/decode-with-tool.js';
import { type Job, shuffleToFile, shuffleToShards } from './shuffle-under-test.js';

const directory = useMemoryDirectory();
type Codec = 'gzip' | 'zstd';
const LEVEL = 1;
const MEMBER_BYTES = 4000;

/** Ends with the record that reaches the next multiple of M; a longer record than M has members of its own. */
function membersOf(content: Buffer, most: number): Buffer[] {
  const members: Buffer[] = [];
  let begin = 0;
  const endAt = (end: number) => {
    if (end > begin) members.push(content.subarray(begin, end));
    begin = end;
  };
  for (let at = 0; at < content.byteLength; ) {
    const end = content.indexOf('\n', at) + 1 || content.byteLength;
    if (end - at > most) {
      for (let piece = at; piece < end; piece += most) endAt(piece);
      endAt(end);
    } else if (end >= (Math.floor(begin / most) + 1) * most) endAt(end);
    at = end;
  }
  endAt(content.byteLength);
  return members;
}

/** Of a header, if there is one, and records. */
function modelOf(codec: Codec, content: Buffer, most: number, header: Buffer = Buffer.alloc(0)): Buffer {
  const zstd = openEncoder(compressionOf('zstd', LEVEL));
  const encode = (bytes: Buffer) => (codec === 'gzip' ? gzipSync(bytes, { level: LEVEL }) : zstd.encode(bytes).slice());
  const stored = header.byteLength === 0 ? [] : [openEncoder(compressionOf(codec, LEVEL)).store(header)];
  return Buffer.concat([...stored, ...membersOf(content, most).map(encode)]);
}

const decode = (codec: Codec, stored: Buffer) =>
  codec === 'gzip' ? gunzipSync(stored) : decodeWithTool(codec, stored);

function expectModel(codec: Codec, stored: Buffer, most: number, headerBytes = 0): void {
  const decoded = decode(codec, stored);
  const model = modelOf(codec, decoded.subarray(headerBytes), most, decoded.subarray(0, headerBytes));
  expect(Buffer.compare(stored, model)).toBe(0);
}

/** Some 100 KB of lines, a few of them longer than a member or two, some equal. */
const inputs = [0, 1].map((input) =>
  Buffer.from(
    Array.from({ length: 1500 }, (_, i) => {
      const length = i % 501 === 500 ? 3 * MEMBER_BYTES - 7 : i % 400 === 399 ? MEMBER_BYTES : (i * 7919) % 61;
      return `${(input * 1400 + i).toString(36)} ${'x'.repeat(length)}\n`;
    }).join(''),
  ),
);

interface Machine {
  readonly workers: number;
  readonly memoryBytes: number;
  readonly tuning: Tuning;
}

const machine: fc.Arbitrary<Machine> = fc.record({
  workers: fc.integer({ min: 1, max: 3 }),
  memoryBytes: fc.constantFrom(2 ** 24, 2 ** 25, 2 ** 26),
  tuning: fc
    .record({
      pileCount: fc.integer({ min: 1, max: 40 }),
      outputBytes: fc.constantFrom(60, 1000, 5000, 100_000),
      bufferBytes: fc.constantFrom(100, 4096),
      stripeCount: fc.integer({ min: 1, max: 4 }),
      mayUseRamPool: fc.boolean(),
      isTight: fc.boolean(),
    })
    .map(({ isTight, ...tuning }) => ({
      ...tuning,
      memberBytes: MEMBER_BYTES,
      inline: false,
      // Piles are scattered again, so that a task knows only at its end how much it has written.
      ...(isTight && { readBytes: 20_000, outputBytes: 1000, pass2ArenaBytes: 110 * 1024 }),
    })),
});

const jobOf = (codec: Codec, { tuning, ...settings }: Machine, more: Partial<Job> = {}): Job => ({
  inputs,
  seed: 'members',
  compress: { codec, level: LEVEL },
  settings: { ...settings, tempDirCount: 1, encodings: ['plain'], tuning },
  ...more,
});

describe.each(['gzip', 'zstd'] as const)('the members of an output with %s', (codec) => {
  const runs = { numRuns: atScale(3, 8, 40) };
  const ofAny = (expectLaw: (machine: Machine) => Promise<void>) =>
    fc.assert(fc.asyncProperty(machine, expectLaw), runs);

  it('follow from the records', async () => {
    const modelled: Buffer[] = [];
    await ofAny(async (each) => {
      const { bytes } = await shuffleToFile(directory, jobOf(codec, each));
      expectModel(codec, bytes, MEMBER_BYTES);
      modelled.push(bytes);
    });
    expect(new Set(modelled.map((bytes) => bytes.toString('latin1'))).size).toBe(1);
  });

  it('follow from the records that stay, where the shuffle pass drops some', async () => {
    await ofAny(async (each) => {
      const { bytes } = await shuffleToFile(directory, jobOf(codec, each, { unique: true }));
      expectModel(codec, bytes, MEMBER_BYTES);
    });
  });

  it('follow from the records after a header', async () => {
    const header = Buffer.from('the header\n');
    const withHeader = inputs.map((input) => Buffer.concat([header, input]));
    await ofAny(async (each) => {
      const job = jobOf(codec, each, { inputs: withHeader, header: { lines: 1 } });
      expectModel(codec, (await shuffleToFile(directory, job)).bytes, MEMBER_BYTES, header.byteLength);
    });
  });

  const rules: readonly ShardRule[] = [
    { by: 'count', shardCount: 5 },
    { by: 'count', shardCount: 60 },
    { by: 'bytes', maxShardBytes: 60_000 },
  ];
  it.each(rules)('of a shard follow from its records: %j', async (rule) => {
    await ofAny(async (each) => {
      const { shards } = await shuffleToShards(directory, jobOf(codec, each), rule);
      for (const shard of shards) if (decode(codec, shard).byteLength > 0) expectModel(codec, shard, MEMBER_BYTES);
    });
  });

  it('follow from the records that are drawn', async () => {
    await ofAny(async (each) => {
      const machine = { ...each, memoryBytes: 2 ** 26, tuning: { ...each.tuning, mayUseRamPool: true } };
      const job = jobOf(codec, machine, { repeat: true, headCount: 2500 });
      expectModel(codec, (await shuffleToFile(directory, job)).bytes, MEMBER_BYTES);
    });
  });

  it.runIf(fromCi)('have the planned size, in a file and on standard output', async () => {
    const line = (i: number) => `${i.toString(36)} ${'y'.repeat((i * 7919) % 97)}\n`;
    const large = Buffer.from(Array.from({ length: 600_000 }, (_, i) => line(i)).join(''));
    const files = new Set<string>();
    for (const [workers, memoryBytes] of [
      [1, 2 ** 23],
      [2, 2 ** 25],
      [3, 2 ** 28],
    ] as const) {
      const job = jobOf(codec, { workers, memoryBytes, tuning: { inline: false } }, { inputs: [large] });
      const { bytes } = await shuffleToFile(directory, job);
      expectModel(codec, bytes, 4 * 2 ** 20);
      files.add(bytes.toString('latin1'));
      const words = ['-q', '-S', `${memoryBytes}B`, '--seed', 'members', '--compress', `${codec}:${LEVEL}`];
      const { stdout } = await runCommand([...words, '-T', directory.temp, directory.path('in-0')]);
      files.add(stdout.toString('latin1'));
    }
    expect(files.size).toBe(1);
  });
});

const CHECKSUM_FLAG = 4;

describe('an output with zstd', () => {
  it('can be cut at its frames, which state their sizes and have checksums', async () => {
    const tuning = { pileCount: 3, outputBytes: 1000, memberBytes: MEMBER_BYTES, inline: true };
    await shuffleToFile(directory, jobOf('zstd', { workers: 1, memoryBytes: 2 ** 25, tuning }));
    const bytes = readFileSync(directory.path('out'));
    const read = (position: number, byteLength: number) => bytes.subarray(position, position + byteLength);
    const frames = [...listZstdFrames('out', { byteLength: bytes.byteLength, read })];
    // The byte after the magic bytes of a frame describes it.
    for (const { storedOffset } of frames) expect((bytes[storedOffset + 4] ?? 0) & CHECKSUM_FLAG).toBe(CHECKSUM_FLAG);
    const totalBytes = Buffer.concat(inputs).byteLength;
    expect(frames.reduce((sum, { contentBytes = 0 }) => sum + contentBytes, 0)).toBe(totalBytes);

    const { inputs: next } = await listInputs([directory.path('out')], () => {});
    const [input] = next;
    if (input?.kind !== 'file') return expect.fail('no file');
    for (const spec of [LINES, { kind: 'size', value: 7 }] satisfies FramingSpec[]) {
      const cuts = await findCuts(input, framingOf(spec), totalBytes, 1, undefined);
      expect(cuts?.decodedBytes).toBe(totalBytes);
      // A frame may be shorter than a record.
      expect(cuts?.cutPoints.length).toBeGreaterThanOrEqual(frames.length - 2);
    }
  });
});
