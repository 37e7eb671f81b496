/**
 * From the header that all inputs have to what stands around the records of each shard.
 */
import type { Header } from '../../formats/header.js';
import { type HeaderSpec, headerRuleOf } from '../../formats/header-table.js';
import { NO_ENDS, type ShardEnds } from '../../output/shard-ends.js';

/** @param spec that `header` was read by; both are undefined when the inputs have none. */
export function endsOfHeader(spec: HeaderSpec | undefined, header: Header | undefined): ShardEnds {
  if (spec === undefined || header === undefined) return NO_ENDS;
  const rule = headerRuleOf(spec);
  const headerOf = (recordBytes: number) => rule.headerOf(header, recordBytes);
  return { headerBytes: headerOf(0).byteLength, headerOf, trailer: rule.trailer };
}
