/**
 * The manifest of a job is read as it was written, is whole or missing, and any change of it is reported. The note in the
 * staging directory gives a job directory, nothing, or a PileshufError, whatever its bytes.
 */

import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { PileshufError, SystemError, VerificationError } from '#src/errors.js';
import { jsonOf, parseJson } from '#src/io/plain-data.js';
import { seal } from '#src/io/sealed-file.js';
import { completeShuffle } from '#src/job/request.js';
import {
  type JobManifest,
  noteStagingOwner,
  readJobManifest,
  readStagingOwner,
  STAGING_OWNER_NAME,
  type StagingOwner,
  writeJobManifest,
} from '#src/job-directory/job-manifest.js';
import type { ShuffleSpec } from '#src/spec.js';
import { interrupted, withCallsSeen } from '../fixtures/interrupted-file-calls.js';
import { mutationOf, readOrDamaged } from '../fixtures/mutated-values.js';
import { atScale } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const path = (...names: string[]) => directory.path('job', ...names);
const read = () => readJobManifest(path());

const given = completeShuffle({
  inputs: [],
  output: 'out',
  seed: 'Ł\u0000 1',
  records: { by: 'csv' },
  header: { lines: 1 },
  decompressProgram: ['xz', '-dc'],
  splits: [
    { name: 'train', share: 0.5 },
    { name: 'test', rest: true },
  ],
  splitBy: 'csv:site',
  missing: 'ß',
  mix: { groups: [{ name: 'a', inputs: 'a*', share: 0.1 }], unit: '.n', max_epochs: 2.5 },
  shards: { by: 'bytes', maxShardBytes: 2 ** 40 },
  compress: { codec: 'zstd' },
}).spec;
/** Without the fields that are undefined. */
const spec = parseJson(jsonOf(given)) as ShuffleSpec;

const manifest: JobManifest = {
  isResumable: true,
  spec,
  inputIds: 'ef',
  shareWeights: [{ weight: { copies: 2, chance: 2n ** 63n }, amount: { numerator: 21n, denominator: 2n } }],
  removesJobDirectory: true,
  output: '/data/out',
  tempDirs: ['/a', '/b c'],
  inputs: { count: 2, digest: 'ab', fingerprints: Buffer.alloc(64, 7).toString('base64') },
  layout: { pileCount: 65536, stripeCount: 16, sliceBytes: 2 ** 36, sliceCount: 3, slicesDigest: 'cd' },
};

/** Of a job that cannot be resumed, whose inputs are not read at their ends. */
const unsafe: JobManifest = { ...manifest, isResumable: false, inputs: { ...manifest.inputs, fingerprints: '' } };

beforeEach(() => mkdirSync(path()));

