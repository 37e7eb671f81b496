import type { OpenFile } from '../io/files.js';

/** The bytes around the records of a file, as it stores them. */
export interface StoredEnds {
  readonly headerBytes: number;
  /** True if a header can be made only of the content. Absent: no. */
  readonly headerNeedsContent?: boolean;
  /** @param content undefined: of a stream, whose header comes first. */
  headerOf(recordBytes: number, content?: FileContent): Uint8Array;
  /** Returns what follows the regions of a file, in pieces. */
  trailerOf(content: FileContent): Iterable<Uint8Array>;
  /**
   * Returns the ends that all files have in common. Absent: what the end of a file says follows from this file alone.
   * @param contents of all files of the output.
   */
  commonEnds?(contents: readonly FileContent[]): StoredEnds;
}

/** The ends of the files of an output that has all its records. */
export function finalEnds(ends: StoredEnds, contents: readonly FileContent[]): StoredEnds {
  return ends.commonEnds?.(contents) ?? ends;
}

/** The part of a file that is there before its end is made: a header or room for it, and all records. */
export interface FileContent {
  readonly path: string;
  readonly byteLength: number;
  /** Bytes of its records, decompressed. */
  readonly recordBytes: number;
  /** Opens the file, to read what tells about it. */
  open(): OpenFile;
}
