/**
 * A sink into one staged file for records whose place follows from those before them, as in an `AppendedSink`. But a
 * task that knows how many bytes will follow claims their place when it is its turn, and passes the turn on before it
 * writes: so tasks write at the same time. A task that does not know it keeps its turn until all is written.
 */
import type { JobControl } from '../job-control.js';
import { FilesSink } from './files-sink.js';
import type { OutputHasher, OutputSink, PlacedTarget, SinkBuffer, SinkStart, WrittenRegion } from './output-target.js';

interface ClaimedParts {
  readonly target: PlacedTarget;
  readonly start: SinkStart;
  readonly buffer: SinkBuffer;
  readonly control: JobControl;
  readonly hasher: OutputHasher | undefined;
}

export class ClaimedSink implements OutputSink {
  readonly #parts: ClaimedParts;
  readonly #control: JobControl;
  #sink: FilesSink | undefined;
  #hasPassedTurn = false;

  constructor(parts: ClaimedParts) {
    this.#parts = parts;
    this.#control = parts.control;
  }

  get nextCut(): { by: 'rank' | 'byte'; at: number } {
    return this.#opened.nextCut;
  }

  get fillAddress(): number {
    return this.#opened.fillAddress;
  }

  get roomBytes(): number {
    return this.#opened.roomBytes;
  }

  announce(byteLength: number): void {
    this.#open(byteLength);
    this.#pass(byteLength);
  }

  filled(byteLength: number): void {
    this.#opened.filled(byteLength);
  }

  flush(): Promise<boolean> {
    return this.#opened.flush();
  }

  async settle(): Promise<void> {
    await this.#sink?.settle();
  }

  cut(): Promise<void> {
    return this.#opened.cut();
  }

  async close(): Promise<readonly WrittenRegion[]> {
    const regions = await this.#opened.close();
    if (!this.#hasPassedTurn) this.#pass(regions.reduce((sum, { start, end }) => sum + end - start, 0));
    return regions;
  }

  /** The next task may be writing after the claimed bytes. */
  async takeBack(): Promise<boolean> {
    return !this.#hasPassedTurn;
  }

  async abandon(): Promise<void> {
    await this.#sink?.abandon();
  }

  get #opened(): FilesSink {
    return this.#sink ?? this.#open(undefined);
  }

  #open(byteLength: number | undefined): FilesSink {
    const { target, buffer, control, hasher } = this.#parts;
    const { turn, shard } = this.#parts.start;
    this.#control.waitForTurn(turn);
    const shardByte = this.#control.counted('claimedBytes');
    const start = { shard, shardByte, turn };
    const end = byteLength === undefined ? undefined : { shard, shardByte: shardByte + byteLength };
    this.#sink = new FilesSink(target, start, end, buffer, control, hasher);
    return this.#sink;
  }

  #pass(byteLength: number): void {
    this.#control.count('claimedBytes', byteLength);
    this.#hasPassedTurn = true;
    this.#control.passTurn();
  }
}
