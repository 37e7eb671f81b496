/**
 * Verifying that files have the records of others: every small change is found and named, everything that a shuffle may do
 * is none, in each format, compressed or not, from streams, with tiny buffers, and against sets that were made to have
 * equal checksums.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shuffle, type VerifyOptions, type VerifyReport, verifyPermutation } from '#src/index.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { useFedPipes } from '../fixtures/fed-pipes.js';
import { atScale, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { TINY_BUFFERS } from '../fixtures/tiny-buffers.js';
import { FORMAT_SAMPLES } from '../laws/format-samples.js';

const directory = useMemoryDirectory();
const pipeOf = useFedPipes(directory);
type Files = Readonly<Record<string, string | Uint8Array>>;

/** Compares files with these contents. */
function compare(
  inputs: Files,
  outputs: Files,
  options: Partial<VerifyOptions> = {},
  tuning: Partial<Tuning> = {},
): Promise<VerifyReport> {
  return verifyPermutation({ ...options, inputs: written('in', inputs), outputs: written('out', outputs) }, tuning);
}

function written(side: string, files: Files): string[] {
  mkdirSync(directory.path(side), { recursive: true });
  return Object.entries(files).map(([name, content]) => {
    writeFileSync(directory.path(side, name), content);
    return directory.path(side, name);
  });
}

const lines = (first: number, end: number, step = 1) =>
  Array.from({ length: Math.ceil((end - first) / step) }, (_, i) => `{"id": ${first + i * step}}\n`);
const LINES = lines(0, 900);
const INPUTS = { 'a.jsonl': LINES.slice(0, 500).join(''), 'b.jsonl': LINES.slice(500).join('') };
/** In another order, in three files. */
const MIXED = LINES.toSorted((a, b) => (a < b ? 1 : -1));
const outputsOf = (records: readonly string[]): Files => ({
  '0.jsonl': records.slice(0, 100).join(''),
  '1.jsonl': '',
  '2.jsonl': records.slice(100).join(''),
});

describe('the records of the inputs', () => {
  it('are found in any order and any files', async () => {
    const report = await compare(INPUTS, outputsOf(MIXED));
    const side = { records: 900, bytes: LINES.join('').length, checksum: expect.stringMatching(/^[0-9a-f]{16}$/) };
    expect(report).toEqual({
      isPermutation: true,
      inputs: { files: 2, ...side },
      outputs: { files: 3, ...side },
      headerDifference: undefined,
      differences: undefined,
      seconds: expect.any(Number),
    });
    expect(report.inputs.checksum).toBe(report.outputs.checksum);
  });

  it('have the checksum that a shuffle reports', async () => {
    const inputs = written('in', INPUTS);
    const output = directory.path('shuffled');
    const { checksum, records, bytes } = await shuffle({ inputs, output, seed: '1', tempDirs: [directory.temp] });
    const report = await verifyPermutation({ inputs, outputs: [output] });
    expect(report).toMatchObject({ isPermutation: true, outputs: { checksum, records, bytes } });
  });

  it.each<[string, Files, Files, Partial<VerifyOptions>]>([
    ['nothing at all', { a: '' }, { b: '', c: '' }, {}],
    ['a last line without a newline', { a: '1\n2' }, { b: '2\n1\n' }, {}],
    ['the newline of the last line moved', { a: '1\n2' }, { b: '2\n1' }, {}],
    ['records of the bytes 00 and FF', { a: '\0\n\xff\n' }, { b: '\xff\n\0' }, {}],
    ['CRLF', { a: 'x\r\ny\r\n' }, { b: 'y\r\nx\r\n' }, {}],
    ['many equal records', { a: 'x\n'.repeat(3000) }, { b: 'x\n'.repeat(1000), c: 'x\n'.repeat(2000) }, {}],
    ['gzip beside plain', { 'a.gz': gzipSync('1\n2\n'), b: '3\n' }, { 'c.gz': gzipSync('3\n'), d: '2\n1\n' }, {}],
    ['a long record', { a: `${'long '.repeat(90_000)}\nx\n` }, { b: `x\n${'long '.repeat(90_000)}\n` }, {}],
    ['CSV with a header in each file', { a: 'h\n"1\n"\n2\n' }, { b: 'h\n2\n', c: 'h\n"1\n"\n' }, CSV()],
    ['paragraphs', { a: 'a\nb\n\nc' }, { b: 'c\n\na\nb\n\n' }, { records: { by: 'paragraphs' } }],
    ['NUL-terminated records', { a: 'a\nb\0c\0' }, { b: 'c\0a\nb\0' }, { zeroTerminated: true }],
    ['records of a size', { a: '123456' }, { b: '561234' }, { records: { by: 'size', recordBytes: 2 } }],
  ])('may be %s', async (_, inputs, outputs, options) => {
    expect(await compare(inputs, outputs, options)).toMatchObject({ isPermutation: true, differences: undefined });
  });
});

