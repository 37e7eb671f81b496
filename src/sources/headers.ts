/**
 * Reads the header of every file, compares the headers, and checks the file sizes against them, before the job writes
 * anything. Where samples have keys, compares the keys of the first samples: most tar files that share keys number
 * their samples from 0. A stream cannot be read twice, so the task that reads it measures its header; only a stream
 * that no task reads is read here.
 */

import { AbortError, InputError } from '../errors.js';
import { thenAlwaysAsync } from '../floor/cleanup.js';
import { yieldAndCheckAbortAt } from '../floor/pause.js';
import type { DecoderMemory } from '../formats/codec.js';
import type { DecompressProgram } from '../formats/codec-table.js';
import { type FramingSpec, framingOf } from '../formats/framing-table.js';
import { problemOfRest } from '../formats/framings/lengths.js';
import {
  type FoundHeader,
  type HeaderAndRest,
  type HeaderRule,
  readHeader,
  requireRecordBytes,
  requireSameHeader,
} from '../formats/header.js';
import { headerRuleOf, type RecordFormat } from '../formats/record-format.js';
import { readBytes, withFileAsync } from '../io/files.js';
import { openInput } from '../places/inputs/input-kinds.js';
import { inputName, openStreamInput } from '../places/inputs/input-source.js';
import { decodedPieces, decodeStream, HEAD_BYTES, storedPieces } from './decoded-pieces.js';
import { type FileInput, type Input, type Inputs, isFileInput, isPlain, isReadOnce } from './input.js';
import { PackedInputs } from './packed-inputs.js';

interface HeaderRequest extends RecordFormat {
  readonly decompressProgram?: DecompressProgram;
  /** True if no task reads streams. Absent: tasks do. */
  readonly readsStreams?: boolean;
  readonly memoryBytes: number;
  readonly signal: AbortSignal | undefined;
  readonly onWarning?: (line: string) => void;
}

interface InputHeaders {
  readonly inputs: Inputs;
  /** The header that all inputs share, from the first one read. It is marked if each of them is. Undefined: no headers, or only streams. */
  readonly first: FoundHeader | undefined;
}

/**
 * @param budgetFor for messages: the memory budget with which a decoder gets this many bytes in pass 1.
 * @throws InputError ERR_INPUT_CORRUPT if an input has no header, or another header than the first input; AbortError
 */
export async function readInputHeaders(
  inputs: Inputs,
  request: HeaderRequest,
  budgetFor: DecoderMemory['budgetFor'],
): Promise<InputHeaders> {
  const { framing, header: spec, memoryBytes, signal, readsStreams = false } = request;
  if (spec === undefined) return { inputs, first: undefined };
  const rule = headerRuleOf(spec);
  // Pass 1 reserves the memory, and this does not. A decoder fills its window from the beginning, so in this thread
  // only the length of the header plus some megabytes of the window become resident.
  const memory: DecoderMemory = { reserve: (byteLength) => byteLength <= memoryBytes, budgetFor };
  const throwIfAborted = () => {
    if (signal?.aborted === true) throw new AbortError(signal.reason);
  };
  const withHeaders = new PackedInputs();
  const sampleKeys = framing === undefined ? undefined : framingOf(framing).sampleKeys;
  const pathOfKey = new Map<string, string>();
  let hasWarned = false;
  let first: FoundHeader | undefined;
  let isEveryMarked = true;
  for (const input of inputs) {
    await yieldAndCheckAbortAt(withHeaders.length, signal);
    const path = inputName(input.path);
    const reading = isFileInput(input)
      ? readHeaderOf(input, rule, memory, throwIfAborted)
      : isReadOnce(input) && readsStreams
        ? readHeaderOfStream(input, rule, memory, throwIfAborted, request)
        : undefined;
    if (reading === undefined) {
      withHeaders.push(input);
      isEveryMarked = false;
      continue;
    }
    const { header, rest } = await reading;
    if (first === undefined) first = { path, header };
    else requireSameHeader(rule, first, { path, header });
    const { byteLength, recordBytes, isMarked } = header;
    isEveryMarked &&= isMarked === true;
    const inputHeader = { byteLength, recordBytes, isMarked };
    if (isFileInput(input)) {
      const { version, codec, finding } = input;
      withHeaders.push({ kind: 'file', path: input.path, version, codec, finding, header: inputHeader });
    } else withHeaders.push(input);
    const key = sampleKeys?.keyOf(rest);
    if (key === undefined) continue;
    const earlier = pathOfKey.get(key);
    if (earlier !== undefined && !hasWarned) request.onWarning?.(warningOfKey(key, earlier, path));
    hasWarned ||= earlier !== undefined;
    pathOfKey.set(key, path);
  }
  if (first?.header.isMarked === true) first = { ...first, header: { ...first.header, isMarked: isEveryMarked } };
  return { inputs: withHeaders, first };
}

function warningOfKey(key: string, one: string, other: string): string {
  const shown = JSON.stringify(Buffer.from(key, 'latin1').toString());
  return `${one} and ${other}: the first samples of both have the key ${shown}; the job is refused if two samples of one key come side by side in the output: pack each tar file with a directory of its own`;
}

/** Checks the size of each plain file if all records have one size. Other inputs are checked when they are read. */
export function requireWholeRecords(inputs: Inputs, framing: FramingSpec | undefined): void {
  const recordBytes = framing && framingOf(framing).recordBytes;
  if (recordBytes === undefined) return;
  for (const input of inputs) {
    if (!isPlain(input)) continue;
    const { path, version, header } = input;
    requireRecordBytes(header, version.byteLength, path);
    const restBytes = (version.byteLength - header.byteLength) % recordBytes;
    if (restBytes === 0) continue;
    const position = version.byteLength - restBytes;
    const problem = problemOfRest(restBytes, recordBytes);
    throw new InputError('ERR_INPUT_CORRUPT', `${path}: byte ${position} ${problem}`);
  }
}

function readHeaderOf(
  { path, codec }: FileInput,
  rule: HeaderRule,
  memory: DecoderMemory,
  throwIfAborted: () => void,
): Promise<HeaderAndRest> {
  return withFileAsync(openInput(path), async (file) => {
    if (codec !== undefined) {
      const decoded = Buffer.from(codec.decodeHead(readBytes(file, 0, HEAD_BYTES), Number.POSITIVE_INFINITY).bytes);
      const header = rule.measure(decoded, false, path);
      if (header !== undefined) return { header, rest: decoded.subarray(header.byteLength) };
    }
    return readHeaderIn(decodedPieces(storedPieces(file, throwIfAborted), codec, memory), rule, path);
  });
}

function readHeaderOfStream(
  { path }: Input & { kind: 'stream' },
  rule: HeaderRule,
  memory: DecoderMemory,
  throwIfAborted: () => void,
  request: HeaderRequest,
): Promise<HeaderAndRest> {
  const { signal } = request;
  const stream = openStreamInput(path);
  // Closing the stream wakes a reader that waits for it.
  signal?.addEventListener('abort', stream.close);
  const read = async () =>
    readHeaderIn(await decodeStream(stream, path, request, { memory, throwIfAborted }), rule, stream.path);
  return thenAlwaysAsync(read, () => {
    signal?.removeEventListener('abort', stream.close);
    stream.close();
  });
}

async function readHeaderIn(
  pieces: AsyncGenerator<Uint8Array, void>,
  rule: HeaderRule,
  path: string,
): Promise<HeaderAndRest> {
  try {
    return await readHeader(pieces, rule, path);
  } finally {
    await pieces.return();
  }
}
