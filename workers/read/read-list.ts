/** Takes records that are in memory. The reader looks for no delimiters, since a record may hold them. */
import { type Framing, type FramingKernel, NOTHING, type RecordScanner } from '../../src/formats/framing.js';
import type { RecordList } from '../../src/formats/record-format.js';
import type { InputPart } from '../../src/sources/input-part.js';
import type { ReadState } from '../thread-state.js';
import type { PartReport, RecordReader } from './record-reader.js';

export function readList(
  { list }: InputPart & { kind: 'list' },
  framing: Framing | undefined,
  openReader: (framing: Framing) => RecordReader,
  { control }: ReadState,
): PartReport {
  const { byteLength } = list.bytes;
  const reader = openReader(framingOfList(list, framing?.delimiter));
  reader.begin(0, false);
  control.count('scatteredBytes', byteLength);
  control.count('decodedBytes', byteLength);
  reader.takeCopy(list.bytes, control);
  return { coverage: reader.endOfInput(), header: undefined, decoder: undefined };
}

function framingOfList({ ends }: RecordList, delimiter: Uint8Array = NOTHING): Framing {
  return {
    delimiter,
    cut: { kind: 'never' },
    countSample: () => undefined,
    openScanner: (kernel) => listScanner(kernel, ends),
  };
}

function listScanner(kernel: FramingKernel, ends: Float64Array): RecordScanner {
  let marked = 0;
  return {
    needsWholeRecords: true,
    scan: (_, to, recordStart, table, maxCount) => {
      const { view } = kernel;
      let start = recordStart;
      let count = 0;
      for (; count < maxCount && marked < ends.length; count++, marked++) {
        const end = start + (ends[marked] ?? 0) - (ends[marked - 1] ?? 0);
        if (end > to) break;
        view.setUint32(table + 8 * count, start, true);
        view.setUint32(table + 8 * count + 4, end, true);
        start = end;
      }
      return count;
    },
    complete: () => {
      throw new RangeError('records in memory end with their bytes');
    },
  };
}
