/**
 * Puts the selector of a value into the memory of a kernel, which finds the values of fields and columns. For keys of
 * samples, groups of expressions, and columns of rows the kernel asks the host, which finds and compares them here.
 *
 * An expression sees a record without the delimiter that ends it, as text in UTF-8. If its bytes are not UTF-8, each stands
 * for the character with its number, as in Latin-1; so a value is always some of the bytes of its record.
 */
import { isUtf8 } from 'node:buffer';
import { counted } from '../../src/errors.js';
import { BadRecord, type Framing, lineEndOf, NO_BYTES } from '../../src/formats/framing.js';
import { framingOf } from '../../src/formats/framing-table.js';
import { finderOfRows } from '../../src/formats/rows/registry.js';
import { type Expression, encodeFieldPath, type Selector, type ValueRule } from '../../src/formats/selector.js';
import type { ContentRule } from '../../src/keep/content-rule.js';
import { MOST_SPLITS_BYTES, MOST_WEIGHT_SELECTOR_BYTES } from '../../src/plan/arena-sizes.js';
import type { Kernel, ValueFinder } from '../kernel/kernel.js';

/** Bytes of a selector before the part that depends on the kind: record-value.ts in the kernel has the layout. */
const HEAD_BYTES = 28;
const KINDS = { field: 0, column: 1, key: 2, expression: 2, row: 2 } as const satisfies Record<
  Selector['kind'],
  number
>;
/** The room for a value that is found here; longer ones are hashed in pieces. */
const ROOM_BYTES = 1024;
const IN_PIECES = 2 ** 32 - 1;
/** The lane in which the kernel hashes values, too. */
const LANE = 1;
/** The text of a record takes memory that no plan knows of. */
const MOST_TEXT_BYTES = 2 ** 24;
const QUOTE = 0x22;
/** The most bytes in UTF-8 of one unit of a string. */
const MOST_UNIT_BYTES = 3;

export function selectorByteLength({ selector, missing }: Pick<ValueRule, 'selector' | 'missing'>): number {
  return HEAD_BYTES + bodyByteLength(bodyOf(selector, false)) + missingValue(missing).byteLength;
}

/** Needs `selectorByteLength` bytes at `address` and 16 more. */
export function placeSelector(kernel: Kernel, address: number, { selector, missing, ...rule }: ValueRule): void {
  const framing = rule.framing && framingOf(rule.framing);
  const { wasm, bytes, view } = kernel;
  const room = address + HEAD_BYTES;
  bytes.fill(0, address, room);
  view.setUint16(address, KINDS[selector.kind], true);
  view.setUint16(address + 2, framing?.delimiter?.byteLength ?? 0, true);
  const body = bodyOf(selector, framing?.hasQuotedFields === true);
  bytes.set(body, room);
  const missingAt = room + bodyByteLength(body);
  const value = missingValue(missing);
  bytes.set(value, missingAt);
  view.setUint32(address + 20, missingAt, true);
  view.setUint32(address + 24, missingAt + value.byteLength, true);
  if (missing !== undefined) {
    view.setUint32(address + 4, 1, true);
    view.setBigUint64(address + 8, BigInt.asUintN(64, wasm.recordHash(missingAt, value.byteLength)), true);
  }
  const find = finderOf(selector, framing);
  if (find !== undefined) kernel.finders.set(address, finderIn(kernel, room, find, missing));
}

function finderIn(kernel: Kernel, room: number, find: Finder, missing = ''): ValueFinder {
  let known = bufferOf(kernel.bytes);
  const memory = () => {
    if (known.buffer !== kernel.bytes.buffer) known = bufferOf(kernel.bytes);
    return known;
  };
  const found = (start: number, end: number): Value =>
    find(memory(), start, end) ?? { text: missing, encoding: 'utf8' };
  return {
    find: (start, end) => {
      const value = find(memory(), start, end);
      return value === undefined ? 0 : putString(kernel, memory(), room, value);
    },
    compare: (a, endA, b, endB) => compareFound(found(a, endA), found(b, endB)),
  };
}

/** A prefix comes first. */
function compareFound(a: Value, b: Value): number {
  if (a.encoding === b.encoding && a.text === b.text && a.isNumber === b.isNumber) return 0;
  return Buffer.compare(Buffer.from(quoted(a), a.encoding), Buffer.from(quoted(b), b.encoding));
}

/** A number and the same characters as a string are two values, as in JSON. */
function quoted({ text, isNumber }: Value): string {
  return isNumber === true ? text : `"${text}`;
}

/** The value that records without one count as: a quote and its characters. If such records are refused, no characters. */
function missingValue(missing = ''): Buffer {
  return Buffer.from(`"${missing}`);
}

/** Returns the length of a body with room for a value. */
function bodyByteLength(body: Uint8Array): number {
  return Math.max(body.byteLength, ROOM_BYTES);
}

