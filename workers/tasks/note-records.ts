/**
 * A task of `pileshuf index`: writes the positions of the records that begin in one part of a file to the index. Also
 * reports the bytes that the last record of the file lacks at its end.
 */

import { thenAlwaysAsync } from '../../src/cleanup.js';
import { framingOf } from '../../src/formats/framing-table.js';
import type { Coverage, InputPart } from '../../src/inputs/input-part.js';
import { closeFile, openStagedOutput } from '../../src/io/files.js';
import { BOUNDARY_TABLE_BYTES } from '../../src/plan/arena-sizes.js';
import { BlockWriter, SharedPlaces, type WrittenBlocks } from '../../src/record-index/block-writer.js';
import { type Arena, ArenaLayout } from '../arena.js';
import type { Kernel } from '../kernel/kernel.js';
import { readPart } from '../read/read-part.js';
import { ReadWindow } from '../read/read-window.js';
import type { RecordTaker } from '../read/record-reader.js';
import type { ReadSettings } from '../settings.js';
import { readStateOf } from '../thread-state.js';

export interface NoteTask {
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
    const writer = new BlockWriter(index, new SharedPlaces(places));
    const notes = new RecordNotes(arena, writer, job);
    const framing = job.framing === undefined ? undefined : framingOf(job.framing);
    const { coverage } = await readPart(part, framing, notes, thread, job);
    // The added bytes lie at the end of the last record.
    const { filledEnd } = notes.window;
    const missing = arena.kernel.bytes.slice(filledEnd - coverage.addedBytes, filledEnd);
    return { ...writer.finish(), coverage, missing };
  };
  return thenAlwaysAsync(note, () => closeFile(index));
}

class RecordNotes implements RecordTaker {
  readonly window: ReadWindow;
  readonly table: number;
  readonly #arena: Arena;
  readonly #writer: BlockWriter;
  #longestBytes = 0;

  constructor(arena: Arena, writer: BlockWriter, { readBytes, maxRecordBytes }: ReadSettings) {
    this.#arena = arena;
    this.#writer = writer;
    const layout = new ArenaLayout();
    this.table = layout.take(BOUNDARY_TABLE_BYTES);
    this.window = new ReadWindow(arena, layout.take(0, 4096), readBytes, maxRecordBytes);
  }

  get kernel(): Kernel {
    return this.#arena.kernel;
  }

  take(count: number, base: number, basePosition: number): number {
    const { view } = this.#arena.kernel;
    for (let at = this.table; at < this.table + 8 * count; at += 8) {
      const byteLength = view.getUint32(at + 4, true) - view.getUint32(at, true);
      if (byteLength > this.#longestBytes) this.#longestBytes = byteLength;
    }
    this.#writer.add(view, this.table, count, basePosition - base);
    return this.#longestBytes;
  }
}
