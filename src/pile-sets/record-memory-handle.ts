/** The memory in which a job holds its records, in the form that travels to threads. */
export interface RecordMemoryHandle {
  /** Where another thread keeps it; undefined: the calling thread, which does all the work, makes its own. */
  readonly channelName: string | undefined;
  readonly byteLength: number;
  /** Where the own parts of the threads end. */
  readonly ownEnd: number;
  /** Where the part ends that pass 1 may take; pass 2 needs the rest. */
  readonly pass1End: number;
}
