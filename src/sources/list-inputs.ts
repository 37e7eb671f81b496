/**
 * Lists the inputs: expands the directories and patterns that the caller names, notes the version of each file, and
 * recognises its codec, or looks at its first bytes if they are plain.
 */
import { InputError, UsageError } from '../errors.js';
import { type GateNumber, UNGATED } from '../floor/job-control.js';
import { yieldAndCheckAbortAt } from '../floor/pause.js';
import type { Codec } from '../formats/codec.js';
import { CODEC_HEAD_BYTES, type DecompressProgram, detectCodec, withoutCodecSuffix } from '../formats/codec-table.js';
import { examineFirstBytes, headBytesOf, JSON_HEAD_BYTES } from '../formats/first-bytes.js';
import {
  holdsNothing,
  type Pointer,
  pointerIn,
  refuseNameOfRows,
  refusePointers,
  rowsIn,
} from '../formats/recognition.js';
import type { HeaderSpec, RecordFormat, RecordList } from '../formats/record-format.js';
import { type FileVersion, isSeekable, type OpenFile, readAt, readBytes, versionOf, withFile } from '../io/files.js';
import { statPath } from '../io/paths.js';
import { isClosedStream } from '../machine/closed-streams.js';
import type { DeviceGates } from '../machine/devices.js';
import {
  inputFactsOf,
  openInput,
  prefetchInputs,
  STANDARD_INPUT,
  startFetching,
} from '../places/inputs/input-kinds.js';
import type { WaitForPrefetch } from '../places/inputs/input-place.js';
import { STANDARD_INPUT_FILE } from '../places/inputs/input-source.js';
import type { TransferRequest } from '../remote/transfer-client.js';
import { andOtherInputs, nameSome } from '../values/format-numbers.js';
import { BelievedNames } from './believed-names.js';
import { decodesToNothing } from './decoded-pieces.js';
import { type AskedInput, expandNames, type FilesOfDirectory, type NamedFiles } from './expand-names.js';
import { type FileChoice, USUAL_FILES } from './file-choice.js';
import { type Input, type Inputs, identityOf, isFileInput, isPlain, isReadOnce, NO_HEADER } from './input.js';
import { type FoundPaths, refuseCompressedCopies, requireOneKind, warnOfSplits } from './kinds-of-names.js';
import { PackedInputs } from './packed-inputs.js';
import { OWN_HEAD_BYTES, ownFileAt } from './recognise-own-files.js';

export interface ListedInputs {
  readonly inputs: Inputs;
  /** Files without content, which are not inputs because a header is asked for. */
  readonly empty: Inputs;
  /** The directories among the named inputs, and those that links below them lead to. */
  readonly directories: readonly string[];
  /** The part of the memory budget that holds fetched bytes. */
  readonly fetchBytes: number;
  /** Returns where the next listing would find a file; undefined: nowhere. @param path as for `FilesOfDirectory`. */
  placeOf(path: string): PlaceOfInput | undefined;
}

export interface PlaceOfInput {
  readonly directory: string;
  readonly place: string;
}

interface ListingRequest {
  readonly decompressProgram?: DecompressProgram;
  readonly signal?: AbortSignal | undefined;
  readonly fileChoice?: FileChoice;
  /** The header; with one, files without content are not inputs. */
  readonly header?: HeaderSpec | undefined;
  /** The format to which the first bytes of plain files are held. Absent: none. */
  readonly format?: RecordFormat;
  /** True if files of rows are inputs as such. Absent: their bytes are held to the format, as those of any file. */
  readonly takesRows?: boolean | undefined;
  /** True if the files become one order, so that splits would be mixed. Absent: yes. */
  readonly mixesFiles?: boolean | undefined;
  /** How inputs on other machines are read. Absent: not at all. */
  readonly remote?: TransferRequest | undefined;
}

