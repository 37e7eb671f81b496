/**
 * Cuts the output into shards. Where this depends on the order of the records, piles are measured, or a resumed job takes
 * the cuts of the earlier attempt.
 */
import { StagedOutputError } from '../errors.js';
import type { CutsNote } from '../job-directory/notes.js';
import { type CutsToFit, cutsAt, fitCuts, type PlainCuts, type ShardCuts } from '../plan/shard-cuts.js';
import { joinCuts } from '../plan/splits.js';
import type { OutputPlan, PartPlan } from './between-passes.js';
import { measurePlaces, pileFinder } from './measure-piles.js';
import type { PilesWork } from './shuffle-work.js';
import type { Threads } from './threads.js';

/** For a job that can be resumed: its cuts are noted before its piles are deleted. */
export interface KeptCuts {
  readonly found: CutsNote | undefined;
  /** Whether the earlier attempt finished a part of the output, so that its piles may be deleted. */
  readonly hasFinishedRanges: boolean;
  readonly write: (note: CutsNote) => Promise<void>;
}

/** @param kept undefined: if the job fails, its output is lost. */
export async function cutOutput(
  { parts, isSplit }: OutputPlan,
  work: PilesWork,
  threads: Threads,
  kept: KeptCuts | undefined,
): Promise<ShardCuts> {
  const cuts = await cutParts(parts, work, threads, kept);
  const planned = parts.flatMap((part, i) => (cuts[i] === undefined ? [] : [{ ...part, cuts: cuts[i] }]));
  const [only] = cuts;
  return isSplit || only === undefined ? joinCuts(planned) : only;
}

async function cutParts(
  parts: readonly PartPlan[],
  work: PilesWork,
  threads: Threads,
  kept: KeptCuts | undefined,
): Promise<PlainCuts[]> {
  if (!parts.some(({ cuts }) => isToFit(cuts))) return parts.flatMap(({ cuts }) => (isToFit(cuts) ? [] : [cuts]));
  if (kept?.found !== undefined) return cutsOfNote(kept.found, parts);
  if (kept?.hasFinishedRanges) {
    throw new StagedOutputError('the unfinished job finished a part of its output without noting where shards begin');
  }
  const found: PlainCuts[] = [];
  for (const part of parts) found.push(isToFit(part.cuts) ? await fitPart(part.cuts, part, work, threads) : part.cuts);
  const [starts = null, ...ofOthers] = found.map((cuts) => ('starts' in cuts ? [...cuts.starts] : null));
  await kept?.write(ofOthers.length === 0 ? { starts, ofOthers: undefined } : { starts, ofOthers });
  return found;
}

function isToFit(cuts: PartPlan['cuts']): cuts is CutsToFit {
  return 'roomBytes' in cuts;
}

function fitPart(cuts: CutsToFit, { firstByte }: PartPlan, work: PilesWork, threads: Threads): Promise<PlainCuts> {
  return fitCuts(cuts, async (bytes) => {
    const find = pileFinder(work.piles.totals, 'byte');
    const places = bytes.map((byte) => find(firstByte + byte));
    const crossings = await measurePlaces(work, threads, 'byte', places);
    return crossings.map(({ start, end }) => ({ start: start - firstByte, end: end - firstByte }));
  });
}

function cutsOfNote({ starts, ofOthers = [] }: CutsNote, parts: readonly PartPlan[]): PlainCuts[] {
  const noted = [starts, ...ofOthers];
  if (noted.length !== parts.length) {
    throw new StagedOutputError(
      `the unfinished job noted the cuts of ${noted.length} parts of its output, expected ${parts.length}`,
    );
  }
  return parts.map(({ cuts }, i) => (isToFit(cuts) ? cutsOf(noted[i] ?? null, cuts) : cuts));
}

function cutsOf(starts: CutsNote['starts'], cuts: CutsToFit): PlainCuts {
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
