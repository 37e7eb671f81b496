/** What the server of objects does about uploads, as S3 does: it believes no body without its hash, and no part that is too small. */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { reflectedCrc } from './reflected-crc.mjs';

const MIB = 1024 * 1024;

/** @param {string} text */
const inXml = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** CRC-32 as headers have it. @param {Uint8Array} bytes */
const crcOf = (bytes) => {
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(bytes));
  return crc.toString('base64');
};

/**
 * Checksum of parts of this size; of the whole if it is smaller.
 * @param {string} kind @param {Uint8Array} bytes @param {number} partBytes
 */
export const sumOf = (kind, bytes, partBytes) => {
  if (bytes.byteLength <= partBytes) return reflectedCrc(kind, bytes).toString('base64');
  const parts = [];
  for (let at = 0; at < bytes.byteLength; at += partBytes)
    parts.push(reflectedCrc(kind, bytes.subarray(at, at + partBytes)));
  return `${reflectedCrc(kind, Buffer.concat(parts)).toString('base64')}-${parts.length}`;
};

export class UploadServer {
  /** @type {Map<string, { key: string, token: string, parts: Map<number, Buffer> }>} by id */
  #uploads = new Map();
  /** @type {Map<string, string>} what is said about objects, by key */
  #tokens = new Map();
  /** @type {Map<string, Record<string, string>>} by key */
  #checksums = new Map();
  #count = 0;
  #objects;
  #settings;
  #tagOf;

  /**
   * @param {Map<string, Buffer>} objects
   * @param {{ pageKeys: number, leastPartBytes?: number, conditions?: 'ignored' | 'unknown', checksums?: 'ignored' | 'unknown' | 'of parts', flips?: 'part' | 'object' | undefined, gateway?: string, sums?: number, sumKind?: string }} settings
   * @param {(bytes: Uint8Array) => string} tagOf
   */
  constructor(objects, settings, tagOf) {
    this.#objects = objects;
    this.#settings = settings;
    this.#tagOf = tagOf;
  }