function CSV(): Partial<VerifyOptions> {
  return { records: { by: 'csv' }, header: { lines: 1 } };
}

describe('a difference', () => {
  const [lost = '', changed = '', ...rest] = MIXED;
  const placeIn = (name: string, text: string, record: string) => ({
    path: directory.path('in', name),
    position: text.indexOf(record),
  });
  const fileOf = (record: string) => (INPUTS['a.jsonl'].includes(record) ? 'a.jsonl' : 'b.jsonl');

  const SLICED = { inline: false, sliceBytes: 4000, readBytes: 300 };

  it.each([SLICED, TINY_BUFFERS])('is a record that is lost, with %j', async (tuning) => {
    const { isPermutation, differences } = await compare(INPUTS, outputsOf([changed, ...rest]), {}, tuning);
    const place = placeIn(fileOf(lost), INPUTS[fileOf(lost)], lost);
    const missing = { inInputs: 1, inOutputs: 0, places: [place], byteLength: lost.length, excerpt: lost };
    expect(isPermutation).toBe(false);
    expect(differences).toEqual({
      missing: { records: 1, first: [missing] },
      extra: { records: 0, first: [] },
      isComplete: true,
    });
  });

  it('is a record that comes twice, with its places', async () => {
    const { differences } = await compare(INPUTS, { one: [...MIXED, lost].join('') }, {}, SLICED);
    const position = [...MIXED].join('').length;
    const extra = {
      inInputs: 1,
      inOutputs: 2,
      places: [
        { path: directory.path('out', 'one'), position: 0 },
        { path: directory.path('out', 'one'), position },
      ],
    };
    expect(differences).toMatchObject({ missing: { records: 0 }, extra: { records: 1, first: [extra] } });
  });

  it('is one byte of any record', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 899 }), fc.nat(), fc.integer({ min: 1, max: 255 }), async (index, at, flip) => {
        const record = Buffer.from(MIXED[index] ?? '');
        const place = at % (record.byteLength - 1);
        record[place] = (record[place] ?? 0) ^ flip;
        const others = MIXED.toSpliced(index, 1).join('');
        const { differences, isPermutation } = await compare(INPUTS, {
          one: Buffer.concat([Buffer.from(others), record]),
        });
        expect(isPermutation).toBe(false);
        // A new newline makes two records of one.
        const isCut = record.subarray(0, -1).includes(0x0a);
        expect(differences).toMatchObject({
          missing: { records: 1, first: [{ excerpt: MIXED[index] }] },
          extra: { records: isCut ? 2 : 1 },
        });
      }),
      { numRuns: atScale(4, 20, 40) },
    );
  });

  it.each<[string, Files, Files, Partial<VerifyOptions>, number, number]>([
    ['a carriage return', { a: 'x\r\ny\n' }, { b: 'x\ny\n' }, {}, 1, 1],
    ['an empty record', { a: 'x\n' }, { b: 'x\n\n' }, {}, 0, 1],
    ['where a record ends', { a: 'ab\nc\n' }, { b: 'a\nbc\n' }, {}, 2, 2],
    ['a zero at the end of a record', { a: 'x\0\n' }, { b: 'x\0\0\n' }, {}, 1, 1],
    ['everything', { a: '1\n2\n' }, { b: '3\n' }, {}, 2, 1],
    ['all records', { a: '1\n2\n' }, { b: '' }, {}, 2, 0],
    ['one of many equal records', { a: 'x\n'.repeat(3000) }, { b: 'x\n'.repeat(2999) }, {}, 1, 0],
    ['a header among the records', { a: 'h\n1\n' }, { b: 'h\n1\nh\n' }, CSV(), 0, 1],
    ['bytes of two records of a size', { a: '1234' }, { b: '1243' }, { records: { by: 'size', recordBytes: 2 } }, 1, 1],
  ])('is %s', async (_, inputs, outputs, options, missing, extra) => {
    const { isPermutation, differences } = await compare(inputs, outputs, options);
    expect(isPermutation).toBe(false);
    expect([differences?.missing.records, differences?.extra.records]).toEqual([missing, extra]);
  });

  it('depends on how inputs are decoded', async () => {
    const files = [{ a: gzipSync('1\n2\n') }, { b: gzipSync('2\n1\n') }] as const;
    expect(await compare(...files)).toMatchObject({ isPermutation: true });
    expect(await compare(...files, { records: { by: 'lines' }, decompressProgram: 'none' })).toMatchObject({
      isPermutation: false,
    });
  });

  it('is estimated from a part of the records where all would need too much memory', async () => {
    const some = lines(0, 30_000);
    const others = lines(100_000, 130_000);
    const memoryBytes = 1024 * 6_000;
    const { differences } = await compare({ a: some.join('') }, { b: others.join('') }, { memoryBytes });
    expect(differences?.isComplete).toBe(false);
    for (const side of [differences?.missing, differences?.extra]) {
      // Of 3,000 records each: six standard deviations.
      expect(Math.abs((side?.records ?? 0) - 30_000)).toBeLessThan(3_600);
      expect(side?.first).toHaveLength(10);
    }
  });

  it('of streams has no places', async () => {
    const inputs = written('in', INPUTS);
    const [output = ''] = written('out', { one: MIXED.slice(1).join('') });
    const report = await verifyPermutation({ inputs, outputs: [pipeOf(output)] });
    expect(report).toMatchObject({ isPermutation: false, differences: undefined, outputs: { records: 899 } });
  });
});

