/**
 * Finds where inputs may be cut into slices: plain inputs where their framing allows it, compressed inputs at members
 * that declare their length. The headers of members are read from first to last, before any thread starts, so this
 * needs no gate. If one member seems to be the whole input, its end is not searched: that would read the whole input in
 * vain.
 */
import { UsageError } from '../errors.js';
import { yieldAndCheckAbort, yieldAndCheckAbortAt } from '../floor/pause.js';
import type { StoredMember } from '../formats/codec.js';
import { type Framing, rangeStart } from '../formats/framing.js';
import { framingOf } from '../formats/framing-table.js';
import { loadRowFormat } from '../formats/rows/registry.js';
import type { RowFacts, RowsSpec } from '../formats/rows/row-format.js';
import { FileWindow } from '../io/file-window.js';
import { isSeekable, withFileAsync } from '../io/files.js';
import { openInput } from '../places/inputs/input-kinds.js';
import { type CutPoint, isWorthCutting, type PlannedInput } from '../plan/slices.js';
import type { ReadSpec } from '../spec.js';
import { isCutBeside } from './companions.js';
import { type FileInput, headerBytesOf, type Input, type Inputs, isPlain, storedBytesIn } from './input.js';

export interface MemberCuts {
  readonly decodedBytes: number;
  readonly cutPoints: readonly CutPoint[];
}

/** The bytes of a file after which the process can receive signals. */
const TURN_BYTES = 16 * 2 ** 20;
/** The cut points for each planned slice that make slices nearly equal. */
const POINTS_PER_SLICE = 8;
/** The most cut points of an input. If it has more, every other one is dropped. */
const MOST_POINTS = 2 ** 16;

export function mayBeCut(input: Input, framing: Framing | undefined): boolean {
  if (input.rows !== undefined) return input.rows.mayBeCut;
  if (framing === undefined) return false;
  return isPlain(input) ? framing.cut !== undefined : mayCutAtMembers(input, framing);
}

/** Returns whether a reader of this framing can start at a member of the input and find the next record. */
function mayCutAtMembers(input: Input, framing: Framing): input is FileInput {
  return input.codec?.listMembers !== undefined && rangeStart(framing, 0, 0) !== undefined;
}

/**
 * Finds for the planner of slices the members of compressed inputs, and the places in files of rows, that seem large
 * enough to be cut.
 */
export async function describeForSlices(
  inputs: Inputs,
  decodedBytes: readonly (number | undefined)[],
  read: Pick<ReadSpec, 'framing' | 'rows'>,
  sliceBytes: number,
  signal: AbortSignal | undefined,
  companions?: Inputs,
): Promise<Iterable<PlannedInput>> {
  const framing = read.framing && framingOf(read.framing);
  const cutInputs = new Map<number, PlannedInput>();
  for (const [ordinal, input] of inputs.entries()) {
    const estimate = decodedBytes[ordinal] ?? 0;
    if (input.rows !== undefined) {
      await yieldAndCheckAbortAt(ordinal, signal);
      cutInputs.set(ordinal, await plannedRows(input, input.rows, read.rows, sliceBytes));
      continue;
    }
    const isCut =
      framing !== undefined &&
      isWorthCutting(estimate, sliceBytes) &&
      mayCutAtMembers(input, framing) &&
      isSeekable(input.version);
    const cuts = isCut ? await findCuts(input, framing, estimate, sliceBytes, signal) : undefined;
    if (cuts !== undefined) cutInputs.set(ordinal, plannedInput(input, framing, estimate, cuts));
  }
  return describeEach();

  function* describeEach(): Generator<PlannedInput, void> {
    for (const [ordinal, input] of inputs.entries()) {
      const planned = cutInputs.get(ordinal) ?? plannedInput(input, framing, decodedBytes[ordinal] ?? 0, undefined);
      const companion = companions?.at(ordinal);
      if (companion === undefined || isCutBeside(companion, input, framing)) yield planned;
      else yield { ...planned, cutBytes: undefined, cutPoints: undefined };
    }
  }
}

