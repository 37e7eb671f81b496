/**
 * A shard that becomes an object: what a task appends is gathered in parts, and a full part goes to the transfer
 * thread. The staged file of the shard has its length, and only those of its bytes that are in no uploaded part:
 *
 *     parts    | 1 uploaded | 2 uploaded | 3        |
 *     staged   |    hole    |    hole    | rest     |        length: that of the shard so far
 *
 * So the next task, or a later attempt, begins where the file ends. The header, what describes units, and the end of the
 * shard are in the staged file in any case.
 */
import { crc32 } from 'node:zlib';
import { UsageError } from '../../errors.js';
import {
  closeFile,
  closeOnFailure,
  lengthenFile,
  type OpenFile,
  openForRead,
  openStagedOutput,
  readBytes,
  versionOf,
  withFile,
  writeAt,
} from '../../io/files.js';
import type { RegionTransfers } from '../../job-directory/notes.js';
import { beginUpload, PartWriter } from '../../remote/part-writer.js';
import { shortenStaged } from '../../sinks/appended-shards.js';
import { type AppendedTarget, type OpenShard, stagedPath } from '../../sinks/output-target.js';
import { addressOfShard, readUploadNote, type UploadTarget, uploadNotePath, writeUploadNote } from './object-names.js';

/** @param data an `UploadTarget`. @param check throws to leave, when the job was aborted. */
export function openUploadedShard(target: AppendedTarget, data: object, shard: number, check: () => void): OpenShard {
  return new UploadedShard(target, data as UploadTarget, shard, check);
}

/** S3 takes no more. */
const MOST_PARTS = 10_000;

class UploadedShard implements OpenShard {
  readonly #target: UploadTarget;
  readonly #path: string;
  readonly #file: OpenFile;
  readonly #uploads: PartWriter;
  /** True if the buffer of `#uploads` has the bytes of the present part. */
  #hasPart = false;
  #restCrc = 0;
  /** Not if bytes before those of this task waited in memory. */
  #canBeShortened = true;
  end: number;

  constructor(
    { stagingDirectory, headerBytes }: AppendedTarget,
    upload: UploadTarget,
    shard: number,
    check: () => void,
  ) {
    this.#target = upload;
    this.#path = stagedPath(stagingDirectory, shard);
    const address = addressOfShard(upload, shard);
    const note = readUploadNote(uploadNotePath(stagingDirectory, shard));
    const uploadId = note?.uploadId ?? beginUpload(address, check);
    if (note === undefined) writeUploadNote(stagingDirectory, shard, { address, uploadId, parts: undefined });
    this.#file = openStagedOutput(this.#path);
    this.end = closeOnFailure(this.#file, (file) => {
      const { byteLength } = versionOf(file);
      if (byteLength >= headerBytes) return byteLength;
      writeAt(file, upload.header ?? new Uint8Array(headerBytes), 0, headerBytes, 0);
      return headerBytes;
    });
    this.#uploads = new PartWriter(address, uploadId, upload.partBytes, check);
  }

  append(bytes: Uint8Array): void {
    const { partBytes } = this.#target;
    for (let done = 0; done < bytes.byteLength; ) {
      const inPart = this.end % partBytes;
      if (!this.#hasPart && inPart > 0) this.#resumePart(inPart);
      this.#hasPart = true;
      const piece = bytes.subarray(done, done + partBytes - inPart);
      this.#uploads.write(piece, inPart);
      this.end += piece.byteLength;
      done += piece.byteLength;
      if (this.end % partBytes === 0) this.#endPart(partBytes);
    }
  }

  describe(description: Uint8Array): void {
    writeAt(this.#file, description, 0, description.byteLength, this.end - description.byteLength);
  }

  close(isWhole: boolean): void {
    const restBytes = this.end % this.#target.partBytes;
    if (this.#hasPart && isWhole && !this.#target.hasTrailer) this.#endPart(restBytes);
    else if (this.#hasPart && !(this.#mayStash(isWhole) && this.#uploads.stash(this.#number, restBytes)))
      this.#restCrc = this.#stage(restBytes);
    lengthenFile(this.#file, this.end);
    closeFile(this.#file);
  }

  awaitTransfers(): RegionTransfers {
    return { uploaded: { parts: this.#uploads.waitForParts(), restCrc: this.#restCrc } };
  }

  abandon(): void {
    this.#uploads.discard();
    closeFile(this.#file);
  }

  rollBack(byteLength: number): boolean {
    shortenStaged(this.#path, byteLength);
    return this.#canBeShortened;
  }

  /** The number of the part that has the last byte. */
  get #number(): number {
    return Math.ceil(this.end / this.#target.partBytes);
  }

  /** The first part waits for a header that is not known yet. */
  get #waitsForHeader(): boolean {
    return this.#number === 1 && this.#target.header === undefined;
  }

  /** Returns whether another task may continue the part in memory. */
  #mayStash(isWhole: boolean): boolean {
    return !isWhole && !this.#target.stagesUnsentBytes && !this.#waitsForHeader;
  }

  /** Continues a part that has bytes of another task. */
  #resumePart(byteLength: number): void {
    this.#canBeShortened = this.#target.stagesUnsentBytes || !this.#uploads.resume(this.#number);
    if (this.#canBeShortened) this.#uploads.write(this.#readStaged(this.end - byteLength, byteLength), 0);
  }

  #endPart(byteLength: number): void {
    if (this.#waitsForHeader) this.#stage(byteLength);
    else this.#put(this.#number, byteLength);
    this.#hasPart = false;
  }

  #put(number: number, byteLength: number): void {
    if (number > MOST_PARTS)
      throw new UsageError(
        `${this.#path} becomes larger than ${MOST_PARTS} parts of ${this.#target.partBytes} bytes, and S3 takes no more; give more shards`,
      );
    this.#uploads.put(number, byteLength);
  }

  /** Puts the bytes of the present part into the staged file. @returns their CRC-32. */
  #stage(byteLength: number): number {
    let crc = 0;
    let position = this.end - byteLength;
    for (const piece of this.#uploads.pieces(byteLength)) {
      writeAt(this.#file, piece, 0, piece.byteLength, position);
      position += piece.byteLength;
      crc = crc32(piece, crc);
    }
    this.#uploads.discard();
    this.#hasPart = false;
    return crc;
  }

  #readStaged(position: number, byteLength: number): Uint8Array {
    return withFile(openForRead(this.#path, 'output'), (file) => readBytes(file, position, byteLength));
  }
}
