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
