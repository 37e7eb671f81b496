/** Writes records from a program straight into the piles of a store, as pass 1 would, without input files. */
import { Writable } from 'node:stream';
import { Arena } from '../../workers/arena.js';
import { KernelHasher } from '../../workers/kernel/kernel.js';
import { RecordScatterer } from '../../workers/piles/record-scatterer.js';
import { ScatterArena } from '../../workers/piles/scatter-arena.js';
import { UsageError } from '../errors.js';
import { afterFailure, thenAlways } from '../floor/cleanup.js';
import { JobControl } from '../floor/job-control.js';
import { deriveInputKey } from '../floor/keys.js';
import { pileSetName } from '../job-directory/pile-set-commits.js';
import { DeviceGates } from '../machine/devices.js';
import { type PileWriterOptions, WRITER_OPTIONS } from '../options/store-options.js';
import { type PileSet, PileSetWriter } from '../piles/pile-set-writer.js';
import { sumOverPiles, textOfTotals } from '../piles/pile-totals.js';
import { DEFAULT_STORE_PILES, pilesForBytes, planWriterMemory, type WriterMemory } from '../plan/store-sizes.js';
import type { SliceReport } from '../sources/input-part.js';
import { commitToStore, type NewCommit, requireIdsFree } from '../store/commit-to-store.js';
import { openOrCreateStore } from '../store/create-store.js';
import { generationOfToday, requireGeneration } from '../store/generations.js';
import { StoreAttempt } from '../store/store-attempt.js';
import { layoutOnDevice, type StoreSnapshot } from '../store/store-snapshot.js';
import { requireKnownOptions } from '../values/known-options.js';
import { ignoreThrown } from './job.js';

/** The records that a commit added to the store. */
export interface PileCommit {
  readonly records: number;
  readonly bytes: number;
  /** Multiset checksum of these records, as in `ShuffleReport`. */
  readonly checksum: string;
  readonly generation: string;
  /** Number of the store's first state with these records. */
  readonly state: number;
}

const MAX_RECORD_BYTES = 2 ** 30;

/**
 * Starts to write one input of a store, and creates the store if it does not exist.
 * @throws UsageError ERR_INPUT_ID_TAKEN, ERR_STORE_DIFFERS, ERR_STORE, ERR_MEMORY_BUDGET or ERR_OPTION; SystemError;
 *   VerificationError
 */
export async function openPileWriter(storeDirectory: string, options: PileWriterOptions): Promise<PileWriter> {
  requireKnownOptions('openPileWriter()', options, WRITER_OPTIONS);
  const { inputId, expectedBytes, seed, generation = generationOfToday(), replace = false, memoryBytes } = options;
  requireGeneration(generation);
  const otherwise = { pileCount: expectedBytes === undefined ? DEFAULT_STORE_PILES : pilesForBytes(expectedBytes) };
  const { snapshot, plan: memory } = await openOrCreateStore(
    storeDirectory,
    { seed, pileCount: options.piles },
    otherwise,
    (store) => {
      requireIdsFree(store.snapshot, [inputId], replace);
      return planWriterMemory(store.pileCount, memoryBytes);
    },
  );
  const control = JobControl.create([], memoryBytes === undefined ? 2 * MAX_RECORD_BYTES : 0);
  return new PileWriter({ snapshot, inputId, generation, replace, memory, control });
}

interface WriterParts {
  readonly snapshot: StoreSnapshot;
  readonly inputId: string;
  readonly generation: string;
  readonly replace: boolean;
  readonly memory: WriterMemory;
  readonly control: JobControl;
}

interface OpenPileSet {
  readonly writer: PileSetWriter;
  readonly scatterArena: ScatterArena;
  readonly scatterer: RecordScatterer;
}

/** Writes one input. Holds the memory of its buffers until it ends: with `commit`, `abort` or a failure. */
export class PileWriter {
  readonly #parts: WriterParts;
  readonly #attempt: StoreAttempt;
  /** The open pile set. Undefined: the writer has ended. */
  #open: OpenPileSet | undefined;

  /** Call `openPileWriter` instead. */
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
   * Adds one record of at most 1 GiB: bytes, or text, which becomes UTF-8. The writer adds no delimiter, so a line must
   * include its newline. Returns when the record is copied; some calls also wait until full buffers are written to disk.
   * If this throws, the writer has ended, and its records are removed.
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
   * This writer as a stream in object mode, where every chunk is one record: bytes or text. When the stream ends, it
   * commits; if it is destroyed earlier, it aborts. Destroying the stream does not stop a commit that has started.
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
   * Adds all written records to the store, atomically and durably, and ends the writer. If this throws, the store is
   * unchanged unless the error says otherwise.
   */
  async commit(): Promise<PileCommit> {
    const { snapshot, inputId, generation, replace, control } = this.#parts;
    const open = this.#requireOpen();
    this.#open = undefined;
    try {
      const { totals, pileSet } = completePileSet(open);
      const { name, diskBytes } = pileSet;
      const commit = {
        name: this.#attempt.name,
        generation,
        inputIds: [inputId],
        format: null,
        ...totals,
        pileSets: [{ name, diskBytes }],
      };
      const manifest = await commitToStore(snapshot, commit, { replace, control });
      // The records are in the store. If the mark stays, a later collection of garbage deletes it.
      ignoreThrown(() => this.#attempt.end());
      const { records, bytes, checksum } = totals;
      return { records, bytes, checksum, generation, state: manifest.number };
    } catch (error) {
      throw afterFailure(error, () => this.#abandon(open));
    }
  }

  /** Removes all written records, and ends the writer. Does nothing if the writer has ended. */
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

function openPileSet({ snapshot, inputId, memory, control }: WriterParts, attempt: string): OpenPileSet {
  const { pileCount, seed } = snapshot.settings;
  const { bufferBytes, windowBytes, arenaBytes } = memory;
  const arena = new Arena(control);
  arena.allow(arenaBytes);
  const writer = new PileSetWriter({
    name: pileSetName(0, attempt),
    layout: layoutOnDevice(snapshot, new DeviceGates({}), false),
    ramPool: undefined,
    indexInFile: true,
    hasher: new KernelHasher(arena, 'segments'),
    compressor: undefined,
    control,
  });
  const scatterArena = new ScatterArena(arena, writer, { pileCount, bufferBytes, windowBytes, keyScale: 1n });
  const inputKey = deriveInputKey(seed, inputId);
  return {
    writer,
    scatterArena,
    scatterer: new RecordScatterer(arena.kernel, scatterArena, { inputKey, mostBytes: MAX_RECORD_BYTES }),
  };
}

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
  return { totals: { ...textOfTotals(sumOverPiles(totals)), longestRecordBytes }, pileSet };
}

/** The error that the work throws, or null, for callbacks. */
function failureOf(work: () => void): Error | null {
  try {
    work();
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
