// @ts-check
// Runs one case: makes its corpus, runs the contestants in turn in each round, starting with a different one each
// round, and checks every output. Compares sizes after every run, and the order-free checksum for pileshuf in the first
// round; with `--check` for every shuffle in every round. A contestant that fails, is killed or writes a wrong output
// leaves the case; `isWrong` tells the caller whether the bench has to fail.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { cgroupUnavailable, makeMemoryCgroup } from './cgroup.mjs';
import { checksumLines } from './checksum.mjs';
import { contestants, programs } from './contestants.mjs';
import { checksumInputs, firstEighthOf, makeCorpus, repeatCorpus } from './corpus.mjs';
import { encodeCorpus, encodingUnavailable } from './encode.mjs';
import { comparisonsOf, figuresOf } from './figures.mjs';
import { measureRun, prepareRun, removeOutputs } from './measure.mjs';

/** @import { Case } from './cases.mjs' */
/** @import { Contestant } from './contestants.mjs' */
/** @import { Corpus, Inputs } from './corpus.mjs' */
/** @import { Comparison, Figures } from './figures.mjs' */
/** @import { Run } from './measure.mjs' */
/** @import { Options } from './options.mjs' */

/**
 * @typedef {object} ContestantResult
 * @property {string} name
 * @property {string} command
 * @property {string} outcome `done`, or why there are no figures
 * @property {string} detail the program's own message about a failure: may have paths, so it stays out of the JSON
 * @property {boolean} isWrong
 * @property {Figures | null} figures
 * @property {Run[]} runs without the warm-up
 */

/**
 * @typedef {object} CaseResult
 * @property {Case} case
 * @property {Corpus} corpus
 * @property {number} rounds
 * @property {ContestantResult[]} contestants
 * @property {Comparison[]} comparisons
 */

/** @typedef {ContestantResult & { contestant: Contestant, inputs: Inputs }} Entry the inputs before compression */

/** The files of cases without a disk. */
const memoryDirectory = '/dev/shm/pileshuf-bench';

const comparedHeadBytes = 64 * 1024;

/**
 * @param {Case} theCase
 * @param {Options} given
 * @param {(line: string) => void} say
 * @returns {Promise<CaseResult | string>} or the reason why the case was left out
 */
export async function runCase(theCase, given, say) {
  const options = theCase.inMemory ? { ...given, workDir: memoryDirectory } : given;
  if (theCase.inMemory && !fs.existsSync(path.dirname(memoryDirectory))) return `${memoryDirectory} cannot be made`;
  fs.mkdirSync(options.workDir, { recursive: true });
  if (theCase.cgroupLimitBytes !== undefined) {
    const reason = await cgroupUnavailable();
    if (reason) return reason;
  }
  const reason = theCase.encoding && encodingUnavailable(theCase.encoding);
  if (reason) return reason;
  const { passes = 1 } = theCase;
  const files = makeCorpus(options.workDir, {
    kind: theCase.kind,
    seed: options.seed,
    sizeBytes: theCase.sizeBytes ?? Math.round((theCase.sizeShare ?? 0) * options.sizeBytes),
    lineCount: theCase.lineCount,
  });
  const encodedFiles = theCase.encoding === undefined ? files : encodeCorpus(files, theCase.encoding);
  const corpus = repeatCorpus(encodedFiles, passes);
  assertSpace(options.workDir, corpus, theCase);
  const rounds = options.rounds ?? theCase.rounds ?? 5;
  const warmup = options.warmup ?? theCase.warmup ?? 1;
  const entries = chooseContestants(theCase, corpus, repeatCorpus(files, passes), files, options);
  try {
    for (let round = -warmup; round < rounds; round++) {
      for (const entry of rotate(entries, round + warmup)) {
        if (entry.outcome !== 'done') continue;
        const run = await runOnce(entry, theCase, corpus, options, round);
        const isFirst = round === -warmup;
        judge(entry, run, () => findWrong(entry, theCase, options, isFirst));
        if (round >= 0) entry.runs.push(run);
        const label = round < 0 ? 'warm-up' : `round ${round + 1} of ${rounds}`;
        const ending = entry.outcome === 'done' ? '' : `, ${entry.outcome}`;
        say(`${theCase.name}: ${label}: ${entry.name}: ${run.wallSeconds.toFixed(3)} s${ending}`);
      }
    }
  } finally {
    removeOutputs(options.workDir);
    if (theCase.inMemory) fs.rmSync(options.workDir, { recursive: true });
  }
  return resultOf(theCase, corpus, rounds, entries);
}

/**
 * @param {Case} theCase
 * @param {Corpus} corpus
 * @param {Corpus} plainCorpus the corpus before compression
 * @param {Corpus} differentLines of the corpus
 * @param {Options} options
 * @returns {Entry[]}
 */
function chooseContestants(theCase, corpus, plainCorpus, differentLines, options) {
  return contestants
    .filter(({ name }) => theCase.contestants.includes(name) && options.contestants.has(name))
    .map((contestant) => {
      const [inputs, plainInputs] = contestant.takesEighth
        ? [firstEighthOf(corpus), firstEighthOf(plainCorpus)]
        : [corpus, contestant.keepsOne ? differentLines : plainCorpus];
      const place = { case: theCase, inputs, seed: options.seed };
      const reason = contestant.skipReason(place);
      return {
        contestant,
        inputs: plainInputs,
        name: contestant.name,
        command: contestant.command(place),
        detail: '',
        outcome: reason ? `skipped: ${reason}` : 'done',
        isWrong: false,
        figures: null,
        runs: [],
      };
    });
}

/**
 * @param {Entry} entry
 * @param {Case} theCase
 * @param {Corpus} corpus
 * @param {Options} options
 * @param {number} round
 */
