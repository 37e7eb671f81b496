/**
 * The stages of a job without its coordinator: keys from a seed, the task of pass 1, and the task of pass 2 over all
 * piles, on this thread, with segments in memory. This is the program's own scatter, merge and shuffle in a tenth of
 * the time of a whole job, which also examines disks, makes directories and commits its output.
 */
import { readFileSync } from 'node:fs';
import { decodeError } from '#src/errors.js';
import { LINES } from '#src/formats/framing-table.js';
import { openForRead, versionOf, withFile } from '#src/io/files.js';
import { JobControl, UNGATED } from '#src/job-control.js';
import { deriveInputKey } from '#src/keys.js';
import { stagedPath } from '#src/output/output-target.js';
import { ownRamPool } from '#src/pile-sets/ram-pool.js';
import type { ScatterSettings, ShuffleSettings } from '#workers/settings.js';
import { forgetJob, type Outcome, runTask } from '#workers/tasks.js';
import { usualNeed } from '../plan/memory-needs.js';

export interface StageSizes {
  readonly pileCount: number;
  readonly bufferBytes: number;
}

export interface Stages {
  /** Shuffles the input with a seed; returns the output. */
  shuffle(seed: string): Promise<Buffer>;
  close(): void;
}

/** All stages for one input. */
export function openStages(
  inputPath: string,
  stagingDirectory: string,
  { pileCount, bufferBytes }: StageSizes,
): Stages {
  const version = withFile(openForRead(inputPath, 'input'), versionOf);
  const job: ScatterSettings & ShuffleSettings = {
    jobName: `stages of ${pileCount} piles`,
    control: JobControl.create([], 64 * 2 ** 20).buffer,
    layout: { pileCount, stripeCount: 1, disks: [], indexDirectory: stagingDirectory },
    ramPool: ownRamPool(64 * 2 ** 20),
    keepsPileSets: false,
    framing: LINES,
    header: undefined,
    linesAssumed: false,
    bufferBytes,
    readBytes: 4096,
    outputBytes: 4096,
    hashesOutput: false,
    rescatterTo: { disks: [], indexDirectory: stagingDirectory },
    arenaBytes: 2 ** 20,
    maxRecordBytes: 2 ** 20,
    tiesByBytes: false,
    memoryNeed: usualNeed,
  };
  const shuffle = async (seed: string): Promise<Buffer> => {
    const part = {
      kind: 'range' as const,
      inputOrdinal: 0,
      path: inputPath,
      inputKey: deriveInputKey(seed, '0'),
      headerBytes: 0,
      start: 0,
      countBefore: 0,
      end: version.byteLength,
      version,
      gate: UNGATED,
    };
    const scattered = resultOf(await runTask('scatter', { job, pileSetName: 'set', parts: [part] }));
    const totalRecords = scattered.totals.records.reduce((sum, records) => sum + records, 0);
    resultOf(
      await runTask('write', {
        job,
        pileSets: [scattered.pileSet],
        attemptName: 'range',
        longestRecordBytes: scattered.longestRecordBytes,
        range: { first: 0, end: pileCount, firstRank: 0, firstByte: 0 },
        expected: scattered.totals,
        target: {
          kind: 'placed',
          stagingDirectory,
          cuts: { by: 'rank', shardCount: 1, totalRecords },
          headerBytes: 0,
          gate: UNGATED,
          direct: false,
        },
        start: { shard: 0, shardByte: 0, turn: 0 },
        end: undefined,
      }),
    );
    return readFileSync(stagedPath(stagingDirectory, 0));
  };
  return { shuffle, close: () => forgetJob(job.jobName) };
}

function resultOf<T>(outcome: Outcome<T>): T {
  if ('error' in outcome) throw decodeError(outcome.error);
  return outcome.result;
}
