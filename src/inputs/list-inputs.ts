/**
 * Lists the inputs: expands the directories and patterns that the caller names, notes the version of each file, and
 * recognises its codec, or looks at its first bytes if they are plain. A directory stands for its data: what pileshuf made
 * beside it, and the output of the job, are left out.
 */
import { InputError, nameSome, UsageError } from '../errors.js';
import type { Codec } from '../formats/codec.js';
import { CODEC_HEAD_BYTES, type DecompressProgram, detectCodec, withoutCodecSuffix } from '../formats/codec-table.js';
import { type Finding, headBytesOf, lookAt } from '../formats/first-look.js';
import type { Header } from '../formats/header.js';
import { JSON_HEAD_BYTES } from '../formats/json-lines.js';
import type { RecordFormat } from '../formats/record-format.js';
import type { RecordList } from '../formats/record-list.js';
import { type FileVersion, openForRead, readAt, versionOf, withFile } from '../io/files.js';
import { STANDARD_INPUT, STANDARD_INPUT_FILE } from '../io/input-source.js';
import { type Entry, isPattern, listDirectory, listMatches } from '../io/list-files.js';
import { statPath } from '../io/paths.js';
import { type GateNumber, UNGATED } from '../job-control.js';
import { isNameOfJobDirectory } from '../job-directory/job-paths.js';
import type { DeviceGates } from '../machine/device-gates.js';
import { hearSignalsAt } from '../pause.js';
import { OWN_HEAD_BYTES, ownDirectoryAt, ownFileAt } from './own-files.js';

/**
 * An input as the caller names it: a file, a directory, a glob pattern or `-`. `{ path }` is never a pattern. `begin`:
 * the first bytes of a stream, which the caller has read already. `{ records }`: an input in memory.
 */
export type NamedInput =
  | string
  | { readonly path: string; readonly begin?: Uint8Array | undefined }
  | { readonly records: readonly (string | Uint8Array)[] };

/** A named input as the listing takes it: with the records, if it has any, joined by the delimiter of the job. */
export type AskedInput = Exclude<NamedInput, { readonly records: unknown }> | { readonly list: RecordList };

/** One input; its place in the list is its ordinal. */
export type Input =
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly version: FileVersion;
      /** Undefined: plain bytes. */
      readonly codec: Codec | undefined;
      /** What its first bytes say, if they are plain. */
      readonly finding: Finding | undefined;
      /** `NO_HEADER` until the headers are read. */
      readonly header: InputHeader;
    }
  | {
      readonly kind: 'stream';
      readonly path: string;
      readonly identity: string;
      /** Was read of it before the job. */
      readonly begin?: Uint8Array | undefined;
    }
  /** Records in memory; `path` is what messages call them. */
  | { readonly kind: 'list'; readonly path: string; readonly identity: string; readonly list: RecordList };

export type FileInput = Input & { readonly kind: 'file' };

/** The part of the header of each input that a job keeps. */
export type InputHeader = Pick<Header, 'byteLength' | 'recordBytes' | 'isMarked'>;

export const NO_HEADER: InputHeader = { byteLength: 0, recordBytes: undefined };

export interface ListedInputs {
  readonly inputs: readonly Input[];
  /** The directories among the named inputs. */
  readonly directories: readonly string[];
  /** Files below them that are left out, because they are in the place of the output. */
  readonly outputs: readonly string[];
}

/**
 * Whether a file is in the place of the job's output. @param identity device and inode of the file.
 */
export type IsOutput = (path: string, identity: string) => boolean;

/** The device and inode of an input. */
export function identityOf(input: Input): string {
  return input.kind === 'file' ? input.version.identity : input.identity;
}

/** How inputs are listed. */
export interface ListingRequest {
  readonly decompressProgram?: DecompressProgram;
  readonly signal?: AbortSignal | undefined;
  /** What the first bytes of plain files are held to. Absent: nothing. */
  readonly format?: RecordFormat;
  /** The files for which it is true are left out where the caller names a directory. */
  readonly isOutput?: IsOutput;
}

