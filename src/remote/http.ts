/**
 * Requests over HTTP, one exchange each. Proxies are those of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. Connections to
 * a host are bounded, as calls on a disk are: what comes beyond waits. Redirects are the caller's: only it knows which
 * credentials belong to which host.
 */
import { Readable } from 'node:stream';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Dispatcher } from 'undici';
import { ownVersion } from '../io/shipped-files.js';
import { type BodySink, CONNECTIONS_OF_HOST, type Headers, type HttpRequest, type Reply } from './http-messages.js';
import { RangeConnections } from './range-connections.js';
import { type RetryPolicy, type StallWatch, TransientError } from './retries.js';

const CONNECT_MILLISECONDS = 10_000;
/** The most bytes of a text that tells of an error. */
const MOST_ERROR_BYTES = 64 * 1024;

const PROXY_VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'];

/** Ask for the bytes as they are stored. */
const OWN_HEADERS = (): Headers => ({ 'user-agent': `pileshuf/${ownVersion()}`, 'accept-encoding': 'identity' });

interface SendOptions {
  readonly mostTextBytes?: number;
  /** Breaks the connection, whatever is under way. */
  readonly signal?: AbortSignal | undefined;
  /** Is told of the bytes of a text that is not a refusal. */
  readonly progress?: Pick<StallWatch, 'received'>;
}

export class HttpClient {
  readonly #silenceMilliseconds: number;
  #agent: Promise<Dispatcher> | undefined;
  readonly #rangeConnections: RangeConnections | undefined;
  #secureContext: () => SecureContext | undefined;

  /** @param certificates more trusted certificates, in PEM. */
  constructor(retryPolicy: Pick<RetryPolicy, 'silenceMilliseconds'>, certificates: () => string | undefined) {
    this.#silenceMilliseconds = retryPolicy.silenceMilliseconds;
    this.#secureContext = () => {
      const more = certificates();
      const secureContext = more === undefined ? undefined : createSecureContext();
      // Beside all others, whatever options of Node they come from; its list cannot be asked for before Node 22.
      secureContext?.context.addCACert(more);
      this.#secureContext = () => secureContext;
      return secureContext;
    };
    const hasProxy = PROXY_VARIABLES.some((name) => (process.env[name] ?? '') !== '');
    if (!hasProxy)
      this.#rangeConnections = new RangeConnections(retryPolicy, CONNECTIONS_OF_HOST, () => this.#secureContext());
  }

  /** Loads undici, which jobs that need only ranges do without. */
  async #makeAgent(): Promise<Dispatcher> {
    const { EnvHttpProxyAgent } = await import('undici');
    const silenceMilliseconds = this.#silenceMilliseconds;
    return new EnvHttpProxyAgent({
      connections: CONNECTIONS_OF_HOST,
      pipelining: 1,
      headersTimeout: silenceMilliseconds,
      bodyTimeout: silenceMilliseconds,
      connect: { timeout: Math.min(CONNECT_MILLISECONDS, silenceMilliseconds), secureContext: this.#secureContext() },
      // Proxies may refuse tunnels to servers that are not encrypted.
      proxyTunnel: false,
    });
  }

  /**

   * @throws what undici throws; what `takes` throws.
   */
  async getRange(request: HttpRequest, sinkFor: (reply: Omit<Reply, 'text'>) => BodySink | undefined): Promise<Reply> {
    const headers = { ...OWN_HEADERS(), ...request.headers };
    return (await this.#rangeConnections?.get({ ...request, headers }, sinkFor)) ?? this.send(request, sinkFor);
  }

  /** @param isData whether the reply is the data. */
  async open(
    { server, path, headers }: HttpRequest,
    isData: (reply: Omit<Reply, 'text'>) => boolean,
  ): Promise<Reply & { readonly pieces?: AsyncIterator<Uint8Array> }> {
    this.#agent ??= this.#makeAgent();
    const agent = await this.#agent;
    const options = { origin: server.origin, path, method: 'GET' } as const;
    const reply = await agent.request({ ...options, headers: { ...OWN_HEADERS(), ...headers } });
    const head = { status: reply.statusCode, headers: headersOf(reply.headers) };
    if (isData(head)) return { ...head, text: '', pieces: reply.body[Symbol.asyncIterator]() };
    return { ...head, text: await reply.body.text() };
  }

  async send(
    request: HttpRequest,
    sinkFor: (reply: Omit<Reply, 'text'>) => BodySink | undefined = () => undefined,
    { mostTextBytes = MOST_ERROR_BYTES, signal, progress }: SendOptions = {},
  ): Promise<Reply> {
    this.#agent ??= this.#makeAgent();
    const agent = await this.#agent;
    signal?.throwIfAborted();
    let stop = () => {};
    const whenAborted = () => stop();
    signal?.addEventListener('abort', whenAborted);
    const replied = new Promise<Reply>((resolve, reject) => {
      let reply: Omit<Reply, 'text'> = { status: 0, headers: {} };
      let sink: BodySink | undefined;
      const text: Buffer[] = [];
      let textBytes = 0;
      const guarded = (controller: Dispatcher.DispatchController, call: () => void) => {
        try {
          call();
        } catch (error) {
          controller.abort(error as Error);
        }
      };
      agent.dispatch(undiciRequest(request), {
        onRequestStart(controller) {
          stop = () => controller.abort(signal?.reason);
          if (signal?.aborted === true) stop();
        },
        onResponseStart(controller, status, raw) {
          reply = { status, headers: headersOf(raw) };
          guarded(controller, () => {
            sink = sinkFor(reply);
          });
        },
        onResponseData(controller, chunk) {
          const currentSink = sink;
          if (currentSink !== undefined) return guarded(controller, () => fill(currentSink, chunk));
          // More is not needed, but the connection is, for the next request.
          if (textBytes < mostTextBytes) text.push(chunk);
          textBytes += chunk.byteLength;
          if (reply.status === 200) guarded(controller, () => progress?.received(chunk.byteLength));
          if (textBytes > 4 * mostTextBytes) controller.abort(new Error('the server sends an endless text'));
        },
        onResponseEnd() {
          resolve({ ...reply, text: Buffer.concat(text).toString() });
        },
        onResponseError(_, error) {
          reject(error);
        },
      });
    });
    return replied.finally(() => signal?.removeEventListener('abort', whenAborted));
  }
}

function undiciRequest({ server, path, headers, method = 'GET', body }: HttpRequest): Dispatcher.DispatchOptions {
  const sent = body === undefined ? null : Readable.from(body);
  return { origin: server.origin, path, method, headers: { ...OWN_HEADERS(), ...headers }, body: sent };
}

function headersOf(raw: Readonly<Record<string, unknown>>): Headers {
  return Object.fromEntries(Object.entries(raw).map(([name, value]) => [name.toLowerCase(), String(value)]));
}

function fill(sink: BodySink, chunk: Uint8Array): void {
  for (let done = 0; done < chunk.byteLength; ) {
    const buffer = sink.nextBuffer();
    if (buffer.byteLength === 0) throw new TransientError('the server sent more than was asked for');
    const part = chunk.subarray(done, done + buffer.byteLength);
    buffer.set(part);
    sink.markFilled(part.byteLength);
    done += part.byteLength;
  }
}
