/**
 * The golden job directories of unfinished jobs, as a killed process leaves them. A job directory knows its places;
 * the golden ones belong to a job in /golden, and are moved to the place of the test.
 */
import { createHash } from 'node:crypto';
import fs, { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { shuffle } from '#src/index.js';
import { isSealed, relocated, seal, unseal, withDescription } from './file-formats.mjs';
import { copyInput } from './indexes.mjs';
import { filesOf, ON_DISK } from './output-cases.mjs';

/**
 * @typedef {object} JobCase
 * @property {readonly string[]} inputs
 * @property {import('./output-cases.mjs').CaseOptions} options
 * @property {number} disks 0: temp data lies in the job directory, which is named
 * @property {RegExp} until the job is caught as soon as a file has got a name like this
 */

/** @type {Readonly<Record<string, JobCase>>} */
export const JOB_CASES = {
  'in-pass-1': {
    inputs: ['more.txt', 'one.txt'],
    options: { seed: '42', inputIds: 'name' },
    disks: 1,
    until: /\/set-000002\.index$/,
  },
  'in-pass-2': {
    inputs: ['lines.txt', 'more.txt'],
    options: { seed: '42' },
    disks: 2,
    until: /\/done-000001$/,
  },
  'shards-in-pass-2': {
    inputs: ['table-a.csv', 'table-b.csv'],
    options: {
      seed: '1',
      records: { by: 'csv' },
      header: { lines: 1 },
      shards: { by: 'count', shardCount: 3 },
      compress: { codec: 'gzip', level: 6 },
      tempCompress: { codec: 'zstd' },
    },
    disks: 0,
    until: /\/done-000001$/,
  },
  'at-its-end': {
    inputs: ['lines.txt'],
    options: { seed: '1', shards: { by: 'records', recordsPerShard: 100 } },
    disks: 1,
    until: /\/\.pileshuf-[0-9a-f]{16}\.job\/commit$/,
  },
};

/** @param {string} name @returns {JobCase} */
export function jobCase(name) {
  const found = JOB_CASES[name];
  if (found === undefined) throw new Error(`there is no case ${name}`);
  return found;
}

/** Where the files of a job lie, and under which names the golden files have its directories. */
export class JobPlaces {
  /** @param {string} root @param {JobCase} jobCase */
  constructor(root, { inputs, options, disks }) {
    this.root = root;
    this.inputs = inputs.map((name) => join(root, 'inputs', name));
    this.output = join(root, 'output');
    this.tempDirs = Array.from({ length: disks }, (_, disk) => join(root, `temp-${disk}`));
    const isShards = options.shards !== undefined;
    const identity = JSON.stringify([isShards ? 'shards' : 'file', this.output, isShards ? 'shard' : '']);
    const id = createHash('sha256').update(identity).digest('hex').slice(0, 16);
    const [firstTemp] = this.tempDirs;
    this.jobDir = firstTemp === undefined ? join(root, 'job') : undefined;
    this.job = this.jobDir ?? join(firstTemp ?? '', `.pileshuf-${id}.job`);
    this.staging = join(root, `.pileshuf-${id}.out`);
    /** @type {readonly (readonly [golden: string, place: string])[]} */
    this.directories = [
      ['job', this.job],
      ['staging', this.staging],
      ...this.tempDirs.map(
        (temp, disk) => /** @type {const} */ ([`disk-${disk}`, join(temp, `.pileshuf-${id}.disk-${disk}`)]),
      ),
    ];
  }

  /** Makes the files that exist before the job. @param {JobCase} jobCase */
  prepare({ inputs, options }) {
    for (const directory of [join(this.root, 'inputs'), ...this.tempDirs]) mkdirSync(directory, { recursive: true });
    for (const name of inputs) copyInput(name, join(this.root, 'inputs'));
    if (options.shards !== undefined) mkdirSync(this.output, { recursive: true });
  }
}

/** Where the golden job directories say that they are. @param {JobCase} jobCase */
function goldenPlaces(jobCase) {
  return new JobPlaces('/golden', jobCase);
}

/**
 * @param {string} root
 * @param {JobCase} jobCase
 * @param {Partial<import('#src/index.js').ShuffleOptions>} options
 */
export async function runJob(root, jobCase, options = {}) {
  const places = new JobPlaces(root, jobCase);
  const report = await shuffle(
    {
      memoryBytes: 2 ** 28,
      workers: 1,
      resume: true,
      ...jobCase.options,
      ...options,
      inputs: places.inputs.map((path) => ({ path })),
      output: places.output,
      ...(places.jobDir === undefined ? { tempDirs: places.tempDirs } : { jobDir: places.jobDir }),
    },
    ON_DISK,
  );
  return { report, files: filesOf(places.output) };
}

/**
 * Keeps the directories of a job as golden files. What tells of a process is left out, as is what has no name yet.
 * @param {JobPlaces} places
 * @param {JobCase} jobCase
 * @param {string} golden
 */
export function keepJob({ directories }, jobCase, golden) {
  for (const [name, place] of directories) {
    mkdirSync(join(golden, name), { recursive: true });
    for (const file of filesBelow(place)) {
      if (/^lock|\.attempt$/.test(file)) continue;
      mkdirSync(dirname(join(golden, name, file)), { recursive: true });
      writeFileSync(join(golden, name, file), movedFile(join(place, file), goldenPlaces(jobCase)));
    }
  }
}

/** Moves a golden job to the place where it is resumed. @param {string} golden @param {string} root @param {JobCase} jobCase */
export function restoreJob(golden, root, jobCase) {
  const places = new JobPlaces(root, jobCase);
  places.prepare(jobCase);
  for (const [name, place] of places.directories) {
    makePrivate(place);
    for (const file of filesBelow(join(golden, name))) {
      const path = join(place, file);
      if (dirname(path) !== place) makePrivate(dirname(path));
      writeFileSync(path, movedFile(join(golden, name, file), places));
    }
  }
}

/** @param {string} directory */
function makePrivate(directory) {
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o700);
}