describe('sets that were made to look equal', () => {
  const kernel = new Kernel();
  kernel.ensureArena(64 * 1024);
  const publishedHash = (text: string) => {
    kernel.bytes.fill(0, ARENA_START, ARENA_START + 64);
    kernel.bytes.set(Buffer.from(text, 'latin1'), ARENA_START);
    return BigInt.asUintN(64, kernel.wasm.recordHash(ARENA_START, text.length));
  };

  /**
   * The published hash of a block w0 w1 w2 w3 has the keys k0 and k2 of the words w0 and w2. Where w0 = k0, the product is 0
   * whatever w2 is, so w2 counts in sum 0 alone, beside 2^32 w3: what w2 gains there, a second block whose w0 is its own key
   * may lose.
   */
  function collidingRecords(): readonly [string, string] {
    const words = (block: number, w1: number, w2: number, w3: number) => {
      const [key0, step0] = [0xbe4ba423396cfeb8n, 0x9e3779b97f4a7c15n];
      const w0 = Number(BigInt.asUintN(32, key0 + BigInt(block) * step0));
      return Buffer.from(Uint32Array.of(w0, w1, w2, w3).buffer).toString('latin1');
    };
    // x3 must not change, and w2 is not part of x3: only sum 0 sees w2.
    const record = (a: number, b: number) => `${words(0, 7, a, 9)}${words(1, 7, b, 9)}\n`;
    return [record(0x41414141, 0x42424242), record(0x41414142, 0x42424241)];
  }

  it('have equal published checksums, and are told apart', async () => {
    const [one, other] = collidingRecords();
    expect(one).not.toBe(other);
    expect(publishedHash(one)).toBe(publishedHash(other));
    const { isPermutation, inputs, outputs, differences } = await compare(
      { a: Buffer.from(`${one}x\n`, 'latin1') },
      { b: Buffer.from(`x\n${other}`, 'latin1') },
    );
    expect(inputs).toEqual(outputs);
    expect(isPermutation).toBe(false);
    expect(differences).toMatchObject({ missing: { records: 1 }, extra: { records: 1 } });
  });
});

describe('every format', () => {
  // What blank lines begin an input of paragraphs belongs to its first record, and in an output to the record before that.
  it.each(sampled(FORMAT_SAMPLES, 4).filter(({ name }) => name !== 'paragraphs'))(
    '$name: a shuffle is verified, and a lost file is found',
    async ({ bodies, around }) => {
      const framed = bodies.map((body) => Buffer.concat([around.header(body.byteLength), body, around.trailer]));
      const inputs = written('in', Object.fromEntries(framed.map((bytes, i) => [`${i}`, bytes])));
      const output = directory.path('shards');
      const { options } = around;
      await shuffle({
        inputs,
        output,
        ...options,
        seed: '7',
        shards: { by: 'count', shardCount: 2 },
        tempDirs: [directory.temp],
      });
      const report = await verifyPermutation({ inputs, outputs: [output], ...options });
      expect(report).toMatchObject({ isPermutation: true, headerDifference: undefined });
      const less = await verifyPermutation({ inputs: inputs.slice(1), outputs: [output], ...options });
      expect(less.isPermutation).toBe(false);
      expect(less.differences?.extra.records).toBe(report.inputs.records - less.inputs.records);
    },
  );
});

describe('a call', () => {
  it('can be stopped', async () => {
    const signal = AbortSignal.abort('enough');
    await expect(compare(INPUTS, INPUTS, { signal })).rejects.toMatchObject({ code: 'ABORT_ERR', cause: 'enough' });
  });
});
