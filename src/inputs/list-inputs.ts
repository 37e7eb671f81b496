/**
 * Lists the inputs: expands the directories and patterns that the caller names, notes the version of each file, and
 * recognises its codec.
 */
import { InputError, nameSome, UsageError } from '../errors.js';
import type { Codec } from '../formats/codec.js';
import { CODEC_HEAD_BYTES, type DecompressProgram, detectCodec, withoutCodecSuffix } from '../formats/codec-table.js';
import type { Header } from '../formats/header.js';
import { type FileVersion, openForRead, readAt, versionOf, withFile } from '../io/files.js';
import { STANDARD_INPUT, STANDARD_INPUT_FILE } from '../io/input-source.js';
import { isPattern, listDirectory, listMatches } from '../io/list-files.js';
import { statPath } from '../io/paths.js';
import { type GateNumber, UNGATED } from '../job-control.js';
import type { DeviceGates } from '../machine/device-gates.js';
import { hearSignalsAt } from '../pause.js';

/** An input as the caller names it: a file, a directory, a glob pattern or `-`. `{ path }` is never a pattern. */
export type NamedInput = string | { readonly path: string };

/** One input; its place in the list is its ordinal. */
export type Input =
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly version: FileVersion;
      /** Undefined: plain bytes. */
      readonly codec: Codec | undefined;
      /** `NO_HEADER` until the headers are read. */
      readonly header: InputHeader;
    }
  | { readonly kind: 'stream'; readonly path: string; readonly identity: string };

export type FileInput = Input & { readonly kind: 'file' };

/** The part of the header of each input that a job keeps. */
export type InputHeader = Pick<Header, 'byteLength' | 'recordBytes'>;

export const NO_HEADER: InputHeader = { byteLength: 0, recordBytes: undefined };

export interface ListedInputs {
  readonly inputs: readonly Input[];
  /** The directories among the named inputs; no output or temp file may lie below them. */
  readonly directories: readonly string[];
}

/** @throws InputError, UsageError, AbortedError */
export async function listInputs(
  named: readonly NamedInput[],
  onWarning: (line: string) => void,
  decompressProgram?: DecompressProgram,
  signal?: AbortSignal,
): Promise<ListedInputs> {
  const inputs: Input[] = [];
  const directories: string[] = [];
  const seen = new Map<string, Input>();
  const again: { readonly path: string; readonly earlier: string }[] = [];
  const add = async (path: string) => {
    await hearSignalsAt(inputs.length, signal);
    const input = openInput(path, decompressProgram);
    const identity = input.kind === 'file' ? input.version.identity : input.identity;
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
  return { inputs, directories };
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

function moreInputs(count: number): string {
  return count === 0 ? '' : ` (and ${count} other input${count === 1 ? '' : 's'})`;
}

function endsWith({ path, version }: FileInput, mark: Uint8Array): boolean {
  const end = new Uint8Array(mark.byteLength);
  const position = Math.max(0, version.byteLength - end.byteLength);
  const count = withFile(openForRead(path, 'input'), (file) => readAt(file, end, 0, end.byteLength, position));
  return Buffer.compare(end.subarray(0, count), mark) === 0;
}

/** Reused for the first bytes of each file; there may be many thousands of files. */
const head = new Uint8Array(CODEC_HEAD_BYTES);

function openInput(path: string, decompressProgram: DecompressProgram): Input {
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
    // Files of /proc have size 0: only reading shows their content.
    if (version.byteLength === 0 && count > 0) return { kind: 'stream', path, identity: version.identity };
    const codec = detectCodec(head.subarray(0, count), decompressProgram);
    return { kind: 'file', path, version, codec, header: NO_HEADER };
  });
}

/** The gate of each input; streams have none. @throws AbortedError */
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
