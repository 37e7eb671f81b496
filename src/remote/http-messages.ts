/** A request over HTTP, and its reply. */

/** The most connections to a host, of each kind of client. */
export const CONNECTIONS_OF_HOST = 16;

export type Headers = Readonly<Record<string, string>>;

export interface HttpRequest {
  /** Scheme, host and port. */
  readonly server: URL;
  /** Path and query, as they are sent. `URL` would fold `a/../b` to `b`, which names another object. */
  readonly path: string;
  readonly headers: Headers;
  /** The method. Absent: GET. */
  readonly method?: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** The region in which S3 was asked for its bucket. */
  readonly region?: string;
  /** The bytes that are sent; their length is among the headers. */
  readonly body?: Iterable<Uint8Array>;
}

export function requestTo(url: URL, headers: Headers): HttpRequest {
  return { server: url, path: url.pathname + url.search, headers };
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** The body, unless a sink took it. */
  readonly text: string;
}

/** Takes the body of a reply, piece by piece. */
export interface BodySink {
  /** Returns the buffer for the next bytes; an empty one if no more are expected. */
  nextBuffer(): Uint8Array;
  markFilled(count: number): void;
}
