/** Files, and directories of shards, on disks of this machine: which there may be, and how they appear. */

import { basename, dirname, join, resolve, sep } from 'node:path';
import { SystemError, UsageError } from '../../errors.js';
import { hashFileEnds } from '../../io/file-window.js';
import { isBesideShards, SUMS_ENDING } from '../../io/own-files.js';
import {
  fileAmongParents,
  findObstacle,
  isSameFile,
  listNames,
  lstatPath,
  nameExists,
  realPathOf,
  statPath,
} from '../../io/paths.js';
import { stagingDirectoryIn } from '../../job-directory/job-paths.js';
import { areOnOneMount, renameObstacles } from '../../machine/renames.js';
import { STANDARD_OUTPUT } from '../../sinks/output-target.js';
import { nameSome } from '../../values/format-numbers.js';
import { inputFactsOf } from '../inputs/input-kinds.js';
import { type FileDestination, outputIdentityOf, type ShardsDestination } from './destination.js';
import { moveFile, moveOrRollBack, moveShards, rollBack } from './file-moves.js';
import {
  notEmptyError,
  type OutputPlace,
  type OutputPlaces,
  outputPlaceError,
  type StreamPlace,
} from './output-place.js';
import { NAMES_OF_STANDARD_OUTPUT, requireOpenStandardOutput } from './output-stream.js';
import {
  besideExistsError,
  findOtherShards,
  findReplacedFiles,
  isShard,
  requireShortNames,
  type ShardNaming,
} from './shard-names.js';

export const LOCAL_PLACES: OutputPlaces = {
  poolBytes: 0,
  resolve: resolveOnDisk,
  // A directory of shards may have appeared, or gone.
  reopen: (to) =>
    to.kind === 'file'
      ? fileOnDisk(to)
      : shardsOnDisk({ ...to, exists: to.naming.sections === undefined && nameExists(to.path, 'output') }),
  findStrayUploads: async () => [],
};

/** Staged files become the output by moves. A file that is staged is deleted with its directory. */
const LOCAL_PLACE = { kind: 'staged', isOnDisk: true } as const;

function fileOnDisk(to: FileDestination): OutputPlace {
  const { path, mayReplace, hasSums = false } = to;
  const parent = dirname(path);
  const paths = hasSums ? [path, path + SUMS_ENDING] : [path];
  return {
    ...LOCAL_PLACE,
    to,
    isPublishedAtOnce: !hasSums,
    stagingParent: () => parent,
    async requireReplaceable(output, inputs) {
      const former = paths.filter((each) => statPath(each, 'output') !== undefined);
      const nameOf = (each: string) => output + each.slice(path.length);
      const [existing] = former;
      if (mayReplace || existing === undefined) {
        requireReadable(parent);
        if (existing !== undefined) requireNoObstacle(former, nameOf);
        return;
      }
      throw new UsageError(
        inputs.some((input) => isSameFile(input.path, existing, 'output'))
          ? `the output ${nameOf(existing)} is one of the inputs; give \`force\` to replace it at the end`
          : `the output ${nameOf(existing)} exists already; give \`force\` to replace it`,
        'ERR_OUTPUT_EXISTS',
      );
    },
    pathOf: (name) => join(path, name),
    replacedNames: async () => [],
    describeFiles: async () =>
      linesOfFiles(
        parent,
        paths.map((each) => basename(each)),
      ),
    publish: (directories, journal, takesBack) => moveFile(to, directories, journal, takesBack),
    rollBack: (directories, journal) => rollBack(to, directories, journal),
  };
}

