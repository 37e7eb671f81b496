/** Reads ranges of objects: follows redirects, tries again, and believes no reply that is not exactly what was asked. */
import { InputError } from '../errors.js';
import { type OnRetry, PassingFailure, type Progress, type RetryPolicy, withRetries } from './failure.js';
import type { VersionAnswer } from './fetch-channel.js';
import type { Http } from './http.js';
import { type Body, type Headers, type Reply, type Target, targetAt } from './http-messages.js';
import { changedObject, refusal, type Service } from './service.js';

/** Redirects, and questions that were signed anew. */
const MOST_TURNS = 6;
/** A page of a list has 1,000 entries. */
const MOST_TEXT_BYTES = 8 * 1024 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface RangeOfObject {
  readonly path: string;
  /** The version that is read. Undefined: any version. */
  readonly version: VersionAnswer | undefined;
  readonly start: number;
  readonly end: number;
}

/** @param isSized whether the server says before that it sends exactly the range. */
type Exchange = (target: Target, takes: (head: Omit<Reply, 'text'>) => Body | undefined) => Promise<Reply>;
type Begin = (version: VersionAnswer, isSized: boolean, headers: Headers) => Body;

const NO_BODY: Begin = () => ({ room: () => new Uint8Array(), filled: () => {} });

/** The server sends all of the object instead of a range. */
export class WithoutRanges extends Error {}

export class RangeReader {
  readonly #http: Http;
  readonly #serviceOf: (path: string) => Service;
  readonly #retryPolicy: RetryPolicy;
  readonly #onRetry: OnRetry;
  /** The addresses to which redirects led, for as long as these answer. */
  readonly #redirected = new Map<string, Redirected>();

  constructor(http: Http, serviceOf: (path: string) => Service, retryPolicy: RetryPolicy, onRetry: OnRetry) {
    this.#http = http;
    this.#serviceOf = serviceOf;
    this.#retryPolicy = retryPolicy;
    this.#onRetry = onRetry;
  }

  /** A text that a service needs, such as a page of a list. */
  readText(path: string, target: () => Promise<Target>): Promise<Reply> {
    const service = this.#serviceOf(path);
    const attempt = async (progress: Progress): Promise<Reply> => {
      let asked: Target & Partial<Redirected> = await target();
      for (let turns = 0; ; turns++) {
        const reply = await this.#http.ask(asked, undefined, { mostTextBytes: MOST_TEXT_BYTES, progress });
        if (reply.status === 200) return reply;
        const advice = service.advise(path, reply, asked);
        const location = locationIn(reply);
        if (turns < MOST_TURNS && advice === 'again') asked = await target();
        // A repository of the Hub may have another name.
        else if (turns < MOST_TURNS && location !== undefined) asked = redirectedTo(path, asked, location);
        else throw refusal(path, reply, advice);
      }
    };
    return this.patiently(path, attempt);
  }

  /** Undefined if the server refuses. */
  readHead(path: string, target: () => Promise<Target>): Promise<Headers | undefined> {
    const service = this.#serviceOf(path);
    const attempt = async (): Promise<Headers | undefined> => {
      for (let turns = 0; ; turns++) {
        const asked = await target();
        const reply = await this.#http.getRange(asked, () => undefined);
        if (reply.status === 200 || reply.status === 206) return reply.headers;
        const advice = service.advise(path, reply, asked);
        const failure = refusal(path, reply, advice);
        if (failure instanceof PassingFailure) throw failure;
        if (advice !== 'again' || turns === MOST_TURNS) return undefined;
      }
    };
    return this.patiently(path, attempt);
  }

  /**
   * @param range asked at each try; undefined: nothing is left to read.
   * @param begin called at each try, when the version is known; what it returns gets the bytes of the range.
   */
  read(path: string, range: () => RangeOfObject | undefined, begin: Begin): Promise<VersionAnswer | undefined> {
    let from = Number.POSITIVE_INFINITY;
    const attempt = async (progress: Progress) => {
      const left = range();
      if (left === undefined) return undefined;
      if (left.start > from) progress.advanced();
      from = left.start;
      return this.#try(left, begin, (target, takes) => this.#http.getRange(target, takes), progress);
    };
    return this.patiently(path, attempt);
  }

