/** The SHA-256 beside outputs: `sha256sum -c` passes on every kind of output, and finds a byte that is not as written. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import { errorOf } from '../../fixtures/error-of.js';
import { runClusterLocally } from '../../fixtures/run-cluster.js';
import { writeTable } from '../../fixtures/tables.js';
import { useMemoryDirectory } from '../../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const out = (...names: string[]) => directory.path('out', ...names);
const hasSha256sum = spawnSync('sha256sum', ['--version']).status === 0;

function check(sums: string, cwd = dirname(sums)) {
  const { status, stdout, stderr } = spawnSync('sha256sum', ['-c', '--strict', sums], { cwd, encoding: 'utf8' });
  return { status, lines: stdout.trimEnd().split('\n').length, stderr };
}

beforeEach(() =>
  writeFileSync(
    directory.path('in.jsonl'),
    Array.from({ length: 900 }, (_, i) => `{"a":"v${i % 3}","n":${i}}\n`).join(''),
  ),
);

const job = ({ output = out(), ...asked }: Partial<ShuffleOptions>): ShuffleOptions & { readonly output: string } => ({
  inputs: [directory.path('in.jsonl')],
  tempDirs: [directory.temp],
  seed: 's',
  sums: true,
  ...asked,
  output,
});
const run = (asked: Partial<ShuffleOptions> = {}) => shuffle(job(asked));
const SHARDS = { shards: { by: 'count', shardCount: 3 } } as const;

describe.skipIf(!hasSha256sum)('sha256sum -c (skipped where there is no sha256sum)', () => {
  it.each<[string, Partial<ShuffleOptions>, string, number]>([
    ['one file', {}, 'out.sha256', 1],
    ['a file with an odd name', { output: 'a\\b\nc' }, 'a\\b\nc.sha256', 1],
    ['a compressed file', { compress: { codec: 'gzip' } }, 'out.sha256', 1],
    ['shards', SHARDS, 'out/SHA256SUMS', 3],
    ['shards, some of them empty', { ...SHARDS, headCount: 1 }, 'out/SHA256SUMS', 3],
    ['zstd shards', { ...SHARDS, compress: { codec: 'zstd' } }, 'out/SHA256SUMS', 3],
    ['shards with headers', { ...SHARDS, header: { lines: 1 } }, 'out/SHA256SUMS', 3],
    ['tables', { ...SHARDS, inputs: ['a.parquet'] }, 'out/SHA256SUMS', 3],
    [
      'splits',
      {
        splits: [
          { name: 'a', records: 3 },
          { name: 'b', rest: true },
        ],
      },
      'out/SHA256SUMS',
      2,
    ],
    ['sections', { each: '.a' }, 'out/SHA256SUMS', 3],
    ['draws', { repeat: true, headCount: 50 }, 'out.sha256', 1],
    ['a resumable job', { ...SHARDS, resume: true }, 'out/SHA256SUMS', 3],
  ])('passes on %s', async (_, { output = 'out', inputs: [name = 'in.jsonl'] = [], ...asked }, sums, lines) => {
    writeTable(
      directory.path('a.parquet'),
      Array.from({ length: 50 }, (_each, i) => ({ text: `${i}`, number: i })),
    );
    await run({ ...asked, inputs: [directory.path(String(name))], output: directory.path(output) });
    expect(check(directory.path(sums))).toEqual({ status: 0, lines, stderr: '' });
    expect(readdirSync(directory.temp)).toEqual([]);
  });

  it('finds a byte that is not as it was written', async () => {
    await run(SHARDS);
    const shard = out('shard-00001-of-00003.jsonl');
    const bytes = readFileSync(shard);
    bytes[5] = (bytes[5] ?? 0) ^ 1;
    writeFileSync(shard, bytes);
    expect(check(out('SHA256SUMS'))).toMatchObject({ status: 1, lines: 3 });
  });

  it('passes on the output of a job on several machines', async () => {
    const { tempDirs: _, ...asked } = job(SHARDS);
    await runClusterLocally({ ...asked, jobDir: directory.path('job'), tasks: 2 });
    expect(check(out('SHA256SUMS'))).toEqual({ status: 0, lines: 3, stderr: '' });
  });
});

describe('the SHA-256 of outputs', () => {
  it.each([
    [
      'one file',
      {},
      () => `${out()}.sha256`,
      () => `the output ${out()}.sha256 exists already; give \`force\` to replace it`,
    ],
    [
      'shards',
      SHARDS,
      () => out('SHA256SUMS'),
      () =>
        `the output directory ${out()} has a SHA256SUMS already; give \`force\` to replace it, or leave out \`sums\``,
    ],
  ])('are replaced with `force` alone: %s', async (_, asked, sums, message) => {
    if ('shards' in asked) mkdirSync(out());
    writeFileSync(sums(), 'mine');
    expect(await errorOf(run(asked))).toMatchObject({ code: 'ERR_OUTPUT_EXISTS', message: message() });
    await run({ ...asked, sums: false });
    expect(readFileSync(sums(), 'utf8')).toBe('mine');
    await run({ ...asked, force: true });
    expect(readFileSync(sums(), 'utf8')).toMatch(/^[0-9a-f]{64} {2}/);
  });

  it('go with the shards that they are of, and so does a card; files of others stay', async () => {
    await run({ ...SHARDS, datasetCard: true });
    await run({ ...SHARDS, sums: false, force: true });
    expect(readdirSync(out()).filter((name) => !name.includes('shard'))).toEqual([]);
    writeFileSync(out('README.md'), 'mine');
    writeFileSync(out('SHA256SUMS'), `${'0'.repeat(64)}  another\n`);
    await run({ ...SHARDS, sums: false, force: true });
    expect(readFileSync(out('README.md'), 'utf8')).toBe('mine');
    expect(readFileSync(out('SHA256SUMS'), 'utf8')).toContain('another');
  });

  it('are refused for a stream and for objects', async () => {
    const message = (path: string) =>
      `\`sums\` reads the output back when it is complete, and ${path} cannot be read back; expected a file or a directory on a disk as \`output\``;
    expect(await errorOf(run({ output: '/dev/null' }))).toMatchObject({ message: message('/dev/null') });
    expect(await errorOf(run({ output: 's3://b/k' }))).toMatchObject({ message: message('s3://b/k') });
  });
});
