/** Reads ranges of objects: follows redirects, tries again, and believes no reply that is not exactly what was asked. */
import { InputError } from '../errors.js';
import type { HttpClient } from './http.js';
import { type BodySink, type Headers, type HttpRequest, type Reply, requestTo } from './http-messages.js';
import { type OnRetry, type RetryPolicy, type StallWatch, TransientError, withRetries } from './retries.js';
import { changedObjectError, refusalError, type Service } from './service.js';
import type { ObjectVersion } from './transfer-channel.js';

/** The most requests of one try: after redirects, or signed anew. */
const MOST_ROUNDS = 6;
/** A page of a list has 1,000 entries. */
const MOST_TEXT_BYTES = 8 * 1024 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface ObjectRange {
  readonly path: string;
  /** The version that is read. Undefined: any version. */
  readonly version: ObjectVersion | undefined;
  readonly start: number;
  readonly end: number;
}

type Exchange = (request: HttpRequest, takes: (head: Omit<Reply, 'text'>) => BodySink | undefined) => Promise<Reply>;
/** @param isSized whether the server announces that it sends exactly the range. */
type OpenSink = (version: ObjectVersion, isSized: boolean, headers: Headers) => BodySink;

const DISCARD: OpenSink = () => ({ nextBuffer: () => new Uint8Array(), markFilled: () => {} });

/** Thrown if the server sends all of the object instead of a range. */
export class RangesUnsupportedError extends Error {}

export class RangeReader {
  readonly #http: HttpClient;
  readonly #serviceOf: (path: string) => Service;
  readonly #retryPolicy: RetryPolicy;
  readonly #onRetry: OnRetry;
  /** The requests to which redirects lead, by path, as long as servers answer them. */
  readonly #redirected = new Map<string, RedirectedRequest>();

  constructor(http: HttpClient, serviceOf: (path: string) => Service, retryPolicy: RetryPolicy, onRetry: OnRetry) {
    this.#http = http;
    this.#serviceOf = serviceOf;
    this.#retryPolicy = retryPolicy;
    this.#onRetry = onRetry;
  }

  /** Reads a text, such as a page of a list. */
  readText(path: string, makeRequest: () => Promise<HttpRequest>): Promise<Reply> {
    const service = this.#serviceOf(path);
    const attempt = async (progress: StallWatch): Promise<Reply> => {
      let request: HttpRequest & Partial<RedirectedRequest> = await makeRequest();
      for (let turns = 0; ; turns++) {
        const reply = await this.#http.send(request, undefined, { mostTextBytes: MOST_TEXT_BYTES, progress });
        if (reply.status === 200) return reply;
        const advice = service.advise(path, reply, request);
        const location = locationIn(reply);
        if (turns < MOST_ROUNDS && advice === 'again') request = await makeRequest();
        // A repository of the Hub may have another name.
        else if (turns < MOST_ROUNDS && location !== undefined) request = redirectedRequest(path, request, location);
        else throw refusalError(path, reply, advice);
      }
    };
    return this.withRetries(path, attempt);
  }

  /** Returns the headers of an object. Undefined: the server refuses. */
  readHead(path: string, makeRequest: () => Promise<HttpRequest>): Promise<Headers | undefined> {
    const service = this.#serviceOf(path);
    const attempt = async (): Promise<Headers | undefined> => {
      for (let turns = 0; ; turns++) {
        const request = await makeRequest();
        const reply = await this.#http.getRange(request, () => undefined);
        if (reply.status === 200 || reply.status === 206) return reply.headers;
        const advice = service.advise(path, reply, request);
        const failure = refusalError(path, reply, advice);
        if (failure instanceof TransientError) throw failure;
        if (advice !== 'again' || turns === MOST_ROUNDS) return undefined;
      }
    };
    return this.withRetries(path, attempt);
  }

  /**
   * @param range returns at each try what is left to read. Undefined: nothing.
   * @param openSink called at each try, when the version is known.
   */
  read(path: string, range: () => ObjectRange | undefined, openSink: OpenSink): Promise<ObjectVersion | undefined> {
    let from = Number.POSITIVE_INFINITY;
    const attempt = async (progress: StallWatch) => {
      const left = range();
      if (left === undefined) return undefined;
      if (left.start > from) progress.advanced();
      from = left.start;
      return this.#try(left, openSink, (request, takes) => this.#http.getRange(request, takes), progress);
    };
    return this.withRetries(path, attempt);
  }

