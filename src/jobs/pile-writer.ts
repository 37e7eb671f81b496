/**
 * Writes the records that a program makes straight into the piles of a store: what pass 1 would do with them, without
 * the files between.
 */
import { Writable } from 'node:stream';
import { Arena } from '../../workers/arena.js';
import { KernelHasher } from '../../workers/kernel/kernel-hasher.js';
import { RecordScatterer } from '../../workers/piles/record-scatterer.js';
import { ScatterArena } from '../../workers/piles/scatter-arena.js';
import { afterFailure, thenAlways } from '../cleanup.js';
import { UsageError } from '../errors.js';
import type { SliceReport } from '../inputs/input-part.js';
import { JobControl, UNGATED } from '../job-control.js';
import { pileSetName } from '../job-directory/pile-set-commits.js';
import { deriveInputKey } from '../keys.js';
import { DeviceGates } from '../machine/device-gates.js';
import { MOST_PILES } from '../pile-sets/pile-layout.js';
import { type PileSet, PileSetWriter } from '../pile-sets/pile-set-writer.js';
import { checksumTextOf, sumTotals } from '../pile-sets/pile-totals.js';
import { DEFAULT_STORE_PILES, pilesForBytes, planWriterMemory, type WriterMemory } from '../plan/store-sizes.js';
import { commitToStore, type NewCommit, requireIdsFree } from '../store/commit-to-store.js';
import { openOrCreateStore } from '../store/create-store.js';
import { generationOfToday, requireGeneration } from '../store/generations.js';
import { StoreAttempt } from '../store/store-attempt.js';
import { pileSetDirectoryOf } from '../store/store-files.js';
import { layoutOf, type StoreSnapshot } from '../store/store-snapshot.js';

export interface PileWriterOptions {
  /**
   * What is written is called in the store, where no other input may have this name: the keys of the records are
   * derived from it, so their order depends neither on when nor on where they are written.
   */
  readonly inputId: string;
  /** Of a new store, and what another one has to have. */
  readonly piles?: number | undefined;
  /** Bytes of all records that the store will hold; decides the number of piles of a new one. */
  readonly expectedBytes?: number | undefined;
  /** Of a new store, and what another one has to have. Default: one is drawn. */
  readonly seed?: string | undefined;
  /** Default: the date, in UTC. */
  readonly generation?: string | undefined;
  /** Take the place of what the store has of this input. Default: it is refused. */
  readonly replace?: boolean | undefined;
  /** For pile buffers. Default: 64 MiB, or 32 KiB a pile; a record that is longer than what there is takes more. */
  readonly memoryBytes?: number | undefined;
}

/** What became part of the store. */
export interface PileCommit {
  readonly records: number;
  readonly bytes: number;
  /** Multiset checksum of the records, as in a ShuffleReport. */
  readonly checksum: string;
  readonly generation: string;
  /** Number of the store's state that has it first. */
  readonly state: number;
}

const MAX_RECORD_BYTES = 2 ** 30;

/**
 * Begins to write one input of a store, which is made when there is none.
 * @throws PileshufError UsageError: ERR_INPUT_ID_TAKEN, ERR_STORE_DIFFERS, ERR_STORE, ERR_MEMORY_BUDGET, ERR_OPTION;
 *   SystemError, VerificationError
 */
export async function openPileWriter(storeDirectory: string, options: PileWriterOptions): Promise<PileWriter> {
  const { inputId, expectedBytes, seed, generation = generationOfToday(), replace = false, memoryBytes } = options;
  requireGeneration(generation);
  const pileCount = optionalWhole('piles', options.piles, MOST_PILES);
  const expected = optionalWhole('expectedBytes', expectedBytes);
  const otherwise = { pileCount: expected === undefined ? DEFAULT_STORE_PILES : pilesForBytes(expected) };
  const budgetBytes = optionalWhole('memoryBytes', memoryBytes);
  const { snapshot, plan: memory } = await openOrCreateStore(
    storeDirectory,
    { seed, pileCount },
    otherwise,
    (store) => {
      requireIdsFree(store.snapshot, [inputId], replace);
      return planWriterMemory(store.pileCount, budgetBytes);
    },
  );
  const control = JobControl.create([], memoryBytes === undefined ? 2 * MAX_RECORD_BYTES : 0);
  return new PileWriter({ snapshot, inputId, generation, replace, memory, control });
}

function optionalWhole(name: string, value: number | undefined, most = Number.MAX_SAFE_INTEGER): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 1 && value <= most)) return value;
  throw new UsageError(`${name} ${value}: expected a whole number from 1 to ${most}`);
}

interface WriterParts {
  readonly snapshot: StoreSnapshot;
  readonly inputId: string;
  readonly generation: string;
  readonly replace: boolean;
  readonly memory: WriterMemory;
  readonly control: JobControl;
}

/** What a writer works with until it ends. */
interface OpenPileSet {
  readonly writer: PileSetWriter;
  readonly scatterArena: ScatterArena;
  readonly scatterer: RecordScatterer;
}

/** Is used by one thread, and holds the memory of its buffers until it ends: with `commit`, `abort`, or a failure. */
export class PileWriter {
  readonly #parts: WriterParts;
  readonly #attempt: StoreAttempt;
  /** Undefined: the writer has ended. */
  #open: OpenPileSet | undefined;

