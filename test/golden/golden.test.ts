/**
 * What a former tree wrote, this one reads; what it writes, it writes with the same bytes: outputs, pile stores, record
 * indexes and job directories. The golden files in files/ are checked in and stay; write-golden.mjs says when they change.
 * Uses the public functions and the built command alone. What is random or a time is replaced before files are
 * compared: names of attempts and commits, the id of a store, times of states; and the places of a job.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fastPlace } from '../fixtures/fast-place.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { seal, unseal } from './file-formats.mjs';
import { copyInput, INDEX_CASES, indexOf, recordsOf } from './indexes.mjs';
import {
  catchJob,
  comparableJob,
  formatOf,
  goldenDirectories,
  JOB_CASES,
  JobPlaces,
  jobCase,
  restoreJob,
  runJob,
} from './jobs.mjs';
import { filesOf, IN_MEMORY, INPUTS, ON_DISK, OUTPUT_CASES, outputCase, resultOf, told } from './output-cases.mjs';
import { comparableStore, readingOf, restOf, upkeepOf, writeStore } from './stores.mjs';

const FILES = fileURLToPath(new URL('files/', import.meta.url));
const MAIN = fileURLToPath(new URL('../../dist/bundle/main.cjs', import.meta.url));
const directory = useMemoryDirectory();

const makeDirectory = (name: string) => {
  const path = directory.path(name);
  mkdirSync(path);
  return path;
};

const readJson = (name: string) => JSON.parse(readFileSync(join(FILES, name), 'utf8'));

/** Buffers as text, which is compared and shown quickly. */
const asTexts = (files: Record<string, Buffer>) =>
  Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, bytes.toString('latin1')]));

describe('outputs', () => {
  const golden = readJson('outputs.json');

  it('are those of all cases', () => {
    expect(Object.keys(golden)).toEqual(Object.keys(OUTPUT_CASES));
  });

  describe.each(Object.keys(OUTPUT_CASES))('%s', (name) => {
    it('in memory', async () => {
      expect(await resultOf(outputCase(name), directory.temp, IN_MEMORY)).toEqual(golden[name]);
    });

    it('on disk', async () => {
      expect(await resultOf(outputCase(name), directory.temp, ON_DISK)).toEqual(golden[name]);
    });
  });

  it('of several workers', async () => {
    const several = outputCase('several files');
    const options = { ...several.options, workers: 3 };
    const tuning = { ...ON_DISK, inline: false };
    expect(await resultOf({ ...several, options }, directory.temp, tuning)).toEqual(golden['several files']);
  });

  const command = (...words: string[]) => spawnSync(process.execPath, [MAIN, '-q', '-T', directory.temp, ...words]);

  it('of the command, to standard output', () => {
    const { status, stdout } = command(
      '--seed',
      '42',
      ...outputCase('several files').inputs.map((name) => INPUTS + name),
    );
    expect({ status, output: told(stdout) }).toEqual({ status: 0, ...golden['several files'].files });
  });

  it('of the command, in shards', () => {
    const output = directory.path('shards');
    mkdirSync(output);
    const inputs = outputCase('shards with a header, compressed').inputs.map((name) => INPUTS + name);
    const words = ['--seed', '1', '--csv', '--header', '1', '--shards', '3', '--compress', 'gzip', '-o', output];
    expect(command(...words, ...inputs).status).toBe(0);
    expect(filesOf(output)).toEqual(golden['shards with a header, compressed'].files);
  });
});

describe('a pile store', () => {
  const golden = readJson('store-readings.json');
  const copyStore = () => {
    const store = directory.path('store');
    cpSync(join(FILES, 'store'), store, { recursive: true });
    return store;
  };

  it('is read, and what is read from it is the same', async () => {
    const { report, shuffled, epochs } = golden;
    expect(await readingOf(copyStore(), directory.temp)).toEqual({ report, shuffled, epochs });
    rmSync(join(directory.temp, 'store-output'));
  });

  it('is read on from the state of a loader', async () => {
    expect(await restOf(copyStore(), golden.state)).toBe(golden.rest);
  });

  it('is appended to, expired and collected', async () => {
    const upkeep = await upkeepOf(copyStore(), directory.temp);
    expect(upkeep).toEqual(golden.afterUpkeep);
    rmSync(join(directory.temp, 'store-output'));
  });

  it('is written with the same bytes', async () => {
    const store = directory.path('store');
    await writeStore(store);
    // The golden store is of a program that did not note the state that a store has reached.
    expect(readdirSync(join(store, 'reached'))).toEqual(['000000000006']);
    rmSync(join(store, 'reached'), { recursive: true });
    expect(asTexts(comparableStore(store))).toEqual(asTexts(comparableStore(join(FILES, 'store'))));
  });
});

describe.each(Object.keys(INDEX_CASES))('the record index of %s', (name) => {
  const golden = readFileSync(join(FILES, 'indexes', name));

  it('is written with the same bytes', async () => {
    expect((await indexOf(name, makeDirectory('indexed'))).toString('latin1')).toBe(golden.toString('latin1'));
  });

  it('is read', async () => {
    const path = copyInput(name, makeDirectory('indexed'));
    writeFileSync(`${path}.pileshuf-index`, golden);
    expect(await recordsOf(path)).toBe(readJson('indexed-records.json')[name]);
  });
});

