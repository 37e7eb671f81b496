/**
 * A server of objects for tests, in a thread of its own, because readers block theirs. It has the interfaces of web
 * servers, of S3 (`/BUCKET/KEY`, lists, signatures) and of the Hugging Face Hub, whose files come from a second port by
 * addresses that are signed. It fails when it is told to, and tells what it was asked.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { sumOf, UploadServer } from './upload-server.mjs';

const { sign } = createRequire(import.meta.url)('aws4');

/** @param {Record<string, string | Uint8Array>} given @returns {Map<string, Buffer>} content by key, the same for all interfaces */
const objectsOf = (given) => new Map(Object.entries(given).map(([key, text]) => [key, Buffer.from(text)]));
/** @param {object} given @returns {any} */
const settingsOf = (given) => ({
  pageKeys: 1000,
  region: 'us-east-1',
  ranges: true,
  token: undefined,
  commit: 'c1',
  answersAfterMilliseconds: 0,
  takesBytesOfSecond: undefined,
  delayMilliseconds: 0,
  ...given,
});
let objects = objectsOf(workerData.objects);
let settings = settingsOf(workerData.settings);
/** @typedef {import('node:http').IncomingMessage} Question */
/** @typedef {import('node:http').ServerResponse} Response */
/** @typedef {Pick<URL, 'pathname' | 'searchParams'>} Address */

/** @type {object[]} */
let asked = [];
/** How the body of a response goes wrong. @type {WeakMap<Response, unknown>} */
const faultOf = new WeakMap();
/** The number of the request, from 1, among those that begin so, that fails, and how. @type {{ at?: number | 'all', from?: number, of?: string, kind: string | number } | undefined} */
let fault;
let requests = 0;
/** Ranges that were asked for and not sent. */
let underWay = { count: 0 };
/** How often each address of the Hub's storage was asked. @type {number[]} */
let uses = [];

/** @param {Uint8Array} bytes */
const tagOf = (bytes) => `"${createHash('md5').update(bytes).digest('hex')}"`;

let uploads = new UploadServer(objects, settings, tagOf);
/** What servers say to explain their status. @type {Record<number, string>} */
const CODES = {
  400: 'ExpiredToken',
  403: 'AccessDenied',
  404: 'NoSuchUpload',
  409: 'OperationAborted',
  500: 'InternalError',
};

/** @param {Question} request @param {Response} response @param {string} key */
function send(request, response, key) {
  const bytes = objects.get(key);
  if (bytes === undefined) return refuse(response, 404, 'NoSuchKey');
  const sum = createHash('sha256').update(bytes).digest('base64');
  const isBehindGateway = settings.gateway !== undefined && request.socket.localPort === portOf(storage);
  const ownTag = isBehindGateway ? `"${requests}"` : tagOf(bytes);
  const etag = settings.mirrors ? `"${requests}"` : ownTag;
  if (request.headers['if-match'] !== undefined && request.headers['if-match'] !== etag)
    return refuse(response, 412, 'PreconditionFailed');
  const common = { etag, 'accept-ranges': 'bytes', ...(settings.mirrors && { 'repr-digest': `sha-256=:${sum}:` }) };
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  if (first === undefined || !settings.ranges) {
    response.writeHead(200, { ...common, 'content-length': bytes.byteLength });
    if (faultOf.get(response) === 'short') {
      response.write(bytes.subarray(0, bytes.byteLength >> 1), () => response.destroy());
      return;
    }
    return response.end(bytes);
  }
  const start = Number(first);
  const end = Math.min(Number(last) + 1, bytes.byteLength);
  if (start >= bytes.byteLength) {
    const size = settings.refusesEmpty ? {} : { 'content-range': `bytes */${bytes.byteLength}` };
    response.writeHead(416, { 'content-length': 0, ...size });
    return response.end();
  }
  const part = bytes.subarray(start, end);
  const range = `bytes ${start}-${end - 1}/${bytes.byteLength}`;
  const { sums = 0, sumKind = 'crc32' } = settings;
  const isSummed = request.headers['x-amz-checksum-mode'] !== undefined && part.byteLength === bytes.byteLength;
  const checksum = isSummed &&
    bytes.byteLength <= sums && {
      'x-amz-checksum-type': 'FULL_OBJECT',
      [`x-amz-checksum-${sumKind}`]: sumOf(sumKind, bytes, sums),
    };
  const headers = { ...common, ...checksum, 'content-length': part.byteLength, 'content-range': range };
  const { 'content-length': _, ...unsized } = headers;
  switch (faultOf.get(response)) {
    case 'short':
      response.writeHead(206, headers);
      response.write(part.subarray(0, part.byteLength >> 1), () => response.destroy());
      return;
    case 'short, chunked':
      response.writeHead(206, unsized);
      return response.end(part.subarray(0, part.byteLength >> 1));
    case 'long, chunked':
      response.writeHead(206, unsized);
      return response.end(Buffer.concat([part, part]));
    case 'long':
      response.writeHead(206, { ...headers, 'content-length': part.byteLength + 1 });
      return response.end(Buffer.concat([part, Buffer.from('x')]));
    case 'other range':
      response.writeHead(206, { ...headers, 'content-range': `bytes ${start + 1}-${end}/${bytes.byteLength}` });
      return response.end(Buffer.concat([part.subarray(1), Buffer.from('x')]));
    case 'flipped': {
      const flipped = Buffer.from(part);
      flipped.writeUInt8(flipped.readUInt8(part.byteLength >> 1) ^ 4, part.byteLength >> 1);
      response.writeHead(206, headers);
      return response.end(flipped);
    }
    case 'changed':
      response.writeHead(206, { ...headers, etag: '"other"' });
      return response.end(part);
    default: {
      const ranges = underWay;
      Object.assign(asked.at(-1) ?? {}, { beside: ranges.count });
      ranges.count += 1;
      setTimeout(() => {
        ranges.count -= 1;
        response.writeHead(206, headers);
        response.end(part);
      }, settings.delayMilliseconds);
    }
  }
}

