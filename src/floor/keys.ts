/**
 * Derives the generator's keys from the seed, which is any string. The seed goes through SHA-256, because small
 * generators with string seeds map many strings to the same state. Of such a key and its place, the kernel makes the key of
 * a record (`workers/kernel/assembly/keying.ts`, with weights `copies.ts`).
 *
 *     input key = first 8 bytes, little-endian, of SHA-256(
 *                   u64 byte length of the seed | seed in UTF-8 | u64 byte length of the id | id in UTF-8)
 *
 * The id of an input is its ordinal in the list, in decimal. This is part of the order's contract.
 */
import { createHash, hash, randomBytes } from 'node:crypto';

/** The source of the key of a record: the place of its first byte, or its ordinal in its input. */
export type KeyRule = 'position' | 'ordinal';

function lengthPrefixed(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(bytes.byteLength));
  return Buffer.concat([prefix, bytes]);
}

/** Holds the digest of one input after the other. There may be a million, and a hash object takes long to make and to free. */
const digest = Buffer.alloc(32);

export function deriveInputKey(seed: string, inputId: string): bigint {
  digest.write(hash('sha256', Buffer.concat([lengthPrefixed(seed), lengthPrefixed(inputId)]), 'hex'), 'hex');
  return digest.readBigUInt64LE();
}

/** Returns the key with which a loader mixes the stored keys. It hashes three texts, a key of an input two: they differ. */
export function deriveEpochKey(seed: string, epoch: number): bigint {
  return hashOfEpoch(seed, 'keys', epoch).readBigUInt64LE();
}

/** Returns the key of the order of a range of numbers. @param range its ends, as in `1-10`. */
export function deriveRangeKey(seed: string, range: string): bigint {
  return hashOf(seed, 'number range', range).readBigUInt64LE();
}

/** Returns the seed with which `seedrandom` draws the order of the piles in an epoch. */
export function derivePileOrderSeed(seed: string, epoch: number): string {
  return hashOfEpoch(seed, 'piles', epoch).toString('hex');
}

/** Returns the key for draws with replacement. */
export function deriveDrawKey(seed: string): bigint {
  return hashOf(seed, 'draws', '').readBigUInt64LE();
}

/** Returns the key for the draws that choose splits by the values of a field. */
export function deriveSplitKey(seed: string): bigint {
  return hashOf(seed, 'splits', '').readBigUInt64LE();
}

/** Returns the key for records whose keys follow from their content: one for all inputs. */
export function deriveContentKey(seed: string): bigint {
  return hashOf(seed, 'content', '').readBigUInt64LE();
}

/** Returns the key for records whose keys follow from a value that they have in common: one for all inputs. */
export function deriveBundleKey(seed: string): bigint {
  return hashOf(seed, 'groups', '').readBigUInt64LE();
}

function hashOfEpoch(seed: string, what: 'keys' | 'piles', epoch: number): Buffer {
  return hashOf(seed, `epoch ${what}`, String(epoch));
}

function hashOf(...texts: readonly string[]): Buffer {
  return createHash('sha256')
    .update(Buffer.concat(texts.map(lengthPrefixed)))
    .digest();
}

/** Returns the seed with which `seedrandom` draws samples of inputs for estimates. */
export function deriveSampleSeed(seed: string): string {
  return createHash('sha256').update(lengthPrefixed(seed)).digest('hex');
}

/** Returns a random seed, for a job without one. */
export function generateSeed(): string {
  return randomBytes(8).toString('hex');
}