export async function listInputs(
  names: readonly AskedInput[],
  onWarning: (line: string) => void,
  {
    decompressProgram,
    signal,
    fileChoice = USUAL_FILES,
    header,
    format,
    takesRows,
    mixesFiles = true,
    remote,
  }: ListingRequest = {},
): Promise<ListedInputs> {
  const leavesOutEmpty = header !== undefined && !DESCRIBES_ITSELF.has(header.kind);
  const paths = names.map((name) => (typeof name === 'string' ? name : 'path' in name ? name.path : ''));
  const fetchBytes = remote === undefined ? 0 : await startFetching(paths, remote);
  const named = await expandNames(names, fileChoice, signal, remote !== undefined);
  const listing = new Listing(leavesOutEmpty);
  const { inputs, empty } = listing;
  // A header is read before the job, so that each file is looked at anyway.
  const mayBelieve = format !== undefined && header === undefined && decompressProgram === undefined;
  const believedIn = named.map((each) => (mayBelieve ? believedNamesIn(each) : undefined));
  const waitForPrefetch = await prefetchInputs(
    named.flatMap((each, i) => addressesOf(each, believedIn[i])),
    'version-now',
  );
  const open = async (path: string, believed?: BelievedNames, waitForLook = waitForPrefetch) => {
    await waitForLook(path, signal);
    const opened = examine(path, { format, decompressProgram, takesRows });
    if (opened.isEmpty !== true) believed?.add(opened.input, isUsual(opened));
    const codec = leavesOutEmpty && opened.isEmpty !== true ? opened.input.codec : undefined;
    return codec === undefined ? opened : { ...opened, isEmpty: await decodesToNothing(path, codec) };
  };
  for (const [i, each] of named.entries()) {
    if (each.kind === 'list') inputs.push(inputInMemory(each.list, inputs.length));
    else if (each.kind === 'file') {
      await yieldAndCheckAbortAt(inputs.length + empty.length, signal);
      listing.add(each.path, await open(each.path));
      listing.found.push({ paths: [each.path], by: each.by });
    } else {
      const believed = believedIn[i];
      const openListed = believed === undefined ? open : openerOfListed(believed, open);
      await listing.addDirectory(each, openListed, fileChoice, signal);
    }
  }
  const ofDirectories = named.filter((each) => each.kind === 'directory');
  tellOfKinds(listing.found, ofDirectories, { include: fileChoice.include, mixesFiles }, onWarning);
  tellOfLeftOut(ofDirectories, listing.own, onWarning);
  listing.tell(onWarning, decompressProgram === undefined);
  await loadCodecs(inputs);
  // The names of the files would take as much memory as all else that a job holds of them.
  const places = ofDirectories.map(({ directory, placeOf }) => ({ directory, placeOf }));
  const placeOf = (path: string) => {
    for (const { directory, placeOf: placeBelow } of places) {
      const place = placeBelow(path);
      if (place !== undefined) return { directory, place };
    }
    return undefined;
  };
  const directories = ofDirectories.flatMap(({ listed }) => listed.roots.map(({ path }) => path));
  return { inputs, empty, directories, placeOf, fetchBytes };
}

/** The inputs so far, and what will be said of them. */
class Listing {
  readonly inputs = new PackedInputs();
  readonly empty: Input[] = [];
  readonly found: FoundPaths[] = [];
  /** The files below directories that pileshuf made beside data. */
  readonly own: string[] = [];
  readonly #leavesOutEmpty: boolean;
  readonly #pointers: (Pointer & { readonly path: string })[] = [];
  readonly #withoutEnd: string[] = [];

  constructor(leavesOutEmpty: boolean) {
    this.#leavesOutEmpty = leavesOutEmpty;
  }

  add(path: string, { input, ownKind, isEmpty, pointer, missingEnd }: OpenedInput): void {
    if (ownKind !== undefined)
      throw new InputError(
        'ERR_INPUT_UNREADABLE',
        `the input ${path} is ${ownKind}, which pileshuf made beside data; leave it out`,
      );
    if (isEmpty === true && this.#leavesOutEmpty) {
      this.empty.push(input);
      return;
    }
    if (pointer !== undefined) this.#pointers.push({ ...pointer, path });
    if (missingEnd !== undefined) this.#withoutEnd.push(`${path} does not end with ${missingEnd}`);
    this.inputs.push(input);
  }

