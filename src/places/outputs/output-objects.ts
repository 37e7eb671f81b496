/**
 * Outputs in object storage. Tasks upload full parts (uploaded-shard.ts). Here the rest follows from the staged files, when
 * these are complete. Then each upload is completed, which makes its object appear: until then nothing is there, and an
 * upload that will not be completed is aborted.
 */

import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { counted, StagedOutputError, SystemError, UsageError, VerificationError } from '../../errors.js';
import { ifPossible } from '../../floor/cleanup.js';
import { forEachConcurrently } from '../../floor/for-each-concurrently.js';
import type { List } from '../../floor/paged-list.js';
import { openForRead, readBytes, withFile } from '../../io/files.js';
import { isBesideShards, isShardOf } from '../../io/own-files.js';
import { listNames, statPath } from '../../io/paths.js';
import { byteLengthOf } from '../../io/rename-and-sync.js';
import type { WrittenRegion } from '../../job-directory/notes.js';
import type { ObjectStore, UploadedPart } from '../../remote/object-store.js';
import { serviceUploadId } from '../../remote/part-writer.js';
import { remoteObjectStore, unlessAborted } from '../../remote/transfer-client.js';
import { PART_BYTES, poolBytesOf } from '../../remote/transfer-pool.js';
import type { OutputLayout } from '../../sinks/output-layout.js';
import { type ShardTransfers, stagedPath } from '../../sinks/output-target.js';
import {
  type CommitDirectories,
  type CommitJournal,
  filesBeside,
  requireSameOutput,
  writeJournal,
} from './commit-journal.js';
import { type Destination, shardsAt } from './destination.js';
import {
  addressBelow,
  addressOfShard,
  isUploadNote,
  readUploadNote,
  resolveObjectOutput,
  type UploadNote,
  type UploadTarget,
  uploadNotePath,
  writeUploadNote,
} from './object-names.js';
import {
  notEmptyError,
  type OutputPlace,
  type OutputPlaces,
  type PlacesRequest,
  sumsPlaceError,
} from './output-place.js';
import {
  besideExistsError,
  completionMarkerName,
  isShard,
  replacedFilesAmong,
  type ShardGroup,
} from './shard-names.js';

const MIB = 1024 * 1024;
/** S3 takes 10,000, and a shard may be larger than planned. */
const MOST_PLANNED_PARTS = 9000;
/** Name of an upload that only finds out whether shards may be uploaded. */
const PROBE_NAME = completionMarkerName('may-write');
/** The largest shard in proportion to the mean one. */
const LARGEST_SHARD_TO_MEAN = 4;

/** Opens places in object storage, to which the transfer thread uploads. */
export function objectPlaces({ partBytes, ...request }: PlacesRequest): OutputPlaces {
  const store = remoteObjectStore(request);
  const at = (to: Destination) => new ObjectsPlace(to, store, partBytes);
  return {
    poolBytes: store.poolBytes,
    resolve: (output = '', naming, mayReplace, hasSums) => {
      if (hasSums === true) throw sumsPlaceError(output);
      return at(resolveObjectOutput(output, naming, mayReplace));
    },
    reopen: at,
    async findStrayUploads(address, signal) {
      const uploads = await unlessAborted(store.uploads(address), signal);
      return uploads.map(({ address: of, uploadId, initiated: begunAt }) => ({
        address: of,
        begunAt,
        remove: () => store.abort(of, uploadId),
      }));
    },
  };
}

export class ObjectsPlace implements OutputPlace {
  readonly kind = 'staged';
  readonly isOnDisk = false;
  /** A service may stall for longer than a person waits. */
  readonly isPublishedAtOnce = false;
  readonly to: Destination;
  readonly #store: ObjectStore;
  readonly #leastPartBytes: number;
  wasRolledBack = false;

  /** @param leastPartBytes smaller parts cost more requests. */
  constructor(to: Destination, store: ObjectStore, leastPartBytes = PART_BYTES) {
    this.to = to;
    this.#store = store;
    this.#leastPartBytes = leastPartBytes;
  }

  get interruptWarning(): string {
    return `the uploads of ${this.to.path} are being completed, which cannot be undone: this waits for the service; if it is killed now, \`resume\` completes the rest`;
  }

  poolBytesOf(machine: Pick<PlacesRequest, 'memoryBytes' | 'workers'>): number {
    return poolBytesOf({ ...machine, uploads: true });
  }

