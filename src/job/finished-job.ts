/**
 * The record of a resumable job that has succeeded, for the time after its job directory is gone: by it, the same call
 * with `resume` finds that nothing is left to do. It lies beside no data, but with the state of the user's programs:
 *
 *     $XDG_STATE_HOME/pileshuf/ID     by default ~/.local/state/pileshuf/ID, with ID from the output
 *
 * It has a hash of everything that decides the bytes (options, and fingerprints of inputs), and a hash of the names, sizes,
 * times and ends of the output files. If one of them has changed, or the record is gone, nothing is known.
 */
import { hash } from 'node:crypto';
import { dirname, isAbsolute, join } from 'node:path';
import { PileshufError, UsageError } from '../errors.js';
import { replaceDurably } from '../io/atomic-files.js';
import { makeOwnDirectory, requirePrivate } from '../io/directories.js';
import { removeFile } from '../io/files.js';
import { asSealed, object, text } from '../io/json-shape.js';
import { listNames, lstatPath, nameExists } from '../io/paths.js';
import { jsonOf } from '../io/plain-data.js';
import { SealedFormat } from '../io/sealed-format.js';

const format = new SealedFormat({
  kind: 'finished',
  version: 1,
  /** The report names all shards. */
  mostBytes: 2 ** 24,
  role: 'temp',
  shape: object({ seed: text, job: text, output: text, report: asSealed<object>() }),
});

const RETAINED_MILLISECONDS = 90 * 86_400_000;

/** Ends a job whose output is there already. */
class AlreadyFinished extends Error {
  readonly report: object;

  constructor(report: object) {
    super('the output is complete already');
    this.report = report;
  }
}

/** Output of a job: its id, and a line for each of its files, in which every change of the file shows. */
export interface KnownOutput {
  readonly id: string;
  lines(): Promise<readonly string[]> | readonly string[];
}

/**
 * Writes the record. If that fails, a later call does not know that the job is done.
 * @param job plain data: everything that decides the bytes.
 */
export async function noteFinished(output: KnownOutput, seed: string, job: object, report: object): Promise<void> {
  await ifFound(async (directory) => {
    const record = { seed, job: hashOf(job), output: hashOf(await output.lines()), report };
    makeWithParents(directory);
    requirePrivate(directory);
    for (const path of listNames(directory, 'temp').map((name) => join(directory, name)))
      if (Number(lstatPath(path, 'temp')?.mtimeMs ?? 0) < Date.now() - RETAINED_MILLISECONDS) removeFile(path, 'temp');
    await replaceDurably(directory, output.id, format.seal(record));
  });
}

/**
 * Returns what ends a job that finds its output there: AlreadyFinished if the output is known to be its own, else the
 * refusal.
 * @param jobOf what is asked for, as `noteFinished` takes it, with this seed.
 */
export async function refusalOrEnd(
  refusal: unknown,
  output: KnownOutput,
  jobOf: (seed: string) => Promise<object>,
): Promise<unknown> {
  if (!(refusal instanceof UsageError) || refusal.code !== 'ERR_OUTPUT_EXISTS') return refusal;
  const report = await ifFound(async (directory) => {
    const record = format.read(join(directory, output.id));
    if (record === undefined) return undefined;
    requirePrivate(directory);
    const isSame = record.output === hashOf(await output.lines()) && record.job === hashOf(await jobOf(record.seed));
    return isSame ? record.report : undefined;
  });
  if (report !== undefined) return new AlreadyFinished(report);
  refusal.message += '; there is no job to resume, and pileshuf cannot tell whether this is the output of the same job';
  return refusal;
}

/** Returns the report of a job that an earlier call has finished. Throws anything else again. */
export function reportOfFinished<Report extends object>(thrown: unknown): Report & { readonly wasFinished: true } {
  if (!(thrown instanceof AlreadyFinished)) throw thrown;
  return { ...(thrown.report as Report), wasFinished: true };
}

/** Undefined if the work fails, or the process has no home: then nobody knows. */
async function ifFound<T>(work: (stateDirectory: string) => Promise<T>): Promise<T | undefined> {
  const { XDG_STATE_HOME = '', HOME = '' } = process.env;
  const state = isAbsolute(XDG_STATE_HOME) ? XDG_STATE_HOME : join(HOME, '.local', 'state');
  if (!isAbsolute(state)) return undefined;
  try {
    return await work(join(state, 'pileshuf'));
  } catch (error) {
    if (error instanceof PileshufError) return undefined;
    throw error;
  }
}

function makeWithParents(directory: string): void {
  if (nameExists(directory, 'temp')) return;
  makeWithParents(dirname(directory));
  makeOwnDirectory(directory, 'temp');
}

function hashOf(value: object): string {
  return hash('sha256', jsonOf(value), 'hex');
}
