/**
 * Scatters one part of a slice: a range of a plain file, a compressed file or members of it, or a stream.
 *
 * A range owns the records that begin in it: its reader begins before it, as far as the framing must look to see
 * whether a record begins with the range, and the last record may end behind the range. What was read is reported as
 * [first record start, end of last record), so that the coordinator can see that the parts of an input join without a
 * gap or an overlap.
 *
 * Headers are left out: those of files are known, that of a stream is found here and reported.
 */

import { thenAlwaysAsync } from '../../src/cleanup.js';
import { InputError } from '../../src/errors.js';
import type { CompressedSource } from '../../src/formats/codec.js';
import { CODEC_HEAD_BYTES, codecNamed, detectCodec } from '../../src/formats/codec-table.js';
import { type Framing, NOTHING, readerStart } from '../../src/formats/framing.js';
import { type Header, readHeader, requireSameHeader } from '../../src/formats/header.js';
import { framingOf, headerRuleOf } from '../../src/formats/record-format.js';
import { openStreamInput, RegularInput } from '../../src/io/input-source.js';
import type { JobControl } from '../../src/job-control.js';
import { piecesInPhase } from '../../src/phase-clock.js';
import type { ReadShare, ReadState } from '../tasks/job-share.js';
import { compressedRange } from './compressed-range.js';
import type { Coverage, InputPart } from './input-part.js';
import { scatterMembers } from './read-members.js';
import { PartScatterer, type RecordTaker } from './record-reader.js';

/** Read at a time behind a range, to complete its last record. */
const BEHIND_RANGE_BYTES = 64 * 1024;
const ABORT_WATCH_MILLISECONDS = 50;

export interface ScatteredPart {
  readonly coverage: Coverage;
  /** Of a stream. */
  readonly header: Header | undefined;
}

/** @param framing undefined: the header of the part, a stream, says it. */
export async function scatterPart(
  part: InputPart,
  framing: Framing | undefined,
  taker: RecordTaker,
  thread: ReadState,
  job: ReadShare,
): Promise<ScatteredPart> {
  const openScatterer = (ofRecords: Framing) => new PartScatterer(part, ofRecords, taker, thread.arena.kernel, job);
  if (part.kind === 'stream') return scatterStream(part, framing, openScatterer, thread, job);
  if (framing === undefined) throw new RangeError('the framing of files is known before they are scattered');
  const scatterer = openScatterer(framing);
  const input = new RegularInput(part.path, part.version, thread.control, part.gate);
  const scatter = async (): Promise<ScatteredPart> => {
    const coverage = await scatterFile(part, input, framing, scatterer, thread, job);
    input.requireUnchanged();
    return { coverage, header: undefined };
  };
  return thenAlwaysAsync(scatter, () => input.close());
}

function scatterFile(
  part: Exclude<InputPart, { kind: 'stream' }>,
  input: RegularInput,
  framing: Framing,
  scatterer: PartScatterer,
  thread: ReadState,
  job: ReadShare,
): Coverage | Promise<Coverage> {
  switch (part.kind) {
    case 'range':
      return scatterRange(part, input, framing, scatterer, thread.control);
    case 'members':
      return scatterMembers(part, input, framing, scatterer, thread);
    case 'compressed':
      return scatterCompressed(part, input, scatterer, thread, job);
  }
}

function scatterRange(
  part: InputPart & { kind: 'range' },
  input: RegularInput,
  framing: Framing,
  scatterer: PartScatterer,
  control: JobControl,
): Coverage {
  const { end } = part;
  let position = readerStart(framing, part.start, part.headerBytes);
  scatterer.begin(position, position < part.start, part.countBefore);
  while (scatterer.wantsMore(end)) {
    control.throwIfAborted();
    const room = scatterer.makeRoom();
    const wanted = Math.min(room, position < end ? end - position : BEHIND_RANGE_BYTES);
    const count = input.readAt(scatterer.kernel.bytes, scatterer.window.filledEnd, wanted, position);
    const counted = Math.min(position + count, end) - Math.max(position, part.start);
    if (counted > 0) control.count('scatteredBytes', counted);
    position += count;
    if (count === 0) {
      const { byteLength } = part.version;
      if (position < byteLength) throw endsEarly(input, position, byteLength);
      return scatterer.endOfInput();
    }
    scatterer.take(count, end);
  }
  return scatterer.endOfRange(position);
}

function endsEarly(input: RegularInput, position: number, end: number): InputError {
  input.requireUnchanged();
  return new InputError(
    'ERR_INPUT_UNREADABLE',
    `${input.path} ends at byte ${position}, expected ${end} by its size; if it is no ordinary file, give it through a pipe`,
  );
}

