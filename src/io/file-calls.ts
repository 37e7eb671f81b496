/**
 * The calls on files and directories that jobs make, all of them, in one table that can be replaced:
 * so that tests can let each call fail, and can keep account of what would survive a power failure.
 *
 * A call that a signal interrupted is repeated here, but for `close`, which has closed the file whatever
 * it says.
 */
import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { errnoOf } from './io-error.js';

/** As the system's calls of these names; synchronous but for those that return promises. */
export interface FileCalls {
  open(path: string, flags: number, mode?: number): number;
  close(fd: number): void;
  /** @param position null: where the last read ended. */
  read(fd: number, bytes: Uint8Array, offset: number, byteLength: number, position: number | null): number;
  /** `read` on another thread. */
  readAsync(fd: number, bytes: Uint8Array, offset: number, byteLength: number, position: number): Promise<number>;
  write(fd: number, bytes: Uint8Array, offset: number, byteLength: number, position: number | null): number;
  /** `write` on another thread. */
  writeAsync(fd: number, bytes: Uint8Array, offset: number, byteLength: number, position: number): Promise<number>;
  truncate(fd: number, byteLength: number): void;
  /** `fdatasync`. */
  syncData(fd: number): void;
  syncDataAsync(fd: number): Promise<void>;
  /** `fsync`. */
  syncAsync(fd: number): Promise<void>;
  statOpen(fd: number): fs.BigIntStats;
  stat(path: string): fs.BigIntStats;
  lstat(path: string): fs.BigIntStats;
  access(path: string, mode: number): void;
  realPath(path: string): string;
  list(directory: string): fs.Dirent[];
  makeDirectory(path: string, mode: number): void;
  /** `mkdtemp`: makes a directory whose name begins so, and gives its path. */
  makeUniqueDirectory(prefix: string): string;
  removeDirectory(path: string): void;
  chmod(path: string, mode: number): void;
  link(from: string, to: string): void;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  statFileSystem(path: string): fs.StatsFs;
}

/** The system's own. */
export const systemFileCalls: FileCalls = {
  open: (path, flags, mode) => fs.openSync(path, flags, mode),
  close: (fd) => fs.closeSync(fd),
  read: (fd, bytes, offset, byteLength, position) => fs.readSync(fd, bytes, offset, byteLength, position),
  readAsync: (fd, bytes, offset, byteLength, position) =>
    new Promise((resolve, reject) => {
      fs.read(fd, bytes, offset, byteLength, position, (error, count) =>
        error === null ? resolve(count) : reject(error),
      );
    }),
  write: (fd, bytes, offset, byteLength, position) => fs.writeSync(fd, bytes, offset, byteLength, position),
  writeAsync: (fd, bytes, offset, byteLength, position) =>
    new Promise((resolve, reject) => {
      fs.write(fd, bytes, offset, byteLength, position, (error, count) =>
        error === null ? resolve(count) : reject(error),
      );
    }),
  truncate: (fd, byteLength) => fs.ftruncateSync(fd, byteLength),
  syncData: (fd) => fs.fdatasyncSync(fd),
  syncDataAsync: (fd) => promisify(fs.fdatasync)(fd),
  syncAsync: (fd) => promisify(fs.fsync)(fd),
  statOpen: (fd) => fs.fstatSync(fd, { bigint: true }),
  stat: (path) => fs.statSync(path, { bigint: true }),
  lstat: (path) => fs.lstatSync(path, { bigint: true }),
  access: (path, mode) => fs.accessSync(path, mode),
  realPath: (path) => fs.realpathSync(path),
  list: (directory) => fs.readdirSync(directory, { withFileTypes: true }),
  makeDirectory: (path, mode) => {
    fs.mkdirSync(path, mode);
  },
  makeUniqueDirectory: (prefix) => fs.mkdtempSync(prefix),
  removeDirectory: (path) => fs.rmdirSync(path),
  chmod: (path, mode) => fs.chmodSync(path, mode),
  link: (from, to) => fs.linkSync(from, to),
  rename: (from, to) => fs.renameSync(from, to),
  unlink: (path) => fs.unlinkSync(path),
  statFileSystem: (path) => fs.statfsSync(path),
};

let layer = systemFileCalls;

/** Puts another table in place of the one in use, for this thread. @returns the former one. */
export function replaceFileCalls(calls: FileCalls): FileCalls {
  const former = layer;
  layer = calls;
  return former;
}

const mayRepeat = (error: unknown) => errnoOf(error) === 'EINTR';

/** The calls as jobs make them. */
export const fileCalls: FileCalls = {
  open: (...call) => repeated(() => layer.open(...call)),
  close: (fd) => {
    try {
      layer.close(fd);
    } catch (error) {
      if (!mayRepeat(error)) throw error;
    }
  },
  read: (fd, bytes, offset, byteLength, position) =>
    repeated(() => layer.read(fd, bytes, offset, byteLength, position)),
  readAsync: (...call) => repeatedAsync(() => layer.readAsync(...call)),
  write: (fd, bytes, offset, byteLength, position) =>
    repeated(() => layer.write(fd, bytes, offset, byteLength, position)),
  writeAsync: (...call) => repeatedAsync(() => layer.writeAsync(...call)),
  truncate: (...call) => repeated(() => layer.truncate(...call)),
  syncData: (fd) => repeated(() => layer.syncData(fd)),
  syncDataAsync: (fd) => repeatedAsync(() => layer.syncDataAsync(fd)),
  syncAsync: (fd) => repeatedAsync(() => layer.syncAsync(fd)),
  statOpen: (fd) => repeated(() => layer.statOpen(fd)),
  stat: (path) => repeated(() => layer.stat(path)),
  lstat: (path) => repeated(() => layer.lstat(path)),
  access: (...call) => repeated(() => layer.access(...call)),
  realPath: (path) => repeated(() => layer.realPath(path)),
  list: (directory) => repeated(() => layer.list(directory)),
  makeDirectory: (...call) => repeated(() => layer.makeDirectory(...call)),
  makeUniqueDirectory: (prefix) => repeated(() => layer.makeUniqueDirectory(prefix)),
  removeDirectory: (path) => repeated(() => layer.removeDirectory(path)),
  chmod: (...call) => repeated(() => layer.chmod(...call)),
  link: (...call) => repeated(() => layer.link(...call)),
  rename: (...call) => repeated(() => layer.rename(...call)),
  unlink: (path) => repeated(() => layer.unlink(path)),
  statFileSystem: (path) => repeated(() => layer.statFileSystem(path)),
};

function repeated<T>(call: () => T): T {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (!mayRepeat(error)) throw error;
    }
  }
}

async function repeatedAsync<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!mayRepeat(error)) throw error;
    }
  }
}