  /** For `openPileWriter`. */
  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#attempt = StoreAttempt.begin(parts.snapshot);
    try {
      this.#open = openPileSet(parts, this.#attempt.name);
    } catch (error) {
      throw afterFailure(error, () => this.#attempt.abandon());
    }
  }

  /**
   * Takes over one record: its bytes, or its text in UTF-8, which are kept as they are. So a line brings its newline.
   * Returns when the record was copied and, now and then, when full buffers were written: so nobody is faster than the
   * disk for long. When it throws, the writer has ended and left nothing.
   */
  write(record: Uint8Array | string): void {
    const open = this.#requireOpen();
    try {
      open.scatterer.add(record);
    } catch (error) {
      throw afterFailure(error, () => this.abort());
    }
  }

  /**
   * The same as a stream, of which every piece is a record: text or bytes. It commits when it ends, and aborts when it
   * is destroyed before; once it has ended the commit goes on, whatever becomes of the stream.
   */
  asWritable(): Writable {
    return new Writable({
      objectMode: true,
      write: (record: Uint8Array | string, _encoding, done) => done(failureOf(() => this.write(record))),
      final: (done) => {
        this.commit().then(() => done(), done);
      },
      destroy: (error, done) => done(failureOf(() => this.abort()) ?? error),
    });
  }

  /**
   * All that was written becomes part of the store, at once and for good. When it throws, the writer has ended and left
   * nothing, unless the error says otherwise.
   */
  async commit(): Promise<PileCommit> {
    const { snapshot, inputId, generation, replace, control } = this.#parts;
    const open = this.#requireOpen();
    this.#open = undefined;
    try {
      const { totals, pileSet } = completePileSet(open);
      const { name, diskBytes } = pileSet;
      const commit = {
        ...{ name: this.#attempt.name, generation, inputIds: [inputId], format: null },
        ...totals,
        pileSets: [{ name, diskBytes }],
      };
      const manifest = await commitToStore(snapshot, commit, { replace, control });
      endIfPossible(this.#attempt);
      const { records, bytes, checksum } = totals;
      return { records, bytes, checksum, generation, state: manifest.number };
    } catch (error) {
      throw afterFailure(error, () => this.#abandon(open));
    }
  }

  /** Forgets all that was written; once more, or after `commit`, it does nothing. */
  abort(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined) this.#abandon(open);
  }

  #abandon({ writer }: OpenPileSet): void {
    thenAlways(
      () => writer.close(),
      () => this.#attempt.abandon(),
    );
  }

  #requireOpen(): OpenPileSet {
    if (this.#open !== undefined) return this.#open;
    throw new UsageError(`the writer of the input ${JSON.stringify(this.#parts.inputId)} has ended; open another one`);
  }
}

function endIfPossible(attempt: StoreAttempt): void {
  try {
    attempt.end();
  } catch {
    // What it wrote is in the store. Its mark counts as left over, and is deleted some day.
  }
}

function openPileSet({ snapshot, inputId, memory, control }: WriterParts, attempt: string): OpenPileSet {
  const { pileCount, seed } = snapshot.settings;
  const { bufferBytes, windowBytes, arenaBytes } = memory;
  const arena = new Arena(control);
  arena.allow(arenaBytes);
  const device = new DeviceGates({}).deviceOf(pileSetDirectoryOf(snapshot.directory), 'store');
  const writer = new PileSetWriter({
    name: pileSetName(0, attempt),
    layout: layoutOf(snapshot, UNGATED, device.deviceClass === 'rotating'),
    ramPool: undefined,
    indexInFile: true,
    hasher: new KernelHasher(arena.kernel, 'segments'),
    compressor: undefined,
    control,
  });
  const maxRecordBytes = MAX_RECORD_BYTES;
  const sizes = { pileCount, bufferBytes, windowBytes, maxRecordBytes, keyScale: 1n };
  const scatterArena = new ScatterArena(arena, writer, sizes);
  const inputKey = deriveInputKey(seed, inputId);
  return {
    writer,
    scatterArena,
    scatterer: new RecordScatterer(arena.kernel, scatterArena, { inputKey, maxRecordBytes }),
  };
}

/** What a commit says of its records. */
type Totals = Pick<NewCommit, 'records' | 'bytes' | 'checksum' | 'longestRecordBytes'>;

function completePileSet({ scatterer, scatterArena }: OpenPileSet): {
  readonly totals: Totals;
  readonly pileSet: PileSet;
} {
  scatterer.flush();
  const { byteLength, longestRecordBytes } = scatterer;
  const coverage = {
    inputOrdinal: 0,
    start: 0,
    end: byteLength,
    inputBytes: byteLength,
    addedBytes: 0,
    trailerBytes: 0,
  };
  const report: SliceReport = { coverage: [coverage], longestRecordBytes };
  const { pileSet, totals } = scatterArena.commit(report);
  const { records, bytes, checksum } = sumTotals(totals);
  return { totals: { records, bytes, checksum: checksumTextOf(checksum), longestRecordBytes }, pileSet };
}

/** What the work throws, for callbacks. */
function failureOf(work: () => void): Error | null {
  try {
    work();
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