  /**
   * @param {import('node:http').IncomingMessage} request
   * @param {Pick<URL, 'searchParams'>} url
   * @param {string} key
   * @param {Buffer} body
   * @returns {{ status?: number, code?: string, headers?: Record<string, string>, text?: string } | undefined} undefined: no business of uploads
   */
  answer({ method, headers }, url, key, body) {
    const query = url.searchParams;
    const id = query.get('uploadId');
    if (method === 'GET' && query.has('uploads')) return this.#listUploads(query);
    if (method === 'GET' && id === null) return undefined;
    if (body.byteLength > 0 && headers['x-amz-content-sha256'] !== createHash('sha256').update(body).digest('hex'))
      return { status: 400, code: 'XAmzContentSHA256Mismatch' };
    if (method === 'PUT' && headers['content-length'] === undefined)
      return { status: 411, code: 'MissingContentLength' };
    const { checksums, flips, gateway } = this.#settings;
    const token = gateway === undefined ? String(headers['x-amz-meta-pileshuf'] ?? '') : '';
    const said = Object.keys(headers).some((name) => name.startsWith('x-amz-checksum-'));
    if (said && checksums === 'unknown') return { status: 400, code: 'InvalidArgument' };
    const crc = checksums === 'ignored' ? undefined : headers['x-amz-checksum-crc32'];
    if (method === 'PUT' && flips === 'part' && id !== null) {
      this.#settings.flips = undefined;
      body.writeUInt8(body.readUInt8(0) ^ 1);
    }
    // As buckets with locks do.
    const md5 = headers['content-md5'];
    if (method === 'PUT' && crc === undefined && md5 !== createHash('md5').update(body).digest('base64'))
      return { status: 400, code: md5 === undefined ? 'InvalidRequest' : 'BadDigest' };
    if (method === 'PUT' && crc !== undefined && crc !== crcOf(body) && flips === undefined)
      return { status: 400, code: 'BadDigest' };
    if (method === 'POST' && query.has('uploads')) {
      this.#count += 1;
      const fresh = `id~${this.#count}._-`;
      this.#uploads.set(fresh, { key, token, parts: new Map() });
      const knows = checksums !== 'ignored' && said;
      return {
        headers: knows ? { 'x-amz-checksum-algorithm': 'CRC32' } : {},
        text: `<InitiateMultipartUploadResult><UploadId>${fresh}</UploadId></InitiateMultipartUploadResult>`,
      };
    }
    if (id !== null) return this.#answerUpload({ method, headers }, query, id, key, body);
    const bytes = this.#objects.get(key);
    switch (method) {
      case 'HEAD': {
        if (bytes === undefined) return { status: 404 };
        const known = { 'content-length': String(bytes.byteLength), etag: this.#tagOf(bytes) };
        const { sums, sumKind = 'crc32' } = this.#settings;
        const crc =
          headers['x-amz-checksum-mode'] === 'ENABLED' && checksums !== 'ignored'
            ? (this.#checksums.get(key) ?? (sums && { [`x-amz-checksum-${sumKind}`]: sumOf(sumKind, bytes, sums) }))
            : {};
        if (query.has('partNumber'))
          known['content-length'] = String(Math.min(bytes.byteLength, sums ?? bytes.byteLength));
        return { headers: { ...known, ...crc, 'x-amz-meta-pileshuf': this.#tokens.get(key) ?? '' } };
      }
      case 'PUT':
        return this.#make(headers, key, body, token) ?? { headers: { etag: this.#tagOf(body) } };
      case 'DELETE':
        this.#objects.delete(key);
        return { status: 204 };
      default:
        return undefined;
    }
  }

  /**
   * @param {Pick<import('node:http').IncomingMessage, 'method' | 'headers'>} request
   * @param {URLSearchParams} query
   * @param {string} id
   * @param {string} key
   * @param {Buffer} body
   */
  #answerUpload({ method, headers }, query, id, key, body) {
    const upload = this.#uploads.get(id);
    if (upload === undefined || upload.key !== key) return { status: 404, code: 'NoSuchUpload' };
    if (method === 'GET') return this.#listParts(query, upload.parts);
    if (method === 'PUT') {
      upload.parts.set(Number(query.get('partNumber')), body);
      const crc = headers['x-amz-checksum-crc32'] !== undefined && { 'x-amz-checksum-crc32': crcOf(body) };
      return { headers: { etag: this.#tagOf(body), ...(this.#settings.checksums !== 'ignored' && crc) } };
    }
    if (method === 'DELETE') {
      this.#uploads.delete(id);
      return { status: 204 };
    }
    const asked = [
      ...body
        .toString()
        .matchAll(
          /<Part><PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>(?:<ChecksumCRC32>(.*?)<\/ChecksumCRC32>)?<\/Part>/g,
        ),
    ].map(([, number, tag, crc]) => ({ number: Number(number), tag, crc, bytes: upload.parts.get(Number(number)) }));
    if (asked.some(({ crc, bytes }) => crc !== undefined && bytes !== undefined && crc !== crcOf(bytes)))
      return { status: 400, code: 'InvalidPart' };
    if (asked.some(({ number }, i) => i > 0 && number <= (asked[i - 1]?.number ?? 0)))
      return { status: 400, code: 'InvalidPartOrder' };
    const pieces = asked.flatMap(({ bytes, tag }) => (bytes && this.#tagOf(bytes) === tag ? [bytes] : []));
    if (pieces.length < asked.length || asked.length === 0) return { status: 400, code: 'InvalidPart' };
    const { leastPartBytes = 5 * MIB } = this.#settings;
    if (pieces.slice(0, -1).some(({ byteLength }) => byteLength < leastPartBytes))
      return { status: 400, code: 'EntityTooSmall' };
    const whole = Buffer.concat(pieces);
    if (headers['x-amz-checksum-crc32'] !== undefined && headers['x-amz-checksum-crc32'] !== crcOf(whole))
      return { status: 400, code: 'BadDigest' };
    if (this.#settings.flips === 'object') whole.writeUInt8(whole.readUInt8(0) ^ 1);
    const ofParts = `${crcOf(Buffer.concat(pieces.map((piece) => Buffer.from(crcOf(piece), 'base64'))))}-${pieces.length}`;
    const crc = this.#settings.checksums === 'of parts' ? ofParts : crcOf(whole);
    this.#checksums.set(key, { 'x-amz-checksum-crc32': crc });
    const refused = this.#make(this.#settings.gateway === undefined ? headers : {}, key, whole, upload.token);
    if (refused !== undefined) return refused;
    this.#uploads.delete(id);
    return { text: '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>' };
  }

  /**
   * @param {import('node:http').IncomingHttpHeaders} headers
   * @param {string} key
   * @param {Buffer} bytes
   * @param {string} token
   */
  #make(headers, key, bytes, token) {
    const isConditional = headers['if-none-match'] === '*' && this.#settings.conditions !== 'ignored';
    if (isConditional && this.#settings.conditions === 'unknown') return { status: 501, code: 'NotImplemented' };
    if (isConditional && this.#objects.has(key)) return { status: 412, code: 'PreconditionFailed' };
    this.#objects.set(key, bytes);
    this.#tokens.set(key, token);
    return undefined;
  }

  /** @param {URLSearchParams} query @param {Map<number, Buffer>} parts */
  #listParts(query, parts) {
    const from = Number(query.get('part-number-marker') ?? 0);
    const all = [...parts].sort(([a], [b]) => a - b).filter(([number]) => number > from);
    const page = all.slice(0, this.#settings.pageKeys);
    const elements = page.map(
      ([number, bytes]) =>
        `<Part><PartNumber>${number}</PartNumber><ETag>${inXml(this.#tagOf(bytes))}</ETag><Size>${bytes.byteLength}</Size></Part>`,
    );
    const next = `<NextPartNumberMarker>${page.at(-1)?.[0] ?? 0}</NextPartNumberMarker>`;
    const more = `<IsTruncated>${page.length < all.length}</IsTruncated>`;
    return { text: `<ListPartsResult>${next}${more}${elements.join('')}</ListPartsResult>` };
  }

  /** @param {URLSearchParams} query */
  #listUploads(query) {
    const place = (/** @type {string} */ key, /** @type {string} */ id) => `${key}\n${id}`;
    const from = place(query.get('key-marker') ?? '', query.get('upload-id-marker') ?? '');
    const all = [...this.#uploads]
      .filter(([, { key }]) => key.startsWith(query.get('prefix') ?? ''))
      .sort(([a, one], [b, other]) => (place(one.key, a) < place(other.key, b) ? -1 : 1))
      .filter(([id, { key }]) => place(key, id) > from);
    const page = all.slice(0, this.#settings.pageKeys);
    const isEncoded = query.get('encoding-type') === 'url';
    const shown = (/** @type {string} */ key) => (isEncoded ? encodeURIComponent(key) : inXml(key));
    const elements = page.map(
      ([id, { key }]) =>
        `<Upload><Key>${shown(key)}</Key><UploadId>${id}</UploadId><Initiated>2026-01-02T03:04:05.000Z</Initiated></Upload>`,
    );
    const [id, last] = page.at(-1) ?? [];
    const next = `<NextKeyMarker>${shown(last?.key ?? '')}</NextKeyMarker><NextUploadIdMarker>${id}</NextUploadIdMarker>`;
    const more = `${isEncoded ? '<EncodingType>url</EncodingType>' : ''}<IsTruncated>${page.length < all.length}</IsTruncated>`;
    return { text: `<ListMultipartUploadsResult>${next}${more}${elements.join('')}</ListMultipartUploadsResult>` };
  }
}
