/**
 * What is asked of S3 to upload outputs. The SHA-256 of each body is signed, so that the service checks what arrives. An
 * object carries a token of its upload: whoever makes it again, since no answer came, sees by it that it was made.
 */
import { createHash, randomBytes } from 'node:crypto';
import { SystemError } from '../errors.js';
import { appearedDuringJob } from '../io/durable.js';
import { listedUploadId, type UploadedPart } from '../io/remote-uploads.js';
import type { Headers, Reply, Target } from './exchange.js';
import { type OnRetry, PassingFailure, type Patience, type Progress, passingStatus, withPatience } from './failure.js';
import type { Http } from './http.js';
import { namedBy, pagesOf, type S3, type S3Question } from './s3.js';
import { type ListedObject, reasonIn } from './service.js';
import { tag } from './xml.js';

export interface FoundObject {
  readonly byteLength: number;
  readonly tag: string;
}

export interface FoundPart extends UploadedPart {
  readonly byteLength: number;
}

export interface OpenUpload {
  readonly address: string;
  /** As the service knows it. */
  readonly uploadId: string;
  readonly initiated: Date;
}

const NO_PARTS = '<ListPartsResult><IsTruncated>false</IsTruncated></ListPartsResult>';
/** Questions that were signed anew. */
const MOST_TURNS = 3;
/** A page of a list has 1,000 entries. */
const MOST_TEXT_BYTES = 8 * 1024 * 1024;
const TOKEN_HEADER = 'x-amz-meta-pileshuf';
const ONLY_IF_ABSENT: Headers = { 'if-none-match': '*' };
/** Refusals of a moment, as is 409: the service is busy, or what came was not what was sent, or came too slowly. */
const PASSING_CODES =
  /<Code>(?:InternalError|SlowDown|ServiceUnavailable|Throttl\w+|RequestTimeout|BadDigest|IncompleteBody|XAmzContentSHA256Mismatch)</;

interface Asking<T> {
  /** As a message says it before the address, where nothing is written. */
  readonly looking?: string;
  /** Of an object; absent: of its bucket. */
  readonly key?: string;
  /** Asked at each try. Absent: `target` is. */
  readonly question?: () => S3Question;
  readonly target?: () => Promise<Target>;
  /** What the reply says; undefined: it is a refusal. */
  readonly answer: (reply: Reply) => T | undefined | Promise<T | undefined>;
  readonly signal?: AbortSignal;
}

export class S3Uploads {
  readonly #s3: S3;
  readonly #http: Http;
  readonly #patience: Patience;
  readonly #onRetry: OnRetry;
  /** Whether the service has not yet refused them. */
  #knowsConditions = true;

  constructor(s3: S3, http: Http, patience: Patience, onRetry: OnRetry) {
    this.#s3 = s3;
    this.#http = http;
    this.#patience = patience;
    this.#onRetry = onRetry;
  }

  /** @returns the id of the service and the token. */
  begin(path: string): Promise<string> {
    const token = newToken();
    return this.#ask(path, {
      question: () => ({ method: 'POST', query: { uploads: '' }, headers: this.#headersOf(token) }),
      answer: ({ status, text }) => {
        const uploadId = status === 200 ? tag(text, 'UploadId') : undefined;
        return uploadId && `${uploadId} ${token}`;
      },
    });
  }

