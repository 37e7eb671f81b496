/** The seed of `--random-source`: the SHA-256 of the first bytes of the file, which may be endless. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { InputError, UsageError } from '../errors.js';
import { unreadable } from './input-list.js';
import { isStandardInput } from './standard-streams.js';

const MOST_SOURCE_BYTES = 1024;

/** @param readsStandardInput whether the job reads it: its bytes are records then. */
export async function readSeedFrom(path: string, readsStandardInput: boolean): Promise<string> {
  if (readsStandardInput && isStandardInput(path)) {
    throw new UsageError(`--random-source ${path}: standard input is read as an input; name another file`);
  }
  const seed = await seedIn(path).catch((cause: unknown) => {
    throw unreadable(`the random source ${path}`, cause);
  });
  if (seed !== undefined) return seed;
  throw new InputError('ERR_INPUT_UNREADABLE', `the random source ${path} is empty; expected one byte or more`);
}

async function seedIn(path: string): Promise<string | undefined> {
  const file = await open(path, 'r');
  try {
    const bytes = new Uint8Array(MOST_SOURCE_BYTES);
    let filled = 0;
    for (let count = 1; count > 0 && filled < bytes.byteLength; filled += count) {
      ({ bytesRead: count } = await file.read(bytes, filled));
    }
    return filled === 0 ? undefined : createHash('sha256').update(bytes.subarray(0, filled)).digest('hex');
  } finally {
    await file.close();
  }
}