/** @param {Response} response @param {number} status @param {string} code @param {Record<string, string>} headers */
function refuse(response, status, code, headers = {}) {
  response.writeHead(status, headers);
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>said by the test</Message></Error>`);
}

/** Whether the request fails now. @param {Question} request @param {Response} response */
function fails(request, response) {
  const isOf = `${request.method} ${request.url}`.startsWith(fault?.of ?? '');
  if (isOf) requests += 1;
  if (fault === undefined || !isOf) return false;
  const { kind, of, from, at = of && from === undefined ? 'all' : undefined } = fault;
  if (at !== 'all' && at !== requests && requests < (from ?? Number.POSITIVE_INFINITY)) return false;
  if (kind === 'reset') request.socket.destroy();
  else if (kind === 'silence') return true;
  else if (kind === 'silence within') {
    response.writeHead(206, { 'content-length': 10 });
    response.write('x');
  } else if (/^\d{3} /.test(String(kind))) refuse(response, Number(String(kind).slice(0, 3)), String(kind).slice(4));
  else if (typeof kind === 'number')
    refuse(response, kind, CODES[kind] ?? 'SlowDown', kind === 503 ? { 'retry-after': '0' } : {});
  else {
    faultOf.set(response, kind);
    return false;
  }
  return true;
}

/** @param {Question} request @param {'main' | 'storage'} port */
function note(request, port) {
  const {
    authorization,
    range,
    'accept-encoding': encoding,
    'x-amz-request-payer': payer,
    'x-amz-checksum-crc32': crc,
  } = request.headers;
  const { method, url: path } = request;
  asked.push({ port, method, path, range, authorization, encoding, payer, crc });
}

/** @param {string} text */
const escaped = (text) => encodeURIComponent(text);

/** @param {Response} response @param {Address} url */
function list(response, url) {
  const prefix = url.searchParams.get('prefix') ?? '';
  const keys = [...objects.keys()].sort().filter((key) => key.startsWith(prefix));
  const marker = url.searchParams.get('marker');
  const ofMarker = marker === null ? 0 : keys.findIndex((key) => key > marker);
  const from = Number(url.searchParams.get('continuation-token') ?? ofMarker);
  if (settings.lists?.text !== undefined) return response.end(settings.lists.text);
  const page = keys.slice(from, from + settings.pageKeys);
  const next = from + page.length;
  const contents = page.map((key) => {
    const bytes = objects.get(key) ?? Buffer.alloc(0);
    return `<Contents><Key>${escaped(key)}</Key><ETag>${tagOf(bytes).replaceAll('"', '&quot;')}</ETag><Size>${bytes.byteLength}</Size></Contents>`;
  });
  const more = next < keys.length || settings.lists === 'repeat';
  const token = settings.lists === 'repeat' ? from : settings.lists === undefined ? next : undefined;
  return response.end(
    `<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>${more}</IsTruncated>${more && token !== undefined ? `<NextContinuationToken>${token}</NextContinuationToken>` : ''}${contents.join('')}</ListBucketResult>`,
  );
}

/** As S3 does: by signing what came. @param {Question} request */
function isSigned(request) {
  const { authorization = '', host } = request.headers;
  if (settings.secret === undefined || authorization === '')
    return settings.secret === undefined && authorization === '';
  const [, names = ''] = /SignedHeaders=([^,]*)/.exec(authorization) ?? [];
  const headers = Object.fromEntries(names.split(';').map((name) => [name, request.headers[name]]));
  const again = sign(
    { host, path: request.url, method: request.method, service: 's3', region: settings.region, headers },
    { accessKeyId: 'tester', secretAccessKey: settings.secret },
  );
  return again.headers.Authorization === authorization;
}

/** @param {Question} request @param {Response} response @param {Address} url */
function answerS3(request, response, url) {
  const region = /Credential=[^/]*\/\d+\/([^/]*)\//.exec(request.headers.authorization ?? '')?.[1];
  if (region !== undefined && region !== settings.region)
    return refuse(response, 400, 'AuthorizationHeaderMalformed', { 'x-amz-bucket-region': settings.region });
  if (!isSigned(request)) return refuse(response, 403, 'AccessDenied');
  if (settings.checksums === 'unknown' && request.headers['x-amz-checksum-mode'] !== undefined)
    return refuse(response, 400, 'InvalidArgument');
  if (settings.gateway !== undefined && (request.headers['x-amz-trailer'] ?? request.headers['content-encoding']))
    return refuse(response, 501, 'NotImplemented');
  const [, key = ''] = /\/bucket\/?(.*)$/s.exec(decodeURIComponent(url.pathname)) ?? [];
  if (request.method === 'GET' && !url.searchParams.has('uploads') && !url.searchParams.has('uploadId')) {
    if (key === '') return list(response, url);
    const isRedirected = settings.gateway !== undefined && objects.has(key);
    return isRedirected ? redirectToStorage(response, key) : send(request, response, key);
  }
  void takeUpload(request, response, url, key);
}

/** @param {Question} request @param {Response} response @param {Address} url @param {string} key */
async function takeUpload(request, response, url, key) {
  /** @type {Buffer[]} */
  const body = [];
  const to = uploads;
  try {
    for await (const piece of request) {
      body.push(piece);
      if (settings.takesBytesOfSecond !== undefined)
        await sleep((1000 * piece.byteLength) / settings.takesBytesOfSecond);
    }
  } catch {
    // Who asked has gone.
    return;
  }
  answerUpload(to, request, response, url, key, Buffer.concat(body));
}

/** @param {UploadServer} to @param {Question} request @param {Response} response @param {Address} url @param {string} key @param {Buffer} body */
function answerUpload(to, request, response, url, key, body) {
  const kind = faultOf.get(response);
  if (kind === 'reset after the body') return request.socket.destroy();
  if (kind === 'error in 200' && /^P/.test(request.method ?? '')) return refuse(response, 200, 'InternalError');
  const { status = 200, code, headers = {}, text = '' } = to.answer(request, url, key, body) ?? { status: 405 };
  if (kind === 'lost answer') return request.socket.destroy();
  if (kind === 'silence after the work') return;
  setTimeout(() => {
    if (code !== undefined) return refuse(response, status, code, headers);
    response.writeHead(status, headers);
    response.end(text);
  }, settings.answersAfterMilliseconds);
}

/** @param {Question} request @param {Response} response @param {Address} url */
function answerHub(request, response, url) {
  if (settings.token !== undefined && request.headers.authorization !== `Bearer ${settings.token}`)
    return refuse(response, 401, 'Unauthorized');
  const path = decodeURIComponent(url.pathname);
  if (settings.isRenamed && path.includes('/owner/former/')) {
    const location = request.url?.replace('/owner/former/', '/owner/name/');
    response.writeHead(path.startsWith('/api') ? 308 : 307, { location, 'content-length': 0 });
    return response.end();
  }
  const isBucket = /^(?:\/api)?\/buckets\//.test(path);
  const name = `/${isBucket ? 'buckets' : 'datasets'}/owner/name`;
  const commit = isBucket ? '' : `/${settings.commit}`;
  if (path === `/api${name}/revision/main`) return response.end(JSON.stringify({ sha: settings.commit }));
  const tree = `/api${name}/tree${commit}`;
  if (path.startsWith(tree)) {
    const keys = [...objects.keys()].sort().filter((key) => `/${key}`.startsWith(path.slice(tree.length)));
    const from = Number(url.searchParams.get('cursor') ?? 0);
    const page = keys.slice(from, from + settings.pageKeys);
    if (from + page.length < keys.length)
      response.setHeader('link', `<http://elsewhere${url.pathname}?cursor=${from + page.length}>; rel="next"`);
    return response.end(
      JSON.stringify(page.map((key) => ({ type: 'file', path: key, size: objects.get(key)?.byteLength }))),
    );
  }
  const file = `${name}/resolve${commit}/`;
  if (!path.startsWith(file)) return refuse(response, 404, 'EntryNotFound');
  redirectToStorage(response, path.slice(file.length));
}