/** A job of this tree, caught where the golden one was. */
interface CaughtJob {
  readonly format: number;
  readonly files: Readonly<Record<string, string>>;
  readonly output: unknown;
}

const caughtJobs = new Map<string, Promise<CaughtJob>>();

function caughtJob(name: string): Promise<CaughtJob> {
  const caught = caughtJobs.get(name) ?? catchAJob(name);
  caughtJobs.set(name, caught);
  return caught;
}

async function catchAJob(name: string): Promise<CaughtJob> {
  const root = mkdtempSync(join(fastPlace(), 'pileshuf-test-'));
  let caught: Omit<CaughtJob, 'output'> | undefined;
  try {
    const { report, files } = await catchJob(root, jobCase(name), ({ job, directories }) => {
      caught = { format: formatOf(job), files: asTexts(comparableJob(jobCase(name), directories)) };
    });
    const { records, bytes, checksum } = report;
    if (caught === undefined) throw new Error('the job was not caught');
    return { ...caught, output: { records, bytes, checksum, files } };
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** In a directory that is named by the number of their format. */
const GOLDEN_JOBS = join(FILES, 'jobs');
const FORMATS = readdirSync(GOLDEN_JOBS).map(Number);

const jobFilesOf = (golden: string, name: string) =>
  asTexts(comparableJob(jobCase(name), goldenDirectories(golden, jobCase(name))));

async function requireRefusal(name: string, root: string, former: number, format: number): Promise<void> {
  const { directories } = new JobPlaces(root, jobCase(name));
  const filesNow = () => asTexts(comparableJob(jobCase(name), directories));
  const before = filesNow();
  expect(before).toHaveProperty(['job/manifest']);
  await expect(runJob(root, jobCase(name))).rejects.toMatchObject({
    kind: 'usage',
    code: 'ERR_JOB_VERSION',
    // One line, which names both formats.
    message: expect.stringMatching(new RegExp(`^.+/manifest\\b.+\\b${former}\\b.+\\b${format}\\b.+$`)),
  });
  expect(filesNow()).toEqual(before);
}

describe.each(Object.keys(JOB_CASES))('the directory of a job %s', (name) => {
  const goldenOf = (format: number) => join(GOLDEN_JOBS, String(format), name);
  const isCompressed = jobCase(name).options.compress !== undefined;

  it('is written with the same bytes', async () => {
    const { format, files } = await caughtJob(name);
    expect(FORMATS, `write them with: node test/golden/write-golden.mjs jobs`).toEqual([format]);
    const golden = jobFilesOf(goldenOf(format), name);
    // How far tasks have come beside a commit is nobody's promise; nor what compressors make of bytes.
    const isCompared = (file: string) =>
      !/\.part$|-0{8}\.index$/.test(file) && (!isCompressed || file === 'job/manifest' || file === 'staging/owner');
    const names = Object.keys(golden).filter(isCompared);
    expect(Object.keys(files)).toEqual(expect.arrayContaining(names.filter((file) => !file.endsWith('.pile'))));
    const both = names.filter((file) => file in files);
    const pick = (from: Readonly<Record<string, string>>) => both.map((file) => [file, from[file]]);
    expect(pick(files)).toEqual(pick(golden));
  });

  it('is resumed, which gives the same output', async () => {
    const { format, output } = await caughtJob(name);
    const golden = JSON.parse(readFileSync(join(goldenOf(format), 'outcome.json'), 'utf8'));
    const root = directory.path('job');
    restoreJob(goldenOf(format), root, jobCase(name));
    const { report, files } = await runJob(root, jobCase(name));
    const { records, bytes, checksum, resumed } = report;
    expect({ records, bytes, checksum, resumed, files }).toEqual(golden);
    expect(resumed?.pileSets).toBeGreaterThan(0);
    const { resumed: _, ...whole } = golden;
    expect(output).toEqual(whole);
    const left = readdirSync(root, { recursive: true }).map(String);
    expect(left.filter((path) => path.includes('.pileshuf-') || path.startsWith('job'))).toEqual([]);
  });

  it('is refused in a former format, and left as it is', async () => {
    const { format } = await caughtJob(name);
    const root = directory.path('lowered');
    const golden = directory.path('golden');
    cpSync(goldenOf(format), golden, { recursive: true });
    const manifest = join(golden, 'job', 'manifest');
    writeFileSync(manifest, seal({ ...unseal(readFileSync(manifest)), version: format - 1 }));
    restoreJob(golden, root, jobCase(name));
    await requireRefusal(name, root, format - 1, format);
  });

  it('holds what shows that it is resumed, and not done anew', () => {
    for (const format of FORMATS) {
      const names = readdirSync(join(goldenOf(format), 'job'));
      expect(names).toContain('set-000000.index');
      expect(names.includes('done-000001')).toBe(name !== 'in-pass-1');
      expect(existsSync(join(goldenOf(format), 'job', 'commit'))).toBe(name === 'at-its-end');
    }
  });
});
