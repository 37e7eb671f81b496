/**
 * Cuts the output into shards. Where this depends on the order of the records, piles are measured, or a resumed job takes
 * the cuts of the earlier attempt.
 */
import { StagedOutputError } from '../errors.js';
import type { CutsNote } from '../job-directory/cuts-note.js';
import { fitCuts, type MeasureCrossings } from '../plan/fitted-cuts.js';
import { type CutsToFit, cutsAt, type ShardCuts } from '../plan/shard-cuts.js';
import { measurePlaces, pileFinder } from './crossings.js';
import type { PilesWork } from './shuffle-work.js';
import type { Threads } from './threads.js';

/** For a job that can be resumed: its cuts are noted before its piles are deleted. */
export interface KeptCuts {
  /** The note of an earlier attempt; undefined: it noted nothing. */
  readonly found: CutsNote | undefined;
  /** Whether the earlier attempt finished a part of the output, so that its piles may be deleted. */
  readonly hasFinishedRanges: boolean;
  readonly write: (note: CutsNote) => Promise<void>;
}

/**
 * @param kept undefined: if the job fails, its output is lost.
 * @throws UsageError for too many shards; StagedOutputError if the note of an earlier attempt is missing or does not fit
 *   the records.
 */
export async function cutOutput(
  cuts: ShardCuts | CutsToFit,
  work: PilesWork,
  threads: Threads,
  kept: KeptCuts | undefined,
): Promise<ShardCuts> {
  if (!('roomBytes' in cuts)) return cuts;
  const measure: MeasureCrossings = (bytes) => {
    const find = pileFinder(work.piles.totals, 'byte');
    return measurePlaces(work, threads, 'byte', bytes.map(find));
  };
  return kept === undefined ? fitCuts(cuts, measure) : keptCuts(cuts, kept, measure);
}

async function keptCuts(cuts: CutsToFit, kept: KeptCuts, measure: MeasureCrossings): Promise<ShardCuts> {
  if (kept.found !== undefined) return cutsOf(kept.found, cuts);
  if (kept.hasFinishedRanges) {
    throw new StagedOutputError('the unfinished job finished a part of its output without noting where shards begin');
  }
  const fitted = await fitCuts(cuts, measure);
  await kept.write({ starts: 'starts' in fitted ? [...fitted.starts] : null });
  return fitted;
}

function cutsOf({ starts }: CutsNote, cuts: CutsToFit): ShardCuts {
  if (starts === null) {
    if (cuts.even !== undefined) return cuts.even;
    throw new StagedOutputError('the unfinished job noted that its shards are nearly equal, but some would be empty');
  }
  requireFits(starts, cuts);
  return cutsAt(starts);
}

function requireFits(starts: readonly number[], { totalBytes, roomBytes }: CutsToFit): void {
  const shard = starts.findIndex((start, i) => {
    const byteLength = (starts[i + 1] ?? totalBytes) - start;
    return byteLength < 1 || byteLength > roomBytes;
  });
  if (shard === -1) return;
  throw new StagedOutputError(
    `the unfinished job noted that shard ${shard} begins at byte ${starts[shard]} and the next one at ${starts[shard + 1] ?? totalBytes}, expected 1 to ${roomBytes} bytes of records in a shard`,
  );
}
