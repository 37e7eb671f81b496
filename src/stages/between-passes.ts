/**
 * Decides between the passes, when all records are counted: which of them the output has, where its splits begin, and how it
 * is cut into shards. All of it follows from the piles. Where that takes reading piles, a job that outlives its process notes
 * what it finds (../job-directory/notes.ts).
 */

import { StagedOutputError } from '../errors.js';
import { openEncoder } from '../formats/encoder-table.js';
import { NO_BYTES } from '../formats/framing.js';
import { headerRuleOf } from '../formats/record-format.js';
import { loadRowFormat } from '../formats/rows/registry.js';
import { type CheckpointNotes, type JobNotes, readOrWriteNote, type WrittenRegion } from '../job-directory/notes.js';
import { type ShardSpec, splitBounds } from '../keep/splits.js';
import type { PileTotals, RecordTotals } from '../piles/pile-totals.js';
import {
  type CutsToFit,
  fitCuts,
  fittedCuts,
  joinCuts,
  ONE_OUTPUT,
  type OrderPart,
  type PlainCuts,
  planShardCuts,
  type ShardCuts,
  type ShardRule,
} from '../plan/shard-cuts.js';
import { planExactCuts, planUnitCuts } from '../plan/unit-cuts.js';
import { bytesAround, type OutputLayout, type PlainEnds, storedEnds } from '../sinks/output-layout.js';
import type { OutputTarget } from '../sinks/output-target.js';
import type { OutputSpec, ReadSpec } from '../spec.js';
import { cutToHead } from './cut-to-head.js';
import { type FoundPart, findParts } from './find-parts.js';
import { measureAt, pileFinder } from './measure-piles.js';
import type { Pass1Facts } from './pass1-results.js';
import { type CheckpointRanges, shufflePiles, type WrittenPiles } from './shuffle-ranges.js';
import type { PilesWork, ShuffleWork } from './shuffle-work.js';
import type { Threads } from './threads.js';

/** The bytes around the records of each output, as pass 1 found them in the inputs. */
export function foundEnds(
  { header: spec }: Pick<ReadSpec, 'header'>,
  { header, startFindings: { markOfOutput } }: Pick<Pass1Facts, 'header' | 'startFindings'>,
): PlainEnds {
  const rule = spec === undefined || header === undefined ? undefined : { ...headerRuleOf(spec), header };
  const headerOf = (recordBytes: number) =>
    Buffer.concat([markOfOutput, rule?.headerOf(rule.header, recordBytes) ?? NO_BYTES]);
  return { headerBytes: headerOf(0).byteLength, headerOf, trailer: rule?.trailer ?? NO_BYTES };
}

type CutsNote = JobNotes['cuts'];

/** The decisions about an output. */
export interface OutputPlan {
  /** Its piles are those of the output alone. */
  readonly work: SampledWork;
  readonly splits: readonly FoundSplit[] | undefined;
  /** The bytes of the records that the output will have. Undefined: it has no end. */
  readonly bytes: number | undefined;
  /** Cuts it into shards. Where cuts depend on the order of the records, this measures piles, which takes a while. */
  cut(): Promise<CutOutput>;
}

export interface CutOutput {
  readonly layout: OutputLayout;
  /**
   * Has the threads of this process write it.
   * @param checkpoint undefined: if the job fails, its output is lost.
   */
  write(target: OutputTarget, deletesStripes: boolean, checkpoint: CheckpointRanges | undefined): Promise<WrittenPiles>;
}

export interface WrittenOutput {
  readonly layout: OutputLayout;
  readonly regions: readonly WrittenRegion[];
}

export interface ShuffledOutput extends WrittenOutput {
  readonly written: RecordTotals;
  /** The part of each pile that the output has. */
  readonly totals: PileTotals;
}

export type SampledWork = PilesWork & Pick<ShuffleWork, 'samples'>;

