/**
 * The dataset card of shards. The Hugging Face Hub and `load_dataset` read in its head which files are those of a
 * split. A number of examples stands there only if all loaders count alike: they fail if they find another.
 */
import { FIRST_BYTES_OF_CARDS, globOfShards } from '../../io/own-files.js';
import { ownVersion } from '../../io/shipped-files.js';
import type { ShuffleSpec } from '../../spec.js';
import { type OutputTotals, shardGroupsOf } from './commit-journal.js';
import { type Destination, shardsAt } from './destination.js';

/** Returns the text of the card. Undefined: the job makes none. */
export function cardText(to: Destination, spec: ShuffleSpec, totals: OutputTotals, shardCount: number) {
  const { read, write, key } = spec;
  if (write.card === undefined) return undefined;
  const { extension, sections, prefixes } = shardsAt(to).naming;
  const isSplit = totals.splits !== undefined && sections === undefined;
  const all = [{ prefix: prefixes[0] ?? '', shardCount, ...totals }];
  const splits = (isSplit ? shardGroupsOf(to, totals, shardCount) : all).map(({ prefix, ...rest }) => {
    const files = `${globOfShards([literal(prefix)])}${literal(extension)}`;
    return { name: isSplit ? prefix : 'train', files: sections === undefined ? files : `*/${files}`, ...rest };
  });
  // Some loaders pass over blank lines.
  const hasLines = read.skipsBlank === true && /^\.jsonl?\b/.test(extension);
  const areExamples = write.rows !== undefined || extension.startsWith('.tar') || hasLines;
  const counts = splits.map(({ name, records }) => `  - name: "${name}"\n    num_examples: ${records}\n`);
  return `${FIRST_BYTES_OF_CARDS}configs:
- config_name: default
  data_files:
${splits.map(({ name, files }) => `  - split: "${name}"\n    path: ${JSON.stringify(files)}\n`).join('')}${
  areExamples ? `dataset_info:\n  splits:\n${counts.join('')}` : ''
}---
# Shuffled by pileshuf ${ownVersion()}

The records of each split are in random order.
${[write.card, `seed ${JSON.stringify(key.seed)}`].map((words) => words && `\n    ${words.replaceAll(/\s*\n/g, '\n    ')}\n`).join('')}
| split | shards | records | bytes, decoded | checksum |
| --- | --- | --- | --- | --- |
${splits.map((split) => `| ${split.name} | ${split.shardCount} | ${split.records} | ${split.bytes} | ${split.checksum} |\n`).join('')}
\`pileshuf verify DIR\` compares the shards of a directory with these numbers.
`;
}

/** Returns the glob that matches a text alone. */
function literal(text: string): string {
  return text.replaceAll(/[*?[]/g, '[$&]');
}
