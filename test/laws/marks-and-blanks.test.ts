/**
 * A UTF-8 mark and blank lines change no place in the order, however inputs are cut and compressed: the records are those of
 * the bytes as they are, less the mark of the first one, and less the blank ones.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { atScale } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { anySettings, type Settings } from './any-settings.js';
import { referenceOrder } from './reference-order.js';
import { expectReport, shuffleToFile } from './shuffle-under-test.js';

const directory = useMemoryDirectory();
const MARK = Buffer.from('efbbbf', 'hex');
const NOTHING = Buffer.alloc(0);
/** Stands for the mark where the order is computed: no record has it. */
const STAND_IN = Buffer.from('\0\0\0');

const line = fc.oneof(fc.constantFrom('', ' ', '\t\r', 'x', '\ufeff'), fc.stringMatching(/^[a-z ]{0,60}$/));
const input = fc
  .tuple(fc.boolean(), fc.array(line, { maxLength: 12 }))
  .map(([isMarked, lines]) => Buffer.concat([isMarked ? MARK : NOTHING, Buffer.from(lines.join('\n'))]));

const beginsWith = (bytes: Buffer, beginning: Buffer) => bytes.subarray(0, 3).equals(beginning);
const isBlank = (record: Buffer) => /^[\t-\r ]*$/.test(record.toString('latin1'));

function withStandIn(bytes: Buffer): Buffer {
  if (!beginsWith(bytes, MARK)) return bytes;
  return bytes.byteLength === 3 ? NOTHING : Buffer.concat([STAND_IN, bytes.subarray(3)]);
}

it('the records stay in place', async () => {
  const check = async (inputs: readonly Buffer[], skipBlank: boolean, seed: string, settings: Settings) => {
    const isMarked = inputs.some((bytes) => beginsWith(bytes, MARK));
    const isEvery = inputs.every((bytes) => bytes.byteLength === 0 || beginsWith(bytes, MARK));
    const all = referenceOrder(inputs.map(withStandIn), seed).map((record) =>
      beginsWith(record, STAND_IN) ? record.subarray(3) : record,
    );
    const records = skipBlank ? all.filter((record) => !isBlank(record)) : all;
    const { bytes, report } = await shuffleToFile(directory, { inputs, seed, skipBlank, settings });
    const expected = Buffer.concat([isMarked && isEvery ? MARK : NOTHING, ...records]);
    expect(bytes.toString('latin1')).toBe(expected.toString('latin1'));
    expectReport(report, records);
    if (skipBlank) expect(report.blank?.records).toBe(all.length - records.length);
  };
  const inputs = fc.array(input, { minLength: 1, maxLength: 4 });
  await fc.assert(fc.asyncProperty(inputs, fc.boolean(), fc.string(), anySettings, check), {
    numRuns: atScale(20, 75, 6000),
  });
});
