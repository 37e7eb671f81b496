/**
 * Estimates: exact for plain files, nearly right for compressed ones, the same for the same seed, and a guess for
 * streams.
 */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openZstdEncoder } from '#src/formats/codecs/zstd-writer.js';
import { LINES } from '#src/formats/framing-table.js';
import { estimateInputs } from '#src/job/estimate.js';
import type { Input } from '#src/sources/input.js';
import { listInputs } from '#src/sources/list-inputs.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { bgzfOf } from '../formats/codecs/bgzf-file.js';
import { zstdWithoutSizesOf } from '../formats/codecs/zstd-file.js';

describe('estimateInputs', () => {
  const directory = useTestDirectory();

  /** Input files with these contents. */
  async function inputsOf(...contents: (string | Buffer)[]): Promise<readonly Input[]> {
    const paths = contents.map((content, i) => {
      const path = directory.path(`in-${i}`);
      writeFileSync(path, content);
      return path;
    });
    return [...(await listInputs(paths, () => {})).inputs];
  }

  const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i * 7919} of the corpus\n`).join('');

  it('knows the size of plain files exactly, and samples the length of their records', async () => {
    const text = lines(50_000);
    const inputs = await inputsOf(text, '', text);
    const estimate = estimateInputs(inputs, LINES, 'draw');
    expect(estimate).toMatchObject({
      recordBytes: 2 * text.length,
      exact: true,
      decodedBytes: [text.length, 0, text.length],
    });
    const mean = text.length / 50_000;
    expect(estimate.meanRecordBytes).toBeGreaterThan(mean * 0.95);
    expect(estimate.meanRecordBytes).toBeLessThan(mean * 1.05);
  });

  describe('of files that compress to different parts', () => {
    const dense = lines(40_000);
    const sparse = `${'x'.repeat(999)}\n`.repeat(3000);
    const random = Buffer.alloc(500_000, 0);
    for (let i = 0, state = 1; i < random.byteLength; i++) {
      state = (state * 1103515245 + 12345) % 2 ** 31;
      random[i] = state >>> 16;
    }
    const mixed = [dense, sparse, random];

    async function expectNear(files: readonly Buffer[], decodedBytes: number, factor: number): Promise<void> {
      const { recordBytes, leastBytes, mostBytes } = estimateInputs(await inputsOf(...files), LINES, 'draw');
      expect(recordBytes).toBeGreaterThan(decodedBytes / factor);
      expect(recordBytes).toBeLessThan(decodedBytes * factor);
      expect(leastBytes).toBeLessThanOrEqual(decodedBytes);
      expect(mostBytes).toBeGreaterThanOrEqual(decodedBytes);
    }
    const totalOf = (contents: readonly (string | Buffer)[]) =>
      contents.reduce((sum, content) => sum + Buffer.byteLength(content), 0);

    it('takes the length that a gzip file of one member says', async () => {
      const contents = Array.from({ length: 30 }, (_, i) => mixed[i % 3] ?? '');
      await expectNear(
        contents.map((content) => gzipSync(content)),
        totalOf(contents),
        1.001,
      );
    });

    it.each([
      ['many', [...Array.from({ length: 20 }, () => dense), 'the end\n'], 1.1],
      ['a small and a large one', [dense.slice(0, dense.length / 3), dense], 1.35],
    ])('does not take the length of the last member for that of the file: of %s', async (_, contents, factor) => {
      const file = Buffer.concat(contents.map((content) => gzipSync(content)));
      await expectNear([file], totalOf(contents), factor);
    });

    const encode = (byteLength: number) => Buffer.from(openZstdEncoder(3).encode(Buffer.alloc(byteLength, 'x')));
    const large = 16 * 2 ** 20;

    it.each([
      ['one behind a small one', () => Buffer.concat([encode(900), encode(large)]), large + 900, 1.05],
      ['one that does not say it', () => zstdWithoutSizesOf([Buffer.alloc(large, 'x')]), large, 1.1],
    ] as const)(
      'knows the size of a frame of zstd that decodes to thousands of times its size: %s',
      async (_, file, decodedBytes, factor) => {
        await expectNear([file()], decodedBytes, factor);
      },
    );

    it('looks at members of BGZF all over a file whose beginning is not like the rest', async () => {
      const content = Buffer.concat([...Array.from({ length: 3 }, () => random), Buffer.from(sparse)]);
      await expectNear([bgzfOf(content, [60_000])], content.byteLength, 2);
    });
  });

  it('takes the usual expansion for compressed files that cannot be sampled', async () => {
    const corrupt = gzipSync(lines(1000));
    corrupt.fill(0xff, 10);
    const [input] = await inputsOf(corrupt);
    const estimate = estimateInputs(input === undefined ? [] : [input], LINES, 'draw');
    expect(estimate.recordBytes).toBe(4 * corrupt.byteLength);
  });

  it('is the same for the same draw', async () => {
    const inputs = await inputsOf(...Array.from({ length: 30 }, (_, i) => 'x'.repeat(i).concat('\n').repeat(5000)));
    const estimates = ['a', 'a', 'b'].map((draw) => estimateInputs(inputs, LINES, draw).meanRecordBytes);
    expect(estimates[0]).toBe(estimates[1]);
    expect(estimates[0]).not.toBe(estimates[2]);
  });
});
