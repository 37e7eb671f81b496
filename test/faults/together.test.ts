/**
 * A job of aligned files whose N-th file call fails, or before whose N-th call the process is killed, or after whose N-th
 * change the power fails. All members appear or none; the same job then ends with the same bytes, and leaves nothing behind.
 */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PileshufError, type ShuffleTogetherOptions, shuffleTogether, UsageError } from '#src/index.js';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { fastPlace } from '../fixtures/fast-place.js';
import { atScale, sampled } from '../fixtures/scale.js';
import { ALL_LOST, DATA_KEPT, DiskModel, NAMES_KEPT } from './disk-model.js';
import { type Fault, FaultyFileCalls } from './faulty-file-calls.js';
import { disownLocksBelow } from './tiny-job.js';

const FAULTS: readonly Fault[] = [
  { kind: 'kills', part: 'nothing' },
  { kind: 'fails', errno: 'EIO' },
  { kind: 'fails from then on', errno: 'ENOSPC' },
];

interface Kind {
  readonly name: string;
  readonly options: Partial<ShuffleTogetherOptions>;
  readonly outputExists?: true;
}

const KINDS: readonly Kind[] = [
  { name: 'shards, resumable', options: { shards: { by: 'count', shardCount: 2 }, resume: true } },
  { name: 'compressed files in an empty directory', options: { compress: { codec: 'gzip' } }, outputExists: true },
];

const TUNING = { inline: true, keepInRam: false, pileCount: 3, bufferBytes: 300, sliceBytes: 400, stripeCount: 2 };
const step = atScale(170, 41, 1);

let root = '';
let inputs = '';
beforeAll(() => {
  root = mkdtempSync(join(fastPlace(), 'pileshuf-test-'));
  inputs = mkdtempSync(join(fastPlace(), 'pileshuf-test-'));
  const lines = Array.from({ length: 40 }, (_, i) => `${i} ${'x'.repeat(i % 17)}\n`);
  writeFileSync(join(inputs, 'en.txt'), lines.join(''));
  writeFileSync(join(inputs, 'fr.txt'), gzipSync(lines.map((line) => `fr ${line}`).join('')));
  writeFileSync(join(inputs, 'ids'), lines.map((_, i) => `${i}\n`).join(''));
});
afterAll(() => {
  for (const directory of [root, inputs]) rmSync(directory, { recursive: true, force: true });
});

const pathsBelow = (directory: string) => readdirSync(directory, { recursive: true }).map(String).sort();

/** What users see: the outputs by their names. */
function visible(): Record<string, string> {
  const names = pathsBelow(root).filter((path) => path.startsWith('out/'));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(root, name), 'base64')]));
}

const left = () => pathsBelow(root).filter((path) => !/^(out|temp)(\/[^.]*)?$/.test(path) && !/^out\//.test(path));

function prepare({ outputExists }: Kind): void {
  warnings.length = 0;
  rmSync(root, { recursive: true, force: true });
  mkdirSync(join(root, 'temp'), { recursive: true });
  if (outputExists) mkdirSync(join(root, 'out'));
}

const warnings: string[] = [];

const run = ({ options }: Kind, more: Partial<ShuffleTogetherOptions> = {}) => {
  const together = [['en.txt', 'fr.txt', 'ids'].map((name) => join(inputs, name))];
  const how = { together, output: join(root, 'out'), tempDirs: [join(root, 'temp')], workers: 1, memoryBytes: 2 ** 27 };
  const onWarning = (line: string) => void warnings.push(line);
  return shuffleTogether({ ...how, onWarning, seed: '1', ...options, ...more }, TUNING);
};

/** Ends a job that was stopped, in the way that is for its kind. @param isWhole whether all members had appeared. */
async function finish(kind: Kind, isWhole: boolean, how: string): Promise<void> {
  try {
    await run(kind, kind.options.resume ? {} : { force: true });
  } catch (error) {
    // The output had appeared, and the job left no trace of itself.
    if (!(error instanceof UsageError && error.code === 'ERR_OUTPUT_EXISTS' && isWhole))
      throw new Error(`${how}; then ${error}`, { cause: error });
  }
}

async function expectSound(kind: Kind, fault: Fault, nth: number, expected: Record<string, string>): Promise<boolean> {
  prepare(kind);
  const faulty = new FaultyFileCalls(fault, nth, (path) => path === root || path.startsWith(`${root}/`));
  const former = replaceFileCalls(faulty.calls);
  let thrown: unknown;
  try {
    await run(kind);
  } catch (error) {
    thrown = error;
  } finally {
    await faulty.settle();
    replaceFileCalls(former);
  }
  if (faulty.struck === undefined) return false;
  const how = `${fault.kind} at call ${nth} (${JSON.stringify(faulty.struck)}): ${thrown}`;
  const seen = visible();
  const isWhole = isDeepStrictEqual(seen, expected);
  expect(isWhole || Object.keys(seen).length === 0, how).toBe(true);
  if (fault.kind === 'kills') disownLocksBelow(root);
  else if (thrown !== undefined) {
    expect(thrown, how).toBeInstanceOf(PileshufError);
    expect(String((thrown as Error).message), how).not.toContain('\n');
  } else expect(isWhole, how).toBe(true);
  await finish(kind, isWhole, how);
  expect(visible(), how).toEqual(expected);
  // What a warning names may stay.
  const unnamed = left().filter((path) => !warnings.some((line) => line.includes(join(root, path))));
  expect(unnamed, how).toEqual([]);
  return true;
}

describe.each(sampled(KINDS, 2))('$name', (kind) => {
  it.each(FAULTS.map((fault, i) => [fault.kind, fault, i] as const))(
    'appear together or not at all when a call %s',
    async (_, fault, i) => {
      prepare(kind);
      const report = await run(kind);
      const expected = visible();
      expect(Object.keys(expected)).toHaveLength(report.members.flatMap(({ files }) => files).length);
      expect(left()).toEqual([]);
      let tried = 0;
      while (await expectSound(kind, fault, 1 + (i % step) + tried * step, expected)) tried += 1;
      expect(tried).toBeGreaterThan(0);
    },
  );

  it('appear together or not at all when the power fails', async () => {
    prepare(kind);
    await run(kind);
    const expected = visible();
    prepare(kind);
    const model = new DiskModel(root);
    const former = replaceFileCalls(model.calls);
    await run(kind).finally(() => replaceFileCalls(former));
    expect(model.changeCount).toBeGreaterThan(10);
    // The last changes are those with which the outputs appear.
    const isTried = (count: number) => count % step === 0 || count > model.changeCount - 12;
    const tried = new Set<string>();
    for (let count = 0; count <= model.changeCount; count++) {
      if (!isTried(count)) continue;
      for (const survival of [ALL_LOST, NAMES_KEPT, DATA_KEPT]) {
        const state = model.stateAfter(count, survival);
        const isEnd = count === model.changeCount;
        if (tried.has(state.digest) && !isEnd) continue;
        tried.add(state.digest);
        state.writeTo(root);
        disownLocksBelow(root);
        const how = `${count} changes, the last is ${model.describe(count - 1)}`;
        const seen = visible();
        const isWhole = isDeepStrictEqual(seen, expected);
        expect(isWhole || Object.keys(seen).length === 0, how).toBe(true);
        if (isEnd) expect(isWhole, how).toBe(true);
        await finish(kind, isWhole, how);
        expect(visible(), how).toEqual(expected);
        expect(left(), how).toEqual([]);
      }
    }
  });
});
