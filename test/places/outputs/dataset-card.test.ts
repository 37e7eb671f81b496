/** The dataset card beside shards: what its head says to loaders, what it must not say, and what it does not replace. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import { ownVersion } from '#src/io/shipped-files.js';
import { commandInProcess } from '../../fixtures/command-in-process.js';
import { errorOf } from '../../fixtures/error-of.js';
import { runClusterLocally } from '../../fixtures/run-cluster.js';
import { useMemoryDirectory } from '../../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const out = (...names: string[]) => directory.path('out', ...names);
const card = () => readFileSync(out('README.md'), 'utf8');
const headOf = (text: string) => text.split('---\n')[1];

beforeEach(() => writeFileSync(directory.path('in.jsonl'), '{"a":"x"}\n\n{"a":"y"}\n{"a":"y"}\n'));

const job = (asked: Partial<ShuffleOptions>): ShuffleOptions & { readonly output: string } => ({
  inputs: [directory.path('in.jsonl')],
  tempDirs: [directory.temp],
  seed: 's',
  workers: 1,
  datasetCard: true,
  ...asked,
  output: out(),
});
const run = (asked: Partial<ShuffleOptions>) => shuffle(job(asked), { inline: true });

const SHARDS = { shards: { by: 'count', shardCount: 2 } } as const;
const SPLITS = [
  { name: 'train', records: 3 },
  { name: 'v.1', rest: true },
] as const;

it('says which files are those of a split, and what is in them', async () => {
  const { splits = [] } = await run({
    splits: SPLITS,
    datasetCard: 'made\n so',
    seed: '"\n',
    compress: { codec: 'gzip' },
  });
  expect(card()).toBe(`---
# Made by pileshuf
configs:
- config_name: default
  data_files:
  - split: "train"
    path: "train-*-of-*.jsonl.gz"
  - split: "v.1"
    path: "v.1-*-of-*.jsonl.gz"
---
# Shuffled by pileshuf ${ownVersion()}

The records of each split are in random order.

    made
     so

    seed "\\"\\n"

| split | shards | records | bytes, decoded | checksum |
| --- | --- | --- | --- | --- |
${splits.map(({ name, records, bytes, checksum }) => `| ${name} | 1 | ${records} | ${bytes} | ${checksum} |\n`).join('')}
\`pileshuf verify DIR\` compares the shards of a directory with these numbers.
`);
});

it.each<[string, Partial<ShuffleOptions>, string, number | undefined]>([
  ['of lines, some of them blank', SHARDS, 'shard-*-of-*.jsonl', undefined],
  ['of lines, none of them blank', { ...SHARDS, skipBlank: true }, 'shard-*-of-*.jsonl', 3],
  [
    'whose prefix means something in a glob',
    { ...SHARDS, shardPrefix: '*[a]?' },
    '[*][[]a][?]-*-of-*.jsonl',
    undefined,
  ],
  ['of each value', { each: '.a', skipBlank: true }, '*/shard-*-of-*.jsonl', 3],
])('has one split for shards %s', async (_, asked, path, examples) => {
  await run(asked);
  const info =
    examples === undefined ? '' : `dataset_info:\n  splits:\n  - name: "train"\n    num_examples: ${examples}\n`;
  const files = `  data_files:\n  - split: "train"\n    path: "${path}"\n`;
  expect(headOf(card())).toBe(`# Made by pileshuf\nconfigs:\n- config_name: default\n${files}${info}`);
});

it('is replaced with `force` alone', async () => {
  mkdirSync(out());
  writeFileSync(out('README.md'), 'mine');
  expect(await errorOf(run(SHARDS))).toMatchObject({
    code: 'ERR_OUTPUT_EXISTS',
    message: `the output directory ${out()} has a README.md already; give \`force\` to replace it, or leave out \`datasetCard\``,
  });
  await run({ ...SHARDS, datasetCard: false });
  expect(card()).toBe('mine');
  expect(await errorOf(run(SHARDS))).toMatchObject({ message: expect.stringContaining('holds shards already') });
  await run({ ...SHARDS, force: true });
  expect(card()).toContain('configs:');
});

it('is the same of a job on several machines', async () => {
  await run(SHARDS);
  const local = card();
  const { workers: _, tempDirs: __, ...asked } = job({ ...SHARDS, force: true });
  await runClusterLocally({ ...asked, jobDir: directory.path('job'), tasks: 2 });
  expect(card()).toBe(local);
  expect(readdirSync(directory.temp)).toEqual([]);
});

it('has the command that made it', async () => {
  const words = ['in.jsonl', '-o', 'out', '--shards', '2', '--dataset-card', '--seed', 'a b'];
  expect(await commandInProcess(words, { cwd: directory.path() })).toMatchObject({ exitCode: 0 });
  expect(card()).toContain(
    '\n    pileshuf in.jsonl -o out --shards 2 --dataset-card --seed \'a b\'\n\n    seed "a b"\n',
  );
});

it('is refused beside one file', async () => {
  expect(await errorOf(run({}))).toMatchObject({
    message: '`datasetCard` describes shards: give `shards` or `splits`',
  });
});
