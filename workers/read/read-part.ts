/**
 * A range owns the records that begin in it. Its reader starts before the range, as far back as the framing must look
 * to see whether a record begins with the range; the last record may end after the range. The report gives the bytes
 * covered, [first record start, end of last record), so that the coordinator can check that the parts of an input join
 * without a gap or an overlap.
 *
 * The header of a file is known already; the header of a stream is found here and reported.
 */
import { thenAlwaysAsync } from '../../src/cleanup.js';
import { InputError } from '../../src/errors.js';
import { contextBytesAt, type Framing, readerStart } from '../../src/formats/framing.js';
import { framingOf } from '../../src/formats/framing-table.js';
import { RegularInput } from '../../src/io/input-source.js';
import { type JobControl, UncountedControl } from '../../src/job-control.js';
import type { Coverage, InputPart } from '../../src/sources/input-part.js';
import { Arena } from '../arena.js';
import type { ReadSettings } from '../settings.js';
import type { ReadState } from '../thread-state.js';
import { ReadArena } from './read-arena.js';
import { readCompressed, UnconfirmedRefusal } from './read-compressed.js';
import { readList } from './read-list.js';
import { readStream } from './read-stream.js';
import { type PartReport, RecordReader, type RecordTaker } from './record-reader.js';

/** Bytes read at a time after a range, to complete its last record. */
const BEHIND_RANGE_BYTES = 64 * 1024;

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
  // Only the header of a stream may declare the framing.
  const framing = job.read.framing && framingOf(job.read.framing);
  const openReader = (ofRecords: Framing) => new RecordReader(part, ofRecords, taker, job);
  if (part.kind === 'stream') return readStream(part, framing, openReader, thread, job);
  if (part.kind === 'list') return readList(part, framing, openReader, thread);
  if (framing === undefined) throw new RangeError('the framing of a file is known before the file is read');
  const reader = openReader(framing);
  const input = new RegularInput(part.path, part.version, thread.control, part.gate);
  const read = async (): Promise<PartReport> => {
    const report =
      part.kind === 'range'
        ? { coverage: readRangeOfInput(part), decoder: undefined }
        : await readCompressed(part, input, framing, reader, thread, job).catch(readAgain);
    input.requireUnchanged();
    return { ...report, header: undefined };
  };
  const readRangeOfInput = (range: InputPart & { kind: 'range' }): Coverage => {
    try {
      return readRange(range, input, framing, reader, thread.control);
    } catch (error) {
      const isMistake = error instanceof InputError && error.code === 'ERR_INPUT_CORRUPT';
      if (!isMistake || framing.findsMistakes !== true || range.start <= range.headerBytes) throw error;
      // What is wrong here may follow from a mistake before.
      const control = new UncountedControl(job.control);
      const whole = { ...range, start: range.headerBytes, countBefore: 0 };
      const settings = { ...job, content: undefined, isSampled: false };
      const dropping = new RecordReader(part, framing, new RecordDropper(control), settings);
      readRange(whole, input, framing, dropping, control);
      throw error;
    }
  };
  /** A damaged file gives the error that it gives without igzip. */
  const readAgain = async (error: unknown) => {
    if (!(error instanceof UnconfirmedRefusal) || part.kind === 'range') throw error;
    await readCompressed(part, input, framing, openReader(framing), thread, {
      ...job,
      read: { ...job.read, igzip: false },
    });
    throw error.refusal;
  };
  return thenAlwaysAsync(read, () => input.close());
}

function readRange(
  part: InputPart & { kind: 'range' },
  input: RegularInput,
  framing: Framing,
  reader: RecordReader,
  control: JobControl,
): Coverage {
  const { end } = part;
  const scanStart = readerStart(framing, part.start, part.headerBytes);
  const contextBytes = contextBytesAt(framing, scanStart, part.headerBytes);
  reader.begin(scanStart, scanStart < part.start, part.countBefore, contextBytes);
  let position = scanStart - contextBytes;
  while (reader.wantsMore(end)) {
    control.throwIfAborted();
    const room = reader.makeRoom();
    const wanted = Math.min(room, position < end ? end - position : BEHIND_RANGE_BYTES);
    const count = input.readAt(reader.bytes, reader.window.filledEnd, wanted, position);
    const counted = Math.min(position + count, end) - Math.max(position, part.start);
    if (counted > 0) {
      control.count('scatteredBytes', counted);
      control.count('decodedBytes', counted);
    }
    position += count;
    if (count === 0) {
      const { byteLength } = part.version;
      if (position < byteLength) throw endsEarly(input, position, byteLength);
      return reader.endOfInput();
    }
    reader.take(count, end);
  }
  return reader.endOfRange(position);
}

function endsEarly(input: RegularInput, position: number, end: number): InputError {
  input.requireUnchanged();
  return new InputError(
    'ERR_INPUT_UNREADABLE',
    `${input.path} ends at byte ${position}, expected ${end} by its size; if it is not an ordinary file, pass it through a pipe`,
  );
}

const WINDOW_BYTES = 2 ** 20;

class RecordDropper extends ReadArena {
  constructor(control: JobControl) {
    const arena = new Arena(control);
    // The job has failed: this is beyond its budget.
    arena.allow(4 * WINDOW_BYTES);
    super(arena, { readBytes: WINDOW_BYTES });
  }

  take(): number {
    return 0;
  }
}
