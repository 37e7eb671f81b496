/** The golden record indexes: their inputs, and how they are made. */
import { copyFileSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { indexFile, openIndexed } from '#src/index.js';
import { INPUTS, ON_DISK, sha256 } from './output-cases.mjs';

/** Whole seconds, which every file system keeps. */
export const INPUT_TIME = 1_750_000_000;

/** @type {Readonly<Record<string, import('#src/index.js').IndexOptions>>} */
export const INDEX_CASES = {
  'lines.txt': {},
  'lines.txt.bgz': {},
  'lines.txt.zst': {},
  'table-a.csv': { records: { by: 'csv' }, header: { lines: 1 } },
  'array-a.npy': { records: { by: 'npy' } },
};

/** Copies an input, with the time that indexes and job directories know it by. @param {string} name @param {string} directory */
export function copyInput(name, directory) {
  const path = join(directory, name);
  copyFileSync(join(INPUTS, name), path);
  utimesSync(path, INPUT_TIME, INPUT_TIME);
  return path;
}

/** @param {string} name @param {string} directory @returns {Promise<Buffer>} */
export async function indexOf(name, directory) {
  const { readBytes, sliceBytes, inline } = ON_DISK;
  const options = { memoryBytes: 2 ** 28, workers: 1, ...INDEX_CASES[name] };
  const { index } = await indexFile(copyInput(name, directory), options, { readBytes, sliceBytes, inline });
  return readFileSync(index);
}

/** All records, from the last to the first. @param {string} path */
export async function recordsOf(path) {
  const file = openIndexed(path);
  const records = [];
  for (let i = file.length - 1; i >= 0; i--) records.push(Buffer.from(await file.get(i)));
  await file.close();
  return `${records.length} records, ${sha256(Buffer.concat(records))}`;
}
