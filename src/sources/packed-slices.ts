/** The slices of a job. Those of a million small files have a million parts, of which a page holds some 20 bytes each. */
import { deserialize, serialize } from 'node:v8';
import { PackedList } from '../floor/paged-list.js';
import type { MemberRange, Slice, SlicePart } from '../plan/slices.js';

/** All parts of some slices, side by side. */
interface Page {
  /** How many parts each slice has. */
  readonly lengths: Uint32Array;
  readonly ordinals: Uint32Array;
  readonly starts: Float64Array;
  /** NaN: up to the end of the input. */
  readonly ends: Float64Array;
  /** The key is the index of a part. */
  readonly members: ReadonlyMap<number, MemberRange>;
}

const PAGE_LENGTH = 16;

export class PackedSlices extends PackedList<Slice> {
  constructor() {
    super({ pageLength: PAGE_LENGTH, pack, unpack });
  }
}

function pack(slices: readonly Slice[]): Uint8Array {
  const parts = slices.flat();
  const page: Page = {
    lengths: Uint32Array.from(slices, ({ length }) => length),
    ordinals: Uint32Array.from(parts, ({ inputOrdinal }) => inputOrdinal),
    starts: Float64Array.from(parts, ({ start }) => start),
    ends: Float64Array.from(parts, ({ end = Number.NaN }) => end),
    members: new Map(parts.flatMap(({ members }, i) => (members === undefined ? [] : [[i, members]]))),
  };
  return serialize(page);
}

function unpack(bytes: Uint8Array): Slice[] {
  const { lengths, ordinals, starts, ends, members }: Page = deserialize(bytes);
  const partAt = (i: number): SlicePart => {
    const end = ends[i] ?? Number.NaN;
    const ofMembers = members.get(i);
    const part = {
      inputOrdinal: ordinals[i] ?? 0,
      start: starts[i] ?? 0,
      end: Number.isNaN(end) ? undefined : end,
    };
    return ofMembers === undefined ? part : { ...part, members: ofMembers };
  };
  let next = 0;
  return Array.from(lengths, (length) => Array.from({ length }, () => partAt(next++)));
}
