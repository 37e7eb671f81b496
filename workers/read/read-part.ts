/**
 * A part owns the records that begin in it. Its reader starts before it, as far back as the framing must look to see
 * whether a record begins with the part; the last record may end after it. The report gives the bytes covered, [first
 * record start, end of last record), so that the coordinator can check that the parts of an input join without a gap or
 * an overlap.
 */
import { InputError } from '../../src/errors.js';
import { thenAlwaysAsync } from '../../src/floor/cleanup.js';
import { type JobControl, UncountedControl } from '../../src/floor/job-control.js';
import { IGZIP } from '../../src/formats/codecs/igzip.js';
import type { Framing } from '../../src/formats/framing.js';
import { framingOf } from '../../src/formats/framing-table.js';
import { type Header, readHeader, requireSameHeader } from '../../src/formats/header.js';
import { KnownEnds } from '../../src/formats/known-ends.js';
import { headerRuleOf, type RecordList } from '../../src/formats/record-format.js';
import { PieceReader, type RecordSource } from '../../src/formats/record-source.js';
import { loadInputPlaces } from '../../src/places/inputs/input-kinds.js';
import { inputName, openStreamInput, RegularInput } from '../../src/places/inputs/input-source.js';
import { BOUNDARY_TABLE_BYTES } from '../../src/plan/arena-sizes.js';
import { decodeStream } from '../../src/sources/decoded-pieces.js';
import type { Coverage, InputPart } from '../../src/sources/input-part.js';
import { Arena, ArenaLayout } from '../arena.js';
import type { Kernel } from '../kernel/kernel.js';
import type { ReadSettings } from '../settings.js';
import { type ReadState, readStateOf, rowThreadOf } from '../thread-state.js';
import { withFileSource } from './file-source.js';
import { beginAt, type PartSource, type ReadContext, type SourceFacts, type UseOfSource } from './part-source.js';
import { ReadWindow } from './read-window.js';
import { RecordReader, type RecordTaker } from './record-reader.js';
import { type PartNumbers, withNumbers } from './value-files.js';

export interface PartReport extends SourceFacts {
  readonly coverage: Coverage;
  /** The header of a stream; undefined for files, and for streams without one. */
  readonly header: Header | undefined;
}

export async function readParts(
  parts: readonly InputPart[],
  taker: RecordTaker,
  thread: ReadState,
  job: ReadSettings,
): Promise<readonly PartReport[]> {
  const reports: PartReport[] = [];
  for (const part of parts) reports.push(await readPart(part, taker, thread, job));
  return reports;
}

export async function readPart(
  part: InputPart,
  taker: RecordTaker,
  thread: ReadState,
  job: ReadSettings,
): Promise<PartReport> {
  const { read } = job;
  const { control, decoderMemory } = thread;
  await loadInputPlaces([part.path]);
  const sourceFacts: SourceFacts = {};
  const framing = read.framing && framingOf(read.framing);
  const context = { control, decoderMemory, read, framing, sourceFacts };
  const readRecords = async (source: PartSource, numbers: PartNumbers | undefined): Promise<PartReport> => {
    const { header, end } = source;
    const reader = new RecordReader(part, source.framing, taker, job, numbers);
    if (header !== undefined) reader.knowHeader({ path: inputName(part.path), header });
    reader.begin(source.begin);
    let isAtEnd = false;
    try {
      while (!isAtEnd && reader.wantsMore(end)) {
        control.throwIfAborted();
        const room = reader.makeRoom();
        const reading = source.read(reader, reader.window.filledEnd, room);
        const count = typeof reading === 'number' ? reading : await reading;
        isAtEnd = count === 0;
        if (!isAtEnd) reader.take(count, end);
      }
      const coverage = isAtEnd ? reader.endOfInput() : reader.endOfRange(end);
      reader.requireAllNumbers();
      await source.finish?.();
      return { coverage, header, ...sourceFacts };
    } catch (error) {
      if (error instanceof InputError) {
        const isConfirmed = isAtEnd || sourceFacts.decoder !== IGZIP || OF_READS.has(error.code);
        // A damaged file gives the error that it gives without igzip: the reader refused what nothing has confirmed yet.
        if (!isConfirmed) await readPart(part, taker, thread, { ...job, read: { ...read, igzip: false } });
        await findEarlierMistake(error, part, source.framing, job);
      }
      throw error;
    }
  };
  return withNumbers(part, taker.kernel, job, context, (numbers) =>
    withSource(part, job, context, (source) => readRecords(source, numbers)),
  );
}

/** The only place that knows which kinds of sources there are. */
async function withSource<T>(
  part: InputPart,
  job: ReadSettings,
  context: ReadContext,
  use: UseOfSource<T>,
): Promise<T> {
  if (part.kind === 'rows') {
    const { rows } = context.read;
    if (rows === undefined) throw new RangeError('what rows are is known before they are read');
    const thread = await rowThreadOf(job, rows);
    const input = new RegularInput(part.path, part.version, context.control, part.gate);
    const useRows = (source: RecordSource) => {
      const finish = () => input.requireUnchanged();
      return use({ ...source, finish, begin: beginAt(source.framing, 0, 0), end: Number.POSITIVE_INFINITY });
    };
    return thenAlwaysAsync(
      () => thread.openPart(part, rows, { ...context, input }, useRows),
      () => input.close(),
    );
  }
  if (part.kind === 'list') return use(listSource(part.list, context));
  return part.kind === 'stream' ? withStreamSource(part, context, use) : withFileSource(part, context, use);
}

