/** The file of `--profile`. It replaces an older file only with `--force`, and never an input or the output. */
import { accessSync, constants, existsSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { UsageError } from '../errors.js';
import { errnoOf, reasonOf } from '../io/io-error.js';
import type { JobProfile } from '../options/reports.js';
import type { ShuffleOptions } from '../options/shuffle-options.js';
import { isStandardOutput } from './standard-streams.js';

type Job = Pick<ShuffleOptions, 'inputs' | 'output' | 'force'>;

export function requireProfilePlace(path: string, { inputs, output, force }: Job): void {
  const refuse = (reason: string): never => {
    throw new UsageError(`--profile ${path}: ${reason}`);
  };
  const obstacle = obstacleIn(dirname(path));
  if (obstacle !== undefined) refuse(obstacle);
  if (path === '-') refuse('expected the name of a file; standard output is for records');
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) refuse('it is a directory; expected the name of a file');
  const isOutput = output === undefined || output === '-' ? isStandardOutput(path) : placeOf(path) === placeOf(output);
  if (isOutput) refuse('it is the output; name another file');
  for (const inputDirectory of pathsOf(inputs)) {
    if (liesBelow(path, inputDirectory)) {
      refuse(
        `it lies in the input directory ${inputDirectory}, where a later job would read it; name a file elsewhere`,
      );
    }
  }
  if (stat?.isFile() !== true) return;
  if (force !== true) refuse('the file exists already; give --force to replace it');
  for (const input of pathsOf(inputs)) {
    const named = statSync(input, { throwIfNoEntry: false });
    if (named?.dev === stat.dev && named.ino === stat.ino) refuse('it is one of the inputs; name another file');
  }
}

/** Why no file can be made in a directory; undefined: one can. */
function obstacleIn(directory: string): string | undefined {
  try {
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
      return `${directory} is not a directory; name a file in one`;
    accessSync(directory, constants.W_OK);
    return undefined;
  } catch (error) {
    return `cannot write to ${directory}: ${reasonOf(error)}`;
  }
}

function pathsOf(inputs: ShuffleOptions['inputs']): string[] {
  return inputs.flatMap((input) => (typeof input === 'string' ? input : 'path' in input ? input.path : []));
}

function liesBelow(path: string, directory: string): boolean {
  const [place, above] = [placeOf(path), placeOf(directory)];
  return place !== undefined && above !== undefined && place.startsWith(above.endsWith(sep) ? above : above + sep);
}

/** The real path of a file, which need not exist. */
function placeOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    try {
      return join(realpathSync(dirname(path)), basename(path));
    } catch {
      return undefined;
    }
  }
}

/** Writes the profile. The output is complete by then, so a failure is a warning. */
export function writeProfile(
  path: string,
  profile: JobProfile,
  { force }: Job,
  onWarning: (line: string) => void,
): void {
  const wasThere = existsSync(path);
  try {
    // A file that appeared meanwhile, such as a shard, stays. A device may always be written.
    const mayReplace = force === true || statSync(path, { throwIfNoEntry: false })?.isFile() === false;
    writeFileSync(path, `${JSON.stringify(profile, undefined, 1)}\n`, { flag: mayReplace ? 'w' : 'wx' });
  } catch (error) {
    if (!wasThere && errnoOf(error) !== 'EEXIST') removePart(path);
    onWarning(`--profile ${path}: cannot write it: ${reasonOf(error)}; the output is complete`);
  }
}

/** Removes what a full disk has of a profile. */
function removePart(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The warning about the profile is enough.
  }
}
