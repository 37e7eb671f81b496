/**
 * Counts the records of samples of the inputs, for a preview. The job plans with fewer samples, which are enough for it:
 * its results never depend on them. Small plain inputs are read whole.
 */
import seedrandom from 'seedrandom/seedrandom.js';
import { ARENA_START, Kernel } from '../../workers/kernel/kernel.js';
import { type NumberField, sumOfField } from '../../workers/read/field-sum.js';
import { BadRecord, type Framing } from '../formats/framing.js';
import { type FramingSpec, framingOf } from '../formats/framing-table.js';
import type { FileInput, Input } from '../inputs/list-inputs.js';
import { openForRead, readAt, withFile } from '../io/files.js';
import { hearSignalsAt } from '../pause.js';
import { BOUNDARY_COUNT, BOUNDARY_TABLE_BYTES } from '../plan/arena-sizes.js';
import { type CountedPiece, recordsPerByte } from '../plan/sampled-records.js';

/** Inputs of so many bytes together are read whole. */
const WHOLE_BYTES = 8 * 2 ** 20;
const MOST_WHOLE_INPUTS = 1000;
const PIECES = 64;
const PIECE_BYTES = 64 * 1024;
const HEAD_BYTES = 128 * 1024;
/** Compressed beginnings that are decoded. */
const HEADS = 8;
/** The parts of a beginning tell how different its records are, and not how different the rest is. */
const PART_BYTES = 16 * 1024;
const HEAD_ERROR = 0.05;
/** Kept for other measurements. */
const MOST_KEPT_BYTES = 4 * 2 ** 20;
/** Scanning may read a little behind the bytes. */
const BEHIND_BYTES = 256;

export interface RecordSample {
  /** Expected records for a byte of records, at least and at most. */
  readonly perByte: { readonly least: number; readonly expected: number; readonly most: number };
  /** Of all inputs, if each of them was read whole, with the delimiters that they lack. */
  readonly whole: { readonly records: number; readonly bytes: number } | undefined;
  /** Some whole records, each with its delimiter. */
  readonly records: readonly Uint8Array[];
  /** Of the field, in parts of 10^-15, per byte of records; 0 without one. */
  readonly fieldPerByte: number;
}

interface Piece {
  readonly bytes: Uint8Array;
  /** Whether the first record begins with it. */
  readonly atStart: boolean;
  /** Whether its end is that of the input. */
  readonly atEnd: boolean;
  /** Whether it is the beginning of a compressed input, of which nothing else is seen. */
  readonly isHead?: boolean;
}

/** @throws InputError if an input cannot be read; AbortError */
export async function sampleRecords(
  inputs: readonly Input[],
  framingSpec: FramingSpec,
  drawSeed: string,
  signal: AbortSignal | undefined,
  field?: NumberField,
): Promise<RecordSample> {
  const framing = framingOf(framingSpec);
  const scan = new PieceScanner(framing, field);
  const files = inputs.filter((input): input is FileInput => input.kind === 'file' && input.version.byteLength > 0);
  const plain = files.filter(({ codec }) => codec === undefined);
  const isWhole =
    files.length === plain.length &&
    inputs.every(({ kind }) => kind !== 'stream') &&
    plain.length <= MOST_WHOLE_INPUTS &&
    sizeOf(plain) <= WHOLE_BYTES;
  for (const input of inputs) {
    if (input.kind === 'list') scan.add({ bytes: input.list.bytes, atStart: true, atEnd: true });
  }
  const draw = seedrandom(drawSeed);
  const pieces = isWhole ? wholes(plain) : [...drawnPieces(plain, framing, draw), ...heads(files, draw)];
  let index = 0;
  for (const piece of pieces) {
    await hearSignalsAt(index++, signal);
    scan.add(piece);
  }
  return scan.sample(isWhole, sizeOf(plain));
}

function sizeOf(files: readonly FileInput[]): number {
  return files.reduce((sum, { version }) => sum + version.byteLength, 0);
}

function* wholes(files: readonly FileInput[]): Generator<Piece, void> {
  for (const { path, version, header } of files) {
    const start = header.byteLength;
    yield { bytes: bytesOf(path, start, version.byteLength - start), atStart: true, atEnd: true };
  }
}

/** From evenly spaced places of all files, one behind the other. Where a record cannot be found there, from the beginning. */
function* drawnPieces(files: readonly FileInput[], framing: Framing, draw: () => number): Generator<Piece, void> {
  const totalBytes = sizeOf(files);
  const first = draw();
  let [start, taken] = [0, 0];
  for (const { path, version, header } of files) {
    const end = start + version.byteLength;
    const at = () => ((taken + first) / PIECES) * totalBytes;
    for (; taken < PIECES && at() < end; taken++) {
      const { byteLength: headerBytes } = header;
      const wanted = Math.max(headerBytes, Math.min(at() - start, version.byteLength - PIECE_BYTES));
      const every = framing.cut.kind === 'every' ? framing.cut.byteLength : undefined;
      const cutStart = every === undefined ? Math.floor(wanted) : wanted - ((wanted - headerBytes) % every);
      const position = framing.cut.kind === 'never' ? headerBytes : Math.floor(cutStart);
      const byteLength = Math.min(PIECE_BYTES, version.byteLength - position);
      const atStart = position === headerBytes || every !== undefined;
      yield { bytes: bytesOf(path, position, byteLength), atStart, atEnd: false };
    }
    start = end;
  }
}

