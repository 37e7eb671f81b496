/** The parameters of every task that orders merged piles, and the orderer that a thread uses for it. */
import { zstdExpander } from '../../src/formats/codecs/zstd-writer.js';
import { MergedPileReader } from '../../src/pile-sets/merged-pile.js';
import type { StoredPileSet } from '../../src/pile-sets/pile-set-writer.js';
import { PileOrderer } from '../piles/pile-orderer.js';
import type { ShuffleSettings } from '../settings.js';
import { pileStateOf } from '../thread-state.js';

export interface PilesTask {
  readonly job: ShuffleSettings;
  readonly pileSets: readonly StoredPileSet[];
  /** The beginning of the names of temp files; no other attempt may use it. */
  readonly attemptName: string;
  readonly longestRecordBytes: number;
}

/** @param settle waits for the writes under way. */
export async function openOrderer(task: PilesTask, settle: () => Promise<void>): Promise<PileOrderer> {
  const { job, attemptName, longestRecordBytes } = task;
  const { control, ramPool, arena, hasher, compressor } = pileStateOf(job);
  return new PileOrderer({
    arena,
    control,
    reader: new MergedPileReader(await ramPool, hasher, zstdExpander, control),
    hasher,
    compressor,
    job,
    longestRecordBytes,
    attemptName,
    settle,
  });
}
