/**
 * The laws for every framing: the records of all inputs come out in the order of the seed, byte for byte, for any
 * workers, memory, piles, slices, buffers, temp directories and compression, with and without headers, by positions and by
 * ordinals.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KeyRule } from '#src/floor/keys.js';
import { OUTPUT_CODECS } from '#src/formats/encoder-table.js';
import type { FramingSpec } from '#src/formats/framing-table.js';
import { atScale, sampled } from '../fixtures/scale.js';
import { anyHeader } from '../formats/any-headers.js';
import { framedInputs, inputsOfJob } from '../formats/any-records.js';
import { decodeWithTool } from '../formats/decode-with-tool.js';
import { splitPlainly } from '../formats/plain-framings.js';
import { anySettings, plainSettings } from './any-settings.js';
import type { Encoding } from './encodings.js';
import { useFastDirectory } from './fast-directory.js';
import { recordKindOf } from './record-kind-of.js';
import { orderRecords } from './reference-order.js';
import { type Job, shuffleToFile, shuffleToShards } from './shuffle-under-test.js';

function decoded(codec: 'gzip' | 'zstd' | undefined, stored: Buffer): Buffer {
  return codec === undefined ? stored : decodeWithTool(codec, stored);
}

/** To start threads takes longer than the rest of such a job. */
const rarely = fc.integer({ min: 1, max: 20 }).map((number) => number === 1);
const KEYS: readonly KeyRule[] = ['position', 'ordinal'];
const NO_HEADER = { options: {}, header: () => Buffer.alloc(0) };

describe.each(Object.entries(framedInputs))('%s', (_, framed) => {
  const directory = useFastDirectory();

  it('has the records in their order, behind any header, in one output and in shards, whatever the settings', async () => {
    const job = fc.record({
      inputs: framed.chain((first) =>
        fc.record({
          first: fc.constant(first),
          others: fc.array(framed, { maxLength: 2 }),
          header: fc.option(anyHeader(first.spec), { freq: 2 }),
        }),
      ),
      seed: fc.string(),
      keys: fc.constantFrom(...KEYS),
      settings: anySettings,
      headCount: fc.option(fc.nat({ max: 40 }), { nil: undefined, freq: 3 }),
      shardCount: fc.option(fc.integer({ min: 1, max: 4 })),
      codec: fc.constantFrom(undefined, undefined, ...OUTPUT_CODECS),
      localExecutor: rarely,
    });
    await fc.assert(
      fc.asyncProperty(job, async ({ inputs: { first, others, header: drawn }, shardCount, codec, ...how }) => {
        const { spec } = first;
        const { seed, keys, headCount } = how;
        const trailer = Buffer.alloc(spec.kind === 'webdataset' ? 1024 : 0);
        const { options, header } = drawn ?? NO_HEADER;
        const settings = { ...how.settings, tuning: { ...how.settings.tuning, inline: !how.localExecutor } };
        const same = others.filter((other) => JSON.stringify(other.spec) === JSON.stringify(spec));
        const bodies = inputsOfJob([first, ...same]);
        const inputs = bodies.map((body) => Buffer.concat([header(body.byteLength), body]));
        const asked = { records: recordKindOf(spec), ...options, compress: codec && { codec } };
        const law: Job = { inputs, seed, keys, headCount, settings, ...asked };
        const records = orderRecords(
          bodies.map((body) => splitPlainly(spec, body)),
          seed,
          bodies.map((body) => header(body.byteLength).byteLength),
          undefined,
          keys,
        ).slice(0, headCount);
        const outputOf = (own: readonly Buffer[]) => {
          const body = Buffer.concat(own);
          return Buffer.concat([header(body.byteLength), body, trailer]).toString('latin1');
        };
        if (shardCount === null) {
          const { bytes, report } = await shuffleToFile(directory, law);
          expect(decoded(codec, bytes).toString('latin1')).toBe(outputOf(records));
          expect(report.records).toBe(records.length);
          return;
        }
        const { shards } = await shuffleToShards(directory, law, { by: 'count', shardCount });
        const cut = (i: number) => Math.floor((i * records.length) / shardCount);
        const expected = Array.from({ length: shardCount }, (__, i) => outputOf(records.slice(cut(i), cut(i + 1))));
        expect(shards.map((bytes) => decoded(codec, bytes).toString('latin1'))).toEqual(expected);
      }),
      { numRuns: atScale(2, 5, 160) },
    );
  });
});

