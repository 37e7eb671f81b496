/**
 * All rules of headers, by name, each made from one value that crosses threads.
 *
 * To add one: a file that exports a `HeaderRule`, or a function that makes one, and its line in `headers`.
 */
import type { HeaderRule } from './header.js';
import { bytesHeader } from './headers/bytes-header.js';
import { globalPax } from './headers/global-pax.js';
import { type LinesHeader, linesHeader } from './headers/lines-header.js';
import { npyHeader } from './headers/npy-header.js';

const headers = {
  lines: (lines: LinesHeader) => linesHeader(lines),
  /** Value: bytes of the header. */
  bytes: (byteLength: number) => bytesHeader(byteLength),
  npy: (_: null) => npyHeader,
  tar: (_: null) => globalPax,
} satisfies Record<string, (value: never) => HeaderRule>;

type Headers = typeof headers;

/** Plain data that names a rule of headers. */
export type HeaderSpec = {
  readonly [Kind in keyof Headers]: { readonly kind: Kind; readonly value: Parameters<Headers[Kind]>[0] };
}[keyof Headers];

export function headerRuleOf(spec: HeaderSpec): HeaderRule {
  const open: (value: never) => HeaderRule = headers[spec.kind];
  return open(spec.value as never);
}
