/** Writes the numbers of a range. The bytes depend on the range, its key and the places alone. */
import { thenAlwaysAsync } from '../../src/cleanup.js';
import type { WrittenRegion } from '../../src/job-directory/notes.js';
import { SLACK_BYTES } from '../../src/plan/arena-sizes.js';
import { bitsOfSort, digitsOf, regionsOf } from '../../src/plan/number-range.js';
import { openSink } from '../../src/sinks/appended-sink.js';
import type { OutputTarget, SinkBuffer, SinkStart } from '../../src/sinks/output-target.js';
import { type Arena, ArenaLayout } from '../arena.js';
import type { NumberSettings } from '../settings.js';
import { keptByJob, threadStateOf } from '../thread-state.js';

export interface NumbersTask {
  readonly job: NumberSettings;
  readonly first: bigint;
  readonly count: number;
  readonly target: OutputTarget;
  readonly start: SinkStart;
}

export interface NumbersResult {
  readonly regions: readonly WrittenRegion[];
  readonly bytes: number;
  /** The sum of the numbers, modulo 2^64. */
  readonly sum: bigint;
  readonly checksum: bigint;
}

/** Sorted offsets, or tables, are made once for a thread. */
export class NumberWriter {
  readonly sinkBuffer: SinkBuffer;
  readonly #arena: Arena;

  constructor(arena: Arena, { low, lastOffset, key, terminator, way, outputBytes }: NumberSettings) {
    const layout = new ArenaLayout();
    const address = layout.take(outputBytes + SLACK_BYTES);
    const count = lastOffset + 1n;
    const [first = 0, counts = 0, arrived = 0, sorted = 0] = regionsOf(way, count).map((byteLength) =>
      layout.take(byteLength),
    );
    if (!arena.reserve(layout.end)) throw new RangeError(`an arena has no room for ${layout.end} bytes`);
    const { wasm } = arena.kernel;
    wasm.prepareNumbers(BigInt.asIntN(64, low), BigInt.asIntN(64, lastOffset), BigInt.asIntN(64, key), terminator);
    if (way.by === 'sorted') {
      wasm.prepareOrder(counts, bitsOfSort(count), arrived, sorted, Number(count), 0, 1, 1n, false);
      wasm.sortOffsets(first, sorted);
    } else if (way.by === 'permuted') wasm.permuteOffsets(way.rows, way.columns, first);
    else wasm.drawOffsets();
    this.#arena = arena;
    this.sinkBuffer = { addresses: [address], capacityBytes: outputBytes, memory: () => arena.kernel.bytes };
  }

  /** Returns the bytes that it wrote. */
  write(first: bigint, count: number, address: number): number {
    return (this.#arena.kernel.wasm.writeNumbers(BigInt.asIntN(64, first), count, address) >>> 0) - address;
  }

  /** The sum of the numbers of the last `write`, modulo 2^64. */
  get sum(): bigint {
    return BigInt.asUintN(64, this.#arena.kernel.wasm.numbersSum.value);
  }

  get checksum(): bigint {
    return BigInt.asUintN(64, this.#arena.kernel.wasm.numbersChecksum.value);
  }
}

const writerOf = keptByJob((job: NumberSettings, { arena }) => new NumberWriter(arena, job));

export function writeNumbers({ job, first, count, target, start }: NumbersTask): Promise<NumbersResult> {
  const { control } = threadStateOf(job);
  const writer = writerOf(job);
  const mostBytes = digitsOf(job.low + job.lastOffset) + 1;
  const parts = { target, start, end: undefined, buffer: writer.sinkBuffer, control, hasher: undefined };
  const sink = openSink(parts);
  let [bytes, sum, checksum] = [0, 0n, 0n];
  const write = async (): Promise<NumbersResult> => {
    for (let done = 0; done < count; ) {
      const together = Math.min(count - done, Math.floor(sink.roomBytes / mostBytes));
      if (together === 0) {
        await sink.flush();
        continue;
      }
      control.throwIfAborted();
      const written = writer.write(first + BigInt(done), together, sink.fillAddress);
      sink.filled(written);
      bytes += written;
      sum += writer.sum;
      checksum += writer.checksum;
      done += together;
    }
    const regions = await sink.close();
    control.count('shuffledBytes', bytes);
    return { regions, bytes, sum: BigInt.asUintN(64, sum), checksum: BigInt.asUintN(64, checksum) };
  };
  return thenAlwaysAsync(write, () => sink.abandon());
}
