/**
 * What a sink appends to its files: members, each made of consecutive records. A compressed member holds the records of one
 * full buffer, a row group of a table those of one unit.
 */
import type { MemberEncoder } from '../formats/codec.js';
import type { Member, MemberWriter } from '../formats/member.js';
import { freeBytes } from '../machine/free-bytes.js';
import { inPhase } from '../phase-clock.js';

export function compressedMembers(encoder: MemberEncoder): MemberWriter {
  let bytes: Uint8Array | undefined;
  return {
    endsWithBuffer: true,
    add: (records) => {
      bytes = inPhase('compress', () => encoder.encode(records));
    },
    end: () => {
      const member = bytes && memberOf(bytes);
      bytes = undefined;
      return member;
    },
    close: () => {},
  };
}

function memberOf(bytes: Uint8Array): Member {
  const { byteLength } = bytes;
  return {
    byteLength,
    memoryBytes: byteLength,
    description: undefined,
    pieces: () => [bytes],
    release: () => freeBytes(bytes),
  };
}
