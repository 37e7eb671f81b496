/** The addresses of inputs on other machines, and how messages, plans and reports show them: without what is secret. */
import { UsageError } from '../errors.js';

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

export function requireAddress(address: string): void {
  const shown = shownAddress(address);
  if (/^(?:s3|hf):/.test(address) && /[*{[]/.test(address))
    throw new UsageError(
      `${shown}: addresses have no patterns; end the address of the directory with /, and give \`include\``,
    );
  if (/^https?:/.test(address) && !URL.canParse(address))
    throw new UsageError(`${shown} is no address; expected https://HOST/PATH`);
  if (/^s3:/.test(address) && !/^s3:\/\/[^/]+\//.test(address))
    throw new UsageError(`${shown} is no address of data; expected s3://BUCKET/KEY, or s3://BUCKET/ for all of it`);
}
