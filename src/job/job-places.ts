/**
 * Where a job writes: output and temp directories, resolved and checked against its inputs before
 * anything is written.
 */
import { tmpdir } from 'node:os';
import { statPath } from '../io/paths.js';
import { directoryOfOutput, type OutputPlace, requireOutside, resolveOutput } from '../output/output-place.js';
import { commonExtension } from '../output/shard-names.js';
import type { JobInputs } from './job-inputs.js';
import type { JobRequest } from './job-request.js';

export interface JobPlaces {
  readonly output: OutputPlace;
  /** The existing directory in which the output appears; undefined for a stream. */
  readonly outputDirectory: string | undefined;
  readonly tempDirs: readonly string[];
}

/** @throws UsageError for every reason why the output or the temp data must not go there. */
export function choosePlaces(request: JobRequest, { inputs, directories }: JobInputs): JobPlaces {
  const naming =
    request.shards === undefined
      ? undefined
      : { prefix: request.shardPrefix, extension: commonExtension(inputs.map((input) => input.path)) };
  const output = resolveOutput(
    request.output,
    naming,
    request.force,
    inputs.map((input) => input.path),
  );
  if (output.kind !== 'stream') requireOutside(output.path, 'the output', directories);
  const outputDirectory = directoryOfOutput(output);
  const tempDirs = request.tempDirs.length > 0 ? request.tempDirs : [defaultTempDir(outputDirectory)];
  for (const directory of tempDirs) requireOutside(directory, 'the temp directory', directories);
  return { output, outputDirectory, tempDirs };
}

/** `$TMPDIR`, else where the output goes, else /var/tmp, which is a disk where /tmp may be memory. */
function defaultTempDir(outputDirectory: string | undefined): string {
  const fromEnvironment = process.env['TMPDIR'];
  if (fromEnvironment !== undefined && fromEnvironment !== '') return fromEnvironment;
  if (outputDirectory !== undefined) return outputDirectory;
  return statPath('/var/tmp', 'temp')?.isDirectory() === true ? '/var/tmp' : tmpdir();
}
