/**
 * A thread keeps one kernel instance for a job and lays out its arena anew for each task: the first touch of a page can cost
 * more than the work on it. `fs` calls read and write `bytes` directly, so data moves between disk and kernel without a copy.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SystemError } from '../../src/errors.js';
import type { FramingFunctions } from '../../src/formats/framing.js';
import { reasonOf } from '../../src/io/io-error.js';
import { shippedFile } from '../../src/io/shipped-file.js';
import { inPhase } from '../../src/phase-clock.js';
import type { PileTally } from '../../src/pile-sets/pile-totals.js';
import type { SegmentHasher } from '../../src/pile-sets/segments.js';

const PAGE_BYTES = 65536;

/** The kernel's own few bytes lie below. */
export const ARENA_START = PAGE_BYTES;

/** The most bytes of one linear memory: 32-bit addresses, without the last page, so that an end address fits. */
export const MAX_ARENA_BYTES = 2 ** 32 - 2 * PAGE_BYTES;

/** Finds values that the kernel cannot find: the imports of assembly/record-value.ts. */
export interface ValueFinder {
  find(start: number, end: number): number;
  compare(a: number, endA: number, b: number, endB: number): number;
}

/** What calls find besides what they return, in global variables of 32 and of 64 bits. */
type Found32 =
  | 'blankBytes'
  | 'endOfKept'
  | 'endOfOtherValue'
  | 'gatheredByteLength'
  | 'hasField'
  | 'keptRecords'
  | 'longestDrawn'
  | 'longestLeftOut'
  | 'longestRecord'
  | 'longestTallied'
  | 'recordWithoutNumber'
  | 'recordsBefore'
  | 'recordsSeen'
  | 'undrawnRecords'
  | 'valueWithoutNumber'
  | 'walkedCount'
  | 'walkedEnd';
type Found64 =
  | 'droppedBytes'
  | 'droppedChecksum'
  | 'droppedRecords'
  | 'leftOutBytes'
  | 'leftOutRecords'
  | 'measuredByteLength'
  | 'numbersChecksum'
  | 'numbersSum'
  | 'orderChecksum'
  | 'partsOfSum'
  | 'talliedBytes'
  | 'talliedChecksum'
  | 'undrawnBytes'
  | 'undrawnParts';

