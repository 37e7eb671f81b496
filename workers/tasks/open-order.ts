/** The parameters of every task that puts piles in order, and the order that a thread uses for it. */
import { zstdExpander } from '../../src/formats/codecs/zstd-writer.js';
import { MergedPileReader } from '../../src/pile-sets/merged-pile.js';
import type { StoredPileSet } from '../../src/pile-sets/pile-set-writer.js';
import { HeldOrderer } from '../held/held-orderer.js';
import { PileOrderer } from '../piles/pile-orderer.js';
import type { PileOrder } from '../piles/record-order.js';
import type { HeldPiles, ShuffleSettings } from '../settings.js';
import { heldStateOf, type OutputState, pileStateOf } from '../thread-state.js';

export interface PilesTask {
  readonly job: ShuffleSettings;
  readonly pileSets: readonly StoredPileSet[];
  /** The piles of held records; undefined: the pile sets have all. */
  readonly held: HeldPiles | undefined;
  /** The beginning of the names of temp files; no other attempt may use it. */
  readonly attemptName: string;
  readonly longestRecordBytes: number;
  /** The last pile that the output has records of, if it lacks some of this pile. */
  readonly cutPile?: number | undefined;
}

interface OpenOrder extends OutputState {
  readonly order: PileOrder;
}

/** @param settle waits for the writes under way. */
export async function openOrder(task: PilesTask, settle: () => Promise<void>): Promise<OpenOrder> {
  const { job, held, pileSets, attemptName, longestRecordBytes } = task;
  if (held !== undefined) {
    const { control, memory, outputHasher } = await heldStateOf(job, held.memory);
    const { outputBytes, tiesByBytes, unique = false, uniqueBy } = job;
    const order = new HeldOrderer({ memory, control, held, outputBytes, tiesByBytes, unique, uniqueBy });
    return { control, outputHasher, order };
  }
  const { control, outputHasher, ramPool, arena, hasher, compressor } = pileStateOf(job);
  const order = new PileOrderer({
    arena,
    control,
    reader: new MergedPileReader(await ramPool, hasher, zstdExpander, control),
    hasher,
    compressor,
    job,
    longestRecordBytes,
    pileSets,
    attemptName,
    settle,
  });
  return { control, outputHasher, order };
}
