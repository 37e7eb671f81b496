/** A stream may be silent for ever, so the abort flag is watched while its bytes are awaited. */
import { thenAlwaysAsync } from '../../src/floor/cleanup.js';
import { framingOf } from '../../src/formats/framing-table.js';
import { readHeader, requireSameHeader } from '../../src/formats/header.js';
import { headerRuleOf } from '../../src/formats/record-format.js';
import { PieceReader } from '../../src/formats/record-source.js';
import { openStreamInput } from '../../src/places/inputs/input-source.js';
import { decodeStream } from '../../src/sources/decoded-pieces.js';
import type { InputPart } from '../../src/sources/input-part.js';
import { beginAt, type ReadContext, type UseOfSource } from './part-source.js';

const ABORT_WATCH_MILLISECONDS = 50;

export async function withStream<T>(
  { path, firstHeader }: InputPart & { kind: 'stream' },
  { read, control, decoderMemory: memory, told, ...context }: ReadContext,
  use: UseOfSource<T>,
): Promise<T> {
  const stream = openStreamInput(path);
  // Closing the stream wakes a reader that waits for it.
  const watch = setInterval(() => {
    if (control.isAborted) stream.close();
  }, ABORT_WATCH_MILLISECONDS);
  const useStream = async () => {
    const pieces = await decodeStream(stream, path, read, {
      memory,
      throwIfAborted: () => control.throwIfAborted(),
      onRead: (byteLength) => control.count('scatteredBytes', byteLength),
      onDecoder: (name) => {
        told.decoder = name;
      },
      onDoubt: (doubt) => {
        told.doubt = doubt;
      },
    });
    const usePieces = async () => {
      const rule = read.header && headerRuleOf(read.header);
      const { header, rest } = rule === undefined ? {} : await readHeader(pieces, rule, stream.path);
      if (rule !== undefined && header !== undefined && firstHeader !== undefined)
        requireSameHeader(rule, firstHeader, { path: stream.path, header });
      const framing = context.framing ?? (header?.framing && framingOf(header.framing));
      if (framing === undefined) throw new RangeError('the framing of the stream is unknown');
      const headerBytes = header?.byteLength ?? 0;
      const reader = new PieceReader(pieces, rest);
      return use({
        framing,
        begin: beginAt(framing, headerBytes, headerBytes),
        end: Number.POSITIVE_INFINITY,
        header,
        read: async (...room) => {
          const count = await reader.read(...room);
          control.count('decodedBytes', count);
          return count;
        },
      });
    };
    return thenAlwaysAsync(usePieces, async () => {
      await pieces.return();
    });
  };
  return thenAlwaysAsync(useStream, () => {
    clearInterval(watch);
    stream.close();
  });
}
