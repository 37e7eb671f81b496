/**
 * All calls on files and directories that jobs make, in one table that tests can replace: to let each call fail, or to
 * keep account of what would survive a power failure. A call that a signal interrupts is repeated here, except `close`,
 * which closes the file whatever it reports.
 */
import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { errnoOf } from './io-error.js';

export const systemFileCalls = {
  open: (path: string, flags: number, mode?: number) => fs.openSync(path, flags, mode),
  close: (fd: number) => fs.closeSync(fd),
  /** @param position null: where the last read ended. */
  read: (fd: number, bytes: Uint8Array, offset: number, byteLength: number, position: number | null) =>
    fs.readSync(fd, bytes, offset, byteLength, position),
  readAsync: (fd: number, bytes: Uint8Array, offset: number, byteLength: number, position: number) =>
    new Promise<number>((resolve, reject) => {
      fs.read(fd, bytes, offset, byteLength, position, (error, count) => (error ? reject(error) : resolve(count)));
    }),
  write: (fd: number, bytes: Uint8Array, offset: number, byteLength: number, position: number | null) =>
    fs.writeSync(fd, bytes, offset, byteLength, position),
  writeAsync: (fd: number, bytes: Uint8Array, offset: number, byteLength: number, position: number) =>
    new Promise<number>((resolve, reject) => {
      fs.write(fd, bytes, offset, byteLength, position, (error, count) => (error ? reject(error) : resolve(count)));
    }),
  truncate: (fd: number, byteLength: number) => fs.ftruncateSync(fd, byteLength),
  syncData: (fd: number) => fs.fdatasyncSync(fd),
  syncDataAsync: (fd: number) => promisify(fs.fdatasync)(fd),
  syncAsync: (fd: number) => promisify(fs.fsync)(fd),
  statOpen: (fd: number) => fs.fstatSync(fd, { bigint: true }),
  stat: (path: string) => fs.statSync(path, { bigint: true }),
  lstat: (path: string) => fs.lstatSync(path, { bigint: true }),
  access: (path: string, mode: number) => fs.accessSync(path, mode),
  realPath: (path: string) => fs.realpathSync(path),
  list: (directory: string) => fs.readdirSync(directory, { withFileTypes: true }),
  /** `list` with the bytes of the names. */
  listBytes: (directory: string) => fs.readdirSync(directory, { withFileTypes: true, encoding: 'buffer' }),
  makeDirectory: (path: string, mode: number): void => {
    fs.mkdirSync(path, mode);
  },
  /** `mkdtemp`: makes a directory whose name begins with the prefix's, and returns its path. */
  makeUniqueDirectory: (prefix: string) => fs.mkdtempSync(prefix),
  removeDirectory: (path: string) => fs.rmdirSync(path),
  chmod: (path: string, mode: number) => fs.chmodSync(path, mode),
  chown: (path: string, user: number, group: number) => fs.chownSync(path, user, group),
  link: (from: string, to: string) => fs.linkSync(from, to),
  rename: (from: string, to: string) => fs.renameSync(from, to),
  unlink: (path: string) => fs.unlinkSync(path),
  statFileSystem: (path: string) => fs.statfsSync(path),
};

export type FileCalls = typeof systemFileCalls;

let layer = systemFileCalls;

/** For this thread. Returns the former table. */
export function replaceFileCalls(calls: FileCalls): FileCalls {
  const former = layer;
  layer = calls;
  return former;
}

const mayRepeat = (error: unknown) => errnoOf(error) === 'EINTR';

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
  listBytes: (directory) => repeated(() => layer.listBytes(directory)),
  makeDirectory: (...call) => repeated(() => layer.makeDirectory(...call)),
  makeUniqueDirectory: (prefix) => repeated(() => layer.makeUniqueDirectory(prefix)),
  removeDirectory: (path) => repeated(() => layer.removeDirectory(path)),
  chmod: (...call) => repeated(() => layer.chmod(...call)),
  chown: (...call) => repeated(() => layer.chown(...call)),
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
