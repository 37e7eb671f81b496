/** The part that the kinds of places have in common. It makes of a reply that is not data one line for a person. */
import { InputError } from '../errors.js';
import { shownText } from './address.js';
import { passingStatus } from './failure.js';
import type { VersionAnswer } from './fetch-channel.js';
import type { Headers, Reply, Target } from './http-messages.js';
import type { KnownChecksum } from './read-checksum.js';

export interface ListedObject extends VersionAnswer {
  /** The place below the address of the directory. */
  readonly place: string;
}

/** Asks for a text, and tries again what may pass. */
export type Ask = (path: string, target: () => Promise<Target>) => Promise<Reply>;

/** Asks for the headers of an object. The answer is undefined if the server refuses. */
export type AskHead = (target: () => Promise<Target>) => Promise<Headers | undefined>;

export interface Service {
  /**
   * Returns where an object is asked for now, with what proves who asks. @param validator of the version that is
   * wanted.
   */
  targetOf(path: string, validator: string | undefined): Promise<Target>;
  /**
   * Returns what tells one version of an object from another; empty: nothing does. Undefined: addresses name versions.
   */
  validatorOf(headers: Headers, path: string): string | undefined;
  /** The version that the address of an object will name, if addresses do. */
  versionNow?(path: string): Promise<string | undefined>;
  /** The checksum that the service has of an object, if it can be compared. @param ask undefined: it is refused. */
  checksumOf?(path: string, version: VersionAnswer, ask: AskHead): Promise<KnownChecksum | undefined>;
  /** The checksum of an object that a reply with all of its bytes says, if it does. */
  checksumIn?(headers: Headers, byteLength: number): KnownChecksum | undefined;
  /**
   * Returns what to do about a refusal, as a message ends; `again`: now it knows better, ask once more.
   * @param asked whose answer the reply is. @param mayAskLess whether the question may be one without extras.
   */
  advise(path: string, reply: Reply, asked: Target, mayAskLess?: boolean): string | 'again' | undefined;
  /** All objects below a directory, whose address ends with a slash. */
  list(path: string, ask: Ask): Promise<ListedObject[]>;
}

/** Checksums of the whole object, whatever range of it a reply has. */
const CHECKSUMS = ['repr-digest', 'digest', 'x-goog-hash', 'x-checksum-sha256'];

/** `If-Match` compares strong tags alone. Mirrors give the same object other tags, so that a checksum says more. */
export function validatorOfHttp(headers: Headers): string {
  const { etag, 'last-modified': modified } = headers;
  const sums = CHECKSUMS.flatMap((name) => headers[name] ?? []);
  if (sums.length > 0) return `checksum ${sums.join(', ')}`;
  if (etag !== undefined && !etag.startsWith('W/')) return etag;
  return etag ?? (modified === undefined ? '' : `modified ${modified}`);
}

/** @returns the error of a reply that is not data, a passing one or one for good. */
export function refusal(path: string, reply: Reply, advice: string | undefined): Error {
  const { status, headers, text } = reply;
  const said = reasonIn(text);
  const reason = said === undefined ? '' : ` (${said})`;
  const passes = passingStatus(status, reason, headers);
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

export function changedObject(path: string, change: string): InputError {
  return new InputError(
    'ERR_INPUT_CHANGED',
    `${path}: the input changed during the job (${change}); start again when nothing writes to it`,
  );
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

/** The text of an element that has no elements inside. */
export function tag(xml: string, name: string): string | undefined {
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
