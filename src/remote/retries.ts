/** Retries after transient failures of servers and networks: which, for how long, and what the user is told. */
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

/** Slower connections are broken: another one may be faster. */
const LEAST_BYTES_OF_SECOND = 1024;
/** The most tries of a request without progress. */
const MOST_TRIES = 20;
/** The most time that servers may ask one request to wait; the Hub counts requests in windows of 5 minutes. */
const MOST_SERVER_PAUSE_MILLISECONDS = 15 * 60_000;
const SHOWN_PAUSE_MILLISECONDS = 5000;

/** A failure that may pass by itself, so that the request is tried again. */
export class TransientError extends Error {
  /** The pause that the server asks for; undefined: it says nothing. */
  readonly pauseMilliseconds: number | undefined;

  constructor(reason: string, pauseMilliseconds?: number) {
    super(reason);
    this.pauseMilliseconds = pauseMilliseconds;
  }
}

/** Errors of hosts that cannot be reached at all: only a few tries are worth it. */
const UNREACHABLE_ERRNOS = new Set(['ENOTFOUND', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH']);
const MOST_TRIES_IF_UNREACHABLE = 3;
/** Servers that have answered this thread: one that is unreachable now may just be starting again. */
const REACHED_SERVERS = new Set<string>();

/** @param thrown by undici or Node, or a `TransientError`. */
function transientErrorFrom(thrown: unknown): TransientError | undefined {
  if (thrown instanceof TransientError) return thrown;
  const errno = errnoOf(thrown);
  if (/^UND_ERR_(?:SOCKET|.*TIMEOUT|RES_CONTENT_LENGTH_MISMATCH)$/.test(errno) || /^(?:E[A-Z]+|HPE_.*)$/.test(errno))
    return new TransientError(reasonFor(errno, thrown));
  return undefined;
}

function reasonFor(errno: string, thrown: unknown): string {
  if (errno.includes('TIMEOUT') || errno === 'ETIMEDOUT') return 'the server did not answer in time';
  // A user who has forgotten an endpoint sees which host the job asks.
  if (errno === 'ENOTFOUND') return `no host has the name ${hostIn(thrown)}`;
  if (errno === 'ECONNREFUSED') return 'no server listens there';
  if (errno === 'ECONNRESET' || errno === 'UND_ERR_SOCKET') return 'the connection broke';
  return thrown instanceof Error ? thrown.message : errno;
}

function hostIn(thrown: unknown): string {
  return thrown instanceof Error && 'hostname' in thrown ? String(thrown.hostname) : 'in this address';
}

/** Watches the bytes of one request, over all of its tries, for stalls. */
export class StallWatch {
  readonly #windowMilliseconds: number;
  /** Begins with the first byte: a request may wait for a connection. */
  #windowBegan: number | undefined;
  #windowBytes = 0;
  /** The time of the last byte on a connection that was not too slow. */
  lastProgressAt = performance.now();
  tries = 0;

  constructor(windowMilliseconds: number) {
    this.#windowMilliseconds = windowMilliseconds;
  }

  beginTry(): void {
    this.tries += 1;
    this.#windowBegan = undefined;
    this.#windowBytes = 0;
  }

  /** @throws TransientError if bytes come too slowly. */
  received(byteLength: number): void {
    const now = performance.now();
    this.#windowBegan ??= now;
    this.#windowBytes += byteLength;
    if (now - this.#windowBegan < this.#windowMilliseconds) return;
    if (!this.#isFast) throw new TransientError(`fewer than ${LEAST_BYTES_OF_SECOND} bytes a second come through`);
    this.lastProgressAt = now;
    this.#windowBegan = now;
    this.#windowBytes = 0;
  }

  endFailedTry(): void {
    if (this.#windowBytes > 0 && this.#isFast) this.lastProgressAt = performance.now();
  }

  /** Resets the count of tries: the next one begins after the bytes that are stored. */
  advanced(): void {
    this.tries = 0;
  }

  get #isFast(): boolean {
    const seconds = (performance.now() - (this.#windowBegan ?? 0)) / 1000;
    return this.#windowBytes >= LEAST_BYTES_OF_SECOND * seconds;
  }
}

export type OnRetry = (line: string) => void;

interface RetryOptions {
  /** Returns the error when there are no more tries. @param problem with what to do about it. */
  readonly errorOnGivingUp: (problem: string, cause: unknown) => Error;
  /** Ends the pauses. */
  readonly signal: AbortSignal | undefined;
}

/** Retries transient failures, with growing pauses of random length, so that many readers do not come back together. */
export async function withRetries<T>(
  what: string,
  attempt: (progress: StallWatch) => Promise<T>,
  { totalMilliseconds, firstPauseMilliseconds, longestPauseMilliseconds, silenceMilliseconds }: RetryPolicy,
  onRetry: OnRetry,
  { errorOnGivingUp: givenUp = unreadable(what), signal }: Partial<RetryOptions> = {},
): Promise<T> {
  const progress = new StallWatch(silenceMilliseconds);
  let serverPauseMilliseconds = 0;
  const [place = what] = /^\w+:\/\/[^/]*/.exec(what) ?? [];
  for (;;) {
    progress.beginTry();
    try {
      const result = await attempt(progress);
      REACHED_SERVERS.add(place);
      return result;
    } catch (thrown) {
      const failure = transientErrorFrom(thrown);
      if (failure === undefined) throw thrown;
      progress.endFailedTry();
      const tries = Math.max(1, progress.tries);
      const grown = Math.min(longestPauseMilliseconds, firstPauseMilliseconds * 2 ** (tries - 1));
      const serverPause = failure.pauseMilliseconds ?? 0;
      serverPauseMilliseconds += serverPause;
      const pause = Math.max(grown * (0.5 + Math.random() / 2), serverPause);
      const isOver = performance.now() - progress.lastProgressAt + grown > totalMilliseconds || tries === MOST_TRIES;
      const asksTooMuch = serverPauseMilliseconds > MOST_SERVER_PAUSE_MILLISECONDS;
      const isUnreachable = UNREACHABLE_ERRNOS.has(errnoOf(thrown)) && !REACHED_SERVERS.has(place);
      const wait = pause < SHOWN_PAUSE_MILLISECONDS ? '' : ` in ${Math.ceil(pause / 1000)} s`;
      if (isOver || asksTooMuch || (isUnreachable && tries === MOST_TRIES_IF_UNREACHABLE))
        throw givenUp(
          asksTooMuch
            ? `${failure.message}, and asks to come back${wait}; start again then`
            : `${failure.message}, ${counted(tries, 'time')}; look whether the server and the network work, and start again`,
          thrown,
        );
      onRetry(`${what}: ${failure.message}; trying again${wait}`);
      await sleep(pause, undefined, { signal });
      if (serverPause > 0) progress.lastProgressAt = performance.now();
    }
  }
}

function unreadable(what: string): RetryOptions['errorOnGivingUp'] {
  return (problem, cause) => new InputError('ERR_INPUT_UNREADABLE', `cannot read ${what}: ${problem}`, { cause });
}

const TRANSIENT_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504]);

export function transientErrorOfStatus(status: number, reason: string, headers: Headers): TransientError | undefined {
  if (!TRANSIENT_STATUSES.has(status)) return undefined;
  return new TransientError(`the server answered ${status}${reason}`, pauseFromHeaders(headers));
}

/** Seconds or a date, or, on the Hub, the seconds until it counts anew: `RateLimit: "api";r=0;t=217`. */
function pauseFromHeaders({
  'retry-after': retryAfter,
  ratelimit,
  'ratelimit-reset': reset,
}: Headers): number | undefined {
  const [, untilReset = reset] = /(?:^|;)\s*r=0\s*;\s*t=(\d+)/.exec(ratelimit ?? '') ?? [];
  const said = retryAfter ?? untilReset;
  if (said === undefined) return undefined;
  const seconds = Number(said);
  const milliseconds = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(said) - Date.now();
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : undefined;
}
