// @ts-check
// Runs one case: makes its corpus, runs the contestants in turn in each round, starting with a different one each
// round, and checks every output. Compares sizes after every run, and the order-free checksum for pileshuf in the first
// round; with `--check` for every shuffle in every round. A contestant that fails, is killed or writes a wrong output
// leaves the case; `isWrong` tells the caller whether the bench has to fail.

import fs from 'node:fs';
import path from 'node:path';
import { cgroupUnavailable, makeMemoryCgroup } from './cgroup.mjs';
import { findWrong } from './check-output.mjs';
import { contestants } from './contestants.mjs';
import { firstEighthOf, makeCorpus, repeatCorpus } from './corpus.mjs';
import { encodeCorpus, encodingUnavailable } from './encode.mjs';
import { comparisonsOf, figuresOf } from './figures.mjs';
import { measureRun, prepareRun, removeOutputs } from './measure.mjs';
import { programs } from './programs.mjs';

/** @import { Case } from './cases.mjs' */
/** @import { Contestant, Place } from './contestants.mjs' */
/** @import { Corpus, Inputs } from './corpus.mjs' */
/** @import { Encoding } from './encode.mjs' */
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

/** @typedef {ContestantResult & { contestant: Contestant, place: Place, plainInputs: Inputs }} Entry */

/** The files of cases without a disk. */
const memoryDirectory = '/dev/shm/pileshuf-bench';

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
    fileCount: options.fileCount,
    sizeBytes: theCase.sizeBytes ?? Math.round((theCase.sizeShare ?? 0) * options.sizeBytes),
    lineCount: theCase.lineCount,
  });
  const inEncoding = (/** @type {Encoding | undefined} */ encoding) =>
    repeatCorpus(encoding === undefined ? files : encodeCorpus(files, encoding), passes);
  const corpus = inEncoding(theCase.encoding);
  assertSpace(options.workDir, corpus, theCase);
  const rounds = options.rounds ?? theCase.rounds ?? 5;
  const warmup = options.warmup ?? theCase.warmup ?? 1;
  const entries = chooseContestants(theCase, inEncoding, files, options);
  try {
    for (let round = -warmup; round < rounds; round++) {
      for (const entry of rotate(entries, round + warmup)) {
        if (entry.outcome !== 'done') continue;
        const run = await runOnce(entry, options, round);
        const isFirst = round === -warmup;
        judge(entry, run, () => findWrongOf(entry, options, isFirst));
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
 * @param {(encoding: Encoding | undefined) => Corpus} inEncoding
 * @param {Corpus} differentLines of the corpus
 * @param {Options} options
 * @returns {Entry[]}
 */
function chooseContestants(theCase, inEncoding, differentLines, options) {
  return contestants
    .filter(({ name }) => theCase.contestants.includes(name) && options.contestants.has(name))
    .map((contestant) => {
      const ownCase = contestant.takesLines ? linesOf(theCase) : theCase;
      const [corpus, plainCorpus] = [inEncoding(ownCase.encoding), inEncoding(undefined)];
      const [inputs, plainInputs] = contestant.takesEighth
        ? [firstEighthOf(corpus), firstEighthOf(plainCorpus)]
        : [corpus, contestant.keepsOne ? differentLines : plainCorpus];
      const place = { case: ownCase, inputs, seed: options.seed };
      const reason = contestant.skipReason?.(place);
      return {
        contestant,
        place,
        plainInputs,
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

/** The case with the same records as compressed lines. @param {Case} theCase @returns {Case} */
function linesOf({ zstdLevel: _, ...theCase }) {
  return { ...theCase, encoding: 'zstd', compress: 'zstd' };
}

/**
 * @param {Entry} entry
 * @param {Options} options
 * @param {number} round
 */
async function runOnce({ contestant, place, command }, { workDir }, round) {
  prepareRun(workDir, [...new Set(place.inputs.files)]);
  const limitBytes = contestant.isUncapped ? undefined : place.case.cgroupLimitBytes;
  const cgroup = limitBytes === undefined ? undefined : makeMemoryCgroup(limitBytes);
  try {
    return await measureRun({ workDir, command, env: programs, round, cgroup });
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

/** @param {Entry} entry @param {Options} options @param {boolean} isFirst */
function findWrongOf({ contestant, place, plainInputs }, { workDir, check }, isFirst) {
  const isThorough = check || (contestant.name === 'pileshuf' && isFirst);
  return findWrong(contestant, place, plainInputs, path.join(workDir, 'out'), isThorough);
}

/** @param {Case} theCase @param {Corpus} corpus @param {number} rounds @param {Entry[]} entries @returns {CaseResult} */
function resultOf(theCase, corpus, rounds, entries) {
  const finished = entries.filter((entry) => entry.outcome === 'done' && entry.runs.length > 0);
  const measuredByName = new Map(
    finished.map(({ name, runs, plainInputs }) => [name, { runs, dataBytes: plainInputs.bytes }]),
  );
  return {
    case: theCase,
    corpus,
    rounds,
    contestants: entries.map(({ contestant: _, place: __, plainInputs: ___, ...entry }) => {
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
