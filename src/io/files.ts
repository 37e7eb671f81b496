/**
 * Every byte that pileshuf reads or writes goes through here.
 *
 * Calls work directly on a thread's linear memory and are synchronous, which costs least; only calls that wait for a
 * device are not. Short reads and writes are continued, and every error names the file, the position and what to do.
 */
import { constants } from 'node:fs';
import { ClosedPipeError } from '../errors.js';
import { afterFailure, thenAlways, thenAlwaysAsync } from '../floor/cleanup.js';
import { blockFor } from '../floor/pause.js';
import { fileCalls } from './file-calls.js';
import { errnoOf, type FileRole, ioError, systemCall } from './io-error.js';

/** Another version means that the file was changed or replaced. */
export interface FileVersion {
  /** Device and inode: the same for all names of one file. Of an input on another machine: its path and its validator. */
  readonly identity: string;
  readonly byteLength: number;
  /** The time of the last change. An input on another machine has a hash of its validator here. */
  readonly modifiedNanoseconds: bigint;
}

/** How the validator of an object begins whose server gives no ranges. */
export const STREAMED = 'streamed ';

/** Returns whether it can be read from any byte on without what comes before. */
export function isSeekable({ identity }: FileVersion): boolean {
  return !identity.startsWith(STREAMED, identity.lastIndexOf('\n') + 1);
}

export interface OpenFile {
  readonly fd: number;
  readonly path: string;
  readonly role: FileRole;
  /** The reader of the file. Absent: it is a file of this machine. */
  readonly reader?: InputReader;
}

/** An open input that is not a file of this machine. */
export interface InputReader {
  readonly version: FileVersion;
  /** Reads as `readAt` of files. @param end how far the caller reads from there on, if it says so. */
  readAt(bytes: Uint8Array, offset: number, byteLength: number, position: number, end?: number): number;
  close(): void;
}

/** Node passes no more to the operating system in one call. */
const LARGEST_CALL_BYTES = 2 ** 30;
/** How long a device without data is left alone. */
const DEVICE_PAUSE_MILLISECONDS = 5;

function open(path: string, role: FileRole, flags: number, mode?: number): OpenFile {
  const fd = systemCall(flags & constants.O_CREAT ? 'create' : 'open', role, path, () =>
    fileCalls.open(path, flags, mode),
  );
  return { fd, path, role };
}

export function openForRead(path: string, role: FileRole): OpenFile {
  return open(path, role, constants.O_RDONLY);
}

/** Files that pileshuf makes for itself: `temp` for this user alone, `store` with the mode that the umask gives. */
export type OwnRole = 'temp' | 'store';

/** Opens a file of pileshuf. Never follows a symbolic link planted under the name, nor waits for the writer of a pipe. */
export function openOwnForRead(path: string, role: OwnRole): OpenFile {
  const file = open(path, role, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (fileCalls.statOpen(file.fd).isFile()) return file;
    throw new Error('it is not a regular file');
  } catch (error) {
    throw afterFailure(ioError('examine', role, path, error), () => closeFile(file));
  }
}

/** Creates a file that must not exist. Never follows a symbolic link planted under its name. */
export function createOwnFile(path: string, role: OwnRole): OpenFile {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  return open(path, role, flags, role === 'temp' ? 0o600 : 0o666);
}

/** Opens a file of this process for bytes at given positions, with holes between them; creates it when missing. */
export function openOwnSparse(path: string): OpenFile {
  return open(path, 'temp', constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
}

/** Opens a staged output for writing at given positions; creates it (mode by umask) when missing. */
export function openStagedOutput(path: string): OpenFile {
  return open(path, 'output', constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o666);
}

/** Direct writes must begin and end at multiples of this, in memory and in the file. */
export const DIRECT_ALIGNMENT = 4096;

/** Opens a staged output for `writeDirect`; undefined where the system or the file system has no direct writes. */
export function openDirectOutput(path: string): OpenFile | undefined {
  const { O_WRONLY, O_CREAT, O_NOFOLLOW, O_DIRECT } = constants;
  if (O_DIRECT === undefined) return undefined;
  try {
    return { fd: fileCalls.open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_DIRECT, 0o666), path, role: 'output' };
  } catch (error) {
    if (errnoOf(error) === 'EINVAL') return undefined;
    throw ioError('create', 'output', path, error);
  }
}

/** Opens a device or pipe without blocking; undefined for a pipe that has no reader yet: try again later. */
export function openStreamOutput(path: string): OpenFile | undefined {
  const { O_WRONLY, O_NONBLOCK } = constants;
  try {
    return { fd: fileCalls.open(path, O_WRONLY | O_NONBLOCK), path, role: 'output' };
  } catch (error) {
    if (errnoOf(error) === 'ENXIO' && fileCalls.stat(path).isFIFO()) return undefined;
    throw ioError('open', 'output', path, error);
  }
}

/** Opens an input that can only be read forward; a pipe without a writer does not block. */
export function openStreamForRead(path: string): OpenFile {
  return open(path, 'input', constants.O_RDONLY | constants.O_NONBLOCK);
}

export function closeFile(file: OpenFile): void {
  if (file.reader !== undefined) file.reader.close();
  else systemCall('close', file.role, file.path, () => fileCalls.close(file.fd));
}

export function closeAll(files: readonly OpenFile[]): void {
  let failure: { readonly error: unknown } | undefined;
  for (const file of files) {
    try {
      closeFile(file);
    } catch (error) {
      failure ??= { error };
    }
  }
  if (failure !== undefined) throw failure.error;
}

export function withFile<T>(file: OpenFile, use: (file: OpenFile) => T): T {
  return thenAlways(
    () => use(file),
    () => closeFile(file),
  );
}

