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
import { freeBytes } from '../../machine/free-bytes.js';

/** A file in a temp directory, which is new. */
export interface SpillPlace {
  readonly path: string;
  /** The gate of its device. */
  readonly gate: GateNumber;
}

export interface FinishedPage {
  readonly byteLength: number;
  readonly bytes: Uint8Array | undefined;
  /** The place in the file, if it lies there. */
  readonly position: number;
}

export class FinishedPages {
  readonly #control: JobControl;
  readonly #newSpillPlace: (() => SpillPlace) | undefined;
  readonly #inMemory: Uint8Array[] = [];
  #file: OpenFile | undefined;
  #gate: GateNumber = UNGATED;
  #fileBytes = 0;
  #spareBytes = 0;

  constructor(control: JobControl, newSpillPlace: (() => SpillPlace) | undefined) {
    this.#control = control;
    this.#newSpillPlace = newSpillPlace;
  }

  /** Copies both. */
  add(header: Uint8Array, body: Uint8Array): FinishedPage {
    const byteLength = header.byteLength + body.byteLength;
    if (this.#control.takeSpare(byteLength)) {
      this.#spareBytes += byteLength;
      const bytes = Buffer.allocUnsafeSlow(byteLength);
      bytes.set(header);
      bytes.set(body, header.byteLength);
      this.#inMemory.push(bytes);
      return { byteLength, bytes, position: 0 };
    }
    const position = this.#fileBytes;
    this.#write(header);
    this.#write(body);
    return { byteLength, bytes: undefined, position };
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

  /** Each page in the order of `pages`; good until the next one. */
  *read(pages: Iterable<FinishedPage>): Generator<Uint8Array, void> {
    const file = this.#file === undefined ? undefined : openOwnForRead(this.#file.path, 'temp');
    try {
      for (const { bytes, position, byteLength } of pages) {
        if (bytes !== undefined) yield bytes;
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
    for (const bytes of this.#inMemory.splice(0)) freeBytes(bytes);
    this.#control.giveSpare(this.#spareBytes);
    this.#spareBytes = 0;
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined) return;
    closeFile(file);
    removeFile(file.path, file.role);
  }
}
