/**
 * All calls on files and directories that jobs make, in one table that tests can replace: to let each call fail, or to
 * record what would survive a power failure. A call that a signal interrupts is repeated here, except `close`,
 * which closes the file whatever it reports.
 */
import * as fs from 'node:fs';
import { promisify, types } from 'node:util';
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

/** Replaces the calls of this thread. Returns the former table. */
export function replaceFileCalls(calls: FileCalls): FileCalls {
  const former = layer;
  layer = calls;
  return former;
}

type Call = (...call: never[]) => unknown;

function repeating(name: keyof FileCalls): Call {
  const requireInterrupted = (error: unknown) => {
    if (errnoOf(error) !== 'EINTR') throw error;
  };
  const repeated: Call = (...call) => {
    for (;;) {
      try {
        const ask: Call = layer[name];
        const result = ask(...call);
        if (!types.isPromise(result)) return result;
        return result.catch((error: unknown) => {
          requireInterrupted(error);
          return repeated(...call);
        });
      } catch (error) {
        requireInterrupted(error);
        if (name === 'close') return undefined;
      }
    }
  };
  return repeated;
}

const names = Object.keys(systemFileCalls) as (keyof FileCalls)[];

export const fileCalls = Object.fromEntries(names.map((name) => [name, repeating(name)])) as FileCalls;
