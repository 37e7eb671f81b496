/** The filter szip: samples as CCSDS 121.0 codes them, in lines of blocks, each of which tells how it is coded. */
import { Hdf5Problem } from '../hdf5-bytes.js';
import { allocateOutput, BitReader } from './bit-reader.js';
import { reordered } from './byte-shuffle.js';

const MOST_SIGNIFICANT_FIRST = 16;
/** Differences to the sample before are coded, and the first sample of a line as it is. */
const DIFFERENCES = 32;
/** The head before the coded samples: how many bytes they become. */
const HEAD_BYTES = 4;
const [MOST_BLOCK, MOST_LINE] = [64, 2 ** 20];
/** This many blocks of zeros stand for all up to the end of a segment of so many. */
const [REST_OF_SEGMENT, SEGMENT] = [5, 64];

interface Line {
  readonly bits: BitReader;
  readonly sampleBits: number;
  readonly blockLength: number;
  readonly hasFirst: boolean;
}

/** @param values options, samples of a block, bits of a value, and values of a line. */
export function unpackSzip(stored: Uint8Array, values: readonly number[], most: number): Uint8Array {
  const [options = 0, blockLength = 0, valueBits = 0, lineLength = 0] = values;
  // Of larger values the bytes are samples: all first ones, then all second ones.
  const isApart = valueBits === 32 || valueBits === 64;
  const sampleBits = isApart ? 8 : valueBits;
  const isKnown =
    blockLength > 0 &&
    blockLength <= MOST_BLOCK &&
    sampleBits > 0 &&
    sampleBits <= 24 &&
    lineLength > 0 &&
    lineLength <= MOST_LINE;
  if (!isKnown || stored.byteLength < HEAD_BYTES)
    throw new Hdf5Problem('goes through szip in a way that pileshuf does not know');
  const size = Buffer.from(stored.buffer, stored.byteOffset, HEAD_BYTES).readUInt32LE();
  const bytes = allocateOutput(size, most);
  const sampleBytes = sampleBits > 16 ? 4 : sampleBits > 8 ? 2 : 1;
  const hasFirst = (options & DIFFERENCES) !== 0;
  const line = { bits: new BitReader(stored, HEAD_BYTES), sampleBits, blockLength, hasFirst };
  // A line is filled up to whole blocks.
  const samples = new Uint32Array(Math.ceil(lineLength / blockLength) * blockLength);
  const count = Math.floor(size / sampleBytes);
  for (let done = 0; done < count; done += lineLength) {
    const wanted = Math.min(lineLength, count - done);
    readLine(line, samples, done + lineLength < count ? samples.length : wanted);
    const largest = 2 ** sampleBits - 1;
    if (samples.some((sample) => sample > largest))
      throw new Hdf5Problem(`has a sample of more than ${sampleBits} bits`);
    if (hasFirst) addDifferences(samples, wanted, largest);
    for (let i = 0, at = done * sampleBytes; i < wanted; i++, at += sampleBytes) {
      if ((options & MOST_SIGNIFICANT_FIRST) === 0) bytes.writeUIntLE(samples[i] ?? 0, at, sampleBytes);
      else bytes.writeUIntBE(samples[i] ?? 0, at, sampleBytes);
    }
  }
  return isApart ? reordered(bytes, valueBits / 8, false) : bytes;
}

function readLine({ bits, sampleBits, blockLength, hasFirst }: Line, samples: Uint32Array, wanted: number): void {
  const idBits = sampleBits > 16 ? 5 : sampleBits > 8 ? 4 : 3;
  const plain = 2 ** idBits - 1;
  for (let at = 0; at < wanted; ) {
    let end = at + blockLength;
    const id = bits.take(idBits);
    const isPaired = id === 0 && bits.take(1) === 1;
    if (hasFirst && at === 0 && id !== plain) samples[at++] = bits.take(sampleBits);
    if (id === plain) for (; at < end; at++) samples[at] = bits.take(sampleBits);
    else if (id > 0) {
      const low = id - 1;
      for (let i = at; i < end; i++) samples[i] = bits.zeros() * 2 ** low;
      for (; at < end; at++) samples[at] = (samples[at] ?? 0) + bits.take(low);
    } else if (isPaired) {
      while (at < end) {
        // Pairs are numbered by their sums, and within a sum by their second sample.
        const number = bits.zeros();
        const sum = Math.floor((Math.sqrt(8 * number + 1) - 1) / 2);
        const second = number - (sum * (sum + 1)) / 2;
        if (at % 2 === 0) samples[at++] = sum - second;
        samples[at++] = second;
      }
    } else {
      const blocks = bits.zeros() + 1;
      const before = Math.floor(at / blockLength);
      const rest = Math.min(samples.length / blockLength - before, SEGMENT - (before % SEGMENT));
      const zeros = blocks === REST_OF_SEGMENT ? rest : blocks - Number(blocks > REST_OF_SEGMENT);
      end += (zeros - 1) * blockLength;
      if (end > samples.length) throw new Hdf5Problem('has more zeros than a line');
      samples.fill(0, at, end);
      at = end;
    }
  }
}

/** Differences are numbered 0, -1, 1, -2 and so on, as far as both directions have room. */
function addDifferences(samples: Uint32Array, count: number, most: number): void {
  let value = samples[0] ?? 0;
  for (let i = 1; i < count; i++) {
    const number = samples[i] ?? 0;
    const isUpper = value > most / 2;
    const room = isUpper ? most - value : value;
    if (Math.ceil(number / 2) <= room) value += number % 2 === 0 ? number / 2 : -(number + 1) / 2;
    else value = isUpper ? most - number : number;
    samples[i] = value;
  }
}
