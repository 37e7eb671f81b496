import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { beforeEach, expect } from 'vitest';
import { type ShuffleOptions, type ShuffleReport, shuffle } from '#src/index.js';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { type CommandRun, runCommand } from '../fixtures/run-command.js';
import { runShell } from '../fixtures/run-shell.js';
import type { TestDirectory } from '../fixtures/temp-directory.js';
import type { Sighting } from './input-witness.mjs';
import { type Sabotage, withSabotage } from './sabotage.js';
import { SMALL_SIZES, smallSizes, writeInputs } from './small-job.js';

const witness = new URL('input-witness.mjs', import.meta.url).href;

export interface JobRun {
  /** Words behind the usual ones. */
  readonly argv?: readonly string[];
  readonly sabotage?: Sabotage;
  /** From `smallSizes`. */
  readonly sizes?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly onSpawn?: (pid: number) => void;
}

export interface JobOutcome {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  /** What the one line of a failure says; undefined: there was none. */
  readonly failure: Failure | undefined;
  readonly warnings: readonly string[];
  readonly report: ShuffleReport | undefined;
  /** How many slices were read. */
  readonly splitsRead: number;
  readonly outputBytesWritten: number;
}

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly resume?: { readonly directory: string; readonly command: string };
}

/** Runs the command with `argv`, and with JSON on standard error. */
export async function runJob(directory: TestDirectory, argv: readonly string[], run: JobRun = {}): Promise<JobOutcome> {
  const log = directory.path('sightings');
  writeFileSync(log, '');
  const { nodeOptions = [], env = {} } = run.sabotage === undefined ? {} : withSabotage(run.sabotage);
  const options: CommandRun = {
    nodeOptions: [...nodeOptions, '--import', witness],
    env: { ...env, ...smallSizes(), ...run.sizes, ...run.env, PILESHUF_WITNESS: log },
    ...(run.cwd === undefined ? {} : { cwd: run.cwd }),
    ...(run.onSpawn === undefined ? {} : { onSpawn: run.onSpawn }),
  };
  const result = await runCommand(['--progress', 'json', ...argv, ...(run.argv ?? [])], options);
  return { ...result, ...readEvents(result.stderr), ...readSightings(log) };
}

/**
 * Runs the command in this process and on this thread. For tests of the files between two attempts, which do not depend on
 * the process. A separate process takes ten times as long.
 */
export async function runInProcess(argv: readonly string[]) {
  const tuning = { ...SMALL_SIZES, inline: true };
  const { exitCode, stderr } = await commandInProcess(['--progress', 'json', ...argv], { tuning });
  const { warnings, ...events } = readEvents(stderr);
  // That temp directories are in memory is the test's doing.
  return { exitCode, ...events, warnings: warnings.filter((line) => !line.startsWith('the temp directory ')) };
}

/** Has a shell run a line as it was printed. */
export async function runPrinted(directory: TestDirectory, line: string) {
  const log = directory.path('sightings');
  writeFileSync(log, '');
  const script = `node=$1 command=$2; pileshuf() { "$node" --import "${witness}" "$command" "$@"; }; ${line}`;
  const result = await runShell(script, [], { ...smallSizes(), PILESHUF_WITNESS: log });
  return { ...result, ...readEvents(result.stderr), ...readSightings(log) };
}

function readEvents(stderr: string): Pick<JobOutcome, 'failure' | 'warnings' | 'report'> {
  const events = stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  return {
    failure: events.find(({ event }) => event === 'error'),
    warnings: events.filter(({ event }) => event === 'warning').map(({ message }) => message),
    report: events.find(({ event }) => event === 'summary'),
  };
}

function readSightings(log: string): Pick<JobOutcome, 'splitsRead' | 'outputBytesWritten'> {
  const sightings: Sighting[] = readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  return {
    splitsRead: sightings.filter((sighting) => 'opened' in sighting).length,
    outputBytesWritten: sightings.reduce((sum, sighting) => ('written' in sighting ? sum + sighting.written : sum), 0),
  };
}

/** The small job of a test: its inputs, its output beside them, and seed 1. */
export interface SmallJob {
  inputs: readonly string[];
  output: string;
  /** What the command gets, without a temp directory. */
  words(more?: readonly string[]): string[];
  run(more?: readonly string[], how?: JobRun): Promise<JobOutcome>;
  /** Expects the bytes of a job that nothing disturbed. */
  expectWhole(options?: Partial<ShuffleOptions>): Promise<void>;
}

/** Registers with the surrounding `describe`, behind its directory: every test begins with new inputs. */
export function useSmallJob(directory: TestDirectory): SmallJob {
  const job: SmallJob = {
    inputs: [],
    output: '',
    words: (more = []) => [
      ...[...job.inputs, '-o', job.output, '--seed', '1', ...more],
      ...(more.includes('--workers') ? [] : ['--workers', '2']),
    ],
    run: (more = [], how = {}) => runJob(directory, job.words(more), how),
    expectWhole: async (options = {}) =>
      expect(contentOf(job.output)).toEqual(await undisturbed(directory, { inputs: job.inputs, ...options })),
  };
  beforeEach(() => {
    job.inputs = writeInputs(directory);
    job.output = directory.path('out');
  });
  return job;
}

/** The output of a job that nothing disturbs, made in quite another way: on one thread, in memory. */
export async function undisturbed(
  directory: TestDirectory,
  options: Pick<ShuffleOptions, 'inputs'> & Partial<ShuffleOptions>,
): Promise<Content> {
  const output = directory.path('undisturbed');
  const settings = { seed: '1', memoryBytes: 2 ** 28, workers: 1, tempDirs: [directory.temp], output, force: true };
  await shuffle({ ...settings, ...options }, { inline: true, mayUseRamPool: true });
  return contentOf(output);
}

/** Of a file its text; of a directory the names below it, sorted, with their texts. */
export type Content = string | readonly (readonly [name: string, text: string])[];

export function contentOf(path: string): Content {
  if (statSync(path).isFile()) return readFileSync(path, 'latin1');
  return namesBelow(path).map((name) => [name, readFileSync(join(path, name), 'latin1')]);
}

/** Files below a directory. They may come and go meanwhile: nothing is asked about a file by its name. */
export function namesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(path, join(entry.parentPath, entry.name)))
    .sort();
}

/** The one job directory in a directory, its data directory, and the one that outputs are staged in. */
export function findJobPaths(temp: string, stagingParent: string) {
  const find = (parent: string, ending: string) => {
    const [name, ...others] = readdirSync(parent).filter((entry) => entry.endsWith(ending));
    expect(others).toEqual([]);
    expect(name).toMatch(/^\.pileshuf-[0-9a-f]{16}\./);
    return join(parent, name ?? '');
  };
  return { job: find(temp, '.job'), data: find(temp, '.disk-0'), staging: find(stagingParent, '.out') };
}
