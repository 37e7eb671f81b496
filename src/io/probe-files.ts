/**
 * Files with which a probe measures a disk: opened around the page cache where the system can do that, and without a name
 * where they are written. So a probe that is killed leaves nothing.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { join } from 'node:path';
import { fileCalls } from './file-calls.js';
import { createOwnFile, type OpenFile, openForRead, removeFile } from './files.js';
import { errnoOf } from './io-error.js';

/** `O_TMPFILE` of Linux without the flag for directories, which differs between processors. */
const UNNAMED = 0o20000000;

/** What a system answers that does not know a flag, or a file system that has no such files. */
const UNKNOWN_FLAG: ReadonlySet<string | undefined> = new Set(['EINVAL', 'EISDIR', 'ENOENT', 'EOPNOTSUPP', 'ENOTSUP']);

/** An input, to be read at multiples of the alignment of direct writes. */
export function openInputAroundCache(path: string): OpenFile {
  const { O_RDONLY, O_DIRECT } = constants;
  if (O_DIRECT === undefined) return openForRead(path, 'input');
  const fd = openIfKnown(path, O_RDONLY | O_DIRECT);
  return fd === undefined ? openForRead(path, 'input') : { fd, path, role: 'input' };
}

/** A file without a name, to be written in the same way. */
export function openUnnamedFile(directory: string): OpenFile {
  const { O_WRONLY, O_DIRECT = 0, O_DIRECTORY } = constants;
  if (process.platform === 'linux') {
    const flags = O_WRONLY | O_DIRECTORY | UNNAMED;
    const fd = openIfKnown(directory, flags | O_DIRECT, 0o600) ?? openIfKnown(directory, flags, 0o600);
    if (fd !== undefined) return { fd, path: directory, role: 'temp' };
  }
  const file = createOwnFile(join(directory, `.pileshuf-probe-${randomBytes(6).toString('hex')}`), 'temp');
  removeFile(file.path, 'temp');
  return file;
}

function openIfKnown(path: string, flags: number, mode?: number): number | undefined {
  try {
    return fileCalls.open(path, flags, mode);
  } catch (error) {
    if (UNKNOWN_FLAG.has(errnoOf(error))) return undefined;
    throw error;
  }
}
