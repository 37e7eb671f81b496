/** Files of web servers. */
import { InputError } from '../errors.js';
import { shownAddress } from './address.js';
import { type HttpRequest, type Reply, requestTo } from './http-messages.js';
import { type ListedObject, type Service, validatorOfHttp } from './service.js';

export class Web implements Service {
  /** Addresses as they were given, by how they are shown: what is secret stays in this thread. */
  readonly #given = new Map<string, string>();
  readonly validatorOf = validatorOfHttp;

  remember(address: string): void {
    this.#given.set(shownAddress(address), address);
  }

  async requestFor(path: string): Promise<HttpRequest> {
    const url = new URL(this.#given.get(path) ?? path);
    const { username, password } = url;
    url.username = url.password = url.hash = '';
    if (username === '') return requestTo(url, {});
    const words = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
    return requestTo(url, { authorization: `Basic ${words.toString('base64')}` });
  }

  advise(path: string, { status }: Reply): string | undefined {
    if (status !== 401 && status !== 403) return undefined;
    const given = this.#given.get(path) ?? path;
    if (/[?&](?:X-Amz-|X-Goog-|Signature=|sig=)/i.test(given))
      return 'the address was signed for a limited time; get a new one, and resume with it';
    return /\/\/[^/]*@/.test(given)
      ? 'check the name and the password in the address'
      : 'no credentials were given; put them into the address as https://NAME:PASSWORD@HOST/, or sign it';
  }

  async list(path: string): Promise<ListedObject[]> {
    throw new InputError(
      'ERR_INPUT_UNREADABLE',
      `${path} ends as a directory does, and web servers do not list directories; name its files`,
    );
  }
}
