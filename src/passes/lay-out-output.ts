/**
 * Between the passes: what is known of the output now that all records have been seen.
 */
import { openEncoder } from '../formats/encoder-table.js';
import type { Header } from '../formats/header.js';
import { type HeaderSpec, headerRuleOf } from '../formats/record-format.js';
import type { JobRequest } from '../jobs/request.js';
import type { OutputLayout } from '../output/output-layout.js';
import { bytesAround, NO_ENDS, type ShardEnds, storedEnds } from '../output/output-layout.js';
import { planShardCuts, type ShardRequest } from '../plan/shard-cuts.js';
import type { ScatteredPiles } from './job-context.js';

/** One output is one shard of everything. */
const ONE_OUTPUT: ShardRequest = { by: 'count', shardCount: 1 };

/** @throws UsageError, InputError when it cannot be cut as it was asked for. */
export function layOutOutput({ shards, header, compression }: JobRequest, scattered: ScatteredPiles): OutputLayout {
  const ends = endsOfHeader(header, scattered.header);
  const cuts = planShardCuts(shards ?? ONE_OUTPUT, { ...scattered, bytesAround: bytesAround(ends) });
  const encoder = compression === undefined ? undefined : openEncoder(compression);
  return { cuts, ends: storedEnds(ends, encoder), recordBytes: scattered.bytes, compression };
}

/** @param spec that `header` was read by; both are undefined when the inputs have none. */
function endsOfHeader(spec: HeaderSpec | undefined, header: Header | undefined): ShardEnds {
  if (spec === undefined || header === undefined) return NO_ENDS;
  const rule = headerRuleOf(spec);
  const headerOf = (recordBytes: number) => rule.headerOf(header, recordBytes);
  return { headerBytes: headerOf(0).byteLength, headerOf, trailer: rule.trailer };
}
