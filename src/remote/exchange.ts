/** A question over HTTP, and its answer. */

/** Of each kind of client. */
export const CONNECTIONS_OF_HOST = 16;

export type Headers = Readonly<Record<string, string>>;

export interface Target {
  /** Scheme, host and port. */
  readonly server: URL;
  /** Path and query, as they are sent. `URL` would fold `a/../b` to `b`, which names another object. */
  readonly path: string;
  readonly headers: Headers;
  /** Absent: GET. */
  readonly method?: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Where S3 was asked for its bucket. */
  readonly region?: string;
  /** What is sent; its length is among the headers. */
  readonly body?: Iterable<Uint8Array>;
}

export function targetAt(url: URL, headers: Headers): Target {
  return { server: url, path: url.pathname + url.search, headers };
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** Of what was not taken. */
  readonly text: string;
}

/** Where the bytes of a body go, one after the other. */
export interface Body {
  /** For the next bytes; empty: there is room for no more. */
  room(): Uint8Array;
  filled(count: number): void;
}