/** @param {Response} response @param {string} key */
function redirectToStorage(response, key) {
  uses.push(0);
  response.writeHead(302, {
    'content-length': 0,
    location: `http://127.0.0.1:${portOf(storage)}/${escaped(key)}?Signature=${uses.length - 1}`,
  });
  response.end();
}

/** @param {import('node:http').Server} server */
function portOf(server) {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** @param {number} lease */
function usedUp(lease) {
  const count = (uses[lease] ?? 0) + 1;
  uses[lease] = count;
  return count > (settings.leaseUses ?? Number.POSITIVE_INFINITY);
}

/** As it came: `URL` would fold `a/../b`. @param {Question} request */
function addressIn({ url = '' }) {
  const [pathname = '', query] = url.split('?');
  return { pathname, searchParams: new URLSearchParams(query) };
}

const main = createServer((request, response) => {
  note(request, 'main');
  const url = addressIn(request);
  if (fails(request, response)) return;
  if (/^\/(?:api\/)?(?:datasets|buckets)\//.test(url.pathname)) answerHub(request, response, url);
  else if (url.pathname.startsWith(`${settings.gateway ?? ''}/bucket`)) answerS3(request, response, url);
  else if (url.pathname.startsWith('/moved/')) {
    const to = `http://127.0.0.1:${portOf(storage)}/private${url.pathname.slice('/moved'.length)}`;
    response.writeHead(302, { 'content-length': 0, location: to });
    response.end();
  } else if (url.pathname.startsWith('/private/') && !request.headers.authorization)
    refuse(response, 401, 'Unauthorized');
  else send(request, response, decodeURIComponent(url.pathname.slice(1)).replace(/^private\//, ''));
});

const storage = createServer((request, response) => {
  note(request, 'storage');
  if (fails(request, response)) return;
  const url = addressIn(request);
  if (url.pathname.startsWith('/private/') && !request.headers.authorization)
    return refuse(response, 401, 'Unauthorized');
  const lease = url.searchParams.get('Signature');
  if (lease !== null && usedUp(Number(lease))) return refuse(response, 403, 'ExpiredToken');
  send(request, response, decodeURIComponent(url.pathname.slice(1)));
});

/** Forgets all, for another test. @param {typeof workerData} given */
function beginAnew(given) {
  for (const server of [main, storage]) server.closeAllConnections();
  objects = objectsOf(given.objects);
  settings = settingsOf(given.settings);
  uploads = new UploadServer(objects, settings, tagOf);
  fault = undefined;
  underWay = { count: 0 };
  uses = [];
}

parentPort?.on('message', ({ begin, change, objects: changed }) => {
  if (begin !== undefined) beginAnew(begin);
  if (change?.fault !== undefined) fault = change.fault ?? undefined;
  Object.assign(settings, change?.settings);
  for (const [key, text] of Object.entries(changed ?? {})) objects.set(key, Buffer.from(text));
  parentPort?.postMessage({ asked });
  asked = [];
  requests = 0;
});

main.listen(0, '127.0.0.1', () =>
  storage.listen(0, '127.0.0.1', () => parentPort?.postMessage({ port: portOf(main) })),
);