/** @throws InputError, UsageError, AbortError */
export async function listInputs(
  named: readonly AskedInput[],
  onWarning: (line: string) => void,
  { decompressProgram, signal, format, isOutput = () => false }: ListingRequest = {},
): Promise<ListedInputs> {
  const inputs: Input[] = [];
  const directories: string[] = [];
  const seen = new Map<string, Input>();
  const again: { readonly path: string; readonly earlier: string }[] = [];
  const own: string[] = [];
  const outputs: string[] = [];
  const add = (path: string, { input, ownKind }: OpenedInput) => {
    if (ownKind !== undefined) {
      throw new InputError(
        'ERR_INPUT_UNREADABLE',
        `the input ${path} is ${ownKind}, which pileshuf made beside data; leave it out`,
      );
    }
    const identity = identityOf(input);
    const earlier = seen.get(identity);
    if (earlier !== undefined) {
      if (input.kind === 'stream' && earlier.kind === 'stream') {
        throw new UsageError(`${path} is the same stream as ${earlier.path}; it can be read only once`);
      }
      again.push({ path, earlier: earlier.path });
    } else {
      seen.set(identity, input);
    }
    inputs.push(input);
  };
  const open = async (path: string, begin?: Uint8Array) => {
    await hearSignalsAt(inputs.length, signal);
    return openInput(path, format, decompressProgram, begin);
  };
  const addDirectory = async (directory: string) => {
    const isLeftOut = (folder: string, entries: readonly Entry[]) => {
      const kind = ownDirectoryAt(folder, entries);
      if (kind === undefined) return false;
      if (folder === directory) throw ownDirectory(directory, kind);
      own.push(folder);
      return true;
    };
    const before = inputs.length + own.length + outputs.length;
    const firstOrdinal = inputs.length;
    for (const file of await listDirectory(directory, signal, isLeftOut, isNameOfJobDirectory)) {
      const opened = await open(file);
      if (isOutput(file, identityOf(opened.input))) outputs.push(file);
      else if (opened.ownKind !== undefined) own.push(file);
      else add(file, opened);
    }
    if (inputs.length > firstOrdinal) return;
    const isEmpty = inputs.length + own.length + outputs.length === before;
    const what = isEmpty ? 'files' : 'data, only files that pileshuf made, or the output itself';
    throw new InputError('ERR_INPUT_MISSING', `the directory ${directory} holds no ${what}`);
  };
  for (const name of named) {
    if (typeof name !== 'string' && 'list' in name) {
      inputs.push(inputInMemory(name.list, inputs.length));
      continue;
    }
    const path = typeof name === 'string' ? name : name.path;
    const begin = typeof name === 'string' ? undefined : name.begin;
    if (begin !== undefined) {
      add(path, await open(path, begin));
      continue;
    }
    if (path === STANDARD_INPUT) {
      add(path, await open(path));
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
      for (const match of matches) add(match, await open(match));
    } else if (stat?.isDirectory()) {
      directories.push(path);
      await addDirectory(path);
    } else {
      add(path, await open(path));
    }
  }
  const [firstOwn] = own;
  if (firstOwn !== undefined) {
    onWarning(`${firstOwn}${andOthers(own)}: left out, because pileshuf made it beside data`);
  }
  if (inputs.length === 0)
    throw new UsageError('no inputs were given; name files, directories, or - for standard input');
  warnOfRepeats(again, onWarning);
  if (decompressProgram === undefined) warnOfNames(inputs, onWarning);
  await warnOfMissingEnds(inputs, onWarning, signal);
  const loaded = new Set<string>();
  for (const input of inputs) {
    const codec = input.kind === 'file' ? input.codec : undefined;
    if (codec === undefined || loaded.has(codec.name)) continue;
    await codec.load?.(input.path);
    loaded.add(codec.name);
  }
  return { inputs, directories, outputs };
}

function warnOfRepeats(
  again: readonly { readonly path: string; readonly earlier: string }[],
  onWarning: (line: string) => void,
): void {
  const [first, ...others] = again;
  if (first === undefined) return;
  if (others.length === 0) {
    onWarning(`${first.path} is the same file as ${first.earlier}: its records come twice`);
    return;
  }
  const pairs = again.map(({ path, earlier }) => `${path} is ${earlier}`);
  onWarning(`${again.length} inputs are files that come before, whose records come again: ${nameSome(pairs)}`);
}

/** A failed download may have left an empty file, or a web page with an error. */
function warnOfNames(inputs: readonly Input[], onWarning: (line: string) => void): void {
  const plain = inputs.filter(
    (input) => input.kind === 'file' && input.codec === undefined && withoutCodecSuffix(input.path) !== input.path,
  );
  const [first, ...others] = plain;
  if (first?.kind !== 'file') return;
  const what = first.version.byteLength === 0 ? 'is empty' : 'does not begin like one';
  const more = moreInputs(others.length);
  onWarning(`${first.path} has the name of a compressed file and ${what}; pileshuf reads it as it is${more}`);
}

