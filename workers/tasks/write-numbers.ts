/** The written bytes depend on the range, its key and the places alone. */
import { thenAlwaysAsync } from '../../src/cleanup.js';
import { openSink } from '../../src/output/open-sink.js';
import type { OutputTarget, SinkStart, WrittenRegion } from '../../src/output/output-target.js';
import { digitsOf } from '../../src/plan/number-range.js';
import type { NumberSettings } from '../settings.js';
import { numberStateOf } from '../thread-state.js';

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

export function writeNumbers({ job, first, count, target, start }: NumbersTask): Promise<NumbersResult> {
  const { control, writer } = numberStateOf(job);
  const mostBytes = digitsOf(job.low + job.lastOffset) + 1;
  const sink = openSink(target, start, undefined, writer.sinkBuffer, control, undefined);
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
