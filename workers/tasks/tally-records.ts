/** Reads parts of inputs and returns the tally of their records, which `src/stages/compare-sets.ts` compares. No record stays. */
import type { Header } from '../../src/formats/header.js';
import { SLOTS_BYTES } from '../../src/plan/slot-tally.js';
import type { Coverage, InputPart } from '../../src/sources/input-part.js';
import type { Arena } from '../arena.js';
import { ReadArena, readParts } from '../read/read-part.js';
import type { ReadSettings } from '../settings.js';
import { readStateOf } from '../thread-state.js';

export interface SetSettings extends ReadSettings {
  /** The keys of the keyed hash, drawn for this comparison. */
  readonly drawnKeys: readonly [bigint, bigint, bigint, bigint];
}

export interface TallyTask {
  readonly job: SetSettings;
  readonly parts: readonly InputPart[];
}

export interface TalliedRecords {
  readonly records: number;
  readonly bytes: number;
  readonly checksum: bigint;
  /** The sums of each slot, little-endian: records u64, sum of their keyed hashes u64. */
  readonly slots: Uint32Array;
  readonly coverage: readonly Coverage[];
  readonly streamHeader: Header | undefined;
}

export async function tallyRecords({ job, parts }: TallyTask): Promise<TalliedRecords> {
  const thread = readStateOf(job);
  const taker = new RecordTally(thread.arena, job);
  const reports = await readParts(parts, taker, thread, job);
  const coverage = reports.map((report) => report.coverage);
  return { ...taker.tallied(), coverage, streamHeader: reports.at(-1)?.header };
}

class RecordTally extends ReadArena {
  #records = 0;

  constructor(arena: Arena, job: SetSettings) {
    super(arena, job, SLOTS_BYTES);
    this.kernel.bytes.fill(0, this.own, this.own + SLOTS_BYTES);
    this.kernel.wasm.resetTally(...job.drawnKeys);
  }

  take(count: number): number {
    const { wasm } = this.kernel;
    wasm.tallyRecords(this.table, count, this.own);
    this.#records += count;
    return wasm.longestTallied.value >>> 0;
  }

  tallied(): Pick<TalliedRecords, 'records' | 'bytes' | 'checksum' | 'slots'> {
    const { wasm, bytes } = this.kernel;
    return {
      records: this.#records,
      bytes: Number(BigInt.asUintN(64, wasm.talliedBytes.value)),
      checksum: BigInt.asUintN(64, wasm.talliedChecksum.value),
      slots: new Uint32Array(bytes.slice(this.own, this.own + SLOTS_BYTES).buffer),
    };
  }
}
