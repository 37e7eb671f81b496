/**
 * Requests over HTTP, one exchange each. Proxies are those of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. Connections to
 * a host are bounded, as calls on a disk are: what comes beyond waits. Redirects are the caller's: only it knows which
 * credentials belong to which host.
 */
import { type Dispatcher, EnvHttpProxyAgent } from 'undici';
import { ownVersion } from '../io/own-version.js';
import type { Patience } from './failure.js';

export const CONNECTIONS_OF_HOST = 16;
const CONNECT_MILLISECONDS = 10_000;
/** Of a text that tells of an error. */
const MOST_ERROR_BYTES = 64 * 1024;

export type Headers = Readonly<Record<string, string>>;

export interface Target {
  readonly url: URL;
  readonly headers: Headers;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** Of what was not taken. */
  readonly text: string;
}

/** Gets the bytes of a body as they come. May throw, which ends the exchange. */
export type Take = (bytes: Uint8Array) => void;

export class Http {
  readonly #agent: EnvHttpProxyAgent;

  constructor({ silenceMilliseconds }: Pick<Patience, 'silenceMilliseconds'>) {
    this.#agent = new EnvHttpProxyAgent({
      connections: CONNECTIONS_OF_HOST,
      pipelining: 1,
      headersTimeout: silenceMilliseconds,
      bodyTimeout: silenceMilliseconds,
      connect: { timeout: Math.min(CONNECT_MILLISECONDS, silenceMilliseconds) },
      // Proxies may refuse tunnels to servers that are not encrypted.
      proxyTunnel: false,
    });
  }

  /**
   * @param takes what becomes of the body, by the first lines of the reply: undefined: it is a text.
   * @throws what undici throws; what `takes` throws.
   */
  get(
    { url, headers }: Target,
    takes: (reply: Omit<Reply, 'text'>) => Take | undefined,
    mostTextBytes = MOST_ERROR_BYTES,
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      let reply: Omit<Reply, 'text'> = { status: 0, headers: {} };
      let take: Take | undefined;
      const text: Buffer[] = [];
      let textBytes = 0;
      const guarded = (controller: Dispatcher.DispatchController, call: () => void) => {
        try {
          call();
        } catch (error) {
          controller.abort(error as Error);
        }
      };
      this.#agent.dispatch(
        {
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: 'GET',
          headers: { 'user-agent': `pileshuf/${ownVersion()}`, 'accept-encoding': 'identity', ...headers },
        },
        {
          onRequestStart() {},
          onResponseStart(controller, status, raw) {
            const pairs = Object.entries(raw).map(([name, value]) => [name.toLowerCase(), String(value)]);
            reply = { status, headers: Object.fromEntries(pairs) };
            guarded(controller, () => {
              take = takes(reply);
            });
          },
          onResponseData(controller, chunk) {
            if (take !== undefined) return guarded(controller, () => take?.(chunk));
            // More is not needed, but the connection is, for the next request.
            if (textBytes < mostTextBytes) text.push(chunk);
            textBytes += chunk.byteLength;
            if (textBytes > 4 * mostTextBytes) controller.abort(new Error('the server sends an endless text'));
          },
          onResponseEnd() {
            resolve({ ...reply, text: Buffer.concat(text).toString() });
          },
          onResponseError(_, error) {
            reject(error);
          },
        },
      );
    });
  }
}
