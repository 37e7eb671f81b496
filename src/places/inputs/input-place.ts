/**
 * The contract of input places: what a job asks of an input before it is opened, and how it reads one that is not a file of
 * this machine. `find-input.ts` has the kinds of places.
 */
import type { FileVersion, InputReader } from '../../io/files.js';
import type { RemoteRequest } from '../../remote/remote-inputs.js';

/** The facts that the form of a name tells, before anything is loaded. */
export interface InputFacts {
  /** True if disks of this machine hold it: then it has a device, a directory and links. */
  readonly isOnDisk: boolean;
  /** True if each look at it is a request to another machine. */
  readonly isFar: boolean;
  /** How messages call another version of the same length. */
  readonly otherVersion: string;
  /** Returns the name as messages, plans and reports have it: without what is secret. */
  shown(path: string): string;
  /** Returns the name by which a process in any directory finds it. */
  fullName(path: string): string;
  /** Returns its id, where paths are ids: two spellings of one path are one id. */
  idOf(path: string): string;
}

export interface ReadingPlan {
  readonly version: FileVersion;
  /** Throws to leave, when the job was aborted. */
  readonly check: () => void;
  /** The place where a reader of all bytes stops. Absent: it looks here and there. */
  readonly end?: number | undefined;
}

/** Bytes of an input that will be read: [start, end). */
export interface RangeOfInput {
  readonly path: string;
  readonly version: FileVersion;
  readonly start: number;
  readonly end: number;
}

/** Waits for the bytes of the next input that was named; of a place that does not look ahead, for nothing. */
export type Look = (path: string, signal: AbortSignal | undefined) => Promise<void>;

/** The inputs of one kind. Those that are far also have what is optional here. */
export interface InputPlace {
  /** Opens an input for reading by position. Without a plan: the version that is there now. */
  open(path: string, plan?: ReadingPlan): InputReader;
  /** Fails if an address, as a caller gives it, names nothing that can be asked for. */
  requireAddress?(address: string): void;
  /** Returns the part of the memory budget that holds fetched bytes, in any process. */
  poolBytesOf?(machine: Pick<RemoteRequest, 'memoryBytes' | 'workers'>): number;
  /** Lets this process fetch until its last job ends. @returns the part of the memory budget that holds fetched bytes. */
  begin?(request: RemoteRequest): number;
  /** Lists all inputs below an address that ends with a slash, by what follows it. */
  list?(address: string, signal: AbortSignal | undefined): Promise<readonly string[]>;
  /** Lets the first bytes of its inputs among these come, or their last ones, several at a time. */
  lookAhead?(paths: readonly string[], ask: 'look' | 'end'): Look;
  /** Fetches, before threads ask, what they will read in this order of its inputs. */
  willRead?(ranges: readonly RangeOfInput[]): void;
}
