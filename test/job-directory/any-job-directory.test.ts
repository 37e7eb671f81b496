/**
 * A job directory with any content: the holder is reported, or refused with a PileshufError, and numbers of slices and
 * records in names lead back to the same names.
 */

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PileshufError } from '#src/errors.js';
import { finishedRangeNames, readFinishedRanges } from '#src/job-directory/finished-ranges.js';
import { acquireJobLock, findJobHolder } from '#src/job-directory/job-lock.js';
import { committedIndexPath, listCommittedSlices } from '#src/job-directory/pile-set-commits.js';
import { atScale } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();

const digits = fc.oneof(
  fc.nat().map(String),
  fc.constantFrom('0', '000000', '000001', '0000001', '4294967296', '99999999999999999999', '9'.repeat(60), 'unknown'),
);
const lockName = fc
  .tuple(
    fc.constantFrom('lock', 'lock-', 'locks'),
    fc.constantFrom('host', '..', 'a b', '%00', 'unknown'),
    fc.constantFrom('unknown', '0'.repeat(36), '-'.repeat(36), 'x'),
    digits,
    digits,
    digits,
    digits,
    fc.constantFrom('0123456789abcdef', '0123456789ABCDEF', ''),
  )
  .map((fields) => fields.join('+'));
const otherName = fc.tuple(fc.constantFrom('set-', 'done-', 'lock'), digits, fc.constantFrom('', '.index', '-x.index'));
const name = fc
  .oneof(
    lockName,
    otherName.map((parts) => parts.join('')),
  )
  .map((text) => text.slice(0, 200));
const entries = fc.uniqueArray(fc.record({ name, kind: fc.constantFrom('file', 'directory', 'link') }), {
  selector: (entry) => entry.name,
  maxLength: 6,
});

/** What ends well, or with an error of ours. */
function attempted<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    expect(error).toBeInstanceOf(PileshufError);
    return undefined;
  }
}

describe('a job directory with anything in it', () => {
  it('is had or refused, and its names are read as what they are', () => {
    fc.assert(
      fc.property(entries, (planted) => {
        const job = mkdtempSync(directory.path('job-'));
        for (const { name: entry, kind } of planted) {
          if (kind === 'directory') mkdirSync(join(job, entry));
          else if (kind === 'link') symlinkSync('/dev/zero', join(job, entry));
          else writeFileSync(join(job, entry), 'anything');
        }
        const slices = listCommittedSlices(job);
        expect(new Set(slices).size).toBe(slices.length);
        for (const slice of slices)
          expect(readdirSync(job)).toContain(committedIndexPath(job, slice).slice(job.length + 1));
        expect(finishedRangeNames(job).length).toBeLessThanOrEqual(planted.length);
        attempted(() => readFinishedRanges(job, { pileCount: 4, mostShards: 1 }));
        attempted(() => findJobHolder(job));
        const before = readdirSync(job).length;
        const lock = attempted(() => acquireJobLock(job));
        lock?.release();
        expect(readdirSync(job).length).toBeLessThanOrEqual(before);
        expect(existsSync('/dev/zero')).toBe(true);
        rmSync(job, { recursive: true });
      }),
      { numRuns: atScale(100, 500) },
    );
  });
});