/** @param decodedBytes an estimate if the input is compressed and `cuts` is undefined. */
export function plannedInput(
  input: Input,
  framing: Framing | undefined,
  decodedBytes: number,
  cuts: MemberCuts | undefined,
): PlannedInput {
  const byteLength = storedBytesIn(input);
  if (byteLength !== undefined && byteLength > Number.MAX_SAFE_INTEGER)
    throw new UsageError(`${input.path} has more than 2^53 bytes to read; expected a shorter range`);
  const start = isPlain(input) || cuts !== undefined ? headerBytesOf(input) : 0;
  const isCut = isPlain(input) && framing?.cut !== undefined && isSeekable(input.version);
  const cutBytes = isCut ? (framing.recordBytes ?? 1) : undefined;
  return { cutBytes, start, byteLength, decodedBytes, ...cuts };
}

/** Finds where an input may be cut. Undefined: nowhere, as its members declare no length, or one member is all of it. */
export function findCuts(
  input: FileInput,
  framing: Framing,
  estimatedBytes: number,
  sliceBytes: number,
  signal: AbortSignal | undefined,
): Promise<MemberCuts | undefined> {
  const isNoMore = ({ decodedBytes }: StoredMember) => decodedBytes >= estimatedBytes;
  return walkMembers(input, framing, sliceBytes / POINTS_PER_SLICE, signal, isNoMore);
}

/**
 * @param spacingBytes least decoded bytes between two cut points.
 * @param onMember true ends the walk.
 * @returns undefined if `onMember` ended the walk, or a member does not declare its length.
 */
export async function walkMembers(
  { path, version, header, codec }: FileInput,
  framing: Framing,
  spacingBytes: number,
  signal: AbortSignal | undefined,
  onMember: (member: StoredMember) => boolean,
): Promise<MemberCuts | undefined> {
  const listMembers = codec?.listMembers;
  if (listMembers === undefined) return undefined;
  const points = new SpacedPoints(spacingBytes);
  return withFileAsync(openInput(path), async (file): Promise<MemberCuts | undefined> => {
    const members = listMembers(new FileWindow(file, version.byteLength));
    for (let turnAt = 0; ; ) {
      const { done, value } = members.next();
      if (done === true) {
        return value === undefined ? undefined : { decodedBytes: value, cutPoints: points.before(value) };
      }
      if (onMember(value)) return undefined;
      const { storedStart, decodedStart } = value;
      const start = rangeStart(framing, decodedStart, header.byteLength);
      // The first members may be empty, or hold nothing but the header.
      if (start !== undefined && decodedStart > header.byteLength) points.add({ start, storedStart, decodedStart });
      if (storedStart < turnAt) continue;
      turnAt = storedStart + TURN_BYTES;
      await yieldAndCheckAbort(signal);
    }
  });
}

async function plannedRows(
  input: FileInput,
  facts: RowFacts,
  rows: RowsSpec | undefined,
  sliceBytes: number,
): Promise<PlannedInput> {
  const { rows: end, rowBytes, storedBytes } = facts;
  const whole = { cutBytes: undefined, start: 0, byteLength: storedBytes, decodedBytes: rowBytes };
  if (rows === undefined || !facts.mayBeCut || !isWorthCutting(rowBytes, sliceBytes)) return whole;
  const points = new SpacedPoints(sliceBytes / POINTS_PER_SLICE);
  const format = await loadRowFormat(rows);
  await format.cut(input, facts, rows, {
    isWorthCutting: (bytes) => isWorthCutting(bytes, sliceBytes),
    add: (cut) => points.add(cut, cut.decodedStart),
  });
  return { ...whole, end, cutPoints: points.before(end) };
}

/** Selects some of the points, which come in order and may be millions. */
class SpacedPoints {
  #points: CutPoint[] = [];
  #nextPlace = 0;
  #spacing: number;

  constructor(spacing: number) {
    this.#spacing = Math.max(1, spacing);
  }

  /** @param place in bytes. */
  add(point: CutPoint, place = point.start): void {
    if (place < this.#nextPlace) return;
    this.#points.push(point);
    this.#nextPlace = place + this.#spacing;
    if (this.#points.length < MOST_POINTS) return;
    this.#points = this.#points.filter((_, i) => i % 2 === 1);
    this.#spacing *= 2;
  }

  before(decodedEnd: number): readonly CutPoint[] {
    return this.#points.filter(({ start }) => start < decodedEnd);
  }
}
