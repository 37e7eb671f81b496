import { zstdExpander } from '../../src/formats/codecs/zstd-writer.js';
import { MergedPileReader } from '../../src/piles/merged-pile.js';
import type { StoredPileSet } from '../../src/piles/pile-set-writer.js';
import type { ShuffleSettings } from '../settings.js';
import { pileStateOf, type ThreadState } from '../thread-state.js';
import { PileOrderer } from './pile-orderer.js';

export interface PilesTask {
  readonly job: ShuffleSettings;
  readonly pileSets: readonly StoredPileSet[];
  /** The beginning of the names of temp files; no other attempt may use it. */
  readonly attemptName: string;
  readonly longestRecordBytes: number;
  /** The last pile that the output has records of, if the output lacks some of its records. */
  readonly cutPile?: number | undefined;
}

interface OpenOrder extends Pick<ThreadState, 'control' | 'outputHasher' | 'memberBuffers'> {
  readonly order: PileOrderer;
}

/** @param startAddress where the arena is free. Absent: all of it is. */
export async function openPileOrderer(
  task: PilesTask,
  waitForWrites = async () => {},
  startAddress?: number,
): Promise<OpenOrder> {
  const { job, pileSets, attemptName, longestRecordBytes } = task;
  const { control, outputHasher, memberBuffers, ramPool, arena, hasher, compressor } = await pileStateOf(job);
  const order = new PileOrderer({
    arena,
    control,
    reader: new MergedPileReader(ramPool, hasher, zstdExpander, control),
    hasher,
    compressor,
    job,
    longestRecordBytes,
    pileSets,
    attemptName,
    waitForWrites,
    startAddress,
  });
  return { control, outputHasher, memberBuffers, order };
}