function shardsOnDisk(to: ShardsDestination): OutputPlace {
  const { path, exists, naming, mayReplace } = to;
  return {
    ...LOCAL_PLACE,
    to,
    isPublishedAtOnce: !exists,
    stagingParent: () => (exists ? stagingParentOf(path, outputIdentityOf(to)) : dirname(path)),
    pathOf: (name) => join(path, name),
    async requireReplaceable(output) {
      if (naming.sections !== undefined && listed(path).length > 0) throw notEmptyError(output);
      if (exists) requireWritable(path);
      requireReadable(dirname(path));
      if (!exists) return;
      requireReadable(path);
      const former = findReplacedFiles(to);
      const noFile = former.find((name) => statPath(join(path, name), 'output')?.isDirectory() === true);
      if (noFile !== undefined) {
        throw outputPlaceError(
          `${join(output, noFile)} is a directory with the name of a shard; remove it, or give another \`${optionOfPrefixes(naming)}\``,
        );
      }
      const existing = former.find(isShard);
      const beside = existing ?? former.find(isBesideShards);
      if (!mayReplace && beside !== undefined && beside !== existing) throw besideExistsError(output, beside);
      if (existing !== undefined && !mayReplace) {
        throw new UsageError(
          `the output directory ${output} holds shards already (${existing}); give \`force\` to replace all ${patternsOf(naming)} in it, or another \`${optionOfPrefixes(naming)}\``,
          'ERR_OUTPUT_EXISTS',
        );
      }
      requireNoObstacle(
        former.map((name) => join(path, name)),
        (shard) => join(output, basename(shard)),
      );
    },
    replacedNames: async () => (exists ? findReplacedFiles(to) : []),
    otherShards: () => (exists ? findOtherShards(to) : []),
    describeFiles: async () =>
      linesOfFiles(path, naming.sections === undefined ? findReplacedFiles(to) : sectionFiles(path)),
    publish: (directories, journal, takesBack) => (takesBack ? moveOrRollBack : moveShards)(to, directories, journal),
    rollBack: (directories, journal) => rollBack(to, directories, journal),
  };
}

/** Returns the names in a directory, if it exists. */
function listed(path: string): readonly string[] {
  return nameExists(path, 'output') ? listNames(path, 'output') : [];
}

/** Returns the places of all files of sections. */
function sectionFiles(path: string): readonly string[] {
  return listed(path)
    .flatMap((name) =>
      statPath(join(path, name), 'output')?.isDirectory() === true
        ? listNames(join(path, name), 'output').map((file) => join(name, file))
        : [name],
    )
    .sort();
}

/**
 * Returns the existing directory in which the output is staged: the parent of the directory of shards, so that it is the
 * same before and after the output appears; or that directory, when it is a mount point or its parent cannot be written.
 */
function stagingParentOf(path: string, identity: string): string {
  const parent = dirname(path);
  // An earlier attempt may have staged its outputs in either.
  const there = [parent, path].find((each) => nameExists(stagingDirectoryIn(each, identity), 'output'));
  if (there !== undefined) return there;
  return !areOnOneMount(path, parent) || findObstacle(parent, 'write', 'output') !== undefined ? path : parent;
}

export function linesOfFiles(directory: string, names: readonly string[]): string[] {
  return names.map((name) => {
    const path = join(directory, name);
    const { size = 0n, mtimeNs = 0n } = lstatPath(path, 'output') ?? {};
    return `${name} ${size} ${mtimeNs} ${hashFileEnds(path, Number(size), 'output').toString('hex')}`;
  });
}

function resolveOnDisk(
  output: string | undefined,
  naming: ShardNaming | undefined,
  mayReplace: boolean,
  hasSums?: boolean,
): OutputPlace | StreamPlace {
  const isStandardOutput = output === undefined || NAMES_OF_STANDARD_OUTPUT.has(output);
  if (naming !== undefined) {
    if (isStandardOutput)
      throw new UsageError('shards cannot be written to standard output; name a directory with `output`');
    return shardsOnDisk(resolveShardDirectory(output, naming, mayReplace));
  }
  if (isStandardOutput) {
    requireOpenStandardOutput();
    return { kind: 'stream', path: STANDARD_OUTPUT };
  }
  const stat = statPath(output, 'output');
  if (stat === undefined) {
    requireParent(output);
    requireNoDanglingLink(output);
    if (output.endsWith('/')) {
      throw outputPlaceError(
        `the output ${output} is named as a directory; expected a file, or \`shards\` to write shards into it`,
      );
    }
    return fileOnDisk({ kind: 'file', path: realPathOfNew(output), mayReplace, hasSums });
  }
  if (stat.isDirectory()) {
    throw outputPlaceError(
      `the output ${output} is a directory; expected a file, or \`shards\` to write shards into it`,
    );
  }
  if (stat.isFIFO() || stat.isCharacterDevice() || stat.isBlockDevice()) return { kind: 'stream', path: output };
  if (!stat.isFile()) {
    throw outputPlaceError(`the output ${output} is neither a file, a pipe nor a device; name another`);
  }
  return fileOnDisk({ kind: 'file', path: realPathOf(output, 'output'), mayReplace, hasSums });
}