/** A job may read rows; the records of a store are not rows. */
type PlannedSpec = OutputSpec & { readonly read?: Pick<ReadSpec, 'rows'> };

/** A split or a section as it is found in the output. */
export interface FoundSplit extends FoundPart {
  readonly name: string;
}

async function findSplits(
  { keep, cut: { splits } }: OutputSpec,
  work: PilesWork,
  threads: Threads,
  checkpoint: CheckpointNotes | undefined,
): Promise<readonly FoundSplit[] | undefined> {
  if (splits === undefined) return sectionsAsParts(work.piles);
  const found = await findParts(splitBounds(splits, work.piles.records, keep), work, threads, checkpoint);
  return splits.flatMap(({ rule: { name } }, i) => (found[i] === undefined ? [] : [{ ...found[i], name }]));
}

/** Pass 1 has counted them. */
function sectionsAsParts({ sections }: PilesWork['piles']): readonly FoundSplit[] | undefined {
  let [firstRank, firstByte] = [0, 0];
  return sections?.map((section) => {
    const part = { ...section, firstRank, firstByte };
    firstRank += section.records;
    firstByte += section.bytes;
    return part;
  });
}

/** @param checkpoint undefined: if the job fails, its output is lost. */
export async function planOutput(
  spec: PlannedSpec,
  ends: PlainEnds,
  work: SampledWork,
  threads: Threads,
  checkpoint: CheckpointNotes | undefined,
): Promise<OutputPlan> {
  const piles = await cutToHead(spec, work, threads, checkpoint);
  const inHead = { ...work, piles };
  const splits = await findSplits(spec, inHead, threads, checkpoint);
  const parts = planParts(spec.cut, inHead, ends, splits);
  const cut = async () => {
    const cutOfParts = await cutParts(parts, inHead, threads, checkpoint);
    const [only] = cutOfParts;
    const cuts = splits === undefined && only !== undefined ? only.cuts : joinCuts(cutOfParts);
    const layout = { cuts, recordBytes: piles.bytes, ...(await layoutOf(spec, cuts, inHead, ends)) };
    const write: CutOutput['write'] = (target, deletesStripes, checkpointRanges) =>
      shufflePiles({ ...inHead, target, deletesStripes }, threads, checkpointRanges);
    return { layout, write };
  };
  return { work: inHead, splits, bytes: piles.bytes, cut };
}

async function layoutOf(
  { write: { compression, rows: write }, read }: PlannedSpec,
  cuts: ShardCuts,
  { piles, onWarning }: PilesWork,
  ends: PlainEnds,
): Promise<Omit<OutputLayout, 'cuts' | 'recordBytes'>> {
  const rows = read?.rows;
  if (rows !== undefined && write !== undefined) {
    const output = { rows, write };
    const format = await loadRowFormat(rows);
    const unit = format.unitOf(output);
    const units =
      'exactly' in unit ? planExactCuts(cuts, piles, unit.exactly, unit.rowBytes) : planUnitCuts(cuts, piles, unit);
    return { kind: 'appended', ends: format.endsOf(output, onWarning), compression, rows: output, units };
  }
  const encoder = compression === undefined ? undefined : openEncoder(compression);
  return { kind: compression === undefined ? 'placed' : 'appended', ends: storedEnds(ends, encoder), compression };
}

/** A split, or the whole order. */
interface PartPlan extends Omit<OrderPart, 'cuts'> {
  /** The cuts, which may depend on the order of the records. */
  readonly cuts: PlainCuts | CutsToFit;
}

