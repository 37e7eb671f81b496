/** The sizes from which the phases of a job get their costs. */
import { expect, it } from 'vitest';
import { foundSizes } from '#src/jobs/job-costs.js';

const leftOut = { bytes: 0, records: 0 };

it('what pass 1 read is what its inputs hold, however often their records are taken', () => {
  const recordEnds = Float64Array.of(100, 0, 300);
  const kept = { bytes: 10, records: 1 };
  const once = { bytes: 400, records: 40, leftOut, recordEnds };
  const read = { bytes: 400, records: 40 };
  expect(foundSizes(once, 50, kept)).toEqual({ storedBytes: 50, read, onPiles: once, kept });
  expect(foundSizes({ ...once, bytes: 4000, records: 400 }, 50, kept).read).toEqual(read);
  expect(foundSizes({ ...once, bytes: 40, records: 4 }, 50, kept).read).toEqual(read);
  const few = { ...once, bytes: 10, records: 1, leftOut: { bytes: 390, records: 39 } };
  expect(foundSizes(few, 50, kept).read).toEqual(read);
});

it('inputs without a record have sizes, too', () => {
  const nothing = { bytes: 0, records: 0, leftOut, recordEnds: Float64Array.of(0) };
  expect(foundSizes(nothing, 0, nothing).read).toEqual({ bytes: 0, records: 0 });
});