/** Errors of files, not of their records. */
const OF_READS: ReadonlySet<string> = new Set(['ERR_INPUT_UNREADABLE', 'ERR_INPUT_CHANGED']);

/** The job has failed. Throws the mistake that comes first in the input: what is wrong here may follow from it. */
async function findEarlierMistake(
  { code }: InputError,
  part: InputPart,
  { findsMistakes = false }: Framing,
  job: ReadSettings,
): Promise<void> {
  if (code !== 'ERR_INPUT_CORRUPT' || !findsMistakes || part.kind !== 'file' || part.codec !== undefined) return;
  if (part.start <= part.headerBytes) return;
  const control = new UncountedControl(job.control);
  const whole = { ...part, start: part.headerBytes, countBefore: 0 };
  const settings = { ...job, content: undefined, isSampled: false };
  await readPart(whole, new RecordDropper(control), { ...readStateOf(job), control }, settings);
}

/** The arena of a task that reads records and puts none on piles: regions of its own, the boundary table, the read window. */
export abstract class ReadArena implements RecordTaker {
  readonly window: ReadWindow;
  readonly table: number;
  /** The place where the task's own bytes begin. */
  protected readonly own: number;
  readonly #arena: Arena;

  constructor(arena: Arena, { readBytes }: Pick<ReadSettings, 'readBytes'>, ownBytes = 0) {
    this.#arena = arena;
    const layout = new ArenaLayout(arena.start);
    this.own = layout.take(ownBytes);
    this.table = layout.take(BOUNDARY_TABLE_BYTES);
    this.window = new ReadWindow(arena, layout.take(0, 4096), readBytes);
  }

  get kernel(): Kernel {
    return this.#arena.kernel;
  }

  abstract take(count: number, base: number, basePosition: number, inputKey: bigint, firstRow?: number): number;
}

const WINDOW_BYTES = 2 ** 20;

class RecordDropper extends ReadArena {
  constructor(control: JobControl) {
    const arena = new Arena(control);
    // This is beyond the budget of the job.
    arena.allow(4 * WINDOW_BYTES);
    super(arena, { readBytes: WINDOW_BYTES });
  }

  take(): number {
    return 0;
  }
}

export function listSource(list: RecordList, { framing: given, control }: ReadContext): PartSource {
  const ends = new KnownEnds();
  ends.follow(list.ends);
  const framing = ends.framing(given?.delimiter);
  let position = 0;
  return {
    framing,
    begin: beginAt(framing, 0, 0),
    end: Number.POSITIVE_INFINITY,
    read: ({ bytes }, at, most) => {
      const piece = list.bytes.subarray(position, position + most);
      bytes.set(piece, at);
      position += piece.byteLength;
      control.count('scatteredBytes', piece.byteLength);
      control.count('decodedBytes', piece.byteLength);
      return piece.byteLength;
    },
  };
}

/** A stream may be silent for ever, so the abort flag is watched while its bytes are awaited. */
const ABORT_WATCH_MILLISECONDS = 50;

async function withStreamSource<T>(
  { path, firstHeader }: InputPart & { kind: 'stream' },
  { read, control, decoderMemory: memory, sourceFacts, ...context }: ReadContext,
  use: UseOfSource<T>,
): Promise<T> {
  const stream = openStreamInput(path);
  // Closing the stream wakes a reader that waits for it.
  const watch = setInterval(() => {
    if (control.isAborted) stream.close();
  }, ABORT_WATCH_MILLISECONDS);
  const useStream = async () => {
    const pieces = await decodeStream(stream, path, read, {
      memory,
      throwIfAborted: () => control.throwIfAborted(),
      onRead: (byteLength) => control.count('scatteredBytes', byteLength),
      onDecoder: (name) => {
        sourceFacts.decoder = name;
      },
      onDoubt: (doubt) => {
        sourceFacts.doubt = doubt;
      },
    });
    const usePieces = async () => {
      const rule = read.header && headerRuleOf(read.header);
      const { header, rest } = rule === undefined ? {} : await readHeader(pieces, rule, stream.path);
      if (rule !== undefined && header !== undefined && firstHeader !== undefined)
        requireSameHeader(rule, firstHeader, { path: stream.path, header });
      const framing = context.framing ?? (header?.framing && framingOf(header.framing));
      if (framing === undefined) throw new RangeError('the framing of the stream is unknown');
      const headerBytes = header?.byteLength ?? 0;
      const reader = new PieceReader(pieces, rest);
      return use({
        framing,
        begin: beginAt(framing, headerBytes, headerBytes),
        end: Number.POSITIVE_INFINITY,
        header,
        read: async (...room) => {
          const count = await reader.read(...room);
          control.count('decodedBytes', count);
          return count;
        },
      });
    };
    return thenAlwaysAsync(usePieces, async () => {
      await pieces.return();
    });
  };
  return thenAlwaysAsync(useStream, () => {
    clearInterval(watch);
    stream.close();
  });
}
