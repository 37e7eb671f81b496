/**
 * Reads windows of inputs around places in them: decodes them, and counts the records that end in them. So records that are
 * longer than a window count, too. Every estimate comes from such windows.
 */
import { ARENA_START, Kernel } from '../../workers/kernel/kernel.js';
import { prepareStoredValues } from '../../workers/piles/record-values.js';
import { readSums } from '../../workers/read/weighed-sum.js';
import { BadRecord, type Framing } from '../formats/framing.js';
import { type FramingSpec, framingOf } from '../formats/framing-table.js';
import { isSeekable, type OpenFile, readBytes, withFile } from '../io/files.js';
import type { ContentRule } from '../keep/content-rule.js';
import { openInput } from '../places/inputs/input-kinds.js';
import { BOUNDARY_COUNT, BOUNDARY_TABLE_BYTES } from '../plan/arena-sizes.js';
import type { FileInput } from '../sources/input.js';

export interface WindowSizes {
  readonly windowBytes: number;
  /** A plain input of so many bytes is read whole. */
  readonly wholeBytes: number;
  /** Stored bytes of a beginning: where it is read, nothing else of the input can be. */
  readonly headBytes: number;
  /** Stored bytes in which a member is sought; of its own, half as many are read. */
  readonly nearBytes: number;
  /** The most that is scanned of what a beginning or a member decodes to. */
  readonly decodedBytes: number;
  /** The most bytes of sample records from one window. */
  readonly sampleBytes: number;
}

export interface Window {
  readonly storedBytes: number;
  readonly decodedBytes: number;
  /** The records that end in it for each byte. */
  readonly density: number;
  /** The sum of a number in records for each byte. */
  readonly fieldDensity: number;
  /** See `Stratum`. */
  readonly doubt: number;
}

interface Piece {
  readonly bytes: Uint8Array;
  /** True if a record begins with it. */
  readonly atStart: boolean;
  /** True if its end is that of the input. */
  readonly atEnd: boolean;
}

/** The decoded bytes of an input, and how many stored bytes they took. */
interface Decoded {
  readonly bytes: Uint8Array;
  readonly storedBytes: number;
  readonly decodedBytes: number;
}

/** The bytes of a record where none is seen; a record may as well be a byte. */
export const USUAL_RECORD_BYTES = 200;
/** The rest of an input may have records of half the length, or of twice. */
const UNSEEN_REST = 2;
/** A head that decodes to far more than text does is decoded only so far. */
const SHORT_HEAD_BYTES = 4096;
/** Scanning may read a little after the bytes. */
const BEHIND_BYTES = 256;
/** Samples have records of any length. */
const LONGEST_BYTES = 2 ** 31 - 1;

export class InputWindows {
  seenBytes = 0;
  /** Some whole records, each with its delimiter. */
  readonly samples: Uint8Array[] = [];
  readonly #framing: Framing | undefined;
  readonly #content: ContentRule | undefined;
  readonly #sizes: WindowSizes;
  #kernel: Kernel | undefined;
  /** The last window of a member, or of an input that has only one: several places may have it. */
  #last:
    | { readonly input: FileInput; readonly memberStart: number | undefined; readonly window: Window | undefined }
    | undefined;

  /**
   * @param framing undefined: nobody knows yet what a record is.
   * @param content has the number to add up, if any.
   */
  constructor(framing: FramingSpec | undefined, sizes: WindowSizes, content?: ContentRule) {
    this.#framing = framing && framingOf(framing);
    this.#content = content;
    this.#sizes = sizes;
  }

