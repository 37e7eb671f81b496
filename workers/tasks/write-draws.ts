/** A task that writes the records of consecutive places of an output, where each place finds its record by itself. */
import { thenAlwaysAsync } from '../../src/floor/cleanup.js';
import { inPhase } from '../../src/floor/phase-clock.js';
import type { WrittenRegion } from '../../src/job-directory/notes.js';
import type { NumberOrder } from '../../src/keep/numbers.js';
import { shardOpener } from '../../src/places/outputs/shard-openers.js';
import { openSink } from '../../src/sinks/appended-sink.js';
import type { OutputSink, OutputTarget, SinkStart } from '../../src/sinks/output-target.js';
import { ArenaLayout } from '../arena.js';
import type { KernelHasher } from '../kernel/kernel.js';
import { ComputedNumbers, DRAW_BYTES, DrawnRecords, type OrderedRecords } from '../piles/drawn-records.js';
import { outputBuffers } from '../piles/pile-orderer.js';
import type { TaskSettings } from '../settings.js';
import { orderedSlabsOf, threadStateOf } from '../thread-state.js';

export interface DrawsTask {
  readonly job: TaskSettings & { readonly outputBytes: number };
  readonly key: bigint;
  readonly source: OrderedRecords | NumberOrder;
  readonly first: number;
  readonly count: number;
  readonly target: OutputTarget;
  readonly start: SinkStart;
}

export interface DrawsResult {
  readonly regions: readonly WrittenRegion[];
  readonly bytes: number;
  readonly checksum: bigint;
}

export async function writeDraws({ job, key, source, first, count, target, start }: DrawsTask): Promise<DrawsResult> {
  const { control, arena, outputHasher } = threadStateOf(job);
  const layout = new ArenaLayout(arena.start);
  const buffer = outputBuffers(layout, arena, job.outputBytes);
  const ranksAt = layout.take(DRAW_BYTES);
  if (!arena.reserve(layout.end)) throw new RangeError(`an arena has no room for ${layout.end} bytes`);
  const { kernel } = arena;
  const drawn =
    'memory' in source
      ? new DrawnRecords(arena, ranksAt, key, await orderedSlabsOf(job, source.memory), source.records)
      : new ComputedNumbers(arena, source);
  const openShard = await shardOpener(target, control);
  const sink = openSink({ target, start, end: undefined, buffer, control, hasher: undefined, openShard });
  let bytes = 0;
  const write = async (): Promise<DrawsResult> => {
    for (let place = first; place < first + count; ) {
      control.throwIfAborted();
      const { by, at } = sink.nextCut;
      const nextCut = by === 'rank' ? at : Number.POSITIVE_INFINITY;
      if (place >= nextCut) {
        await sink.cut();
        continue;
      }
      const end = Math.min(first + count, nextCut);
      const next = inPhase('gather', () => drawn.copy(place, end, sink.fillAddress, sink.roomBytes));
      if (next > place) {
        sink.advance(drawn.copiedBytes);
        bytes += drawn.copiedBytes;
        place = next;
      } else if (!(await sink.flush())) {
        const record = drawn.recordAt(place);
        drawn.checksum += await writeLong(record, sink, kernel.bytes, outputHasher);
        bytes += record.byteLength;
        place += 1;
      }
    }
    const regions = await sink.close();
    control.count('shuffledBytes', bytes);
    return { regions, bytes, checksum: BigInt.asUintN(64, drawn.checksum) };
  };
  return thenAlwaysAsync(write, () => sink.abandon());
}

/** Writes a record that is longer than the buffer of the sink. @returns its hash. */
async function writeLong(
  record: Uint8Array,
  sink: OutputSink,
  memory: Uint8Array,
  hasher: KernelHasher,
): Promise<bigint> {
  hasher.begin();
  for (let done = 0; done < record.byteLength; ) {
    const address = sink.fillAddress;
    const byteLength = Math.min(sink.roomBytes, record.byteLength - done);
    memory.set(record.subarray(done, done + byteLength), address);
    hasher.add(memory, address, byteLength);
    sink.advance(byteLength);
    done += byteLength;
    await sink.flush();
  }
  return hasher.checksum();
}
