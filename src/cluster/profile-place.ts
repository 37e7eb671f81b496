/** Where the commit of a profiled job writes the profile, and why it must not appear there. Nothing is written yet. */
import { resolve, sep } from 'node:path';
import { UsageError } from '../errors.js';
import type { Input } from '../inputs/list-inputs.js';
import { realPathOf, statPath } from '../io/paths.js';
import { refusalOf, requireBesideOutput, requireDirectory, requireReplaceable } from '../jobs/report/report-file.js';
import { type FilesPlace, requireOutside } from '../output/output-place.js';
import type { ProfilePlace } from './cluster-plan.js';

/** What the file must keep away from. */
interface OtherPlaces {
  readonly inputs: readonly Input[];
  /** The directories among the inputs. */
  readonly directories: readonly string[];
  /** Undefined: the job adds to a store. */
  readonly output: FilesPlace | undefined;
  /** Directories that only hold what pileshuf puts there; they need not exist. */
  readonly own: Readonly<Record<string, string | undefined>>;
}

/** @param force undefined: the job replaces nothing. @throws UsageError */
export function placeOfProfile(
  file: string,
  force: boolean | undefined,
  { inputs, directories, output, own }: OtherPlaces,
): ProfilePlace {
  // Callers without types may pass anything.
  if (typeof file !== 'string') throw new UsageError('`profile`: expected the path of a file');
  const refuse = refusalOf('profile', file);
  requireDirectory(file, refuse);
  if (file === '-') refuse('expected the name of a file: tasks cannot share standard output');
  requireOutside(file, 'the profile', directories);
  const path = requireBesideOutput(file, refuse, output);
  for (const [what, directory] of Object.entries(own)) {
    if (directory === undefined) continue;
    if (resolve(file) === resolve(directory)) refuse(`it is ${what}; name a file elsewhere`);
    if (statPath(directory, 'output') === undefined) continue;
    if (path.startsWith(realPathOf(directory, 'output') + sep)) refuse(`it lies in ${what}; name a file elsewhere`);
  }
  if (force === undefined && statPath(file, 'output')?.isFile() === true)
    refuse('the file exists already; name another one');
  const mayReplace = force ?? false;
  requireReplaceable(file, refuse, { force: mayReplace, inputs });
  return { path, mayReplace };
}
