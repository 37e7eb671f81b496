/** Reads the seed of `--random-source`. */
import { closeSync, fstatSync } from 'node:fs';
import { quote } from './quoted.js';
import { seedOfSource } from './random-source.js';
import { ShufError } from './shuf-error.js';
import { openInput } from './taken-input.js';
import { readSome } from './waiting-calls.js';

/** @param input the open file of standard input, if it is read as input. @throws ShufError */
export async function readSeed(path: string, input: number | undefined): Promise<string> {
  const fd = openInput(path);
  try {
    // What both share is read as input, to its end.
    const isUsedUp = input !== undefined && areOnePipe(fd, input);
    const seed = isUsedUp ? undefined : await seedOfSource((bytes, offset) => readSome(fd, bytes, offset));
    if (seed !== undefined) return seed;
  } catch (error) {
    throw error instanceof ShufError ? new ShufError(`${quote(path)}: ${error.message}`) : error;
  } finally {
    closeSync(fd);
  }
  throw new ShufError(`${quote(path)}: end of file`);
}

function areOnePipe(fd: number, other: number): boolean {
  const [a, b] = [fstatSync(fd), fstatSync(other)];
  return a.isFIFO() && a.dev === b.dev && a.ino === b.ino;
}