  /** Reads all of an object without a range. Tries once. */
  async openWhole(
    path: string,
    version: ObjectVersion | undefined,
  ): Promise<{ readonly version: ObjectVersion; readonly pieces: AsyncIterator<Uint8Array> }> {
    let pieces: AsyncIterator<Uint8Array> | undefined;
    const whole = { path, version, start: 0, end: Number.POSITIVE_INFINITY };
    const found = await this.#try(whole, DISCARD, async (request, takes) => {
      const reply = await this.#http.open(request, (head) => takes(head) !== undefined);
      pieces = reply.pieces;
      return reply;
    });
    if (pieces === undefined) throw new RangeError(`no reply for ${path}`);
    return { version: found, pieces };
  }

  withRetries<T>(path: string, attempt: (progress: StallWatch) => Promise<T>): Promise<T> {
    return withRetries(path, attempt, this.#retryPolicy, this.#onRetry);
  }

  async #try(
    range: ObjectRange,
    openSink: OpenSink,
    exchange: Exchange,
    progress?: StallWatch,
  ): Promise<ObjectVersion> {
    const { path, version } = range;
    const service = this.#serviceOf(path);
    const pinned = version?.validator ?? (await service.currentVersion?.(path));
    // Of a version that is not known, the first bytes are asked for, which may be all.
    const isWhole = range.start === 0 && (version === undefined || range.end === version.byteLength);
    const known = this.#redirected.get(path);
    let request: HttpRequest & Partial<RedirectedRequest> = known ?? (await service.requestFor(path, pinned, isWhole));
    for (let turns = 0; turns <= MOST_ROUNDS; turns++) {
      const rangeExchange = new RangeExchange(
        range,
        service,
        { pinned, tagOfService: request.tagOfService },
        openSink,
        progress,
      );
      const ranged = { ...request, headers: { ...request.headers, ...rangeExchange.headers } };
      const reply = await exchange(ranged, (head) => rangeExchange.sinkFor(head));
      const answer = rangeExchange.finish(reply);
      if (answer !== undefined) return answer;
      const advice = service.advise(path, reply, ranged, true);
      const location = locationIn(reply);
      if (advice === 'again') request = await service.requestFor(path, pinned, isWhole);
      else if (location !== undefined) {
        const redirected = await this.#follow(path, request, location);
        this.#redirected.set(path, redirected);
        request = redirected;
      } else {
        const failure = this.#refused(range, reply, adviceOnLostCredentials(path, reply, request) ?? advice);
        // Where redirects lead is often signed for a few minutes.
        if (failure instanceof TransientError || known === undefined || request !== known) throw failure;
        // Another reader may have found a new one.
        if (this.#redirected.get(path) === known) this.#redirected.delete(path);
        request = await service.requestFor(path, pinned, isWhole);
      }
    }
    throw new InputError(
      'ERR_INPUT_UNREADABLE',
      `cannot read ${path}: the server redirects in circles; name the last address`,
    );
  }

  /** Another host may give an object another tag than its service does: then the service is asked for the tag. */
  async #follow(path: string, request: HttpRequest, location: string): Promise<RedirectedRequest> {
    const redirected = redirectedRequest(path, request, location);
    const service = this.#serviceOf(path);
    if (service.headRequestFor === undefined || redirected.server.origin === request.server.origin) return redirected;
    const head = await this.readHead(path, async () => service.headRequestFor?.(path) ?? request);
    return { ...redirected, tagOfService: head?.['etag'] };
  }

  #refused({ path, version }: ObjectRange, reply: Reply, advice: string | undefined): Error {
    if (reply.status === 412) return changedObjectError(path, 'it was written to or replaced');
    if (reply.status === 416 && version !== undefined)
      return changedObjectError(path, `its size was ${version.byteLength} bytes and is smaller`);
    return refusalError(path, reply, advice);
  }
}

function locationIn({ status, headers }: Reply): string | undefined {
  return REDIRECTS.has(status) ? headers['location'] : undefined;
}

interface RedirectedRequest extends HttpRequest {
  /** True if the redirect leads to another host, which gets no credentials. */
  readonly hasLostCredentials: boolean;
  /** The tag that the service gives the object, if the data comes from another host. */
  readonly tagOfService?: string | undefined;
}

/** Follows a redirect. Credentials go only to the host for which they were given. */
function redirectedRequest(
  path: string,
  { server, path: from, headers, hasLostCredentials: lost }: HttpRequest & Partial<RedirectedRequest>,
  location: string,
): RedirectedRequest {
  const to = new URL(location, server.origin + from);
  if (!/^https?:$/.test(to.protocol) || (server.protocol === 'https:' && to.protocol === 'http:'))
    throw new InputError(
      'ERR_INPUT_UNREADABLE',
      `cannot read ${path}: the server redirects to ${to.protocol}//, which is not safe; name another address`,
    );
  const isSame = to.origin === server.origin;
  return {
    ...requestTo(to, isSame ? headers : {}),
    hasLostCredentials: lost ?? (!isSame && 'authorization' in headers),
  };
}

/** Returns advice if the host behind a redirect refuses. Services redirect to addresses that need no credentials. */
function adviceOnLostCredentials(
  path: string,
  { status }: Reply,
  { server, hasLostCredentials: lost }: HttpRequest & Partial<RedirectedRequest>,
): string | undefined {
  if (lost !== true || !/^https?:/.test(path) || (status !== 401 && status !== 403)) return undefined;
  return `it is ${server.host}, to which the first host redirects and which gets no credentials of it; name the address there`;
}

