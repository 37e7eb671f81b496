/**
 * File calls of which one fails: the N-th of the calls that can fail in this way, counted over all kinds of calls.
 * Calls on paths that are not watched do not count.
 */
import { constants } from 'node:fs';
import type { FileCalls } from '#src/io/file-calls.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import { codeOfNode } from '../fixtures/replaced-file-calls.js';
import { type Around, type FileCall, type WatchedFileCalls, watchFileCalls } from './watched-file-calls.js';

export type Errno =
  | 'EACCES'
  | 'EDQUOT'
  | 'EINTR'
  | 'EINVAL'
  | 'EIO'
  | 'EMFILE'
  | 'ENOSPC'
  | 'ENOTSUP'
  | 'EPERM'
  | 'EROFS'
  | 'ESTALE';

export type Fault =
  /** The call reports the error and has done nothing; but `close` has closed the file. */
  | { readonly kind: 'fails'; readonly errno: Errno; readonly syncsOnly?: true }
  /** That one, and all after it that can: a disk that is full, and stays so. */
  | { readonly kind: 'fails from then on'; readonly errno: Errno; readonly removalsOnly?: true }
  /** The call has done its work and reports an error, as when the answer of a network server is lost. */
  | { readonly kind: 'is done and reported as failed'; readonly errno: Errno }
  /** A read or write moves a part only: an odd half of it, a half in whole blocks, or one byte. */
  | { readonly kind: 'is short'; readonly part: 'half' | 'half in blocks' | 'byte' }
  /**
   * The process is gone: this call is not made, nor any after it, the cleaning up included. `half`: a
   * write has written half of it.
   */
  | { readonly kind: 'kills'; readonly part: 'nothing' | 'half' };

const BLOCK_BYTES = 4096;
/** Of the event loop, until whoever waited for a call has gone on. */
const TURNS_TO_NOTICE = 3;

const WRITING = new Set<keyof FileCalls>(['write', 'writeAsync']);
const SYNCING = new Set<keyof FileCalls>(['syncData', 'syncDataAsync', 'syncAsync']);
const NAMING = new Set<keyof FileCalls>([
  'makeDirectory',
  'makeUniqueDirectory',
  'removeDirectory',
  'link',
  'rename',
  'unlink',
]);
const LOOKING = new Set<keyof FileCalls>(['stat', 'lstat', 'access', 'realPath', 'list', 'statFileSystem']);

const creates = ({ name, flags = 0 }: FileCall) => name === 'open' && (flags & constants.O_CREAT) !== 0;
const takesSpace = ({ name }: FileCall) => NAMING.has(name) && name !== 'removeDirectory' && name !== 'unlink';
const opensForWriting = ({ flags = 0 }: FileCall) => (flags & (constants.O_WRONLY | constants.O_RDWR)) !== 0;
const isNamed = ({ name }: FileCall, ...names: (keyof FileCalls)[]) => names.includes(name);

/** Which calls the system lets fail so. */
const CAN_FAIL: Record<Errno, (call: FileCall) => boolean> = {
  EACCES: (call) => call.name === 'open' || NAMING.has(call.name) || LOOKING.has(call.name),
  EDQUOT: (call) => creates(call) || WRITING.has(call.name) || SYNCING.has(call.name) || takesSpace(call),
  EINTR: (call) =>
    isNamed(call, 'open', 'close', 'read', 'readAsync', 'truncate') || WRITING.has(call.name) || SYNCING.has(call.name),
  /** Direct writes, where the file system has none. */
  EINVAL: (call) => call.name === 'writeAsync' || (call.name === 'open' && ((call.flags ?? 0) & O_DIRECT) !== 0),
  EIO: () => true,
  EMFILE: (call) => isNamed(call, 'open', 'list'),
  ENOSPC: (call) => creates(call) || WRITING.has(call.name) || SYNCING.has(call.name) || takesSpace(call),
  /** Hard links, where the file system has none. */
  ENOTSUP: (call) => call.name === 'link',
  EPERM: (call) => NAMING.has(call.name) || call.name === 'chmod',
  EROFS: (call) => (call.name === 'open' && opensForWriting(call)) || NAMING.has(call.name) || call.name === 'chmod',
  ESTALE: () => true,
};

const O_DIRECT = constants.O_DIRECT ?? 0;

/** A unique directory that was made has a name that nobody was told. */
const isDoneBeforeItFails = (call: FileCall) =>
  creates(call) ||
  WRITING.has(call.name) ||
  isNamed(call, 'truncate', 'chmod') ||
  (NAMING.has(call.name) && call.name !== 'makeUniqueDirectory');

/** Stands for a process that is no more: whoever catches it does so in vain. */
export class ProcessGone extends Error {
  constructor() {
    super('made up: the process is gone');
  }
}

function canSuffer(fault: Fault, call: FileCall): boolean {
  switch (fault.kind) {
    case 'fails':
      return CAN_FAIL[fault.errno](call) && !(fault.syncsOnly && !SYNCING.has(call.name));
    case 'fails from then on':
      return CAN_FAIL[fault.errno](call) && !(fault.removalsOnly && call.name !== 'removeDirectory');
    case 'is done and reported as failed':
      return isDoneBeforeItFails(call);
    case 'is short':
      return (call.name === 'read' || WRITING.has(call.name)) && partOf(fault.part, call.byteLength ?? 0) !== undefined;
    case 'kills':
      return fault.part === 'nothing' || WRITING.has(call.name);
  }
}

