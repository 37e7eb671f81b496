/**
 * What docs/ORDER.md says of bundles, computed in the plainest way: gather the records of each value, key the values, sort
 * them, cut between them.
 */
import type { ShardRule } from '#src/index.js';
import { recordHash, recordKey } from '../workers/kernel/kernel-twin.js';
import { referenceShardBytes } from './reference-cuts.js';
import { keyOf } from './reference-order.js';
import { type CopiesAndChance, copiesAndChance } from './weighed-order.js';

export interface Bundle {
  readonly key: bigint;
  readonly identity: Buffer;
  readonly records: readonly Buffer[];
}

/** Returns the bundles in their order. */
export function bundlesInOrder(
  recordsOfInputs: readonly (readonly Buffer[])[],
  seed: string,
  identityOf: (record: Buffer) => Buffer,
  weightOf: (record: Buffer, ordinal: number) => CopiesAndChance = () => copiesAndChance('1'),
): Bundle[] {
  const ofBundles = keyOf(seed, 'groups', '');
  const bundles = new Map<string, { key: bigint; identity: Buffer; records: Buffer[] }>();
  for (const [ordinal, records] of recordsOfInputs.entries()) {
    for (const record of records) {
      const identity = identityOf(record);
      const name = identity.toString('latin1');
      const position = recordHash(identity);
      const bundle = bundles.get(name) ?? { key: recordKey(position, ofBundles), identity, records: [] };
      const { copies, chance } = weightOf(record, ordinal);
      if (copies + Number(recordKey(position, ofBundles, copies, 1) < chance) > 0) bundle.records.push(record);
      bundles.set(name, bundle);
    }
  }
  return [...bundles.values()]
    .filter(({ records }) => records.length > 0)
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : Buffer.compare(a.identity, b.identity)));
}

/** Returns the bundles of each shard. @param aroundBytes that a shard has besides its records. */
export function shardsOfBundles(bundles: readonly Bundle[], rule: ShardRule, aroundBytes: number): Bundle[][] {
  const total = bundles.reduce((sum, { records }) => sum + records.length, 0);
  const bytes = bundles.map(({ records }) => Buffer.concat(records).byteLength);
  const sizes =
    rule.by === 'bytes' ? referenceShardBytes(bytes, rule.maxShardBytes - aroundBytes, undefined, true) : [];
  const count = rule.by === 'bytes' ? sizes.length : rule.by === 'count' ? Number(rule.shardCount) : 1;
  const shards = Array.from({ length: count }, (): Bundle[] => []);
  let [rank, byte] = [0, 0];
  for (const [i, bundle] of bundles.entries()) {
    const before = (shard: number) => sizes.slice(0, shard).reduce((sum, size) => sum + size, 0);
    const cut = (shard: number) => (rule.by === 'bytes' ? before(shard) : Math.floor((shard * total) / count));
    const place = rule.by === 'bytes' ? byte : rank;
    shards[shards.findLastIndex((_, shard) => cut(shard) <= place)]?.push(bundle);
    rank += bundle.records.length;
    byte += bytes[i] ?? 0;
  }
  return shards;
}
