/**
 * From the header that all inputs have to what stands around the records of each shard.
 */
import type { Header } from '../../formats/header.js';
import { type HeaderSpec, headerRuleOf } from '../../formats/header-table.js';
import type { ShardEnds } from '../../output/shard-ends.js';

/** @param spec that `header` was read by. */
export function endsOfHeader(spec: HeaderSpec, header: Header): ShardEnds {
  const rule = headerRuleOf(spec);
  const headerOf = (recordBytes: number) => rule.headerOf(header, recordBytes);
  return { headerBytes: headerOf(0).byteLength, headerOf, trailer: rule.trailer };
}
