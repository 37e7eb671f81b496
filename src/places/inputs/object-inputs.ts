/**
 * Objects of services (S3, the Hub) and files of web servers as inputs. The fetching thread of the process lists them and
 * brings their bytes; every thread reads these by the channel (`../../remote/fetch-channel.ts`).
 */
import { hash } from 'node:crypto';
import { UsageError } from '../../errors.js';
import type { FileVersion, InputReader } from '../../io/files.js';
import { adviceOnPattern, isRemote, requireAddress, shownAddress } from '../../remote/address.js';
import { type Attached, ask, attach, type HeldBlock, type VersionAnswer } from '../../remote/fetch-channel.js';
import { currentFetcher, remoteInputs, unlessAborted } from '../../remote/remote-inputs.js';
import type { ListedObject } from '../../remote/service.js';
import { poolBytesOf } from '../../remote/transfer-pool.js';
import type { InputPlace, RangeOfInput, ReadingPlan } from './input-place.js';

const LOOKS_AT_ONCE = 12;

export const OBJECTS: InputPlace = {
  open: (path, plan) => new RemoteObject(path, plan),
  requireAddress,
  poolBytesOf,
  begin: (request) => remoteInputs(request).poolBytes,
  async list(address, signal) {
    const listing = currentFetcher()?.ask<readonly ListedObject[]>({ ask: 'list', address }) ?? Promise.resolve([]);
    const found = await unlessAborted(listing, signal);
    const advice = found.length === 0 ? adviceOnPattern(shownAddress(address)) : undefined;
    if (advice !== undefined) throw new UsageError(`${shownAddress(address)}: ${advice}`);
    return found.map(({ place }) => place);
  },
  lookAhead(paths, which) {
    const fetcher = currentFetcher();
    const addresses = paths.filter(isRemote);
    const looks: Promise<unknown>[] = [];
    let next = 0;
    return async (path, signal) => {
      if (!isRemote(path)) return;
      for (const address of addresses.slice(looks.length, next + LOOKS_AT_ONCE)) {
        const look = fetcher?.ask({ ask: which, address }) ?? Promise.resolve();
        // It is told when it is the turn of the input.
        look.catch(() => {});
        looks.push(look);
      }
      await unlessAborted(looks[next++] ?? Promise.resolve(), signal);
    };
  },
  willRead: (ranges) => currentFetcher()?.willRead(ranges.flatMap(toFetch)),
};

function toFetch({ path, version, start, end }: RangeOfInput) {
  const answer = remoteAnswer(version);
  return answer === undefined ? [] : [{ path, ...answer, start, end }];
}

/** How an input is asked for in any process: its validator follows its path in the identity. */
function remoteVersion(path: string, { byteLength, validator }: VersionAnswer): FileVersion {
  const digest = hash('sha256', validator, 'buffer');
  return { identity: `${path}\n${validator}`, byteLength, modifiedNanoseconds: digest.readBigInt64LE(0) };
}

/**
 * Returns the version as another machine gave it. Undefined: the version comes from a plan that was made in another
 * process, or is that of a file.
 */
function remoteAnswer({ identity, byteLength }: FileVersion): VersionAnswer | undefined {
  const end = identity.lastIndexOf('\n');
  return end < 0 ? undefined : { byteLength, validator: identity.slice(end + 1) };
}

/** The blocks that closed inputs of this thread held, for the next question. */
let leftBehind: readonly HeldBlock[] = [];

/** An open input. */
export class RemoteObject implements InputReader {
  readonly path: string;
  readonly version: FileVersion;
  readonly #answer: VersionAnswer;
  readonly #attached: Attached;
  readonly #check: () => void;
  readonly #end: number | undefined;
  /** The blocks of the last answer. */
  #blocks: readonly HeldBlock[] = [];

  /** Opens an object; without a plan, the version that is there now, for a look here and there. */
  constructor(path: string, { version, check = () => {}, end }: Partial<ReadingPlan> = {}) {
    this.path = path;
    this.#attached = attach(path);
    this.#check = check;
    this.#end = end;
    this.#answer =
      (version && remoteAnswer(version)) ?? ask<VersionAnswer>(this.#attached, { ask: 'version', path }, check);
    this.version = remoteVersion(path, this.#answer);
  }

  /** Reads as `readAt` of files. @param end how far the caller reads from there on, if it says so only now. */
  readAt(bytes: Uint8Array, offset: number, byteLength: number, position: number, end = this.#end): number {
    const wanted = Math.max(0, Math.min(byteLength, this.#answer.byteLength - position));
    for (let done = 0; done < wanted; ) {
      const place = position + done;
      const block = this.#heldAt(place) ?? this.#fetch(place, wanted - done, end);
      const at = place - block.start;
      const count = Math.min(wanted - done, block.byteLength - at);
      const from = block.block * this.#attached.fetcher.blockBytes + at;
      bytes.set(this.#attached.pool.subarray(from, from + count), offset + done);
      this.#attached.channel.giveBack(block.block);
      done += count;
    }
    return wanted;
  }

  close(): void {
    if (this.#end !== undefined) leftBehind = [...leftBehind, ...this.#blocks];
    this.#blocks = [];
  }

  /** Leased. */
  #heldAt(position: number): HeldBlock | undefined {
    const found = this.#blocks.find(({ start, byteLength }) => position >= start && position < start + byteLength);
    return found !== undefined && this.#attached.channel.lease(found.block, found.generation) ? found : undefined;
  }

  /** Leased. */
  #fetch(position: number, byteLength: number, end: number | undefined): HeldBlock {
    const { validator, byteLength: inputBytes } = this.#answer;
    const isSequential = this.#end !== undefined;
    const passed = this.#blocks.filter((block) => isSequential && block.start + block.byteLength <= position);
    const done = [...leftBehind, ...passed];
    leftBehind = [];
    const question = { path: this.path, validator, inputBytes, position, byteLength, end, isSequential, done };
    this.#blocks = ask<readonly HeldBlock[]>(this.#attached, { ask: 'blocks', ...question }, this.#check);
    const [first] = this.#blocks;
    if (first === undefined) throw new RangeError(`no block of ${this.path} was fetched`);
    return first;
  }
}
