/**
 * Says where a task of pass 2 puts its part of the global order. A target is plain data, of one of three kinds: staged
 * files that are cut by arithmetic and written in parallel at known places; staged files to which the tasks append in
 * turns, because they are compressed or nobody knows the places; or a stream, written in turns too. A sink writes to a
 * target, from one place on without a gap. The task gathers records straight into the sink's buffers in linear memory.
 */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { GateNumber, JobControl } from '../floor/job-control.js';
import type { MemberWriter } from '../formats/encoded-members.js';
import type { Compression } from '../formats/encoder-table.js';
import type { RowsOutput } from '../formats/rows/row-format.js';
import { NO_TRANSFERS, type RegionTransfers, type WrittenRegion } from '../job-directory/notes.js';
import type { SegmentHasher } from '../piles/segments.js';
import type { ShardCuts } from '../plan/shard-cuts.js';
import type { OwnUnits, UnitCuts } from '../plan/unit-cuts.js';
import type { MemberBuffers } from './member-cutter.js';

export type OutputTarget = PlacedTarget | AppendedTarget | StreamTarget;

interface EachTarget {
  readonly cuts: ShardCuts;
  /** The place where the records of each shard begin. */
  readonly headerBytes: number;
  readonly gate: GateNumber;
}

interface StagedTarget extends EachTarget {
  /** Holds the files until all is verified. */
  readonly stagingDirectory: string;
}

/** Files in which each record has a known place before it is written. */
export interface PlacedTarget extends StagedTarget {
  /** `claimed`: there is one file, and a task claims its place when it is its turn. */
  readonly kind: 'placed' | 'claimed';
  /** True if large writes may go around the page cache. */
  readonly direct: boolean;
  readonly units?: undefined;
  readonly transfers?: undefined;
}

/** Files in which a record follows those before it, wherever these end. */
export interface AppendedTarget extends StagedTarget {
  readonly kind: 'appended';
  readonly compression: Compression | undefined;
  readonly rows?: RowsOutput | undefined;
  readonly units?: UnitCuts | undefined;
  /** The shards that get their records; those of the others are dropped. Absent: all. */
  readonly own?: ShardRange | undefined;
  /** How shards leave this machine part by part. Absent: staged files are the output. */
  readonly transfers?: ShardTransfers | undefined;
}

export interface ShardTransfers {
  /** Name of the opener in `SHARD_OPENERS`. */
  readonly opener: string;
  /** The size of each part but the last. */
  readonly partBytes: number;
  /** Plain data that only the place reads. */
  readonly target: object;
}

/** Shards [first, end). */
export interface ShardRange {
  readonly first: number;
  readonly end: number;
}

/** Standard output, or a device or pipe given by name, open in this process for all its threads: one shard. */
export interface StreamTarget extends EachTarget {
  readonly kind: 'stream';
  readonly fd: number;
  readonly path: string;
  readonly compression: Compression | undefined;
  readonly rows?: RowsOutput | undefined;
  readonly units?: UnitCuts | undefined;
  /**
   * Path of a temp file that has the descriptions of units at their places in the stream, and holes between them: the stream cannot
   * be read again. Absent: there are no units.
   */
  readonly descriptions?: string | undefined;
  readonly own?: undefined;
  readonly transfers?: undefined;
}

export const STANDARD_OUTPUT = '-';
export const STANDARD_OUTPUT_FD = 1;

/** Path of a shard (of a single output file: shard 0) until it gets its final name. */
export function stagedPath(stagingDirectory: string, shard: number): string {
  return join(stagingDirectory, `${shard}.part`);
}

export function recordBytesOf(regions: readonly WrittenRegion[]): number {
  return regions.reduce((sum, { recordBytes }) => sum + recordBytes, 0);
}

/**
 * Adds a region. Regions that lie one after the other become one, so that an output without end needs no more memory
 * with time.
 */
export function addRegion(regions: WrittenRegion[], region: WrittenRegion): void {
  const { shard, start, end, recordBytes, checksum: _, sum: __, ...proof } = region;
  const before = regions.at(-1);
  if (before?.shard !== shard || before.end !== start || !isDeepStrictEqual(proof, NO_TRANSFERS)) regions.push(region);
  else regions[regions.length - 1] = { ...before, end, recordBytes: before.recordBytes + recordBytes };
}

/** The parts that a sink needs. */
export interface SinkParts<Target extends OutputTarget = OutputTarget> {
  readonly target: Target;
  readonly start: SinkStart;
  /** The end of the part. Undefined: only the records decide. */
  readonly end: SinkEnd | undefined;
  readonly buffer: SinkBuffer;
  readonly control: JobControl;
  /** Undefined when no later attempt reads the output back. */
  readonly hasher: OutputHasher | undefined;
  /** The units of an output that is made of them. */
  readonly units?: UnitParts | undefined;
  /** The M of the rule for compressed members (member-cutter.ts). */
  readonly memberBytes: number;
  readonly memberBuffers: MemberBuffers;
  /** Opens a shard that leaves this machine. Absent: shards are files. */
  readonly openShard?: ((shard: number) => OpenShard) | undefined;
}

