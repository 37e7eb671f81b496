/** Chooses where a job writes, and checks the places against each other before the job writes anything. */

import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { UsageError } from '../errors.js';
import type { List } from '../floor/paged-list.js';
import { suffixOf } from '../formats/encoder-table.js';
import { refuseOtherFormats, requireNameOfRows } from '../formats/recognition.js';
import { extensionOfRows, loadRowFormat } from '../formats/rows/registry.js';
import type { RowFormat } from '../formats/rows/row-format.js';
import { CARD_NAME, SUMS_NAME } from '../io/own-files.js';
import { fileAmongParents, realPathOf, statPath } from '../io/paths.js';
import { deriveJobPaths, type JobPaths } from '../job-directory/job-paths.js';
import { sectionNameOf } from '../keep/sections.js';
import { inputName } from '../places/inputs/input-source.js';
import { type Destination, outputIdentityOf } from '../places/outputs/destination.js';
import { requireOutside } from '../places/outputs/output-files.js';
import { LOCAL_PLACES_ONLY } from '../places/outputs/output-kinds.js';
import {
  type OutputPlace,
  type OutputPlaces,
  type StreamPlace,
  sumsPlaceError,
} from '../places/outputs/output-place.js';
import { type FileIdentity, requireNotRead } from '../places/outputs/output-stream.js';
import { commonExtension } from '../places/outputs/shard-names.js';
import { requireOnDisk } from '../remote/address.js';
import { STANDARD_OUTPUT } from '../sinks/output-target.js';
import { type Inputs, isReadOnce } from '../sources/input.js';
import { firstRowsInput, refuseOptionsOfOthers } from '../sources/rows.js';
import type { ShuffleSpec, WriteSpec } from '../spec.js';
import { type OutputRequest, prefixesOf, type ResumeRequest } from './request.js';
import { nameOfTempDir, requireTempDirs, type TempChoice, tempDirOfEnvironment } from './temp-disks.js';

type WriteRequest = OutputRequest & ResumeRequest;

export interface FilePlaces {
  readonly kind: 'files';
  readonly place: OutputPlace;
  readonly output: Destination;
  /** The directory on whose disk the output lies from its first byte. Undefined: it lies on no disk of this machine. */
  readonly outputDirectory: string | undefined;
  /** The directories as the caller gives them. */
  readonly tempDirs: readonly string[];
  /** `jobDir`: temp data lies in the job directory. */
  readonly tempChoice: TempChoice;
  readonly paths: JobPaths;
}

export interface StreamPlaces {
  readonly kind: 'stream';
  readonly place?: undefined;
  readonly output: StreamPlace;
  readonly outputDirectory: undefined;
  readonly tempDirs: readonly string[];
  readonly tempChoice: TempChoice;
  readonly paths: undefined;
}

/** The places that the job reads, as far as they decide where it writes. */
interface ReadPlaces {
  readonly inputs: List<{ readonly path: string }>;
  /** The format of the rows of the output: then shards are named so. Absent: it has records. */
  readonly rows?: string | undefined;
  /** The files that the job reads, to which it must not write as to a stream. */
  readonly files: () => Iterable<FileIdentity>;
  /** Nothing may be written into a pile store that the job reads. */
  readonly storeDirectory?: string;
  /** The places where the output may lie. Absent: those on disks. */
  readonly outputs?: OutputPlaces;
}

export type JobPlaces = FilePlaces | StreamPlaces;

