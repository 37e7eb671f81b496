/**
 * Asks S3 to upload outputs. The SHA-256 of each body is signed, so that the service checks what arrives. An object
 * carries a token of its upload: whoever makes it again, since no answer came, sees by it that it was made.
 */
import { createHash, getFips, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { SystemError, VerificationError } from '../errors.js';
import { outputAppearedError } from '../io/rename-and-sync.js';
import { CRC32, type SizedCrc } from './crc.js';
import type { HttpClient } from './http.js';
import type { Headers, HttpRequest, Reply } from './http-messages.js';
import type { ListedPart, ListedUpload, ObjectInfo, UploadedPart } from './object-store.js';
import { serviceUploadId } from './part-writer.js';
import {
  type OnRetry,
  type RetryPolicy,
  type StallWatch,
  TransientError,
  transientErrorOfStatus,
  withRetries,
} from './retries.js';
import { pagesOf, parseS3Address, type S3, type S3Request } from './s3.js';
import { type ListedObject, reasonIn, xmlText } from './service.js';

const NO_PARTS = '<ListPartsResult><IsTruncated>false</IsTruncated></ListPartsResult>';
/** The most requests of one try, signed anew. */
const MOST_ROUNDS = 3;
/** A page of a list has 1,000 entries. */
const MOST_TEXT_BYTES = 8 * 1024 * 1024;
const TOKEN_HEADER = 'x-amz-meta-pileshuf';
const ONLY_IF_ABSENT: Headers = { 'if-none-match': '*' };
const CRC_HEADER = 'x-amz-checksum-crc32';
const OF_WHOLE: Headers = { 'x-amz-checksum-type': 'FULL_OBJECT' };
/** Uploads whose service knows checksums have this word at the end of their ids. */
const CHECKSUM_MARK = 'crc32';
/** Refusals of a moment, as is 409: the service is busy, or what came was not what was sent, or came too slowly. */
const TRANSIENT_CODES =
  /<Code>(?:InternalError|SlowDown|ServiceUnavailable|Throttl\w+|RequestTimeout|BadDigest|IncompleteBody|XAmzContentSHA256Mismatch|XAmzContentChecksumMismatch)</;

interface S3Call<T> {
  /** The words before the address in a message of a request that writes nothing. */
  readonly looking?: string;
  /** The key of an object; absent: the bucket is asked. */
  readonly key?: string;
  /** The request, made anew at each try. Absent: `signed` makes it. */
  readonly unsigned?: () => S3Request;
  readonly signed?: () => Promise<HttpRequest>;
  /** Returns what the reply says; undefined: it is a refusal. */
  readonly answer: (reply: Reply) => T | undefined | Promise<T | undefined>;
  readonly signal?: AbortSignal;
}

export class S3Uploads {
  readonly #s3: S3;
  readonly #http: HttpClient;
  readonly #retryPolicy: RetryPolicy;
  readonly #onRetry: OnRetry;
  /** True if the service has not yet refused them. */
  #knowsConditions = true;
  /** Undefined if it has neither refused checksums nor said one. */
  #knowsChecksums: boolean | undefined;

  constructor(s3: S3, http: HttpClient, retryPolicy: RetryPolicy, onRetry: OnRetry) {
    this.#s3 = s3;
    this.#http = http;
    this.#retryPolicy = retryPolicy;
    this.#onRetry = onRetry;
  }

  /** @returns the id of the service and the token. */
  begin(path: string): Promise<string> {
    const token = newToken();
    return this.#ask(path, {
      unsigned: () => {
        const checksums = this.#knowsChecksums === false ? {} : { 'x-amz-checksum-algorithm': 'CRC32', ...OF_WHOLE };
        return { method: 'POST', query: { uploads: '' }, headers: { ...this.#headersOf(token), ...checksums } };
      },
      answer: ({ status, text, headers }) => {
        const uploadId = status === 200 ? xmlText(text, 'UploadId') : undefined;
        const isChecked = headers['x-amz-checksum-algorithm'] === 'CRC32';
        if (isChecked) this.#knowsChecksums = true;
        return uploadId && `${uploadId} ${token}${isChecked ? ` ${CHECKSUM_MARK}` : ''}`;
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
    const query = { partNumber: String(number), uploadId: serviceUploadId(uploadId) };
    const content = contentOf(pieces);
    const tagOfPart = await this.#ask(path, {
      unsigned: () => ({ ...content.unsigned(hasChecksums(uploadId) ? 'crc' : 'md5'), query }),
      answer: ({ status, headers }) => {
        if (status !== 200) return undefined;
        const { [CRC_HEADER]: stored = content.crcText } = headers;
        if (stored !== content.crcText) throw new TransientError('the service stored other bytes than were sent');
        return headers['etag'];
      },
      signal,
    });
    return { number, tag: tagOfPart, content: { crc32: content.crc32, byteLength: content.byteLength } };
  }

  async putText(path: string, text: string, onlyIfAbsent: boolean, token = newToken()): Promise<void> {
    const content = contentOf(() => [Buffer.from(text)]);
    await this.#make(path, token, onlyIfAbsent, (condition) => {
      const { headers, ...unsigned } = content.unsigned(this.#knowsChecksums === false ? 'md5' : 'crc');
      return { ...unsigned, headers: { ...headers, ...condition, ...this.#headersOf(token) } };
    });
  }

  async complete(path: string, uploadId: string, parts: readonly UploadedPart[], onlyIfAbsent: boolean): Promise<void> {
    const [, token] = uploadId.split(' ');
    // An upload has at least one part, and few services take an empty one.
    if (parts.length === 0) {
      await this.putText(path, '', onlyIfAbsent, token);
      return this.abort(path, uploadId, false);
    }
    const contents = hasChecksums(uploadId) ? crcsOf(parts) : undefined;
    const elements = inOrder(parts).map((part) => {
      const crc =
        contents && part.content && `<ChecksumCRC32>${CRC32.text(BigInt(part.content.crc32))}</ChecksumCRC32>`;
      return `<Part><PartNumber>${part.number}</PartNumber><ETag>${escaped(part.tag)}</ETag>${crc ?? ''}</Part>`;
    });
    const text = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${elements.join('')}</CompleteMultipartUpload>`;
    const content = contentOf(() => [Buffer.from(text)]);
    await this.#make(path, token, onlyIfAbsent, (condition) => {
      const { headers, ...unsigned } = content.unsigned('none');
      const query = { uploadId: serviceUploadId(uploadId) };
      const whole = contents && { [CRC_HEADER]: CRC32.text(CRC32.joined(contents)), ...OF_WHOLE };
      return { ...unsigned, method: 'POST', query, headers: { ...headers, ...condition, ...whole } };
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
    unsigned: (condition: Headers) => S3Request,
  ): Promise<void> {
    const isMade = async (): Promise<boolean> => {
      const found = await this.#head(path);
      const isOurs = token !== undefined && found?.headers[TOKEN_HEADER] === token;
      if (found === undefined || isOurs || !onlyIfAbsent) return isOurs;
      throw outputAppearedError(path);
    };
    if (onlyIfAbsent && (await isMade())) return;
    // Other objects are made meanwhile: the service may have refused the condition of one of them.
    let hasCondition = false;
    await this.#ask(path, {
      unsigned: () => {
        hasCondition = onlyIfAbsent && this.#knowsConditions;
        return unsigned(hasCondition ? ONLY_IF_ABSENT : {});
      },
      answer: async (reply) => {
        // The answer of a long work begins before its end is known.
        const isDone = reply.status === 200 && !reply.text.includes('<Error>');
        if (isDone || (await isMade())) return true;
        if (reply.status === 501 && hasCondition) {
          this.#knowsConditions = false;
          throw new TransientError('the service does not know If-None-Match');
        }
        return undefined;
      },
    });
  }

  /** Headers of a new object. */
  #headersOf(token: string): Headers {
    return { ...this.#s3.settings.options.headers, [TOKEN_HEADER]: token };
  }

  /** @param sent the parts of which the object was made: its checksum is compared with theirs. */
  async head(path: string, sent?: readonly UploadedPart[]): Promise<ObjectInfo | undefined> {
    const contents = sent && crcsOf(sent);
    const found = await this.#head(path, () =>
      contents === undefined || this.#knowsChecksums === false ? {} : { 'x-amz-checksum-mode': 'ENABLED' },
    );
    const { [CRC_HEADER]: checksum } = found?.headers ?? {};
    if (contents !== undefined && checksum !== undefined && !CRC32.isOf(checksum, contents))
      throw new VerificationError(
        `the output ${path} has the checksum ${checksum}, expected ${CRC32.text(CRC32.joined(contents))}; make it again with \`force\``,
      );
    return found && { byteLength: Number(found.headers['content-length']), tag: found.headers['etag'] ?? '' };
  }

  async #head(path: string, headers: () => Headers = () => ({})): Promise<Reply | undefined> {
    const reply = await this.#ask(path, {
      looking: 'look at',
      unsigned: () => ({ method: 'HEAD', headers: headers() }),
      answer: (each) => (each.status === 200 || each.status === 404 ? each : undefined),
    });
    return reply.status === 200 ? reply : undefined;
  }

  /** Lists the parts of an upload. Undefined: the service knows no such upload. */
  async parts(path: string, uploadId: string): Promise<readonly ListedPart[] | undefined> {
    const found: ListedPart[] = [];
    let isGone = false;
    const page = (markers: Headers) =>
      this.#ask(path, {
        looking: 'list the parts of',
        unsigned: () => ({ query: { uploadId: serviceUploadId(uploadId), ...markers } }),
        answer: (reply) => {
          isGone = isUnknownUpload(reply);
          return isGone ? NO_PARTS : textIn(reply);
        },
      });
    const next = (text: string) => ({ 'part-number-marker': xmlText(text, 'NextPartNumberMarker') ?? '' });
    for await (const text of pagesOf('ListPartsResult', page, next)) {
      for (const part of elementsOf(text, 'Part'))
        found.push({
          number: Number(xmlText(part, 'PartNumber')),
          tag: xmlText(part, 'ETag') ?? '',
          byteLength: Number(xmlText(part, 'Size')),
        });
    }
    return isGone ? undefined : found;
  }

  /** All objects whose keys begin as the address does. */
  list(path: string): Promise<ListedObject[]> {
    const place = path.slice(0, path.lastIndexOf('/') + 1);
    return this.#s3.list(path, (_, signed) => this.#ask(place, { looking: 'list', signed, answer: wholeReply }));
  }

  /** Lists the uploads of all keys that begin as the address does. */
  async uploads(path: string): Promise<readonly ListedUpload[]> {
    const { bucket, key: prefix } = parseS3Address(path);
    const found: ListedUpload[] = [];
    const page = (markers: Headers) =>
      this.#ask(path, {
        looking: 'list the uploads of',
        key: '',
        // Some services encode what is asked for in another way, and do not say so.
        unsigned: () => ({ query: { uploads: '', prefix, ...markers } }),
        answer: textIn,
      });
    const next = (text: string) => ({
      'key-marker': xmlText(text, 'NextKeyMarker') ?? '',
      'upload-id-marker': xmlText(text, 'NextUploadIdMarker') ?? '',
    });
    for await (const text of pagesOf('ListMultipartUploadsResult', page, next))
      for (const upload of elementsOf(text, 'Upload'))
        found.push({
          address: `s3://${bucket}/${xmlText(upload, 'Key') ?? ''}`,
          uploadId: xmlText(upload, 'UploadId') ?? '',
          initiated: new Date(xmlText(upload, 'Initiated') ?? 0),
        });
    return found;
  }

  /**
   * It is not a failure if there is no such upload.
   * @param hadParts whether parts were under way, of which one may have come after the upload was gone.
   */
  async abort(path: string, uploadId: string, hadParts: boolean): Promise<void> {
    await this.#ask(path, {
      unsigned: () => ({ method: 'DELETE', query: { uploadId: serviceUploadId(uploadId) } }),
      answer: async (reply) => {
        // Some services cannot abort uploads.
        if (isUnknownUpload(reply) || reply.status === 405 || reply.status === 501) return true;
        if (reply.status !== 204 && reply.status !== 200) return undefined;
        if (hadParts && (await this.parts(path, uploadId)) !== undefined)
          throw new TransientError('its upload is still there');
        return true;
      },
    });
  }

  /** It is not a failure if there is none. */
  async remove(path: string): Promise<void> {
    await this.#ask(path, {
      unsigned: () => ({ method: 'DELETE' }),
      answer: ({ status, text }) =>
        status === 204 || status === 200 || (status === 404 && !text.includes('NoSuchBucket')) ? true : undefined,
    });
  }

  #ask<T>(path: string, { looking, key, unsigned = () => ({}), signed, answer, signal }: S3Call<T>): Promise<T> {
    const named = { ...parseS3Address(path), ...(key !== undefined && { key }) };
    const makeRequest = signed ?? (() => this.#s3.signed(named, unsigned()));
    const failed = (problem: string, cause?: unknown) =>
      new SystemError('ERR_IO', `cannot ${looking ?? 'write'} the output ${path}: ${problem}`, { cause });
    const attempt = async (progress: StallWatch): Promise<T> => {
      for (let turns = 0; ; turns++) {
        const request = await makeRequest();
        const body = request.body && counted(request.body, progress);
        const sent: HttpRequest = body === undefined ? request : { ...request, body };
        // The answer to a long work may come slowly; a list may not.
        const choices = { mostTextBytes: MOST_TEXT_BYTES, signal, ...(body === undefined && { progress }) };
        const reply = await this.#http.send(sent, undefined, choices);
        const said = await answer(reply);
        if (said !== undefined) return said;
        const isAgain = this.#s3.learnsRegion(path, reply, request) || this.#refusesChecksums(request, reply);
        if (!isAgain || turns === MOST_ROUNDS)
          throw this.#refusal(request, reply, looking === undefined ? 'write' : 'read', failed);
      }
    };
    const givenUp = failed;
    return withRetries(path, attempt, this.#retryPolicy, this.#onRetry, { errorOnGivingUp: givenUp, signal });
  }

  /** Returns whether the service may know no checksums: then it is asked once more, without. */
  #refusesChecksums({ headers }: HttpRequest, { status, text }: Reply): boolean {
    const isAsked = Object.keys(headers).some((name) => /^x-amz-checksum-/i.test(name));
    const isRefusal = (status === 400 || status === 501) && !TRANSIENT_CODES.test(text);
    if (!isAsked || !isRefusal || this.#knowsChecksums === true) return false;
    this.#knowsChecksums = false;
    return true;
  }

  #refusal({ path }: HttpRequest, reply: Reply, doing: 'read' | 'write', failed: (problem: string) => Error): Error {
    const { status, headers, text } = reply;
    const said = reasonIn(text);
    const reason = said === undefined ? '' : ` (${said})`;
    const passes = transientErrorOfStatus(status, reason, headers);
    if (passes !== undefined) return passes;
    if (status === 409 || TRANSIENT_CODES.test(text))
      return new TransientError(`the server answered ${status}${reason}`);
    const advice = this.#s3.adviseOnAccess(reply, doing) ?? 'check the address';
    return failed(
      isUnknownUpload(reply) && /[?&]uploadId=/.test(path)
        ? 'its upload is gone, or was completed by somebody else; start again'
        : `the server answered ${status}${reason}; ${advice}`,
    );
  }
}