export interface UnitParts {
  /** The units that the sink writes. */
  readonly own: OwnUnits;
  readonly members: MemberWriter;
}

export interface OutputSink {
  /** The shard to which the next records go. Undefined: others write them. */
  readonly ownShard: number | undefined;
  /** The rank, or the byte of the whole, at which the next shard begins; Infinity: no more cuts. */
  readonly nextCut: { readonly by: 'rank' | 'byte'; readonly at: number };
  /** The address where the next bytes go. `roomBytes` of them fit. */
  readonly fillAddress: number;
  readonly roomBytes: number;
  /** Records that begin after so many bytes belong to the next member: `flush` comes first. Absent: any number. */
  readonly leftBytes?: number;
  /** Takes over `byteLength` bytes that were put at `fillAddress`. @param endsRecord false: the record goes on. Absent: true. */
  advance(byteLength: number, endsRecord?: boolean): void;
  /** Begins a record that comes in several pieces. Absent: nothing is to be done. */
  beginLong?(byteLength: number): Promise<void>;
  /** Begins to write all that can be written now. @returns whether there is more room than before. */
  flush(): Promise<boolean>;
  awaitWrites(): Promise<void>;
  /**
   * True if `close` needs no turn, and the caller passes the turn on. Absent: false.
   */
  readonly needsNoTurn?: boolean;
  /** Ends the shard; the next bytes begin the next shard. */
  cut(): Promise<void>;
  /** Writes the rest. @returns all regions that this sink wrote. */
  close(): Promise<readonly WrittenRegion[]>;
  /**
   * Undoes what was written, because it is wrong, so that another task may write the same part of the output. Only
   * `abandon` may follow.
   * @returns false: a stream has received a part of it.
   */
  rollBack(): Promise<boolean>;
  /** Waits for the writes under way and closes the files, also when the task failed. */
  abandon(): Promise<void>;
}

/** A shard to which a task appends. */
export interface OpenShard {
  /** The end of the shard now, its header included. */
  readonly end: number;
  append(bytes: Uint8Array): void | Promise<void>;
  /** Tells that the last appended bytes were these, which describe a unit: the end of the shard is made from them. */
  describe?(description: Uint8Array): void;
  /** @param isWhole whether no task appends any more. */
  close(isWhole: boolean): void;
  /** Waits until a closed shard has left this machine. Absent: none leaves it. */
  awaitTransfers?(): RegionTransfers;
  /** Closes a shard of a task that failed. */
  abandon(): void;
  /** Shortens what was closed or abandoned. @returns whether it is as the task found it. */
  rollBack(byteLength: number): boolean;
}

/** Linear memory for a sink: several buffers, with slack after each. */
export interface SinkBuffer {
  /** Multiples of the alignment of direct writes. */
  readonly addresses: readonly [number, ...number[]];
  /** The size of each buffer. */
  readonly capacityBytes: number;
  /** The memory as it is now: it is replaced when it grows. */
  readonly memory: () => Uint8Array;
}

/** Computes the checksum of what a sink writes, in the memory of its buffers. */
export type OutputHasher = Pick<SegmentHasher, 'begin' | 'add' | 'checksum'>;

/** The place where the part of a task ends, and that of another one begins: a byte of a shard, as in `SinkStart`. */
export type SinkEnd = Pick<SinkStart, 'shard' | 'shardByte'>;

export interface SinkStart {
  readonly shard: number;
  /** Byte of the records of that shard. Undefined: the task before tells it, or nobody needs it. */
  readonly shardByte: number | undefined;
  /** The task's place among the tasks, when they take turns. */
  readonly turn: number;
  /** The bytes of the first records that the output has already: the others begin at `shardByte`. Absent: 0. */
  readonly skippedBytes?: number | undefined;
  /** True if no task follows. Absent: one may. */
  readonly isLast?: boolean;
}

/** The part of a task in the last of its shards. */
export interface LastShard {
  readonly bytes: number;
  /** True if the part begins it. */
  readonly isNew: boolean;
}

/**
 * Writes a record that is longer than the room of a sink.
 * @param copy puts `byteLength` bytes of the record, from `done` on, to an address.
 * @returns `byteLength`.
 */
export async function writeLong(
  sink: OutputSink,
  byteLength: number,
  copy: (address: number, done: number, byteLength: number) => void,
): Promise<number> {
  await sink.beginLong?.(byteLength);
  for (let done = 0; done < byteLength; ) {
    const count = Math.min(sink.roomBytes, byteLength - done);
    copy(sink.fillAddress, done, count);
    done += count;
    sink.advance(count, done === byteLength);
    await sink.flush();
  }
  return byteLength;
}
