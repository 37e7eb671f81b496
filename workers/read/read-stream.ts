/** A stream may be silent for ever, so the reader watches the abort flag while it waits. */

import { thenAlwaysAsync } from '../../src/cleanup.js';
import type { CompressedSource } from '../../src/formats/codec.js';
import { detectCodecOfStream } from '../../src/formats/codec-table.js';
import { type Doubt, lookedAt } from '../../src/formats/first-look.js';
import { type Framing, NOTHING } from '../../src/formats/framing.js';
import { framingOf } from '../../src/formats/framing-table.js';
import { type Header, readHeader, requireSameHeader } from '../../src/formats/header.js';
import { headerRuleOf, isHeldToText } from '../../src/formats/record-format.js';
import { openStreamInput } from '../../src/io/input-source.js';
import { piecesInPhase } from '../../src/phase-clock.js';
import type { InputPart } from '../../src/sources/input-part.js';
import type { ReadSettings } from '../settings.js';
import type { ReadState } from '../thread-state.js';
import type { PartReport, RecordReader } from './record-reader.js';

const ABORT_WATCH_MILLISECONDS = 50;

export async function readStream(
  part: InputPart & { kind: 'stream' },
  framing: Framing | undefined,
  openReader: (framing: Framing) => RecordReader,
  { control, decoderMemory }: ReadState,
  job: ReadSettings,
): Promise<PartReport> {
  const stream = openStreamInput(part.path);
  // Closing the stream wakes a reader that waits for it.
  const watch = setInterval(() => {
    if (control.isAborted) stream.close();
  }, ABORT_WATCH_MILLISECONDS);
  const read = async (): Promise<PartReport> => {
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
    const { codec, next: nextOfAll } = await detectCodecOfStream(next, job.read.decompressProgram);
    let decoder: string | undefined;
    const source: CompressedSource = {
      path: stream.path,
      start: 0,
      throwIfAborted: () => control.throwIfAborted(),
      onDecoder: (name) => {
        decoder = name;
      },
      next: nextOfAll,
    };
    const decoded =
      codec === undefined
        ? piecesInPhase('read', piecesOf(source))
        : piecesInPhase('decompress', codec.decode(source, decoderMemory));
    let doubt: Doubt | undefined;
    const onDoubt = (found: Doubt) => {
      doubt = found;
    };
    const pieces = isHeldToText(job.read) ? lookedAt(decoded, part.path, job.read, onDoubt) : decoded;
    const readPieces = async (): Promise<PartReport> => {
      const { header, rest } = await takeHeader(pieces, stream.path, part, job);
      const ofRecords = framing ?? (header?.framing && framingOf(header.framing));
      if (ofRecords === undefined) throw new RangeError('the framing of the stream is unknown');
      const reader = openReader(ofRecords);
      if (header !== undefined) reader.knowHeader({ path: stream.path, header });
      reader.begin(header?.byteLength ?? 0, false);
      const take = (bytes: Uint8Array) => {
        control.count('decodedBytes', bytes.byteLength);
        reader.takeCopy(bytes, control);
      };
      take(rest);
      for await (const piece of { [Symbol.asyncIterator]: () => pieces }) take(piece);
      return { coverage: reader.endOfInput(), header, decoder, doubt };
    };
    return thenAlwaysAsync(readPieces, async () => {
      await pieces.return?.();
    });
  };
  return thenAlwaysAsync(read, () => {
    clearInterval(watch);
    stream.close();
  });
}

async function* piecesOf(source: CompressedSource): AsyncGenerator<Uint8Array, void> {
  for (let piece = await source.next(); piece.byteLength > 0; piece = await source.next()) yield piece;
}

async function takeHeader(
  pieces: AsyncIterator<Uint8Array>,
  path: string,
  { firstHeader }: InputPart & { kind: 'stream' },
  job: ReadSettings,
): Promise<{ header: Header | undefined; rest: Uint8Array }> {
  if (job.read.header === undefined) return { header: undefined, rest: NOTHING };
  const rule = headerRuleOf(job.read.header);
  const { header, rest } = await readHeader(pieces, rule, path);
  if (firstHeader !== undefined) requireSameHeader(rule, firstHeader, { path, header });
  return { header, rest };
}
