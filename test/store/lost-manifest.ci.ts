/**
 * A store whose newest manifest is gone, as after a copy that was cut off. The older manifest must not pass for the present
 * state: whoever reads, changes or verifies the store is told, and nothing that only the lost manifest named is deleted,
 * unless the user says so.
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { collectStore, expireStore, inspectStore, openStore, shuffleStore } from '#src/index.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import { openSnapshot } from '#src/store/store-snapshot.js';
import { useFileCalls } from '../fixtures/replaced-file-calls.js';
import { runCommand } from '../fixtures/run-command.js';
import { fromCi } from '../fixtures/scale.js';
import { contentOf, expectedContent } from '../fixtures/store-content.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { inputsOf, SEED, writeInputs } from '../fixtures/written-store.js';

const directory = useMemoryDirectory();
const calls = useFileCalls();
const store = () => directory.path('store');
const pileSetFiles = () => readdirSync(directory.path('store', 'pile-sets')).sort();
const manifestPath = (number: number) => directory.path('store', 'manifests', String(number).padStart(12, '0'));

/** Three commits, in states 2 to 4. */
async function writeStore(): Promise<void> {
  await writeInputs(store(), ['a', 'b', 'c'], 'g');
}

/** Removes the newest manifest. @returns its bytes. */
function loseManifest(number = 4): Buffer {
  const bytes = readFileSync(manifestPath(number));
  rmSync(manifestPath(number));
  return bytes;
}

const LOST =
  /^verification failed: the pile store \S+ was at state 4, but \S+\/000000000004 is gone and the newest manifest is that of state 3.*; restore the manifest from a copy, or give `giveUpLost` to `collectStore` to continue from state 3$/;

describe('a store whose newest manifest is lost', () => {
  it.each<[string, () => unknown]>([
    ['inspectStore', () => inspectStore(store())],
    ['inspectStore, verifying', () => inspectStore(store(), { verify: true })],
    ['shuffleStore', () => shuffleStore(store(), { output: directory.path('out') })],
    ['openStore', async () => openStore(store())],
    ['expireStore', () => expireStore(store(), { keepLast: 1 })],
    ['collectStore', () => collectStore(store(), { graceMilliseconds: 0 })],
    ['a writer', () => writeInputs(store(), ['d'], 'g')],
  ])('is refused by %s, and stays as it is', async (_, call) => {
    await writeStore();
    const bytes = loseManifest();
    const before = [readdirSync(directory.path('store', 'manifests')), pileSetFiles()];
    await expect(call()).rejects.toMatchObject({ kind: 'verification', message: expect.stringMatching(LOST) });
    expect([readdirSync(directory.path('store', 'manifests')), pileSetFiles()]).toEqual(before);
    writeFileSync(manifestPath(4), bytes);
    expect(contentOf(store())).toEqual(expectedContent(SEED, inputsOf(['a', 'b', 'c'])));
    expect(await inspectStore(store(), { verify: true })).toMatchObject({ verified: true });
  });

  it('says which data only the lost manifest named', async () => {
    await writeStore();
    loseManifest();
    await expect(inspectStore(store())).rejects.toThrow(
      /state 3, which does not name 1 pile set of \d+ bytes \(the newest of 20\S+Z\); restore/,
    );
  });

  it('continues from the state that is left when it is told to, with a number that was never used', async () => {
    await writeStore();
    loseManifest();
    expect(await collectStore(store(), { giveUpLost: true })).toMatchObject({ pileSets: 1 });
    expect(openSnapshot(store()).manifest.number).toBeGreaterThan(4);
    expect(contentOf(store())).toEqual(expectedContent(SEED, inputsOf(['a', 'b'])));
    await writeInputs(store(), ['d'], 'g');
    expect(await inspectStore(store(), { verify: true })).toMatchObject({ inputs: 3, unowned: { pileSets: 0 } });
  });

  it('is seen when an expiry is lost, which no pile set tells', async () => {
    await writeInputs(store(), ['a'], 'g');
    await writeInputs(store(), ['b'], 'h');
    await expireStore(store(), { keepLast: 1 });
    loseManifest();
    await expect(inspectStore(store())).rejects.toThrow(LOST);
  });

  it('still gives its former states', async () => {
    await writeStore();
    loseManifest();
    expect(contentOf(openSnapshot(store(), 3))).toEqual(expectedContent(SEED, inputsOf(['a', 'b'])));
  });

  it.runIf(fromCi)('is told with exit code 4 by the commands', async () => {
    await writeStore();
    loseManifest();
    for (const words of [['gc'], ['stream']]) {
      const { exitCode, stderr } = await runCommand([...words, store()]);
      expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: expect.stringContaining('give --give-up-lost to') });
    }
    expect((await runCommand(['gc', store(), '--give-up-lost'])).exitCode).toBe(0);
  });
});

