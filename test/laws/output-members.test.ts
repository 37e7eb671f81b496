/**
 * A compressed output has many members, so that its readers can work in parallel. zstd frames state their size and have
 * a checksum; no member has more decoded bytes than the output buffer.
 */
import { readFileSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { listZstdFrames } from '#src/formats/codecs/zstd-frames.js';
import { type FramingSpec, framingOf, LINES } from '#src/formats/framing-table.js';
import { findCuts } from '#src/sources/cut-points.js';
import { listInputs } from '#src/sources/list-inputs.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { makeLargeInputs } from './any-inputs.js';
import { referenceOrder } from './reference-order.js';
import { shuffleToFile, shuffleToShards } from './shuffle-under-test.js';

const directory = useMemoryDirectory();
const inputs = makeLargeInputs({ lines: 6000, longest: 40, factor: 7 });
const totalBytes = Buffer.concat(inputs).byteLength;
/** Of one of the four buffers of a thread, which lie in whole blocks of 4 KiB one behind the other. */
const OUTPUT_BYTES = 4000;
const ROOM_BYTES = 4 * 4096;

const jobOf = (codec: 'gzip' | 'zstd', workers: number) => ({
  inputs,
  seed: 'members',
  compress: { codec },
  settings: {
    workers,
    memoryBytes: 2 ** 25,
    tempDirCount: 1,
    encodings: ['plain' as const],
    tuning: { pileCount: 2, outputBytes: OUTPUT_BYTES, inline: workers === 1 },
  },
});

/** What each member of a gzip file holds. */
function gzipContents(stored: Buffer): Buffer[] {
  const contents: Buffer[] = [];
  for (let at = 0; at < stored.byteLength; ) {
    // Magic bytes, deflate, and no field behind the ten bytes of the header.
    expect(stored.toString('hex', at, at + 4)).toBe('1f8b0800');
    const inflated: unknown = inflateRawSync(stored.subarray(at + 10), { info: true });
    const { buffer, engine } = inflated as { readonly buffer: Buffer; readonly engine: { bytesWritten: number } };
    at += 10 + engine.bytesWritten + 8;
    expect(stored.readUInt32LE(at - 4)).toBe(buffer.byteLength);
    contents.push(buffer);
  }
  return contents;
}

function expectManySmall(contentBytes: readonly number[]): void {
  expect(contentBytes.length).toBeGreaterThanOrEqual(totalBytes / ROOM_BYTES);
  expect(Math.max(...contentBytes)).toBeLessThanOrEqual(ROOM_BYTES);
  expect(Math.max(...contentBytes)).toBeGreaterThan(ROOM_BYTES / 2);
  expect(contentBytes.reduce((sum, bytes) => sum + bytes, 0)).toBe(totalBytes);
}

describe.each(sampled([1, 2], 2))('an output of %d workers', (workers) => {
  it('is many gzip members', async () => {
    const { bytes } = await shuffleToFile(directory, jobOf('gzip', workers));
    const contents = gzipContents(bytes);
    expectManySmall(contents.map(({ byteLength }) => byteLength));
    expect(Buffer.concat(contents).equals(Buffer.concat(referenceOrder(inputs, 'members')))).toBe(true);
  });

  it('is many zstd frames with their sizes and checksums, at which it can be cut', async () => {
    await shuffleToFile(directory, jobOf('zstd', workers));
    const bytes = readFileSync(directory.path('out'));
    const frames = framesOf(bytes);
    expectManySmall(frames.map(({ contentBytes }) => contentBytes ?? expect.fail('a frame without its size')));
    for (const { storedOffset } of frames) expect((bytes[storedOffset + 4] ?? 0) & CHECKSUM_FLAG).toBe(CHECKSUM_FLAG);

    const { inputs: next } = await listInputs([directory.path('out')], () => {});
    const [input] = next;
    if (input?.kind !== 'file') return expect.fail('no file');
    for (const spec of [LINES, { kind: 'size', value: 7 }] satisfies FramingSpec[]) {
      const cuts = await findCuts(input, framingOf(spec), totalBytes, 1, undefined);
      expect(cuts?.decodedBytes).toBe(totalBytes);
      expect(cuts?.cutPoints).toHaveLength(frames.length - 1);
    }
  });

  it('is many zstd frames in each shard', async () => {
    const { shards } = await shuffleToShards(directory, jobOf('zstd', workers), { by: 'count', shardCount: 2 });
    const ofShards = shards.map((shard) => framesOf(shard).map(({ contentBytes }) => contentBytes ?? 0));
    for (const contentBytes of ofShards) expect(contentBytes.length).toBeGreaterThan(2);
    expectManySmall(ofShards.flat());
  });
});

/** Of the descriptor, the byte behind the magic bytes of a frame. */
const CHECKSUM_FLAG = 4;

function framesOf(bytes: Buffer) {
  const read = (position: number, byteLength: number) => bytes.subarray(position, position + byteLength);
  return [...listZstdFrames('out', { byteLength: bytes.byteLength, read })];
}