/**
 * A file of a job with other places in it.
 * @param {string} path
 * @param {JobPlaces} places
 */
export function movedFile(path, places) {
  const bytes = readFileSync(path);
  if (!isSealed(bytes)) return bytes;
  const sealed = unseal(bytes);
  const { output, tempDirs, inputs, job } = places;
  const identity = JSON.parse(sealed.value.outputIdentity ?? '[]');
  switch (sealed.kind) {
    case 'job':
      return seal(relocated(sealed, { output, tempDirs, inputs }));
    case 'owner':
      return seal({ ...sealed, value: { ...sealed.value, jobDirectory: job } });
    case 'commit':
      return seal({
        ...sealed,
        value: { ...sealed.value, outputIdentity: JSON.stringify([identity[0], output, identity[2]]) },
      });
    default:
      return bytes;
  }
}

/**
 * The files of a job by name, as in /golden, with zeros for random values: the name of the attempt, in names
 * of pile sets.
 * @param {JobCase} jobCase
 * @param {readonly (readonly [golden: string, place: string])[]} directories
 * @returns {Record<string, Buffer>}
 */
export function comparableJob(jobCase, directories) {
  /** @param {string} text */
  const withoutAttempts = (text) => text.replaceAll(/\bset-(\d{6})-[0-9a-f]{8}\b/g, 'set-$1-00000000');
  const files = directories.flatMap(([name, place]) =>
    filesBelow(place)
      .filter((file) => !/^lock/.test(file))
      .map((file) => {
        const bytes = movedFile(join(place, file), goldenPlaces(jobCase));
        const isIndex = file.endsWith('.index');
        return [`${name}/${withoutAttempts(file)}`, isIndex ? withDescription(bytes, withoutAttempts) : bytes];
      }),
  );
  return Object.fromEntries(files);
}

/** @param {string} golden @param {JobCase} jobCase */
export function goldenDirectories(golden, jobCase) {
  return goldenPlaces(jobCase).directories.map(([name]) => /** @type {const} */ ([name, join(golden, name)]));
}

/** @param {string} directory @returns {string[]} */
function filesBelow(directory) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true })
    .map(String)
    .filter((name) => statSync(join(directory, name)).isFile())
    .sort();
}

/**
 * Does a job, and calls once as soon as a file has got the name at which the job is to be caught: on disk there is then
 * what a process leaves that is killed there.
 * @param {string} root
 * @param {JobCase} jobCase
 * @param {(places: JobPlaces) => void} call
 */
export async function catchJob(root, jobCase, call) {
  const places = new JobPlaces(root, jobCase);
  places.prepare(jobCase);
  const { linkSync, renameSync } = fs;
  let isCaught = false;
  /** @param {typeof linkSync | typeof renameSync} give @returns {(from: fs.PathLike, to: fs.PathLike) => void} */
  const watched = (give) => (from, to) => {
    give(from, to);
    if (isCaught || !jobCase.until.test(String(to))) return;
    isCaught = true;
    call(places);
  };
  Object.assign(fs, { linkSync: watched(linkSync), renameSync: watched(renameSync) });
  syncBuiltinESMExports();
  try {
    const outcome = await runJob(root, jobCase);
    if (!isCaught) throw new Error(`no file was named ${jobCase.until}`);
    return outcome;
  } finally {
    Object.assign(fs, { linkSync, renameSync });
    syncBuiltinESMExports();
  }
}

/** Of the manifest of a job. @param {string} jobDirectory */
export function formatOf(jobDirectory) {
  return unseal(readFileSync(join(jobDirectory, 'manifest'))).version;
}
