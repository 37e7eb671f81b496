/**
 * Lets one process at a time commit a job: two would be in each other's way when they move the same outputs. The
 * process that commits changes its claim every two seconds. A claim that does not change belongs to a process that is
 * gone, and is taken over: at once if that process ran on this machine, else after the time in which a change must have
 * become visible. No clocks of two machines are compared.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { removeFile } from '../io/files.js';
import { object, optional, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { createOnce, replaceDurably } from '../io/small-file.js';
import { identifyThisProcess, isRunning } from '../machine/file-owner.js';
import type { JobStop } from '../passes/threads.js';
import { COMMITTING_NAME, formatOfJob } from './cluster-plan.js';
import { isCommitted, notReady } from './open-job.js';
import type { Patience } from './until-visible.js';

const shape = object({
  host: text,
  bootId: optional(text),
  pidNamespace: optional(text),
  pid: wholeNumber(1),
  startTicks: optional(text),
  token: text,
  beat: wholeNumber(),
});

type Claim = ValueOf<typeof shape>;

const format = formatOfJob('cluster-claim', 1, 2 ** 12, shape);

const BEAT_MILLISECONDS = 2000;
/** In this time a process at work changes its claim, even if it is slow. */
const LEAST_WATCH_SECONDS = 6;

/** Tokens of the claims that this process holds. */
const heldTokens = new Set<string>();

export class CommitClaim {
  readonly #directory: string;
  #claim: Claim;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();

  private constructor(directory: string, claim: Claim) {
    this.#directory = directory;
    this.#claim = claim;
  }

  /** @returns undefined if the job is committed. */
  static async take(directory: string, patience: Patience, stop: JobStop): Promise<CommitClaim | undefined> {
    const claim: Claim = {
      ...identifyThisProcess(),
      host: hostname(),
      token: randomBytes(8).toString('hex'),
      beat: 0,
    };
    try {
      await claimOrTakeOver(directory, claim, patience);
    } catch (error) {
      // The process that has committed the job removes all else from its directory, a claim on its way as well.
      if (isCommitted(directory)) return undefined;
      throw error;
    }
    heldTokens.add(claim.token);
    const taken = new CommitClaim(directory, claim);
    if (isCommitted(directory)) {
      await taken.release();
      return undefined;
    }
    taken.#timer = setInterval(() => {
      taken.#beating = taken.#beating.then(() => taken.#beat(stop));
    }, BEAT_MILLISECONDS);
    taken.#timer.unref();
    return taken;
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    heldTokens.delete(this.#claim.token);
    await this.#beating;
    if (readClaim(this.#directory)?.token === this.#claim.token)
      removeFile(join(this.#directory, COMMITTING_NAME), 'temp');
  }

  async #beat(stop: JobStop): Promise<void> {
    try {
      const now = readClaim(this.#directory);
      if (now !== undefined && now.token !== this.#claim.token) {
        stop.fail(notReady(`a process on ${now.host} has taken over the commit of ${this.#directory}`));
        return;
      }
      this.#claim = { ...this.#claim, beat: this.#claim.beat + 1 };
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
    return now.token !== first.token || now.beat !== first.beat || undefined;
  });
  if (isAtWork !== true) return;
  throw notReady(`another process commits ${directory}: process ${first.pid} on ${first.host}; wait for it`);
}

function isGoneHere({ bootId, pidNamespace, pid, startTicks, token }: Claim): boolean {
  const here = identifyThisProcess();
  const isSameMachine = bootId !== undefined && bootId === here.bootId && pidNamespace === here.pidNamespace;
  if (!isSameMachine) return false;
  return pid === here.pid && startTicks === here.startTicks ? !heldTokens.has(token) : !isRunning(pid, startTicks);
}

function readClaim(directory: string): Claim | undefined {
  return format.read(join(directory, COMMITTING_NAME));
}
