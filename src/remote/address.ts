/** The addresses of inputs on other machines, and how messages, plans and reports show them: without what is secret. */
import { InputError, UsageError } from '../errors.js';

/** Returns whether it is an address, also one that is refused later. */
export function isRemote(path: string): boolean {
  return /^(?:(?:https?|s3[an]?|hf|gc?s|az(?:ure)?|abfss?|wasbs?|adl):\/\/|arn:aws[\w-]*:s3)/.test(path);
}

export function requireOnDisk(what: string, path: string): void {
  if (isRemote(path)) throw new UsageError(`${what} ${path} lies on another machine; name a directory on a disk`);
}

export function remoteRefusedError(path: string): InputError {
  return new InputError(
    'ERR_INPUT_UNREADABLE',
    `${path} lies on another machine, and this job reads local files; copy it to a disk first`,
  );
}

/** Parameters of addresses that somebody signed. */
const SECRET_PARAMETER = /sig|token|key|cred|auth|pass|secret|policy/i;

/** Returns an address as it is shown: without the name and the password, and without a query that has a signature. */
export function shownAddress(address: string): string {
  const withoutUser = address.replace(/^(\w+:\/\/)[^/?#]*@/, '$1');
  if (!/^https?:/.test(withoutUser)) return withoutUser;
  const [place = '', query] = withoutUser.replace(/#.*/, '').split(/\?(.*)/s);
  const names = query?.split('&').map((each) => each.replace(/=.*/s, '')) ?? [];
  if (query === undefined || query === '' || names.some((name) => SECRET_PARAMETER.test(name))) return place;
  return `${place}?${query}`;
}

/** Options of the S3 service. The environment decides what is undefined. Plans have them, so nothing in them is secret. */
export interface S3ServiceOptions {
  readonly endpoint: string | undefined;
  readonly requesterPays: boolean | undefined;
  /** False: nobody is named, and no credentials are looked for. */
  readonly signRequests?: boolean | undefined;
  /** Headers of what is uploaded; that of the owner goes with each request. Names are in small letters. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Headers that need no others, and whose values are not secrets. */
const UPLOAD_HEADER =
  /^(?:x-amz-(?:acl|expected-bucket-owner|grant-[a-z-]+|meta-(?!pileshuf$)[\w-]+|object-lock-(?:mode|retain-until-date|legal-hold)|server-side-encryption(?:-aws-kms-key-id|-bucket-key-enabled|-context)?|storage-class|tagging|website-redirect-location)|cache-control|content-(?:disposition|language|type)|expires)$/;

/** Fails if a header means nothing for uploads, or cannot be sent. */
export function requireObjectHeaders(headers: unknown, what: string): void {
  for (const [name, value] of Object.entries(Object(headers))) {
    if (!UPLOAD_HEADER.test(name))
      throw new UsageError(
        `${what}: ${shownText(name)} is not a header of uploads that pileshuf can send; expected x-amz-acl, x-amz-storage-class, x-amz-tagging, x-amz-server-side-encryption and its like, x-amz-object-lock-*, x-amz-meta-*, x-amz-expected-bucket-owner, content-type or cache-control`,
      );
    if (typeof value !== 'string' || !/^[!-~](?:[ -~]*[!-~])?$/.test(value))
      throw new UsageError(`${what}: expected a value of ${name} in printable ASCII`);
  }
}

const LONGEST_TEXT = 200;
const SECRET_WORD = /\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\b(?:Bearer|Basic) [\w+/=.~-]+/g;
const SECRET_SETTING =
  /([\w-]*(?:signature|credential|token|secret|password|api-?key)[\w-]*["']?\s?[=:]\s?["']?)[^\s"'&<,;]+/gi;

/** Text of a server, a program or a user, as one short line without signed addresses, keys and passwords. */
export function shownText(text: string): string {
  const shown = text
    .slice(0, 4 * LONGEST_TEXT)
    .replaceAll(/\w+:\/\/[^\s"'<>]+/g, shownAddress)
    .replaceAll(SECRET_SETTING, '$1...')
    .replaceAll(SECRET_WORD, '...')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return shown.length > LONGEST_TEXT ? `${shown.slice(0, LONGEST_TEXT)}...` : shown;
}

/** Refuses an endpoint that is not an address, or holds a secret: it may stand in plans and messages. */
export function requireEndpoint(endpoint: unknown, what: string): asserts endpoint is string {
  if (typeof endpoint !== 'string' || !/^https?:\/\/[^/]/.test(endpoint) || !URL.canParse(endpoint))
    throw new UsageError(`${what} ${shownAddress(String(endpoint))} is not an address; expected https://HOST`);
  const { username, password, search, hash } = new URL(endpoint);
  if (username + password + search + hash !== '')
    throw new UsageError(
      `${what} ${shownAddress(endpoint)} holds more than a place; expected https://HOST, and keys as docs/OBJECT-STORAGE.md says`,
    );
}

/** Fails if an address holds a secret: plans leave it out, so that tasks could not open the address. */
export function requireWithoutSecrets(path: unknown): void {
  if (typeof path !== 'string' || !/^https?:/.test(path) || shownAddress(path) === path.replace(/#.*/s, '')) return;
  throw new UsageError(
    `${shownAddress(path)} was given with a name, a password or a signature, which plans do not keep, so that tasks cannot open it; name it as s3:// or hf://, or copy it to a disk that the tasks share`,
  );
}

/** An address on the Hugging Face Hub. */
interface HubAddress {
  /** Buckets have no revisions. */
  readonly kind: 'datasets' | 'buckets';
  readonly repository: string;
  readonly revision: string;
  /** The path in the repository. */
  readonly path: string;
}

export function requireHubAddress(address: string): void {
  if (parseHubAddress(address).repository === '')
    throw new UsageError(
      `${address} is not an address of data; expected hf://datasets/OWNER/NAME/PATH or hf://buckets/OWNER/NAME/PATH`,
    );
}

export function parseHubAddress(address: string): HubAddress {
  const [, ofBucket, pathInBucket = ''] = /^hf:\/\/buckets\/([^/]+\/[^/]+)(?:\/(.*))?$/s.exec(address) ?? [];
  if (ofBucket !== undefined) return { kind: 'buckets', repository: ofBucket, revision: '', path: pathInBucket };
  const [, repository = '', revision = 'main', path = ''] =
    /^hf:\/\/datasets\/([^/@]+\/[^/@]+)(?:@(refs\/(?:convert|pr)\/[^/]+|[^/]+))?(?:\/(.*))?$/s.exec(address) ?? [];
  return { kind: 'datasets', repository, revision: decodeURIComponent(revision), path };
}

/** Addresses that other tools know, and what to do about them. */
const OTHER_ADDRESSES: readonly (readonly [RegExp, string])[] = [
  [/^s3[an]:/, 'write it as s3://BUCKET/KEY'],
  [
    /^gc?s:/,
    'Google Cloud Storage has the interface of S3, too: write s3://BUCKET/KEY, give --endpoint https://storage.googleapis.com, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to an HMAC key',
  ],
  [
    /^(?:az(?:ure)?|abfss?|wasbs?|adl):/,
    'Azure has no interface of S3: name each input as https:// with a shared access signature, and upload outputs from a disk (azcopy copy)',
  ],
  [
    /^(?:s3:\/\/)?arn:aws[\w-]*:s3/,
    'write s3://ALIAS/KEY with the alias of the access point, which aws s3control list-access-points tells, or s3://BUCKET/KEY',
  ],
  [
    /^s3:\/\/[^/]*--x-s3(?:\/|$)/,
    'pileshuf opens no sessions, which directory buckets need: use a general purpose bucket',
  ],
];

/** Fails if an address, as a caller gives it, names nothing that a service can be asked for. */
export function requireAddress(address: string): void {
  const shown = shownAddress(address);
  const [, advice] = OTHER_ADDRESSES.find(([begin]) => begin.test(address)) ?? [];
  if (advice !== undefined) throw new UsageError(`${shown} is not an address that pileshuf can open; ${advice}`);
  // `URL` drops line breaks, tabs and spaces at the end, and takes \ for /.
  if (/^https?:/.test(address) && (/[\t\r\n\\]|\s$/.test(address) || !URL.canParse(address)))
    throw new UsageError(`${shown} is not an address; expected https://HOST/PATH`);
  if (/^s3:/.test(address) && !/^s3:\/\/[^/]+\//.test(address))
    throw new UsageError(`${shown} is not an address of data; expected s3://BUCKET/KEY, or s3://BUCKET/ for all of it`);
  if (address.startsWith('hf:')) requireHubAddress(address);
  const problem = foldingProblem(address);
  if (problem !== undefined) throw new UsageError(problem);
}

/** Keys may hold all characters, so that a pattern is one only if there is no such object. */
export function adviceOnPattern(address: string): string | undefined {
  return /[*?{[]/.test(address)
    ? 'addresses have no patterns; end the address of the directory with /, and give `include`'
    : undefined;
}

/** Fails if an address, as a list has it, is one that clients, proxies or services fold: `a/../b` is `b` to them. */
export function requireUnfolded(address: string): void {
  const problem = foldingProblem(address);
  if (problem !== undefined) throw new InputError('ERR_INPUT_UNREADABLE', problem);
}

/** S3 has keys of any kind. But a key that leads out of its bucket is refused by Amazon, and is another's elsewhere. */
function foldingProblem(address: string): string | undefined {
  const steps = address.replace(/^\w+:\/\//, '').split('/');
  if (!address.startsWith('s3:')) {
    const isFolded = steps.some((step) => /^(?:\.|%2e){1,2}(?:[?#]|$)/i.test(step));
    return isFolded ? `${shownAddress(address)}: . and .. are folded in addresses; write it without them` : undefined;
  }
  let depth = 0;
  const isOutside = steps.some((step) => {
    if (step === '..') depth -= 1;
    else if (step !== '.' && step !== '') depth += 1;
    return depth < 1;
  });
  return isOutside
    ? `${address}: its .. lead out of the bucket, where no service finds it; take another key`
    : undefined;
}
