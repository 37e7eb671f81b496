/** Reads the seed of `--random-source`. */
import { open } from 'node:fs/promises';
import { InputError, UsageError } from '../errors.js';
import { unreadable } from './input-list.js';
import { seedOfSource } from './shuf/random-source.js';
import { isStandardInput } from './standard-streams.js';

/**
 * @param readsStandardInput whether the job reads it: its bytes are records then.
 * @throws InputError, UsageError
 */
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
    return await seedOfSource(async (bytes, offset) => (await file.read(bytes, offset)).bytesRead);
  } finally {
    await file.close();
  }
}
