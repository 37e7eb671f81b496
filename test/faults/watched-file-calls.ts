/**
 * The table of file calls with a hook around each call on a watched path, for the fault tests and the model of a disk.
 * Calls on other paths go to the system unchanged.
 */
import type { FileCalls } from '#src/io/file-calls.js';
import { systemFileCalls } from '#src/io/file-calls.js';

/** One call, before it is made. */
export interface FileCall {
  readonly name: keyof FileCalls;
  /** The path, or that under which the file was opened; of `link` and `rename` the first. */
  readonly path: string;
  /** The second path of `link` and `rename`. */
  readonly to?: string;
  readonly fd?: number;
  /** Of `open`, and of calls on what it opened. */
  readonly flags?: number;
  /** What is to be written, or where the bytes read go. */
  readonly bytes?: Uint8Array;
  /** Of `truncate`: the new length. */
  readonly byteLength?: number;
  readonly position?: number | null;
}

/** @param make makes the call; of a read or write with fewer bytes, if given. */
export type Around = <T>(call: FileCall, make: (byteLength?: number) => T) => T;

export interface WatchedFileCalls extends FileCalls {
  /** Paths of the watched files that are open, by their descriptors. */
  readonly openFiles: ReadonlyMap<number, OpenedFile>;
}

export interface OpenedFile {
  readonly path: string;
  readonly flags: number;
}

/** @param system makes the calls. */
export function watchFileCalls(
  watches: (path: string) => boolean,
  around: Around,
  system: FileCalls = systemFileCalls,
): WatchedFileCalls {
  const openFiles = new Map<number, OpenedFile>();

  function onPath<T>(call: FileCall, make: () => T): T {
    return watches(call.path) || (call.to !== undefined && watches(call.to)) ? around(call, make) : make();
  }

  function onOpenFile<T>(
    name: keyof FileCalls,
    fd: number,
    make: (byteLength?: number) => T,
    more: Partial<FileCall> = {},
  ): T {
    const file = openFiles.get(fd);
    return file === undefined ? make() : around({ name, fd, ...file, ...more }, make);
  }

  const piece = (bytes: Uint8Array, offset: number, byteLength: number, position: number | null) => ({
    bytes: bytes.subarray(offset, offset + byteLength),
    byteLength,
    position,
  });

  return {
    openFiles,
    open: (path, flags, mode) =>
      onPath({ name: 'open', path, flags }, () => {
        const fd = system.open(path, flags, mode);
        if (watches(path)) openFiles.set(fd, { path, flags });
        return fd;
      }),
    close: (fd) =>
      onOpenFile('close', fd, () => {
        openFiles.delete(fd);
        system.close(fd);
      }),
    read: (fd, bytes, offset, byteLength, position) =>
      onOpenFile(
        'read',
        fd,
        (count = byteLength) => system.read(fd, bytes, offset, count, position),
        piece(bytes, offset, byteLength, position),
      ),
    readAsync: (fd, bytes, offset, byteLength, position) =>
      onOpenFile(
        'readAsync',
        fd,
        (count = byteLength) => system.readAsync(fd, bytes, offset, count, position),
        piece(bytes, offset, byteLength, position),
      ),
    write: (fd, bytes, offset, byteLength, position) =>
      onOpenFile(
        'write',
        fd,
        (count = byteLength) => system.write(fd, bytes, offset, count, position),
        piece(bytes, offset, byteLength, position),
      ),
    writeAsync: (fd, bytes, offset, byteLength, position) =>
      onOpenFile(
        'writeAsync',
        fd,
        (count = byteLength) => system.writeAsync(fd, bytes, offset, count, position),
        piece(bytes, offset, byteLength, position),
      ),
    truncate: (fd, byteLength) => onOpenFile('truncate', fd, () => system.truncate(fd, byteLength), { byteLength }),
    syncData: (fd) => onOpenFile('syncData', fd, () => system.syncData(fd)),
    syncDataAsync: (fd) => onOpenFile('syncDataAsync', fd, () => system.syncDataAsync(fd)),
    syncAsync: (fd) => onOpenFile('syncAsync', fd, () => system.syncAsync(fd)),
    statOpen: (fd) => onOpenFile('statOpen', fd, () => system.statOpen(fd)),
    stat: (path) => onPath({ name: 'stat', path }, () => system.stat(path)),
    lstat: (path) => onPath({ name: 'lstat', path }, () => system.lstat(path)),
    access: (path, mode) => onPath({ name: 'access', path }, () => system.access(path, mode)),
    realPath: (path) => onPath({ name: 'realPath', path }, () => system.realPath(path)),
    list: (path) => onPath({ name: 'list', path }, () => system.list(path)),
    makeDirectory: (path, mode) => onPath({ name: 'makeDirectory', path }, () => system.makeDirectory(path, mode)),
    makeUniqueDirectory: (path) =>
      onPath({ name: 'makeUniqueDirectory', path }, () => system.makeUniqueDirectory(path)),
    removeDirectory: (path) => onPath({ name: 'removeDirectory', path }, () => system.removeDirectory(path)),
    chmod: (path, mode) => onPath({ name: 'chmod', path }, () => system.chmod(path, mode)),
    chown: (path, user, group) => onPath({ name: 'chown', path }, () => system.chown(path, user, group)),
    link: (path, to) => onPath({ name: 'link', path, to }, () => system.link(path, to)),
    rename: (path, to) => onPath({ name: 'rename', path, to }, () => system.rename(path, to)),
    unlink: (path) => onPath({ name: 'unlink', path }, () => system.unlink(path)),
    statFileSystem: (path) => onPath({ name: 'statFileSystem', path }, () => system.statFileSystem(path)),
  };
}
