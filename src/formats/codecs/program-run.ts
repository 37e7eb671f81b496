import type { ChildProgram, ProgramEnd } from '../../machine/child-program.js';
import { freeBytes } from '../../machine/free-bytes.js';
import type { CompressedSource } from '../codec.js';

/** For checks whether the job should stop while the program is silent. */
const WATCH_MILLISECONDS = 50;

export interface ProgramRun {
  readonly end: ProgramEnd;
  /**
   * Whether the program read the whole input, as far as this process can tell: a pipe may hold the last few hundred KB.
   * Waits for the source, and throws what it throws.
   */
  hasReadAll(): Promise<boolean>;
}

interface OnPieces {
  readonly onFed?: (bytes: Uint8Array) => void;
  readonly onMade?: (piece: Uint8Array) => void;
}

/**
 * What the program makes of the input; a piece is good until the next one. The caller stops `child`, whatever happens.
 */
export async function* runThrough(
  child: ChildProgram,
  source: CompressedSource,
  { onFed = freeBytes, onMade }: OnPieces = {},
): AsyncGenerator<Uint8Array, ProgramRun, void> {
  let stopped: { readonly reason: unknown } | undefined;
  const throwIfStopped = () => {
    if (stopped !== undefined) throw stopped.reason;
  };
  const stop = async (reason: unknown): Promise<false> => {
    stopped ??= { reason };
    await child.stop();
    return false;
  };
  const feeding = feed(child, source, onFed).catch(stop);
  const watch = setInterval(() => {
    try {
      source.throwIfAborted?.();
    } catch (error) {
      void stop(error);
    }
  }, WATCH_MILLISECONDS);
  try {
    for await (const piece of child.output) {
      onMade?.(piece);
      yield piece;
    }
    const end = await child.ended;
    throwIfStopped();
    const hasReadAll = async () => {
      const readAll = await feeding;
      throwIfStopped();
      return readAll;
    };
    return { end, hasReadAll };
  } catch (error) {
    // The reason for stopping comes first: the end of the output is a consequence.
    throwIfStopped();
    throw error;
  } finally {
    clearInterval(watch);
  }
}

async function feed(
  child: ChildProgram,
  source: CompressedSource,
  onFed: (bytes: Uint8Array) => void,
): Promise<boolean> {
  for (let bytes = await source.next(); bytes.byteLength > 0; bytes = await source.next()) {
    if (!(await child.write(bytes))) return false;
    onFed(bytes);
  }
  child.endInput();
  return true;
}
