/** A file that tells of a job beside its output: refuses a bad place for it before the job, and writes it whole. */
import { randomBytes } from 'node:crypto';
import { fstatSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { UsageError } from '../../errors.js';
import { systemCall } from '../../io/io-error.js';
import { findObstacle, nameExists, realPathOf, statPath } from '../../io/paths.js';
import { linkOrRename, moveIntoPlace } from '../../io/rename-and-sync.js';
import { renameObstacles } from '../../machine/renames.js';
import type { Destination } from '../../places/outputs/destination.js';
import { requireOutside } from '../../places/outputs/output-files.js';
import { type Inputs, identityOf } from '../../sources/input.js';

const STANDARD_OUTPUT_FD = 1;

/** The places of a job at which no report and no profile may lie. */
export interface PlacesInUse {
  readonly inputs: Inputs;
  /** The directories among the inputs. */
  readonly directories: readonly string[];
  /** The output. Undefined: a stream. */
  readonly output: Destination | undefined;
}

export function refuser(option: string, file: string): (reason: string) => never {
  return (reason) => {
    throw new UsageError(`\`${option}\` ${file}: ${reason}`);
  };
}

/** Refuses a place where the file must not lie. @returns its real path. */
export function requireFilePlace(
  option: 'report' | 'profile',
  file: string,
  mayReplace: boolean,
  { inputs, directories, output }: PlacesInUse,
): string {
  const refuse = refuser(option, file);
  const directory = dirname(file);
  if (statPath(directory, 'output')?.isDirectory() !== true)
    refuse(`${directory} is not a directory; name a file in one`);
  const obstacle = findObstacle(directory, 'write', 'output');
  if (obstacle !== undefined) refuse(`cannot write to ${directory}: ${obstacle}`);
  requireOutside(file, `the ${option}`, directories);
  const place = join(realPathOf(directory, 'output'), basename(file));
  if (place === output?.path) refuse('it is the output; name another file');
  if (output !== undefined && place.startsWith(output.path + sep))
    refuse('it lies in the directory of the shards, where their readers would find it; name a file elsewhere');
  if (!nameExists(file, 'output')) return place;
  const stat = statPath(file, 'output');
  if (stat?.isFile() !== true) refuse('it is not a regular file; expected the name of a file');
  if (!mayReplace) refuse('the file exists already; give `force` to replace it');
  const fixed = renameObstacles()(realPathOf(file, 'output'));
  if (fixed !== undefined) refuse(`it cannot be replaced: ${fixed}`);
  const identity = identityIn(stat);
  if (inputs.some((input) => identityOf(input) === identity)) refuse('it is one of the inputs; name another file');
  if (identityIn(fstatSync(STANDARD_OUTPUT_FD, { bigint: true })) === identity)
    refuse('it is standard output; name another file');
  return place;
}

function identityIn(stat: { readonly dev: bigint; readonly ino: bigint } | undefined): string {
  return `${stat?.dev}:${stat?.ino}`;
}

/** Writes a file under another name first, so that it is whole or not there. */
export function writeAtomically(file: string, text: string, mayReplace: boolean): void {
  const staged = join(dirname(file), `.${basename(file)}.${randomBytes(4).toString('hex')}`);
  try {
    systemCall('write', 'output', file, () => writeFileSync(staged, text, { flag: 'wx', flush: true }));
    if (mayReplace) moveIntoPlace(staged, file);
    else linkOrRename(staged, file);
  } finally {
    rmSync(staged, { force: true });
  }
}
