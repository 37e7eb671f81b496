/**
 * Reading a store while it expires and is collected without a grace: the error for missing files says so, and does not
 * blame the disk. The error for damaged files says damage, even for a removed pile set that still exists.
 */
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { inspectStore, shuffleStore } from '#src/index.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import { manifestName } from '#src/store/store-files.js';
import { manifestFormat } from '#src/store/store-manifest.js';
import { openSnapshot } from '#src/store/store-snapshot.js';
import { useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { writeInputs } from '../fixtures/written-store.js';

const directory = useMemoryDirectory();
const fileCalls = useFileCalls();
const store = () => directory.path('store');
const filesOf = (end: string) =>
  readdirSync(directory.path('store', 'pile-sets'))
    .filter((name) => name.endsWith(end))
    .map((name) => directory.path('store', 'pile-sets', name));
const shuffle = () => shuffleStore(store(), { output: directory.path('out') }, { inline: true });
const readings: Record<string, () => Promise<unknown>> = {
  'shuffle-store': shuffle,
  inspect: () => inspectStore(store()),
  'inspect --verify': () => inspectStore(store(), { verify: true }),
};

/** When the first file with this ending is opened, everything expires and is deleted, as `pileshuf gc` does it. */
function expiredBeforeOpening(end: string, isStruckOut: boolean): void {
  let isFirst = true;
  const { manifest } = openSnapshot(store());
  fileCalls.replace({
    open: (path, ...rest) => {
      if (isFirst && path.endsWith(end)) {
        isFirst = false;
        const pileSets = manifest.commits.flatMap((commit) => commit.pileSets.map(({ name }) => name));
        const removed = isStruckOut ? [] : [{ time: Date.now(), pileSets }];
        const next = manifestFormat.seal({ ...manifest, number: 4, commits: [], removed });
        writeFileSync(directory.path('store', 'manifests', manifestName(4)), next);
        for (const gone of [...filesOf('.index'), ...filesOf('.pile')]) rmSync(gone);
      }
      return systemFileCalls.open(path, ...rest);
    },
  });
}

const told = () => ({
  code: 'ERR_STORE',
  message: `records of state 3 of the pile store ${store()} were expired and deleted while they were read; start anew, and give later garbage collections a longer \`graceMilliseconds\``,
});

beforeEach(async () => {
  await writeInputs(store(), ['a'], '2026-10-01');
  await writeInputs(store(), ['b'], '2026-11-01');
});

describe('a store that expires while it is read', () => {
  it.each([
    ['shuffle-store', '.index'],
    ['shuffle-store', '.pile'],
    ['inspect', '.index'],
    ['inspect --verify', '.index'],
    ['inspect --verify', '.pile'],
  ])('is told as that by %s, at the first %s that it opens', async (reading, end) => {
    for (const isStruckOut of [false, true]) {
      const kept = directory.path(`kept-${isStruckOut}`);
      cpSync(store(), kept, { recursive: true });
      expiredBeforeOpening(end, isStruckOut);
      await expect(readings[reading]?.()).rejects.toMatchObject(told());
      rmSync(store(), { recursive: true });
      cpSync(kept, store(), { recursive: true });
    }
    expect(existsSync(directory.path('out'))).toBe(false);
  });
});
