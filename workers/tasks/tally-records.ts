/** A task that compares sets of records by tallies. Nothing is kept of the records themselves. */
import { framingOf } from '../../src/formats/framing-table.js';
import type { Header } from '../../src/formats/header.js';
import type { Coverage, InputPart } from '../../src/inputs/input-part.js';
import { BOUNDARY_TABLE_BYTES } from '../../src/plan/arena-sizes.js';
import { SLOTS_BYTES } from '../../src/plan/tally.js';
import { type Arena, ArenaLayout } from '../arena.js';
import type { Kernel } from '../kernel/kernel.js';
import { readPart } from '../read/read-part.js';
import { ReadWindow } from '../read/read-window.js';
import type { RecordTaker } from '../read/record-reader.js';
import type { ReadSettings } from '../settings.js';
import { readStateOf } from '../thread-state.js';

export interface ComparisonSettings extends ReadSettings {
  /** The keys of the keyed hash, drawn for this comparison. */
  readonly drawnKeys: readonly [bigint, bigint, bigint, bigint];
}

export interface TallyTask {
  readonly job: ComparisonSettings;
  readonly parts: readonly InputPart[];
}

export interface TalliedRecords {
  readonly records: number;
  readonly bytes: number;
  readonly checksum: bigint;
  /** For each slot, little-endian: records u64, sum of their keyed hashes u64. */
  readonly slots: Uint32Array;
  readonly coverage: readonly Coverage[];
  readonly streamHeader: Header | undefined;
}

export async function tallyRecords({ job, parts }: TallyTask): Promise<TalliedRecords> {
  const thread = readStateOf(job);
  const framing = job.framing === undefined ? undefined : framingOf(job.framing);
  const taker = new RecordTally(thread.arena, job);
  const coverage: Coverage[] = [];
  let streamHeader: Header | undefined;
  for (const part of parts) {
    const read = await readPart(part, framing, taker, thread, job);
    coverage.push(read.coverage);
    streamHeader = read.header;
  }
  return { ...taker.tallied(), coverage, streamHeader };
}

class RecordTally implements RecordTaker {
  readonly window: ReadWindow;
  readonly table: number;
  readonly #slots: number;
  readonly #arena: Arena;
  #records = 0;

  constructor(arena: Arena, { readBytes, maxRecordBytes, drawnKeys }: ComparisonSettings) {
    this.#arena = arena;
    const layout = new ArenaLayout();
    this.#slots = layout.take(SLOTS_BYTES);
    this.table = layout.take(BOUNDARY_TABLE_BYTES);
    this.window = new ReadWindow(arena, layout.take(0, 4096), readBytes, maxRecordBytes);
    this.kernel.bytes.fill(0, this.#slots, this.#slots + SLOTS_BYTES);
    this.kernel.wasm.keyTally(...drawnKeys);
  }

  get kernel(): Kernel {
    return this.#arena.kernel;
  }

  take(count: number): number {
    const { wasm } = this.kernel;
    wasm.tallyRecords(this.table, count, this.#slots);
    this.#records += count;
    return wasm.longestTallied.value >>> 0;
  }

  tallied(): Pick<TalliedRecords, 'records' | 'bytes' | 'checksum' | 'slots'> {
    const { wasm, bytes } = this.kernel;
    return {
      records: this.#records,
      bytes: Number(BigInt.asUintN(64, wasm.talliedBytes.value)),
      checksum: BigInt.asUintN(64, wasm.talliedChecksum.value),
      slots: new Uint32Array(bytes.slice(this.#slots, this.#slots + SLOTS_BYTES).buffer),
    };
  }
}
