/**
 * The contract of input places: what a job asks of an input before it is opened, and how it reads one that is not a file of
 * this machine. `input-kinds.ts` has the kinds of places.
 */
import type { FileVersion, InputReader } from '../../io/files.js';
import type { TransferRequest } from '../../remote/transfer-client.js';

/** The facts that the form of a name tells, before anything is loaded. */
export interface InputFacts {
  /** True if disks of this machine hold it: then it has a device, a directory and links. */
  readonly isOnDisk: boolean;
  /** True if each access is a request to another machine. */
  readonly isRemote: boolean;
  /** The words of messages for a changed input of the same length. */
  readonly changeText: string;
  /** Returns the name as messages, plans and reports have it: without what is secret. */
  shown(path: string): string;
  /** Returns the name by which a process in any directory finds it. */
  fullName(path: string): string;
  /** Returns its id, where paths are ids: two spellings of one path are one id. */
  idOf(path: string): string;
}

export interface ReadPlan {
  readonly version: FileVersion;
  /** Throws to leave, when the job was aborted. */
  readonly check: () => void;
  /** The place where a sequential reader stops. Absent: it reads short pieces here and there. */
  readonly end?: number | undefined;
}

/** Bytes of an input that will be read: [start, end). */
export interface InputRange {
  readonly path: string;
  readonly version: FileVersion;
  readonly start: number;
  readonly end: number;
}

/** Waits for the prefetched bytes of the next input, in the order of the call of `prefetch`; returns at once for inputs of other places. */
export type WaitForPrefetch = (path: string, signal: AbortSignal | undefined) => Promise<void>;

export interface ListedInput {
  /** The address below that of the directory. */
  readonly place: string;
  /** Returns the version as the list says it, which some services say otherwise than with the bytes. */
  version(): FileVersion;
}

/** The inputs of one kind. Places of remote inputs also have the optional methods. */
export interface InputPlace {
  /** Opens an input for reading by position. Without a plan: the version that is there now. */
  open(path: string, plan?: ReadPlan): InputReader;
  /** Fails if an address, as a caller gives it, names nothing that can be asked for. */
  requireAddress?(address: string): void;
  /** Returns the bytes of the memory budget that hold fetched blocks, in any process. */
  poolBytesOf?(machine: Pick<TransferRequest, 'memoryBytes' | 'workers'>): number;
  /** Lets this process fetch until its last job ends. @returns the bytes of the memory budget that hold fetched blocks. */
  startFetching?(request: TransferRequest): number;
  /** Lists all inputs below an address that ends with a slash, by what follows it. */
  list?(address: string, signal: AbortSignal | undefined): Promise<readonly ListedInput[]>;
  /** Prefetches the versions and first bytes of its inputs among these, or their last bytes, several at a time. */
  prefetch?(paths: readonly string[], ask: 'version-now' | 'last-bytes'): WaitForPrefetch;
  /** Announces what threads will read, so that it is prefetched in this order. */
  announceReads?(ranges: readonly InputRange[]): void;
}