async function scatterCompressed(
  part: InputPart & { kind: 'compressed' },
  input: RegularInput,
  scatterer: PartScatterer,
  { control, decoderMemory }: ReadState,
  job: ReadShare,
): Promise<Coverage> {
  const count = (byteLength: number) => control.count('scatteredBytes', byteLength);
  const source = compressedRange(input, 0, Number.POSITIVE_INFINITY, control, count);
  const decoded = codecNamed(part.codec, job.decompressProgram).decode(source, decoderMemory);
  const pieces = piecesInPhase('decompress', decoded);
  scatterer.begin(part.headerBytes, false);
  for await (const piece of behind(part.headerBytes, pieces)) scatterer.takeCopy(piece, control);
  return scatterer.endOfInput();
}

/** The pieces without their first bytes. */
async function* behind(byteLength: number, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let left = byteLength;
  for await (const piece of pieces) {
    const leftOut = Math.min(left, piece.byteLength);
    left -= leftOut;
    yield piece.subarray(leftOut);
  }
}

async function scatterStream(
  part: InputPart & { kind: 'stream' },
  framing: Framing | undefined,
  openScatterer: (framing: Framing) => PartScatterer,
  { control, decoderMemory }: ReadState,
  job: ReadShare,
): Promise<ScatteredPart> {
  const stream = openStreamInput(part.path);
  // A stream may be silent for ever: closed, it wakes the one that waits for it.
  const watch = setInterval(() => {
    if (control.isAborted) stream.close();
  }, ABORT_WATCH_MILLISECONDS);
  const scatter = async (): Promise<ScatteredPart> => {
    const next = async () => {
      control.throwIfAborted();
      try {
        const bytes = await stream.next();
        control.count('scatteredBytes', bytes.byteLength);
        return bytes;
      } finally {
        control.throwIfAborted();
      }
    };
    // A slow pipe may hand over its first bytes one by one.
    let first: Uint8Array = new Uint8Array();
    for (let piece = await next(); piece.byteLength > 0; piece = await next()) {
      first = first.byteLength === 0 ? piece : joined(first, piece);
      if (first.byteLength >= CODEC_HEAD_BYTES) break;
    }
    let held: Uint8Array | undefined = first.byteLength > 0 ? first : undefined;
    const source: CompressedSource = {
      path: stream.path,
      start: 0,
      throwIfAborted: () => control.throwIfAborted(),
      next: () => {
        const bytes = held;
        held = undefined;
        return bytes ?? next();
      },
    };
    const codec = detectCodec(first, job.decompressProgram);
    const pieces =
      codec === undefined
        ? piecesInPhase('read', piecesOf(source))
        : piecesInPhase('decompress', codec.decode(source, decoderMemory));
    const scatterPieces = async (): Promise<ScatteredPart> => {
      const { header, rest } = await takeHeader(pieces, stream.path, part, job);
      const ofRecords = framing ?? (header?.framing && framingOf(header.framing));
      if (ofRecords === undefined) throw new RangeError('nothing says how the records lie');
      const scatterer = openScatterer(ofRecords);
      scatterer.begin(header?.byteLength ?? 0, false);
      scatterer.takeCopy(rest, control);
      for await (const piece of { [Symbol.asyncIterator]: () => pieces }) scatterer.takeCopy(piece, control);
      return { coverage: scatterer.endOfInput(), header };
    };
    return thenAlwaysAsync(scatterPieces, async () => {
      await pieces.return?.();
    });
  };
  return thenAlwaysAsync(scatter, () => {
    clearInterval(watch);
    stream.close();
  });
}

async function* piecesOf(source: CompressedSource): AsyncGenerator<Uint8Array, void> {
  for (let piece = await source.next(); piece.byteLength > 0; piece = await source.next()) yield piece;
}

/** @throws InputError ERR_INPUT_CORRUPT when it is not the one that the other inputs have. */
async function takeHeader(
  pieces: AsyncIterator<Uint8Array>,
  path: string,
  { firstHeader }: InputPart & { kind: 'stream' },
  job: ReadShare,
): Promise<{ header: Header | undefined; rest: Uint8Array }> {
  if (job.header === undefined) return { header: undefined, rest: NOTHING };
  const rule = headerRuleOf(job.header);
  const { header, rest } = await readHeader(pieces, rule, path);
  if (firstHeader !== undefined) requireSameHeader(rule, firstHeader, { path, header });
  return { header, rest };
}

/** In a buffer of their own, unlike what `Buffer.concat` gives. */
function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.byteLength + b.byteLength);
  bytes.set(a);
  bytes.set(b, a.byteLength);
  return bytes;
}
