/**
 * Objects of Amazon S3, and of all that has its interface. With an endpoint, the bucket stands in the path; without one,
 * in the name of the host, as AWS wants it. The region of a bucket is learned from the first refusal.
 */
import aws4 from 'aws4';
import { adviceOnPattern, requireUnfolded } from './address.js';
import { AwsCredentialChain } from './aws-credentials.js';
import type { AwsSettings } from './aws-settings.js';
import { CRC32, CRC32C, CRC64NVME, type Crc } from './crc.js';
import type { HttpClient } from './http.js';
import type { Headers, HttpRequest, Reply } from './http-messages.js';
import type { ServiceChecksum } from './read-checksum.js';
import {
  type ListedObject,
  type SendForHead,
  type SendForText,
  type Service,
  validatorOfHttp,
  xmlText,
} from './service.js';
import type { ObjectVersion } from './transfer-channel.js';

export interface S3Address {
  readonly bucket: string;
  readonly key: string;
}

/** The parts of a request for an object, or for the bucket. */
export interface S3Request extends Pick<HttpRequest, 'method' | 'body'> {
  readonly query?: Headers;
  readonly headers?: Headers;
  /** The hash of the body. */
  readonly sha256?: string;
}

/** SHA takes more time than all else. */
const CRCS: Readonly<Record<string, Crc>> = {
  'x-amz-checksum-crc64nvme': CRC64NVME,
  'x-amz-checksum-crc32': CRC32,
  'x-amz-checksum-crc32c': CRC32C,
};
const MODE_HEADER = 'x-amz-checksum-mode';
const CHECKSUM_MODE: Headers = { [MODE_HEADER]: 'ENABLED' };
const OWNER_HEADER = 'x-amz-expected-bucket-owner';

export class S3 implements Service {
  readonly settings: AwsSettings;
  readonly #credentials: AwsCredentialChain;
  readonly #regionOf = new Map<string, string>();
  readonly validatorOf = validatorOfHttp;
  /** True if the service has not refused to say checksums beside data. */
  #saysChecksums = true;

  /** @param http asks the service that gives credentials for a web identity. */
  constructor(settings: AwsSettings, http: Pick<HttpClient, 'send'>) {
    this.settings = settings;
    this.#credentials = new AwsCredentialChain(settings, http);
  }