describe('pile sets that no state names, in a store that does not know which state it has reached', () => {
  const forget = () => rmSync(directory.path('store', 'reached'), { recursive: true });

  it('are reported, kept, and deleted only on demand', async () => {
    await writeStore();
    loseManifest();
    forget();
    const files = pileSetFiles();
    const unowned = { pileSets: 1, bytes: expect.any(Number), newest: expect.stringMatching(/^20\S+Z$/) };
    expect(await inspectStore(store())).toMatchObject({ state: 3, verified: false, unowned });
    await expect(inspectStore(store(), { verify: true })).rejects.toThrow(
      /1 pile set of \d+ bytes \(the newest of .*\) that belong to no state and to no writer: a manifest newer than that of state 3 may be lost/,
    );
    expect(await collectStore(store(), { graceMilliseconds: 0 })).toMatchObject({ pileSets: 0, unowned });
    expect(pileSetFiles()).toEqual(files);
    const warnings: string[] = [];
    await shuffleStore(store(), { output: directory.path('out'), onWarning: (line) => warnings.push(line) });
    expect(warnings).toEqual([expect.stringMatching(/1 pile set of .*: a manifest may be lost; `inspectStore` tells/)]);
    const told = await runCommand(['inspect', store()]);
    expect(told.stdout.toString()).toMatch(
      /^unowned {5}1 pile set, .*, which a lost manifest named; pileshuf gc --give-up-lost/m,
    );
    expect((await runCommand(['gc', store()])).stderr).toContain('; kept 1 pile set');
    // The gc before made the store note its state again.
    expect(await collectStore(store(), { giveUpLost: true })).toMatchObject({ pileSets: 1, unowned: { pileSets: 0 } });
    expect(await inspectStore(store(), { verify: true })).toMatchObject({ verified: true });
  });

  it('are none in a store of an older program, which gets the note with its next change', async () => {
    await writeInputs(store(), ['a'], 'g');
    forget();
    expect(await inspectStore(store(), { verify: true })).toMatchObject({ state: 2, unowned: { pileSets: 0 } });
    await writeInputs(store(), ['b'], 'g');
    expect(readdirSync(directory.path('store', 'reached'))).toEqual(['000000000003']);
  });
});

describe('a listing of manifests that is older than the files', () => {
  it('does not hide a state that was reached', async () => {
    await writeStore();
    calls.replace({
      list: (path) =>
        systemFileCalls.list(path).filter(({ name }) => !path.endsWith('manifests') || name < '000000000004'),
    });
    expect(openSnapshot(store()).manifest.number).toBe(4);
  });

  it('ends with an error, not in a loop, when the manifest listed last is never found', async () => {
    await writeStore();
    cpSync(store(), directory.path('older'), { recursive: true });
    rmSync(directory.path('older', 'reached'), { recursive: true });
    const listed = systemFileCalls.list(directory.path('older', 'manifests'));
    rmSync(directory.path('older', 'manifests', '000000000004'));
    let listings = 0;
    calls.replace({
      list: (path) => {
        if (!path.endsWith('manifests')) return systemFileCalls.list(path);
        listings += 1;
        return listed;
      },
    });
    expect(() => openSnapshot(directory.path('older'))).toThrow(
      expect.objectContaining({
        code: 'ERR_IO',
        message: expect.stringMatching(/000000000004 is listed and cannot be found, 8 times in a row; check the file/),
      }),
    );
    expect(listings).toBe(8);
  });
});
