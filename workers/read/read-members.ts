/**
 * Scatters the records that begin in some members of a compressed input.
 *
 * The members are decoded from the first to the last, and nothing else is: each byte of the input belongs to one
 * part, and what they decode to must be as long as they said when the input was cut. So nothing is lost or read twice
 * whatever they say. Only then, when the last record goes on in the members behind, these are decoded as well, as
 * far as it takes.
 */
import { InputError } from '../../src/errors.js';
import { codecNamed } from '../../src/formats/codec-table.js';
import { type Framing, readerStart } from '../../src/formats/framing.js';
import type { RegularInput } from '../../src/io/input-source.js';
import { piecesInPhase } from '../../src/phase-clock.js';
import type { MemberRange } from '../../src/plan/slices.js';
import type { ReadState } from '../tasks/job-share.js';
import { compressedRange } from './compressed-range.js';
import type { Coverage, InputPart } from './input-part.js';
import type { PartScatterer } from './record-reader.js';

export async function scatterMembers(
  part: InputPart & { kind: 'members' },
  input: RegularInput,
  framing: Framing,
  scatterer: PartScatterer,
  { control, decoderMemory }: ReadState,
): Promise<Coverage> {
  const { headerBytes, start, end, members, version } = part;
  const { storedStart, storedEnd, decodedStart, decodedEnd } = members;
  const decode = (from: number, to: number, onRead: (byteLength: number) => void) => {
    const source = compressedRange(input, from, to, control, onRead);
    return piecesInPhase('decompress', codecNamed(part.codec).decode(source, decoderMemory));
  };
  // The first bytes may be the end of a record of the part before.
  const begin = readerStart(framing, start, headerBytes);
  scatterer.begin(begin, begin < start);
  let position = decodedStart;
  const take = (piece: Uint8Array) => {
    scatterer.takeCopy(piece.subarray(Math.max(0, begin - position)), control, end);
    position += piece.byteLength;
  };

  const count = (byteLength: number) => control.count('scatteredBytes', byteLength);
  for await (const piece of decode(storedStart, storedEnd, count)) {
    if (position + piece.byteLength > decodedEnd) throw otherLength(input.path, members, 'more');
    take(piece);
  }
  if (position < decodedEnd) throw otherLength(input.path, members, position - decodedStart);

  if (storedEnd === version.byteLength) return scatterer.endOfInput();
  if (!scatterer.wantsMore(end)) return scatterer.endOfRange(end);
  for await (const piece of decode(storedEnd, Number.POSITIVE_INFINITY, () => {})) {
    take(piece);
    if (!scatterer.wantsMore(end)) return scatterer.endOfRange(end);
  }
  return scatterer.endOfInput();
}

function otherLength(path: string, members: MemberRange, decodedBytes: number | 'more'): InputError {
  const { storedStart, storedEnd, decodedStart, decodedEnd } = members;
  return new InputError(
    'ERR_INPUT_CORRUPT',
    `${path}: its bytes ${storedStart} to ${storedEnd} (compressed) decode to ${decodedBytes} bytes, expected the ${decodedEnd - decodedStart} that they say they hold; make the file again`,
  );
}
