/** Objects of a list that are not looked at before the job: one request each, and no less is refused. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { shuffle } from '#src/index.js';
import { requireAsNamed } from '#src/sources/believed-names.js';
import { errorOf } from '../fixtures/error-of.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { type ObjectServer, startObjectServer } from './object-server.js';

const directory = useMemoryDirectory();
const COUNT = 60;
/** The first sixteen of an ending are looked at. */
const LAST = 'in/059.jsonl';
const keyOf = (i: number) => `in/${String(i).padStart(3, '0')}.jsonl`;
const textOf = (i: number) => Array.from({ length: 30 }, (_, k) => `{"of":${i},"i":${k}}\n`).join('');
const OBJECTS = Object.fromEntries(Array.from({ length: COUNT }, (_, i) => [keyOf(i), textOf(i)]));

let server: ObjectServer;

beforeEach(async () => {
  server = await startObjectServer(OBJECTS);
  vi.stubEnv('AWS_ENDPOINT_URL', server.url);
  for (const name of ['AWS_SHARED_CREDENTIALS_FILE', 'AWS_CONFIG_FILE']) vi.stubEnv(name, directory.path('aws'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

async function run({ objects = {}, settings = {} } = {}) {
  const warnings: string[] = [];
  await server.change({ settings }, objects);
  const options = { inputs: ['s3://bucket/in/'], output: directory.path('out'), seed: 's', memoryBytes: 64 << 20 };
  const running = shuffle(
    { ...options, tempDirs: [directory.temp], onWarning: (line) => warnings.push(line) },
    { inline: true },
  );
  const error = await errorOf(running).catch(() => undefined);
  const asked = (await server.change()).filter(({ path }) => path.includes('/in/'));
  return { error, asked, warnings };
}

const sortedOutput = () => readFileSync(directory.path('out'), 'utf8').split('\n').toSorted();
const sortedLines = (texts: readonly string[]) => texts.join('').split('\n').toSorted();

it('asks for most objects once, and for no checksum alone', async () => {
  const { error, asked } = await run();
  expect(error).toBeUndefined();
  expect(sortedOutput()).toEqual(sortedLines(Object.values(OBJECTS)));
  const looked = new Set(Array.from({ length: 16 }, (_, i) => `/bucket/${keyOf(i)}`));
  const others = asked.filter(({ path }) => !looked.has(path));
  expect(others.map(({ method }) => method)).not.toContain('HEAD');
  // Samples of a few are taken before the job.
  expect(others.length).toBeLessThanOrEqual(COUNT - 16 + 8);
});

it('looks at each object where lists say other versions than replies', async () => {
  const { error, asked } = await run({ settings: { mirrors: true, delayMilliseconds: 5 } });
  expect(error).toBeUndefined();
  expect(sortedOutput()).toEqual(sortedLines(Object.values(OBJECTS)));
  // Several at a time, also those that would have been believed.
  const later = asked.filter(({ path }) => path.endsWith('0.jsonl')).map(({ beside = 0 }) => beside);
  expect(Math.max(...later.slice(2))).toBeGreaterThan(3);
});

it('learns nothing from files without content', async () => {
  const names = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => `in/${String(from + i).padStart(3, '0')}.jsonl.gz`);
  const none = Object.fromEntries(names(100, 20).map((key) => [key, gzipSync('')]));
  const more = Object.fromEntries(names(200, 3).map((key) => [key, gzipSync(`"${key}"\n`)]));
  const { error } = await run({ objects: { ...none, ...more } });
  expect(error).toBeUndefined();
  expect(sortedOutput()).toEqual(
    sortedLines([...Object.values(OBJECTS), ...Object.keys(more).map((key) => `"${key}"\n`)]),
  );
});

it.each([
  [
    'gzip',
    gzipSync('{}\n'),
    'holds gzip data, and other files with such a name are not compressed; give it another ending',
  ],
  ['no JSON', '{"a":\n1}\n', 'the line at byte 0 is not a JSON value'],
  [
    'a pointer',
    'version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n',
    'is a Git LFS pointer, not the data',
  ],
  ['a table', 'PAR1\0\0\0\0PAR1', 'holds Parquet data, not lines'],
])('refuses an object that was not looked at and is %s', async (_, bytes, problem) => {
  const { error } = await run({ objects: { [LAST]: bytes } });
  expect(error?.message).toContain(`s3://bucket/${LAST}`);
  expect(error?.message).toContain(problem);
});

it('warns of a doubt about an object that was not looked at', async () => {
  const { warnings } = await run({ objects: { [LAST]: '"a\0b"\n' } });
  expect(warnings.join('\n')).toContain(`${LAST}: byte 2 is NUL`);
});

it('knows lz4 after a skippable frame that is longer than the first bytes', () => {
  const frame = Buffer.concat([Buffer.alloc(8 + 70_000), Buffer.from('04224d186440a7', 'hex')]);
  frame.writeUInt32LE(0x184d2a5f, 0);
  frame.writeUInt32LE(70_000, 4);
  const readAt = (position: number) => frame.subarray(position, position + 100);
  const first = { head: frame.subarray(0, 1000), isWhole: false, readAt };
  const format = { framing: undefined, header: undefined, linesAssumed: true };
  expect(requireAsNamed('s3://bucket/a.lz4', first, 'lz4', format)).toBeUndefined();
  expect(() => requireAsNamed('s3://bucket/a.zst', first, 'zstd', format)).toThrow('holds lz4 data');
});
