/**
 * Fingerprints of the inputs show a later attempt at a job whether an input has changed. They are short, because there
 * may be a million inputs:
 *
 *     byte 0   8 bytes of the SHA-256 of its absolute path
 *          8   u64 byte length        16   i64 nanoseconds of its last change
 *         24   8 bytes of the SHA-256 of its first and last 4 KiB, in a job that can be resumed; else 0
 *
 * An input on another machine has a hash of its validator in place of the time, and none of its ends.
 */

import { createHash, hash } from 'node:crypto';
import { counted } from '../errors.js';
import { yieldAndCheckAbortAt } from '../floor/pause.js';
import { hashFileEnds } from '../io/file-window.js';
import { FINGERPRINT_BYTES, type ManifestInputs } from '../job-directory/job-manifest.js';
import { inputFactsOf } from '../places/inputs/input-kinds.js';
import { type Input, type Inputs, isFileInput } from './input.js';

/** @param withEnds whether each input gets a fingerprint, with a hash of its ends, instead of one digest of all. */
export async function noteInputs(
  inputs: Inputs,
  withEnds: boolean,
  signal: AbortSignal | undefined,
): Promise<ManifestInputs> {
  const digest = createHash('sha256');
  const fingerprints = new Uint8Array(withEnds ? inputs.length * FINGERPRINT_BYTES : 0);
  const fingerprint = Buffer.alloc(FINGERPRINT_BYTES);
  for (const [ordinal, input] of inputs.entries()) {
    await yieldAndCheckAbortAt(ordinal, signal);
    writeFingerprint(fingerprint, input);
    digest.update(fingerprint);
    if (!withEnds) continue;
    fingerprints.set(fingerprint, ordinal * FINGERPRINT_BYTES);
    fingerprints.set(hashEnds(input), ordinal * FINGERPRINT_BYTES + 24);
  }
  return { count: inputs.length, digest: digest.digest('hex'), fingerprints };
}

/** Writes all but the hash of the ends. */
function writeFingerprint(target: Buffer, input: Input): void {
  target.write(hash('sha256', inputFactsOf(input.path).fullName(input.path), 'hex').slice(0, 16), 'hex');
  target.writeBigUInt64LE(BigInt(input.version?.byteLength ?? 0), 8);
  target.writeBigInt64LE(BigInt.asIntN(64, input.version?.modifiedNanoseconds ?? 0n), 16);
}

function hashEnds(input: Input): Buffer {
  // The version of an input elsewhere says more than its ends, which would cost two requests.
  return isFileInput(input) && inputFactsOf(input.path).isOnDisk
    ? hashFileEnds(input.path, input.version.byteLength, 'input').subarray(0, 8)
    : Buffer.alloc(8);
}

interface InputChange {
  readonly ordinal: number;
  readonly change: string;
}

/** Finds the first input that has changed. Its ordinal is -1 if only the digest of all inputs differs. */
export async function findInputChange(
  noted: ManifestInputs,
  inputs: Inputs,
  signal: AbortSignal | undefined,
): Promise<InputChange | undefined> {
  const fingerprints = Buffer.from(
    noted.fingerprints.buffer,
    noted.fingerprints.byteOffset,
    noted.fingerprints.byteLength,
  );
  const now = Buffer.alloc(FINGERPRINT_BYTES);
  for (let ordinal = 0; (ordinal + 1) * FINGERPRINT_BYTES <= fingerprints.byteLength; ordinal++) {
    const input = inputs.at(ordinal);
    if (input === undefined) break;
    const then = fingerprints.subarray(ordinal * FINGERPRINT_BYTES, (ordinal + 1) * FINGERPRINT_BYTES);
    await yieldAndCheckAbortAt(ordinal, signal);
    writeFingerprint(now, input);
    const change = describeChange(then, now, input);
    if (change !== undefined) return { ordinal, change };
  }
  if ((await noteInputs(inputs, false, signal)).digest === noted.digest) return undefined;
  return { ordinal: -1, change: 'a size, a time or a name changed' };
}

function describeChange(then: Buffer, now: Buffer, input: Input): string | undefined {
  if (then.compare(now, 0, 8, 0, 8) !== 0) return 'another file had this place in the list';
  const [sizeThen, sizeNow] = [then.readBigUInt64LE(8), now.readBigUInt64LE(8)];
  if (sizeThen !== sizeNow) return `its size was ${counted(sizeThen, 'byte')} and is ${sizeNow}`;
  if (then.readBigInt64LE(16) !== now.readBigInt64LE(16)) return inputFactsOf(input.path).changeText;
  return hashEnds(input).equals(then.subarray(24)) ? undefined : 'its first or last bytes differ';
}
