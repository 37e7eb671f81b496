/**
 * Pass 1: one slice -> one pile set. Reads the parts of the slice one after the other, decodes them,
 * has the framing mark the records and the kernel throw each on its pile.
 */

import { thenAlwaysAsync } from '../../src/cleanup.js';
import type { Header } from '../../src/formats/header.js';
import { framingOf } from '../../src/formats/record-format.js';
import { type PileSet, PileSetWriter } from '../../src/pile-sets/pile-set-writer.js';
import type { PileTallies } from '../../src/pile-sets/read-pile-set-index.js';
import { ScatterArena } from '../piles/scatter-arena.js';
import type { Coverage, InputPart } from '../read/input-part.js';
import { scatterPart } from '../read/read-part.js';
import { pileStateOf, readStateOf, type ScatterShare } from './job-share.js';
import { type Outcome, outcomeOf } from './outcome.js';
import type { SliceReport } from './slice-report.js';

export interface ScatterTask {
  readonly job: ScatterShare;
  /** Name of the pile set; no other attempt may use it. */
  readonly pileSetName: string;
  readonly parts: readonly InputPart[];
}

export interface ScatterResult extends SliceReport {
  /** That of the stream which the slice is, if any; what a stream gave is never kept for a later run. */
  readonly streamHeader: Header | undefined;
  readonly pileSet: PileSet;
  readonly tallies: PileTallies;
}

export function runScatterTask(task: ScatterTask): Promise<Outcome<ScatterResult>> {
  return outcomeOf(task.job, 'scatter', () => scatterSlice(task));
}

async function scatterSlice(task: ScatterTask): Promise<ScatterResult> {
  const { job } = task;
  const thread = readStateOf(job);
  const { control, arena, hasher } = thread;
  const { ramPool, compressor } = pileStateOf(job);
  const { layout } = job;
  const name = task.pileSetName;
  const parts = { name, layout, ramPool: await ramPool, indexInFile: job.keepsPileSets };
  const writer = new PileSetWriter({ ...parts, hasher, compressor, control });
  const scatter = async (): Promise<ScatterResult> => {
    const scatterArena = new ScatterArena(arena, writer, {
      pileCount: job.layout.pileCount,
      bufferBytes: job.bufferBytes,
      windowBytes: job.readBytes,
      maxRecordBytes: job.maxRecordBytes,
      keyScale: 1n,
    });
    const framing = job.framing === undefined ? undefined : framingOf(job.framing);
    const coverage: Coverage[] = [];
    let streamHeader: Header | undefined;
    for (const part of task.parts) {
      const scattered = await scatterPart(part, framing, scatterArena, thread, job);
      coverage.push(scattered.coverage);
      streamHeader = scattered.header;
    }
    const longestRecordBytes = arena.kernel.wasm.longestRecord() >>> 0;
    const report: SliceReport = { coverage, longestRecordBytes };
    const { pileSet, tallies } = scatterArena.commit(job.keepsPileSets ? report : null);
    return {
      ...report,
      streamHeader,
      pileSet,
      tallies: {
        records: Float64Array.from(tallies, (tally) => tally.records),
        recordBytes: Float64Array.from(tallies, (tally) => tally.recordBytes),
        checksums: BigUint64Array.from(tallies, (tally) => tally.checksum),
      },
    };
  };
  return thenAlwaysAsync(scatter, () => writer.close());
}
