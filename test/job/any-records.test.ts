/**
 * The law of record indexes, for every framing: `get` returns the records that a plain reader finds, for every way to
 * cut and compress the file, on one thread and on several, with and without a header.
 */
import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexFile, openIndexed } from '#src/index.js';
import { atScale } from '../fixtures/scale.js';
import { anyHeader } from '../formats/any-headers.js';
import { framedInputs } from '../formats/any-records.js';
import { bgzfOf } from '../formats/codecs/bgzf-file.js';
import { zstdOf } from '../formats/codecs/zstd-file.js';
import { splitPlainly } from '../formats/plain-framings.js';
import { useFastDirectory } from '../laws/fast-directory.js';
import { recordKindOf } from '../laws/record-kind-of.js';

const ENCODINGS = {
  plain: (bytes: Buffer) => bytes,
  bgzf: bgzfOf,
  zstd: zstdOf,
} as const;

const memberSizes = fc
  .array(fc.integer({ min: 0, max: 120 }), { minLength: 1, maxLength: 4 })
  .filter((sizes) => sizes.some((size) => size > 0));

describe.each(Object.entries(framedInputs))('an index of %s', (kind, framed) => {
  const directory = useFastDirectory();
  const file = () => directory.path(kind);

  it('gives each record as a plain reader finds it', async () => {
    const anyJob = fc.record({
      framed,
      withHeader: fc.boolean(),
      encoding: fc.constantFrom('plain', 'plain', 'bgzf', 'zstd'),
      memberSizes,
      sliceBytes: fc.integer({ min: 1, max: 200 }),
      readBytes: fc.constantFrom(64, 200, 2 ** 16),
      localExecutor: fc.integer({ min: 1, max: 30 }).map((number) => number === 1),
    });
    const anyJobWithHeader = anyJob.chain((job) => anyHeader(job.framed.spec).map((header) => ({ ...job, header })));
    await fc.assert(
      fc.asyncProperty(anyJobWithHeader, async (job) => {
        const { spec, input } = job.framed;
        const { options, header } = job.header;
        const head = job.withHeader ? header(input.byteLength) : Buffer.alloc(0);
        const stored = ENCODINGS[job.encoding](Buffer.concat([head, input]), job.memberSizes);
        writeFileSync(file(), stored);
        const { sliceBytes, readBytes, localExecutor } = job;
        const report = await indexFile(
          file(),
          { records: recordKindOf(spec), ...(job.withHeader ? options : {}), workers: 2 },
          { sliceBytes, readBytes, inline: !localExecutor },
        );
        const expected = splitPlainly(spec, input).map((record) => record.toString('latin1'));
        expect(report.records).toBe(expected.length);
        const records = openIndexed(file());
        try {
          expect(records.length).toBe(expected.length);
          const found = await Promise.all(expected.map((_, i) => records.get(i)));
          expect(found.map((bytes) => Buffer.from(bytes).toString('latin1'))).toEqual(expected);
        } finally {
          await records.close();
        }
      }),
      { numRuns: atScale(6, 15, 60) },
    );
  });
});
