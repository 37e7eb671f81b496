/** A question over HTTP, and its answer. */

/** The connections of each kind of client. */
export const CONNECTIONS_OF_HOST = 16;

export type Headers = Readonly<Record<string, string>>;

export interface Target {
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

export function targetAt(url: URL, headers: Headers): Target {
  return { server: url, path: url.pathname + url.search, headers };
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** The text that was not taken. */
  readonly text: string;
}

/** The place where the bytes of a body go, one after the other. */
export interface Body {
  /** Returns the room for the next bytes; empty: there is room for no more. */
  room(): Uint8Array;
  filled(count: number): void;
}