  async addDirectory(
    { directory, listed, own, hidden }: FilesOfDirectory,
    open: (path: string) => Promise<OpenedInput>,
    fileChoice: FileChoice,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const before = this.inputs.length + this.empty.length;
    const paths: string[] = [];
    for (const path of listed.files) {
      await yieldAndCheckAbortAt(this.inputs.length + this.empty.length, signal);
      const opened = await open(path);
      if (opened.ownKind !== undefined) {
        this.own.push(path);
        continue;
      }
      this.add(path, opened);
      // An empty file says nothing of the kind of the others.
      if (opened.isEmpty !== true) paths.push(path);
    }
    this.found.push({ paths, by: 'directory' });
    if (this.inputs.length + this.empty.length > before) return;
    const what = listed.files.length + own.length > 0 ? NO_DATA : wordsForNone(fileChoice, hidden.length > 0);
    throw new InputError('ERR_INPUT_MISSING', `the directory ${directory} holds no ${what}`);
  }

  tell(onWarning: (line: string) => void, warnsOfNames: boolean): void {
    refusePointers(this.#pointers);
    tellOfEmpty(this.empty, this.inputs, onWarning);
    if (this.inputs.length === 0)
      throw new UsageError('no inputs were given; name files, directories, or - for standard input');
    warnOfRepeats(repeatsIn(this.inputs), onWarning);
    if (warnsOfNames) warnOfNames(this.inputs, onWarning);
    const [first, ...others] = this.#withoutEnd;
    // Only warns: some programs write files without an end mark, and others accept them.
    if (first !== undefined) onWarning(`${first}; it may be cut off${andOtherInputs(others.length)}`);
  }
}

function tellOfKinds(
  found: readonly FoundPaths[],
  ofDirectories: readonly FilesOfDirectory[],
  { include, mixesFiles }: Pick<FileChoice, 'include'> & { readonly mixesFiles: boolean },
  onWarning: (line: string) => void,
): void {
  refuseCompressedCopies(found, include, onWarning);
  const pathsOf = (isBelow: boolean) =>
    found.flatMap(({ paths, by }) => ((by === 'directory') === isBelow ? paths : []));
  const roots = ofDirectories.map(({ directory }) => directory);
  requireOneKind(pathsOf(true), roots, include, onWarning);
  if (!mixesFiles) return;
  const together = [{ files: pathsOf(false) }, ...ofDirectories.map((each) => ({ ...each, files: each.listed.files }))];
  for (const each of together) warnOfSplits(each, include, onWarning);
}

function tellOfLeftOut(
  ofDirectories: readonly FilesOfDirectory[],
  ownFiles: readonly string[],
  onWarning: (line: string) => void,
): void {
  const hidden = [...new Set(ofDirectories.flatMap((each) => each.hidden))];
  if (hidden.length > 0) {
    const [count, they] =
      hidden.length === 1
        ? ['1 hidden file or directory', 'it']
        : [`${hidden.length} hidden files and directories`, 'them'];
    onWarning(`left out ${count}: ${nameSome(hidden.sort())}; \`hidden\` takes ${they}`);
  }
  const own = [...ofDirectories.flatMap((each) => each.own), ...ownFiles];
  const [first] = own;
  if (first !== undefined) onWarning(`${first}${andOthers(own)}: left out, because pileshuf made it beside data`);
}

async function loadCodecs(inputs: Inputs): Promise<void> {
  const loaded = new Set<string>();
  for (const input of inputs) {
    const { codec } = input;
    if (codec === undefined || loaded.has(codec.name)) continue;
    await codec.load?.(input.path);
    loaded.add(codec.name);
  }
}

function believedNamesIn(named: NamedFiles): BelievedNames | undefined {
  if (named.kind !== 'directory' || named.listedVersionOf === undefined) return undefined;
  return new BelievedNames(named.listed.files, named.listedVersionOf);
}

/** Opens the files of a directory. Looks at those whose names are not believed, several at a time. */
function openerOfListed(
  believed: BelievedNames,
  open: (path: string, believed: BelievedNames, waitForLook?: WaitForPrefetch) => Promise<OpenedInput>,
): (path: string) => Promise<OpenedInput> {
  const looks = new Map<readonly string[], WaitForPrefetch>();
  return async (path) => {
    const input = believed.inputAt(path);
    if (input !== undefined) return { input };
    if (believed.isLookedAt(path)) return open(path, believed);
    const alike = believed.believedLike(path);
    const waitForLook = looks.get(alike) ?? (await prefetchInputs(alike.slice(alike.indexOf(path)), 'version-now'));
    looks.set(alike, waitForLook);
    return open(path, believed, waitForLook);
  };
}

/** Returns the addresses that are looked at in any case. */
function addressesOf(named: NamedFiles, believed: BelievedNames | undefined): readonly string[] {
  if (named.kind === 'directory')
    return named.listed.files.filter((path) => inputFactsOf(path).isRemote && believed?.isLookedAt(path) !== false);
  return named.kind === 'file' && named.address !== undefined ? [named.address] : [];
}

function tellOfEmpty(empty: Inputs, inputs: Inputs, onWarning: (line: string) => void): void {
  const [first, ...others] = empty;
  if (first === undefined) return;
  const text = `${first.path}${andOtherInputs(others.length)} has no content, and so no header`;
  if (inputs.length > 0) onWarning(`${text}; left out`);
  else throw new InputError('ERR_INPUT_EMPTY', `${text}; there is no other input`);
}

/** An empty file of these kinds is damaged: programs write a header into each. */
const DESCRIBES_ITSELF: ReadonlySet<HeaderSpec['kind']> = new Set(['npy', 'tar']);

const NO_DATA = 'data, only files that pileshuf made; name a directory with data';

function wordsForNone({ include, exclude }: FileChoice, hasHidden: boolean): string {
  const isChosen = include.length + exclude.length > 0;
  const advice = hasHidden
    ? '`hidden` takes hidden ones, too'
    : `expected at least one: check the ${isChosen ? 'globs' : 'name'}`;
  return `files${isChosen ? ' that `include` and `exclude` choose' : ''}; ${advice}`;
}

interface Repeat {
  readonly path: string;
  /** The path by which it came before. */
  readonly earlier: string;
}

/** Finds inputs that come before. A hash of its identity is all that is held of most inputs: there may be a million. */
function repeatsIn(inputs: Inputs): readonly Repeat[] {
  const hashes = Uint32Array.from(inputs, (input) => hashOf(identityOf(input)));
  const sorted = hashes.toSorted();
  const suspects = new Set(sorted.filter((each, i) => each === sorted[i - 1]));
  const seen = new Map<string, Input>();
  const again: Repeat[] = [];
  for (const [ordinal, input] of suspects.size === 0 ? [] : inputs.entries()) {
    if (!suspects.has(hashes[ordinal] ?? 0)) continue;
    const earlier = seen.get(identityOf(input));
    if (earlier === undefined) seen.set(identityOf(input), input);
    else if (isReadOnce(input) && isReadOnce(earlier))
      throw new UsageError(`${input.path} is the same stream as ${earlier.path}; it can be read only once`);
    else again.push({ path: input.path, earlier: earlier.path });
  }
  return again;
}

/** FNV-1a of 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}

function warnOfRepeats(again: readonly Repeat[], onWarning: (line: string) => void): void {
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
function warnOfNames(inputs: Inputs, onWarning: (line: string) => void): void {
  const [first, ...others] = inputs.filter(isPlain).filter(({ path }) => withoutCodecSuffix(path) !== path);
  if (first === undefined) return;
  const what = first.version.byteLength === 0 ? 'is empty' : 'does not begin like one';
  const more = andOtherInputs(others.length);
  onWarning(`${first.path} has the name of a compressed file and ${what}; pileshuf reads it as it is${more}`);
}

/** Returns the words of messages that name the first entry of the list. */
export function andOthers({ length }: readonly string[]): string {
  return length <= 1 ? '' : length === 2 ? ' (and 1 other)' : ` (and ${length - 1} others)`;
}

/** Reused for the first bytes of each file, because there may be many thousands of files. */
const head = Buffer.alloc(JSON_HEAD_BYTES);
/** Enough for most BGZF. */
const LEAST_HEAD_BYTES = Math.max(CODEC_HEAD_BYTES, OWN_HEAD_BYTES);

interface OpenedInput {
  readonly input: Input;
  /** The kind of the file, if pileshuf made it beside data. */
  readonly ownKind?: string | undefined;
  readonly isEmpty?: boolean;
  readonly pointer?: Pointer | undefined;
  /** The end mark of its codec that it lacks. */
  readonly missingEnd?: string | undefined;
}

const IN_MEMORY = 'the given records';

function inputInMemory(list: RecordList, ordinal: number): Input {
  return { kind: 'list', path: IN_MEMORY, identity: `${IN_MEMORY} ${ordinal}`, list };
}

interface FirstLook {
  readonly format: RecordFormat | undefined;
  readonly decompressProgram: DecompressProgram;
  readonly takesRows: boolean | undefined;
}

function examine(path: string, { format, decompressProgram, takesRows = false }: FirstLook): OpenedInput {
  const streamOf = (identity: string): OpenedInput => ({ input: { kind: 'stream', path, identity } });
  if (path === STANDARD_INPUT) {
    if (isClosedStream(STANDARD_INPUT_FILE.fd))
      throw new InputError(
        'ERR_INPUT_UNREADABLE',
        'standard input is closed, or /dev/null opened for reading and writing, so that there is nothing to read; name inputs',
      );
    return streamOf(versionOf(STANDARD_INPUT_FILE).identity);
  }
  const { isOnDisk } = inputFactsOf(path);
  const stat = isOnDisk ? statPath(path, 'input') : undefined;
  if (stat === undefined && isOnDisk) {
    throw new InputError('ERR_INPUT_MISSING', `the input ${path} does not exist; check the name`);
  }
  if (stat?.isFIFO() || stat?.isCharacterDevice()) return streamOf(`${stat.dev}:${stat.ino}`);
  if (stat?.isFile() === false) {
    throw new InputError('ERR_INPUT_UNREADABLE', `the input ${path} is neither a file, a directory nor a pipe`);
  }
  return withFile(openInput(path), (file) => {
    const version = versionOf(file);
    const wanted = Math.max(LEAST_HEAD_BYTES, format === undefined ? 0 : headBytesOf(path, format));
    const count = readAt(file, head, 0, wanted, 0);
    // Files of /proc have size 0: only reading shows their content.
    if (version.byteLength === 0 && count > 0) return streamOf(version.identity);
    const begin = head.subarray(0, count);
    const codec = detectCodec(begin, decompressProgram, (at) => readBytes(file, at, CODEC_HEAD_BYTES));
    const isWhole = count >= version.byteLength;
    const read = (position: number, byteLength: number) => readBytes(file, position, byteLength);
    const mayHoldRows = takesRows && format?.linesAssumed === true;
    const rows = mayHoldRows ? rowsIn(path, begin, version.byteLength, read) : undefined;
    if (rows !== undefined && !isSeekable(version)) throw needsRangesError(path);
    const pointer = decompressProgram === undefined ? pointerIn(begin) : undefined;
    if (mayHoldRows && (rows ?? codec ?? pointer) === undefined) refuseNameOfRows(path, begin);
    const isLookedAt = codec === undefined && format !== undefined && rows === undefined;
    const finding = isLookedAt ? examineFirstBytes({ head: begin, isWhole, path }, format) : undefined;
    return {
      input: { kind: 'file', path, version, codec, finding, header: NO_HEADER, rows },
      ownKind: ownFileAt(path, begin),
      isEmpty: isWhole && (decompressProgram === undefined ? holdsNothing(begin) : count === 0),
      pointer,
      missingEnd: codec && isSeekable(version) ? missingEndOf(file, version, codec) : undefined,
    };
  });
}

function isUsual({ input, ownKind, pointer }: OpenedInput): boolean {
  return [ownKind, pointer, input.finding, input.rows].every((each) => each === undefined);
}

function needsRangesError(path: string): InputError {
  return new InputError(
    'ERR_INPUT_UNREADABLE',
    `cannot read ${path}: its server cannot send parts of it, which reading rows needs; download it to a disk first`,
  );
}

function missingEndOf(file: OpenFile, { byteLength }: FileVersion, { endMark }: Codec): string | undefined {
  if (endMark === undefined) return undefined;
  const { bytes, name } = endMark;
  const end = readBytes(file, Math.max(0, byteLength - bytes.byteLength), bytes.byteLength);
  return Buffer.compare(end, bytes) === 0 ? undefined : name;
}

export async function gatesOf(
  inputs: Inputs,
  deviceGates: DeviceGates,
  signal: AbortSignal | undefined,
): Promise<GateNumber[]> {
  const gates: GateNumber[] = [];
  for (const input of inputs) {
    await yieldAndCheckAbortAt(gates.length, signal);
    gates.push(
      isFileInput(input) && inputFactsOf(input.path).isOnDisk ? deviceGates.gateOf(input.path, 'input') : UNGATED,
    );
  }
  return gates;
}
