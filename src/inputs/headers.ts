/**
 * Reads the header of every file, compares the headers, and checks the file sizes against them, before the job writes
 * anything. Where samples have keys, compares those of the first samples, too: most tar files whose keys are the same
 * number their samples from 0. A stream cannot be read twice, so the task that reads it also measures its header.
 */
import { thenAlwaysAsync } from '../cleanup.js';
import { AbortError, InputError } from '../errors.js';
import type { Codec, CompressedSource, DecoderMemory } from '../formats/codec.js';
import { type FramingSpec, framingOf } from '../formats/framing-table.js';
import { problemOfRest } from '../formats/framings/lengths.js';
import {
  type FoundHeader,
  type HeaderRule,
  type ReadHeader,
  readHeader,
  requireRecordBytes,
  requireSameHeader,
} from '../formats/header.js';
import { headerRuleOf, type RecordFormat } from '../formats/record-format.js';
import { closeFile, type OpenFile, openForRead, readAt } from '../io/files.js';
import { hearSignalsAt } from '../pause.js';
import type { FileInput, Input } from './list-inputs.js';
import { repeatedKey, type SamplePlace } from './repeated-keys.js';

/** Most headers end within this many bytes, which are decoded at once. */
const HEAD_BYTES = 4096;
const PIECE_BYTES = 256 * 1024;

export interface HeaderRequest extends RecordFormat {
  readonly memoryBytes: number;
  readonly signal: AbortSignal | undefined;
}

export interface InputHeaders {
  /** The inputs, with the sizes of their headers. */
  readonly inputs: readonly Input[];
  /** The header of the first file, which all inputs share; undefined: no headers, or only streams. */
  readonly first: FoundHeader | undefined;
}

/**
 * @param budgetFor advice for an error message: the memory budget with which a decoder gets this many bytes in pass 1.
 * @throws InputError ERR_INPUT_CORRUPT if an input has no header, or another header than the first input;
 *   ERR_SAMPLE_KEY_REPEATED if the first samples of two inputs have one key; AbortError
 */
export async function readInputHeaders(
  inputs: readonly Input[],
  { framing, header: spec, memoryBytes, signal }: HeaderRequest,
  budgetFor: DecoderMemory['budgetFor'],
): Promise<InputHeaders> {
  if (spec === undefined) return { inputs, first: undefined };
  const rule = headerRuleOf(spec);
  // Pass 1 reserves the memory, and this does not. A decoder fills its window from the beginning, so in this thread
  // only the length of the header plus some megabytes of the window become resident.
  const memory: DecoderMemory = { reserve: (byteLength) => byteLength <= memoryBytes, budgetFor };
  const throwIfAborted = () => {
    if (signal?.aborted === true) throw new AbortError(signal.reason);
  };
  const withHeaders: Input[] = [];
  const sampleKeys = framing === undefined ? undefined : framingOf(framing).sampleKeys;
  const placeOfKey = new Map<string, SamplePlace>();
  let first: FoundHeader | undefined;
  for (const [inputOrdinal, input] of inputs.entries()) {
    await hearSignalsAt(withHeaders.length, signal);
    if (input.kind !== 'file') {
      withHeaders.push(input);
      continue;
    }
    const { path } = input;
    const { header, rest } = await readHeaderOf(input, rule, memory, throwIfAborted);
    if (first === undefined) first = { path, header };
    else requireSameHeader(rule, first, { path, header });
    const { byteLength, recordBytes, isMarked } = header;
    withHeaders.push({ ...input, header: { byteLength, recordBytes, isMarked } });
    const key = sampleKeys?.keyOf(rest);
    if (key === undefined) continue;
    const [place, earlier] = [{ inputOrdinal, path }, placeOfKey.get(key)];
    if (earlier !== undefined) throw repeatedKey(key, [earlier, place], ', the first of both');
    placeOfKey.set(key, place);
  }
  return { inputs: withHeaders, first };
}

/**
 * Checks the size of each plain file if all records have one size. Other inputs are checked when they are read.
 * @throws InputError ERR_INPUT_CORRUPT if a file ends inside a record, or its size contradicts its header.
 */
export function requireWholeRecords(inputs: readonly Input[], framing: FramingSpec | undefined): void {
  const cut = framing === undefined ? undefined : framingOf(framing).cut;
  if (cut?.kind !== 'every') return;
  for (const input of inputs) {
    if (input.kind !== 'file' || input.codec !== undefined) continue;
    const { path, version, header } = input;
    requireRecordBytes(header, version.byteLength, path);
    const restBytes = (version.byteLength - header.byteLength) % cut.byteLength;
    if (restBytes === 0) continue;
    const position = version.byteLength - restBytes;
    const problem = problemOfRest(restBytes, cut.byteLength);
    throw new InputError('ERR_INPUT_CORRUPT', `${path}: byte ${position} ${problem}`);
  }
}

function readHeaderOf(
  { path, codec }: FileInput,
  rule: HeaderRule,
  memory: DecoderMemory,
  throwIfAborted: () => void,
): Promise<ReadHeader> {
  const file = openForRead(path, 'input');
  return thenAlwaysAsync(
    async () => {
      if (codec !== undefined) {
        const decoded = Buffer.from(codec.decodeHead(readPiece(file, 0, HEAD_BYTES), Number.POSITIVE_INFINITY).kept);
        const header = rule.measure(decoded, false, path);
        if (header !== undefined) return { header, rest: decoded.subarray(header.byteLength) };
      }
      const pieces = decodedPieces(file, codec, memory, throwIfAborted);
      try {
        return await readHeader(pieces, rule, path);
      } finally {
        await pieces.return();
      }
    },
    () => closeFile(file),
  );
}

export async function* decodedPieces(
  file: OpenFile,
  codec: Codec | undefined,
  memory: DecoderMemory,
  throwIfAborted: () => void,
): AsyncGenerator<Uint8Array, void> {
  let position = 0;
  const next = (): Uint8Array => {
    const bytes = readPiece(file, position, position === 0 ? HEAD_BYTES : PIECE_BYTES);
    position += bytes.byteLength;
    return bytes;
  };
  if (codec !== undefined) {
    const source: CompressedSource = { path: file.path, start: 0, next, throwIfAborted };
    yield* codec.decode(source, memory);
    return;
  }
  for (let piece = next(); piece.byteLength > 0; piece = next()) yield piece;
}

function readPiece(file: OpenFile, position: number, byteLength: number): Uint8Array {
  const bytes = new Uint8Array(byteLength);
  return bytes.subarray(0, readAt(file, bytes, 0, byteLength, position));
}