/** How many bytes a part is; undefined when there is no smaller one. */
function partOf(part: 'half' | 'half in blocks' | 'byte', byteLength: number): number | undefined {
  const half = Math.floor(byteLength / 2) | 1;
  const count = { byte: 1, half, 'half in blocks': half - (half % BLOCK_BYTES) }[part];
  return count > 0 && count < byteLength ? count : undefined;
}

function failure(errno: Errno, { name, path }: FileCall): Error {
  return Object.assign(new Error(`${errno}: made up, ${name} '${path}'`), { code: codeOfNode(errno) });
}

export class FaultyFileCalls {
  readonly calls: WatchedFileCalls;
  readonly #fault: Fault;
  readonly #nth: number;
  readonly #onFault: (call: FileCall) => void;
  readonly #underWay = new Set<Promise<unknown>>();
  /** Descriptors of open files that bytes were written to. */
  readonly #written = new Set<number>();
  #count = 0;
  #struck: FileCall | undefined;
  #isFatal = false;

  /**
   * @param nth from 1 on.
   * @param onFault called when the fault has happened and before the job learns of it.
   * @param system makes the calls.
   */
  constructor(
    fault: Fault,
    nth: number,
    watches: (path: string) => boolean,
    onFault: (call: FileCall) => void = () => {},
    system: FileCalls = systemFileCalls,
  ) {
    this.#fault = fault;
    this.#nth = nth;
    this.#onFault = onFault;
    const around: Around = (call, make) => {
      const made = this.#around(call, make);
      if (made instanceof Promise) this.#follow(made);
      return made;
    };
    this.calls = watchFileCalls(watches, around, system);
  }

  #follow(made: Promise<unknown>): void {
    this.#underWay.add(made);
    const forget = () => this.#underWay.delete(made);
    made.then(forget, forget);
  }

  /** The call that suffered the fault; undefined: there were fewer calls. */
  get struck(): FileCall | undefined {
    return this.#struck;
  }

  /**
   * Whether a job must not end well after the fault: what it says to be on the disk may not be. A file that was there
   * and was opened only to see whether it can be replaced loses nothing when it is closed.
   */
  get isFatal(): boolean {
    return this.#isFatal;
  }

  /** Paths of the files that are open. */
  get openPaths(): string[] {
    return [...this.calls.openFiles.values()].map(({ path }) => path);
  }

  /**
   * Waits for what the job has left under way, and closes what it has left open: a process that is gone does
   * nothing, and holds no files. To be called before another table takes the place of this one.
   */
  async settle(): Promise<void> {
    do {
      await Promise.allSettled(this.#underWay);
      for (let turn = 0; turn < TURNS_TO_NOTICE; turn++) await new Promise((resolve) => setImmediate(resolve));
    } while (this.#underWay.size > 0);
    for (const fd of this.calls.openFiles.keys()) systemFileCalls.close(fd);
  }

  #around<T>(call: FileCall, make: (byteLength?: number) => T): T {
    const { name, fd } = call;
    const mayLoseBytes = creates({ ...call, name: 'open' }) || (fd !== undefined && this.#written.has(fd));
    if (fd !== undefined && (WRITING.has(name) || name === 'truncate')) this.#written.add(fd);
    if (fd !== undefined && name === 'close') this.#written.delete(fd);
    if (this.#struck !== undefined) {
      if (this.#fault.kind === 'kills') throw new ProcessGone();
      const stays = this.#fault.kind === 'fails from then on' && canSuffer(this.#fault, call);
      return stays ? this.#strike(call, make) : make();
    }
    if (!canSuffer(this.#fault, call)) return make();
    this.#count += 1;
    if (this.#count < this.#nth) return make();
    this.#struck = call;
    this.#isFatal = isFatal(call, this.#fault, mayLoseBytes);
    return this.#strike(call, make);
  }

  #strike<T>(call: FileCall, make: (byteLength?: number) => T): T {
    const fault = this.#fault;
    switch (fault.kind) {
      case 'fails':
      case 'fails from then on':
        if (call.name === 'close') make();
        this.#onFault(call);
        throw failure(fault.errno, call);
      case 'is done and reported as failed': {
        const made = make();
        if (made instanceof Promise) return made.then(() => this.#fail(fault.errno, call)) as T;
        if (typeof made === 'number' && call.name === 'open') this.calls.close(made);
        return this.#fail(fault.errno, call);
      }
      case 'is short':
        this.#onFault(call);
        return make(partOf(fault.part, call.byteLength ?? 0));
      case 'kills':
        if (fault.part === 'half') make(partOf('half', call.byteLength ?? 0) ?? 0);
        this.#onFault(call);
        throw new ProcessGone();
    }
  }

  #fail(errno: Errno, call: FileCall): never {
    this.#onFault(call);
    throw failure(errno, call);
  }
}

function isFatal(call: FileCall, fault: Fault, mayLoseBytes: boolean): boolean {
  if (fault.kind === 'is short' || ('errno' in fault && fault.errno === 'EINTR')) return false;
  return SYNCING.has(call.name) || (call.name === 'close' && opensForWriting(call) && mayLoseBytes);
}