export function choosePlaces(request: WriteRequest, read: ReadPlaces): JobPlaces {
  const { storeDirectory, outputs = LOCAL_PLACES_ONLY } = read;
  const naming =
    request.spec.cut.shards === undefined
      ? undefined
      : {
          prefixes: prefixesOf(request.spec.cut),
          extension: extensionOf(request.spec.write, read),
          sections: sectionNameOf(request.spec.cut),
          beside: besideShards(request.spec.write),
        };
  const hasSums = request.spec.write.sums === true;
  const output = outputs.resolve(request.output, naming, request.force, hasSums);
  if (output.kind === 'stream' && hasSums) throw sumsPlaceError(output.path);
  const places = output.kind === 'stream' ? streamPlaces(request, output, read) : filePlaces(request, output);
  if (storeDirectory !== undefined) {
    for (const directory of places.tempDirs) requireOutside(directory, 'the temp directory', [storeDirectory]);
    if (places.place !== undefined) requireOutside(places.output.path, 'the output', [storeDirectory]);
  }
  return places;
}

/** Returns the names of the files that the job writes beside its shards, for people and other programs. */
function besideShards({ card, sums }: WriteSpec): string[] {
  return [...(card === undefined ? [] : [CARD_NAME]), ...(sums === true ? [SUMS_NAME] : [])];
}

function extensionOf({ compression }: WriteSpec, { inputs, rows }: ReadPlaces): string {
  if (rows !== undefined) return extensionOfRows(rows);
  const extension = commonExtension(inputs);
  return compression === undefined ? extension : extension + suffixOf(compression.codec);
}

function streamPlaces(request: WriteRequest, output: StreamPlaces['output'], { files }: ReadPlaces): StreamPlaces {
  if (request.mustBeResumable || request.keepTemp) {
    throw new UsageError(
      `a job that writes to ${output.path} cannot be resumed or kept; expected a file or a directory as \`output\``,
    );
  }
  requireNotRead(output.path, files());
  return {
    kind: 'stream',
    output,
    outputDirectory: undefined,
    ...tempDirsOf(request, { directory: varTmp(), choice: 'default' }),
    paths: undefined,
  };
}

function filePlaces(request: WriteRequest, place: OutputPlace): FilePlaces {
  const output = place.to;
  const jobDir = request.jobDir === undefined ? undefined : realPathOfJobDir(request.jobDir);
  const outputDirectory = place.stagingParent?.();
  const stagingParent = outputDirectory ?? stagingParentElsewhere(request, jobDir);
  const hasDataInJobDir = jobDir !== undefined && request.tempDirs.length === 0;
  const temp = hasDataInJobDir
    ? {
        tempDirs: [statPath(jobDir, 'temp')?.isDirectory() === true ? jobDir : dirname(jobDir)],
        tempChoice: 'jobDir' as const,
      }
    : tempDirsOf(request, { directory: stagingParent, choice: place.isOnDisk ? 'output' : 'default' });
  const paths = deriveJobPaths({
    outputIdentity: outputIdentityOf(output),
    outputPath: output.path,
    stagingParent,
    // A later attempt may write the same paths differently.
    tempDirs: temp.tempDirs.map((path) =>
      statPath(path, 'temp') === undefined ? resolve(path) : realPathOf(path, 'temp'),
    ),
    jobDir,
    hasDataInJobDir,
  });
  const places: FilePlaces = { kind: 'files', place, output, outputDirectory, ...temp, paths };
  requireApartFromJobDir(places, request);
  return places;
}

/** Little is staged of what leaves, but a later attempt must find it, and so must the tasks of a cluster. */
function stagingParentElsewhere(request: WriteRequest, jobDir: string | undefined): string {
  if (jobDir !== undefined) return dirname(jobDir);
  const { tempDirs, tempChoice } = tempDirsOf(request, { directory: varTmp(), choice: 'default' });
  const [directory = varTmp()] = tempDirs;
  requireTempDirs([directory], tempChoice);
  return realPathOf(directory, 'temp');
}

/** The named directories, else `$TMPDIR`, else the given one. */
function tempDirsOf(
  request: WriteRequest,
  otherwise: { readonly directory: string; readonly choice: TempChoice },
): Pick<JobPlaces, 'tempDirs' | 'tempChoice'> {
  if (request.tempDirs.length > 0) return { tempDirs: request.tempDirs, tempChoice: 'tempDirs' };
  const fromEnvironment = tempDirOfEnvironment();
  if (fromEnvironment !== undefined) return { tempDirs: [fromEnvironment], tempChoice: 'TMPDIR' };
  return { tempDirs: [otherwise.directory], tempChoice: otherwise.choice };
}

