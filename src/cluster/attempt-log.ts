/** What attempts at tasks tell of themselves, for `clusterStatus`. One that cannot tell does its work all the same. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { PileshufError } from '../errors.js';
import { makeOwnDirectory } from '../io/directories.js';
import { moveIntoPlace } from '../io/durable.js';
import { nullable, object, oneOf, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { listNames } from '../io/paths.js';
import { createWhole, nameOfAttempt } from '../io/small-file.js';
import { ATTEMPTS_NAME, formatOfJob, TASK_KINDS, type TaskKind } from './cluster-plan.js';

const shape = object({
  kind: oneOf(...TASK_KINDS),
  index: wholeNumber(),
  host: text,
  pid: wholeNumber(1),
  state: oneOf('running', 'done', 'failed'),
  /** Milliseconds since 1970, by the clock of that host. */
  startedAt: wholeNumber(),
  toldAt: wholeNumber(),
  bytesDone: wholeNumber(),
  /** 0: not known yet. */
  bytesTotal: wholeNumber(),
  error: nullable(text),
});

export type AttemptRecord = ValueOf<typeof shape>;

const format = formatOfJob('attempt', 1, 2 ** 17, shape);

const TELL_MILLISECONDS = 5000;
const LONGEST_ERROR_CHARACTERS = 2000;

/** Only a plan makes it: made by an attempt, it would come back to a job that has just been committed. */
export function makeAttemptsDirectory(jobDirectory: string, warn: (error: unknown) => void): void {
  try {
    makeOwnDirectory(join(jobDirectory, ATTEMPTS_NAME), 'job');
  } catch (error) {
    // Then attempts tell nothing, and tasks work all the same.
    warn(error);
  }
}

export class AttemptLog {
  /** Part of the names of all files that this attempt makes. */
  readonly attempt = randomBytes(6).toString('hex');
  readonly #directory: string;
  readonly #name: string;
  readonly #startedAt = Date.now();
  readonly #about: Pick<AttemptRecord, 'kind' | 'index'>;
  #bytesDone: () => number = () => 0;
  #bytesTotal = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(jobDirectory: string, kind: TaskKind, index: number) {
    this.#directory = join(jobDirectory, ATTEMPTS_NAME);
    this.#name = `${kind}-${String(index).padStart(6, '0')}-${this.attempt}`;
    this.#about = { kind, index };
  }

  begin(): void {
    this.#tell('running', null);
    this.#timer = setInterval(() => this.#tell('running', null), TELL_MILLISECONDS);
    this.#timer.unref();
  }

  count(bytesTotal: number, bytesDone: () => number): void {
    this.#bytesTotal = bytesTotal;
    this.#bytesDone = bytesDone;
  }

  done(): void {
    this.#end('done', null);
  }

  failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const lines = (error instanceof PileshufError ? message : `internal error: ${message}`).trim().split('\n');
    this.#end('failed', (lines.at(-1) ?? '').slice(0, LONGEST_ERROR_CHARACTERS));
  }

  /** Stops telling, for a job that has ended: its directory is being removed. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #end(state: AttemptRecord['state'], error: string | null): void {
    if (this.#timer === undefined) return;
    this.stop();
    this.#tell(state, error);
  }

  #tell(state: AttemptRecord['state'], error: string | null): void {
    const record: AttemptRecord = {
      ...this.#about,
      host: hostname(),
      pid: process.pid,
      state,
      startedAt: this.#startedAt,
      toldAt: Date.now(),
      bytesDone: Math.max(0, Math.round(this.#bytesDone())),
      bytesTotal: Math.round(this.#bytesTotal),
      error,
    };
    try {
      const whole = join(this.#directory, nameOfAttempt(this.#name));
      createWhole(whole, format.seal(record), 'temp');
      moveIntoPlace(whole, join(this.#directory, this.#name));
    } catch {
      // A full disk shows elsewhere.
    }
  }
}

const NAME = new RegExp(`^(${TASK_KINDS.join('|')})-\\d{6,}-[0-9a-f]{12}$`);

/** In the order of their starts, without those whose record cannot be read. */
export function readAttempts(jobDirectory: string): AttemptRecord[] {
  const directory = join(jobDirectory, ATTEMPTS_NAME);
  const records: AttemptRecord[] = [];
  for (const name of namesIn(directory)) {
    if (!NAME.test(name)) continue;
    try {
      const record = format.read(join(directory, name));
      if (record !== undefined) records.push(record);
    } catch {
      // It is of a killed attempt, or of another version.
    }
  }
  return records.sort((a, b) => a.startedAt - b.startedAt);
}

function namesIn(directory: string): string[] {
  try {
    return listNames(directory, 'temp');
  } catch {
    return [];
  }
}
