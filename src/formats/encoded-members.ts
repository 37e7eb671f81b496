/**
 * An output whose records are encoded is made of members, each of consecutive records: a part of a compressed file, or a row
 * group of a table.
 */

import { freeBytes } from '../machine/free-bytes.js';

/** Makes the members of tables. */
export interface MemberWriter {
  /** @param records the next ones; one that is longer than a buffer comes in several calls. */
  add(records: Uint8Array): void;
  /** @returns the member of all records since the last one; undefined: there were none. */
  end(): EncodedMember | undefined;
  /** Frees what it holds, also in the middle of a member. */
  close(): void;
}

export interface EncodedMember {
  readonly byteLength: number;
  /** Memory that is not counted yet, if it waits. */
  readonly memoryBytes: number;
  /** The last of its bytes, which tell what the end of the file says of it; undefined: it says nothing. */
  readonly description: Uint8Array | undefined;
  /** Its bytes, once more with each call. */
  pieces(): Iterable<Uint8Array>;
  /** Frees its memory and its temp files: it can be read no more. */
  release(): void;
}

export function memberOf(bytes: Uint8Array): EncodedMember {
  const { byteLength } = bytes;
  return {
    byteLength,
    memoryBytes: byteLength,
    description: undefined,
    pieces: () => [bytes],
    release: () => freeBytes(bytes),
  };
}