  async put(
    path: string,
    uploadId: string,
    number: number,
    pieces: () => Iterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<UploadedPart> {
    const query = { partNumber: String(number), uploadId: listedUploadId(uploadId) };
    const content = contentOf(pieces);
    const answer = ({ status, headers }: Reply) => (status === 200 ? headers['etag'] : undefined);
    return { number, tag: await this.#ask(path, { question: () => ({ ...content(), query }), answer, signal }) };
  }

  async putText(path: string, text: string, onlyIfAbsent: boolean, token = newToken()): Promise<void> {
    const content = contentOf(() => [Buffer.from(text)]);
    await this.#make(path, token, onlyIfAbsent, (condition) => {
      const { headers, ...question } = content();
      return { ...question, headers: { ...headers, ...condition, ...this.#headersOf(token) } };
    });
  }

  async complete(path: string, uploadId: string, parts: readonly UploadedPart[], onlyIfAbsent: boolean): Promise<void> {
    const [, token] = uploadId.split(' ');
    // An upload has at least one part, and few services take an empty one.
    if (parts.length === 0) {
      await this.putText(path, '', onlyIfAbsent, token);
      return this.abort(path, uploadId, false);
    }
    const elements = parts
      .toSorted((a, b) => a.number - b.number)
      .map((part) => `<Part><PartNumber>${part.number}</PartNumber><ETag>${escaped(part.tag)}</ETag></Part>`);
    const text = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${elements.join('')}</CompleteMultipartUpload>`;
    const content = contentOf(() => [Buffer.from(text)]);
    await this.#make(path, token, onlyIfAbsent, (condition) => {
      const { headers, ...question } = content();
      const query = { uploadId: listedUploadId(uploadId) };
      return { ...question, method: 'POST', query, headers: { ...headers, ...condition } };
    });
  }

  /**
   * Makes an object. Some services ignore the condition, or do not know it, so that a look comes before.
   * @param token by which an object is known to have been made by an earlier try.
   */
  async #make(
    path: string,
    token: string | undefined,
    onlyIfAbsent: boolean,
    question: (condition: Headers) => S3Question,
  ): Promise<void> {
    const isMade = async (): Promise<boolean> => {
      const found = await this.#look(path);
      const isOurs = token !== undefined && found?.headers[TOKEN_HEADER] === token;
      if (found === undefined || isOurs || !onlyIfAbsent) return isOurs;
      throw appearedDuringJob(path);
    };
    if (onlyIfAbsent && (await isMade())) return;
    await this.#ask(path, {
      question: () => question(onlyIfAbsent && this.#knowsConditions ? ONLY_IF_ABSENT : {}),
      answer: async (reply) => {
        // The answer of a long work begins before its end is known.
        const isDone = reply.status === 200 && !reply.text.includes('<Error>');
        if (isDone || (await isMade())) return true;
        if (reply.status === 501 && this.#knowsConditions) {
          this.#knowsConditions = false;
          throw new PassingFailure('the service does not know If-None-Match');
        }
        return undefined;
      },
    });
  }

  /** Headers of a new object. */
  #headersOf(token: string): Headers {
    return { ...this.#s3.settings.choice.headers, [TOKEN_HEADER]: token };
  }

  async head(path: string): Promise<FoundObject | undefined> {
    const found = await this.#look(path);
    return found && { byteLength: Number(found.headers['content-length']), tag: found.headers['etag'] ?? '' };
  }

  async #look(path: string): Promise<Reply | undefined> {
    const reply = await this.#ask(path, {
      looking: 'look at',
      question: () => ({ method: 'HEAD' }),
      answer: (each) => (each.status === 200 || each.status === 404 ? each : undefined),
    });
    return reply.status === 200 ? reply : undefined;
  }

  /** Undefined: the service knows no such upload. */
  async parts(path: string, uploadId: string): Promise<readonly FoundPart[] | undefined> {
    const found: FoundPart[] = [];
    let isGone = false;
    const page = (markers: Headers) =>
      this.#ask(path, {
        looking: 'list the parts of',
        question: () => ({ query: { uploadId: listedUploadId(uploadId), ...markers } }),
        answer: (reply) => {
          isGone = isUnknownUpload(reply);
          return isGone ? NO_PARTS : textIn(reply);
        },
      });
    const next = (text: string) => ({ 'part-number-marker': tag(text, 'NextPartNumberMarker') ?? '' });
    for await (const text of pagesOf('ListPartsResult', page, next)) {
      for (const part of elementsOf(text, 'Part'))
        found.push({
          number: Number(tag(part, 'PartNumber')),
          tag: tag(part, 'ETag') ?? '',
          byteLength: Number(tag(part, 'Size')),
        });
    }
    return isGone ? undefined : found;
  }

  /** All objects whose keys begin as the address does. */
  list(path: string): Promise<ListedObject[]> {
    const place = path.slice(0, path.lastIndexOf('/') + 1);
    return this.#s3.list(path, (_, target) => this.#ask(place, { looking: 'list', target, answer: wholeReply }));
  }

  /** Of all keys that begin as the address does. */
  async uploads(path: string): Promise<readonly OpenUpload[]> {
    const { bucket, key: prefix } = namedBy(path);
    const found: OpenUpload[] = [];
    const page = (markers: Headers) =>
      this.#ask(path, {
        looking: 'list the uploads of',
        key: '',
        // Some services encode what is asked for in another way, and do not say so.
        question: () => ({ query: { uploads: '', prefix, ...markers } }),
        answer: textIn,
      });
    const next = (text: string) => ({
      'key-marker': tag(text, 'NextKeyMarker') ?? '',
      'upload-id-marker': tag(text, 'NextUploadIdMarker') ?? '',
    });
    for await (const text of pagesOf('ListMultipartUploadsResult', page, next))
      for (const upload of elementsOf(text, 'Upload'))
        found.push({
          address: `s3://${bucket}/${tag(upload, 'Key') ?? ''}`,
          uploadId: tag(upload, 'UploadId') ?? '',
          initiated: new Date(tag(upload, 'Initiated') ?? 0),
        });
    return found;
  }