  /** A request that may have all of an object asks for its checksum, too. */
  requestFor(path: string, _: string | undefined, isWhole: boolean): Promise<HttpRequest> {
    return this.signed(parseS3Address(path), isWhole && this.#saysChecksums ? { headers: CHECKSUM_MODE } : {});
  }

  headRequestFor(path: string): Promise<HttpRequest> {
    return this.signed(parseS3Address(path), { method: 'HEAD' });
  }

  /** Knows the region of a bucket only after the first refusal. */
  advise(path: string, reply: Reply, request: HttpRequest, mayAskLess = false): string | 'again' | undefined {
    const { status, text } = reply;
    if (this.learnsRegion(path, reply, request)) return 'again';
    if ((status === 400 || status === 501) && mayAskLess && MODE_HEADER in request.headers) {
      this.#saysChecksums = false;
      return 'again';
    }
    if (status === 404 && !text.includes('NoSuchBucket'))
      return adviceOnPattern(path) ?? 'check the key; the address of a directory ends with /';
    if (text.includes('InvalidObjectState')) return 'the object lies in an archive (Glacier); restore it first';
    return this.adviseOnAccess(reply, 'read');
  }

  /** Advises as reading and writing have it in common. */
  adviseOnAccess({ status, text }: Reply, doing: 'read' | 'write'): string | undefined {
    if (text.includes('NoSuchBucket')) return 'check the name of the bucket';
    if (/kms/i.test(text)) return 'the object is encrypted with a KMS key that these credentials may not use';
    if (text.includes('RequestTimeTooSkewed')) return 'set the clock of this machine';
    if (text.includes('ExpiredToken')) return 'the credentials have expired; get new ones, and start again';
    if (status === 401 || status === 403) return this.#credentials.advice(doing);
    return undefined;
  }

  /**
   * Returns whether the reply tells the region of the bucket, so that the request may be signed anew. Others that were
   * under way may have learned it before.
   */
  learnsRegion(path: string, { status, headers, text }: Reply, request: HttpRequest): boolean {
    const { bucket } = parseS3Address(path);
    const region = headers['x-amz-bucket-region'] ?? /<Region>([^<]+)<\/Region>/.exec(text)?.[1];
    if (
      region !== undefined &&
      (status === 301 || status === 307 || status === 400) &&
      region !== (request.region ?? this.#regionOf.get(bucket))
    ) {
      this.#regionOf.set(bucket, region);
      return true;
    }
    return false;
  }

  /** Returns the checksum of a reply. Beside a range, services state none, or that of all parts without their number. */
  checksumIn(headers: Headers, byteLength: number): ServiceChecksum | 'none' | undefined {
    const isWhole = headers['content-range'] === undefined;
    const isStated = Object.keys(headers).some((name) => name.startsWith('x-amz-checksum-'));
    if (isWhole && !isStated && this.#saysChecksums) return 'none';
    if (!isWhole && headers['x-amz-checksum-type'] !== 'FULL_OBJECT') return undefined;
    const known = checksumIn(headers, byteLength);
    return known?.text.includes('-') ? undefined : known;
  }

  async checksumOf(
    path: string,
    { byteLength, validator }: ObjectVersion,
    ask: SendForHead,
  ): Promise<ServiceChecksum | undefined> {
    const headOf = (query?: Headers) =>
      ask(() =>
        this.signed(parseS3Address(path), {
          method: 'HEAD',
          headers: CHECKSUM_MODE,
          ...(query && { query }),
        }),
      );
    const head = await headOf();
    if (head === undefined || validatorOfHttp(head) !== validator) return undefined;
    const known = checksumIn(head, byteLength);
    const [, count] = known?.text.split('-') ?? [];
    if (known === undefined || count === undefined) return known;
    const first = await headOf({ partNumber: '1' });
    const partBytes = Number(first?.['content-length']);
    // Without parts of equal size, nobody knows where they begin.
    return Math.ceil(byteLength / partBytes) === Number(count) ? { ...known, partBytes } : undefined;
  }

  async list(path: string, ask: SendForText): Promise<ListedObject[]> {
    const { bucket, key: prefix } = parseS3Address(path);
    const found: ListedObject[] = [];
    let lastKey = '';
    const page = async (markers: Headers) => {
      const query = { 'list-type': '2', 'encoding-type': 'url', prefix, ...markers };
      return (await ask(path, () => this.signed({ bucket, key: '' }, { query }))).text;
    };
    const next = (text: string): Headers => {
      const token = xmlText(text, 'NextContinuationToken');
      // Some services know the first version of lists alone.
      return token === undefined ? { marker: lastKey, 'start-after': lastKey } : { 'continuation-token': token };
    };
    for await (const text of pagesOf('ListBucketResult', page, next)) {
      const isEncoded = xmlText(text, 'EncodingType') === 'url';
      for (const [, content = ''] of text.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g)) {
        const name = xmlText(content, 'Key') ?? '';
        // Some servers do not know how to encode.
        const key = isEncoded ? decodeURIComponent(name.replaceAll('+', ' ')) : name;
        const byteLength = Number(xmlText(content, 'Size'));
        lastKey = key;
        // What consoles make to show an empty directory.
        if (key.endsWith('/') && byteLength === 0) continue;
        found.push({ place: key.slice(prefix.length), byteLength, validator: xmlText(content, 'ETag') ?? '' });
      }
    }
    return found;
  }

  async signed({ bucket, key }: S3Address, { query = {}, sha256, ...unsigned }: S3Request): Promise<HttpRequest> {
    requireUnfolded(`s3://${bucket}/${key}`);
    const { settings } = this;
    const region = this.#regionOf.get(bucket) ?? settings.region;
    const endpoint = settings.endpointOf('s3');
    const keyPath = key.split('/').map(encoded).join('/');
    const hasBucketInPath = endpoint !== undefined || !/^[a-z0-9-]+$/.test(bucket);
    const host = settings.hostOf('s3', region);
    const origin = endpoint ?? `https://${hasBucketInPath ? host : `${bucket}.${host}`}`;
    const search = Object.entries(query)
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .sort()
      .join('&');
    // Some services know a list by the path without a slash at its end.
    const place = hasBucketInPath ? `/${encoded(bucket)}${key === '' ? '' : '/'}` : '/';
    const server = new URL(origin);
    const path = `${server.pathname.replace(/\/+$/, '')}${place}${keyPath}${search === '' ? '' : `?${search}`}`;
    const payer: Headers = settings.requesterPays ? { 'x-amz-request-payer': 'requester' } : {};
    const owner = settings.options.headers?.[OWNER_HEADER];
    const headers = {
      ...unsigned.headers,
      ...payer,
      ...(owner !== undefined && { [OWNER_HEADER]: owner }),
      ...(sha256 && { 'x-amz-content-sha256': sha256 }),
    };
    const credentials = await this.#credentials.find();
    if (credentials === undefined) return { ...unsigned, server, path, region, headers };
    const toSign = {
      host: server.host,
      path,
      method: unsigned.method ?? 'GET',
      service: 's3',
      region,
      headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', ...headers },
    };
    const { Host: _, ...signed } = aws4.sign(toSign, { ...credentials, sessionToken: credentials.sessionToken ?? '' })
      .headers as Record<string, string>;
    return { ...unsigned, server, path, region, headers: signed };
  }
}

/** Returns the checksum as if it were that of the whole. Some replies lack the number of parts: those are not compared. */
function checksumIn(headers: Headers, byteLength: number): ServiceChecksum | undefined {
  const { 'x-amz-checksum-type': type, etag = '' } = headers;
  const isOfParts = type === undefined ? /-\d+"?$/.test(etag) : type === 'COMPOSITE';
  for (const [name, kind] of Object.entries(CRCS)) {
    const { [name]: text } = headers;
    if (text !== undefined) return isOfParts && !text.includes('-') ? undefined : { kind, text, partBytes: byteLength };
  }
  return undefined;
}

export function parseS3Address(path: string): S3Address {
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]*)\/?(.*)$/s.exec(path) ?? [];
  return { bucket, key };
}

/** Encodes as signatures want it: all but the unreserved characters. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * The pages of a list, which ends where a page says so.
 * @param name of the element that is a page.
 * @param next returns the markers for the page after this one.
 * @throws Error if a reply is no such page, or leads to a page that was there before.
 */
export async function* pagesOf(
  name: string,
  ask: (markers: Headers) => Promise<string>,
  next: (text: string) => Headers,
): AsyncGenerator<string> {
  const known = new Set<string>();
  for (let markers: Headers = {}; ; ) {
    const text = await ask(markers);
    const isWhole = text.includes(`<${name}`) && text.trimEnd().endsWith(`</${name}>`);
    const isTruncated = isWhole ? xmlText(text, 'IsTruncated')?.toLowerCase() : undefined;
    if (isTruncated !== 'true' && isTruncated !== 'false')
      throw new Error(
        `the server answered with 200 and no list (expected ${name} with IsTruncated); check the endpoint`,
      );
    yield text;
    if (isTruncated === 'false') return;
    markers = next(text);
    const place = JSON.stringify(markers);
    if (known.has(place) || Object.values(markers).every((marker) => marker === ''))
      throw new Error('the list of the server does not come to an end: its pages repeat');
    known.add(place);
  }
}
