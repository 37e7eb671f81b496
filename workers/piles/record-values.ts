/**
 * Puts the selector of a value into the memory of a kernel, which finds the values of fields and columns. Keys of samples and
 * groups of expressions are found here, and the kernel asks for them.
 *
 * An expression sees a record without the delimiter that ends it, as text in UTF-8. If its bytes are no UTF-8, each stands
 * for the character with its number, as in Latin-1; so a value is always some of the bytes of its record.
 */
import { isUtf8 } from 'node:buffer';
import { BadRecord } from '../../src/formats/framing.js';
import { type FramingSpec, framingOf } from '../../src/formats/framing-table.js';
import { encodeFieldPath, type Expression, type Selector } from '../../src/formats/selector.js';
import type { Kernel } from '../kernel/kernel.js';
import type { ValueRule } from '../settings.js';

/** What record-value.ts in the kernel has before what depends on the kind. */
const HEAD_BYTES = 32;
const HASH_AT = 24;
const KINDS = { field: 0, column: 1, key: 2, expression: 2 } as const satisfies Record<Selector['kind'], number>;
/** The room behind a selector for a value that is hashed; longer ones are hashed in pieces. */
const WORK_BYTES = 1024;
/** The lane in which the kernel hashes values, too. */
const LANE = 1;
/** The text of a record takes memory that no plan knows of. */
const MOST_TEXT_BYTES = 2 ** 24;

/** The room that the selector takes in a kernel. */
export function selectorByteLength(selector: Selector): number {
  return HEAD_BYTES + bodyOf(selector, false).byteLength + WORK_BYTES;
}

/** Puts a selector at `address`, where there is room for `selectorByteLength` bytes and 16 more. */
export function placeSelector(kernel: Kernel, address: number, { selector, missing, framing }: ValueRule): void {
  const { bytes, view } = kernel;
  const body = bodyOf(selector, framing?.kind === 'csv');
  const work = address + HEAD_BYTES + body.byteLength;
  bytes.fill(0, address, address + HEAD_BYTES);
  view.setUint32(address, KINDS[selector.kind], true);
  if (missing !== undefined) {
    view.setUint32(address + 4, 1, true);
    view.setBigUint64(address + 8, hashOfString(kernel, work, Buffer.from(missing)), true);
  }
  bytes.set(body, address + HEAD_BYTES);
  const valueOf = finderOf(selector, framing);
  if (valueOf === undefined) return;
  kernel.finders.set(address, (start, end) => {
    const value = valueOf(kernel.bytes, start, end);
    if (value === undefined) return false;
    kernel.view.setBigUint64(address + HASH_AT, hashOfString(kernel, work, value), true);
    return true;
  });
}

function bodyOf(selector: Selector, takesQuotes: boolean): Uint8Array {
  if (selector.kind === 'field') return encodeFieldPath(selector.path);
  if (selector.kind !== 'column') return new Uint8Array();
  const { column, separator } = selector;
  // The header of a stream tells the number that belongs to a name.
  const index = typeof column === 'number' ? column - 1 : 0;
  return new Uint8Array(Uint32Array.of(index, separator, takesQuotes ? 1 : 0).buffer);
}

/** The hash of a quote and the characters of a string behind it, in UTF-8. */
function hashOfString({ wasm, bytes }: Kernel, work: number, characters: Uint8Array): bigint {
  const text = Buffer.concat([Buffer.from('"'), characters]);
  wasm.beginHash(LANE);
  for (let done = 0; done < text.byteLength; done += WORK_BYTES) {
    const piece = text.subarray(done, done + WORK_BYTES);
    bytes.set(piece, work);
    wasm.addToHash(LANE, work, work + piece.byteLength);
  }
  return BigInt.asUintN(64, wasm.hashOfPieces(LANE));
}

/** Finds the bytes of the value of the record [start, end). */
type Finder = (memory: Uint8Array, start: number, end: number) => Uint8Array | undefined;

/** @returns undefined: the kernel finds the values. */
function finderOf(selector: Selector, framing: FramingSpec | undefined): Finder | undefined {
  if (selector.kind === 'expression') {
    const match = matcherOf(selector.expression);
    const ending = endingOf(framing);
    return (memory, start, end) => match(bufferOf(memory, start, endWithout(ending, memory, start, end)), start);
  }
  if (selector.kind !== 'key') return undefined;
  const keys = framing === undefined ? undefined : framingOf(framing).sampleKeys;
  const match = selector.expression === undefined ? undefined : matcherOf(selector.expression);
  return (memory, start, end) => {
    const key = keys?.keyOf(memory.subarray(start, end));
    if (key === undefined) return undefined;
    const bytes = Buffer.from(key, 'latin1');
    return match === undefined ? bytes : match(bytes, start);
  };
}

/** Finds the first group in bytes of the record at `address`. */
function matcherOf({ source, flags }: Expression): (bytes: Buffer, address: number) => Uint8Array | undefined {
  const expression = new RegExp(source, flags);
  return (bytes, address) => {
    if (bytes.byteLength > MOST_TEXT_BYTES)
      throw new BadRecord(
        address,
        `begins a record of ${bytes.byteLength} bytes; expected at most ${MOST_TEXT_BYTES} where an expression looks for a value`,
      );
    let encoding: 'utf8' | 'latin1' = 'utf8';
    let text = bytes.toString(encoding);
    // Bytes that are no UTF-8 become this character; it may also stand there.
    if (text.includes('\ufffd') && !isUtf8(bytes)) {
      encoding = 'latin1';
      text = bytes.toString(encoding);
    }
    const value = expression.exec(text)?.[1];
    return value === undefined ? undefined : Buffer.from(value, encoding);
  };
}

function bufferOf({ buffer, byteOffset }: Uint8Array, start: number, end: number): Buffer {
  return Buffer.from(buffer, byteOffset + start, end - start);
}

/** What ends a record, if its framing has it from the caller or ends lines. */
function endingOf(framing: FramingSpec | undefined): Uint8Array {
  switch (framing?.kind) {
    case 'delimited':
      return Buffer.from(framing.value, 'hex');
    case 'lines':
    case 'csv':
    case 'paragraphs':
      return Buffer.from('\n');
    default:
      return new Uint8Array();
  }
}

function endWithout(ending: Uint8Array, memory: Uint8Array, start: number, end: number): number {
  const textEnd = end - ending.byteLength;
  return textEnd >= start && ending.every((byte, i) => memory[textEnd + i] === byte) ? textEnd : end;
}
