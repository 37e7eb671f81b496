// @ts-check
// `npm run bench:disks`: shows what several disks gain and what the gates do, with temp data on simulated disks. Tables
// go to stdout, progress to stderr. Fails only when an output is wrong.

import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { checksumLines } from './checksum.mjs';
import { pileshufMissing } from './contestants.mjs';
import { checksumInputs, makeCorpus } from './corpus.mjs';
import { diskCases } from './disks/disk-cases.mjs';
import { diskTable } from './disks/disk-table.mjs';
import { loopDiskUnavailable, makeLoopDisk } from './disks/loop-disk.mjs';
import { readMachineClass, readVersions } from './machine.mjs';
import { measureRun, prepareRun, removeOutputs, stopOnSignals } from './measure.mjs';

/** @import { Corpus } from './corpus.mjs' */
/** @import { DiskCase, DiskContestant } from './disks/disk-cases.mjs' */
/** @import { DiskEntry, DiskRun } from './disks/disk-table.mjs' */

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: diskCases.map(({ name }) => name).join(',') },
    rounds: { type: 'string', default: '3' },
    work: { type: 'string', default: path.join(import.meta.dirname, 'work') },
    json: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const workDir = path.resolve(values.work);
const disksDir = path.join(workDir, 'disks');
const useFile = path.join(workDir, 'disks-use');
/** The temp data is a little larger than the inputs, and a file system needs some space itself. */
const diskShare = 1.5;

/** @param {string} line */
const say = (line) => process.stderr.write(`${line}\n`);

if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds ${values.rounds}: expected 1 or more`);
const missing = pileshufMissing();
if (missing) throw new Error(missing);
stopOnSignals();
fs.mkdirSync(workDir, { recursive: true });
const names = values.cases.split(',');
const results = [];
for (const diskCase of diskCases.filter(({ name }) => names.includes(name))) {
  const reason = diskCase.places === 'loop devices' ? loopDiskUnavailable() : undefined;
  if (reason) {
    process.stdout.write(`${diskCase.name}: skipped: ${reason}\n\n`);
    continue;
  }
  const corpus = makeCorpus(workDir, { kind: 'sentences', seed: '1', sizeBytes: diskCase.sizeBytes });
  const entries = await measureCase(diskCase, corpus);
  process.stdout.write(`${diskTable(diskCase, entries)}\n`);
  const told = entries.map(({ contestant: { name }, runs }) => ({ name, runs: runs.map(withoutText) }));
  results.push({ case: diskCase, entries: told });
}
if (values.json !== undefined) {
  const report = { date: new Date().toISOString().slice(0, 10), versions: readVersions() };
  const machine = readMachineClass(workDir);
  fs.writeFileSync(values.json, `${JSON.stringify({ ...report, machine, results }, null, 2)}\n`);
}

/** What a program told on stderr may hold paths. @param {DiskRun} run */
function withoutText({ stderrTail: _, ...run }) {
  return run;
}

/** @param {DiskCase} diskCase @param {Corpus} corpus @returns {Promise<DiskEntry[]>} */
async function measureCase(diskCase, corpus) {
  const entries = diskCase.contestants.map((contestant) => ({ contestant, runs: /** @type {DiskRun[]} */ ([]) }));
  const places = makePlaces(diskCase);
  try {
    for (let round = 0; round < rounds; round++) {
      for (let i = 0; i < entries.length; i++) {
        const entry = entries[(i + round) % entries.length];
        if (entry === undefined) continue;
        const run = await measureOnce(diskCase, entry.contestant, { corpus, places: places.directories, round });
        entry.runs.push(run);
        say(
          `${diskCase.name}: round ${round + 1} of ${rounds}: ${entry.contestant.name}: ${run.wallSeconds.toFixed(2)} s`,
        );
      }
    }
  } finally {
    places.remove();
    removeOutputs(workDir);
    fs.rmSync(useFile, { force: true });
  }
  return entries;
}

/** @param {DiskCase} diskCase @returns {{ directories: string[], remove: () => void }} as many as the case has disks */
function makePlaces({ places, contestants, sizeBytes }) {
  const count = Math.max(...contestants.map(({ diskCount }) => diskCount));
  const byteLength = Math.ceil(sizeBytes * diskShare);
  fs.rmSync(disksDir, { recursive: true, force: true });
  fs.mkdirSync(disksDir);
  const directories = Array.from({ length: count }, (_, i) => path.join(disksDir, String(i)));
  /** @type {(() => void)[]} */
  const removals = [() => fs.rmSync(disksDir, { recursive: true })];
  const remove = () => {
    for (const step of removals.splice(0).reverse()) step();
  };
  try {
    for (const directory of directories) {
      if (places === 'directories') fs.mkdirSync(directory);
      else removals.push(makeLoopDisk(directory, { byteLength, rotates: true }).remove);
    }
  } catch (error) {
    remove();
    throw error;
  }
  return { directories, remove };
}

/**
 * @param {DiskCase} diskCase
 * @param {DiskContestant} contestant
 * @param {{ corpus: Corpus, places: string[], round: number }} what
 * @returns {Promise<DiskRun>}
 */
async function measureOnce({ memory, hasLongFiles }, { diskCount, workers, disk, ioLimit }, what) {
  const { corpus, places, round } = what;
  const directories = places.slice(0, diskCount);
  const inDir = directories.map((directory) => path.relative(workDir, directory));
  const options = [
    `-S ${memory} --workers ${workers} --seed 1 --profile profile -q`,
    ...inDir.map((directory) => `-T ${directory}`),
    ...(ioLimit === undefined ? [] : inDir.map((directory) => `--io-limit ${directory}=${ioLimit}`)),
  ];
  const env = {
    NODE: process.execPath,
    PILESHUF: path.join(import.meta.dirname, hasLongFiles ? 'disks/long-files.mjs' : '../dist/src/cli/main.cjs'),
    SIMULATED_DISKS: path.join(import.meta.dirname, 'disks/simulated-disks.mjs'),
    PILESHUF_SIMULATED_DISKS: JSON.stringify(directories.map((directory) => ({ ...disk, directory }))),
    PILESHUF_SIMULATED_DISKS_USE: useFile,
  };
  const command = `"$NODE" --import "$SIMULATED_DISKS" "$PILESHUF" ${corpus.pattern} -o out ${options.join(' ')}`;
  prepareRun(workDir, corpus.files);
  const run = await measureRun({ workDir, command, env, round, cgroup: undefined });
  if (run.exitStatus !== 0) throw new Error(`exit status ${run.exitStatus}: ${run.stderrTail}`);
  assertOutput(corpus, round);
  return { ...run, disks: JSON.parse(fs.readFileSync(useFile, 'utf8')) };
}

/** @param {Corpus} inputs @param {number} round */
function assertOutput(inputs, round) {
  const out = path.join(workDir, 'out');
  const { size } = fs.statSync(out);
  if (size !== inputs.bytes) throw new Error(`the output has ${size} bytes, expected ${inputs.bytes}`);
  if (round > 0) return;
  const [found, expected] = [checksumLines([out]), checksumInputs(inputs)].map((sum) => JSON.stringify(sum));
  if (found !== expected) throw new Error('the output does not hold the lines of the inputs');
}