/** The exports of `assembly/index.ts`; addresses are u32 but arrive signed. */
export interface KernelFunctions
  extends FramingFunctions,
    Readonly<Record<Found32, WebAssembly.Global<number>>>,
    Readonly<Record<Found64, WebAssembly.Global<bigint>>> {
  philoxBlock(c0: number, c1: number, c2: number, c3: number, k0: number, k1: number, out: number): void;
  philoxKeys4(
    basePosition: bigint,
    offset0: number,
    offset1: number,
    offset2: number,
    offset3: number,
    copy: number,
    purpose: number,
    inputKey: bigint,
    out: number,
  ): void;
  findPosition(inputKey: bigint, key: bigint, first: bigint, step: number, count: number): bigint;
  prepareNumbers(lowest: bigint, lastOffset: bigint, rangeKey: bigint, ending: number): void;
  sortOffsets(sorted: number, keys: number, counts: number, bits: number): void;
  permuteOffsets(rows: bigint, columns: bigint, tables: number): void;
  drawOffsets(): void;
  writeNumbers(first: bigint, count: number, out: number): number;
  recordHash(start: number, byteLength: number): bigint;
  beginHash(lane: number): void;
  addToHash(lane: number, from: number, to: number): void;
  hashOfPieces(lane: number): bigint;
  countByte(from: number, to: number, byte: number): bigint;
  prepareScatter(
    pileCount: number,
    tallies: number,
    buffers: number,
    bufferBytes: number,
    strideBytes: number,
    keyScale: bigint,
  ): void;
  scatterRecords(table: number, count: number, base: number, basePosition: bigint, inputKey: bigint): void;
  weigh(copies: number, chanceOfOneMore: bigint): void;
  fieldPlace(): number;
  undrawnField(
    delimiterBytes: number,
    table: number,
    count: number,
    base: number,
    basePosition: bigint,
    inputKey: bigint,
  ): bigint;
  dropRecent(table: number): void;
  keyByContent(isOn: boolean): void;
  equalByBytes(): void;
  equalByValue(): void;
  recordWithoutValue(): number;
  dropBlank(table: number, count: number, delimiterBytes: number): number;
  isBlank(start: number, end: number, delimiterBytes: number): number;
  keepAll(): void;
  keepUpTo(most: bigint, histogram: number): void;
  keyByPlace(bytesBefore: number): void;
  keyByOrdinal(first: bigint): void;
  keyOfRecord(mark: number, position: bigint, inputKey: bigint): bigint;
  takeKeptCount(): number;
  sumOfField(table: number, count: number): bigint;
  seekField(path: number, delimiterBytes: number): void;
  isBroken(start: number, end: number): number;
  fieldHash(start: number, end: number): bigint;
  splitByNone(): void;
  splitsPlace(): number;
  splitByValue(boundCount: number, key: bigint): void;
  splitSelector(): number;
  chooseColumn(selector: number, index: number): void;
  seekValues(selector: number): void;
  valueHash(selector: number, start: number, end: number): bigint;
  compareValues(selector: number, a: number, endA: number, b: number, endB: number): number;
  missingRecordOf(selector: number): number;
  missingRecord(): number;
  rescatterStored(from: number, to: number): number;
  prepareOrder(
    counts: number,
    bits: number,
    arrived: number,
    sorted: number,
    capacity: number,
    pile: number,
    pileCount: number,
    parentScale: bigint,
    tiesByBytes: boolean,
  ): void;
  walkStored(from: number, to: number): number;
  orderWalked(): void;
  orderDistinct(): number;
  compactStored(from: number, to: number): number;
  gather(index: number, endIndex: number, out: number, capacity: number, startLimit: bigint): number;
  gatherEvery(
    index: number,
    step: number,
    count: number,
    out: number,
    capacity: number,
    ends: number,
    base: number,
  ): number;
  recordAddress(index: number): number;
  recordByteLength(index: number): number;
  hashInPlace(index: number, endIndex: number): void;
  drawRanks(drawKey: bigint, firstPlace: bigint, count: number, records: bigint, out: number): void;
  measureUpTo(index: number, endIndex: number, startLimit: bigint): number;
  mixKeys(from: number, to: number, pile: number, pileCount: number, epochKey: bigint): number;
  beginKeeping(target: number): void;
  keepRange(from: number, to: number, keyScale: bigint, range: number, rangeCount: number): number;
  keyTally(key0: bigint, key1: bigint, step0: bigint, step1: bigint): void;
  tallyRecords(table: number, count: number, slots: number): void;
  selectRecords(table: number, count: number, wanted: number, out: number): number;
}

let compiled: WebAssembly.Module | undefined;

function compileOnce(): WebAssembly.Module {
  compiled ??= new WebAssembly.Module(readProgram(shippedFile('kernel.wasm', import.meta.url)));
  return compiled;
}

function readProgram(url: URL): Uint8Array<ArrayBuffer> {
  try {
    return readFileSync(url);
  } catch (error) {
    const path = fileURLToPath(url);
    throw new SystemError('ERR_IO', `cannot read ${path}, a part of the program: ${reasonOf(error)}`, { cause: error });
  }
}

/** Every memory declares the same: V8 reserves 10 GiB of addresses for each, however small. */
const MOST_PAGES = 1 + Math.ceil(MAX_ARENA_BYTES / PAGE_BYTES);

function givenMemory<T>(ask: () => T): T {
  try {
    return ask();
  } catch (error) {
    throw new SystemError(
      'ERR_OUT_OF_MEMORY',
      'the system does not give a thread its memory; lower `memoryBytes` or use fewer `workers`; where `ulimit -v` is set, allow 10 GiB of addresses a worker',
      { cause: error },
    );
  }
}

