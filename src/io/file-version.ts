/** Another version means that the file was changed or replaced. */
export interface FileVersion {
  /** Device and inode: the same for all names of one file. Of an input on another machine: its path and its validator. */
  readonly identity: string;
  readonly byteLength: number;
  /** Of an input on another machine: a hash of its validator. */
  readonly modifiedNanoseconds: bigint;
}