describe('a manifest', () => {
  it.each([true, false])('comes back as it was written, closed to others: resumable %s', async (isResumable) => {
    expect(read()).toBeUndefined();
    for (const [name, changed] of Object.entries({ layout: {}, memory: { layout: null } })) {
      const written = isResumable ? { ...manifest, ...changed } : { ...unsafe, ...changed };
      mkdirSync(path(name));
      await writeJobManifest(path(name), written);
      expect(readJobManifest(path(name))).toEqual(written);
      expect(readdirSync(path(name))).toEqual(['manifest']);
      expect(statSync(path(name, 'manifest')).mode & 0o777).toBe(0o600);
    }
  });

  it.each([true, false])('is written once, and not through a link: resumable %s', async (isResumable) => {
    await writeJobManifest(path(), isResumable ? manifest : unsafe);
    await expect(writeJobManifest(path(), { ...manifest, isResumable, output: 'other' })).rejects.toThrow(SystemError);
    expect(read()?.output).toBe(manifest.output);
    mkdirSync(path('other'));
    symlinkSync(directory.path('planted'), path('other', 'manifest'));
    await expect(writeJobManifest(path('other'), { ...manifest, isResumable })).rejects.toThrow(SystemError);
    expect(existsSync(directory.path('planted'))).toBe(false);
    expect(() => readJobManifest(path('other'))).toThrow(SystemError);
  });

  it('is durable where the job can be resumed, and costs no sync where it cannot', async () => {
    for (const isResumable of [true, false]) {
      mkdirSync(path(`${isResumable}`));
      let syncs = 0;
      await withCallsSeen(
        (name) => {
          if (name === 'syncAsync') syncs += 1;
        },
        () => writeJobManifest(path(`${isResumable}`), { ...manifest, isResumable }),
      );
      expect(syncs).toBe(isResumable ? 2 : 0);
    }
  });

  it('of a job that can be resumed is whole or not there, whenever the process ends', async () => {
    for (let number = 1, isReached = true; isReached; number++) {
      const inside = path(`${number}`);
      mkdirSync(inside);
      ({ isReached } = await interrupted('ends', number, () => writeJobManifest(inside, manifest)));
      expect([undefined, manifest]).toContainEqual(readJobManifest(inside));
      if (!isReached) expect(readJobManifest(inside)).toEqual(manifest);
    }
  });

  it('has bounds for what is allocated by its numbers', () => {
    const { layout } = manifest;
    for (const [changed, problem] of [
      [
        { layout: { ...layout, pileCount: 65537 } },
        /: layout\.pileCount: expected a whole number from 1 to 65536, got 65537/,
      ],
      [{ layout: { ...layout, pileCount: 0 } }, /: layout\.pileCount: /],
      [{ layout: { ...layout, stripeCount: 2 ** 32 } }, /: layout\.stripeCount: /],
      [{ layout: { ...layout, stripeCount: 17 } }, /: layout\.stripeCount: expected a whole number from 1 to 16/],
      [{ layout: { ...layout, pileCount: 15 } }, /: expected at most 15 stripes, one a pile, got 16;/],
      [{ layout: { ...layout, sliceBytes: 0 } }, /: layout\.sliceBytes: /],
      [{ layout: { ...layout, sliceCount: 2 ** 20 + 1 } }, /: layout\.sliceCount: expected a whole number from 0 to /],
      [{ inputs: { ...manifest.inputs, count: 3 } }, /: expected 96 bytes of fingerprints for its 3 inputs, got 64;/],
      [{ inputs: { ...manifest.inputs, fingerprints: '' } }, /: expected 64 bytes of fingerprints .*, got 0;/],
      [{ isResumable: false }, /: expected 0 bytes of fingerprints for its 2 inputs, got 64;/],
      [{ spec: 1 }, /: spec: expected an object, got 1/],
      [{ output: 1 }, /: output: expected a text, got 1/],
      [{ tempDirs: 'x' }, /: tempDirs: expected a list, got "x"/],
    ] as const) {
      writeFileSync(path('manifest'), seal('job', 8, { ...manifest, ...changed }));
      expect(read).toThrow(VerificationError);
      expect(read).toThrow(problem);
    }
  });

  const { spec: _, ...withoutSpec } = manifest;

  it('that differs in one place is within its bounds, or told to be damaged', () => {
    fc.assert(
      fc.property(mutationOf(withoutSpec), (mutated) => {
        writeFileSync(path('manifest'), seal('job', 8, { ...mutated, spec }));
        const found = readOrDamaged(read);
        if (found === undefined) return;
        const { layout, inputs } = found;
        expect(Buffer.from(inputs.fingerprints, 'base64').byteLength).toBe(found.isResumable ? 32 * inputs.count : 0);
        if (layout === null) return;
        expect(layout.pileCount).toBeLessThanOrEqual(65536);
        expect(layout.stripeCount).toBeLessThanOrEqual(Math.min(16, layout.pileCount));
        expect(layout.sliceCount).toBeLessThanOrEqual(2 ** 20);
        expect(layout.sliceBytes).toBeGreaterThanOrEqual(1);
      }),
      { numRuns: atScale(80, 1000) },
    );
  });
});

const OWNER: StagingOwner = { jobDirectory: '/temp/a job', isResumable: true, removesJobDirectory: false };
const staging = () => directory.path('staging');
const write = (bytes: Uint8Array) => writeFileSync(directory.path('staging', STAGING_OWNER_NAME), bytes);

function readOrRefused(): StagingOwner | undefined {
  try {
    return readStagingOwner(staging());
  } catch (error) {
    expect(error).toBeInstanceOf(PileshufError);
    return undefined;
  }
}

describe('the note of whose outputs are staged', () => {
  beforeEach(() => mkdirSync(staging()));

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
      { numRuns: atScale(80, 1000) },
    );
  });
});