/** Uses a file that stays open for the first time, and closes it if that fails. */
export function closeOnFailure<T>(file: OpenFile, use: (file: OpenFile) => T): T {
  try {
    return use(file);
  } catch (error) {
    throw afterFailure(error, () => closeFile(file));
  }
}

export function withFileAsync<T>(file: OpenFile, use: (file: OpenFile) => Promise<T>): Promise<T> {
  return thenAlwaysAsync(
    () => use(file),
    () => closeFile(file),
  );
}

/** Reads as `readAt`, into an array of their own. */
export function readBytes(file: OpenFile, position: number | null, byteLength: number): Uint8Array {
  const bytes = new Uint8Array(byteLength);
  return bytes.subarray(0, readAt(file, bytes, 0, byteLength, position));
}

/**
 * Reads up to `byteLength` bytes into `bytes` at `offset`; fewer only at the end of the file. Returns how many.
 * @param position null: where the last read ended. Then a read gives what is there, as a pipe has it.
 * @param end how far the caller will read from there on, for remote inputs.
 */
export function readAt(
  file: OpenFile,
  bytes: Uint8Array,
  offset: number,
  byteLength: number,
  position: number | null,
  end?: number,
): number {
  if (file.reader !== undefined) return file.reader.readAt(bytes, offset, byteLength, position ?? 0, end);
  let done = 0;
  while (done < byteLength) {
    const length = Math.min(byteLength - done, LARGEST_CALL_BYTES);
    try {
      const count = fileCalls.read(file.fd, bytes, offset + done, length, position === null ? null : position + done);
      if (count === 0) break;
      done += count;
      // Waiting for a full buffer from a pipe would only delay the work.
      if (position === null) break;
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'EAGAIN') blockFor(DEVICE_PAUSE_MILLISECONDS);
      else if (errno === 'EOF') break;
      else
        throw ioError(position === null ? 'read' : `read at byte ${position + done} of`, file.role, file.path, error);
    }
  }
  return done;
}

/** Reads as `readAt` of a position, while this thread does other work. */
export async function readAtAsync(
  file: OpenFile,
  bytes: Uint8Array,
  offset: number,
  byteLength: number,
  position: number,
): Promise<number> {
  let done = 0;
  while (done < byteLength) {
    const length = Math.min(byteLength - done, LARGEST_CALL_BYTES);
    try {
      const count = await fileCalls.readAsync(file.fd, bytes, offset + done, length, position + done);
      if (count === 0) break;
      done += count;
    } catch (error) {
      throw ioError(`read at byte ${position + done} of`, file.role, file.path, error);
    }
  }
  return done;
}

export function writeAt(file: OpenFile, bytes: Uint8Array, offset: number, byteLength: number, position: number): void {
  for (let done = 0; done < byteLength; ) {
    const length = Math.min(byteLength - done, LARGEST_CALL_BYTES);
    try {
      const count = fileCalls.write(file.fd, bytes, offset + done, length, position + done);
      if (count === 0) throw new Error('the device took none of the bytes');
      done += count;
    } catch (error) {
      throw ioError(`write at byte ${position + done} of`, file.role, file.path, error);
    }
  }
}

/** Writes to a pipe or device what it takes without blocking; returns 0 when its reader is slower than we are. */
export function writeSome(file: OpenFile, bytes: Uint8Array, offset: number, byteLength: number): number {
  try {
    return fileCalls.write(file.fd, bytes, offset, Math.min(byteLength, LARGEST_CALL_BYTES), null);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EAGAIN') return 0;
    if (errno === 'EPIPE') throw new ClosedPipeError();
    throw ioError('write to', file.role, file.path, error);
  }
}

/**
 * Writes aligned bytes around the page cache, in one call, while this thread does other work.
 * @returns bytes written, a multiple of the alignment; 0 when the file system refuses direct writes.
 */
export async function writeDirect(
  file: OpenFile,
  bytes: Uint8Array,
  offset: number,
  byteLength: number,
  position: number,
): Promise<number> {
  try {
    const length = Math.min(byteLength, LARGEST_CALL_BYTES);
    const count = await fileCalls.writeAsync(file.fd, bytes, offset, length, position);
    return count - (count % DIRECT_ALIGNMENT);
  } catch (error) {
    if (errnoOf(error) === 'EINVAL') return 0;
    throw ioError(`write at byte ${position} of`, file.role, file.path, error);
  }
}

export function versionOf(file: OpenFile): FileVersion {
  if (file.reader !== undefined) return file.reader.version;
  const stat = systemCall('examine', file.role, file.path, () => fileCalls.statOpen(file.fd));
  return { identity: `${stat.dev}:${stat.ino}`, byteLength: Number(stat.size), modifiedNanoseconds: stat.mtimeNs };
}

export function sameVersion(a: FileVersion, b: FileVersion): boolean {
  return a.identity === b.identity && a.byteLength === b.byteLength && a.modifiedNanoseconds === b.modifiedNanoseconds;
}

export function removeFile(path: string, role: FileRole): boolean {
  try {
    fileCalls.unlink(path);
    return true;
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw ioError('remove', role, path, error);
    return false;
  }
}

export function shortenFile(file: OpenFile, byteLength: number): void {
  systemCall('shorten', file.role, file.path, () => fileCalls.truncate(file.fd, byteLength));
}

/** Makes a file at least so long; new bytes read as zeros. A longer file stays as it is. */
export function lengthenFile(file: OpenFile, byteLength: number): void {
  if (versionOf(file).byteLength < byteLength)
    systemCall('lengthen', file.role, file.path, () => fileCalls.truncate(file.fd, byteLength));
}

export function syncData(file: OpenFile): void {
  systemCall('sync', file.role, file.path, () => fileCalls.syncData(file.fd));
}
