/** Where the file of dropped records appears, and why it must not appear there. Nothing is written yet. */
import { dirname } from 'node:path';
import { UsageError } from '../errors.js';
import { findObstacle, isSameFile } from '../io/paths.js';
import { areOnOneMount } from '../machine/renames.js';
import { type FilePlace, resolveOutput } from '../output/output-place.js';
import type { ShuffleRequest } from './request.js';
import type { JobSite } from './site.js';

/** @returns undefined if nobody asks for it. @throws UsageError */
export function placeOfDuplicates(
  { duplicates, force }: ShuffleRequest,
  site: JobSite,
  inputs: readonly { readonly path: string }[],
): FilePlace | undefined {
  if (duplicates === undefined) return undefined;
  if (site.kind === 'stream')
    throw new UsageError(
      `\`duplicates\` appears together with the output, or not at all, and ${site.output.path} is a stream: name a file with \`output\``,
    );
  const place = resolveOutput(duplicates, undefined, force);
  const refused = (reason: string) =>
    new UsageError(`the file of duplicates ${duplicates} ${reason}`, 'ERR_OUTPUT_PLACE');
  if (place.kind !== 'file') throw refused('is no regular file; name a file');
  const { output } = site;
  if (place.path === output.path) throw refused('is the output; name another file');
  if (output.kind === 'shards' && place.path.startsWith(`${output.path}/`))
    throw refused('lies among the shards, whose readers would take it for one; name a file elsewhere');
  if (`${place.path}/`.startsWith(`${site.paths.jobDirectory}/`))
    throw refused('is the job directory or lies in it, whose files go with the job; name a file elsewhere');
  if (inputs.some(({ path }) => isSameFile(path, place.path, 'output')))
    throw refused('is one of the inputs; name another file');
  const directory = dirname(place.path);
  const obstacle = findObstacle(directory, 'write', 'output');
  if (obstacle !== undefined) throw refused(`cannot be made in ${directory}: ${obstacle}; name a file elsewhere`);
  if (!areOnOneMount(directory, site.outputDirectory))
    throw refused(
      'lies on another file system than the output, or on another mount of it, so that the two could not appear together; name a file there',
    );
  return place;
}
