/**
 * A thread uses one kernel instance for a whole job and lays out its arena anew for each task: the first touch of a page can
 * cost more than the work on it. `fs` calls read and write `bytes` directly: data moves between disk and kernel without a copy.
 */
import { SystemError } from '../../src/errors.js';
import { inPhase } from '../../src/floor/phase-clock.js';
import type { KernelFunctions } from '../../src/formats/framing.js';
import { compiledProgram } from '../../src/io/shipped-files.js';
import type { ValuePurpose } from '../../src/keep/content-rule.js';
import { type MemoryPart, SCRATCH_BYTES } from '../../src/piles/linear-memory.js';
import type { RecordTotals } from '../../src/piles/pile-totals.js';
import type { SegmentHasher } from '../../src/piles/segments.js';

const PAGE_BYTES = 65536;

/** The kernel's own tables lie below. */
export const ARENA_START = PAGE_BYTES;

/** The most bytes of one linear memory: 32-bit addresses, without the last page, so that an end address fits. */
export const MAX_ARENA_BYTES = 2 ** 32 - 2 * PAGE_BYTES;

/** Finds values that the kernel cannot find: the imports of assembly/record-value.ts. */
export interface ValueFinder {
  find(start: number, end: number): number;
  compare(a: number, endA: number, b: number, endB: number): number;
}

/** Every memory declares the same: V8 reserves 10 GiB of addresses for each, however small. */
const MAX_PAGES = 1 + Math.ceil(MAX_ARENA_BYTES / PAGE_BYTES);

function allocateMemory<T>(ask: () => T): T {
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
  readonly arenaStart: number;
  /** The most bytes that the arena may have. */
  readonly mostArenaBytes: number;
  /** The whole linear memory, a new object after it grows: never hold it across `ensureArena`. */
  bytes: Uint8Array;
  view: DataView;
  /**
   * Takes the first `byteLength` bytes of a full buffer of `scatterRecords` or `rescatterStored`. Returns the address of the
   * next buffer of the pile.
   */
  flush: (pile: number, byteLength: number) => number = () => {
    throw new Error('a pile buffer was flushed outside of a scatter');
  };
  /** Makes the entry of characters that have none: the import of assembly/section-keys.ts. */
  openSection: (at: number, end: number, isCoded: boolean) => number = () => {
    throw new Error('a section was opened outside of a scatter');
  };
  /** The finders by the address of their selector. */
  readonly finders = new Map<number, ValueFinder>();
  /** The addresses of the selectors that the rule of the content has. */
  readonly selectors = new Map<ValuePurpose, number>();
  readonly #memory: WebAssembly.Memory;

  /** @param part where the kernel works, in a memory that threads share. Absent: it has a memory of its own, which grows. */
  constructor(part?: MemoryPart) {
    this.#memory = part?.memory ?? allocateMemory(() => new WebAssembly.Memory({ initial: 1, maximum: MAX_PAGES }));
    this.arenaStart = part === undefined ? ARENA_START : part.start + SCRATCH_BYTES;
    this.mostArenaBytes = part === undefined ? MAX_ARENA_BYTES : part.end - this.arenaStart;
    this.bytes = new Uint8Array(this.#memory.buffer);
    this.view = new DataView(this.#memory.buffer);
    const program = part === undefined ? 'assembly.wasm' : 'assembly-shared.wasm';
    const instance = new WebAssembly.Instance(compiledProgram(program, import.meta.url), {
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
        openSection: (at: number, end: number, isCoded: number) => this.openSection(at >>> 0, end >>> 0, isCoded !== 0),
        compareValues: (selector: number, a: number, endA: number, b: number, endB: number) =>
          this.#finderOf(selector).compare(a >>> 0, endA >>> 0, b >>> 0, endB >>> 0),
      },
    });
    this.wasm = instance.exports as unknown as KernelFunctions;
    if (part !== undefined) this.wasm.useScratch(part.start);
  }

  /** The totals of the records dropped so far because an equal one was kept. They only rise. */
  get dropped(): RecordTotals {
    const { wasm } = this;
    return {
      records: Number(wasm.droppedRecords.value),
      bytes: Number(wasm.droppedBytes.value),
      checksum: BigInt.asUintN(64, wasm.droppedChecksum.value),
    };
  }

  #finderOf(selector: number): ValueFinder {
    const finder = this.finders.get(selector >>> 0);
    if (finder === undefined) throw new RangeError(`nobody finds the values of the selector at ${selector >>> 0}`);
    return finder;
  }

  /** Makes the arena [arenaStart, arenaStart + byteLength) usable; its contents stay. It has at most `mostArenaBytes`. */
  ensureArena(byteLength: number): void {
    const missingBytes = this.arenaStart + byteLength - this.bytes.byteLength;
    if (missingBytes <= 0) return;
    allocateMemory(() => this.#memory.grow(Math.ceil(missingBytes / PAGE_BYTES)));
    this.bytes = new Uint8Array(this.#memory.buffer);
    this.view = new DataView(this.#memory.buffer);
  }
}

/** Checksums in pieces that may be under way at the same time need lanes of their own. */
const LANES = { segments: 0, output: 1 } as const;

export class KernelHasher implements SegmentHasher {
  readonly #owner: { readonly kernel: Kernel };
  readonly #lane: number;

  /** @param owner has the kernel, which it may create later. */
  constructor(owner: { readonly kernel: Kernel }, lane: keyof typeof LANES) {
    this.#owner = owner;
    this.#lane = LANES[lane];
  }

  hash(bytes: Uint8Array, offset: number, byteLength: number): bigint {
    const address = this.#addressOf(bytes, offset);
    return BigInt.asUintN(
      64,
      inPhase('hash', () => this.#owner.kernel.wasm.recordHash(address, byteLength)),
    );
  }

  begin(): void {
    this.#owner.kernel.wasm.beginHash(this.#lane);
  }

  add(bytes: Uint8Array, offset: number, byteLength: number): void {
    const address = this.#addressOf(bytes, offset);
    inPhase('hash', () => this.#owner.kernel.wasm.addToHash(this.#lane, address, address + byteLength));
  }

  checksum(): bigint {
    return BigInt.asUintN(64, this.#owner.kernel.wasm.hashOfPieces(this.#lane));
  }

  #addressOf(bytes: Uint8Array, offset: number): number {
    if (bytes.buffer !== this.#owner.kernel.bytes.buffer)
      throw new RangeError('bytes to hash lie outside of the kernel');
    return bytes.byteOffset + offset;
  }
}
