/** Opens the pile set of a slice, and the arena that scatters records on its piles. */
import { PileSetWriter } from '../../src/pile-sets/pile-set-writer.js';
import type { RamPool } from '../../src/pile-sets/ram-pool.js';
import type { ScatterSettings } from '../settings.js';
import { pileStateOf } from '../thread-state.js';
import { HeadLimit } from './head-limit.js';
import { ScatterArena } from './scatter-arena.js';

export interface OpenScatter {
  /** Close it when the pile set is committed, or given up. */
  readonly writer: PileSetWriter;
  readonly scatterArena: ScatterArena;
}

/** @param ramPool that of the thread's state. */
export function openScatter(job: ScatterSettings, pileSetName: string, ramPool: RamPool | undefined): OpenScatter {
  const { control, arena, hasher, compressor } = pileStateOf(job);
  const parts = { name: pileSetName, layout: job.layout, ramPool, indexInFile: job.keepsPileSets };
  const writer = new PileSetWriter({ ...parts, hasher, compressor, control });
  const scatterArena = new ScatterArena(arena, writer, {
    pileCount: job.layout.pileCount,
    bufferBytes: job.bufferBytes,
    windowBytes: job.readBytes,
    maxRecordBytes: job.maxRecordBytes,
    keyScale: job.keyScale ?? 1n,
    splitBy: job.splitBy,
    unique: job.unique,
    uniqueBy: job.uniqueBy,
    headLimit: job.headLimit === undefined ? undefined : new HeadLimit(job.headLimit),
  });
  return { writer, scatterArena };
}
