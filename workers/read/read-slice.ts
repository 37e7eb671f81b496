/** Reads the parts of a slice one after the other, and passes their records to a taker. */
import { framingOf } from '../../src/formats/framing-table.js';
import type { Header } from '../../src/formats/header.js';
import type { RaisedDoubt } from '../../src/inputs/beginnings.js';
import type { Coverage, InputPart, SliceReport } from '../../src/inputs/input-part.js';
import type { ReadSettings } from '../settings.js';
import type { ReadState } from '../thread-state.js';
import { readPart } from './read-part.js';
import type { RecordTaker } from './record-reader.js';

export interface SliceReading extends Omit<SliceReport, 'longestRecordBytes'> {
  /** The header of the stream, if the slice is a stream. No later attempt needs it: streams cannot be resumed. */
  readonly streamHeader: Header | undefined;
  /** What decoded the parts, and how many parts; plain ones are left out. */
  readonly decoders: Readonly<Record<string, number>>;
  /** What raises doubts at the beginnings of compressed inputs and streams. */
  readonly doubts: readonly RaisedDoubt[];
}

export async function readSlice(
  parts: readonly InputPart[],
  taker: RecordTaker,
  thread: ReadState,
  job: ReadSettings,
): Promise<SliceReading> {
  const framing = job.framing === undefined ? undefined : framingOf(job.framing);
  const coverage: Coverage[] = [];
  const decoders: Record<string, number> = {};
  const doubts: RaisedDoubt[] = [];
  let streamHeader: Header | undefined;
  for (const part of parts) {
    const read = await readPart(part, framing, taker, thread, job);
    coverage.push(read.coverage);
    streamHeader = read.header;
    const { decoder, doubt } = read;
    if (doubt !== undefined) doubts.push({ inputOrdinal: part.inputOrdinal, doubt });
    if (decoder !== undefined) decoders[decoder] = (decoders[decoder] ?? 0) + 1;
  }
  return { coverage, streamHeader, decoders, doubts };
}
