/**
 * Decodes gzip with the program igzip (https://github.com/intel/isa-l) where it is on PATH, in a third of the time of
 * `node:zlib`. The result is still that of `node:zlib`, and nothing depends on what igzip thinks of a file: it accepts
 * bytes after the last member, for one, and its versions differ. What it decoded must agree with the lengths and
 * checksums in the file (`gzip-check.ts`). Otherwise `node:zlib` decodes the file again from its beginning, without the
 * bytes that were handed over already, and has the last word.
 */
import { crc32 } from 'node:zlib';
import { SystemError } from '../../errors.js';
import { ChildProgram, isProgram } from '../../machine/child-program.js';
import type { CompressedSource, Rereading } from '../codec.js';
import { GzipCheck, type Unconfirmed } from './gzip-check.js';
import { runThrough } from './programs.js';

export const IGZIP = 'igzip';
/** Starting a program for a smaller input takes longer than it saves. */
const LEAST_BYTES = 1024 * 1024;

type Decode = (source: CompressedSource) => AsyncGenerator<Uint8Array, void, void>;

export function suitsIgzip({ byteLength }: Rereading): boolean {
  return byteLength >= LEAST_BYTES && isProgram(IGZIP);
}

/** @param decodeByNode has the last word where igzip fails or the check refuses. */
export async function* decodeByIgzip(
  source: CompressedSource,
  again: Rereading,
  decodeByNode: Decode,
): AsyncGenerator<Uint8Array, void, void> {
  const child = await startIgzip();
  if (child === undefined) {
    yield* decodeByNode(source);
    return;
  }
  source.onDecoder?.(IGZIP);
  const check = new GzipCheck();
  try {
    const { end, hasReadAll } = yield* runThrough(child, scannedAhead(source, check), {
      // The check uses the buffer of the pieces again.
      onFed: () => {},
      onMade: (piece) => check.decoded(piece),
    });
    if (end.exitCode === 0 && (await hasReadAll()) && check.isWhole()) {
      check.free();
      return;
    }
  } finally {
    await child.stop();
  }
  source.throwIfAborted?.();
  yield* behindHandedOver(decodeByNode(again.open()), check.unconfirmed, source.path);
}

/** Undefined: this machine cannot start it now, for example because it runs as many processes as it may. */
async function startIgzip(): Promise<ChildProgram | undefined> {
  try {
    return await ChildProgram.start([IGZIP, '-dc']);
  } catch {
    return undefined;
  }
}

/** Shows `check` each piece and the next one before igzip gets the piece: see `GzipCheck.stored`. */
function scannedAhead(source: CompressedSource, check: GzipCheck): CompressedSource {
  const scanNext = async () => {
    const bytes = await source.next(check.room());
    check.stored(bytes);
    return bytes;
  };
  let ahead: Uint8Array | undefined;
  return {
    ...source,
    next: async () => {
      const bytes = ahead ?? (await scanNext());
      ahead = bytes.byteLength === 0 ? bytes : await scanNext();
      return bytes;
    },
  };
}

/** What `node:zlib` decodes after the bytes that igzip gave. Of these, the unconfirmed ones must be the same. */
async function* behindHandedOver(
  pieces: AsyncGenerator<Uint8Array, void, void>,
  { start, byteLength, crc }: Unconfirmed,
  path: string,
): AsyncGenerator<Uint8Array, void, void> {
  const end = start + byteLength;
  let position = 0;
  let ownCrc = 0;
  for await (const piece of pieces) {
    const from = Math.min(Math.max(0, start - position), piece.byteLength);
    const to = Math.min(Math.max(0, end - position), piece.byteLength);
    ownCrc = crc32(piece.subarray(from, to), ownCrc);
    position += piece.byteLength;
    // Where they differ, `node:zlib` may still find the file damaged, which explains it.
    if (to < piece.byteLength && ownCrc === crc) yield piece.subarray(to);
  }
  if (position >= end && ownCrc === crc) return;
  throw new SystemError(
    'ERR_IO',
    `${path}: igzip and node:zlib decoded it to different bytes; decode it without igzip (\`igzip\`), and check the memory of this machine`,
  );
}
