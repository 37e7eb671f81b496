/** Failures of servers and networks: what to try again, for how long, and what to tell. */
import { setTimeout as sleep } from 'node:timers/promises';
import { counted, InputError } from '../errors.js';
import { errnoOf } from '../io/io-error.js';
import type { Headers } from './http-messages.js';

export interface RetryPolicy {
  /** Time since the last byte, or since the last pause that a server asked for. */
  readonly totalMilliseconds: number;
  readonly firstPauseMilliseconds: number;
  readonly longestPauseMilliseconds: number;
  /** The longest time without a byte. */
  readonly silenceMilliseconds: number;
}

export const RETRY_POLICY: RetryPolicy = {
  totalMilliseconds: 120_000,
  firstPauseMilliseconds: 100,
  longestPauseMilliseconds: 10_000,
  silenceMilliseconds: 30_000,
};

/** Slower ones break: another connection may do better. */
const LEAST_BYTES_OF_SECOND = 1024;
/** A request is tried so often while nothing of it stays. */
const MOST_TRIES = 20;
/** All that servers ask one request to wait; the Hub counts requests in windows of 5 minutes. */
const MOST_ASKED_MILLISECONDS = 15 * 60_000;
const TOLD_FROM_MILLISECONDS = 5000;

/** May pass by itself. */
export class PassingFailure extends Error {
  /** The pause that the server asks for; undefined: it says nothing. */
  readonly pauseMilliseconds: number | undefined;

  constructor(reason: string, pauseMilliseconds?: number) {
    super(reason);
    this.pauseMilliseconds = pauseMilliseconds;
  }
}

