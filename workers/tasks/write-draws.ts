/** A task that writes the records of consecutive places of an output, where each place finds its record by itself. */
import { thenAlwaysAsync } from '../../src/floor/cleanup.js';
import { inPhase } from '../../src/floor/phase-clock.js';
import type { WrittenRegion } from '../../src/job-directory/notes.js';
import type { NumberOrder } from '../../src/keep/numbers.js';
import { shardOpener } from '../../src/places/outputs/shard-openers.js';
import { openSink } from '../../src/sinks/appended-sink.js';
import {
  type LastShard,
  type OutputSink,
  type OutputTarget,
  type SinkBuffer,
  type SinkStart,
  writeLong,
} from '../../src/sinks/output-target.js';
import { ArenaLayout } from '../arena.js';
import { ComputedNumbers, DRAW_BYTES, DrawnRecords, type OrderedRecords } from '../piles/drawn-records.js';
import { outputBuffers } from '../piles/pile-orderer.js';
import type { ShuffleSettings, TaskSettings } from '../settings.js';
import { orderedSlabsOf, threadStateOf } from '../thread-state.js';

export interface DrawsTask {
  readonly job: TaskSettings & Pick<ShuffleSettings, 'outputBytes' | 'memberBytes'>;
  readonly key: bigint;
  readonly source: OrderedRecords | NumberOrder;
  readonly first: number;
  readonly count: number;
  readonly target: OutputTarget;
  readonly start: SinkStart;
  /** The first place of the last shard that begins in the task. Absent: none does. */
  readonly lastCut?: number | undefined;
}

export interface DrawsResult {
  readonly regions: readonly WrittenRegion[];
  readonly bytes: number;
  readonly checksum: bigint;
}

export async function writeDraws(task: DrawsTask): Promise<DrawsResult> {
  const { job, key, source, first, count, target, start } = task;
  const { control, arena, outputHasher, memberBuffers } = threadStateOf(job);
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
  const isCompressed = 'compression' in target && target.compression !== undefined;
  const last = isCompressed ? measureLastShard(drawn, task, buffer) : undefined;
  const { memberBytes } = job;
  const places = { target, start, end: undefined, openShard };
  const sink = openSink({ ...places, buffer, control, hasher: undefined, memberBytes, memberBuffers }, last);
  let bytes = 0;
  const write = async (): Promise<DrawsResult> => {
    for (let place = first; ; ) {
      control.throwIfAborted();
      const { by, at } = sink.nextCut;
      const nextCut = by === 'rank' ? at : Number.POSITIVE_INFINITY;
      if (place >= nextCut) {
        await sink.cut();
        continue;
      }
      if (place === first + count) break;
      const next = inPhase('gather', () => copyTo(sink, drawn, place, Math.min(first + count, nextCut)));
      if (next > place) {
        sink.advance(drawn.copiedBytes);
        bytes += drawn.copiedBytes;
        place = next;
      } else if (!(await sink.flush())) {
        const record = drawn.recordAt(place);
        outputHasher.begin();
        bytes += await writeLong(sink, record.byteLength, (address, done, byteLength) => {
          kernel.bytes.set(record.subarray(done, done + byteLength), address);
          outputHasher.add(kernel.bytes, address, byteLength);
        });
        drawn.checksum += outputHasher.checksum();
        place += 1;
      }
    }
    const regions = await sink.close();
    control.count('shuffledBytes', bytes);
    return { regions, bytes, checksum: BigInt.asUintN(64, drawn.checksum) };
  };
  return thenAlwaysAsync(write, () => sink.abandon());
}

/** Copies records that the sink has room for. @returns the place after them. */
function copyTo(
  { fillAddress, roomBytes, leftBytes = roomBytes }: OutputSink,
  drawn: Drawn,
  first: number,
  end: number,
) {
  const next = drawn.copy(first, end, fillAddress, Math.max(0, Math.min(roomBytes, leftBytes)));
  // The last record of a member may reach beyond the bytes that are left.
  return next > first || leftBytes <= 0 ? next : drawn.copy(first, first + 1, fillAddress, roomBytes);
}

type Drawn = DrawnRecords | ComputedNumbers;

/** Copies the records in vain: where those of the next task begin follows from their bytes. */
function measureLastShard(drawn: Drawn, { first, count, lastCut }: DrawsTask, buffer: SinkBuffer): LastShard {
  let bytes = 0;
  for (let place = lastCut ?? first; place < first + count; ) {
    const next = drawn.copy(place, first + count, buffer.addresses[0], buffer.capacityBytes);
    bytes += next > place ? drawn.copiedBytes : drawn.recordAt(place).byteLength;
    place = Math.max(next, place + 1);
  }
  drawn.checksum = 0n;
  return { bytes, isNew: lastCut !== undefined };
}