/** /var/tmp lies on a disk, while /tmp may be memory. */
function varTmp(): string {
  return statPath('/var/tmp', 'temp')?.isDirectory() === true ? '/var/tmp' : tmpdir();
}

/** The temp directories as absolute paths without symbolic links. */
export function realTempDirsOf({ dataDirectories }: JobPaths): string[] {
  return dataDirectories.map((path) => dirname(path));
}

/** A job directory holds only files of the job. */
function requireApartFromJobDir(places: FilePlaces, { output: named, jobDir }: WriteRequest): void {
  const { paths, output, tempDirs, tempChoice } = places;
  if (!paths.isNamed) return;
  const { jobDirectory } = paths;
  const isInside = (path: string) => `${path}/`.startsWith(`${jobDirectory}/`);
  if (isInside(output.path)) {
    throw new UsageError(
      `the output ${named} is the job directory ${jobDir} or lies in it; name another place with \`jobDir\``,
    );
  }
  const disk = tempChoice === 'jobDir' ? -1 : realTempDirsOf(paths).findIndex(isInside);
  const tempDir = tempDirs[disk];
  if (tempDir === undefined) return;
  throw new UsageError(
    `${nameOfTempDir(tempDir, tempChoice)} is the job directory ${jobDir} or lies in it; leave out \`tempDirs\` to have temp data there, or name another place`,
  );
}

function realPathOfJobDir(path: string): string {
  requireOnDisk('`jobDir`', path);
  const absolute = resolve(path);
  const parent = dirname(absolute);
  if (statPath(parent, 'temp')?.isDirectory() !== true) {
    const file = fileAmongParents(absolute, 'temp');
    const problem =
      file === undefined
        ? `the directory ${parent} does not exist; make it first`
        : `${file} is not a directory; name another place`;
    throw new UsageError(`\`jobDir\` ${path}: ${problem}`);
  }
  return join(realPathOf(parent, 'temp'), basename(absolute));
}

interface RowsOutputRequest {
  readonly spec: ShuffleSpec;
  readonly output: string | undefined;
}

/** Checks before anything is written. @returns the format of the rows; undefined: the inputs hold none. */
export async function requireOutputOfRows(
  { spec, output }: RowsOutputRequest,
  inputs: Inputs,
): Promise<RowFormat | undefined> {
  const first = firstRowsInput(inputs);
  const { rowChoice, compression } = spec.write;
  if (output !== undefined && spec.cut.shards === undefined) {
    const stream = inputs.find(isReadOnce);
    if (first === undefined) refuseOtherFormats(output, undefined, false, stream && inputName(stream.path));
    else requireNameOfRows(output, first.rows.format);
  }
  refuseOptionsOfOthers(rowChoice, first);
  if (first === undefined) return undefined;
  const format = await loadRowFormat(first.rows);
  const holds = `${first.path} holds ${first.rows.format} data, and`;
  if (compression !== undefined)
    throw new UsageError(`${holds} \`compress\` is for other outputs; ${format.insteadOfCompress}`);
  if (spec.keep.repeat)
    throw new UsageError(`${holds} \`repeat\` does not draw rows; leave it out, or convert the inputs to JSON lines`);
  return format;
}

/** Refuses a stream where the beginning of the output tells of its end. */
export function requireFileForRows(format: RowFormat | undefined, inputs: Inputs, { path }: StreamPlace): void {
  const first = firstRowsInput(inputs);
  if (first === undefined || format?.needsFile !== true) return;
  throw new UsageError(
    `${first.path} holds ${first.rows.format} data, which cannot be written to ${streamName(path)}; name a file with \`output\``,
  );
}

export function streamName(path: string): string {
  return path === STANDARD_OUTPUT ? 'standard output' : path;
}
