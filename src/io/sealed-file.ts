/**
 * The format of everything that a job or a store notes about itself as JSON. One line, then exactly the bytes that it
 * describes:
 *
 *     pileshuf KIND VERSION BYTELENGTH SHA256\n
 *     {"json": ...}
 *
 * KIND says what it is (`manifest`), VERSION is the format of that kind, BYTELENGTH counts the bytes of the JSON, and
 * SHA256 (in lower-case hex) is of the whole file except itself and the end of the line. So every changed byte is
 * detected, and a damaged file is not mistaken for one of another version. The first line has the same form in all
 * versions.
 */
import { createHash } from 'node:crypto';
import { UsageError, VerificationError } from '../errors.js';
import { jsonOf, parseJson } from './plain-data.js';

/** The advice about a file that cannot be used. Messages put it after a semicolon. */
export interface Remedy {
  readonly ifDamaged: string;
  readonly ifOtherVersion: string;
  readonly otherVersionCode: 'ERR_JOB_VERSION' | 'ERR_STORE_VERSION' | 'ERR_INDEX_VERSION';
}

export const JOB_REMEDY: Remedy = {
  ifDamaged: 'give `force` without `resume` to discard the job',
  ifOtherVersion: 'finish the job with that version or give `force` without `resume` to discard it',
  otherVersionCode: 'ERR_JOB_VERSION',
};

/** @param problem what is wrong, in one line: `expected ..., got ...`. */
export function damagedFileError(path: string, problem: string, remedy: Remedy = JOB_REMEDY): VerificationError {
  return new VerificationError(`${path} is damaged: ${problem}; ${remedy.ifDamaged}`);
}

const FIRST_LINE = new RegExp(
  '^(?<prefix>pileshuf (?<kind>[a-z][a-z-]{0,31}) (?<version>[1-9]\\d{0,8}) (?<byteLength>0|[1-9]\\d{0,14}) )' +
    '(?<digest>[0-9a-f]{64})$',
);
export const FIRST_BYTES_OF_SEALED_FILES = Buffer.from('pileshuf ', 'latin1');
export const LONGEST_FIRST_LINE_BYTES = 160;
const NEWLINE = 10;

/** @param kind lower-case letters and hyphens, 32 at most. */
export function seal(kind: string, version: number, value: object): Uint8Array {
  const json = Buffer.from(jsonOf(value));
  const prefix = `pileshuf ${kind} ${version} ${json.byteLength} `;
  return Buffer.concat([Buffer.from(`${prefix}${digestOf(prefix, json)}\n`), json]);
}

/**
 * The value that was sealed, if it is plain data.
 * @throws VerificationError when any byte is not as it was written, or the file is of another kind.
 * @throws UsageError (ERR_JOB_VERSION, or as the remedy says) when it is whole, but of another version.
 */
export function unseal(
  bytes: Uint8Array,
  kind: string,
  version: number,
  path: string,
  remedy: Remedy = JOB_REMEDY,
): unknown {
  const damaged = (problem: string) => damagedFileError(path, problem, remedy);
  const line = firstLineOf(bytes);
  const { prefix, kind: foundKind, version: foundVersion, byteLength, digest } = FIRST_LINE.exec(line)?.groups ?? {};
  if (prefix === undefined) throw damaged(`expected it to begin with "pileshuf ${kind}" and a checksum`);

  const json = bytes.subarray(line.length + 1);
  if (json.byteLength !== Number(byteLength)) {
    throw damaged(`expected ${byteLength} bytes after the first line, got ${json.byteLength}`);
  }
  if (digestOf(prefix, json) !== digest) throw damaged('its bytes do not match their checksum');
  if (foundKind !== kind) throw damaged(`expected a file of the kind "${kind}", got "${foundKind}"`);
  if (Number(foundVersion) !== version) {
    throw new UsageError(
      `${path} was written by another version of pileshuf (format ${foundVersion}, expected ${version}); ${remedy.ifOtherVersion}`,
      remedy.otherVersionCode,
    );
  }
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(json));
  } catch {
    throw damaged('expected JSON after the first line');
  }
}

/** Cuts a file after what is sealed at its beginning. Bytes that begin otherwise are all taken for sealed. */
export function splitSealed(bytes: Uint8Array): { readonly sealed: Uint8Array; readonly rest: Uint8Array } {
  const line = firstLineOf(bytes);
  const end = line.length + 1 + Number(FIRST_LINE.exec(line)?.groups?.['byteLength'] ?? bytes.byteLength);
  return { sealed: bytes.subarray(0, end), rest: bytes.subarray(end) };
}

/**
 * The kind that a sealed file declares; undefined for other files. The rest of the file is not checked.
 * @param head the first bytes of the file, up to `LONGEST_FIRST_LINE_BYTES`.
 */
export function kindOfSealed(head: Uint8Array): string | undefined {
  return FIRST_LINE.exec(firstLineOf(head))?.groups?.['kind'];
}

function firstLineOf(bytes: Uint8Array): string {
  const lineLength = bytes.subarray(0, LONGEST_FIRST_LINE_BYTES).indexOf(NEWLINE);
  return Buffer.from(bytes.subarray(0, Math.max(0, lineLength))).toString('latin1');
}

function digestOf(prefix: string, json: Uint8Array): string {
  return createHash('sha256').update(prefix).update(json).digest('hex');
}
