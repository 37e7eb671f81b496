/**
 * Finds where large compressed inputs may be cut: at members that say how long they are. Their headers are read from
 * the first to the last, before any thread is there, so that no gate is needed; but where one member seems to be all of
 * an input, its end is not looked for.
 */

import { thenAlwaysAsync } from '../cleanup.js';
import { type Framing, rangeStart } from '../formats/framing.js';
import { FileWindow } from '../io/file-window.js';
import { closeFile, openForRead } from '../io/files.js';
import { hearSignals } from '../pause.js';
import type { CutPoint } from '../plan/slices.js';
import type { JobInput } from './list-inputs.js';

export interface InputCuts {
  /** Decoded position of the first record. */
  readonly start: number;
  readonly decodedBytes: number;
  readonly cutPoints: readonly CutPoint[];
}

/** After so much of a file signals are heard. */
const TURN_BYTES = 16 * 2 ** 20;
/** So many cut points for each slice that is planned, or somewhat more, so that slices are nearly equal. */
const POINTS_PER_SPLIT = 8;
/** Where an input turns out to be so large that there were more, every other one is left out. */
const MOST_POINTS = 2 ** 16;

/** Whether records of this framing may be looked for from a member of the input on. */
export function mayCutAtMembers(input: JobInput, framing: Framing): boolean {
  return input.kind === 'file' && input.codec?.listMembers !== undefined && rangeStart(framing, 0, 0) !== undefined;
}

/**
 * @param estimatedBytes that it decodes to, about.
 * @returns undefined when its members do not say how long they are, or one seems to be all of it: it is read as one.
 */
export async function findCutPoints(
  input: JobInput,
  framing: Framing,
  estimatedBytes: number,
  sliceBytes: number,
  signal: AbortSignal | undefined,
): Promise<InputCuts | undefined> {
  const listMembers = input.kind === 'file' ? input.codec?.listMembers : undefined;
  if (input.kind !== 'file' || listMembers === undefined) return undefined;
  const { path, version, header } = input;
  const file = openForRead(path, 'input');
  const find = async (): Promise<InputCuts | undefined> => {
    const members = listMembers(new FileWindow(file, version.byteLength));
    const points = new SpacedPoints(sliceBytes / POINTS_PER_SPLIT);
    let turnAt = 0;
    for (;;) {
      const { done, value } = members.next();
      if (done === true)
        return value === undefined
          ? undefined
          : { start: header.byteLength, decodedBytes: value, cutPoints: points.before(value) };
      const { storedStart, decodedStart, decodedBytes } = value;
      // As in what `zstd` makes of a file: to look for its end would read the input once for nothing.
      if (decodedBytes >= estimatedBytes) return undefined;
      const start = rangeStart(framing, decodedStart, header.byteLength);
      // Members at the beginning may be empty, or hold nothing but the header.
      if (start !== undefined && decodedStart > header.byteLength) points.add({ start, storedStart, decodedStart });
      if (storedStart < turnAt) continue;
      turnAt = storedStart + TURN_BYTES;
      await hearSignals(signal);
    }
  };
  return thenAlwaysAsync(find, () => closeFile(file));
}

/** Of points in order as many as are needed: there may be millions. */
export class SpacedPoints {
  #points: CutPoint[] = [];
  #spacing: number;

  constructor(spacing: number) {
    this.#spacing = Math.max(1, spacing);
  }

  add(point: CutPoint): void {
    const last = this.#points.at(-1);
    if (last !== undefined && point.start < last.start + this.#spacing) return;
    this.#points.push(point);
    if (this.#points.length < MOST_POINTS) return;
    this.#points = this.#points.filter((_, i) => i % 2 === 1);
    this.#spacing *= 2;
  }

  /** Those at which something is left. */
  before(decodedEnd: number): readonly CutPoint[] {
    return this.#points.filter(({ start }) => start < decodedEnd);
  }
}
