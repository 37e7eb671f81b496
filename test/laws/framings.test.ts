/**
 * The laws for every framing: the records of all inputs come out in the order of the seed, byte for byte, whatever
 * the workers, memory, piles, splits, buffers, temp directories and compression.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FramingSpec } from '#src/formats/framing-table.js';
import type { RecordKind } from '#src/index.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { framedInputs } from '../formats/any-records.js';
import { splitPlainly } from '../formats/plain-framings.js';
import { anySettings } from './any-settings.js';
import { orderRecords } from './reference-order.js';
import { shuffleToFile } from './shuffle-under-test.js';

function recordKindOf(spec: FramingSpec): RecordKind {
  switch (spec.kind) {
    case 'delimited':
      return { by: 'delimiter', delimiter: Buffer.from(spec.value, 'hex') };
    case 'lines':
      return { by: 'lines', linesPerRecord: spec.value };
    case 'fixed':
      return { by: 'size', recordBytes: spec.value };
    case 'length-prefixed':
      return { by: 'length-prefix', prefix: spec.value };
    default:
      return { by: spec.kind };
  }
}

describe.each(Object.entries(framedInputs))('%s', (_, framed) => {
  const directory = useTestDirectory();

  it('has the same records and the same bytes, whatever the settings', async () => {
    const job = fc.record({
      first: framed,
      others: fc.array(framed, { maxLength: 3 }),
      seed: fc.string(),
      settings: anySettings,
      onThreads: fc.integer({ min: 1, max: 12 }).map((number) => number === 1),
    });
    await fc.assert(
      fc.asyncProperty(job, async ({ first, others, seed, settings, onThreads }) => {
        const { spec } = first;
        const same = others.filter((other) => JSON.stringify(other.spec) === JSON.stringify(spec));
        const inputs = [first, ...same].map(({ input }) => input);
        const tuning = { ...settings.tuning, inline: !onThreads };
        const { bytes, report } = await shuffleToFile(directory, {
          inputs,
          seed,
          records: recordKindOf(spec),
          settings: { ...settings, tuning },
        });
        const expected = orderRecords(
          inputs.map((input) => splitPlainly(spec, input)),
          seed,
        );
        expect(bytes.toString('latin1')).toBe(Buffer.concat(expected).toString('latin1'));
        expect(report.records).toBe(expected.length);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a large input', () => {
  const directory = useTestDirectory();

  it.each<FramingSpec>([
    { kind: 'delimited', value: '0d0a' },
    { kind: 'delimited', value: '616263' },
    { kind: 'lines', value: 3 },
    { kind: 'csv', value: null },
    { kind: 'fixed', value: 7 },
  ])('gives the same records wherever it is cut: %j', async (spec) => {
    const parts: Readonly<Record<string, string>> = { '0d0a': 'x\r\n', '616263': 'aababc', 7: '1234567' };
    const part = parts[spec.value ?? ''] ?? (spec.kind === 'lines' ? 'x\n\nyy\n' : 'x\n"\n"\n');
    const input = Buffer.from(part.repeat(9));
    const expected = Buffer.concat(orderRecords([splitPlainly(spec, input)], 's'));
    // Of ranges of all lengths some end at each byte of a delimiter.
    for (let splitBytes = 1; splitBytes <= 2 * part.length + 1; splitBytes++) {
      const { bytes } = await shuffleToFile(directory, {
        inputs: [input],
        seed: 's',
        records: recordKindOf(spec),
        settings: {
          workers: 1,
          memoryBytes: 2 ** 24,
          tempDirCount: 1,
          encodings: ['plain'],
          tuning: { splitBytes, inline: true },
        },
      });
      expect(bytes.toString('latin1'), `splits of ${splitBytes} bytes`).toBe(expected.toString('latin1'));
    }
  });
});