  /** All of an object, without a range, as long as somebody takes the pieces. Tries once. */
  async openStream(
    path: string,
    version: VersionAnswer | undefined,
  ): Promise<{ readonly version: VersionAnswer; readonly pieces: AsyncIterator<Uint8Array> }> {
    let pieces: AsyncIterator<Uint8Array> | undefined;
    const whole = { path, version, start: 0, end: Number.POSITIVE_INFINITY };
    const found = await this.#try(whole, NO_BODY, async (target, takes) => {
      const reply = await this.#http.open(target, (head) => takes(head) !== undefined);
      pieces = reply.pieces;
      return reply;
    });
    if (pieces === undefined) throw new RangeError(`no reply was kept of ${path}`);
    return { version: found, pieces };
  }

  patiently<T>(path: string, attempt: (progress: Progress) => Promise<T>): Promise<T> {
    return withRetries(path, attempt, this.#retryPolicy, this.#onRetry);
  }

  async #try(range: RangeOfObject, begin: Begin, exchange: Exchange, progress?: Progress): Promise<VersionAnswer> {
    const { path, version } = range;
    const service = this.#serviceOf(path);
    const pinned = version?.validator ?? (await service.versionNow?.(path));
    const known = this.#redirected.get(path);
    let target: Target & Partial<Redirected> = known ?? (await service.targetOf(path, pinned));
    for (let turns = 0; turns <= MOST_TURNS; turns++) {
      const reading = new Reading(range, service, pinned, begin, progress);
      const asked = { ...target, headers: { ...target.headers, ...reading.headers } };
      const reply = await exchange(asked, (head) => reading.takes(head));
      const answer = reading.finish(reply);
      if (answer !== undefined) return answer;
      const advice = service.advise(path, reply, asked, true);
      const location = locationIn(reply);
      if (advice === 'again') target = await service.targetOf(path, pinned);
      else if (location !== undefined) {
        const redirected = redirectedTo(path, target, location);
        this.#redirected.set(path, redirected);
        target = redirected;
      } else {
        const failure = this.#refused(range, reply, adviceOnLoss(path, reply, target) ?? advice);
        // Where redirects lead is often signed for a few minutes.
        if (failure instanceof PassingFailure || known === undefined || target !== known) throw failure;
        // Another reader may have found a new one.
        if (this.#redirected.get(path) === known) this.#redirected.delete(path);
        target = await service.targetOf(path, pinned);
      }
    }
    throw new InputError(
      'ERR_INPUT_UNREADABLE',
      `cannot read ${path}: the server redirects in circles; name the last address`,
    );
  }

  #refused({ path, version }: RangeOfObject, reply: Reply, advice: string | undefined): Error {
    if (reply.status === 412) return changedObject(path, 'it was written to or replaced');
    if (reply.status === 416 && version !== undefined)
      return changedObject(path, `its size was ${version.byteLength} bytes and is smaller`);
    return refusal(path, reply, advice);
  }
}

function locationIn({ status, headers }: Reply): string | undefined {
  return REDIRECTS.has(status) ? headers['location'] : undefined;
}

interface Redirected extends Target {
  /** True if it gets no credentials, though there are some. */
  readonly lost: boolean;
}

/** Credentials belong to the host for which they were given. */
function redirectedTo(
  path: string,
  { server, path: from, headers, lost }: Target & Partial<Redirected>,
  location: string,
): Redirected {
  const to = new URL(location, server.origin + from);
  if (!/^https?:$/.test(to.protocol) || (server.protocol === 'https:' && to.protocol === 'http:'))
    throw new InputError(
      'ERR_INPUT_UNREADABLE',
      `cannot read ${path}: the server redirects to ${to.protocol}//, which is not safe; name another address`,
    );
  const isSame = to.origin === server.origin;
  return { ...targetAt(to, isSame ? headers : {}), lost: lost ?? (!isSame && 'authorization' in headers) };
}

/** Services redirect to addresses that need no credentials. */
function adviceOnLoss(
  path: string,
  { status }: Reply,
  { server, lost }: Target & Partial<Redirected>,
): string | undefined {
  if (lost !== true || !/^https?:/.test(path) || (status !== 401 && status !== 403)) return undefined;
  return `it is ${server.host}, to which the first host redirects and which gets no credentials of it; name the address there`;
}

