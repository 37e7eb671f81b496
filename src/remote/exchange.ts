/** A question over HTTP, and its answer. */

/** Of each kind of client. */
export const CONNECTIONS_OF_HOST = 16;

export type Headers = Readonly<Record<string, string>>;

export interface Target {
  readonly url: URL;
  readonly headers: Headers;
  /** Absent: GET. */
  readonly method?: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** What is sent; its length is among the headers. */
  readonly body?: Iterable<Uint8Array>;
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
