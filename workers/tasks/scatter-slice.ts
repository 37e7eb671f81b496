/**
 * A task of the scatter pass: makes one pile set from one slice. It reads the parts of the slice one after the other,
 * and the kernel puts each record on its pile.
 */
import { thenAlwaysAsync } from '../../src/cleanup.js';
import type { InputPart, SliceReport } from '../../src/inputs/input-part.js';
import { type PileSet, PileSetWriter } from '../../src/pile-sets/pile-set-writer.js';
import type { PileTotals } from '../../src/pile-sets/pile-totals.js';
import { HeadLimit } from '../piles/head-limit.js';
import { ScatterArena } from '../piles/scatter-arena.js';
import { readSlice, type SliceReading } from '../read/read-slice.js';
import type { ScatterSettings } from '../settings.js';
import { pileStateOf, readStateOf } from '../thread-state.js';

export interface ScatterTask {
  readonly job: ScatterSettings;
  /** The name of the pile set; no other attempt may use it. */
  readonly pileSetName: string;
  readonly parts: readonly InputPart[];
}

/** What is known of a slice when all of it is read. */
export interface ReadResult extends SliceReading, SliceReport {
  readonly totals: PileTotals;
}

export interface ScatterResult extends ReadResult {
  readonly pileSet: PileSet;
}

export async function scatterSlice({ job, pileSetName, parts }: ScatterTask): Promise<ScatterResult> {
  const { control, arena, hasher, compressor, ramPool } = pileStateOf(job);
  const { layout, keepsPileSets } = job;
  const sizes = { name: pileSetName, layout, ramPool: await ramPool, indexInFile: keepsPileSets };
  const writer = new PileSetWriter({ ...sizes, hasher, compressor, control });
  const scatterArena = new ScatterArena(arena, writer, {
    pileCount: layout.pileCount,
    bufferBytes: job.bufferBytes,
    windowBytes: job.readBytes,
    maxRecordBytes: job.maxRecordBytes,
    keyScale: job.keyScale ?? 1n,
    splitBy: job.splitBy,
    unique: job.unique,
    uniqueBy: job.uniqueBy,
    headLimit: job.headLimit === undefined ? undefined : new HeadLimit(job.headLimit),
  });
  const scatter = async (): Promise<ScatterResult> => {
    const reading = await readSlice(parts, scatterArena, readStateOf(job), job);
    const { longestRecordBytes, leftOut } = scatterArena;
    const report: SliceReport = { coverage: reading.coverage, longestRecordBytes, leftOut };
    return { ...reading, ...report, ...scatterArena.commit(keepsPileSets ? report : null) };
  };
  return thenAlwaysAsync(scatter, () => writer.close());
}
