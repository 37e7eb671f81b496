/** Where shuffled records go: the options that all commands share which write outputs. */
import type { Command } from 'commander';
import { type OutputCompression, type ShardRule, type ShuffleOptions, UsageError } from '../../index.js';
import { parseCompression, parseCount, parseOutput, parsePrefix } from '../option-value.js';
import { parseSize } from '../size.js';
import { onlyOne } from './only-one.js';

/** As commander collects them. */
export interface OutputOptionValues {
  readonly output?: string;
  readonly shards?: number;
  readonly shardRecords?: number;
  readonly shardBytes?: number;
  readonly compress?: OutputCompression;
  readonly prefix?: string;
  readonly force?: boolean;
}

export function declareOutputOptions(command: Command): void {
  const count = (option: string) => (text: string) => parseCount(text, option);
  command
    .option('-o, --output <PATH>', 'file, or directory for shards (default: standard output)', parseOutput)
    .option('--shards <N>', 'N shards whose record counts differ by at most one', count('--shards'))
    .option('--shard-records <N>', 'N records a shard, the last one fewer', count('--shard-records'))
    .option('--shard-bytes <SIZE>', 'equal shards of at most SIZE, no record cut', (text: string) =>
      parseSize(text, { option: '--shard-bytes' }),
    )
    .option(
      '--compress <CODEC>',
      'none, gzip or zstd, with a level as in zstd:9 (default: by the name of one output)',
      parseCompression,
    )
    .option('--prefix <NAME>', 'shards are NAME-00007-of-00128.EXT (default: shard)', parsePrefix)
    .option('--force', 'allow existing outputs to be replaced');
}

/** @throws UsageError where they contradict each other */
export function outputOptionsOf(
  values: OutputOptionValues,
): Pick<ShuffleOptions, 'output' | 'shards' | 'compress' | 'shardPrefix' | 'force'> {
  const { output, compress, prefix, force } = values;
  const shards = chooseShardRule(values);
  if (shards !== undefined && (output === undefined || output === '-')) {
    throw new UsageError('shards need a directory, not standard output: add --output DIR');
  }
  if (shards === undefined && prefix !== undefined) {
    throw new UsageError(
      '--prefix names shards, and none are asked for: add --shards, --shard-records or --shard-bytes, or leave it out',
    );
  }
  return { output, shards, compress, shardPrefix: prefix, force };
}

function chooseShardRule({ shards, shardRecords, shardBytes }: OutputOptionValues): ShardRule | undefined {
  const asked: (readonly [option: string, rule: ShardRule])[] = [];
  if (shards !== undefined) {
    asked.push(['--shards', { by: 'count', shardCount: shards }]);
  }
  if (shardRecords !== undefined) {
    asked.push(['--shard-records', { by: 'records', recordsPerShard: shardRecords }]);
  }
  if (shardBytes !== undefined) {
    asked.push(['--shard-bytes', { by: 'bytes', maxShardBytes: shardBytes }]);
  }
  return onlyOne(asked);
}