function planParts(
  { shards, splits }: ShardSpec,
  { piles, settings }: PilesWork,
  ends: PlainEnds,
  found: readonly FoundSplit[] | undefined,
): readonly PartPlan[] {
  const { longestRecordBytes } = piles;
  const areBundled = settings.content?.isBundled === true && (shards ?? splits) !== undefined;
  const planPart = (rule: ShardRule, part: FoundPart & Partial<FoundSplit>): PartPlan => {
    const { name, firstRank, firstByte, records, bytes } = part;
    const totals = { records, bytes, longestRecordBytes, bytesAround: bytesAround(ends) };
    return { name, firstRank, firstByte, bytes, cuts: planShardCuts(rule, totals, areBundled) };
  };
  if (found === undefined) return [planPart(shards ?? ONE_OUTPUT, { firstRank: 0, firstByte: 0, ...piles })];
  return found.map((part, i) => planPart((splits === undefined ? shards : splits[i]?.shards) ?? ONE_OUTPUT, part));
}

async function cutParts(
  parts: readonly PartPlan[],
  work: PilesWork,
  threads: Threads,
  checkpoint: CheckpointNotes | undefined,
): Promise<readonly OrderPart[]> {
  if (parts.every(isCut)) return parts;
  const fitAll = async (): Promise<CutsNote> => {
    const found: CutsNote['starts'][] = [];
    for (const part of parts) {
      const fitted = await fitPart(part, work, threads);
      found.push('starts' in fitted ? [...fitted.starts] : null);
    }
    const [starts = null, ...ofOthers] = found;
    return { starts, ofOthers: ofOthers.length === 0 ? undefined : ofOthers };
  };
  return cutsOfNote(await readOrWriteNote(checkpoint, 'cuts', fitAll), parts);
}

function isSought(cuts: PartPlan['cuts']): cuts is CutsToFit {
  return !('by' in cuts);
}

function isCut(part: PartPlan): part is OrderPart {
  return !isSought(part.cuts);
}

async function fitPart(
  { cuts, firstRank, firstByte }: PartPlan,
  work: PilesWork,
  threads: Threads,
): Promise<PlainCuts> {
  if (!isSought(cuts)) return cuts;
  return fitCuts(cuts, async (by, places) => {
    const find = pileFinder(work.piles.totals, by);
    const inPiles = places.map((place) => find((by === 'rank' ? firstRank : firstByte) + place));
    return (await measureAt(work, threads, by, inPiles)).map(({ pileByte, start, bytes }) => ({
      start: pileByte + start - firstByte,
      end: pileByte + bytes - firstByte,
    }));
  });
}

function cutsOfNote({ starts, ofOthers = [] }: CutsNote, parts: readonly PartPlan[]): readonly OrderPart[] {
  const noted = [starts, ...ofOthers];
  if (noted.length !== parts.length) {
    throw new StagedOutputError(
      `the unfinished job noted the cuts of ${noted.length} parts of its output, expected ${parts.length}`,
    );
  }
  return parts.map((part, i) => {
    const { cuts } = part;
    return { ...part, cuts: isSought(cuts) ? cutsOf(noted[i] ?? null, cuts) : cuts };
  });
}

function cutsOf(starts: CutsNote['starts'], cuts: CutsToFit): PlainCuts {
  if (starts === null) {
    if ('even' in cuts && cuts.even !== undefined) return cuts.even;
    throw new StagedOutputError('the unfinished job noted that its shards are nearly equal, but some would be empty');
  }
  requireFits(starts, cuts);
  return fittedCuts(starts);
}

function requireFits(starts: readonly number[], cuts: CutsToFit): void {
  const { totalBytes } = cuts;
  // Between bundles, a shard may be empty.
  const [leastBytes, mostBytes] = 'roomBytes' in cuts ? [1, cuts.roomBytes] : [0, totalBytes];
  const shard = starts.findIndex((start, i) => {
    const byteLength = (starts[i + 1] ?? totalBytes) - start;
    return byteLength < leastBytes || byteLength > mostBytes;
  });
  if (shard === -1) return;
  throw new StagedOutputError(
    `the unfinished job noted that shard ${shard} begins at byte ${starts[shard]} and the next one at ${starts[shard + 1] ?? totalBytes}, expected ${leastBytes} to ${mostBytes} bytes of records in a shard`,
  );
}
