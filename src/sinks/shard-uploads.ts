/**
 * The uploads of an output in object storage, as the job sees them. Tasks upload full parts (uploaded-shard.ts). Here the
 * rest follows from the staged files, when these are complete. Then each upload is completed, which makes its object
 * appear: until then nothing is there, and an upload that will not be completed is aborted.
 */
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { ifPossible } from '../cleanup.js';
import { counted, StagedOutputError, SystemError, UsageError, VerificationError } from '../errors.js';
import { openForRead, readBytes, withFile } from '../io/files.js';
import { isShardOf } from '../io/own-files.js';
import { listNames, statPath } from '../io/paths.js';
import { listedUploadId, PART_BYTES, type UploadedPart } from '../io/remote-uploads.js';
import type { RemoteOutputs } from '../remote/remote-outputs.js';
import { severalAtOnce } from '../several-at-once.js';
import { addressIn, addressOfShard } from './object-place.js';
import type { OutputLayout } from './output-layout.js';
import type { FilesPlace } from './output-place.js';
import { stagedPath, type UploadTarget, type WrittenRegion } from './output-target.js';
import { completionMarkerName, formerFilesAmong, isShard, type ShardGroup } from './shard-names.js';
import { isUploadNote, noteUpload, readUpload, type UploadNote, uploadNotePath } from './upload-note.js';

const MIB = 1024 * 1024;
/** S3 takes 10,000, and a shard may be larger than planned. */
const WANTED_PARTS = 9000;
/** Name of an upload that only finds out whether shards may be uploaded. */
const PROBE_NAME = completionMarkerName('may-write');
/** How much larger than the mean a shard of as many records may be. */
const UNEVEN = 4;

/** What becomes of a staged file. */
interface CompleteShard {
  readonly shard: number;
  readonly byteLength: number;
  /** The parts that tasks have uploaded. */
  readonly parts: readonly UploadedPart[];
}

export class ShardUploads {
  readonly #place: FilesPlace;
  readonly #outputs: RemoteOutputs;
  readonly #leastPartBytes: number;

  /** @param leastPartBytes smaller parts cost more requests. */
  constructor(place: FilesPlace, outputs: RemoteOutputs, leastPartBytes = PART_BYTES) {
    this.#place = place;
    this.#outputs = outputs;
    this.#leastPartBytes = leastPartBytes;
  }

