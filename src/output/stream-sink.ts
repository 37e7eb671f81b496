/**
 * A sink into standard output, or a device or pipe given by name, which the coordinator opened once
 * for all threads. Tasks take turns: each loads and sorts when it likes, and writes when those before
 * it are done.
 */
import type { OpenFile } from '../io/files.js';
import type { JobControl } from '../job-control.js';
import { inPhaseAsync } from '../phase-clock.js';
import type { OutputSink, SinkBuffer } from './output-sink.js';
import type { StreamTarget, WrittenRegion } from './output-target.js';
import { writeToStream } from './write-to-stream.js';

export class StreamSink implements OutputSink {
  readonly nextCut = { by: 'byte', at: Number.POSITIVE_INFINITY } as const;
  readonly #file: OpenFile;
  readonly #turn: number;
  readonly #buffer: SinkBuffer;
  readonly #control: JobControl;
  #byteLength = 0;
  fillAddress: number;

  constructor(target: StreamTarget, turn: number, buffer: SinkBuffer, control: JobControl) {
    this.#file = { fd: target.fd, path: target.path, role: 'output' };
    this.#turn = turn;
    this.#buffer = buffer;
    this.#control = control;
    this.fillAddress = buffer.addresses[0];
  }

  get roomBytes(): number {
    return this.#buffer.addresses[0] + this.#buffer.capacityBytes - this.fillAddress;
  }

  filled(byteLength: number): void {
    this.fillAddress += byteLength;
  }

  async flush(): Promise<boolean> {
    const [address] = this.#buffer.addresses;
    const byteLength = this.fillAddress - address;
    if (byteLength === 0) return false;
    this.#control.waitForTurn(this.#turn);
    const bytes = this.#buffer.memory().subarray(address, this.fillAddress);
    await inPhaseAsync('write', () => writeToStream(this.#file, bytes, this.#control));
    this.#byteLength += byteLength;
    this.fillAddress = address;
    return true;
  }

  async settle(): Promise<void> {}

  async cut(): Promise<void> {
    throw new RangeError('a stream is not cut into shards');
  }

  async close(): Promise<readonly WrittenRegion[]> {
    await this.flush();
    this.#control.waitForTurn(this.#turn);
    this.#control.passTurn();
    const recordBytes = this.#byteLength;
    return [{ shard: 0, start: 0, end: recordBytes, recordBytes, checksum: '' }];
  }

  async abandon(): Promise<void> {}
}
