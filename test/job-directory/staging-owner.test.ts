/**
 * The note in the staging directory: whatever is in it, it gives a job directory, or none, or an error of ours.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { PileshufError } from '#src/errors.js';
import { seal } from '#src/io/sealed-file.js';
import {
  noteStagingOwner,
  readStagingOwner,
  STAGING_OWNER_NAME,
  type StagingOwner,
} from '#src/job-directory/job-manifest.js';
import { mutationOf } from '../fixtures/mutated-values.js';
import { atScale } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const OWNER: StagingOwner = { jobDirectory: '/temp/a job', isResumable: true };
const staging = () => directory.path('staging');
const write = (bytes: Uint8Array) => writeFileSync(directory.path('staging', STAGING_OWNER_NAME), bytes);

beforeEach(() => mkdirSync(staging()));

function readOrRefused(): StagingOwner | undefined {
  try {
    return readStagingOwner(staging());
  } catch (error) {
    expect(error).toBeInstanceOf(PileshufError);
    return undefined;
  }
}

describe('the note of whose outputs are staged', () => {
  it('gives what was noted', () => {
    noteStagingOwner(staging(), OWNER);
    expect(readStagingOwner(staging())).toEqual(OWNER);
  });

  it('gives what it says or nothing, whatever is in it', () => {
    const sealed = fc
      .tuple(fc.constantFrom('owner', 'job', 'ranges'), fc.constantFrom(1, 2), mutationOf(OWNER))
      .map(([kind, version, value]) => seal(kind, version, value));
    const cut = sealed.chain((bytes) => fc.nat(bytes.byteLength).map((end) => bytes.subarray(0, end)));
    fc.assert(
      fc.property(fc.oneof(sealed, cut, fc.uint8Array({ maxLength: 300 })), (bytes) => {
        write(bytes);
        const owner = readOrRefused();
        expect(owner === undefined || owner.jobDirectory.length <= bytes.byteLength).toBe(true);
      }),
      { numRuns: atScale(200, 1000) },
    );
  });

  it('is not read when it is larger than any note', () => {
    write(Buffer.alloc(2 ** 17 + 1, 'x'));
    expect(() => readStagingOwner(staging())).toThrow(/expected at most 131072/);
  });
});