export class Kernel {
  readonly wasm: KernelFunctions;
  /** The whole linear memory, a new object after it grows: never keep it across `ensureArena`. */
  bytes: Uint8Array;
  view: DataView;
  /** Writes the first `byteLength` bytes of a full buffer of `scatterRecords` or `rescatterStored`. */
  flush: (pile: number, byteLength: number) => void = () => {
    throw new Error('a pile buffer was flushed outside of a scatter');
  };
  /** By the address of their selector. */
  readonly finders = new Map<number, ValueFinder>();
  readonly #memory = givenMemory(() => new WebAssembly.Memory({ initial: 1, maximum: MOST_PAGES }));

  constructor() {
    this.bytes = new Uint8Array(this.#memory.buffer);
    this.view = new DataView(this.#memory.buffer);
    const instance = new WebAssembly.Instance(compileOnce(), {
      env: {
        memory: this.#memory,
        abort: () => {
          throw new Error('the kernel aborted');
        },
      },
      host: {
        flush: (pile: number, byteLength: number) => this.flush(pile >>> 0, byteLength >>> 0),
        findValue: (selector: number, start: number, end: number) =>
          this.#finderOf(selector).find(start >>> 0, end >>> 0),
        compareValues: (selector: number, a: number, endA: number, b: number, endB: number) =>
          this.#finderOf(selector).compare(a >>> 0, endA >>> 0, b >>> 0, endB >>> 0),
      },
    });
    this.wasm = instance.exports as unknown as KernelFunctions;
  }

  /** What it has dropped so far, because it keeps one of equal records. The counts only rise. */
  get dropped(): PileTally {
    const { wasm } = this;
    return {
      records: Number(wasm.droppedRecords.value),
      recordBytes: Number(wasm.droppedBytes.value),
      checksum: BigInt.asUintN(64, wasm.droppedChecksum.value),
    };
  }

  #finderOf(selector: number): ValueFinder {
    const finder = this.finders.get(selector >>> 0);
    if (finder === undefined) throw new RangeError(`nobody finds the values of the selector at ${selector >>> 0}`);
    return finder;
  }

  /** Makes the arena [ARENA_START, ARENA_START + byteLength) usable; contents are kept. */
  ensureArena(byteLength: number): void {
    const missingBytes = ARENA_START + byteLength - this.bytes.byteLength;
    if (missingBytes <= 0) return;
    givenMemory(() => this.#memory.grow(Math.ceil(missingBytes / PAGE_BYTES)));
    this.bytes = new Uint8Array(this.#memory.buffer);
    this.view = new DataView(this.#memory.buffer);
  }
}

/** Checksums in pieces that may be under way at the same time need lanes of their own. */
const LANES = { segments: 0, output: 1 } as const;

export class KernelHasher implements SegmentHasher {
  readonly #of: { readonly kernel: Kernel };
  readonly #lane: number;

  constructor(of: { readonly kernel: Kernel }, bytesOf: keyof typeof LANES) {
    this.#of = of;
    this.#lane = LANES[bytesOf];
  }

  hash(bytes: Uint8Array, offset: number, byteLength: number): bigint {
    const address = this.#addressOf(bytes, offset);
    return BigInt.asUintN(
      64,
      inPhase('hash', () => this.#of.kernel.wasm.recordHash(address, byteLength)),
    );
  }

  begin(): void {
    this.#of.kernel.wasm.beginHash(this.#lane);
  }

  add(bytes: Uint8Array, offset: number, byteLength: number): void {
    const address = this.#addressOf(bytes, offset);
    inPhase('hash', () => this.#of.kernel.wasm.addToHash(this.#lane, address, address + byteLength));
  }

  checksum(): bigint {
    return BigInt.asUintN(64, this.#of.kernel.wasm.hashOfPieces(this.#lane));
  }

  #addressOf(bytes: Uint8Array, offset: number): number {
    if (bytes.buffer !== this.#of.kernel.bytes.buffer) throw new RangeError('bytes to hash lie outside of the kernel');
    return bytes.byteOffset + offset;
  }
}