  pathOf(name: string): string {
    return addressBelow(this.to.path, name);
  }

  notePath = uploadNotePath;

  async replacedNames(): Promise<readonly string[]> {
    const { to } = this;
    const { naming } = shardsAt(to);
    const names: string[] = [];
    const beside = [...(naming.beside ?? [])];
    if (naming.sections !== undefined) return names;
    for (const prefix of naming.prefixes) {
      const begin = `${prefix}-`;
      for (const { place: rest } of await this.#store.list(addressBelow(to.path, begin))) names.push(begin + rest);
      beside.push(completionMarkerName(prefix));
    }
    for (const name of beside)
      if ((await this.#store.head(addressBelow(to.path, name))) !== undefined) names.push(name);
    return replacedFilesAmong(names, naming);
  }

  /** Returns the addresses of what the output replaces. With sections, it replaces nothing: all that is there. */
  async #replacedAddresses(): Promise<readonly string[]> {
    const { kind, path } = this.to;
    if (kind === 'file') return (await this.#store.head(path)) === undefined ? [] : [path];
    if (this.to.naming.sections !== undefined)
      return (await this.#store.list(addressBelow(path, ''))).map(({ place }) => addressBelow(path, place));
    return (await this.replacedNames()).map((name) => addressBelow(path, name));
  }

  async describeFiles(): Promise<readonly string[]> {
    const lines: string[] = [];
    await forEachConcurrently(await this.#replacedAddresses(), async (address) => {
      const found = await this.#store.head(address);
      lines.push(`${nameIn(address)} ${found?.byteLength} ${found?.tag}`);
    });
    return lines.sort();
  }

  /** Checks, too, whether uploads are allowed. */
  async requireReplaceable(output: string, _inputs: List<{ readonly path: string }>, isDryRun: boolean): Promise<void> {
    const { kind, path, mayReplace } = this.to;
    const isOne = kind === 'file';
    const there = await this.#replacedAddresses();
    if (shardsAt(this.to).naming.sections !== undefined && there.length > 0) throw notEmptyError(output);
    const names = there.map(nameIn);
    const existing = names.find((name) => isOne || isShard(name));
    const beside = existing ?? names.find(isBesideShards);
    if (!mayReplace && beside !== undefined && beside !== existing) throw besideExistsError(output, beside);
    if (existing !== undefined && !mayReplace)
      throw new UsageError(
        isOne
          ? `the output ${output} exists already; give \`force\` to replace it`
          : `the output directory ${output} holds shards already (${existing}); give \`force\` to replace them, or another \`shardPrefix\``,
        'ERR_OUTPUT_EXISTS',
      );
    if (isDryRun) return;
    const address = isOne ? path : addressBelow(path, PROBE_NAME);
    await this.#store.abort(address, await this.#store.begin(address));
  }

  async planTransfers(
    stagingDirectory: string,
    layout: OutputLayout,
    finished: readonly WrittenRegion[],
    isResumable: boolean,
  ): Promise<ShardTransfers> {
    const { cuts, ends, recordBytes, rows } = layout;
    const header = ends.headerNeedsContent === true ? undefined : ends.headerOf(recordBytes);
    // What a header says of the records of one shard is known at the end.
    const isKnown = header !== undefined && Buffer.compare(header, ends.headerOf(0)) === 0;
    const content = { path: '', byteLength: 0, recordBytes: 1, open: () => openForRead('', 'output') };
    const hasTrailer = rows !== undefined || [...ends.trailerOf(content)].length > 0;
    const partBytes = this.#partBytesOf(layout);
    const target: UploadTarget = {
      ...this.#namesFor(cuts),
      partBytes,
      header: isKnown ? header : undefined,
      hasTrailer,
      stagesUnsentBytes: isResumable,
    };
    await this.#requireUploadedParts(stagingDirectory, { headerBytes: ends.headerBytes, partBytes }, finished);
    return { opener: 'uploads', partBytes, target };
  }

  #partBytesOf({ recordBytes, cuts }: OutputLayout): number {
    const mostBytes = Math.min(recordBytes, (LARGEST_SHARD_TO_MEAN * recordBytes) / cuts.shardCount);
    const neededBytes = mostBytes / MOST_PLANNED_PARTS;
    return neededBytes <= this.#leastPartBytes ? this.#leastPartBytes : MIB * Math.ceil(neededBytes / MIB);
  }

  #namesFor(cuts: OutputLayout['cuts']): Pick<UploadTarget, 'address' | 'extension' | 'groups'> {
    const { prefixes, extension, sections } = shardsAt(this.to).naming;
    const parts = 'parts' in cuts ? cuts.parts : [{ name: undefined, cuts }];
    const names = sections === undefined ? prefixes : parts.map(({ name }) => `${name}/${prefixes[0]}`);
    const groups = names.map((prefix, i): ShardGroup => ({ prefix, shardCount: parts[i]?.cuts.shardCount ?? 0 }));
    return { address: this.to.path, extension, groups };
  }

  /** Compares the parts of an earlier attempt with those that the server has, and what waits with its checksum. */
  async #requireUploadedParts(
    directory: string,
    { headerBytes, partBytes }: { readonly headerBytes: number; readonly partBytes: number },
    regions: readonly WrittenRegion[],
  ): Promise<void> {
    const last = new Map(regions.map((region) => [region.shard, region]));
    const partsOf = new Map<number, UploadedPart[]>();
    for (const { shard, uploaded } of regions)
      partsOf.set(shard, [...(partsOf.get(shard) ?? []), ...(uploaded?.parts ?? [])]);
    await forEachConcurrently(last.values(), async ({ shard, end, uploaded }) => {
      const noted = partsOf.get(shard) ?? [];
      const note = readUploadNote(uploadNotePath(directory, shard));
      const there = note && (await this.#store.parts(note.address, note.uploadId));
      const tags = new Map(there?.map(({ number, tag }) => [number, tag]));
      const gone = noted.find(({ number, tag }) => tags.get(number) !== tag);
      if (there === undefined || gone !== undefined)
        throw new StagedOutputError(
          `the upload of ${note?.address ?? `shard ${shard}`} that the unfinished job had begun is gone or has lost parts${gone === undefined ? '' : ` (${gone.number})`}`,
        );
      const restBytes = (headerBytes + end) % partBytes;
      if (uploaded === undefined || uploaded.restCrc === 0) return;
      const path = stagedPath(directory, shard);
      const rest = withFile(openForRead(path, 'output'), (file) =>
        readBytes(file, headerBytes + end - restBytes, restBytes),
      );
      if (crc32(rest) !== uploaded.restCrc)
        throw new StagedOutputError(`the end of the staged output ${path} is not what the unfinished job wrote there`);
    });
  }

  /** Uploads what no task has uploaded, and notes all parts of each object. */
  async finishTransfers(
    stagingDirectory: string,
    layout: OutputLayout,
    regionsOf: ReadonlyMap<number, readonly WrittenRegion[]>,
  ): Promise<void> {
    const partBytes = this.#partBytesOf(layout);
    const names = this.#namesFor(layout.cuts);
    await forEachConcurrently(Array(layout.cuts.shardCount).keys(), async (shard) => {
      const path = stagedPath(stagingDirectory, shard);
      const byteLength = byteLengthOf(path);
      const uploaded = (regionsOf.get(shard) ?? []).flatMap((region) => region.uploaded?.parts ?? []);
      const upload = await this.#openUpload(stagingDirectory, addressOfShard(names, shard), shard);
      const byNumber = new Map(uploaded.map((part) => [part.number, part]));
      const parts: UploadedPart[] = [];
      for (let start = 0; start < byteLength; start += partBytes) {
        const number = parts.length + 1;
        const rest = { number, path, start, byteLength: Math.min(partBytes, byteLength - start) };
        parts.push(byNumber.get(number) ?? (await this.#store.putFile(upload.address, upload.uploadId, rest)));
      }
      writeUploadNote(stagingDirectory, shard, { ...upload, parts });
    });
  }

  async #openUpload(directory: string, address: string, shard: number): Promise<UploadNote> {
    const noted = readUploadNote(uploadNotePath(directory, shard));
    if (noted !== undefined) return noted;
    const upload = { address, uploadId: await this.#store.begin(address), parts: undefined };
    writeUploadNote(directory, shard, upload);
    return upload;
  }

  /**
   * One object appears when its upload is completed. Of shards, former markers go; the uploads are completed; former shards
   * that no new one has replaced go; the markers are written that say that the shards are complete. What is completed
   * cannot be taken back, because the parts are gone then: a later attempt makes the rest, and another job
   * replaces it.
   */
  async publish({ stagingDirectory, jobDirectory }: CommitDirectories, journal: CommitJournal): Promise<void> {
    const { to } = this;
    requireSameOutput(to, journal);
    if (journal.phase === 'moved') return;
    const { names, replaced, byteLengths } = journal;
    await this.#remove(replaced.filter((name) => !isShard(name)));
    await this.#completeUploads(stagingDirectory, byteLengths);
    if (names.length === 0) return;
    const now = new Set(names);
    await this.#remove(replaced.filter((name) => isShard(name) && !now.has(name)));
    for (const { name, text } of filesBeside(to, journal))
      await this.#store.putText(addressBelow(to.path, name), text, false);
    await writeJournal(jobDirectory, { ...journal, phase: 'moved' });
  }

  /**
   * Completes the uploads, and looks whether each object has all of its bytes. Those that an earlier attempt made are left
   * alone.
   * @throws UsageError ERR_OUTPUT_EXISTS if somebody else made one of them meanwhile: then none of this job is there.
   */
  async #completeUploads(directory: string, byteLengths: readonly number[]): Promise<void> {
    const made: string[] = [];
    try {
      await forEachConcurrently(byteLengths.entries(), async ([shard, byteLength]) => {
        const { address, uploadId, parts } = readUploadNote(uploadNotePath(directory, shard)) ?? {};
        if (address === undefined || uploadId === undefined || parts === undefined)
          throw new VerificationError(`nobody noted how shard ${shard} was uploaded`);
        await this.#store.complete(address, uploadId, parts, !this.to.mayReplace);
        made.push(address);
        const foundBytes = (await this.#store.head(address, parts))?.byteLength;
        if (foundBytes === byteLength) return;
        throw new VerificationError(
          `the output ${address} has ${foundBytes === undefined ? 'vanished' : counted(foundBytes, 'byte')}, expected ${byteLength} bytes; make it again with \`force\``,
        );
      });
    } catch (error) {
      if (error instanceof UsageError) {
        await forEachConcurrently(made, (address) => this.#store.remove(address));
        this.wasRolledBack = true;
      }
      throw error;
    }
  }

  async #remove(names: readonly string[]): Promise<void> {
    await forEachConcurrently(names, (name) => this.#store.remove(addressBelow(this.to.path, name)));
  }

  async discardStray(directory: string, onWarning: (line: string) => void): Promise<void> {
    const { to } = this;
    const noted = listIfThere(directory)
      .filter(isUploadNote)
      .map((name) => ifPossible(() => readUploadNote(join(directory, name))));
    const known = new Set(noted.map((note) => note && serviceUploadId(note.uploadId)));
    const { sections } = shardsAt(to).naming;
    const isBeside = (address: string) => {
      const directory = address.slice(0, -nameIn(address).length - 1);
      return sections === undefined
        ? directory === to.path
        : directory === addressBelow(to.path, nameIn(directory)) && nameIn(directory).startsWith(`${sections}=`);
    };
    const isOwn = (address: string) =>
      to.kind === 'file'
        ? address === to.path
        : to.naming.prefixes.some((prefix) => isShardOf(prefix, nameIn(address)) && isBeside(address)) ||
          address === addressBelow(to.path, PROBE_NAME);
    try {
      for (const { address, uploadId } of await this.#store.uploads(to.path))
        if (isOwn(address) && !known.has(uploadId)) await this.#store.abort(address, uploadId);
    } catch (error) {
      onWarning(`what a killed job may have begun to upload stays: ${error instanceof Error ? error.message : error}`);
    }
  }

  /** Ends the uploads in the directories of tasks, too. */
  async discardStaged(directory: string): Promise<void> {
    await forEachConcurrently(listIfThere(directory), async (name) => {
      const path = join(directory, name);
      if (!isUploadNote(name)) return this.discardStaged(path);
      // A damaged note is as none: who aborts what is unknown finds its upload.
      const upload = ifPossible(() => readUploadNote(path));
      if (upload === undefined) return;
      await this.#store.abort(upload.address, upload.uploadId).catch((error: Error) => {
        throw new SystemError(
          'ERR_IO',
          `${error.message}; its upload stays: abort it with pileshuf gc ${this.to.path}`,
          { cause: error },
        );
      });
    });
  }
}

function listIfThere(directory: string): string[] {
  return statPath(directory, 'output')?.isDirectory() === true ? listNames(directory, 'output') : [];
}

function nameIn(address: string): string {
  return address.slice(address.lastIndexOf('/') + 1);
}
