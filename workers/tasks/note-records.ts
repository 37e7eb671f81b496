/**
 * A task of `pileshuf index`: writes the positions of the records that begin in one part of a file to the index. Also
 * reports the bytes that the last record of the file lacks at its end.
 */

import { thenAlwaysAsync } from '../../src/floor/cleanup.js';
import { closeFile, openStagedOutput } from '../../src/io/files.js';
import { BlockWriter, SpaceAllocator, type WrittenBlocks } from '../../src/record-index/block-writer.js';
import type { Coverage, InputPart } from '../../src/sources/input-part.js';
import type { Arena } from '../arena.js';
import { ReadArena, readPart } from '../read/read-part.js';
import type { ReadSettings } from '../settings.js';
import { readStateOf } from '../thread-state.js';

interface NoteTask {
  readonly job: ReadSettings;
  readonly part: Exclude<InputPart, { kind: 'stream' }>;
  /** The existing index file; `places` reserves room in it. */
  readonly indexPath: string;
  readonly places: SharedArrayBuffer;
}

export interface NoteResult extends WrittenBlocks {
  readonly coverage: Coverage;
  readonly missing: Uint8Array;
}

export async function noteRecords({ job, part, indexPath, places }: NoteTask): Promise<NoteResult> {
  const thread = readStateOf(job);
  const { arena } = thread;
  const index = openStagedOutput(indexPath);
  const note = async (): Promise<NoteResult> => {
    const writer = new BlockWriter(index, new SpaceAllocator(places));
    const notes = new RecordNotes(arena, writer, job);
    const { coverage } = await readPart(part, notes, thread, job);
    // The added bytes lie at the end of the last record.
    const { filledEnd } = notes.window;
    const missing = arena.kernel.bytes.slice(filledEnd - coverage.addedBytes, filledEnd);
    return { ...writer.finish(), coverage, missing };
  };
  return thenAlwaysAsync(note, () => closeFile(index));
}

class RecordNotes extends ReadArena {
  readonly #writer: BlockWriter;
  #longestBytes = 0;

  constructor(arena: Arena, writer: BlockWriter, job: ReadSettings) {
    super(arena, job);
    this.#writer = writer;
  }

  take(count: number, base: number, basePosition: number): number {
    const { view } = this.kernel;
    for (let at = this.table; at < this.table + 8 * count; at += 8) {
      const byteLength = view.getUint32(at + 4, true) - view.getUint32(at, true);
      if (byteLength > this.#longestBytes) this.#longestBytes = byteLength;
    }
    this.#writer.add(view, this.table, count, basePosition - base);
    return this.#longestBytes;
  }
}
