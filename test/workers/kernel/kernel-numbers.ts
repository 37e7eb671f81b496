/** The kernel's numbers of a range, as a thread asks for them. */
import { JobControl } from '#src/job-control.js';
import { countOf, type NumberRange, type NumberWay, numberArenaBytes } from '#src/plan/number-range.js';
import { Arena } from '#workers/arena.js';
import { NumberWriter } from '#workers/tasks/write-numbers.js';

const OUTPUT_BYTES = 2 ** 16;

/** As that of a thread in its first job; its memory ends where the job has said. */
export function newArena(): Arena {
  const arena = new Arena(JobControl.create([], 0));
  arena.allow(2 ** 26);
  return arena;
}

const ownArena = newArena();

export interface OrderedNumbers {
  /** The bytes of the numbers at `count` places from `first` on. */
  text(first: bigint, count: number): Buffer;
  numbers(first: bigint, count: number): bigint[];
  readonly sum: bigint;
  readonly checksum: bigint;
}

/** One at a time: the next call takes the memory of the one before. */
export function orderNumbers(
  range: NumberRange,
  key: bigint,
  way: NumberWay,
  terminator = 10,
  arena = ownArena,
): OrderedNumbers {
  const arenaBytes = numberArenaBytes(way, countOf(range), OUTPUT_BYTES);
  if (arenaBytes > arena.allowanceBytes) throw new RangeError(`the arena of the tests lacks ${arenaBytes} bytes`);
  const { low, high } = range;
  const job = { jobName: '', control: new SharedArrayBuffer(0), arenaBytes, outputBytes: OUTPUT_BYTES };
  const writer = new NumberWriter(arena, { ...job, low, lastOffset: high - low, key, terminator, way });
  const text = (first: bigint, count: number) => {
    const [address] = writer.sinkBuffer.addresses;
    const byteLength = writer.write(first, count, address);
    return Buffer.from(writer.sinkBuffer.memory().subarray(address, address + byteLength));
  };
  return {
    text,
    numbers: (first, count) => {
      const lines = text(first, count).toString('latin1').split(String.fromCharCode(terminator));
      return lines.slice(0, -1).map(BigInt);
    },
    get sum() {
      return writer.sum;
    },
    get checksum() {
      return writer.checksum;
    },
  };
}