function* heads(files: readonly FileInput[], draw: () => number): Generator<Piece, void> {
  const compressed = files.filter(({ codec }) => codec !== undefined);
  for (let i = 0; i < Math.min(HEADS, compressed.length); i++) {
    const { path, version, header, codec } = compressed[Math.floor(draw() * compressed.length)] ?? {};
    if (path === undefined || version === undefined || codec === undefined) continue;
    const head = bytesOf(path, 0, Math.min(HEAD_BYTES, version.byteLength));
    // A corrupt input is reported by the job.
    const { kept } = codec.decodeHead(head, Number.POSITIVE_INFINITY);
    yield { bytes: kept.subarray(header?.byteLength ?? 0), atStart: true, atEnd: false, isHead: true };
  }
}

function bytesOf(path: string, position: number, byteLength: number): Uint8Array {
  return withFile(openForRead(path, 'input'), (file) => {
    const bytes = new Uint8Array(Math.max(0, byteLength));
    return bytes.subarray(0, readAt(file, bytes, 0, bytes.byteLength, position));
  });
}

class PieceScanner {
  readonly #framing: Framing;
  readonly #field: NumberField | undefined;
  readonly #kernel = new Kernel();
  readonly #pieces: CountedPiece[] = [];
  readonly #records: Uint8Array[] = [];
  #keptBytes = 0;
  #addedBytes = 0;
  #fieldSum = 0n;
  #leastError = 0;
  #hasSeenEnd = false;

  constructor(framing: Framing, field: NumberField | undefined) {
    this.#framing = framing;
    this.#field = field;
  }

  add(piece: Piece): void {
    if (piece.bytes.byteLength === 0) return;
    try {
      this.#scan(piece);
    } catch (error) {
      // What breaks the rules of the framing is reported by the job, with its position.
      if (!(error instanceof BadRecord)) throw error;
    }
  }

  sample(isWhole: boolean, plainBytes: number): RecordSample {
    const bytes = this.#pieces.reduce((sum, piece) => sum + piece.bytes, 0);
    const records = this.#pieces.reduce((sum, piece) => sum + piece.records, 0);
    const hasAll = isWhole && bytes >= plainBytes + this.#addedBytes;
    const { cut } = this.#framing;
    const perByte =
      cut.kind === 'every'
        ? { least: 1 / cut.byteLength, expected: 1 / cut.byteLength, most: 1 / cut.byteLength }
        : recordsPerByte(this.#pieces, this.#leastError);
    return {
      // Nobody knows how long records are whose ends no piece has.
      perByte: isWhole || this.#hasSeenEnd ? perByte : { ...perByte, least: 0 },
      whole: hasAll ? { records, bytes } : undefined,
      records: this.#records,
      fieldPerByte: bytes === 0 ? 0 : Number(this.#fieldSum) / bytes,
    };
  }

  #scan({ bytes, atStart, atEnd, isHead = false }: Piece): void {
    const kernel = this.#kernel;
    const table = ARENA_START;
    const from = ARENA_START + 2 * BOUNDARY_TABLE_BYTES + 16;
    const fieldAt = from + bytes.byteLength + BEHIND_BYTES;
    kernel.ensureArena(fieldAt + 2 * BEHIND_BYTES + (this.#field?.path.byteLength ?? 0) - ARENA_START);
    kernel.write(bytes, from);
    const end = from + bytes.byteLength;
    // The bytes of an earlier piece must not look like a part of this one.
    kernel.bytes.fill(0, end, end + BEHIND_BYTES);
    if (this.#field !== undefined) kernel.bytes.set(this.#field.path, fieldAt);
    const scanner = this.#framing.openScanner(
      kernel,
      { maxRecordBytes: 2 ** 31 - 1 },
      atStart ? 'beginning' : 'sample',
    );
    let [records, firstStart, recordStart, at] = [0, from, from, from];
    let skips = !atStart;
    for (;;) {
      const count = scanner.scan(at, end, recordStart, table, BOUNDARY_COUNT);
      for (let i = 0; i < count; i++) {
        const start = kernel.view.getUint32(table + 8 * i, true);
        const stop = kernel.view.getUint32(table + 8 * i + 4, true);
        recordStart = stop;
        this.#hasSeenEnd = true;
        if (skips) {
          // The first one is the rest of a record.
          skips = false;
          firstStart = stop;
          continue;
        }
        records += 1;
        this.#keep(start, stop);
        if (!isHead || stop - firstStart < PART_BYTES) continue;
        this.#pieces.push({ bytes: stop - firstStart, records });
        [firstStart, records] = [stop, 0];
      }
      if (count > 0 && this.#field !== undefined) this.#addUp(fieldAt, table, count);
      if (count < BOUNDARY_COUNT) break;
      at = recordStart;
    }
    let byteLength = recordStart - firstStart;
    if (atEnd && recordStart < end && scanner.isInTrailer !== true) {
      const missing = scanner.complete(recordStart, end);
      records += 1;
      this.#addedBytes += missing.byteLength;
      byteLength += end - recordStart + missing.byteLength;
    }
    if (isHead) this.#leastError = HEAD_ERROR;
    if (records > 0 || atEnd) this.#pieces.push({ bytes: byteLength, records });
    // A piece of one long record tells of a record that is at least as long.
    else if (firstStart === from || !isHead) this.#pieces.push({ bytes: bytes.byteLength, records: 1 });
  }

  #keep(start: number, end: number): void {
    if (this.#keptBytes + end - start > MOST_KEPT_BYTES) return;
    this.#keptBytes += end - start;
    this.#records.push(this.#kernel.bytes.slice(start, end));
  }

  #addUp(fieldAt: number, table: number, count: number): void {
    this.#fieldSum += sumOfField(this.#kernel, fieldAt, this.#framing.delimiterBytes ?? 0, table, count);
  }
}
