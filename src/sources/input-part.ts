/** The part of an input that a task must read, and its report of what it read. */

import { type GateNumber, UNGATED } from '../floor/job-control.js';
import type { List } from '../floor/paged-list.js';
import type { FoundHeader } from '../formats/header.js';
import type { RecordList } from '../formats/record-format.js';
import type { FileVersion } from '../io/files.js';
import type { Weighing } from '../keep/mix.js';
import type { SectionTally } from '../keep/sections.js';
import type { Weight } from '../keep/weights.js';
import type { Amount } from '../piles/pile-totals.js';
import { loadInputPlaces } from '../places/inputs/input-kinds.js';
import type { MemberRange, Slice, SlicePart } from '../plan/slices.js';
import { type Inputs, pathsOf } from './input.js';

export interface ReadableInputs {
  readonly inputs: Inputs;
  /** Streams are ungated. */
  readonly gates: readonly GateNumber[];
  /** The header of the first file, which all inputs share; undefined: no headers, or only streams. */
  readonly firstHeader: FoundHeader | undefined;
  /** The weights of inputs. Absent: each record comes once. */
  readonly weighing?: Weighing | undefined;
  /** The companion of each input. Absent: they have none. */
  readonly companions?: Inputs | undefined;
}

export type InputPart = {
  readonly inputOrdinal: number;
  readonly path: string;
  /** First word of the generator for all records of this input. */
  readonly inputKey: bigint;
  /** Every part has one in a job with weights. */
  readonly weight?: Weight | undefined;
  /** The group that a second scatter must know of each record: its second key. Absent: there is none. */
  readonly storedGroup?: number | undefined;
  /** The ordinal of its first record, from which the keys come; undefined: they come from the places of the records. */
  readonly firstOrdinal?: number | undefined;
  /** The file with the values of the records of its input. Absent: no values lie beside them. */
  readonly values?: PartValues | undefined;
} & (
  | {
      readonly kind: 'file';
      readonly version: FileVersion;
      readonly gate: GateNumber;
      /** The name of the codec. Undefined: plain bytes. */
      readonly codec: string | undefined;
      /** Decoded bytes of the input before its first record. They precede the part. */
      readonly headerBytes: number;
      /** The part has the records that begin in decoded bytes [start, end). */
      readonly start: number;
      readonly end: number;
      /** The members that decode to the part; undefined: it is plain, or all of a compressed file. */
      readonly members: MemberRange | undefined;
      /** How often the byte that the framing counts occurs before the position where its reader starts. */
      readonly countBefore: number;
    }
  | {
      readonly kind: 'rows';
      readonly version: FileVersion;
      readonly gate: GateNumber;
      /** The part has rows [start, end) of the file, which may be cut there. */
      readonly start: number;
      readonly end: number;
    }
  | { readonly kind: 'stream'; readonly firstHeader: FoundHeader | undefined }
  | { readonly kind: 'list'; readonly list: RecordList }
);

interface PartValues {
  readonly path: string;
  readonly version: FileVersion;
  /** The ordinal of the first record of the part. */
  readonly first: number;
  /** True if the part is the last one of its input. */
  readonly isLast: boolean;
}

/** A task took decoded bytes [start, end) of an input as records, or rows [start, end) of a file of rows; none if both are equal. */
export interface Coverage {
  readonly inputOrdinal: number;
  readonly start: number;
  readonly end: number;
  /** The bytes of rows. Absent: `end` less `start`. */
  readonly rowBytes?: number | undefined;
  /** Size of the decoded input, if this part reached its end. */
  readonly inputBytes: number | undefined;
  /** Bytes of the delimiter that the task added to the last record. */
  readonly addedBytes: number;
  /** Bytes at the end of the input that belong to no record. */
  readonly trailerBytes: number;
  /** Bytes of a UTF-8 mark before the first record, if this part has read it. Absent: 0. */
  readonly markBytes?: number | undefined;
  /** The blank records, which were left out. Absent: they count as records. */
  readonly blank?: Amount | undefined;
  /** The weighed records, in a job with weights. */
  readonly weighed?: WeighedRecords | undefined;
  /** The ordinals of these records, where the keys come from them. */
  readonly ordinals?:
    | {
        readonly start: number;
        readonly end: number;
        /** 16 hex digits: the sum of the names of the records, if they have names. */
        readonly names?: string | undefined;
      }
    | undefined;
}