/** The errors of a network when nobody is there at all: only a few tries are worth it. */
const NOBODY_THERE = new Set(['ENOTFOUND', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH']);
const TRIES_IF_NOBODY = 3;
/** Places that have answered this thread: who is away now may just start again. */
const ANSWERED = new Set<string>();

/** @param thrown by undici or Node, or a `PassingFailure`. */
function passing(thrown: unknown): PassingFailure | undefined {
  if (thrown instanceof PassingFailure) return thrown;
  const errno = errnoOf(thrown);
  if (/^UND_ERR_(?:SOCKET|.*TIMEOUT|RES_CONTENT_LENGTH_MISMATCH)$/.test(errno) || /^(?:E[A-Z]+|HPE_.*)$/.test(errno))
    return new PassingFailure(wordsFor(errno, thrown));
  return undefined;
}

function wordsFor(errno: string, thrown: unknown): string {
  if (errno.includes('TIMEOUT') || errno === 'ETIMEDOUT') return 'the server did not answer in time';
  // Who has forgotten an endpoint sees whom the job asks.
  if (errno === 'ENOTFOUND') return `no host has the name ${hostIn(thrown)}`;
  if (errno === 'ECONNREFUSED') return 'no server listens there';
  if (errno === 'ECONNRESET' || errno === 'UND_ERR_SOCKET') return 'the connection broke';
  return thrown instanceof Error ? thrown.message : errno;
}

function hostIn(thrown: unknown): string {
  return thrown instanceof Error && 'hostname' in thrown ? String(thrown.hostname) : 'in this address';
}

/** Counts what comes and goes during the tries of one request. */
export class Progress {
  readonly #windowMilliseconds: number;
  /** Begins with the first byte: a request may wait for a connection. */
  #windowBegan: number | undefined;
  #windowBytes = 0;
  /** Time of the last byte of a connection that was not too slow. */
  heardAt = performance.now();
  tries = 0;

  constructor(windowMilliseconds: number) {
    this.#windowMilliseconds = windowMilliseconds;
  }

  beginTry(): void {
    this.tries += 1;
    this.#windowBegan = undefined;
    this.#windowBytes = 0;
  }

  /** @throws PassingFailure if bytes come too slowly. */
  heard(byteLength: number): void {
    const now = performance.now();
    this.#windowBegan ??= now;
    this.#windowBytes += byteLength;
    if (now - this.#windowBegan < this.#windowMilliseconds) return;
    if (!this.#isFast) throw new PassingFailure(`fewer than ${LEAST_BYTES_OF_SECOND} bytes a second come through`);
    this.heardAt = now;
    this.#windowBegan = now;
    this.#windowBytes = 0;
  }

  failed(): void {
    if (this.#windowBytes > 0 && this.#isFast) this.heardAt = performance.now();
  }

  /** Bytes that came stay: the next try begins after them. */
  advanced(): void {
    this.tries = 0;
  }

  get #isFast(): boolean {
    const seconds = (performance.now() - (this.#windowBegan ?? 0)) / 1000;
    return this.#windowBytes >= LEAST_BYTES_OF_SECOND * seconds;
  }
}

export type OnRetry = (line: string) => void;

interface WhileTrying {
  /** Returns the error when there are no more tries. @param problem with what to do about it. */
  readonly givenUp: (problem: string, cause: unknown) => Error;
  /** Ends the pauses. */
  readonly signal: AbortSignal | undefined;
}

/** Tries again what may pass, with growing pauses of random length, so that many readers do not come back together. */
export async function withRetries<T>(
  what: string,
  attempt: (progress: Progress) => Promise<T>,
  { totalMilliseconds, firstPauseMilliseconds, longestPauseMilliseconds, silenceMilliseconds }: RetryPolicy,
  onRetry: OnRetry,
  { givenUp = unreadable(what), signal }: Partial<WhileTrying> = {},
): Promise<T> {
  const progress = new Progress(silenceMilliseconds);
  let askedMilliseconds = 0;
  const [place = what] = /^\w+:\/\/[^/]*/.exec(what) ?? [];
  for (;;) {
    progress.beginTry();
    try {
      const result = await attempt(progress);
      ANSWERED.add(place);
      return result;
    } catch (thrown) {
      const failure = passing(thrown);
      if (failure === undefined) throw thrown;
      progress.failed();
      const tries = Math.max(1, progress.tries);
      const grown = Math.min(longestPauseMilliseconds, firstPauseMilliseconds * 2 ** (tries - 1));
      const asked = failure.pauseMilliseconds ?? 0;
      askedMilliseconds += asked;
      const pause = Math.max(grown * (0.5 + Math.random() / 2), asked);
      const isOver = performance.now() - progress.heardAt + grown > totalMilliseconds || tries === MOST_TRIES;
      const asksTooMuch = askedMilliseconds > MOST_ASKED_MILLISECONDS;
      const isNobody = NOBODY_THERE.has(errnoOf(thrown)) && !ANSWERED.has(place);
      const wait = pause < TOLD_FROM_MILLISECONDS ? '' : ` in ${Math.ceil(pause / 1000)} s`;
      if (isOver || asksTooMuch || (isNobody && tries === TRIES_IF_NOBODY))
        throw givenUp(
          asksTooMuch
            ? `${failure.message}, and asks to come back${wait}; start again then`
            : `${failure.message}, ${counted(tries, 'time')}; look whether the server and the network work, and start again`,
          thrown,
        );
      onRetry(`${what}: ${failure.message}; trying again${wait}`);
      await sleep(pause, undefined, { signal });
      if (asked > 0) progress.heardAt = performance.now();
    }
  }
}

function unreadable(what: string): WhileTrying['givenUp'] {
  return (problem, cause) => new InputError('ERR_INPUT_UNREADABLE', `cannot read ${what}: ${problem}`, { cause });
}

const PASSING_STATUS = new Set([408, 425, 429, 500, 502, 503, 504]);

export function passingStatus(status: number, reason: string, headers: Headers): PassingFailure | undefined {
  if (!PASSING_STATUS.has(status)) return undefined;
  return new PassingFailure(`the server answered ${status}${reason}`, askedPause(headers));
}

/** Seconds or a date, or, on the Hub, the seconds until it counts anew: `RateLimit: "api";r=0;t=217`. */
function askedPause({ 'retry-after': retryAfter, ratelimit, 'ratelimit-reset': reset }: Headers): number | undefined {
  const [, untilReset = reset] = /(?:^|;)\s*r=0\s*;\s*t=(\d+)/.exec(ratelimit ?? '') ?? [];
  const said = retryAfter ?? untilReset;
  if (said === undefined) return undefined;
  const seconds = Number(said);
  const milliseconds = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(said) - Date.now();
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : undefined;
}