async function runOnce(entry, theCase, corpus, { workDir }, round) {
  prepareRun(workDir, [...new Set(corpus.files)]);
  const cgroup = theCase.cgroupLimitBytes === undefined ? undefined : makeMemoryCgroup(theCase.cgroupLimitBytes);
  try {
    return await measureRun({ workDir, command: entry.command, env: programs, round, cgroup });
  } finally {
    await cgroup?.remove();
  }
}

/**
 * If a rival runs out of memory, by itself or by the OOM killer, that is a result; every other error fails the bench.
 *
 * @param {Entry} entry
 * @param {Run} run
 * @param {() => string | undefined} findWrongOutput
 */
function judge(entry, run, findWrongOutput) {
  if (run.isKilled) {
    entry.outcome = 'killed';
    entry.isWrong = entry.name === 'pileshuf';
  } else if (run.exitStatus !== 0 && /out of memory/i.test(run.stderrTail)) {
    entry.outcome = 'ran out of memory';
    entry.isWrong = entry.name === 'pileshuf';
  } else if (run.exitStatus !== 0) {
    entry.outcome = `failed with exit status ${run.exitStatus}`;
    entry.detail = run.stderrTail;
    entry.isWrong = true;
  } else {
    const wrong = findWrongOutput();
    if (wrong === undefined) return;
    entry.outcome = `wrong output: ${wrong}`;
    entry.isWrong = true;
  }
}

/**
 * @param {Entry} entry
 * @param {Case} theCase
 * @param {Options} options
 * @param {boolean} isFirst
 * @returns {string | undefined}
 */
function findWrong({ contestant, inputs }, { compress }, options, isFirst) {
  if (contestant.onlyReads) return undefined;
  const written = path.join(options.workDir, 'out');
  const out = compress === undefined ? written : decoded(written);
  if (out === undefined) return 'expected a file that zstd decompresses';
  if (!fs.existsSync(out)) return 'expected an output, got none';
  const outFiles = filesOf(out);
  const outBytes = outFiles.reduce((sum, file) => sum + fs.statSync(file).size, 0);
  if (outBytes !== inputs.bytes) return `expected ${inputs.bytes} bytes, got ${outBytes}`;
  if (!contestant.shuffles) return undefined;
  const [firstFile = ''] = inputs.files;
  const [firstOut = ''] = outFiles;
  if (readHead(firstOut).equals(readHead(firstFile))) return 'expected another order, got that of the inputs';
  if (!options.check && !(contestant.name === 'pileshuf' && isFirst)) return undefined;
  const expected = checksumInputs(inputs);
  const got = checksumLines(outFiles);
  if (got.lines === expected.lines && got.sum === expected.sum) return undefined;
  return `expected ${expected.lines} lines with checksum ${expected.sum}, got ${got.lines} with ${got.sum}`;
}

/** @param {string} out @returns {string[]} the file itself, or the shards in the directory */
function filesOf(out) {
  if (!fs.statSync(out).isDirectory()) return [out];
  // Beside the shards lies the mark that they are complete.
  const shards = fs.readdirSync(out).filter((name) => !name.startsWith('.'));
  return shards.map((name) => path.join(out, name));
}

/** @param {string} file @returns {string | undefined} undefined: it could not be decompressed */
function decoded(file) {
  const { status } = spawnSync('zstd', ['-dqf', file, '-o', `${file}-decoded`], { stdio: 'ignore' });
  return status === 0 ? `${file}-decoded` : undefined;
}

/** @param {string} file */
function readHead(file) {
  const head = Buffer.alloc(comparedHeadBytes);
  const fd = fs.openSync(file, 'r');
  const byteLength = fs.readSync(fd, head, 0, head.length, 0);
  fs.closeSync(fd);
  return head.subarray(0, byteLength);
}

/** @param {Case} theCase @param {Corpus} corpus @param {number} rounds @param {Entry[]} entries @returns {CaseResult} */
function resultOf(theCase, corpus, rounds, entries) {
  const finished = entries.filter((entry) => entry.outcome === 'done' && entry.runs.length > 0);
  const measuredByName = new Map(finished.map(({ name, runs, inputs }) => [name, { runs, dataBytes: inputs.bytes }]));
  return {
    case: theCase,
    corpus,
    rounds,
    contestants: entries.map(({ contestant: _, inputs: __, ...entry }) => {
      const measured = measuredByName.get(entry.name);
      return { ...entry, figures: measured ? figuresOf(measured) : null };
    }),
    comparisons: comparisonsOf(measuredByName, corpus, theCase.bars),
  };
}

/** @param {Entry[]} entries @param {number} by */
function rotate(entries, by) {
  const start = by % Math.max(1, entries.length);
  return [...entries.slice(start), ...entries.slice(0, start)];
}

/**
 * Space for two copies of the data, or for the temp data and output of pileshuf, which deletes what it has read;
 * and a reserve.
 *
 * @param {string} workDir
 * @param {Corpus} corpus
 * @param {Case} theCase
 */
function assertSpace(workDir, { bytes, lines }, { compress }) {
  const { bavail, bsize } = fs.statfsSync(workDir);
  const decodedBytes = compress === undefined ? 0 : bytes;
  const neededBytes = Math.max(2.1 * bytes, 1.3 * (bytes + 12 * lines)) + decodedBytes;
  if (bavail * bsize >= neededBytes) return;
  const [free, needed] = [bavail * bsize, neededBytes].map((each) => (each / 1e9).toFixed(1));
  throw new Error(
    `the work directory has ${free} GB free, expected ${needed} GB; give a smaller --size or other --work`,
  );
}