  /**
   * The window of a place, or that of the beginning where no other can be read.
   * @param share of the input that lies before the place.
   * @returns undefined: it cannot be decoded.
   */
  around(input: FileInput, share: number): Window | undefined {
    if (this.#last?.input === input && this.#last.memberStart === undefined) return this.#last.window;
    return withFile(openInput(input.path), (file) => {
      const member = this.#member(file, input, Math.floor(share * input.version.byteLength));
      if (member !== undefined) return member;
      const { windowBytes, wholeBytes } = this.#sizes;
      const byteLength = input.version.byteLength - input.header.byteLength;
      if (this.#canSeek(input) && byteLength > wholeBytes) {
        const start = Math.floor((share * byteLength) / windowBytes) * windowBytes;
        return this.#read(file, input, start, Math.min(byteLength, start + windowBytes));
      }
      const window = this.#canSeek(input) ? this.#read(file, input, 0, byteLength) : this.#head(file, input);
      this.#last = { input, memberStart: undefined, window };
      return window;
    });
  }

  /** Bytes [start, end) of the records, if they are few and can be read; else undefined. */
  whole(input: FileInput, start: number, end: number): Window | undefined {
    if (end - start > this.#sizes.wholeBytes || !this.#canSeek(input)) return undefined;
    return withFile(openInput(input.path), (file) => this.#read(file, input, start, end));
  }

  /** True if no reader can begin in the middle. */
  get #beginsWithInput(): boolean {
    return this.#framing !== undefined && this.#framing.cut === undefined;
  }

  #canSeek({ codec, version }: FileInput): boolean {
    return codec === undefined && isSeekable(version) && !this.#beginsWithInput;
  }

  #read(file: OpenFile, input: FileInput, start: number, end: number): Window {
    const { version, header } = input;
    const { cut, recordBytes } = this.#framing ?? {};
    // The end of a record may begin before the window.
    const behind = recordBytes === undefined ? (cut?.lookBehindBytes ?? 1) - 1 : start % recordBytes;
    const from = Math.max(0, start - behind);
    const bytes = readBytes(file, header.byteLength + from, end - from);
    const atEnd = header.byteLength + end === version.byteLength;
    const piece = { bytes, atStart: from === 0 || recordBytes !== undefined, atEnd };
    return { storedBytes: end - start, decodedBytes: end - start, ...this.#count(piece, end - start), doubt: 1 };
  }

  /** The beginning of an input in which records cannot be found from anywhere. */
  #head(file: OpenFile, input: FileInput): Window | undefined {
    const { codec, header, version } = input;
    const headBytes = this.#sizes.headBytes + (codec === undefined ? header.byteLength : 0);
    const head = readBytes(file, 0, Math.min(version.byteLength, headBytes));
    const decoded = this.#decode(input, head) ?? this.#decode(input, head.subarray(0, SHORT_HEAD_BYTES));
    if (decoded === undefined) return undefined;
    const { bytes, storedBytes, decodedBytes } = decoded;
    const atEnd = head.byteLength === version.byteLength && decodedBytes === bytes.byteLength;
    const counted = this.#count({ bytes: bytes.subarray(header.byteLength), atStart: true, atEnd });
    return { storedBytes, decodedBytes, ...counted, doubt: atEnd ? 1 : UNSEEN_REST };
  }

