/**
 * A model of the disk below one directory. It records every change that a job makes there, and tells which states the disk
 * may have after a power loss. A program may rely on these promises and on no others:
 *
 * - Data written to a file survives if the file is synced afterwards. Before that, a write survives, or is lost, or only
 *   its first sectors survive, or zeros take its place.
 * - A changed name (made, linked, moved, removed) survives if its directory is synced afterwards; a sync of the file does
 *   not help. Before that, the changes of a directory survive up to one of them.
 * - A move never loses the file: it has the old name or the new one. A sync of the new directory makes the new name
 *   durable; a sync of the old directory makes the removal of the old name durable. In between, a file may have both.
 * - A mode is the one that was set last.
 */
import { createHash } from 'node:crypto';
import { constants, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { FileCalls } from '#src/io/file-calls.js';
import { type FileCall, watchFileCalls } from './watched-file-calls.js';

/** Files and directories alike, by a number that is never used again; the directory of the model is 0. */
type Inode = number;
const ROOT: Inode = 0;

interface Place {
  readonly directory: Inode;
  readonly name: string;
}

type Change =
  | { readonly kind: 'enter'; readonly at: Place; readonly inode: Inode }
  | { readonly kind: 'leave'; readonly at: Place }
  | { readonly kind: 'move'; readonly from: Place; readonly at: Place; readonly inode: Inode }
  | { readonly kind: 'write'; readonly inode: Inode; readonly position: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly inode: Inode; readonly byteLength: number }
  | { readonly kind: 'mode'; readonly inode: Inode; readonly mode: number }
  | { readonly kind: 'sync'; readonly inode: Inode };

/** What becomes of a change of a file that was not synced. */
export type Fate = 'lost' | 'kept' | 'torn' | 'zeros';

/** What becomes of all that was not synced. */
export interface Survival {
  /** Of that many changes of a directory, how many survive, from the first on. */
  changesKept(count: number): number;
  fate(): Fate;
}

/** Everything survives: the process was killed, and the machine was not. */
export const ALL_KEPT: Survival = { changesKept: (count) => count, fate: () => 'kept' };
/** Nothing survives that was not synced. */
export const ALL_LOST: Survival = { changesKept: () => 0, fate: () => 'lost' };
/** Names survive, and lead to files that are empty or old. */
export const NAMES_KEPT: Survival = { changesKept: (count) => count, fate: () => 'lost' };
/** What was written survives where its name does, and names do not. */
export const DATA_KEPT: Survival = { changesKept: () => 0, fate: () => 'kept' };

/** @param draw numbers from 0 to less than 1. */
export function randomSurvival(draw: () => number): Survival {
  const fates: readonly Fate[] = ['lost', 'kept', 'kept', 'torn', 'zeros'];
  return {
    changesKept: (count) => Math.floor(draw() * (count + 1)),
    fate: () => fates[Math.floor(draw() * fates.length)] ?? 'lost',
  };
}

const SECTOR_BYTES = 512;

interface File {
  /** Names below the directory of the model; several: hard links. */
  readonly paths: string[];
  readonly bytes: Buffer;
  readonly mode: number;
}

/** What lies on the disk. */
export class DiskState {
  readonly #directories: readonly { readonly path: string; readonly mode: number }[];
  readonly #files: readonly File[];

  constructor(directories: readonly { readonly path: string; readonly mode: number }[], files: readonly File[]) {
    this.#directories = directories;
    this.#files = files;
  }

  /** The same for states that cannot be told apart. */
  get digest(): string {
    const hash = createHash('sha1');
    for (const { path, mode } of this.#directories) hash.update(`${path}\0${mode}\0`);
    for (const { paths, bytes, mode } of this.#files) {
      hash.update(`${paths.join('\0')}\0\0${mode}\0${bytes.byteLength}\0`);
      hash.update(bytes);
    }
    return hash.digest('hex');
  }

  /** Makes `root` hold this and nothing else. */
  writeTo(root: string): void {
    for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
    for (const { path, mode } of this.#directories) mkdirSync(join(root, path), { mode });
    for (const { paths, bytes, mode } of this.#files) {
      const [first = '', ...others] = paths.map((path) => join(root, path));
      writeFileSync(first, bytes, { mode, flag: 'wx' });
      for (const other of others) linkSync(first, other);
    }
  }
}

export class DiskModel {
  /** Makes the calls, and notes what they change. */
  readonly calls: FileCalls;
  readonly #root: string;
  /** What was there at the beginning, which is durable. */
  readonly #formerEntries = new Map<Inode, ReadonlyMap<string, Inode>>();
  readonly #formerBytes = new Map<Inode, Buffer>();
  readonly #formerModes = new Map<Inode, number>();
  /** As the system has them now. */
  readonly #entries = new Map<Inode, Map<string, Inode>>();
  readonly #openInodes = new Map<number, Inode>();
  readonly #changes: Change[] = [];
  #inodeCount = 0;

  constructor(root: string) {
    this.#root = root;
    this.#scan(root, new Map());
    for (const [inode, entries] of this.#entries) this.#formerEntries.set(inode, new Map(entries));
    const watches = (path: string) => path === root || path.startsWith(`${root}/`);
    this.calls = watchFileCalls(watches, (call, make) => this.#around(call, make));
  }

  get changeCount(): number {
    return this.#changes.length;
  }

  /** For messages: what the change was. */
  describe(index: number): string {
    const change = this.#changes[index];
    if (change === undefined) return 'nothing';
    const { kind } = change;
    if (kind === 'enter' || kind === 'leave' || kind === 'move') return `${kind} ${change.at.name}`;
    return `${kind} inode ${change.inode}${kind === 'write' ? ` at ${change.position}` : ''}`;
  }

  /** What is on the disk when the power fails after so many changes. */
  stateAfter(count: number, survival: Survival): DiskState {
    const changes = this.#changes.slice(0, count);
    const syncedAt = new Map<Inode, number>();
    for (const [i, change] of changes.entries()) if (change.kind === 'sync') syncedAt.set(change.inode, i);
    const entries = this.#entriesAfter(changes, syncedAt, survival);
    const modes = new Map(this.#formerModes);
    for (const change of changes) if (change.kind === 'mode') modes.set(change.inode, change.mode);

    const directories: { path: string; mode: number }[] = [];
    const files = new Map<Inode, File>();
    const visit = (directory: Inode, path: string) => {
      const names = [...(entries.get(directory) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
      for (const [name, inode] of names) {
        const inside = join(path, name);
        const mode = modes.get(inode) ?? 0o777;
        if (entries.has(inode)) {
          directories.push({ path: inside, mode });
          visit(inode, inside);
          continue;
        }
        const file = files.get(inode);
        if (file !== undefined) file.paths.push(inside);
        else files.set(inode, { paths: [inside], bytes: this.#bytesAfter(inode, changes, syncedAt, survival), mode });
      }
    };
    visit(ROOT, '');
    return new DiskState(directories, [...files.values()]);
  }

  #entriesAfter(
    changes: readonly Change[],
    syncedAt: ReadonlyMap<Inode, number>,
    survival: Survival,
  ): Map<Inode, Map<string, Inode>> {
    const isSynced = (directory: Inode, i: number) => i < (syncedAt.get(directory) ?? -1);
    const unsynced = new Map<Inode, number[]>();
    const kept = new Map<Inode, Set<number>>();
    const keep = (directory: Inode, i: number) => kept.set(directory, (kept.get(directory) ?? new Set()).add(i));
    for (const [i, change] of changes.entries()) {
      if (change.kind !== 'enter' && change.kind !== 'leave' && change.kind !== 'move') continue;
      const from = change.kind === 'move' ? [change.from.directory] : [];
      for (const directory of new Set([change.at.directory, ...from])) {
        if (isSynced(directory, i)) keep(directory, i);
        else unsynced.set(directory, [...(unsynced.get(directory) ?? []), i]);
      }
    }
    for (const [directory, indexes] of unsynced) {
      for (const i of indexes.slice(0, survival.changesKept(indexes.length))) keep(directory, i);
    }
    const isKept = ({ directory }: Place, i: number) => kept.get(directory)?.has(i) === true;

    const entries = new Map<Inode, Map<string, Inode>>();
    for (const [inode, names] of this.#formerEntries) entries.set(inode, new Map(names));
    const namesIn = (directory: Inode) => {
      const names = entries.get(directory) ?? new Map<string, Inode>();
      entries.set(directory, names);
      return names;
    };
    for (const inode of this.#entries.keys()) namesIn(inode);
    for (const [i, change] of changes.entries()) {
      if (change.kind !== 'enter' && change.kind !== 'leave' && change.kind !== 'move') continue;
      if (!isKept(change.at, i)) continue;
      // Without its new name it keeps the old one, whatever was synced.
      if (change.kind === 'move' && (this.#entries.has(change.inode) || isKept(change.from, i))) {
        namesIn(change.from.directory).delete(change.from.name);
      }
      if (change.kind === 'leave') namesIn(change.at.directory).delete(change.at.name);
      else namesIn(change.at.directory).set(change.at.name, change.inode);
    }
    return entries;
  }

  #bytesAfter(
    inode: Inode,
    changes: readonly Change[],
    syncedAt: ReadonlyMap<Inode, number>,
    survival: Survival,
  ): Buffer {
    let bytes = this.#formerBytes.get(inode) ?? Buffer.alloc(0);
    for (const [i, change] of changes.entries()) {
      if ((change.kind !== 'write' && change.kind !== 'truncate') || change.inode !== inode) continue;
      const fate = i < (syncedAt.get(inode) ?? -1) ? 'kept' : survival.fate();
      if (fate === 'lost') continue;
      if (change.kind === 'truncate') bytes = resized(bytes, change.byteLength);
      else bytes = written(bytes, change.position, survivorOf(change.bytes, change.position, fate));
    }
    return bytes;
  }

  #scan(path: string, inodes: Map<string, Inode>): Inode {
    const stat = lstatSync(path);
    const identity = `${stat.dev}:${stat.ino}`;
    const known = inodes.get(identity);
    if (known !== undefined) return known;
    const inode = this.#inodeCount++;
    inodes.set(identity, inode);
    this.#formerModes.set(inode, stat.mode & 0o777);
    if (stat.isDirectory()) {
      const names = new Map<string, Inode>();
      this.#entries.set(inode, names);
      for (const name of readdirSync(path)) names.set(name, this.#scan(join(path, name), inodes));
    } else {
      this.#formerBytes.set(inode, readFileSync(path));
    }
    return inode;
  }

  #around<T>(call: FileCall, make: () => T): T {
    const before = call.name === 'open' ? this.#lookUp(call.path) : undefined;
    const made = make();
    if (made instanceof Promise) return made.then((value) => this.#note(call, value, before)) as T;
    return this.#note(call, made, before);
  }

  /** @param before what the path of an `open` led to. */
  #note<T>(call: FileCall, result: T, before: Inode | undefined): T {
    const { name, path, fd = -1 } = call;
    switch (name) {
      case 'open':
        this.#noteOpen(call, Number(result), before);
        break;
      case 'close':
        this.#openInodes.delete(fd);
        break;
      case 'write':
      case 'writeAsync':
        if (typeof call.position !== 'number') throw new Error(`a write to ${path} that is at no position`);
        this.#changes.push({
          kind: 'write',
          inode: this.#openInode(fd),
          position: call.position,
          bytes: Buffer.from((call.bytes ?? Buffer.alloc(0)).subarray(0, Number(result))),
        });
        break;
      case 'truncate':
        this.#changes.push({ kind: 'truncate', inode: this.#openInode(fd), byteLength: call.byteLength ?? 0 });
        break;
      case 'syncData':
      case 'syncDataAsync':
      case 'syncAsync':
        this.#changes.push({ kind: 'sync', inode: this.#openInode(fd) });
        break;
      case 'makeDirectory':
        this.#enter(path, true);
        break;
      case 'makeUniqueDirectory':
        this.#enter(String(result), true);
        break;
      case 'chmod':
        this.#noteMode(path, this.#inodeOf(path));
        break;
      case 'link':
        this.#enter(call.to ?? '', false, this.#inodeOf(path));
        break;
      case 'unlink':
      case 'removeDirectory':
        this.#namesAround(path).delete(basename(path));
        this.#changes.push({ kind: 'leave', at: this.#placeOf(path) });
        break;
      case 'rename': {
        const to = call.to ?? '';
        const inode = this.#inodeOf(path);
        // Two names of one file: nothing happens.
        if (this.#lookUp(to) === inode) break;
        this.#changes.push({ kind: 'move', from: this.#placeOf(path), at: this.#placeOf(to), inode });
        this.#namesAround(path).delete(basename(path));
        this.#namesAround(to).set(basename(to), inode);
        break;
      }
      default:
        break;
    }
    return result;
  }

  #noteOpen({ path, flags = 0 }: FileCall, fd: number, before: Inode | undefined): void {
    const inode = before ?? this.#enter(path, false);
    this.#openInodes.set(fd, inode);
    if ((flags & constants.O_TRUNC) !== 0) this.#changes.push({ kind: 'truncate', inode, byteLength: 0 });
  }

  #enter(path: string, isDirectory: boolean, linked?: Inode): Inode {
    const inode = linked ?? this.#inodeCount++;
    if (isDirectory) this.#entries.set(inode, new Map());
    this.#namesAround(path).set(basename(path), inode);
    // What is made has its mode from the first.
    if (linked === undefined) this.#noteMode(path, inode);
    this.#changes.push({ kind: 'enter', at: this.#placeOf(path), inode });
    return inode;
  }

  #noteMode(path: string, inode: Inode): void {
    this.#changes.push({ kind: 'mode', inode, mode: lstatSync(path).mode & 0o777 });
  }

  #openInode(fd: number): Inode {
    const inode = this.#openInodes.get(fd);
    if (inode === undefined) throw new Error(`file ${fd} was not opened through the model`);
    return inode;
  }

  #lookUp(path: string): Inode | undefined {
    if (path === this.#root) return ROOT;
    const directory = this.#lookUp(dirname(path));
    return directory === undefined ? undefined : this.#entries.get(directory)?.get(basename(path));
  }

  #inodeOf(path: string): Inode {
    const inode = this.#lookUp(path);
    if (inode === undefined) throw new Error(`the model knows nothing of ${path}`);
    return inode;
  }

  #placeOf(path: string): Place {
    return { directory: this.#inodeOf(dirname(path)), name: basename(path) };
  }

  #namesAround(path: string): Map<string, Inode> {
    const names = this.#entries.get(this.#inodeOf(dirname(path)));
    if (names === undefined) throw new Error(`${dirname(path)} is not a directory`);
    return names;
  }
}

function resized(bytes: Buffer, byteLength: number): Buffer {
  const longer = Buffer.alloc(byteLength);
  bytes.copy(longer);
  return longer;
}

function written(bytes: Buffer, position: number, piece: Buffer): Buffer {
  const after = resized(bytes, Math.max(bytes.byteLength, piece.byteLength === 0 ? 0 : position + piece.byteLength));
  piece.copy(after, position);
  return after;
}

/** Torn: up to a sector's end in the middle. */
function survivorOf(bytes: Buffer, position: number, fate: Exclude<Fate, 'lost'>): Buffer {
  if (fate === 'kept') return bytes;
  if (fate === 'zeros') return Buffer.alloc(bytes.byteLength);
  const middle = position + Math.floor(bytes.byteLength / 2);
  const end = middle - (middle % SECTOR_BYTES);
  return bytes.subarray(0, Math.max(0, end - position));
}
