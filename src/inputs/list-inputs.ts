/**
 * From the inputs as they were named to the inputs as they are: directories and patterns expanded,
 * each file's version taken, its codec recognised.
 */
import { InputError, UsageError } from '../errors.js';
import type { Codec } from '../formats/codec.js';
import { CODEC_HEAD_BYTES, type DecompressProgram, detectCodec, withoutCodecSuffix } from '../formats/codec-table.js';
import type { Header } from '../formats/header.js';
import { type FileVersion, openForRead, readAt, versionOf, withFile } from '../io/files.js';
import { STANDARD_INPUT, STANDARD_INPUT_FILE } from '../io/input-source.js';
import { isPattern, listDirectory, listMatches } from '../io/list-files.js';
import { statPath } from '../io/paths.js';
import type { ShuffleOptions } from '../jobs/options.js';
import { hearSignalsAt } from '../pause.js';

/** One input; its place in the list is its ordinal. */
export type JobInput =
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly version: FileVersion;
      /** Undefined: plain bytes. */
      readonly codec: Codec | undefined;
      /** What is known from its header; of nothing until that was read. */
      readonly header: InputHeader;
    }
  | { readonly kind: 'stream'; readonly path: string; readonly identity: string };

/** What is kept of the header of each input. */
export type InputHeader = Pick<Header, 'byteLength' | 'recordBytes'>;

export const NO_HEADER: InputHeader = { byteLength: 0, recordBytes: undefined };

export interface JobInputs {
  readonly inputs: readonly JobInput[];
  /** Directories that were given; no output or temp file may lie below them. */
  readonly directories: readonly string[];
}

/** @throws InputError, UsageError, AbortedError */
export async function listInputs(
  named: ShuffleOptions['inputs'],
  onWarning: (line: string) => void,
  decompressProgram?: DecompressProgram,
  signal?: AbortSignal,
): Promise<JobInputs> {
  const inputs: JobInput[] = [];
  const directories: string[] = [];
  const seen = new Map<string, JobInput>();
  const add = async (path: string) => {
    await hearSignalsAt(inputs.length, signal);
    const input = openInput(path, decompressProgram);
    const identity = input.kind === 'file' ? input.version.identity : input.identity;
    const earlier = seen.get(identity);
    if (earlier !== undefined) {
      if (input.kind === 'stream' && earlier.kind === 'stream') {
        throw new UsageError(`${path} is the same stream as ${earlier.path}; it can be read only once`);
      }
      onWarning(`${path} is the same file as ${earlier.path}: its records are taken twice`);
    }
    seen.set(identity, input);
    inputs.push(input);
  };
  for (const name of named) {
    const path = typeof name === 'string' ? name : name.path;
    if (path === STANDARD_INPUT) {
      await add(path);
      continue;
    }
    const stat = statPath(path, 'input');
    if (stat === undefined && typeof name === 'string' && isPattern(path)) {
      const matches = await listMatches(path, signal);
      if (matches.length === 0) {
        throw new InputError(
          'ERR_INPUT_MISSING',
          `no file matches the pattern ${path}; check it and the current directory`,
        );
      }
      for (const match of matches) await add(match);
    } else if (stat?.isDirectory()) {
      directories.push(path);
      const files = await listDirectory(path, signal);
      if (files.length === 0) throw new InputError('ERR_INPUT_MISSING', `the directory ${path} holds no files`);
      for (const file of files) await add(file);
    } else {
      await add(path);
    }
  }
  if (inputs.length === 0)
    throw new UsageError('no inputs were given; name files, directories, or - for standard input');
  if (decompressProgram === undefined) warnOfNames(inputs, onWarning);
  await warnOfMissingEnds(inputs, onWarning, signal);
  const loaded = new Set<string>();
  for (const input of inputs) {
    const codec = input.kind === 'file' ? input.codec : undefined;
    if (codec === undefined || loaded.has(codec.name)) continue;
    await codec.load?.(input.path);
    loaded.add(codec.name);
  }
  return { inputs, directories };
}

/** A download that failed may have left no bytes, or a page that says why. */
function warnOfNames(inputs: readonly JobInput[], onWarning: (line: string) => void): void {
  const plain = inputs.filter(
    (input) => input.kind === 'file' && input.codec === undefined && withoutCodecSuffix(input.path) !== input.path,
  );
  const [first, ...others] = plain;
  if (first?.kind !== 'file') return;
  const what = first.version.byteLength === 0 ? 'is empty' : 'does not begin as such a file does';
  const more = others.length === 0 ? '' : `; so it is with ${others.length} others`;
  onWarning(`${first.path} is named as a compressed file and ${what}: it is taken as it is${more}`);
}

/** Other programs take such files for whole, and some write them so. */
async function warnOfMissingEnds(
  inputs: readonly JobInput[],
  onWarning: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const without: string[] = [];
  for (const [ordinal, input] of inputs.entries()) {
    await hearSignalsAt(ordinal, signal);
    const endMark = input.kind === 'file' ? input.codec?.endMark : undefined;
    if (input.kind !== 'file' || endMark === undefined) continue;
    if (!endsWith(input, endMark.bytes)) without.push(`${input.path} does not end with ${endMark.name}`);
  }
  const [first, ...others] = without;
  if (first === undefined) return;
  const more = others.length === 0 ? '' : `; so it is with ${others.length} others`;
  onWarning(`${first}; it may be cut${more}`);
}

function endsWith({ path, version }: JobInput & { kind: 'file' }, mark: Uint8Array): boolean {
  const end = new Uint8Array(mark.byteLength);
  const position = Math.max(0, version.byteLength - end.byteLength);
  const count = withFile(openForRead(path, 'input'), (file) => readAt(file, end, 0, end.byteLength, position));
  return Buffer.compare(end.subarray(0, count), mark) === 0;
}

/** The first bytes of the file that is looked at; there may be many thousands of files. */
const head = new Uint8Array(CODEC_HEAD_BYTES);

function openInput(path: string, decompressProgram: DecompressProgram): JobInput {
  if (path === STANDARD_INPUT) return { kind: 'stream', path, identity: versionOf(STANDARD_INPUT_FILE).identity };
  const stat = statPath(path, 'input');
  if (stat === undefined) {
    throw new InputError('ERR_INPUT_MISSING', `the input ${path} does not exist; check the name`);
  }
  if (stat.isFIFO() || stat.isCharacterDevice()) return { kind: 'stream', path, identity: `${stat.dev}:${stat.ino}` };
  if (!stat.isFile()) {
    throw new InputError('ERR_INPUT_UNREADABLE', `the input ${path} is neither a file, a directory nor a pipe`);
  }
  return withFile(openForRead(path, 'input'), (file) => {
    const version = versionOf(file);
    const count = readAt(file, head, 0, head.byteLength, 0);
    // Files of /proc say that they are empty: what they hold is known only when it is read.
    if (version.byteLength === 0 && count > 0) return { kind: 'stream', path, identity: version.identity };
    const codec = detectCodec(head.subarray(0, count), decompressProgram);
    return { kind: 'file', path, version, codec, header: NO_HEADER };
  });
}
