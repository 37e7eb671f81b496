/** What all tasks are told that put merged piles in order, and what a thread does it with. */
import { zstdExpander } from '../../src/formats/codecs/zstd-writer.js';
import { MergedPileReader } from '../../src/pile-sets/merged-pile.js';
import type { StoredPileSet } from '../../src/pile-sets/pile-set-writer.js';
import { type JobShare, pileStateOf } from '../tasks/job-share.js';
import { PileOrderer } from './pile-orderer.js';

export interface PilesTask {
  readonly job: JobShare;
  readonly pileSets: readonly StoredPileSet[];
  /** Begins the names of temp files; no other attempt may use it. */
  readonly attemptName: string;
  readonly longestRecordBytes: number;
}

/** @param settle waits for the writes that are under way. */
export async function openOrderer(task: PilesTask, settle: () => Promise<void>): Promise<PileOrderer> {
  const { job } = task;
  const { control, ramPool, arena, hasher, compressor } = pileStateOf(job);
  return new PileOrderer({
    arena,
    control,
    reader: new MergedPileReader(await ramPool, hasher, zstdExpander, control),
    hasher,
    compressor,
    bufferBytes: job.bufferBytes,
    readBytes: job.readBytes,
    outputBytes: job.outputBytes,
    longestRecordBytes: task.longestRecordBytes,
    tiesByBytes: job.tiesByBytes,
    rescatterPlaces: job.rescatterPlaces ?? job.layout,
    attemptName: task.attemptName,
    settle,
  });
}
