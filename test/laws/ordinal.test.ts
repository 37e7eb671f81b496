/**
 * The laws of keys that come from ordinals: the output has the records in the order that docs/ORDER.md defines, for every
 * framing and whatever the settings; and files of equal numbers of records get one order.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FramingSpec } from '#src/formats/framing-table.js';
import { atScale, fromCi } from '../fixtures/scale.js';
import { TINY_BUFFERS } from '../fixtures/tiny-buffers.js';
import { anyHeader } from '../formats/any-headers.js';
import { framedInputs, inputsOfJob } from '../formats/any-records.js';
import { splitPlainly } from '../formats/plain-framings.js';
import { largeInputs, makeLargeInputs } from './any-inputs.js';
import { anySettings, type Settings, tightSettings } from './any-settings.js';
import type { Encoding } from './encodings.js';
import { useFastDirectory } from './fast-directory.js';
import { recordKindOf } from './record-kind-of.js';
import { orderRecords, recordsOf } from './reference-order.js';
import { type Job, shuffleToFile } from './shuffle-under-test.js';

const directory = useFastDirectory();

const byOrdinal = (records: readonly (readonly Buffer[])[], seed: string, inputIds?: readonly string[]) =>
  orderRecords(records, seed, [], inputIds, 'ordinal');

describe.each(Object.entries(framedInputs))('%s', (_, framed) => {
  it('has the order that the ordinals give, behind any header, whatever the settings', async () => {
    const job = fc.record({
      inputs: framed.chain((first) =>
        fc.record({
          first: fc.constant(first),
          others: fc.array(framed, { maxLength: 2 }),
          header: anyHeader(first.spec),
        }),
      ),
      seed: fc.string(),
      settings: anySettings,
      headCount: fc.option(fc.nat({ max: 40 }), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(job, async ({ inputs: { first, others, header }, seed, settings, headCount }) => {
        const { spec } = first;
        const same = others.filter((other) => JSON.stringify(other.spec) === JSON.stringify(spec));
        const bodies = inputsOfJob([first, ...same]);
        const inputs = bodies.map((body) => Buffer.concat([header.header(body.byteLength), body]));
        const law: Job = { inputs, seed, records: recordKindOf(spec), ...header.options, settings, headCount };
        const { bytes } = await shuffleToFile(directory, { ...law, keys: 'ordinal' });
        const records = bodies.map((body) => splitPlainly(spec, body));
        const expected = Buffer.concat(byOrdinal(records, seed).slice(0, headCount));
        const whole = Buffer.concat([header.header(expected.byteLength), expected, header.trailer]);
        expect(bytes.toString('latin1')).toBe(whole.toString('latin1'));
      }),
      { numRuns: atScale(2, 8, 60) },
    );
  });
});

describe('a large input', () => {
  const CUTTABLE: readonly Encoding[] = ['plain', 'bgzf', 'zstd'];

  it.each<{ spec: FramingSpec; part: string; header: string; first: string }>([
    { spec: { kind: 'delimited', value: '0a' }, part: 'xy\n', header: 'h\n', first: '\n' },
    { spec: { kind: 'delimited', value: '0d0a' }, part: 'x\r\n', header: 'h\r', first: '\n' },
    { spec: { kind: 'delimited', value: '616263' }, part: 'aababc', header: 'hab', first: 'c' },
    { spec: { kind: 'lines', value: 3 }, part: 'x\n\nyy\n', header: 'h\n\n', first: '\n\n\n' },
    { spec: { kind: 'csv', value: null }, part: 'x\n"\n"\n', header: '"', first: '\n' },
    { spec: { kind: 'fixed', value: 7 }, part: '1234567', header: 'h', first: '' },
  ])('has the same ordinals wherever it is cut: $spec', async ({ spec, part, header, first }) => {
    for (const headerBytes of [0, header.length]) {
      const numbered = Array.from({ length: 9 }, (_, i) => part.replace(/[x1a]/, String(i))).join('');
      const body = Buffer.from(headerBytes === 0 ? numbered : first + numbered);
      const head = header.slice(0, headerBytes);
      const expected = head + Buffer.concat(byOrdinal([splitPlainly(spec, body)], 's')).toString('latin1');
      for (let i = 0; i < CUTTABLE.length * (2 * part.length + 1); i += atScale(19, 3, 1)) {
        const sliceBytes = 1 + Math.floor(i / CUTTABLE.length);
        const encoding = CUTTABLE[i % CUTTABLE.length] ?? 'plain';
        const tuning = { sliceBytes, inline: true };
        const { bytes } = await shuffleToFile(directory, {
          inputs: [Buffer.concat([Buffer.from(head), body])],
          seed: 's',
          keys: 'ordinal',
          records: recordKindOf(spec),
          header: headerBytes === 0 ? undefined : { bytes: headerBytes },
          settings: { workers: 1, memoryBytes: 2 ** 24, tempDirCount: 1, encodings: [encoding], tuning },
        });
        expect(bytes.toString('latin1'), `${encoding}, slices of ${sliceBytes}`).toBe(expected);
      }
    }
  });

  it.runIf(fromCi)('has the same order on threads, in tight memory, and by the ids of its inputs', async () => {
    const cut = tightSettings.map((settings) => ({ ...settings, tuning: { ...settings.tuning, inline: false } }));
    await fc.assert(
      fc.asyncProperty(largeInputs, fc.string(), cut, fc.boolean(), async (large, seed, settings, hasIds) => {
        const inputs = makeLargeInputs(large);
        const inputIds = hasIds ? ['b', 'a'] : undefined;
        const { bytes } = await shuffleToFile(directory, { inputs, inputIds, seed, settings, keys: 'ordinal' });
        const records = inputs.map((input) => recordsOf(input, 0x0a));
        expect(bytes.equals(Buffer.concat(byOrdinal(records, seed, inputIds)))).toBe(true);
      }),
      { numRuns: atScale(1, 6, 60) },
    );
  });

  it('has the same order with tiny buffers', async () => {
    const inputs = makeLargeInputs({ lines: 4000, longest: 30, factor: 3 });
    const encodings: readonly Encoding[] = ['plain', 'gzip members'];
    const settings: Settings = {
      workers: 2,
      memoryBytes: 2 ** 24,
      tempDirCount: 2,
      encodings,
      tuning: TINY_BUFFERS,
    };
    const { bytes } = await shuffleToFile(directory, { inputs, seed: 's', settings, keys: 'ordinal' });
    const records = inputs.map((input) => recordsOf(input, 0x0a));
    expect(bytes.equals(Buffer.concat(byOrdinal(records, 's')))).toBe(true);
  });
});

describe('files of equal numbers of records', () => {
  it('get one order, whatever their records are', async () => {
    const settings: Settings = {
      workers: 1,
      memoryBytes: 2 ** 24,
      tempDirCount: 1,
      encodings: ['plain'],
      tuning: { inline: true, sliceBytes: 300, readBytes: 100, pileCount: 5, bufferBytes: 90 },
    };
    const numbers = Array.from({ length: 700 }, (_, i) => i);
    const lines = Buffer.from(numbers.map((i) => `${i} ${'x'.repeat(i % 23)}\n`).join(''));
    const quads = Buffer.from(numbers.map((i) => `@${i}\nA\n+\n${'F'.repeat(i % 7)}\n`).join(''));
    const law = { seed: 's', keys: 'ordinal', settings } as const;
    const one = await shuffleToFile(directory, { ...law, inputs: [lines] });
    const records = { by: 'lines', linesPerRecord: 4 } as const;
    const other = await shuffleToFile(directory, { ...law, inputs: [quads], records });
    const order = one.bytes.toString().match(/^\d+/gm);
    expect(order).toHaveLength(numbers.length);
    expect(other.bytes.toString().match(/(?<=^@)\d+/gm)).toEqual(order);
    expect(order).not.toEqual(numbers.map(String));
  });
});
