/**
 * A task for sets of records whose tallies differ: reads their parts again, and picks the records whose slots differ.
 * Records are told apart by their SHA-256, so no two of them are mistaken for one.
 */
import { createHash } from 'node:crypto';
import { BOUNDARY_COUNT } from '../../src/plan/arena-sizes.js';
import { MAX_SHOWN_PLACES, SLOT_BITMAP_BYTES } from '../../src/plan/slot-tally.js';
import type { InputPart } from '../../src/sources/input-part.js';
import type { Arena } from '../arena.js';
import { ReadArena, readPart } from '../read/read-part.js';
import { readStateOf } from '../thread-state.js';
import type { SetSettings } from './tally-records.js';

/** Excerpts are for messages. */
const EXCERPT_BYTES = 120;
/** Places in the boundary table. */
const SELECTED_BYTES = 4 * (BOUNDARY_COUNT + 1);

export interface FindRecordsTask {
  readonly job: SetSettings;
  readonly parts: readonly InputPart[];
  /** A bit for each slot. */
  readonly wanted: Uint8Array;
}

export interface FoundPlace {
  readonly inputOrdinal: number;
  /** The place of its first byte in the decoded input, or its ordinal in a table. */
  readonly position: number;
}

export interface FoundRecords {
  /** SHA-256 of the bytes, in base64. */
  readonly digest: string;
  readonly count: number;
  readonly byteLength: number;
  /** The first bytes, as latin1. */
  readonly excerpt: string;
  /** The places of the first `MAX_SHOWN_PLACES` records. */
  readonly places: readonly FoundPlace[];
}

export async function findRecords({ job, parts, wanted }: FindRecordsTask): Promise<readonly FoundRecords[]> {
  const thread = readStateOf(job);
  const found = new Map<string, FoundRecords & { count: number; readonly places: FoundPlace[] }>();
  for (const part of parts) {
    const { inputOrdinal } = part;
    const add = (bytes: Uint8Array, position: number) => {
      const digest = createHash('sha256').update(bytes).digest('base64');
      const known = found.get(digest);
      if (known === undefined) {
        const excerpt = Buffer.from(bytes.subarray(0, EXCERPT_BYTES)).toString('latin1');
        const places = [{ inputOrdinal, position }];
        found.set(digest, { digest, count: 1, byteLength: bytes.byteLength, excerpt, places });
        return;
      }
      known.count += 1;
      if (known.places.length < MAX_SHOWN_PLACES) known.places.push({ inputOrdinal, position });
    };
    await readPart(part, new WantedRecords(thread.arena, job, wanted, add), thread, job);
  }
  return [...found.values()];
}

class WantedRecords extends ReadArena {
  readonly #selected: number;
  readonly #add: (bytes: Uint8Array, position: number) => void;

  constructor(arena: Arena, job: SetSettings, wanted: Uint8Array, add: (bytes: Uint8Array, position: number) => void) {
    super(arena, job, SLOT_BITMAP_BYTES + SELECTED_BYTES);
    this.#selected = this.own + SLOT_BITMAP_BYTES;
    this.#add = add;
    this.kernel.bytes.set(wanted, this.own);
    this.kernel.wasm.resetTally(...job.drawnKeys);
  }

  /** The first pass has refused records that are too long. */
  take(count: number, base: number, basePosition: number, _: bigint, firstRow?: number): number {
    const { wasm, view, bytes } = this.kernel;
    const selected = wasm.selectRecords(this.table, count, this.own, this.#selected) >>> 0;
    for (let i = 0; i < selected; i++) {
      const index = view.getUint32(this.#selected + 4 * i, true);
      const mark = this.table + 8 * index;
      const start = view.getUint32(mark, true);
      const position = firstRow === undefined ? basePosition + start - base : firstRow + index;
      this.#add(bytes.subarray(start, view.getUint32(mark + 4, true)), position);
    }
    return 0;
  }
}
