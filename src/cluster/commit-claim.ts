/**
 * Lets one process at a time commit a job: two would be in each other's way when they move the same outputs. The
 * process that commits changes its claim every two seconds. A claim that does not change belongs to a process that is
 * gone, and is taken over: at once if that process ran on this machine, else after the time in which a change must have
 * become visible. No clocks of two machines are compared.
 */
import { join } from 'node:path';
import { removeFile } from '../io/files.js';
import { object, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { createOnce, replaceDurably } from '../io/small-file.js';
import type { Patience } from '../io/until-visible.js';
import {
  type FileOwner,
  HeldName,
  identifyOwner,
  judgeOwnerAmongHosts,
  parseOwnerName,
} from '../machine/file-owner.js';
import type { JobStop } from '../stages/threads.js';
import { COMMITTING_NAME, formatOfJob } from './cluster-plan.js';
import { isCommitted, notReady } from './open-job.js';

const shape = object({
  /** A name that says which process commits, as file-owner.ts forms it. */
  owner: text,
  beat: wholeNumber(),
});

type Claim = ValueOf<typeof shape>;

const format = formatOfJob('cluster-claim', 2, 2 ** 12, shape);

const BEAT_MILLISECONDS = 2000;
/** In this time a process at work changes its claim, even if it is slow. */
const LEAST_WATCH_SECONDS = 6;

export class CommitClaim {
  readonly #directory: string;
  readonly #held: HeldName;
  #beat = 0;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();

  private constructor(directory: string) {
    this.#directory = directory;
    this.#held = new HeldName(COMMITTING_NAME, directory);
  }

  get #claim(): Claim {
    return { owner: this.#held.name, beat: this.#beat };
  }

  /** @returns undefined if the job is committed. */
  static async take(directory: string, patience: Patience, stop: JobStop): Promise<CommitClaim | undefined> {
    const taken = new CommitClaim(directory);
    try {
      await claimOrTakeOver(directory, taken.#claim, patience);
    } catch (error) {
      taken.#held.letGo();
      // The process that has committed the job removes all else from its directory, a claim on its way as well.
      if (isCommitted(directory)) return undefined;
      throw error;
    }
    if (isCommitted(directory)) {
      await taken.release();
      return undefined;
    }
    taken.#timer = setInterval(() => {
      taken.#beating = taken.#beating.then(() => taken.#change(stop));
    }, BEAT_MILLISECONDS);
    taken.#timer.unref();
    return taken;
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    this.#held.letGo();
    await this.#beating;
    if (readClaim(this.#directory)?.owner === this.#held.name)
      removeFile(join(this.#directory, COMMITTING_NAME), 'temp');
  }

  async #change(stop: JobStop): Promise<void> {
    try {
      const now = readClaim(this.#directory);
      if (now !== undefined && now.owner !== this.#held.name) {
        stop.fail(notReady(`a process on ${ownerOf(now)?.host} has taken over the commit of ${this.#directory}`));
        return;
      }
      this.#beat += 1;
      await replaceDurably(this.#directory, COMMITTING_NAME, format.seal(this.#claim));
    } catch {
      // The next beat tries again.
    }
  }
}

async function claimOrTakeOver(directory: string, claim: Claim, patience: Patience): Promise<void> {
  const bytes = format.seal(claim);
  if (await createOnce(directory, COMMITTING_NAME, bytes)) return;
  await requireLeft(directory, patience);
  await replaceDurably(directory, COMMITTING_NAME, bytes);
}

/** Returns when the process of the claim is surely gone. */
async function requireLeft(directory: string, patience: Patience): Promise<void> {
  const first = readClaim(directory);
  if (first === undefined || isGoneHere(first)) return;
  const isAtWork = await patience.atLeast(LEAST_WATCH_SECONDS).untilFound(directory, () => {
    const now = readClaim(directory);
    if (now === undefined) return false;
    return now.owner !== first.owner || now.beat !== first.beat || undefined;
  });
  if (isAtWork !== true) return;
  const { pid, host } = ownerOf(first) ?? {};
  throw notReady(`another process commits ${directory}: process ${pid} on ${host}; wait for it`);
}

/** Without boot ids, two machines of one name cannot be told from one. */
function isGoneHere(claim: Claim): boolean {
  const owner = ownerOf(claim);
  return owner?.bootId !== undefined && judgeOwnerAmongHosts(owner, identifyOwner()) === 'left over';
}

function ownerOf({ owner }: Claim): FileOwner | undefined {
  return parseOwnerName(COMMITTING_NAME, owner);
}

function readClaim(directory: string): Claim | undefined {
  return format.read(join(directory, COMMITTING_NAME));
}
