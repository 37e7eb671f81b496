/** The addresses of inputs on other machines, and how messages, plans and reports show them: without what is secret. */
import { InputError, UsageError } from '../errors.js';
import { requireHubAddress } from './hub-address.js';

/** Parameters of addresses that somebody signed. */
const SECRET_PARAMETER = /sig|token|key|cred|auth|pass|secret|policy/i;

/** A name and a password never stand in an address that is shown, nor does a query with a signature. */
export function shownAddress(address: string): string {
  const withoutUser = address.replace(/^(\w+:\/\/)[^/?#]*@/, '$1');
  if (!/^https?:/.test(withoutUser)) return withoutUser;
  const [place = '', query] = withoutUser.replace(/#.*/, '').split(/\?(.*)/s);
  const names = query?.split('&').map((each) => each.replace(/=.*/s, '')) ?? [];
  if (query === undefined || query === '' || names.some((name) => SECRET_PARAMETER.test(name))) return place;
  return `${place}?${query}`;
}

/** Which service `s3://` names. What is undefined, the environment says. */
export interface S3Choice {
  readonly endpoint: string | undefined;
  readonly requesterPays: boolean | undefined;
}

/** It may stand in plans and messages, so nothing in it is secret. */
export function requireEndpoint(endpoint: unknown, what: string): asserts endpoint is string {
  if (typeof endpoint !== 'string' || !/^https?:\/\/[^/]/.test(endpoint) || !URL.canParse(endpoint))
    throw new UsageError(`${what} ${shownAddress(String(endpoint))} is no address; expected https://HOST`);
  const { username, password, search, hash } = new URL(endpoint);
  if (username + password + search + hash !== '')
    throw new UsageError(
      `${what} ${shownAddress(endpoint)} holds more than a place; expected https://HOST, and keys as docs/OBJECT-STORAGE.md says`,
    );
}

/** Fails if an address, as a caller gives it, names nothing that a service can be asked for. */
export function requireAddress(address: string): void {
  const shown = shownAddress(address);
  // `URL` drops line breaks, tabs and spaces at the end, and takes \ for /.
  if (/^https?:/.test(address) && (/[\t\r\n\\]|\s$/.test(address) || !URL.canParse(address)))
    throw new UsageError(`${shown} is no address; expected https://HOST/PATH`);
  if (/^s3:/.test(address) && !/^s3:\/\/[^/]+\//.test(address))
    throw new UsageError(`${shown} is no address of data; expected s3://BUCKET/KEY, or s3://BUCKET/ for all of it`);
  if (address.startsWith('hf:')) requireHubAddress(address);
  const problem = foldingIn(address);
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
  const problem = foldingIn(address);
  if (problem !== undefined) throw new InputError('ERR_INPUT_UNREADABLE', problem);
}

/** S3 has keys of any kind. But a key that leads out of its bucket is refused by Amazon, and is another's elsewhere. */
function foldingIn(address: string): string | undefined {
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