  /** What the output replaces: names of shards and markers, or of the one object. */
  async formerNames(): Promise<readonly string[]> {
    const place = this.#place;
    if (place.kind === 'file') return (await this.#outputs.head(place.path)) === undefined ? [] : [nameIn(place.path)];
    const names: string[] = [];
    for (const prefix of place.naming.prefixes) {
      const begin = `${prefix}-`;
      for (const { place: rest } of await this.#outputs.list(addressIn(place.path, begin))) names.push(begin + rest);
      const marker = completionMarkerName(prefix);
      if ((await this.#outputs.head(addressIn(place.path, marker))) !== undefined) names.push(marker);
    }
    return formerFilesAmong(names, place.naming);
  }

  /** A line for each object of the output that is there, in which every change of the object shows. */
  async describeObjects(): Promise<readonly string[]> {
    const { kind, path } = this.#place;
    const lines: string[] = [];
    await severalAtOnce(await this.formerNames(), async (name) => {
      const found = await this.#outputs.head(kind === 'file' ? path : addressIn(path, name));
      lines.push(`${name} ${found?.byteLength} ${found?.tag}`);
    });
    return lines.sort();
  }

  /**
   * Refuses an output that must not be replaced, and finds out whether uploads are allowed.
   * @param output as the user named it.
   * @param isLook then nothing is tried.
   */
  async requireReplaceable(output: string, isLook: boolean): Promise<void> {
    const { kind, path, mayReplace } = this.#place;
    const existing = (await this.formerNames()).find((name) => kind === 'file' || isShard(name));
    if (existing !== undefined && !mayReplace)
      throw new UsageError(
        kind === 'file'
          ? `the output ${output} exists already; give \`force\` to replace it`
          : `the output directory ${output} holds shards already (${existing}); give \`force\` to replace them, or another \`shardPrefix\``,
        'ERR_OUTPUT_EXISTS',
      );
    if (isLook) return;
    const address = kind === 'file' ? path : addressIn(path, PROBE_NAME);
    await this.#outputs.abort(address, await this.#outputs.begin(address));
  }

  /** @param stagesRest whether a later attempt needs what is in no uploaded part. */
  targetOf({ cuts, ends, recordBytes, table, hdf5 }: OutputLayout, stagesRest: boolean): UploadTarget {
    const header = hdf5 === undefined ? ends.headerOf(recordBytes) : undefined;
    // What a header says of the records of one shard is known at the end.
    const isKnown = header !== undefined && Buffer.compare(header, ends.headerOf(0)) === 0;
    const content = { path: '', byteLength: 0, recordBytes: 1, open: () => openForRead('', 'output') };
    const hasTrailer = table !== undefined || hdf5 !== undefined || [...ends.trailerOf(content)].length > 0;
    const mostBytes = Math.min(recordBytes, (UNEVEN * recordBytes) / cuts.shardCount);
    const neededBytes = mostBytes / WANTED_PARTS;
    const partBytes = neededBytes <= this.#leastPartBytes ? this.#leastPartBytes : MIB * Math.ceil(neededBytes / MIB);
    return { ...this.#namesFor(cuts), partBytes, header: isKnown ? header : undefined, hasTrailer, stagesRest };
  }

  #namesFor(cuts: OutputLayout['cuts']): Pick<UploadTarget, 'address' | 'shards'> {
    const { kind, path: address } = this.#place;
    if (kind === 'file') return { address };
    const { prefixes, extension } = this.#place.naming;
    const counts = 'splits' in cuts ? cuts.splits.map((split) => split.cuts.shardCount) : [cuts.shardCount];
    const groups = counts.map((shardCount, i): ShardGroup => ({ prefix: prefixes[i] ?? '', shardCount }));
    return { address, shards: { extension, groups } };
  }

  /** Compares the parts of an earlier attempt with those that the server has, and what waits with its checksum. */
  async requireUploaded(
    directory: string,
    { headerBytes, partBytes }: { readonly headerBytes: number; readonly partBytes: number },
    regions: readonly WrittenRegion[],
  ): Promise<void> {
    const last = new Map(regions.map((region) => [region.shard, region]));
    const partsOf = new Map<number, UploadedPart[]>();
    for (const { shard, uploaded } of regions)
      partsOf.set(shard, [...(partsOf.get(shard) ?? []), ...(uploaded?.parts ?? [])]);
    await severalAtOnce(last.values(), async ({ shard, end, uploaded }) => {
      const noted = partsOf.get(shard) ?? [];
      const note = readUpload(uploadNotePath(directory, shard));
      const there = note && (await this.#outputs.parts(note.address, note.uploadId));
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
  async uploadRest(directory: string, target: UploadTarget, shards: readonly CompleteShard[]): Promise<void> {
    const { partBytes } = target;
    await severalAtOnce(shards, async ({ shard, byteLength, parts: uploaded }) => {
      const upload = await this.#uploadOf(directory, target, shard);
      const byNumber = new Map(uploaded.map((part) => [part.number, part]));
      const parts: UploadedPart[] = [];
      for (let start = 0; start < byteLength; start += partBytes) {
        const number = parts.length + 1;
        const rest = {
          number,
          path: stagedPath(directory, shard),
          start,
          byteLength: Math.min(partBytes, byteLength - start),
        };
        parts.push(byNumber.get(number) ?? (await this.#outputs.putFile(upload.address, upload.uploadId, rest)));
      }
      noteUpload(directory, shard, { ...upload, parts });
    });
  }

  async #uploadOf(directory: string, target: UploadTarget, shard: number): Promise<UploadNote> {
    const noted = readUpload(uploadNotePath(directory, shard));
    if (noted !== undefined) return noted;
    const address = addressOfShard(target, shard);
    const upload = { address, uploadId: await this.#outputs.begin(address), parts: undefined };
    noteUpload(directory, shard, upload);
    return upload;
  }

  /**
   * Makes the objects appear, and looks whether each has all of its bytes. Those that an earlier attempt made are left alone.
   * @param byteLengths of all objects.
   * @throws UsageError ERR_OUTPUT_EXISTS if somebody else made one of them meanwhile: then none of this job is there.
   */
  async complete(directory: string, byteLengths: readonly number[]): Promise<void> {
    const made: string[] = [];
    try {
      await severalAtOnce(byteLengths.entries(), async ([shard, byteLength]) => {
        const { address, uploadId, parts } = readUpload(uploadNotePath(directory, shard)) ?? {};
        if (address === undefined || uploadId === undefined || parts === undefined)
          throw new VerificationError(`nobody noted how shard ${shard} was uploaded`);
        await this.#outputs.complete(address, uploadId, parts, !this.#place.mayReplace);
        made.push(address);
        const foundBytes = (await this.#outputs.head(address, parts))?.byteLength;
        if (foundBytes === byteLength) return;
        throw new VerificationError(
          `the output ${address} has ${foundBytes === undefined ? 'vanished' : counted(foundBytes, 'byte')}, expected ${byteLength} bytes; make it again with \`force\``,
        );
      });
    } catch (error) {
      if (error instanceof UsageError) await severalAtOnce(made, (address) => this.#outputs.remove(address));
      throw error;
    }
  }

  async remove(names: readonly string[]): Promise<void> {
    await severalAtOnce(names, (name) => this.#outputs.remove(addressIn(this.#place.path, name)));
  }

  async putText(name: string, text: string): Promise<void> {
    await this.#outputs.putText(addressIn(this.#place.path, name), text, false);
  }

  /** Aborts what a killed attempt had begun and not noted. */
  async abortUnknown(directory: string, onWarning: (line: string) => void): Promise<void> {
    const place = this.#place;
    const noted = listIfThere(directory)
      .filter(isUploadNote)
      .map((name) => ifPossible(() => readUpload(join(directory, name))));
    const known = new Set(noted.map((note) => note && listedUploadId(note.uploadId)));
    const isOwn = (address: string) =>
      place.kind === 'file'
        ? address === place.path
        : place.naming.prefixes.some(
            (prefix) => address === addressIn(place.path, nameIn(address)) && isShardOf(prefix, nameIn(address)),
          ) || address === addressIn(place.path, PROBE_NAME);
    try {
      for (const { address, uploadId } of await this.#outputs.uploads(place.path))
        if (isOwn(address) && !known.has(uploadId)) await this.#outputs.abort(address, uploadId);
    } catch (error) {
      onWarning(`what a killed job may have begun to upload stays: ${error instanceof Error ? error.message : error}`);
    }
  }

  /** Aborts what the notes in a staging directory name, and in the directories of tasks in it. */
  async abort(directory: string): Promise<void> {
    await severalAtOnce(listIfThere(directory), async (name) => {
      const path = join(directory, name);
      if (!isUploadNote(name)) return this.abort(path);
      // A damaged note is as none: who aborts what is unknown finds its upload.
      const upload = ifPossible(() => readUpload(path));
      if (upload === undefined) return;
      await this.#outputs.abort(upload.address, upload.uploadId).catch((error: Error) => {
        throw new SystemError(
          'ERR_IO',
          `${error.message}; its upload stays: abort it with pileshuf gc ${this.#place.path}`,
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