  /**
   * Looks at a member near a place. Undefined: no member begins near the place, or no record can be found in the middle
   * of the input.
   */
  #member(file: OpenFile, input: FileInput, position: number): Window | undefined {
    const { codec, version } = input;
    if (codec?.findMember === undefined || !isSeekable(version) || this.#beginsWithInput) return undefined;
    const { nearBytes } = this.#sizes;
    const near = readBytes(file, position, nearBytes);
    const found = codec.findMember(near);
    const memberStart = position + found;
    if (found < 0 || memberStart === 0) return undefined;
    if (this.#last?.input === input && this.#last.memberStart === memberStart) return this.#last.window;
    const decoded = this.#decode(input, near.subarray(found, found + nearBytes / 2));
    if (decoded === undefined) return undefined;
    const { bytes, storedBytes, decodedBytes } = decoded;
    const counted = this.#count({ bytes, atStart: false, atEnd: false });
    this.#last = { input, memberStart, window: { storedBytes, decodedBytes, ...counted, doubt: 1 } };
    return this.#last.window;
  }

  /**
   * Decodes the beginning of an input. Undefined: nothing of it can be decoded. The job reports a corrupt input, with
   * the position.
   */
  #decode({ codec }: FileInput, stored: Uint8Array): Decoded | undefined {
    if (codec === undefined) return { bytes: stored, storedBytes: stored.byteLength, decodedBytes: stored.byteLength };
    const { bytes, decodedBytes } = codec.decodeHead(stored, this.#sizes.decodedBytes);
    if (decodedBytes === 0) return undefined;
    const storedBytes = Math.max(1, codec.wholeBytes?.(stored, decodedBytes) ?? stored.byteLength);
    return { bytes, storedBytes, decodedBytes };
  }

  /** @param ownBytes those of the piece that are not only there to find its records. */
  #count(piece: Piece, ownBytes = piece.bytes.byteLength): Pick<Window, 'density' | 'fieldDensity'> {
    const framing = this.#framing;
    const { bytes, atStart, atEnd } = piece;
    this.seenBytes += bytes.byteLength;
    if (framing === undefined || ownBytes === 0) return { density: 1 / USUAL_RECORD_BYTES, fieldDensity: 0 };
    const { records: scanned, wholeBytes, sum, hasRest } = this.#scan(framing, piece);
    // A scan from the middle does not know what was before.
    const records = (atStart ? undefined : framing.countSample?.(bytes)) ?? scanned;
    const isOpen = atStart || framing.recordEnd === undefined ? hasRest : bytes.at(-1) !== framing.recordEnd.byte;
    return {
      density: (records + (atEnd && isOpen ? 1 : 0)) / ownBytes,
      fieldDensity: wholeBytes === 0 ? 0 : (Number(sum) / wholeBytes) * (bytes.byteLength / ownBytes),
    };
  }

  #scan(framing: Framing, { bytes, atStart }: Piece) {
    if (this.#kernel === undefined) {
      this.#kernel = new Kernel();
      prepareStoredValues(this.#kernel, this.#content);
    }
    const kernel = this.#kernel;
    const table = ARENA_START;
    const from = ARENA_START + 2 * BOUNDARY_TABLE_BYTES + 16;
    const end = from + bytes.byteLength;
    kernel.ensureArena(end + BEHIND_BYTES - ARENA_START);
    kernel.bytes.set(bytes, from);
    // The bytes of an earlier piece must not look like a part of this one.
    kernel.bytes.fill(0, end, end + BEHIND_BYTES);
    kernel.wasm.clearSums();
    const scanner = framing.openScanner(kernel, LONGEST_BYTES, atStart ? 'beginning' : 'sample');
    let [records, firstStart, recordStart, windowSampleBytes] = [0, from, from, 0];
    try {
      for (let at = from; ; at = recordStart) {
        const count = scanner.scan(at, end, recordStart, table, BOUNDARY_COUNT);
        for (let i = 0; i < count; i++) {
          const start = kernel.view.getUint32(table + 8 * i, true);
          recordStart = kernel.view.getUint32(table + 8 * i + 4, true);
          // The first one may be the rest of a record.
          if (!atStart && records + i === 0) firstStart = recordStart;
          else if (windowSampleBytes + recordStart - start <= this.#sizes.sampleBytes) {
            windowSampleBytes += recordStart - start;
            this.samples.push(kernel.bytes.slice(start, recordStart));
          }
        }
        const skipped = atStart || records > 0 || count === 0 ? 0 : 1;
        kernel.wasm.weighRecords(table + 8 * skipped, count - skipped);
        records += count;
        if (count < BOUNDARY_COUNT) break;
      }
    } catch (error) {
      // The job reports what breaks the rules of the framing, with its position.
      if (!(error instanceof BadRecord)) throw error;
    }
    return {
      records,
      wholeBytes: recordStart - firstStart,
      sum: readSums(kernel).read,
      hasRest: recordStart < end && scanner.isInTrailer !== true,
    };
  }
}
