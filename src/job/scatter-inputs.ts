/**
 * Pass 1, as the coordinator sees it: one task a split, and the totals of the merged piles.
 */

import type { InputPart } from '../../workers/input-part.js';
import type { ScatterResult, ScatterTask } from '../../workers/scatter.js';
import { UNGATED } from '../io/job-control.js';
import type { PileTotals } from '../plan/pile-runs.js';
import type { SplitPart } from '../plan/splits.js';
import type { JobContext, ScatteredPileSet, ScatteredPiles } from './job-context.js';
import { deriveInputKey } from './key-derivation.js';
import { runTasks } from './run-tasks.js';
import { CoverageCheck } from './verify.js';

/** @throws VerificationError when what the splits read does not tile every input, or was not all scattered. */
export async function scatterInputs(job: JobContext): Promise<ScatteredPiles> {
  const { pileCount } = job.plan.memory;
  const totals: PileTotals = {
    records: new Float64Array(pileCount),
    recordBytes: new Float64Array(pileCount),
    checksums: new BigUint64Array(pileCount),
  };
  const pileSets: ScatteredPileSet[] = [];
  const coverage = new CoverageCheck(job.inputs);
  let longestRecordBytes = 0;

  function* tasks(): Generator<{ ordinal: number; task: ScatterTask }> {
    for (const [ordinal, split] of job.plan.splits.entries()) {
      const parts = split.map((part) => inputPart(job, part));
      yield { ordinal, task: { job: job.share, pileSetName: `set-${String(ordinal).padStart(6, '0')}`, parts } };
    }
  }
  const take = (result: ScatterResult, { ordinal }: { ordinal: number }) => {
    const { name, index, diskBytes } = result.pileSet;
    pileSets[ordinal] = { name, index, diskBytes };
    for (const part of result.coverage) coverage.add(part);
    longestRecordBytes = Math.max(longestRecordBytes, result.longestRecordBytes);
    for (let pile = 0; pile < pileCount; pile++) {
      totals.records[pile] = (totals.records[pile] ?? 0) + (result.records[pile] ?? 0);
      totals.recordBytes[pile] = (totals.recordBytes[pile] ?? 0) + (result.recordBytes[pile] ?? 0);
      // The array keeps sums modulo 2^64.
      totals.checksums[pile] = (totals.checksums[pile] ?? 0n) + (result.checksums[pile] ?? 0n);
    }
  };
  await runTasks(tasks(), ({ task }) => job.pool.scatter(task), take, 2 * job.pool.threadCount, job.stop);
  const bytes = totals.recordBytes.reduce((sum, recordBytes) => sum + recordBytes, 0);
  coverage.verify(bytes);
  return {
    pileSets,
    totals,
    records: totals.records.reduce((sum, records) => sum + records, 0),
    bytes,
    checksum: BigInt.asUintN(
      64,
      totals.checksums.reduce((sum, checksum) => sum + checksum, 0n),
    ),
    longestRecordBytes,
    tempBytes: pileSets.reduce((sum, pileSet) => sum + pileSet.diskBytes, 0),
  };
}

function inputPart(job: JobContext, { inputOrdinal, start, end }: SplitPart): InputPart {
  const input = job.inputs[inputOrdinal];
  if (input === undefined) throw new RangeError(`the plan names input ${inputOrdinal}, which does not exist`);
  const { path } = input;
  const inputKey = deriveInputKey(job.seed, String(inputOrdinal));
  if (input.kind === 'stream') return { kind: 'stream', inputOrdinal, path, inputKey };
  const { version, codec } = input;
  const gate = job.inputGates[inputOrdinal] ?? UNGATED;
  if (codec !== undefined)
    return { kind: 'compressed', inputOrdinal, path, inputKey, codec: codec.name, version, gate };
  return { kind: 'range', inputOrdinal, path, inputKey, start, end: end ?? version.byteLength, version, gate };
}
