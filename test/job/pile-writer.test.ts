/**
 * Records that a program writes to a store: the content of the store afterwards, to the byte, for any sizes. A writer
 * that does not commit adds no record.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openPileWriter, type PileWriterOptions } from '#src/index.js';
import { type FileCalls, systemFileCalls } from '#src/io/file-calls.js';
import { openSnapshot } from '#src/store/store-snapshot.js';
import { failWith, useFileCalls } from '../fixtures/replaced-file-calls.js';
import { atScale } from '../fixtures/scale.js';
import { contentOf, expectedContent } from '../fixtures/store-content.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const fileCalls = useFileCalls();
const store = () => directory.path('store');
const pileSetFiles = () => readdirSync(directory.path('store', 'pile-sets')).sort();
const open = (inputId: string, options: Partial<PileWriterOptions> = {}) =>
  openPileWriter(store(), { inputId, seed: '42', piles: 5, ...options });
const refusal = (code: string, message: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });

async function write(inputId: string, records: Iterable<string | Uint8Array>, options?: Partial<PileWriterOptions>) {
  const writer = await open(inputId, options);
  for (const record of records) writer.write(record);
  return await writer.commit();
}

describe('a PileWriter', () => {
  it('makes what was written part of the store, in the order that follows from seed, id and positions', async () => {
    const a = ['one\n', 'two\n', 'three\n'];
    const b = [Buffer.from([0, 255, 10]), Buffer.from('two\n')];
    const commit = await write('a', a, { generation: 'first' });
    expect(commit).toEqual({
      records: 3,
      bytes: 14,
      checksum: expect.stringMatching(/^[0-9a-f]{16}$/),
      generation: 'first',
      state: 2,
    });
    expect(await write('b', b)).toMatchObject({ records: 2, bytes: 7, state: 3 });
    expect(contentOf(store())).toEqual(expectedContent('42', { a, b }));
    expect(openSnapshot(store()).manifest.commits).toMatchObject([
      { generation: 'first', inputIds: ['a'], format: null, records: 3, bytes: 14, longestRecordBytes: 6 },
      { generation: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), inputIds: ['b'], records: 2, bytes: 7 },
    ]);
    // Two pile sets, and nobody at work.
    expect(pileSetFiles()).toHaveLength(4);
  });

  it('takes records of any lengths, in any memory, as text and as bytes', async () => {
    const anyRecord = fc.oneof(
      { weight: 8, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }) },
      { weight: 4, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 300 }) },
      {
        weight: 1,
        arbitrary: fc.record({
          letter: fc.constantFrom('x', 'ß'),
          count: fc.integer({ min: 1, max: atScale(6000, 600_000) }),
        }),
      },
    );
    const anyWriting = fc.record({
      records: fc.array(anyRecord, { maxLength: 20 }),
      copies: fc.integer({ min: 1, max: atScale(8, 80) }),
      piles: fc.integer({ min: 1, max: 40 }),
      memoryBytes: fc.constantFrom(undefined, 8_000_000, 30_000_000),
    });
    const inFull = (record: string | Uint8Array | { letter: string; count: number }) =>
      typeof record === 'object' && 'letter' in record ? record.letter.repeat(record.count) : record;
    await fc.assert(
      fc.asyncProperty(anyWriting, async ({ records, copies, piles, memoryBytes }) => {
        const written = records.map(inFull);
        const short = written.filter((record) => record.length < 100);
        const all = [...written, ...Array.from({ length: copies }, () => short).flat()];
        await write('x', all, { piles, memoryBytes });
        expect(contentOf(store())).toEqual(expectedContent('42', { x: all }));
        rmSync(store(), { recursive: true });
      }),
      { numRuns: atScale(1, 10, 20) },
    );
  });

  it('leaves nothing when it is aborted, and what it would have replaced', async () => {
    await write('a', ['x']);
    const before = pileSetFiles();
    const writer = await open('a', { replace: true });
    for (let i = 0; i < 100_000; i++) writer.write(`record ${i}\n`);
    writer.abort();
    writer.abort();
    expect(pileSetFiles()).toEqual(before);
    expect(contentOf(store())).toEqual(expectedContent('42', { a: ['x'] }));
    expect(() => writer.write('x')).toThrow(/the writer of the input "a" has ended; open another one/);
    await expect(writer.commit()).rejects.toThrow(/has ended/);
  });

  it('replaces the former records of the input when asked to', async () => {
    await write('a', ['x']);
    await expect(write('a', ['y'])).rejects.toEqual(refusal('ERR_INPUT_ID_TAKEN', /give `replace` to replace it/));
    await write('a', ['y', 'z'], { replace: true });
    expect(contentOf(store())).toEqual(expectedContent('42', { a: ['y', 'z'] }));
    expect(openSnapshot(store()).manifest.removed).toEqual([
      { time: expect.any(Number), pileSets: [expect.any(String)] },
    ]);
  });

  it('is a stream that commits at its end', async () => {
    const records = Array.from({ length: 5000 }, (_, i) => (i % 2 === 0 ? `${i}\n` : Buffer.from(`${i}\n`)));
    await pipeline(Readable.from(records), (await open('a')).asWritable());
    expect(contentOf(store())).toEqual(expectedContent('42', { a: records }));
  });

  it('is a stream that leaves nothing when its source fails', async () => {
    const writer = await open('a');
    function* failing() {
      yield 'x';
      throw new Error('no more');
    }
    await expect(pipeline(Readable.from(failing()), writer.asWritable())).rejects.toThrow('no more');
    expect(pileSetFiles()).toEqual([]);
    expect(contentOf(store())).toEqual([]);
  });

  it('has ended and left nothing when the disk is full', async () => {
    const writer = await open('a', { memoryBytes: 1_000_000 });
    const write: FileCalls['write'] = failWith('ENOSPC');
    fileCalls.replace({ write });
    const fill = () => {
      for (let i = 0; i < 1_000_000; i++) writer.write(`record ${i}\n`);
    };
    expect(fill).toThrow(
      expect.objectContaining({
        code: 'ERR_NO_SPACE',
        message: expect.stringMatching(
          /cannot write at byte 0 of \/.*set-000000-[0-9a-f]{16}\.0\.pile: no space left on the device; free some space$/,
        ),
      }),
    );
    fileCalls.replace(systemFileCalls);
    expect(pileSetFiles()).toEqual([]);
    expect(() => writer.write('x')).toThrow(/has ended/);
  });

  it.each([
    [{ inputId: '' }, /^the input id "" is not valid; expected 1 to 4096 characters of well-formed Unicode$/],
    [{ inputId: 'a\ud800' }, /^the input id "a\\ud800" is not valid/],
    [{ generation: 'a\nb' }, /^the generation "a\\nb" has no name of 1 to 200 printable characters/],
    [{ piles: 65537 }, /^`piles` is 65537; expected a whole number from 1 to 65536$/],
    [{ piles: undefined, expectedBytes: 0 }, /^`expectedBytes` is 0; expected a whole number from 1/],
    [
      { memoryBytes: 1000 },
      /^a memory budget of 1000 bytes is too small for 5 piles: expected at least \d+; give more with `memoryBytes`$/,
    ],
    [{ seed: '43' }, /has the seed "42", expected "43"/],
    [{ piles: 6 }, /has a number of piles of 5, expected 6/],
  ])('refuses %o, and changes nothing', async (options, message) => {
    await write('other', ['x']);
    const before = [contentOf(store()), pileSetFiles()];
    await expect(open('a', options)).rejects.toEqual(
      expect.objectContaining({ kind: 'usage', message: expect.stringMatching(message) }),
    );
    expect([contentOf(store()), pileSetFiles()]).toEqual(before);
  });

  it('refuses records without bytes, and those that it has no memory for', async () => {
    const a = await open('a');
    expect(() => a.write('')).toThrow(/cannot write a record of no bytes; expected one or more/);
    const b = await open('b', { memoryBytes: 1_000_000 });
    expect(() => b.write(new Uint8Array(2_000_000))).toThrow(
      /cannot write a record of 2000000 bytes: it is too long for the memory of the writer; give more with `memoryBytes`$/,
    );
    expect(pileSetFiles()).toEqual([]);
  });

  it.each([
    [new ArrayBuffer(4), 'of the class ArrayBuffer'],
    [new Uint16Array(2), 'of the class Uint16Array'],
    [{ byteLength: 4 }, 'of the class Object'],
    [[1, 2], 'of the class Array'],
    [7, 'of the type number'],
    [null, 'of the type null'],
  ])('refuses %o, which is not a record', async (value, what) => {
    const writer = await open('a');
    // What a program without types may do.
    expect(() => writer.write(value as never)).toThrow(
      `cannot write a record ${what}; expected a Uint8Array or a string`,
    );
    expect(pileSetFiles()).toEqual([]);
  });

  it('gives a new store as many piles as are asked for, or as its bytes take', async () => {
    mkdirSync(store());
    (await open('a', { piles: undefined, expectedBytes: 2 ** 30 })).abort();
    expect(openSnapshot(store()).settings.pileCount).toBe(16);
  });
});
