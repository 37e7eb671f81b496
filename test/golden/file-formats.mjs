/**
 * Takes apart the files that pileshuf keeps, by docs/ARCHITECTURE.md: verifies checksums, replaces random values,
 * times and places, and computes the checksums anew. So files of different attempts can be compared byte for byte, and
 * a job directory can be moved. Shares no code with the program.
 */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { crc32 } from 'node:zlib';

/** @typedef {{ kind: string, version: number, value: any, rest?: Buffer }} Sealed `rest`: the bytes after it. */

/** @param {Buffer} bytes @returns {Sealed} */
export function unseal(bytes) {
  const lineEnd = bytes.indexOf(10);
  const line = bytes.toString('latin1', 0, lineEnd);
  const [, told = '', kind = '', version, byteLength, digest] =
    /^(pileshuf ([a-z-]+) (\d+) (\d+) )([0-9a-f]{64})$/.exec(line) ?? [];
  const json = bytes.subarray(lineEnd + 1, lineEnd + 1 + Number(byteLength));
  const rest = bytes.subarray(lineEnd + 1 + json.byteLength);
  if (json.byteLength !== Number(byteLength) || digestOf(told, json) !== digest) throw new Error(`damaged: ${line}`);
  const value = JSON.parse(json.toString());
  if (JSON.stringify(value) !== json.toString()) throw new Error(`not as JSON.stringify writes it: ${json}`);
  return { kind, version: Number(version), value, rest };
}

/** @param {Sealed} sealed @returns {Buffer} */
export function seal({ kind, version, value, rest = Buffer.alloc(0) }) {
  const json = Buffer.from(JSON.stringify(value));
  const told = `pileshuf ${kind} ${version} ${json.byteLength} `;
  return Buffer.concat([Buffer.from(`${told}${digestOf(told, json)}\n`), json, rest]);
}

/** @param {string} told @param {Uint8Array} json */
function digestOf(told, json) {
  return createHash('sha256').update(told).update(json).digest('hex');
}

/** @param {Buffer} bytes */
export function isSealed(bytes) {
  return bytes.toString('latin1', 0, 9) === 'pileshuf ';
}

const DESCRIPTION_BYTES_AT = 28;
const DESCRIPTION_CRC_AT = 36;
const HEADER_CRC_AT = 40;

/**
 * The index of a pile set with another text in its description.
 * @param {Buffer} bytes
 * @param {(text: string) => string} change which keeps its length
 */
export function withDescription(bytes, change) {
  const changed = Buffer.from(bytes);
  const description = changed.subarray(changed.byteLength - changed.readUInt32LE(DESCRIPTION_BYTES_AT));
  if (crc32(description) !== changed.readUInt32LE(DESCRIPTION_CRC_AT)) throw new Error('a wrong CRC of a description');
  if (crc32(changed.subarray(0, HEADER_CRC_AT)) !== changed.readUInt32LE(HEADER_CRC_AT))
    throw new Error('a wrong CRC of a header');
  const text = Buffer.from(change(description.toString()));
  if (text.byteLength !== description.byteLength) throw new Error(`another length: ${text}`);
  text.copy(description);
  changed.writeUInt32LE(crc32(description), DESCRIPTION_CRC_AT);
  changed.writeUInt32LE(crc32(changed.subarray(0, HEADER_CRC_AT)), HEADER_CRC_AT);
  return changed;
}

const FINGERPRINT_BYTES = 32;
const PATH_HASH_BYTES = 8;
const WITHOUT_ENDS_BYTES = 24;

/**
 * The manifest of a job as it were with its files elsewhere. Of the fields it knows those that hold places alone; which
 * others there are is the affair of the format.
 * @param {Sealed} manifest
 * @param {{ output: string, tempDirs: readonly string[], inputs: readonly string[] }} places
 * @returns {Sealed}
 */
export function relocated({ kind, version, value, rest }, { output, tempDirs, inputs }) {
  const fingerprints = Buffer.from(rest ?? []);
  const digest = createHash('sha256');
  for (const [i, path] of inputs.entries()) {
    const fingerprint = fingerprints.subarray(i * FINGERPRINT_BYTES, (i + 1) * FINGERPRINT_BYTES);
    createHash('sha256').update(resolve(path)).digest().copy(fingerprint, 0, 0, PATH_HASH_BYTES);
    digest.update(fingerprint.subarray(0, WITHOUT_ENDS_BYTES)).update(Buffer.alloc(8));
  }
  const fingerprintsDigest = createHash('sha256').update(fingerprints).digest('hex');
  const noted = { ...value.inputs, digest: digest.digest('hex'), fingerprintsDigest };
  return { kind, version, value: { ...value, output, tempDirs: [...tempDirs], inputs: noted }, rest: fingerprints };
}
