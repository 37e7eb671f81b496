/**
 * Looks whether a decoder does as it should, on a sample: a skippable frame, a frame, another skippable
 * one and another frame. It must decode all of it, cut anywhere, and refuse it damaged.
 */
import type { ZstdDecoder } from './zstd-decoder.js';
import { decodeZstd } from './zstd-reader.js';

const SAMPLE = Buffer.from(
  'UCpNGAMAAABhYmMotS/9JD/dAQD0AnBpbGUgYnkgcGlsZSwgYWZ0ZXIsIGFuZCBldmVyIGluIGl0cyBvd24gb3JkZXIKAwBEDXK5' +
    'Im35ArFYpjBQKk0YAwAAAGFiYyi1L/0EaI0BACQCdGhlIHNlY29uZCBmcmFtZSBzYXlzIGFnYWluIDEKMjM0CgQAA1MG5lUqk8t5NgE4IvE+',
  'base64',
);
const DECODED =
  'pile by pile, pile after pile, and every pile in its own order\n' +
  [1, 2, 3, 4].map((i) => `the second frame says the second frame again ${i}\n`).join('');

export async function isSoundDecoder(decoder: ZstdDecoder): Promise<boolean> {
  const whole = await decodeSample(decoder, [SAMPLE]);
  const inTwo = await decodeSample(decoder, [SAMPLE.subarray(0, 90), SAMPLE.subarray(90)]);
  const damaged = Buffer.from(SAMPLE);
  // In the checksum of the last frame.
  damaged[damaged.byteLength - 1] = (damaged[damaged.byteLength - 1] ?? 0) ^ 1;
  return whole === DECODED && inTwo === DECODED && (await decodeSample(decoder, [damaged])) === undefined;
}

/** Undefined: refused. */
async function decodeSample(decoder: ZstdDecoder, pieces: readonly Uint8Array[]): Promise<string | undefined> {
  const given = pieces.map((piece) => new Uint8Array(piece));
  const source = { path: '', start: 0, next: () => given.shift() ?? new Uint8Array() };
  const decoded: Uint8Array[] = [];
  try {
    for await (const piece of decodeZstd(decoder, source, { reserve: () => true, budgetFor: () => '' })) {
      decoded.push(piece.slice());
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(decoded).toString();
}
