/**
 * Appending with its N-th file call failing, or the process killed at it, for N = 1, 2, 3, ... until no call is left.
 * Each time the store is valid, and has its former content or all of the new one. After a reported failure no files are
 * left, and the same call succeeds when repeated. A reader with a failing call gets all records or none.
 */

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { appendToStore, PileshufError, shuffleStore, type Tuning } from '#src/index.js';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { openSnapshot } from '#src/store/store-snapshot.js';
import { type Fault, FaultyFileCalls } from '../faults/faulty-file-calls.js';
import { atScale } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { referenceOrder } from '../laws/reference-order.js';

const FAULTS: readonly Fault[] = [
  { kind: 'fails', errno: 'EIO' },
  { kind: 'is done and reported as failed', errno: 'EIO' },
  { kind: 'fails from then on', errno: 'ENOSPC' },
  { kind: 'fails', errno: 'EACCES' },
  { kind: 'is short', part: 'half' },
  { kind: 'kills', part: 'nothing' },
  { kind: 'kills', part: 'half' },
];
const nameOf = (fault: Fault) => `${fault.kind}: ${'errno' in fault ? fault.errno : fault.part}`;

/** On the calling thread, so that every call passes the table that a test has put in place. */
const TUNING: Tuning = { bufferBytes: 400, readBytes: 512, outputBytes: 1500, sliceBytes: 1500, inline: true };
const textOf = (name: string, count: number) =>
  Buffer.from(Array.from({ length: count }, (_, i) => `${name} ${i * 7919}\n`).join(''));
const FORMER = textOf('former', 60);
const ADDED = [textOf('plain', 200), textOf('compressed', 60)];

const directory = useMemoryDirectory();
const store = () => directory.path('store');

beforeEach(async () => {
  writeFileSync(directory.path('former'), FORMER);
  writeFileSync(directory.path('0'), ADDED[0] ?? '');
  writeFileSync(directory.path('1'), gzipSync(ADDED[1] ?? ''));
  const inputs = [directory.path('former')];
  await appendToStore(directory.path('before'), { inputs, inputIds: ['former'], seed: 's', piles: 3 }, TUNING);
});

const withFormer = Buffer.concat(referenceOrder([FORMER], 's', 0x0a, ['former']));
const withAll = Buffer.concat(referenceOrder([FORMER, ...ADDED], 's', 0x0a, ['former', '0', '1']));

const append = (warnings: string[] = []) =>
  appendToStore(
    store(),
    {
      inputs: [directory.path('0'), directory.path('1')],
      inputIds: 'name',
      memoryBytes: 2 ** 26,
      onWarning: (line) => warnings.push(line),
    },
    TUNING,
  );

const shuffleTo = (output: string) =>
  shuffleStore(store(), { output, force: true, tempDirs: [directory.temp], memoryBytes: 2 ** 26 }, TUNING);

async function content(): Promise<Buffer> {
  await shuffleTo(directory.path('out'));
  return readFileSync(directory.path('out'));
}

/** Files of pile sets that the store does not name, and marks of attempts. */
function leftovers(): string[] {
  const named = openSnapshot(store()).manifest.commits.flatMap(({ pileSets }) => pileSets.map(({ name }) => name));
  return readdirSync(directory.path('store', 'pile-sets')).filter((name) => !named.includes(name.split('.')[0] ?? ''));
}

/** @returns the error of `work`, if any, with the N-th call failing, and whether there were so many. */
async function withFault(fault: Fault, nth: number, work: () => Promise<unknown>) {
  const faulty = new FaultyFileCalls(fault, nth, (path) => path.startsWith(directory.path()));
  const former = replaceFileCalls(faulty.calls);
  try {
    const error: unknown = await work().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const leftOpen = faulty.openPaths;
    await faulty.settle();
    return { error, leftOpen, struck: faulty.struck };
  } finally {
    replaceFileCalls(former);
  }
}

/** Every so many-th call is tried. */
const step = atScale(19, 5, 1);

describe('appending to a store', () => {
  it.each(FAULTS.map((fault, i) => ({ name: nameOf(fault), fault, i })))('while a call $name', async ({ fault, i }) => {
    const isKill = fault.kind === 'kills';
    let tried = 0;
    for (let nth = 1 + (i % step); ; nth += step) {
      rmSync(store(), { recursive: true, force: true });
      cpSync(directory.path('before'), store(), { recursive: true });
      const warnings: string[] = [];
      const { error, leftOpen, struck } = await withFault(fault, nth, () => append(warnings));
      if (struck === undefined) {
        expect(error).toBeUndefined();
        break;
      }
      tried += 1;
      const what = `call ${nth}: ${struck.name} ${struck.path} ${struck.to ?? ''}`;
      const found = await content();
      if (error === undefined) expect(found.equals(withAll), what).toBe(true);
      else expect(found.equals(withAll) || found.equals(withFormer), what).toBe(true);
      if (!isKill) {
        expect(leftOpen, what).toEqual([]);
        const told = [...warnings, ...(error instanceof PileshufError ? error.cleanupErrors.map(String) : [])];
        expect(told.length > 0 ? [] : leftovers(), what).toEqual([]);
        if (error !== undefined) {
          expect(error, what).toBeInstanceOf(PileshufError);
          expect(String(error), what).toMatch(/^\w+: [^\n]+$/);
        }
      }
      const again = append();
      if (found.equals(withAll)) await expect(again, what).rejects.toMatchObject({ code: 'ERR_INPUT_ID_TAKEN' });
      else await again;
      expect((await content()).equals(withAll), what).toBe(true);
    }
    expect(tried).toBeGreaterThan(atScale(0, 3));
  });
});

describe('reading a store', () => {
  it('while a call fails, leaves it as it is, and an output that is whole or none', async () => {
    cpSync(directory.path('before'), store(), { recursive: true });
    await append();
    const files = readdirSync(store(), { recursive: true }).toSorted();
    const output = directory.path('made', 'out');
    mkdirSync(directory.path('made'));
    for (let nth = 1; ; nth += step) {
      rmSync(output, { force: true });
      const { error, struck } = await withFault({ kind: 'fails', errno: 'EIO' }, nth, () => shuffleTo(output));
      if (struck === undefined) break;
      const what = `call ${nth}: ${struck.name} ${struck.path}`;
      if (existsSync(output)) expect(readFileSync(output).equals(withAll), what).toBe(true);
      else expect(error, what).toBeInstanceOf(PileshufError);
      expect(readdirSync(store(), { recursive: true }).toSorted(), what).toEqual(files);
    }
    expect(readFileSync(output).equals(withAll)).toBe(true);
    // What could not be removed was told.
    for (const name of readdirSync(directory.temp)) rmSync(directory.path('temp', name), { recursive: true });
  });
});