  /**
   * It is no failure if there is no such upload.
   * @param hadParts whether parts were under way, of which one may have come after the upload was gone.
   */
  async abort(path: string, uploadId: string, hadParts: boolean): Promise<void> {
    await this.#ask(path, {
      question: () => ({ method: 'DELETE', query: { uploadId: listedUploadId(uploadId) } }),
      answer: async (reply) => {
        // Some services keep uploads until they are completed.
        if (isUnknownUpload(reply) || reply.status === 405 || reply.status === 501) return true;
        if (reply.status !== 204 && reply.status !== 200) return undefined;
        if (hadParts && (await this.parts(path, uploadId)) !== undefined)
          throw new PassingFailure('its upload is still there');
        return true;
      },
    });
  }

  /** It is no failure if there is none. */
  async remove(path: string): Promise<void> {
    await this.#ask(path, {
      question: () => ({ method: 'DELETE' }),
      answer: ({ status, text }) =>
        status === 204 || status === 200 || (status === 404 && !text.includes('NoSuchBucket')) ? true : undefined,
    });
  }

  #ask<T>(path: string, { looking, key, question = () => ({}), target, answer, signal }: Asking<T>): Promise<T> {
    const named = { ...namedBy(path), ...(key !== undefined && { key }) };
    const signed = target ?? (() => this.#s3.signed(named, question()));
    const failed = (problem: string, cause?: unknown) =>
      new SystemError('ERR_IO', `cannot ${looking ?? 'write'} the output ${path}: ${problem}`, { cause });
    const attempt = async (progress: Progress): Promise<T> => {
      for (let turns = 0; ; turns++) {
        const asked = await signed();
        const body = asked.body && counted(asked.body, progress);
        const sent: Target = body === undefined ? asked : { ...asked, body };
        const reply = await this.#http.ask(sent, undefined, MOST_TEXT_BYTES, signal);
        const said = await answer(reply);
        if (said !== undefined) return said;
        if (!this.#s3.learns(path, reply) || turns === MOST_TURNS)
          throw this.#refusal(asked, reply, looking === undefined ? 'write' : 'read', failed);
      }
    };
    const givenUp = failed;
    return withPatience(path, attempt, this.#patience, this.#onRetry, { givenUp, signal });
  }

  #refusal({ path }: Target, reply: Reply, doing: 'read' | 'write', failed: (problem: string) => Error): Error {
    const { status, headers, text } = reply;
    const said = reasonIn(text);
    const reason = said === undefined ? '' : ` (${said})`;
    const passes = passingStatus(status, reason, headers);
    if (passes !== undefined) return passes;
    if (status === 409 || PASSING_CODES.test(text)) return new PassingFailure(`the server answered ${status}${reason}`);
    const advice = this.#s3.adviseOnAccess(reply, doing) ?? 'check the address';
    return failed(
      isUnknownUpload(reply) && /[?&]uploadId=/.test(path)
        ? 'its upload is gone, or was completed by somebody else; start again'
        : `the server answered ${status}${reason}; ${advice}`,
    );
  }
}

function* counted(pieces: Iterable<Uint8Array>, progress: Progress): Iterable<Uint8Array> {
  for (const piece of pieces) {
    progress.heard(piece.byteLength);
    yield piece;
  }
}

function newToken(): string {
  return randomBytes(16).toString('hex');
}

/** @returns it at each try, with a hash that is made once. */
function contentOf(
  pieces: () => Iterable<Uint8Array>,
): () => S3Question & Required<Pick<S3Question, 'headers' | 'body'>> {
  const hash = createHash('sha256');
  let byteLength = 0;
  for (const piece of pieces()) {
    hash.update(piece);
    byteLength += piece.byteLength;
  }
  const sha256 = hash.digest('hex');
  const headers = { 'content-length': String(byteLength) };
  return () => ({ method: 'PUT', sha256, headers, body: pieces() });
}

/** Some services say NoSuchKey of an upload that was completed. */
function isUnknownUpload({ status, text }: Reply): boolean {
  return status === 404 && !text.includes('NoSuchBucket');
}

function wholeReply(reply: Reply): Reply | undefined {
  return reply.status === 200 ? reply : undefined;
}

function textIn({ status, text }: Reply): string | undefined {
  return status === 200 ? text : undefined;
}

function elementsOf(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, 'g'))].map(([, content = '']) => content);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
