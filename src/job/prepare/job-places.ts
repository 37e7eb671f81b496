/**
 * Where a job writes: output, temp directories and job directory, resolved and checked against its inputs
 * before anything is written.
 */
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { UsageError } from '../../errors.js';
import { suffixOf } from '../../formats/encoder-table.js';
import { realPathOf, statPath } from '../../io/paths.js';
import { deriveJobPaths, type JobPaths } from '../../job-directory/job-paths.js';
import {
  type FilesPlace,
  type OutputPlace,
  outputIdentityOf,
  requireOutside,
  resolveOutput,
  stagingParentOf,
} from '../../output/output-place.js';
import { commonExtension } from '../../output/shard-names.js';
import type { JobInputs } from './job-inputs.js';
import type { JobRequest } from './job-request.js';

/** Places of a job whose output is on disk. */
export interface FilesPlaces {
  readonly kind: 'files';
  readonly output: FilesPlace;
  /** The existing directory in which the output is staged. */
  readonly outputDirectory: string;
  /** Existing directories. */
  readonly tempDirs: readonly string[];
  /** Whether `tempDirs` were not named, and temp data lies in the job directory. */
  readonly keepsDataInJobDir: boolean;
  readonly paths: JobPaths;
}

/** Places of a job that leaves nothing on disk. */
export interface StreamPlaces {
  readonly kind: 'stream';
  readonly output: OutputPlace & { readonly kind: 'stream' };
  readonly outputDirectory: undefined;
  readonly tempDirs: readonly string[];
  readonly paths: undefined;
}

/** What the places of a job depend on. */
export interface NamedInputs extends Pick<JobInputs, 'directories'> {
  readonly inputs: readonly { readonly path: string }[];
}

export type JobPlaces = FilesPlaces | StreamPlaces;

/**
 * @param inputs whose names may say how shards are named.
 * @throws UsageError for every reason why the output or the temp data must not go there.
 */
export function choosePlaces(request: JobRequest, { inputs, directories }: NamedInputs): JobPlaces {
  const naming =
    request.shards === undefined ? undefined : { prefix: request.shardPrefix, extension: extensionOf(request, inputs) };
  const output = resolveOutput(request.output, naming, request.force);
  const places = output.kind === 'stream' ? streamPlaces(request, output) : filesPlaces(request, output);
  for (const directory of places.tempDirs) requireOutside(directory, 'the temp directory', directories);
  if (places.kind === 'files') {
    requireOutside(places.output.path, 'the output', directories);
    requireOutside(places.paths.jobDirectory, 'the job directory', directories);
    requireApartFromJobDir(places);
  }
  return places;
}

/** Of shards. */
function extensionOf({ compression }: JobRequest, inputs: NamedInputs['inputs']): string {
  const extension = commonExtension(inputs.map((input) => input.path));
  return compression === undefined ? extension : extension + suffixOf(compression.codec);
}

function streamPlaces(request: JobRequest, output: StreamPlaces['output']): StreamPlaces {
  if (request.mustBeResumable || request.keepTemp) {
    throw new UsageError(
      `a job that writes to ${output.path} cannot be resumed, nor kept; expected a file or a directory as \`output\``,
    );
  }
  return {
    kind: 'stream',
    output,
    outputDirectory: undefined,
    tempDirs: tempDirsOf(request, varTmp()),
    paths: undefined,
  };
}

function filesPlaces(request: JobRequest, output: FilesPlace): FilesPlaces {
  const outputDirectory = stagingParentOf(output);
  const jobDir = request.jobDir === undefined ? undefined : realPathOfJobDir(request.jobDir);
  const keepsDataInJobDir = jobDir !== undefined && request.tempDirs.length === 0;
  const tempDirs = keepsDataInJobDir
    ? [statPath(jobDir, 'temp')?.isDirectory() === true ? jobDir : dirname(jobDir)]
    : tempDirsOf(request, outputDirectory);
  const paths = deriveJobPaths({
    outputIdentity: outputIdentityOf(output),
    outputPath: output.path,
    outputDirectory,
    // However they are written, they are the same to a later run.
    tempDirs: tempDirs.map((path) => (statPath(path, 'temp') === undefined ? resolve(path) : realPathOf(path, 'temp'))),
    jobDir,
    keepsDataInJobDir,
  });
  return { kind: 'files', output, outputDirectory, tempDirs, keepsDataInJobDir, paths };
}

/** `--temp-dir`, else `$TMPDIR`, else what is given. */
function tempDirsOf(request: JobRequest, otherwise: string): readonly string[] {
  if (request.tempDirs.length > 0) return request.tempDirs;
  const fromEnvironment = process.env['TMPDIR'];
  return [fromEnvironment !== undefined && fromEnvironment !== '' ? fromEnvironment : otherwise];
}

/** A disk where /tmp may be memory. */
function varTmp(): string {
  return statPath('/var/tmp', 'temp')?.isDirectory() === true ? '/var/tmp' : tmpdir();
}

/** Absolute, without symbolic links. */
export function realTempDirsOf({ dataDirectories }: JobPaths): string[] {
  return dataDirectories.map((path) => dirname(path));
}

/** A job directory holds what the job puts there and nothing else. */
function requireApartFromJobDir({ paths, output, keepsDataInJobDir }: FilesPlaces): void {
  if (!paths.isNamed) return;
  const { jobDirectory } = paths;
  const isInside = (path: string) => `${path}/`.startsWith(`${jobDirectory}/`);
  if (isInside(output.path)) {
    throw new UsageError(
      `the output ${output.path} is the job directory ${jobDirectory} or lies in it; name another place with \`jobDir\``,
    );
  }
  const tempDir = keepsDataInJobDir ? undefined : realTempDirsOf(paths).find(isInside);
  if (tempDir === undefined) return;
  throw new UsageError(
    `the temp directory ${tempDir} is the job directory ${jobDirectory} or lies in it; leave out \`tempDirs\` to have temp data there, or name another place`,
  );
}

function realPathOfJobDir(path: string): string {
  const absolute = resolve(path);
  const parent = dirname(absolute);
  if (statPath(parent, 'temp')?.isDirectory() !== true) {
    throw new UsageError(`\`jobDir\` ${path}: the directory ${parent} does not exist; make it first`);
  }
  return join(realPathOf(parent, 'temp'), basename(absolute));
}
