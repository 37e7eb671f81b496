/** The file of `--profile`: where the time of the job went, as one JSON object. */
import { accessSync, constants, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type JobProfile, UsageError } from '../index.js';

/** Says before the job that the file cannot be written, which would be a pity after it. @throws UsageError */
export function requireProfilePlace(path: string): void {
  const directory = dirname(path);
  try {
    accessSync(directory, constants.W_OK);
  } catch (error) {
    throw new UsageError(`--profile ${path}: cannot write to ${directory}: ${reasonOf(error)}`);
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw new UsageError(`--profile ${path}: it is a directory; expected the name of a file`);
  }
}

/** Takes the place of a former one. The output is there already: a failure is a warning. */
export function writeProfile(path: string, profile: JobProfile, onWarning: (line: string) => void): void {
  try {
    writeFileSync(path, `${JSON.stringify(profile, undefined, 1)}\n`);
  } catch (error) {
    onWarning(`--profile ${path}: cannot write it: ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
