/** The state of a store before the commit of an append was tried for the first time. */
import { join } from 'node:path';
import { removeFile } from '../io/files.js';
import { object, wholeNumber } from '../io/json-shape.js';
import { SealedFormat } from '../io/sealed-format.js';
import { replaceDurably } from '../io/small-file.js';
import { APPENDING_NAME, CLUSTER_REMEDY } from './cluster-plan.js';

const format = new SealedFormat({
  kind: 'cluster-appending',
  version: 1,
  mostBytes: 2 ** 12,
  role: 'temp',
  shape: object({ state: wholeNumber(1) }),
  remedy: CLUSTER_REMEDY,
});

export async function writeAppendingNote(jobDirectory: string, state: number): Promise<void> {
  await replaceDurably(jobDirectory, APPENDING_NAME, format.seal({ state }));
}

/** For a job whose commit is known not to be done. */
export function removeAppendingNote(jobDirectory: string): void {
  removeFile(join(jobDirectory, APPENDING_NAME), 'temp');
}

/** @returns undefined if no commit was tried. */
export function readAppendingNote(jobDirectory: string): number | undefined {
  return format.read(join(jobDirectory, APPENDING_NAME))?.state;
}