function resolveShardDirectory(output: string, naming: ShardNaming, mayReplace: boolean): ShardsDestination {
  requireShortNames(naming);
  // A file has no name with a slash at its end.
  const stat = statPath(output.replace(/(?<=[^/])\/+$/, ''), 'output');
  if (stat === undefined) {
    requireParent(output);
    requireNoDanglingLink(output);
    return { kind: 'shards', path: realPathOfNew(output), exists: false, naming, mayReplace };
  }
  if (!stat.isDirectory()) {
    throw outputPlaceError(`the output ${output} is a file; expected a directory to write shards into`);
  }
  const exists = naming.sections === undefined;
  return { kind: 'shards', path: realPathOf(output, 'output'), exists, naming, mayReplace };
}

/** @param nameOf the name that the user gave a path. */
export function requireNoObstacle(paths: readonly string[], nameOf: (path: string) => string): void {
  const obstacleOf = renameObstacles();
  for (const path of paths) {
    const obstacle = obstacleOf(path);
    if (obstacle !== undefined) throw outputPlaceError(`the output ${nameOf(path)} cannot be replaced: ${obstacle}`);
  }
}

function patternsOf({ prefixes }: ShardNaming): string {
  return nameSome(prefixes.map((prefix) => `${prefix}-*-of-*`));
}

/** The option that decides the first parts of the names of shards. */
function optionOfPrefixes({ prefixes }: ShardNaming): 'shardPrefix' | 'output' {
  return prefixes.length === 1 ? 'shardPrefix' : 'output';
}

export function requireWritable(directory: string): void {
  const obstacle = findObstacle(directory, 'write', 'output');
  if (obstacle === undefined) return;
  throw new SystemError('ERR_IO', `cannot make the output in ${directory}: ${obstacle}; expected a writable directory`);
}

/** The last step of a job opens the directory to make the names in it durable. */
function requireReadable(directory: string): void {
  const obstacle = findObstacle(directory, 'read', 'output');
  if (obstacle === undefined) return;
  throw new SystemError(
    'ERR_IO',
    `cannot make the output in ${directory} durable, because that directory cannot be read: ${obstacle}; expected one that can be read and written`,
  );
}

function realPathOfNew(path: string): string {
  const absolute = resolve(path);
  return join(realPathOf(dirname(absolute), 'output'), basename(absolute));
}

function requireParent(output: string): void {
  const parent = dirname(resolve(output));
  if (statPath(parent, 'output')?.isDirectory() !== true) {
    const file = fileAmongParents(resolve(output), 'output');
    const problem =
      file === undefined
        ? `the directory ${parent} of the output does not exist; make it first`
        : `the output ${output} cannot lie there, because ${file} is not a directory; name another place`;
    throw outputPlaceError(problem);
  }
}

function requireNoDanglingLink(output: string): void {
  if (nameExists(output.replace(/\/+$/, ''), 'output')) {
    throw outputPlaceError(
      `the output ${output} is a symbolic link that leads nowhere; remove it or make what it names`,
    );
  }
}

export function requireOutside(path: string, what: string, inputDirectories: readonly string[]): void {
  const real = realpathOfNearest(path);
  for (const directory of inputDirectories) {
    if (!inputFactsOf(directory).isOnDisk) continue;
    const realDirectory = realPathOf(directory, 'input');
    if (real === realDirectory || real.startsWith(realDirectory.endsWith(sep) ? realDirectory : realDirectory + sep)) {
      throw outputPlaceError(
        `${what} ${path} lies inside the input directory ${directory}, so the job would read what it writes; name a place outside of it`,
      );
    }
  }
}

function realpathOfNearest(path: string): string {
  const absolute = resolve(path);
  if (statPath(absolute, 'output') !== undefined) return realPathOf(absolute, 'output');
  return join(realpathOfNearest(dirname(absolute)), basename(absolute));
}
