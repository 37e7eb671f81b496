/** Files, and directories of shards, on disks of this machine: which there may be, and how they appear. */
import { basename, dirname, join, resolve, sep } from 'node:path';
import { SystemError, UsageError } from '../../errors.js';
import { hashFileEnds } from '../../io/file-window.js';
import {
  fileAmongParents,
  findObstacle,
  isSameFile,
  lstatPath,
  nameExists,
  realPathOf,
  statPath,
} from '../../io/paths.js';
import { stagingDirectoryIn } from '../../job-directory/job-paths.js';
import { areOnOneMount, renameObstacles } from '../../machine/renames.js';
import { STANDARD_OUTPUT } from '../../sinks/output-target.js';
import { nameSome } from '../../values/quantity.js';
import { factsOf } from '../inputs/find-input.js';
import type { CommitJournal, MoveDirectories } from './commit-journal.js';
import { type Destination, outputIdentityOf, type ShardsDestination } from './destination.js';
import { moveOrTakeBack, moveOutputs, takeBack } from './file-moves.js';
import { badPlace, type OutputPlace, type OutputPlaces, type StreamPlace } from './output-place.js';
import { NAMES_OF_STANDARD_OUTPUT, requireOpenStandardOutput } from './output-stream.js';
import { findFormerFiles, findOtherShards, isShard, requireShortNames, type ShardNaming } from './shard-names.js';

export const DISKS: OutputPlaces = {
  poolBytes: 0,
  resolve: resolveOnDisk,
  // A directory of shards may have appeared, or gone.
  at: (to) => new DiskPlace(to.kind === 'file' ? to : { ...to, exists: nameExists(to.path, 'output') }),
  findLeftovers: async () => [],
};

/** Staged files become the output by moves. A file that is staged is deleted with its directory. */
class DiskPlace implements OutputPlace {
  readonly kind = 'staged';
  readonly isOnDisk = true;
  readonly to: Destination;

  constructor(to: Destination) {
    this.to = to;
  }

  get appearsAtOnce(): boolean {
    return this.to.kind === 'file' || !this.to.exists;
  }

  /**
   * The existing directory in which the output is staged: the parent of the output, so that it is the same before and after
   * the output appears; or the directory of shards itself, when that is a mount point or its parent cannot be written.
   */
  stagingParent(): string {
    const { to } = this;
    const parent = dirname(to.path);
    if (to.kind === 'file' || !to.exists) return parent;
    // An earlier attempt may have staged its outputs in either.
    const there = [parent, to.path].find((path) =>
      nameExists(stagingDirectoryIn(path, outputIdentityOf(to)), 'output'),
    );
    if (there !== undefined) return there;
    return !areOnOneMount(to.path, parent) || findObstacle(parent, 'write', 'output') !== undefined ? to.path : parent;
  }

  pathOf(name: string): string {
    return join(this.to.path, name);
  }

  async requireReplaceable(output: string, inputPaths: readonly string[]): Promise<void> {
    const { to } = this;
    if (to.kind === 'file') {
      const isThere = statPath(to.path, 'output') !== undefined;
      if (to.mayReplace || !isThere) {
        requireReadable(dirname(to.path));
        if (isThere) requireNoObstacle([to.path], () => output);
        return;
      }
      throw new UsageError(
        inputPaths.some((input) => isSameFile(input, to.path, 'output'))
          ? `the output ${output} is one of the inputs; give \`force\` to replace it at the end`
          : `the output ${output} exists already; give \`force\` to replace it`,
        'ERR_OUTPUT_EXISTS',
      );
    }
    if (to.exists) requireWritable(to.path);
    requireReadable(dirname(to.path));
    if (!to.exists) return;
    requireReadable(to.path);
    const { path, naming, mayReplace } = to;
    const former = findFormerFiles(to);
    const noFile = former.find((name) => statPath(join(path, name), 'output')?.isDirectory() === true);
    if (noFile !== undefined) {
      throw badPlace(
        `${join(output, noFile)} is a directory with the name of a shard; remove it, or give another \`${optionOfPrefixes(naming)}\``,
      );
    }
    const existing = former.find(isShard);
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
  }

  async formerNames(): Promise<readonly string[]> {
    return this.to.kind === 'shards' && this.to.exists ? findFormerFiles(this.to) : [];
  }

  otherShards(): readonly string[] {
    return this.to.kind === 'shards' && this.to.exists ? findOtherShards(this.to) : [];
  }

  async describe(): Promise<readonly string[]> {
    const { to } = this;
    return to.kind === 'file'
      ? linesOfFiles(dirname(to.path), [basename(to.path)])
      : linesOfFiles(to.path, findFormerFiles(to));
  }

  async appear(directories: MoveDirectories, journal: CommitJournal, takesBack: boolean): Promise<void> {
    await (takesBack ? moveOrTakeBack : moveOutputs)(this.to, directories, journal);
  }

  async takeBack(directories: MoveDirectories, journal: CommitJournal): Promise<void> {
    await takeBack(this.to, directories, journal);
  }
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
): OutputPlace | StreamPlace {
  const isStandardOutput = output === undefined || NAMES_OF_STANDARD_OUTPUT.has(output);
  if (naming !== undefined) {
    if (isStandardOutput)
      throw new UsageError('shards cannot be written to standard output; name a directory with `output`');
    return new DiskPlace(resolveShardDirectory(output, naming, mayReplace));
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
      throw badPlace(
        `the output ${output} is named as a directory; expected a file, or \`shards\` to write shards into it`,
      );
    }
    return new DiskPlace({ kind: 'file', path: realPathOfNew(output), mayReplace });
  }
  if (stat.isDirectory()) {
    throw badPlace(`the output ${output} is a directory; expected a file, or \`shards\` to write shards into it`);
  }
  if (stat.isFIFO() || stat.isCharacterDevice() || stat.isBlockDevice()) return { kind: 'stream', path: output };
  if (!stat.isFile()) {
    throw badPlace(`the output ${output} is neither a file, a pipe nor a device; name another`);
  }
  return new DiskPlace({ kind: 'file', path: realPathOf(output, 'output'), mayReplace });
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
    throw badPlace(`the output ${output} is a file; expected a directory to write shards into`);
  }
  return { kind: 'shards', path: realPathOf(output, 'output'), exists: true, naming, mayReplace };
}

/** @param nameOf the name that the user gave a path. */
export function requireNoObstacle(paths: readonly string[], nameOf: (path: string) => string): void {
  const obstacleOf = renameObstacles();
  for (const path of paths) {
    const obstacle = obstacleOf(path);
    if (obstacle !== undefined) throw badPlace(`the output ${nameOf(path)} cannot be replaced: ${obstacle}`);
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
    throw badPlace(problem);
  }
}

function requireNoDanglingLink(output: string): void {
  if (nameExists(output.replace(/\/+$/, ''), 'output')) {
    throw badPlace(`the output ${output} is a symbolic link that leads nowhere; remove it or make what it names`);
  }
}

export function requireOutside(path: string, what: string, inputDirectories: readonly string[]): void {
  const real = realpathOfNearest(path);
  for (const directory of inputDirectories) {
    if (!factsOf(directory).isOnDisk) continue;
    const realDirectory = realPathOf(directory, 'input');
    if (real === realDirectory || real.startsWith(realDirectory.endsWith(sep) ? realDirectory : realDirectory + sep)) {
      throw badPlace(
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
