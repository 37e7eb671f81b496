/**
 * A sink into standard output, or a device or pipe given by name. Tasks take turns: each loads and
 * sorts when it likes, and writes when those before it are done.
 */
import { closeFile, type OpenFile, openStreamOutput, writeAt } from '../io/files.js';
import type { JobControl } from '../io/job-control.js';
import type { OutputSink, SinkBuffer } from './output-sink.js';
import { STANDARD_OUTPUT, type WrittenRegion } from './output-target.js';

const STANDARD_OUTPUT_FD = 1;

export class StreamSink implements OutputSink {
  readonly nextCut = { by: 'byte', at: Number.POSITIVE_INFINITY } as const;
  readonly #path: string;
  readonly #turn: number;
  readonly #buffer: SinkBuffer;
  readonly #control: JobControl;
  #file: OpenFile | undefined;
  #byteLength = 0;
  fillAddress: number;

  constructor(path: string, turn: number, buffer: SinkBuffer, control: JobControl) {
    this.#path = path;
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
    const { addresses, memory } = this.#buffer;
    const [address] = addresses;
    const byteLength = this.fillAddress - address;
    if (byteLength === 0) return false;
    writeAt(this.#openInTurn(), memory(), address, byteLength, null);
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
    // Opened even when there is nothing to write: the reader of a pipe waits for its writer.
    this.#openInTurn();
    await this.abandon();
    this.#control.passTurn();
    return [{ shard: 0, start: 0, end: this.#byteLength }];
  }

  async abandon(): Promise<void> {
    if (this.#file !== undefined && this.#file.fd !== STANDARD_OUTPUT_FD) closeFile(this.#file);
    this.#file = undefined;
  }

  #openInTurn(): OpenFile {
    if (this.#file === undefined) {
      this.#control.waitForTurn(this.#turn);
      this.#file =
        this.#path === STANDARD_OUTPUT
          ? { fd: STANDARD_OUTPUT_FD, path: 'standard output', role: 'output' }
          : openStreamOutput(this.#path);
    }
    return this.#file;
  }
}