/** One reply to the question for a range. */
class Reading {
  #answer: VersionAnswer | undefined;
  readonly #range: RangeOfObject;
  readonly #service: Service;
  readonly #pinned: string | undefined;
  readonly #begin: Begin;
  readonly #progress: Progress | undefined;
  #wantedBytes = 0;
  #takenBytes = 0;

  constructor(
    range: RangeOfObject,
    service: Service,
    pinned: string | undefined,
    begin: Begin,
    progress: Progress | undefined,
  ) {
    this.#progress = progress;
    this.#range = range;
    this.#service = service;
    this.#pinned = pinned;
    this.#begin = begin;
  }

  /** Returns whether the rest of the object is asked for. The bytes that come are not counted here. */
  get #isWhole(): boolean {
    return this.#range.end === Number.POSITIVE_INFINITY;
  }

  get headers(): Headers {
    const { start, end, version } = this.#range;
    const range: Headers = this.#isWhole ? {} : { range: `bytes=${start}-${end - 1}` };
    return version?.validator.startsWith('"') === true ? { ...range, 'if-match': version.validator } : range;
  }

  /** Returns where the data of a reply goes. Undefined: the reply is not data. @throws if it is other data. */
  takes({ status, headers }: Omit<Reply, 'text'>): Body | undefined {
    const { path, start, end, version } = this.#range;
    const inputBytes = sizeIn(status, headers);
    if (status !== 206 && status !== 200) return undefined;
    if (status === 206 && headers['content-range'] === undefined)
      throw new PassingFailure('the server does not say which range it sends');
    if (inputBytes === undefined)
      throw new InputError(
        'ERR_INPUT_UNREADABLE',
        `cannot read ${path}: the server does not tell its size; download it to a disk first`,
      );
    const answer = this.#versionIn(headers, inputBytes);
    if (version !== undefined && (version.byteLength !== inputBytes || answer.validator !== version.validator))
      throw changedObject(
        path,
        version.byteLength === inputBytes
          ? 'it was written to or replaced'
          : `its size was ${version.byteLength} bytes and is ${inputBytes}`,
      );
    const wantedEnd = Math.min(end, inputBytes);
    if (status === 200 && (start > 0 || wantedEnd < inputBytes))
      throw version === undefined
        ? new WithoutRanges()
        : changedObject(path, 'the server gives no ranges of it any more');
    if (
      status === 206 &&
      inputBytes > 0 &&
      !new RegExp(`^bytes ${start}-${wantedEnd - 1}/`).test(headers['content-range'] ?? '')
    )
      throw new PassingFailure('the server sent another range');
    this.#answer = answer;
    this.#wantedBytes = wantedEnd - start;
    const { 'content-length': sentBytes } = headers;
    if (sentBytes !== undefined && Number(sentBytes) !== this.#wantedBytes)
      throw new PassingFailure(`the server sends ${sentBytes} bytes instead of ${this.#wantedBytes}`);
    const body = this.#begin(answer, sentBytes !== undefined, headers);
    return {
      room: () => body.room(),
      filled: (count) => {
        this.#takenBytes += count;
        body.filled(count);
        this.#progress?.heard(count);
      },
    };
  }

  /** Returns the version after a reply. Undefined: the reply was not data. */
  finish({ status, headers, text }: Reply): VersionAnswer | undefined {
    const isEmpty = headers['content-range'] === 'bytes */0' || text.includes('<ActualObjectSize>0<');
    // Nothing has no range.
    if (status === 416 && isEmpty && this.#range.version === undefined) return this.#versionIn(headers, 0);
    // Nor does a service say of each empty object that it is.
    if (status === 416 && this.#range.start === 0 && this.#range.version === undefined) throw new WithoutRanges();
    if (this.#answer === undefined || this.#isWhole || this.#takenBytes === this.#wantedBytes) return this.#answer;
    throw new PassingFailure('the server sent less than was asked for');
  }

  #versionIn(headers: Headers, byteLength: number): VersionAnswer {
    return { byteLength, validator: this.#service.validatorOf(headers, this.#range.path) ?? this.#pinned ?? '' };
  }
}

function sizeIn(status: number, headers: Headers): number | undefined {
  const [, size] =
    status === 200 ? [undefined, headers['content-length']] : (/\/(\d+)$/.exec(headers['content-range'] ?? '') ?? []);
  return size === undefined ? undefined : Number(size);
}
