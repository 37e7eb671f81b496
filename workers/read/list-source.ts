/** Records that are in memory. */

import { KnownEnds } from '../../src/formats/known-ends.js';
import type { RecordList } from '../../src/formats/record-format.js';
import { beginAt, type PartSource, type ReadContext } from './part-source.js';

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