interface KnownValidators extends Pick<RedirectedRequest, 'tagOfService'> {
  /** The validator of the version that is read, or that an address names. */
  readonly pinned: string | undefined;
}

/** Checks the reply to one request for a range. */
class RangeExchange {
  #answer: ObjectVersion | undefined;
  readonly #range: ObjectRange;
  readonly #service: Service;
  readonly #known: KnownValidators;
  readonly #openSink: OpenSink;
  readonly #stallWatch: StallWatch | undefined;
  #wantedBytes = 0;
  #takenBytes = 0;

  constructor(
    range: ObjectRange,
    service: Service,
    known: KnownValidators,
    begin: OpenSink,
    progress: StallWatch | undefined,
  ) {
    this.#stallWatch = progress;
    this.#range = range;
    this.#service = service;
    this.#known = known;
    this.#openSink = begin;
  }

  /** True if the rest of the object is requested. Then the caller checks the number of bytes. */
  get #isWhole(): boolean {
    return this.#range.end === Number.POSITIVE_INFINITY;
  }

  get headers(): Headers {
    const { start, end, version } = this.#range;
    // With a range, a service need not say the checksum of the object.
    const isAll = this.#isWhole || (this.#service.checksumIn && start === 0 && end === version?.byteLength);
    const range: Headers = isAll ? {} : { range: `bytes=${start}-${end - 1}` };
    const comparesTag = version?.validator.startsWith('"') === true && this.#known.tagOfService === undefined;
    return comparesTag ? { ...range, 'if-match': version.validator } : range;
  }

  /** Returns the sink for a reply. Undefined: the reply is not data. @throws if it is other data. */
  sinkFor({ status, headers }: Omit<Reply, 'text'>): BodySink | undefined {
    const { path, start, end, version } = this.#range;
    const inputBytes = sizeIn(status, headers);
    if (status !== 206 && status !== 200) return undefined;
    if (status === 206 && headers['content-range'] === undefined)
      throw new TransientError('the server does not say which range it sends');
    if (inputBytes === undefined)
      throw new InputError(
        'ERR_INPUT_UNREADABLE',
        `cannot read ${path}: the server does not tell its size; download it to a disk first`,
      );
    const answer = this.#versionIn(headers, inputBytes);
    if (version !== undefined && (version.byteLength !== inputBytes || answer.validator !== version.validator))
      throw changedObjectError(
        path,
        version.byteLength === inputBytes
          ? 'it was written to or replaced'
          : `its size was ${version.byteLength} bytes and is ${inputBytes}`,
      );
    const wantedEnd = Math.min(end, inputBytes);
    if (status === 200 && (start > 0 || wantedEnd < inputBytes))
      throw version === undefined
        ? new RangesUnsupportedError()
        : changedObjectError(path, 'the server gives no ranges of it any more');
    if (
      status === 206 &&
      inputBytes > 0 &&
      !new RegExp(`^bytes ${start}-${wantedEnd - 1}/`).test(headers['content-range'] ?? '')
    )
      throw new TransientError('the server sent another range');
    this.#answer = answer;
    this.#wantedBytes = wantedEnd - start;
    const { 'content-length': sentBytes } = headers;
    if (sentBytes !== undefined && Number(sentBytes) !== this.#wantedBytes)
      throw new TransientError(`the server sends ${sentBytes} bytes instead of ${this.#wantedBytes}`);
    const body = this.#openSink(answer, sentBytes !== undefined, headers);
    return {
      nextBuffer: () => body.nextBuffer(),
      markFilled: (count) => {
        this.#takenBytes += count;
        body.markFilled(count);
        this.#stallWatch?.received(count);
      },
    };
  }

  /** Returns the version after a reply. Undefined: the reply was not data. */
  finish({ status, headers, text }: Reply): ObjectVersion | undefined {
    const isEmpty = headers['content-range'] === 'bytes */0' || text.includes('<ActualObjectSize>0<');
    // An empty object has no range.
    if (status === 416 && isEmpty && this.#range.version === undefined) return this.#versionIn(headers, 0);
    // Not every service says that an object is empty.
    if (status === 416 && this.#range.start === 0 && this.#range.version === undefined)
      throw new RangesUnsupportedError();
    if (this.#answer === undefined || this.#isWhole || this.#takenBytes === this.#wantedBytes) return this.#answer;
    throw new TransientError('the server sent less than was asked for');
  }

  #versionIn(headers: Headers, byteLength: number): ObjectVersion {
    const { pinned = '', tagOfService: etag } = this.#known;
    const validator = this.#service.validatorOf(etag === undefined ? headers : { etag }, this.#range.path) ?? pinned;
    return { byteLength, validator };
  }
}

function sizeIn(status: number, headers: Headers): number | undefined {
  const [, size] =
    status === 200 ? [undefined, headers['content-length']] : (/\/(\d+)$/.exec(headers['content-range'] ?? '') ?? []);
  return size === undefined ? undefined : Number(size);
}