/** Counts of records that have a weight. */
interface WeighedRecords {
  readonly records: number;
  /** The bytes of the weighed records, and what they make with all copies. Absent: each of them comes once. */
  readonly made?: (Amount & { readonly readBytes: number }) | undefined;
  /** The weights that numbers of the records give, as in `GroupAmount`. Absent: they have none. */
  readonly expected?: { readonly records: string; readonly bytes: string } | undefined;
  /** The sums as in `ReadSums`. Absent: nothing is added up. */
  readonly sums?: { readonly read: string; readonly made: string } | undefined;
}

/** The report of a task on its slice. The index of a committed pile set stores it for a later attempt at the job. */
export interface SliceReport {
  readonly coverage: readonly Coverage[];
  readonly longestRecordBytes: number;
  /** Records that were read and put on no pile, because they cannot be in the output. Absent: none can. */
  readonly leftOut?: Amount | undefined;
  /** The part of each section in the slice. Absent: there are none. */
  readonly sections?: readonly SectionTally[] | undefined;
}

export function readBytesOf({ start, end, rowBytes = end - start, addedBytes, blank }: Coverage): number {
  return rowBytes + addedBytes - (blank?.bytes ?? 0);
}

/** Returns what the records of a part make with all copies; the records are 0 if they have no weights. */
export function madeOf(part: Coverage): Amount {
  const { records = 0, made } = part.weighed ?? {};
  return made ?? { records, bytes: readBytesOf(part) };
}

export function inputPart(
  { inputs, gates, firstHeader, weighing, companions }: ReadableInputs,
  { inputOrdinal, start, end, members }: SlicePart,
  inputKey: bigint,
  countBefore: number,
  firstOrdinal?: number,
): InputPart {
  const input = inputs.at(inputOrdinal);
  if (input === undefined) throw new RangeError(`the plan names input ${inputOrdinal}, which does not exist`);
  const storedGroup = weighing?.storesGroups === true ? weighing.groupOf[inputOrdinal] : undefined;
  const weight = weighing?.weights[inputOrdinal];
  const common = { inputOrdinal, path: input.path, inputKey, weight, storedGroup };
  const beside = (first: number, isLast: boolean): PartValues | undefined => {
    const { path = '', version } = companions?.at(inputOrdinal) ?? {};
    return version && { path, version, first, isLast };
  };
  // Where values lie beside records, ordinals find these, and keys come from the places of the records.
  const whole = { ...common, firstOrdinal: companions === undefined ? firstOrdinal : undefined };
  if (input.kind === 'stream') return { kind: 'stream', ...whole, firstHeader };
  if (input.kind === 'list') return { kind: 'list', ...whole, list: input.list };
  const { version, codec, header, rows: facts } = input;
  const gate = gates[inputOrdinal] ?? UNGATED;
  if (facts !== undefined) {
    const rows = members === undefined ? { start: 0, end: facts.rows } : { start, end: end ?? facts.rows };
    const values = beside(rows.start, rows.end === facts.rows);
    return { kind: 'rows', ...whole, version, gate, ...rows, firstOrdinal: rows.start, values };
  }
  const { byteLength: headerBytes } = header;
  const isCut = codec === undefined || members !== undefined;
  return {
    kind: 'file',
    ...whole,
    version,
    gate,
    codec: codec?.name,
    headerBytes,
    start: isCut ? start : headerBytes,
    end: isCut ? (end ?? members?.decodedEnd ?? version.byteLength) : Number.POSITIVE_INFINITY,
    members,
    countBefore,
    values: beside(firstOrdinal ?? 0, !isCut || end === undefined || end === version.byteLength),
  };
}

/**
 * Announces what the tasks of a pass will read of remote inputs, so that it is fetched before they ask for it.
 * @param order the slices, in the order in which tasks begin. Absent: all of them.
 */
export async function announceReadingOrder(
  { inputs, slices }: { readonly inputs: Inputs; readonly slices: List<Slice> },
  order?: readonly number[],
): Promise<void> {
  const places = await loadInputPlaces(pathsOf(inputs));
  if (places.every(({ announceReads }) => announceReads === undefined)) return;
  const parts = order?.flatMap((slice) => slices.at(slice) ?? []) ?? [...slices].flat();
  const ranges = parts.flatMap(({ inputOrdinal, start, end, members }) => {
    const input = inputs.at(inputOrdinal);
    // Of rows, columns are read, and not all of them.
    if (input?.version === undefined || input.rows !== undefined) return [];
    const { path, version, codec } = input;
    const { byteLength } = version;
    if (members !== undefined) return [{ path, version, start: members.storedStart, end: members.storedEnd }];
    const stored = codec === undefined ? { start, end: end ?? byteLength } : { start: 0, end: byteLength };
    return [{ path, version, ...stored }];
  });
  for (const place of places) place.announceReads?.(ranges);
}
