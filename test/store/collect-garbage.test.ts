/**
 * Garbage collection of a store: removed pile sets go after their grace period, those of dead processes at once, those
 * of unknown owners when they are old; and those of living writers stay.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { collectStore, expireStore, openPileWriter } from '#src/index.js';
import { type FileOwner, formatOwnerName, identifyThisProcess } from '#src/machine/file-owner.js';
import { manifestName } from '#src/store/store-files.js';
import { manifestFormat } from '#src/store/store-manifest.js';
import { openSnapshot } from '#src/store/store-snapshot.js';
import { fromCi } from '../fixtures/scale.js';
import { contentOf, expectedContent } from '../fixtures/store-content.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { inputsOf, SEED, writeInputs } from '../fixtures/written-store.js';

const directory = useMemoryDirectory();
const store = () => directory.path('store');
const HOUR = 3_600_000;
const OTHER_BOOT_ID = '00000000-0000-4000-8000-000000000000';
const { pid: endedPid } = spawnSync(process.execPath, ['-e', '']);
const NONE = { pileSets: 0, bytes: 0, newest: null };
const files = () => readdirSync(directory.path('store', 'pile-sets')).sort();
const collect = (graceMilliseconds?: number) => collectStore(store(), { graceMilliseconds });

/** Files of an attempt, as if they were written so long ago. */
function plantAttempt(owner: Partial<FileOwner>, hoursAgo: number): string[] {
  const token = '00112233445566ff';
  const mark = formatOwnerName('writing', { ...identifyThisProcess(), threadId: 0, token, ...owner });
  const names = [`set-000000-${token}.0.pile`, `set-000007-${token}.index`, mark];
  const time = new Date(Date.now() - hoursAgo * HOUR);
  for (const name of names) {
    writeFileSync(directory.path('store', 'pile-sets', name), 'data');
    utimesSync(directory.path('store', 'pile-sets', name), time, time);
  }
  return names.toSorted();
}

describe('collectStore', () => {
  it('deletes what expired when the grace is over, and not before', async () => {
    await writeInputs(store(), ['a', 'b'], '2026-10-01');
    await writeInputs(store(), ['c'], '2026-11-01');
    const former = openSnapshot(store());
    await expireStore(store(), { keepLast: 1 });
    // A reader that started earlier continues.
    expect(await collect()).toEqual({ pileSets: 0, bytes: 0, manifests: 0, unowned: NONE });
    expect(contentOf(former)).toEqual(expectedContent(SEED, inputsOf(['a', 'b', 'c'])));
    expect(openSnapshot(store(), former.manifest.number)).toEqual(former);
    expect(await collect(0)).toMatchObject({ pileSets: 2, unowned: NONE });
    expect(files()).toHaveLength(2);
    expect(openSnapshot(store()).manifest.removed).toEqual([]);
    expect(contentOf(store())).toEqual(expectedContent(SEED, inputsOf(['c'])));
    expect(() => openSnapshot(store(), former.manifest.number)).toThrow(
      expect.objectContaining({
        code: 'ERR_STORE',
        message: expect.stringMatching(/no longer has its state 4:/),
      }),
    );
  });

  it.runIf(fromCi)('leaves writers alone that are at work, whatever the grace', async () => {
    const writer = await openPileWriter(store(), { inputId: 'a', seed: SEED, piles: 3, memoryBytes: 500_000 });
    const records = Array.from({ length: 50_000 }, (_, i) => `record ${i}\n`);
    for (const record of records) writer.write(record);
    expect(files()).toHaveLength(2);
    expect(await collect(0)).toMatchObject({ pileSets: 0 });
    await writer.commit();
    expect(await collect(0)).toMatchObject({ pileSets: 0 });
    expect(contentOf(store())).toEqual(expectedContent(SEED, { a: records }));
  });

  it.each([
    ['a process that ended', { pid: endedPid }, 0],
    ['an earlier start of this machine, long ago', { bootId: OTHER_BOOT_ID }, 25],
    ['another machine, long ago', { host: 'elsewhere' }, 25],
    ['another container, long ago', { pidNamespace: '1' }, 25],
  ])('deletes what was left by %s', async (_, owner, hoursAgo) => {
    await writeInputs(store(), ['a'], 'g');
    const before = files();
    plantAttempt(owner, hoursAgo);
    expect(await collect()).toMatchObject({ pileSets: 2, bytes: 8 });
    expect(files()).toEqual(before);
    expect(openSnapshot(store()).manifest.removed).toEqual([]);
  });

  it.each([
    ['another machine', { host: 'elsewhere' }],
    ['another machine that has the name of this one', { bootId: OTHER_BOOT_ID }],
    ['another container', { pidNamespace: '1' }],
    ['another thread', { threadId: 1 }],
  ])('keeps for the grace what may be written by %s', async (_, owner) => {
    await writeInputs(store(), ['a'], 'g');
    const before = files();
    const planted = plantAttempt(owner, 23);
    expect(await collect()).toMatchObject({ pileSets: 0 });
    expect(files()).toEqual([...before, ...planted].sort());
    expect(await collect(22 * HOUR)).toMatchObject({ pileSets: 2 });
    expect(files()).toEqual(before);
  });

  it('takes the mark of a writer that was killed when it had committed, and nothing else', async () => {
    await writeInputs(store(), ['a'], 'g');
    const [commit] = openSnapshot(store()).manifest.commits;
    const before = files();
    const mark = { ...identifyThisProcess(), pid: endedPid, threadId: 0, token: commit?.name ?? '' };
    writeFileSync(directory.path('store', 'pile-sets', formatOwnerName('writing', mark)), '');
    expect(await collect(0)).toMatchObject({ pileSets: 0 });
    expect(files()).toEqual(before);
  });

  it('deletes nothing when the store says of a pile set both that it has it and that it was removed', async () => {
    await writeInputs(store(), ['a'], 'g');
    const before = files();
    const snapshot = openSnapshot(store());
    const pileSets = snapshot.manifest.commits.flatMap((commit) => commit.pileSets.map(({ name }) => name));
    const wrong = manifestFormat.seal({ ...snapshot.manifest, number: 3, removed: [{ time: 0, pileSets }] });
    writeFileSync(directory.path('store', 'manifests', manifestName(3)), wrong);
    await expect(collect(0)).rejects.toThrow(
      new RegExp(
        `000000000003 .*removed: expected no pile set that a commit has, got ${pileSets[0]}; .*restore the store`,
      ),
    );
    expect(files()).toEqual(before);
  });

  it('leaves what is not its own, and deletes what is left of manifests that were not made', async () => {
    await writeInputs(store(), ['a'], 'g');
    const attempt = directory.path('store', 'manifests', '000000000009.0123456789abcdef.attempt');
    writeFileSync(attempt, '');
    writeFileSync(directory.path('store', 'pile-sets', 'README'), '');
    await collect(0);
    expect(readdirSync(directory.path('store', 'manifests'))).toContain('000000000009.0123456789abcdef.attempt');
    utimesSync(attempt, 0, 0);
    await collect(0);
    expect(readdirSync(directory.path('store', 'manifests'))).not.toContain('000000000009.0123456789abcdef.attempt');
    expect(files()).toContain('README');
  });
});