function* counted(pieces: Iterable<Uint8Array>, progress: StallWatch): Iterable<Uint8Array> {
  for (const piece of pieces) {
    progress.received(piece.byteLength);
    yield piece;
  }
}

function newToken(): string {
  return randomBytes(16).toString('hex');
}

interface Content {
  readonly crc32: number;
  readonly byteLength: number;
  readonly crcText: string;
  /**
   * Returns the request, at each try.
   * @param check what the service compares beside the SHA-256. Buckets with locks refuse parts that have neither, and
   *   services that know no CRC know MD5.
   */
  unsigned(check: 'crc' | 'md5' | 'none'): S3Request & { readonly headers: Headers };
}

/** Hashes a body once. */
function contentOf(pieces: () => Iterable<Uint8Array>): Content {
  const hash = createHash('sha256');
  let byteLength = 0;
  let crc = 0;
  for (const piece of pieces()) {
    hash.update(piece);
    crc = crc32(piece, crc);
    byteLength += piece.byteLength;
  }
  const sha256 = hash.digest('hex');
  const text = CRC32.text(BigInt(crc));
  let md5: string | undefined;
  const checkOf = (check: 'crc' | 'md5' | 'none'): Headers => {
    if (check === 'none') return {};
    if (check === 'crc') return { [CRC_HEADER]: text };
    md5 ??= md5Of(pieces());
    return md5 === '' ? {} : { 'content-md5': md5 };
  };
  const unsigned: Content['unsigned'] = (check) => ({
    method: 'PUT',
    sha256,
    headers: { 'content-length': String(byteLength), ...checkOf(check) },
    body: pieces(),
  });
  return { crc32: crc, byteLength, crcText: text, unsigned };
}

/** Empty in FIPS mode, which has no MD5. */
function md5Of(pieces: Iterable<Uint8Array>): string {
  if (getFips() === 1) return '';
  const hash = createHash('md5');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('base64');
}

function hasChecksums(uploadId: string): boolean {
  return uploadId.endsWith(` ${CHECKSUM_MARK}`);
}

function inOrder(parts: readonly UploadedPart[]): readonly UploadedPart[] {
  return parts.toSorted((a, b) => a.number - b.number);
}

/** Undefined if an earlier version has uploaded some of the parts. */
function crcsOf(parts: readonly UploadedPart[]): readonly SizedCrc[] | undefined {
  const contents = inOrder(parts).flatMap(({ content }) =>
    content === undefined ? [] : [{ crc: BigInt(content.crc32), byteLength: content.byteLength }],
  );
  return contents.length === parts.length ? contents : undefined;
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
