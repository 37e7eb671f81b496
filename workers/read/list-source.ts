/** Records that are in memory. Nothing looks for delimiters, since a record may hold them. */
import { type Framing, type FramingKernel, NOTHING, type RecordScanner } from '../../src/formats/framing.js';
import type { RecordList } from '../../src/formats/record-format.js';
import { beginAt, type PartSource, type ReadContext } from './part-source.js';

export function listSource(list: RecordList, { framing: given, control }: ReadContext): PartSource {
  const framing = framingOfList(list, given?.delimiter);
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