/** Some programs write files without an end mark, and others accept them: only a warning. */
async function warnOfMissingEnds(
  inputs: readonly Input[],
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
  const more = moreInputs(others.length);
  onWarning(`${first}; it may be cut off${more}`);
}

/** The rest of the inputs of which a message names the first. */
export function moreInputs(count: number): string {
  return count === 0 ? '' : ` (and ${count} other input${count === 1 ? '' : 's'})`;
}

function endsWith({ path, version }: FileInput, mark: Uint8Array): boolean {
  const end = new Uint8Array(mark.byteLength);
  const position = Math.max(0, version.byteLength - end.byteLength);
  const count = withFile(openForRead(path, 'input'), (file) => readAt(file, end, 0, end.byteLength, position));
  return Buffer.compare(end.subarray(0, count), mark) === 0;
}

/** The rest of a list whose first entry a message names. */
export function andOthers({ length }: readonly string[]): string {
  return length <= 1 ? '' : length === 2 ? ' (and 1 other)' : ` (and ${length - 1} others)`;
}

function ownDirectory(path: string, kind: string): InputError {
  const advice = kind === 'a pile store' ? 'pileshuf shuffle-store reads it' : 'name another';
  return new InputError('ERR_INPUT_UNREADABLE', `the input ${path} is ${kind} and holds no data files; ${advice}`);
}

/** Reused for the first bytes of each file; there may be many thousands of files. */
const head = Buffer.alloc(JSON_HEAD_BYTES);
/** Enough for most BGZF. */
const LEAST_HEAD_BYTES = Math.max(CODEC_HEAD_BYTES, OWN_HEAD_BYTES);

interface OpenedInput {
  readonly input: Input;
  /** What it is, if pileshuf made it beside data. */
  readonly ownKind: string | undefined;
}

/** What messages call records that the caller gives. */
const IN_MEMORY = 'the given records';

function inputInMemory(list: RecordList, ordinal: number): Input {
  return { kind: 'list', path: IN_MEMORY, identity: `${IN_MEMORY} ${ordinal}`, list };
}

/** @param begin what was read of a stream: nothing else has that. */
function openInput(
  path: string,
  format: RecordFormat | undefined,
  decompressProgram: DecompressProgram,
  begin?: Uint8Array,
): OpenedInput {
  const streamOf = (identity: string) => ({
    input: { kind: 'stream', path, identity, begin } as const,
    ownKind: undefined,
  });
  if (path === STANDARD_INPUT) return streamOf(versionOf(STANDARD_INPUT_FILE).identity);
  const stat = statPath(path, 'input');
  if (stat === undefined) {
    throw new InputError('ERR_INPUT_MISSING', `the input ${path} does not exist; check the name`);
  }
  if (stat.isFIFO() || stat.isCharacterDevice()) return streamOf(`${stat.dev}:${stat.ino}`);
  if (!stat.isFile()) {
    throw new InputError('ERR_INPUT_UNREADABLE', `the input ${path} is neither a file, a directory nor a pipe`);
  }
  if (begin !== undefined) throw new UsageError(`the input ${path} is no stream; leave out \`begin\``);
  return withFile(openForRead(path, 'input'), (file) => {
    const version = versionOf(file);
    const count = readAt(
      file,
      head,
      0,
      Math.max(LEAST_HEAD_BYTES, format === undefined ? 0 : headBytesOf(path, format)),
      0,
    );
    // Files of /proc have size 0: only reading shows their content.
    if (version.byteLength === 0 && count > 0) return streamOf(version.identity);
    const begin = head.subarray(0, count);
    const codec = detectCodec(begin, decompressProgram);
    const isWhole = count >= version.byteLength;
    const isLookedAt = codec === undefined && format !== undefined;
    const finding = isLookedAt ? lookAt({ head: begin, isWhole, path }, format) : undefined;
    return {
      input: { kind: 'file', path, version, codec, finding, header: NO_HEADER },
      ownKind: ownFileAt(path, begin),
    };
  });
}

/** The gate of each input; streams have none. @throws AbortError */
export async function gatesOf(
  inputs: readonly Input[],
  deviceGates: DeviceGates,
  signal: AbortSignal | undefined,
): Promise<GateNumber[]> {
  const gates: GateNumber[] = [];
  for (const input of inputs) {
    await hearSignalsAt(gates.length, signal);
    gates.push(input.kind === 'file' ? deviceGates.gateOf(input.path, 'input') : UNGATED);
  }
  return gates;
}
