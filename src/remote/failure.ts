/** Failures of servers and networks: what to try again, for how long, and what to tell. */
import { setTimeout as sleep } from 'node:timers/promises';
import { counted, InputError } from '../errors.js';
import { errnoOf } from '../io/io-error.js';

export interface Patience {
  /** All tries of one request together. */
  readonly totalMilliseconds: number;
  readonly firstPauseMilliseconds: number;
  readonly longestPauseMilliseconds: number;
  /** Without a byte. */
  readonly silenceMilliseconds: number;
}

export const PATIENCE: Patience = {
  totalMilliseconds: 120_000,
  firstPauseMilliseconds: 100,
  longestPauseMilliseconds: 10_000,
  silenceMilliseconds: 30_000,
};

/** May pass by itself. */
export class PassingFailure extends Error {
  /** What the server asks for; undefined: it says nothing. */
  readonly pauseMilliseconds: number | undefined;

  constructor(reason: string, pauseMilliseconds?: number) {
    super(reason);
    this.pauseMilliseconds = pauseMilliseconds;
  }
}

/** What a network says when nobody is there at all: only a few tries are worth it. */
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

export type OnRetry = (line: string) => void;

interface WhileTrying {
  /** The error when patience ends. @param problem with what to do about it. */
  readonly givenUp: (problem: string, cause: unknown) => Error;
  /** Ends the pauses. */
  readonly signal: AbortSignal | undefined;
}

/** Tries again what may pass, with growing pauses of random length, so that many readers do not come back together. */
export async function withPatience<T>(
  what: string,
  attempt: () => Promise<T>,
  { totalMilliseconds, firstPauseMilliseconds, longestPauseMilliseconds }: Patience,
  onRetry: OnRetry,
  { givenUp = unreadable(what), signal }: Partial<WhileTrying> = {},
): Promise<T> {
  const began = performance.now();
  const [place = what] = /^\w+:\/\/[^/]*/.exec(what) ?? [];
  for (let tries = 1; ; tries++) {
    try {
      const result = await attempt();
      ANSWERED.add(place);
      return result;
    } catch (thrown) {
      const failure = passing(thrown);
      if (failure === undefined) throw thrown;
      const grown = Math.min(longestPauseMilliseconds, firstPauseMilliseconds * 2 ** (tries - 1));
      const pause = Math.max(grown * (0.5 + Math.random() / 2), failure.pauseMilliseconds ?? 0);
      const isOver = performance.now() - began + pause > totalMilliseconds;
      const isNobody = NOBODY_THERE.has(errnoOf(thrown)) && !ANSWERED.has(place);
      if (isOver || (isNobody && tries === TRIES_IF_NOBODY))
        throw givenUp(
          `${failure.message}, ${counted(tries, 'time')}; look whether the server and the network work, and start again`,
          thrown,
        );
      onRetry(`${what}: ${failure.message}; trying again`);
      await sleep(pause, undefined, { signal });
    }
  }
}

function unreadable(what: string): WhileTrying['givenUp'] {
  return (problem, cause) => new InputError('ERR_INPUT_UNREADABLE', `cannot read ${what}: ${problem}`, { cause });
}

const PASSING_STATUS = new Set([408, 425, 429, 500, 502, 503, 504]);

/** @param retryAfter the header: seconds, or a date. */
export function passingStatus(
  status: number,
  reason: string,
  retryAfter: string | undefined,
): PassingFailure | undefined {
  if (!PASSING_STATUS.has(status)) return undefined;
  const seconds = Number(retryAfter);
  const date = Date.parse(retryAfter ?? '');
  const asked = retryAfter === undefined ? undefined : Number.isFinite(seconds) ? seconds * 1000 : date - Date.now();
  return new PassingFailure(
    `the server answered ${status}${reason}`,
    asked !== undefined && Number.isFinite(asked) ? Math.max(0, asked) : undefined,
  );
}
