/**
 * Objects of services (S3, the Hub) and files of web servers as inputs. The transfer thread of the process lists them and
 * brings their bytes; every thread reads these by the channel (`../../remote/transfer-channel.ts`).
 */
import { hash } from 'node:crypto';
import { UsageError } from '../../errors.js';
import type { FileVersion, InputReader } from '../../io/files.js';
import { copySharedBytes } from '../../io/shared-bytes.js';
import { adviceOnPattern, isRemote, requireAddress, shownAddress } from '../../remote/address.js';
import type { ListedObject } from '../../remote/service.js';
import {
  ask,
  type BlockReference,
  type ChannelClient,
  channelClient,
  type ObjectVersion,
} from '../../remote/transfer-channel.js';
import { currentTransferClient, transferClient, unlessAborted } from '../../remote/transfer-client.js';
import { poolBytesOf } from '../../remote/transfer-pool.js';
import type { InputPlace, InputRange, ReadPlan } from './input-place.js';

const PREFETCHES_AT_ONCE = 12;

export const OBJECT_INPUTS: InputPlace = {
  open: (path, plan) => new RemoteObject(path, plan),
  requireAddress,
  poolBytesOf,
  startFetching: (request) => transferClient(request).poolBytes,
  async list(address, signal) {
    const listing =
      currentTransferClient()?.ask<readonly ListedObject[]>({ ask: 'list', address }) ?? Promise.resolve([]);
    const found = await unlessAborted(listing, signal);
    const advice = found.length === 0 ? adviceOnPattern(shownAddress(address)) : undefined;
    if (advice !== undefined) throw new UsageError(`${shownAddress(address)}: ${advice}`);
    return found.map(({ place, ...version }) => ({
      place,
      version: () => fileVersionOf(shownAddress(address) + place, version),
    }));
  },
  prefetch(paths, which) {
    const client = currentTransferClient();
    const addresses = paths.filter(isRemote);
    const prefetched: Promise<unknown>[] = [];
    let next = 0;
    return async (path, signal) => {
      if (!isRemote(path)) return;
      for (const address of addresses.slice(prefetched.length, next + PREFETCHES_AT_ONCE)) {
        const fetched = client?.ask({ ask: which, address }) ?? Promise.resolve();
        // The error is thrown when it is the turn of the input.
        fetched.catch(() => {});
        prefetched.push(fetched);
      }
      await unlessAborted(prefetched[next++] ?? Promise.resolve(), signal);
    };
  },
  announceReads: (ranges) => currentTransferClient()?.announceReads(ranges.flatMap(plannedReads)),
};

function plannedReads({ path, version, start, end }: InputRange) {
  const answer = objectVersionOf(version);
  return answer === undefined ? [] : [{ path, ...answer, start, end }];
}

/** Makes a version that names the object in any process: its validator follows its path in the identity. */
function fileVersionOf(path: string, { byteLength, validator }: ObjectVersion): FileVersion {
  const digest = hash('sha256', validator, 'buffer');
  return { identity: `${path}\n${validator}`, byteLength, modifiedNanoseconds: digest.readBigInt64LE(0) };
}

/**
 * Returns the version as the service gave it. Undefined: the version comes from a plan that was made in another
 * process, or is that of a file.
 */
function objectVersionOf({ identity, byteLength }: FileVersion): ObjectVersion | undefined {
  const end = identity.lastIndexOf('\n');
  return end < 0 ? undefined : { byteLength, validator: identity.slice(end + 1) };
}

/** The blocks that closed inputs of this thread held. The next question releases them. */
let unreleasedBlocks: readonly BlockReference[] = [];

/** An open input. */
export class RemoteObject implements InputReader {
  readonly path: string;
  readonly version: FileVersion;
  readonly #objectVersion: ObjectVersion;
  readonly #client: ChannelClient;
  readonly #check: () => void;
  readonly #end: number | undefined;
  /** The blocks of the last answer. */
  #blocks: readonly BlockReference[] = [];

  /** Opens an object; without a plan, its present version, for short reads here and there. */
  constructor(path: string, { version, check = () => {}, end }: Partial<ReadPlan> = {}) {
    this.path = path;
    this.#client = channelClient(path);
    this.#check = check;
    this.#end = end;
    this.#objectVersion =
      (version && objectVersionOf(version)) ?? ask<ObjectVersion>(this.#client, { ask: 'version', path }, check);
    this.version = fileVersionOf(path, this.#objectVersion);
  }

  /** Reads as `readAt` of files. @param end how far the caller reads from there on, if it says so only now. */
  readAt(bytes: Uint8Array, offset: number, byteLength: number, position: number, end = this.#end): number {
    const wanted = Math.max(0, Math.min(byteLength, this.#objectVersion.byteLength - position));
    for (let done = 0; done < wanted; ) {
      const place = position + done;
      const block = this.#leaseAt(place) ?? this.#fetch(place, wanted - done, end);
      const at = place - block.start;
      const count = Math.min(wanted - done, block.byteLength - at);
      const from = block.block * this.#client.buffers.blockBytes + at;
      copySharedBytes(this.#client.pool.subarray(from, from + count), bytes, offset + done);
      this.#client.channel.release(block.block);
      done += count;
    }
    return wanted;
  }

  close(): void {
    if (this.#end !== undefined) unreleasedBlocks = [...unreleasedBlocks, ...this.#blocks];
    this.#blocks = [];
  }

  /** Returns the block of the last answer that has this byte, leased. */
  #leaseAt(position: number): BlockReference | undefined {
    const found = this.#blocks.find(({ start, byteLength }) => position >= start && position < start + byteLength);
    return found !== undefined && this.#client.channel.lease(found.block, found.generation) ? found : undefined;
  }

  /** Asks for the block that has this byte. It is leased. */
  #fetch(position: number, byteLength: number, end: number | undefined): BlockReference {
    const { validator, byteLength: inputBytes } = this.#objectVersion;
    const isSequential = this.#end !== undefined;
    const passed = this.#blocks.filter((block) => isSequential && block.start + block.byteLength <= position);
    const done = [...unreleasedBlocks, ...passed];
    unreleasedBlocks = [];
    const question = { path: this.path, validator, inputBytes, position, byteLength, end, isSequential, done };
    this.#blocks = ask<readonly BlockReference[]>(this.#client, { ask: 'blocks', ...question }, this.#check);
    const [first] = this.#blocks;
    if (first === undefined) throw new RangeError(`no block of ${this.path} was fetched`);
    return first;
  }
}
