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
  readonly output: FilesPlace;
  /** The job directory; it need not exist. */
  readonly jobDir: string;
}

export function placeOfProfile(
  file: string,
  mayReplace: boolean,
  { inputs, directories, output, jobDir }: OtherPlaces,
): ProfilePlace {
  // Callers without types may pass anything.
  if (typeof file !== 'string') throw new UsageError('`profile`: expected the path of a file');
  const refuse = refusalOf('profile', file);
  requireDirectory(file, refuse);
  if (file === '-') refuse('expected the name of a file: tasks cannot share standard output');
  requireOutside(file, 'the profile', directories);
  const path = requireBesideOutput(file, refuse, output);
  if (resolve(file) === resolve(jobDir)) refuse('it is the job directory; name a file elsewhere');
  if (statPath(jobDir, 'output') !== undefined && path.startsWith(realPathOf(jobDir, 'output') + sep))
    refuse('it lies in the job directory; name a file elsewhere');
  requireReplaceable(file, refuse, { force: mayReplace, inputs });
  return { path, mayReplace };
}
