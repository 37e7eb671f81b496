/** The contract of remote services (web servers, S3, the Hub), and the errors for replies that are not data. */
import { InputError } from '../errors.js';
import { shownText } from './address.js';
import type { Headers, HttpRequest, Reply } from './http-messages.js';
import type { ServiceChecksum } from './read-checksum.js';
import { transientErrorOfStatus } from './retries.js';
import type { ObjectVersion } from './transfer-channel.js';

export interface ListedObject extends ObjectVersion {
  /** The place below the address of the directory. */
  readonly place: string;
}

/** Requests a text, with retries. */
export type SendForText = (path: string, makeRequest: () => Promise<HttpRequest>) => Promise<Reply>;

/** Requests the headers of an object. The answer is undefined if the server refuses. */
export type SendForHead = (makeRequest: () => Promise<HttpRequest>) => Promise<Headers | undefined>;

export interface Service {
  /**
   * Returns the request for an object, with credentials. @param validator of the wanted version. @param isWhole whether the
   * reply may have all of the object, so that it may say the checksum.
   */
  requestFor(path: string, validator: string | undefined, isWhole: boolean): Promise<HttpRequest>;
  /**
   * Returns what distinguishes versions of an object; empty: nothing does. Undefined: addresses name versions.
   */
  validatorOf(headers: Headers, path: string): string | undefined;
  /** Returns the request for the tag of an object, if other hosts may send its data with tags of their own. */
  headRequestFor?(path: string): Promise<HttpRequest>;
  /** Returns the version that the address of an object names now, if addresses do. */
  currentVersion?(path: string): Promise<string | undefined>;
  /** Returns the checksum that the service has of an object, if it can be compared. */
  checksumOf?(path: string, version: ObjectVersion, ask: SendForHead): Promise<ServiceChecksum | undefined>;
  /** Returns the checksum in a reply that has the whole object; `none`: the service has none. Undefined: only asking tells. */
  checksumIn?(headers: Headers, byteLength: number): ServiceChecksum | 'none' | undefined;
  /**
   * Returns what to do about a refusal, as a message ends; `again`: now it knows better, ask once more.
   * @param request that the reply answers. @param mayAskLess whether the request may be one without extras.
   */
  advise(path: string, reply: Reply, request: HttpRequest, mayAskLess?: boolean): string | 'again' | undefined;
  /** Lists all objects below a directory, whose address ends with a slash. */
  list(path: string, ask: SendForText): Promise<ListedObject[]>;
}

/** Checksums of the whole object, whatever range of it a reply has. */
const CHECKSUMS = ['repr-digest', 'digest', 'x-goog-hash', 'x-checksum-sha256'];

/**
 * Returns what the headers say of the version. `If-Match` compares strong tags alone; mirrors give the same object other tags,
 * so that a checksum says more.
 */
export function validatorOfHttp(headers: Headers): string {
  const { etag, 'last-modified': modified } = headers;
  const sums = CHECKSUMS.flatMap((name) => headers[name] ?? []);
  if (sums.length > 0) return `checksum ${sums.join(', ')}`;
  if (etag !== undefined && !etag.startsWith('W/')) return etag;
  return etag ?? (modified === undefined ? '' : `modified ${modified}`);
}

/** Returns the error for a reply that is not data: a transient one, or a final one. */
export function refusalError(path: string, reply: Reply, advice: string | undefined): Error {
  const { status, headers, text } = reply;
  const said = reasonIn(text);
  const reason = said === undefined ? '' : ` (${said})`;
  const passes = transientErrorOfStatus(status, reason, headers);
  if (passes !== undefined) return passes;
  if (status === 404 || status === 410)
    return new InputError(
      'ERR_INPUT_MISSING',
      `the input ${path} does not exist${reason}; ${advice ?? 'check the address'}`,
    );
  const what =
    status === 401 || status === 403
      ? `the server refuses it with status ${status}${reason}`
      : `the server answered ${status}${reason}`;
  return new InputError('ERR_INPUT_UNREADABLE', `cannot read ${path}: ${what}; ${advice ?? 'check the address'}`);
}

export function changedObjectError(path: string, change: string): InputError {
  return new InputError(
    'ERR_INPUT_CHANGED',
    `${path}: the input changed during the job (${change}); start again when nothing writes to it`,
  );
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

/** Returns the text of the first element of a name, which has no elements inside. */
export function xmlText(xml: string, name: string): string | undefined {
  const [, text] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? [];
  return text?.replaceAll(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal, hex, word) => {
    if (word !== undefined) return ENTITIES[word] ?? whole;
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
  });
}

/** Servers tell reasons in XML or JSON. */
export function reasonIn(text: string): string | undefined {
  const [, code, message] =
    /<Code>([^<]*)<\/Code>(?:[\s\S]*<Message>([^<]*)<\/Message>)?/.exec(text) ??
    /"error"\s*:\s*"([^"]*)"/.exec(text) ??
    [];
  if (code === undefined) return undefined;
  return shownText(message === undefined || message === '' ? code : `${code}: ${message}`);
}
