/** The report on a store, and that inspecting finds every damage. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expireStore, inspectStore, openPileWriter, PileshufError, shuffleStore } from '#src/index.js';
import { encodePileSetIndex, readPileEntries, readPileSetDescription } from '#src/piles/pile-set-index.js';
import { pileTotalsOf } from '#src/piles/pile-totals.js';
import { SegmentLog } from '#src/piles/segments.js';
import { commitManifest } from '#src/store/commit-manifest.js';
import { manifestName } from '#src/store/store-files.js';
import { readStoreManifest } from '#src/store/store-manifest.js';
import { openSnapshot } from '#src/store/store-snapshot.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { linesOf, SEED, writeInput } from '../fixtures/written-store.js';

const directory = useMemoryDirectory();
const store = () => directory.path('store');

async function writeStore(): Promise<void> {
  await writeInput(store(), 'a', linesOf('a', 20), { generation: '2026-10-01' });
  await writeInput(store(), 'b', [...linesOf('b', 30), 'a longer one that has no end'], { generation: '2026-11-01' });
  await writeInput(store(), 'c', linesOf('c', 10), { generation: '2026-11-01' });
}

describe('inspectStore', () => {
  it.each([
    [
      'is gone',
      (path: string) => rmSync(path),
      /manifests\/000000000002 is gone, and the store must have every manifest/,
    ],
    ['is damaged', (path: string) => writeFileSync(path, 'x'), /manifests\/000000000002/],
  ])('verifies manifests of former states: one %s', async (_, damage, message) => {
    await writeStore();
    damage(join(store(), 'manifests/000000000002'));
    expect(await inspectStore(store())).toMatchObject({ state: 4 });
    await expect(inspectStore(store(), { verify: true })).rejects.toThrow(message);
  });

  it('tells that nothing notes the state that the store has reached', async () => {
    await writeStore();
    const lines: string[] = [];
    rmSync(join(store(), 'reached'), { recursive: true });
    await inspectStore(store(), { verify: true, onWarning: (line) => lines.push(line) });
    expect(lines).toEqual([expect.stringMatching(/^\S+store\/reached\/000000000004 is missing, /)]);
  });

  it('tells what a store holds', async () => {
    await writeStore();
    await expireStore(store(), { keepLast: 1 });
    const writer = await openPileWriter(store(), { inputId: 'd' });
    const report = await inspectStore(store(), { verify: true });
    writer.abort();
    expect(report).toEqual({
      directory: store(),
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      seed: SEED,
      piles: 3,
      ...{
        state: 5,
        time: expect.stringMatching(/^20.*Z$/),
        inputs: 2,
        records: 41,
        bytes: 10 * 4 + 20 * 5 + 28 + 10 * 4,
      },
      checksum: expect.stringMatching(/^[0-9a-f]{16}$/),
      longestRecordBytes: 28,
      pileSets: 2,
      generations: [
        {
          name: '2026-11-01',
          time: '2026-11-01T00:00:00.000Z',
          commits: 2,
          inputs: 2,
          records: 41,
          bytes: report.bytes,
          checksum: report.checksum,
          pileSets: 2,
          diskBytes: report.bytes + 12 * 41,
        },
      ],
      diskBytes: report.bytes + 12 * 41,
      pileBytes: { least: expect.any(Number), mean: (report.bytes + 12 * 41) / 3, most: expect.any(Number) },
      removedPileSets: 1,
      unowned: { pileSets: 0, bytes: 0, newest: null },
      writers: 1,
      verified: true,
    });
  });

  it('tells of an empty store', async () => {
    (await openPileWriter(store(), { inputId: 'a', piles: 2 })).abort();
    expect(await inspectStore(store(), { verify: true })).toMatchObject({
      records: 0,
      bytes: 0,
      checksum: '0'.repeat(16),
      generations: [],
      pileSets: 0,
      pileBytes: { least: 0, mean: 0, most: 0 },
    });
  });

  it('finds any damage when it reads everything, and most without', async () => {
    await writeStore();
    const state = manifestName(4);
    const paths = [
      join(store(), 'store'),
      join(store(), 'manifests', state),
      ...readdirSync(join(store(), 'pile-sets')).map((name) => join(store(), 'pile-sets', name)),
    ];
    const anyDamage = fc.record({
      path: fc.constantFrom(...paths),
      at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      flip: fc.integer({ min: 1, max: 255 }),
      cuts: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(anyDamage, async ({ path, at, flip, cuts }) => {
        const whole = readFileSync(path);
        const damaged = Buffer.from(whole);
        const place = Math.floor(at * whole.byteLength);
        damaged[place] = (damaged[place] ?? 0) ^ flip;
        writeFileSync(path, cuts ? whole.subarray(0, place) : damaged);
        const failureOf = async (verify: boolean) =>
          await inspectStore(store(), { verify }).then(
            () => undefined,
            (error: unknown) => error,
          );
        const [found, foundWithoutReading] = [await failureOf(true), await failureOf(false)];
        writeFileSync(path, whole);
        expect(found, `${path} at ${place}`).toBeInstanceOf(PileshufError);
        expect(found).toMatchObject({
          kind: 'verification',
          message: expect.stringContaining(path.replace(/\.0\.pile$/, '')),
        });
        expect(String(found)).not.toContain('\n');
        // All but changed bytes of records.
        if (cuts || !path.endsWith('.pile')) expect(foundWithoutReading).toMatchObject({ kind: 'verification' });
      }),
      { numRuns: 150 },
    );
    await inspectStore(store(), { verify: true });
  });

  it('finds files that are gone, and a pile set in the place of another one', async () => {
    await writeStore();
    const [first, second] = readStoreManifest(store(), 4)?.commits.map(({ pileSets }) => pileSets[0]?.name) ?? [];
    const path = (name: string | undefined, end: string) => join(store(), 'pile-sets', `${name}.${end}`);
    const kept = readFileSync(path(first, 'index'));
    rmSync(path(first, 'index'));
    await expect(inspectStore(store())).rejects.toThrow(
      new RegExp(
        `^verification failed: ${path(first, 'index')} does not exist any more; check the disk, and restore the store from a copy`,
      ),
    );
    writeFileSync(path(first, 'index'), readFileSync(path(second, 'index')));
    await expect(inspectStore(store())).rejects.toThrow(
      `${path(first, 'index')} is the index of the pile set ${second}, expected ${first}; check the disk`,
    );
    writeFileSync(path(first, 'index'), kept);
    writeFileSync(path(first, '0.pile'), readFileSync(path(second, '0.pile')));
    await expect(inspectStore(store())).rejects.toThrow(/0\.pile has \d+ bytes, expected \d+; check the disk/);
  });

  it('finds an index that tells of others than the commit', async () => {
    await writeStore();
    const { commits } = openSnapshot(store()).manifest;
    await commitManifest(openSnapshot(store()), (state) => ({
      removed: state.removed,
      oldest: state.oldest,
      commits: commits.map((commit) => ({ ...commit, records: commit.records + 1 })),
    }));
    const message =
      /^verification failed: the indexes of commit [0-9a-f]{16} \(generation 2026-10-01\) have 20 records of 90 bytes, .*, expected 21 records of 90 bytes/;
    await expect(inspectStore(store())).rejects.toThrow(message);
    const output = directory.path('out');
    await expect(shuffleStore(store(), { output, tempDirs: [directory.temp] })).rejects.toThrow(message);
  });

  it('finds records that lie on another pile than their own, though all checksums are right', async () => {
    await writeInput(store(), 'a', linesOf('a', 20), { piles: 3 });
    const [commit] = openSnapshot(store()).manifest.commits;
    const name = commit?.pileSets[0]?.name ?? '';
    const index = { path: join(store(), 'pile-sets', `${name}.index`), role: 'store' } as const;
    const entries = readPileEntries(index, 0, 3, name);
    const rotated = [...entries.slice(1), ...entries.slice(0, 1)];
    const log = new SegmentLog();
    for (const [pile, { segments }] of rotated.entries()) for (const segment of segments) log.add(pile, segment);
    const bytes = encodePileSetIndex(pileTotalsOf(rotated), log, readPileSetDescription(index));
    await inspectStore(store(), { verify: true });
    writeFileSync(index.path, bytes);
    await inspectStore(store());
    await expect(inspectStore(store(), { verify: true })).rejects.toThrow(
      /0\.pile: pile 0 holds \d+ records of \d+ bytes, checksum [0-9a-f]{16}, expected \d+ records/,
    );
  });
});
