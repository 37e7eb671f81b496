/** The work of a shuffle pass, and the part that each of its tasks gets. */
import type { ShuffleSettings } from '../../workers/settings.js';
import type { PilesTask } from '../../workers/tasks/open-order.js';
import type { Compression } from '../formats/encoder-table.js';
import type { OutputTarget } from '../output/output-target.js';
import type { PileTotals } from '../pile-sets/pile-totals.js';
import type { ShardRule } from '../plan/shard-cuts.js';
import type { SplitRule } from '../plan/splits.js';
import type { SampleSource } from './sample-places.js';
import type { ScatteredPiles } from './scattered-piles.js';

/** What a job asks for of its output. */
export interface OutputForm {
  /** Undefined: all records. */
  readonly headCount: number | undefined;
  /** Undefined: one output. */
  readonly shards: ShardRule | undefined;
  readonly splits: readonly { readonly rule: SplitRule; readonly shards: ShardRule }[] | undefined;
  readonly compression: Compression | undefined;
}

export interface PilesWork {
  readonly piles: ScatteredPiles;
  readonly settings: ShuffleSettings;
  /** Part of the names of temp files, unique to this attempt at the job. */
  readonly attempt: string;
  readonly onWarning: (line: string) => void;
}

/** Merged piles [first, end). */
export interface PilePart {
  readonly first: number;
  readonly end: number;
}

export function isInPart(part: PilePart | undefined, pile: number): boolean {
  return part === undefined || (pile >= part.first && pile < part.end);
}

export function bytesOfPart({ recordBytes }: PileTotals, part: PilePart | undefined): number {
  return recordBytes.subarray(part?.first, part?.end).reduce((sum, bytes) => sum + bytes, 0);
}

export interface ShuffleWork extends PilesWork {
  readonly target: OutputTarget;
  /** The piles that this pass puts into the output; others do the rest. Absent: all. */
  readonly part?: PilePart | undefined;
  /** Whether the data of a stripe is deleted as soon as the output has its piles. */
  readonly deletesStripes: boolean;
  /** Where samples with keys come from; undefined: the records have none. */
  readonly samples: SampleSource | undefined;
}

/** @param name prefix of the names of the task's temp files, unique to this task. */
export function pilesTask({ settings, piles, attempt }: PilesWork, name: string): PilesTask {
  const { pileSets, longestRecordBytes, cutPile } = piles;
  return { job: settings, pileSets, longestRecordBytes, cutPile, attemptName: `${name}-${attempt}` };
}
