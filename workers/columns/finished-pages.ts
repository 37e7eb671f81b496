/** Compressed pages that wait until their row group is complete: in spare memory, or in a file when there is none left. */
import { UsageError } from '../../src/errors.js';
import {
  closeFile,
  createOwnFile,
  type OpenFile,
  openOwnForRead,
  readBytes,
  removeFile,
  writeAt,
} from '../../src/io/files.js';
import type { GateNumber, JobControl } from '../../src/job-control.js';
import { freeBytes } from '../../src/machine/free-bytes.js';
import { inPhase } from '../../src/phase-clock.js';

export interface SpillPlace {
  /** Of the device of the file. */
  readonly gate: GateNumber;
  /** A new path in a temp directory. */
  newPath(): string;
}

export interface FinishedPage {
  readonly byteLength: number;
  readonly bytes: Uint8Array | undefined;
  /** Where it lies in the file, if it lies there. */
  readonly position: number;
}

export class FinishedPages {
  readonly #control: JobControl;
  readonly #place: SpillPlace | undefined;
  readonly #inMemory: Uint8Array[] = [];
  #file: OpenFile | undefined;
  #fileBytes = 0;
  #spareBytes = 0;

  constructor(control: JobControl, place: SpillPlace | undefined) {
    this.#control = control;
    this.#place = place;
  }

  /** Copies both. */
  add(header: Uint8Array, body: Uint8Array): FinishedPage {
    const byteLength = header.byteLength + body.byteLength;
    if (this.#control.takeSpare(byteLength)) {
      this.#spareBytes += byteLength;
      const bytes = new Uint8Array(byteLength);
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
    this.#control.during(this.#place?.gate ?? -1, () => inPhase('write', write));
    this.#fileBytes += byteLength;
  }

  #open(): OpenFile {
    if (this.#place !== undefined) return createOwnFile(this.#place.newPath(), 'temp');
    throw new UsageError('no memory is left for the pages of a row group; raise `memoryBytes`', 'ERR_MEMORY_BUDGET');
  }

  /** Each page in the order of `pages`; good until the next one. */
  *read(pages: Iterable<FinishedPage>): Generator<Uint8Array, void> {
    const file = this.#file === undefined ? undefined : openOwnForRead(this.#file.path, 'temp');
    try {
      for (const { bytes, position, byteLength } of pages) {
        if (bytes !== undefined) yield bytes;
        else if (file !== undefined) {
          const load = () => readBytes(file, position, byteLength);
          yield this.#control.during(this.#place?.gate ?? -1, () => inPhase('load', load));
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
