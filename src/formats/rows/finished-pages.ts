/** Compressed pages that wait until their row group is complete: in spare memory, or in a file when there is none left. */
import { UsageError } from '../../errors.js';
import { type GateNumber, type JobControl, UNGATED } from '../../floor/job-control.js';
import { inPhase } from '../../floor/phase-clock.js';
import {
  closeFile,
  createOwnFile,
  type OpenFile,
  openOwnForRead,
  readBytes,
  removeFile,
  writeAt,
} from '../../io/files.js';

/** A file in a temp directory, which is new. */
export interface SpillPlace {
  readonly path: string;
  /** The gate of its device. */
  readonly gate: GateNumber;
}

export interface FinishedPage {
  readonly byteLength: number;
  readonly isInFile: boolean;
  /** The place in the file, or in the memory of all pages. */
  readonly position: number;
}

const BLOCK_BYTES = 128 * 1024;

/**
 * The spare memory that a thread has taken for its pages, in blocks. The thread keeps them for later row groups: buffers that
 * come and go make the garbage collector run, which does not know how soon they are freed.
 */
export class PageBlocks {
  readonly #control: Pick<JobControl, 'takeSpare'>;
  readonly #free: Uint8Array[] = [];

  constructor(control: Pick<JobControl, 'takeSpare'>) {
    this.#control = control;
  }

  /** Bytes of the blocks that no page needs now. */
  get freeBytes(): number {
    return BLOCK_BYTES * this.#free.length;
  }

  /** Returns undefined if there is no spare memory. */
  take(): Uint8Array | undefined {
    return this.#free.pop() ?? (this.#control.takeSpare(BLOCK_BYTES) ? Buffer.allocUnsafeSlow(BLOCK_BYTES) : undefined);
  }

  give(block: Uint8Array): void {
    this.#free.push(block);
  }
}

export class FinishedPages {
  readonly #control: JobControl;
  readonly #blocks: PageBlocks;
  readonly #newSpillPlace: (() => SpillPlace) | undefined;
  readonly #taken: Uint8Array[] = [];
  #filledBytes = 0;
  #file: OpenFile | undefined;
  #gate: GateNumber = UNGATED;
  #fileBytes = 0;

  constructor(control: JobControl, blocks: PageBlocks, newSpillPlace: (() => SpillPlace) | undefined) {
    this.#control = control;
    this.#blocks = blocks;
    this.#newSpillPlace = newSpillPlace;
  }

  /** Copies both. */
  add(header: Uint8Array, body: Uint8Array): FinishedPage {
    const byteLength = header.byteLength + body.byteLength;
    const isInFile = !this.#takeRoom(byteLength);
    const position = isInFile ? this.#fileBytes : this.#filledBytes;
    for (const bytes of [header, body]) {
      if (isInFile) this.#write(bytes);
      else this.#fill(bytes);
    }
    return { byteLength, isInFile, position };
  }

  /** Takes the blocks that so many more bytes need. Returns false, with those that it had, if some are missing. */
  #takeRoom(byteLength: number): boolean {
    const before = this.#taken.length;
    while (this.#filledBytes + byteLength > BLOCK_BYTES * this.#taken.length) {
      const block = this.#blocks.take();
      if (block === undefined) {
        for (const taken of this.#taken.splice(before)) this.#blocks.give(taken);
        return false;
      }
      this.#taken.push(block);
    }
    return true;
  }

  #fill(bytes: Uint8Array): void {
    let done = 0;
    for (const room of this.#piecesAt(this.#filledBytes, bytes.byteLength)) {
      room.set(bytes.subarray(done, done + room.byteLength));
      done += room.byteLength;
    }
    this.#filledBytes += bytes.byteLength;
  }

  *#piecesAt(position: number, byteLength: number): Generator<Uint8Array, void> {
    for (let at = position; at < position + byteLength; ) {
      const from = at % BLOCK_BYTES;
      const piece = this.#taken[Math.floor(at / BLOCK_BYTES)]?.subarray(from, from + position + byteLength - at);
      if (piece === undefined) throw new RangeError(`no block has byte ${at} of the pages`);
      yield piece;
      at += piece.byteLength;
    }
  }

  #write(bytes: Uint8Array): void {
    const file = this.#file ?? this.#open();
    this.#file = file;
    const { byteLength } = bytes;
    const write = () => writeAt(file, bytes, 0, byteLength, this.#fileBytes);
    this.#control.during(this.#gate, () => inPhase('write', write));
    this.#fileBytes += byteLength;
  }

  #open(): OpenFile {
    if (this.#newSpillPlace === undefined)
      throw new UsageError('no memory is left for the pages of a row group; raise `memoryBytes`', 'ERR_MEMORY_BUDGET');
    const { path, gate } = this.#newSpillPlace();
    this.#gate = gate;
    return createOwnFile(path, 'temp');
  }

  /** Gives each page in the order of `pages`, in pieces that are good until the next one. */
  *read(pages: Iterable<FinishedPage>): Generator<Uint8Array, void> {
    const file = this.#file === undefined ? undefined : openOwnForRead(this.#file.path, 'temp');
    try {
      for (const { isInFile, position, byteLength } of pages) {
        if (!isInFile) yield* this.#piecesAt(position, byteLength);
        else if (file !== undefined) {
          const load = () => readBytes(file, position, byteLength);
          yield this.#control.during(this.#gate, () => inPhase('load', load));
        }
      }
    } finally {
      if (file !== undefined) closeFile(file);
    }
  }

  release(): void {
    for (const block of this.#taken.splice(0)) this.#blocks.give(block);
    this.#filledBytes = 0;
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined) return;
    closeFile(file);
    removeFile(file.path, file.role);
  }
}
