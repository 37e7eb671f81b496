/**
 * Each request of a job fails once in each of the ways in which servers and networks do, and then all of them: the output
 * is that of local files, or there is one clear line. And all commands that read inputs read those on other machines.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { appendToStore, checkShuffled, previewShuffle, shuffle, shuffleStore, verifyPermutation } from '#src/index.js';
import { transferClient } from '#src/remote/transfer-client.js';
import { errorOf } from '../fixtures/error-of.js';
import { runClusterLocally } from '../fixtures/run-cluster.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { endObjectServers, type ObjectServer, startObjectServer } from './object-server.js';

const directory = useMemoryDirectory();

const lines = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => `{"of":"${name}","i":${i}}\n`).join('');
const OBJECTS: Record<string, string> = {
  'in/a.jsonl': lines('a', 9000),
  'in/b.jsonl': lines('b', 40),
};
const RECORDS = 9040;

const RETRY_POLICY = {
  totalMilliseconds: 10_000,
  firstPauseMilliseconds: 5,
  longestPauseMilliseconds: 50,
  silenceMilliseconds: 250,
};
const HASTY_POLICY = { ...RETRY_POLICY, totalMilliseconds: 150, silenceMilliseconds: 100 };

let server: ObjectServer;
let local = Buffer.alloc(0);
const options = (name: string) => ({
  output: directory.path(name),
  tempDirs: [directory.temp],
  seed: 's',
  workers: 2,
  memoryBytes: 64 << 20,
});
const SMALL = { inline: true };

afterAll(endObjectServers);
beforeAll(async () => {
  server = await startObjectServer(OBJECTS, { pageKeys: 1 });
});
afterAll(() => server.close());

beforeEach(async () => {
  await server.change({ fault: null, settings: { ranges: true } });
  process.env['AWS_ENDPOINT_URL'] = process.env['HF_ENDPOINT'] = server.url;
  // All tests have the same inputs.
  if (local.byteLength > 0) return;
  for (const [key, bytes] of Object.entries(OBJECTS)) {
    mkdirSync(dirname(directory.path(key)), { recursive: true });
    writeFileSync(directory.path(key), bytes);
  }
  await shuffle({ ...options('local'), inputs: [directory.path('in')] }, SMALL);
  local = readFileSync(directory.path('local'));
});
afterEach(() => {
  delete process.env['AWS_ENDPOINT_URL'];
  delete process.env['HF_ENDPOINT'];
});

const PASSING: readonly (string | number)[] = [
  'reset',
  'silence',
  'silence within',
  429,
  500,
  503,
  'short',
  'short, chunked',
  'long',
  'long, chunked',
  'other range',
];

const addresses = () => Object.keys(OBJECTS).map((key) => `${server.url}/${key}`);
/** All of them have the same reader: what is said of web servers in all ways is said of others in some. */
const PLACES = [
  { place: 'web', inputs: addresses, kinds: PASSING },
  { place: 's3://', inputs: () => ['s3://bucket/in/'], kinds: sampled(PASSING, 1, 0, 9) },
  { place: 'hf://', inputs: () => ['hf://datasets/owner/name/in/'], kinds: sampled(PASSING, 1, 3, 9) },
  { place: 'a server without ranges', inputs: addresses, kinds: ['reset', 'silence', 503, 'short'], ranges: false },
];

describe.each(PLACES)('inputs of $place', ({ inputs, kinds, ranges = true }) => {
  beforeEach(async () => {
    await server.change({ settings: { ranges } });
  });
  const job = async (name: string, retryPolicy = RETRY_POLICY) => {
    const retried: string[] = [];
    transferClient({ memoryBytes: 64 << 20, workers: 2, retryPolicy, onRetry: (line) => retried.push(line) });
    await shuffle({ ...options(name), inputs: inputs(), force: true }, SMALL);
    expect(readFileSync(directory.path(name)).equals(local)).toBe(true);
    return retried;
  };

  it.each(kinds)('%s once, at each request', async (kind) => {
    await job('far');
    const { length } = await server.change();
    const requests = Array.from({ length }, (_, i) => i + 1);
    // In CI the kinds take turns: each request meets one of them.
    const step = Math.min(kinds.length, 4);
    for (const at of sampled(requests, step, kinds.indexOf(kind), step)) {
      await server.change({ fault: { at, kind } });
      expect((await job('far')).length).toBeLessThanOrEqual(1);
    }
    expect(length).toBeGreaterThan(2);
  });

  it.each([...kinds, 403, 404])('%s for ever', async (kind) => {
    await server.change({ fault: { at: 'all', kind } });
    const { code, message } = await errorOf(job('far', HASTY_POLICY));
    expect(['ERR_INPUT_UNREADABLE', 'ERR_INPUT_MISSING']).toContain(code);
    expect(message).toMatch(/^(cannot read|the input) [^\n]+; [^\n]+$/);
  });
});

describe('inputs on other machines are read by', () => {
  const inputs = ['s3://bucket/in/'];

  it('tasks of a cluster', async () => {
    const { output, seed } = options('far');
    // Tasks learn it from the plan.
    delete process.env['AWS_ENDPOINT_URL'];
    await runClusterLocally({
      output,
      seed,
      inputs,
      tasks: 3,
      jobDir: directory.path('job'),
      endpoint: server.url,
      requesterPays: true,
    });
    expect((await server.change()).every(({ payer }) => payer === 'requester')).toBe(true);
    expect(readFileSync(directory.path('far')).equals(local)).toBe(true);
  });

  it('previews and checks', async () => {
    expect((await previewShuffle({ ...options('far'), inputs })).inputs.count).toBe(2);
    writeFileSync(directory.path('local'), local);
    expect((await verifyPermutation({ inputs, outputs: [directory.path('local')] })).isPermutation).toBe(true);
    expect((await checkShuffled({ inputs })).records).toBe(RECORDS);
  });

  it('a store', async () => {
    const store = directory.path('store');
    await appendToStore(store, { inputs });
    const { records } = await shuffleStore(store, { output: directory.path('far'), tempDirs: [directory.temp] });
    expect(records).toBe(RECORDS);
  });
});