function bodyOf(selector: Selector, takesQuotes: boolean): Uint8Array {
  if (selector.kind === 'field') return encodeFieldPath(selector.path);
  if (selector.kind !== 'column') return new Uint8Array();
  const { column, separator } = selector;
  // The header of a stream tells the number that belongs to a name.
  const index = typeof column === 'number' ? column - 1 : 0;
  return new Uint8Array(Uint32Array.of(index, separator, takesQuotes ? 1 : 0).buffer);
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Puts a quote and the string into the room, or hashes both in pieces. @returns as `findValue` of the kernel. */
function putString({ wasm }: Kernel, memory: Buffer, room: number, { text, encoding, isNumber }: Value): number {
  // Without a length, Node writes nothing to a memory of 2 GiB or more.
  if (isNumber === true) return memory.write(text, room, ROOM_BYTES, encoding);
  memory[room] = QUOTE;
  if (text.length < ROOM_BYTES / MOST_UNIT_BYTES) return 1 + memory.write(text, room + 1, ROOM_BYTES - 1, encoding);
  wasm.beginHash(LANE);
  wasm.addToHash(LANE, room, room + 1);
  const characters = Buffer.from(text, encoding);
  for (let done = 0; done < characters.byteLength; done += ROOM_BYTES) {
    const count = characters.copy(memory, room, done, done + ROOM_BYTES);
    wasm.addToHash(LANE, room, room + count);
  }
  return IN_PIECES;
}

type Encoding = 'utf8' | 'latin1';

interface Value {
  readonly text: string;
  readonly encoding: Encoding;
  /** A whole number in decimal, which needs no quote. Absent: a string. */
  readonly isNumber?: boolean;
}

type Finder = (memory: Buffer, start: number, end: number) => Value | undefined;

/** Returns a finder of values. Undefined: the kernel finds the values. */
function finderOf(selector: Selector, framing: Framing | undefined): Finder | undefined {
  if (selector.kind === 'expression') {
    const match = matcherOf(selector.expression);
    // The caller gave what ends a record, or it ends lines.
    const ending = (framing && lineEndOf(framing)) ?? NO_BYTES;
    return (memory, start, end) => match(memory, start, endWithout(ending, memory, start, end), start);
  }
  if (selector.kind === 'row') return finderOfRows(selector.value);
  if (selector.kind !== 'key') return undefined;
  const match = selector.expression === undefined ? undefined : matcherOf(selector.expression);
  return (memory, start, end) => {
    const text = framing?.sampleKeys?.keyOf(memory.subarray(start, end));
    if (text === undefined || match === undefined) return text === undefined ? undefined : { text, encoding: 'latin1' };
    const key = Buffer.from(text, 'latin1');
    return match(key, 0, key.byteLength, start);
  };
}

/** @param address of the record, for messages. */
type Matcher = (bytes: Buffer, from: number, to: number, address: number) => Value | undefined;

function matcherOf({ source, flags }: Expression): Matcher {
  const expression = new RegExp(source, flags);
  return (bytes, from, to, address) => {
    if (to - from > MOST_TEXT_BYTES)
      throw new BadRecord(
        address,
        `begins a record of ${counted(to - from, 'byte')}; expected at most ${MOST_TEXT_BYTES} where an expression looks for a value`,
      );
    let encoding: Encoding = 'utf8';
    let whole = bytes.toString(encoding, from, to);
    // Bytes that are not UTF-8 become this character; it may also stand there.
    if (whole.includes('\ufffd') && !isUtf8(bytes.subarray(from, to))) {
      encoding = 'latin1';
      whole = bytes.toString(encoding, from, to);
    }
    const text = expression.exec(whole)?.[1];
    return text === undefined ? undefined : { text, encoding };
  };
}

function endWithout(ending: Uint8Array, memory: Uint8Array, start: number, end: number): number {
  const textEnd = end - ending.byteLength;
  return textEnd >= start && ending.every((byte, i) => memory[textEnd + i] === byte) ? textEnd : end;
}

/** Tells a kernel before a task where keys come from. `RecordReader` tells it weights and ordinals. */
export function prepareKeys(kernel: Kernel, content: ContentRule | undefined, byContent: boolean): void {
  const { wasm, bytes } = kernel;
  wasm.keepAll();
  wasm.weighByNone();
  wasm.setCopies(1, 0n);
  wasm.keyByContent(byContent);
  prepareStoredValues(kernel, content);
  wasm.splitByNone();
  wasm.sectionByNone();
  if (content?.limit !== undefined) {
    const { most, isCap } = content.limit;
    wasm.weighByValue(most.copies, most.chance, isCap);
  }
  if (content?.splits === undefined) return;
  const { bounds, key } = content.splits;
  bytes.set(new Uint8Array(bounds.buffer, bounds.byteOffset, bounds.byteLength), wasm.splitsAddress() >>> 0);
  if (key === undefined) {
    wasm.splitByFirstCopy(bounds.length);
    return;
  }
  wasm.splitByValue(bounds.length, kernel.selectors.get('split') ?? 0, key);
}

/** Places the selectors, and prepares equality and sums. Without a value, records with the same bytes are equal. */
export function prepareStoredValues(kernel: Kernel, content: ContentRule | undefined): void {
  placeSelectors(kernel, content);
  kernel.wasm.compareByValue(kernel.selectors.get('equal') ?? kernel.selectors.get('bundle') ?? 0);
  kernel.wasm.sumByValue(kernel.selectors.get('sum') ?? 0);
}

/** Places the selectors of a rule: that of weights alone, the others one after the other behind the bounds of splits. */
function placeSelectors(kernel: Kernel, content: ContentRule | undefined): void {
  const { wasm, selectors } = kernel;
  const splitsAt = wasm.splitsAddress() >>> 0;
  let next = splitsAt + (content?.splits?.bounds.byteLength ?? 0);
  selectors.clear();
  for (const { purpose, rule } of content?.values ?? []) {
    const byteLength = selectorByteLength(rule);
    const weightAt = wasm.weightSelectorAddress() >>> 0;
    const [at, end] =
      purpose === 'weight' ? [weightAt, weightAt + MOST_WEIGHT_SELECTOR_BYTES] : [next, splitsAt + MOST_SPLITS_BYTES];
    if (at + byteLength > end) throw new RangeError(`the selector of a value has ${byteLength} bytes`);
    placeSelector(kernel, at, rule);
    selectors.set(purpose, at);
    if (purpose !== 'weight') next += byteLength;
  }
}