describe('a large input', () => {
  const directory = useFastDirectory();
  const CUTTABLE: readonly Encoding[] = ['plain', 'bgzf', 'zstd'];

  interface Large {
    readonly spec: FramingSpec;
    readonly part: string;
    /** With the beginning of the first record it looks like the end of one. */
    readonly header: string;
    readonly first: string;
    /** Bytes that the end of the input lacks. */
    readonly lacks?: number;
    /** Behind the records. */
    readonly tail?: string;
  }

  it.each<Large>([
    { spec: { kind: 'lines', value: 1 }, part: 'xy\n', header: 'h\n', first: '\n' },
    { spec: { kind: 'delimiter', value: '0d0a' }, part: 'x\r\n', header: 'h\r', first: '\n' },
    { spec: { kind: 'delimiter', value: '616263' }, part: 'aababc', header: 'hab', first: 'c' },
    { spec: { kind: 'lines', value: 3 }, part: 'x\n\nyy\n', header: 'h\n\n', first: '\n\n\n' },
    { spec: { kind: 'csv', value: null }, part: 'x\n"\n"\n', header: '"', first: '\n' },
    { spec: { kind: 'lines', value: 1 }, part: 'x\r\n', header: 'h\r', first: '\n', lacks: 2 },
    { spec: { kind: 'delimiter', value: '0a' }, part: 'x\r\n', header: 'h\r', first: '\n', lacks: 2 },
    { spec: { kind: 'lines', value: 2 }, part: '\n\r\n', header: 'h\r', first: '\n\n', lacks: 1 },
    { spec: { kind: 'csv', value: null }, part: '"";\r\n', header: '"', first: '\n', lacks: 2 },
    { spec: { kind: 'begins-with', value: '3e' }, part: '>\nA\r\n', header: 'h\n', first: '>\n', lacks: 2 },
    { spec: { kind: 'begins-with', value: '61626162' }, part: 'abab\nc\n', header: 'h\n', first: 'abab\n', lacks: 1 },
    { spec: { kind: 'fastq', value: null }, part: '@\nA\r\n+\n@\r\n', header: '@\n', first: '@\n\n+\n\n', lacks: 2 },
    {
      spec: { kind: 'fastq', value: null },
      part: '@\n\n+\n\n',
      header: '@\n',
      first: '@\n\n+\n\n',
      tail: '\n\r\n \n'.repeat(9),
    },
    { spec: { kind: 'size', value: 7 }, part: '1234567', header: 'h', first: '' },
  ])(
    'gives the same records wherever it is cut: $spec, $part',
    async ({ spec, part, header, first, lacks = 0, tail = '' }) => {
      for (const headerBytes of [0, header.length]) {
        const whole = Buffer.from((headerBytes === 0 ? '' : first) + part.repeat(9) + tail);
        const body = whole.subarray(0, whole.byteLength - lacks);
        const head = header.slice(0, headerBytes);
        const expected = KEYS.map((keys) => {
          const records = orderRecords([splitPlainly(spec, body)], 's', [headerBytes], undefined, keys);
          return head + Buffer.concat(records).toString('latin1');
        });
        // Of ranges of all lengths some end at each byte of a delimiter.
        for (let i = 0; i < CUTTABLE.length * (2 * part.length + 1); i += atScale(23, 17, 1)) {
          const sliceBytes = 1 + Math.floor(i / CUTTABLE.length);
          const encoding = CUTTABLE[i % CUTTABLE.length] ?? 'plain';
          // The two kinds of keys take turns.
          const keys = KEYS[sliceBytes % 2] ?? 'position';
          const { bytes } = await shuffleToFile(directory, {
            inputs: [Buffer.concat([Buffer.from(head), body])],
            seed: 's',
            keys,
            records: recordKindOf(spec),
            header: headerBytes === 0 ? undefined : { bytes: headerBytes },
            settings: { ...plainSettings({ sliceBytes }), encodings: [encoding] },
          });
          const how = `${keys}, ${encoding}, ${headerBytes} bytes of header, slices of ${sliceBytes}`;
          expect(bytes.toString('latin1'), how).toBe(expected[KEYS.indexOf(keys)]);
        }
      }
    },
  );

  it('may have delimiters of 1,024 bytes', async () => {
    const delimiter = Buffer.concat([Buffer.alloc(1023, 'ab'), Buffer.of(0)]);
    const spec: FramingSpec = { kind: 'delimiter', value: delimiter.toString('hex') };
    const contents = ['', 'abab', 'x'.repeat(2000), 'a', '\0'].map((text) => Buffer.from(text));
    const input = Buffer.concat(contents.flatMap((content) => [content, delimiter]));
    const expected = Buffer.concat(orderRecords([splitPlainly(spec, input)], 's'));
    for (const encoding of CUTTABLE) {
      for (const sliceBytes of sampled([50, 1023, 1024, 1025, 2 ** 30], 4, 1)) {
        const settings = { ...plainSettings({ sliceBytes, readBytes: 100 }), encodings: [encoding] };
        const job = { inputs: [input], seed: 's', records: recordKindOf(spec), settings };
        const { bytes } = await shuffleToFile(directory, job);
        expect(bytes.equals(expected), `${encoding}, slices of ${sliceBytes}`).toBe(true);
      }
    }
  });
});
