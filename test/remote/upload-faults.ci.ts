/**
 * Each request of an upload fails once in each of the ways in which servers and networks do, and then all of them: the
 * objects are whole, or there is one clear line, and no upload stays open.
 */
import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asJob } from '#src/floor/cleanup.js';
import { beginUpload, PartWriter } from '#src/remote/part-writer.js';
import { type RemoteObjectStore, remoteObjectStore } from '#src/remote/transfer-client.js';
import { PART_BYTES } from '#src/remote/transfer-pool.js';
import { errorOf } from '../fixtures/error-of.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { endObjectServers, type Fault, type ObjectServer, startObjectServer } from './object-server.js';

const directory = useMemoryDirectory();

const PART = 70_000;
const CONTENT = Buffer.alloc(3 * PART + 1000);
for (let i = 0; i < CONTENT.byteLength; i++) CONTENT[i] = (i * 7 + (i >> 8)) % 251;
const ADDRESS = 's3://bucket/out/1.bin';
const MARKER = 's3://bucket/out/_SUCCESS';
const GO_ON = () => {};

const RETRY_POLICY = {
  totalMilliseconds: 10_000,
  firstPauseMilliseconds: 5,
  longestPauseMilliseconds: 50,
  silenceMilliseconds: 100,
};

let server: ObjectServer;

afterAll(endObjectServers);
beforeAll(async () => {
  server = await startObjectServer({}, { leastPartBytes: PART, pageKeys: 2 });
});
afterAll(() => server.close());

beforeEach(() => {
  process.env['AWS_ENDPOINT_URL'] = server.url;
  return clear();
});
afterEach(() => {
  delete process.env['AWS_ENDPOINT_URL'];
});

/** A set of one object, as a job makes it: parts of a thread, one of a local file, the commit, and the marker. */
async function upload(outputs: RemoteObjectStore, onlyIfAbsent: boolean): Promise<void> {
  const path = directory.path('staged');
  writeFileSync(path, CONTENT);
  const uploadId = beginUpload(ADDRESS, GO_ON);
  try {
    const parts = new PartWriter(ADDRESS, uploadId, PART, GO_ON);
    for (const number of [1, 2, 3]) {
      parts.write(CONTENT.subarray((number - 1) * PART, number * PART), 0);
      parts.put(number, PART);
    }
    const last = await outputs.putFile(ADDRESS, uploadId, { number: 4, path, start: 3 * PART, byteLength: 1000 });
    const put = [...parts.waitForParts(), last];
    const listed = await outputs.parts(ADDRESS, uploadId);
    const tagged = put.map(({ number, tag }) => ({ number, tag }));
    if (listed !== undefined) expect(listed.map(({ number, tag }) => ({ number, tag }))).toEqual(tagged);
    await outputs.complete(ADDRESS, uploadId, put, onlyIfAbsent);
    await outputs.putText(MARKER, 'done', onlyIfAbsent);
  } catch (error) {
    await server.change({ fault: null });
    await outputs.abort(ADDRESS, uploadId);
    throw error;
  }
}

const textOf = async (path: string) => Buffer.from(await (await fetch(server.url + path)).arrayBuffer());

const retried: string[] = [];

/** All uploads of a test are by one transfer thread. */
function withOutputs(work: (outputs: RemoteObjectStore) => Promise<void>, retryPolicy = RETRY_POLICY): Promise<void> {
  const onRetry = (line: string) => retried.push(line);
  return asJob(() => work(remoteObjectStore({ memoryBytes: 256 << 20, workers: 2, retryPolicy, onRetry })));
}

async function open(): Promise<string[]> {
  await server.change({ fault: null });
  const xml = String(await textOf('/bucket?uploads'));
  return [...xml.matchAll(/<UploadId>([^<]*)</g)].map(([, id = '']) => id);
}

async function expectWhole(): Promise<void> {
  await server.change({ fault: null });
  expect((await textOf('/bucket/out/1.bin')).equals(CONTENT)).toBe(true);
  expect(String(await textOf('/bucket/out/_SUCCESS'))).toBe('done');
}

/** As before the first upload. */
async function clear(fault: Fault | null = null): Promise<void> {
  for (const id of await open()) await fetch(`${server.url}/bucket/out/1.bin?uploadId=${id}`, { method: 'DELETE' });
  for (const key of ['1.bin', '_SUCCESS']) await fetch(`${server.url}/bucket/out/${key}`, { method: 'DELETE' });
  await server.change({ fault });
  retried.length = 0;
}

/** The numbers of its requests; in CI, of some of them, and the kinds take turns. */
async function requestsOf(make: () => Promise<void>, turn: number): Promise<readonly number[]> {
  await clear();
  await make();
  const { length } = await server.change();
  expect(length).toBeGreaterThan(7);
  return sampled(
    Array.from({ length }, (_, i) => i + 1),
    4,
    turn,
    4,
  );
}

const PASSING = [
  'reset',
  'reset after the body',
  'lost answer',
  'silence',
  'silence after the work',
  'error in 200',
  409,
  429,
  500,
  503,
];
const FOR_GOOD = [400, 403, 404];
/** The work is done, and nobody hears of it. */
const UNHEARD: readonly (string | number)[] = ['lost answer', 'silence after the work'];

const ONE_LINE = /^cannot [^\n]+ the output s3:[^\n]+; [^\n]+$/;

describe.each(['none', 'any'])('over %s', (former) => {
  const onlyIfAbsent = former === 'none';
  const kinds = onlyIfAbsent ? PASSING : ['lost answer', 'error in 200', 503];

  it.each(kinds)('%s once, at each request', (kind) =>
    withOutputs(async (outputs) => {
      for (const at of await requestsOf(() => upload(outputs, onlyIfAbsent), kinds.indexOf(kind))) {
        await clear({ at, kind });
        await upload(outputs, onlyIfAbsent);
        expect(retried.length).toBeLessThanOrEqual(1);
        await expectWhole();
        // A creation without an answer leaves an upload whose id nobody has heard.
        expect((await open()).length).toBe(at === 1 && UNHEARD.includes(kind) ? 1 : 0);
      }
    }),
  );

  it.each(FOR_GOOD)('%s once, at each request', (kind) =>
    withOutputs(async (outputs) => {
      for (const at of await requestsOf(() => upload(outputs, onlyIfAbsent), FOR_GOOD.indexOf(kind))) {
        await clear({ at, kind });
        const failure = await upload(outputs, onlyIfAbsent).then(
          () => undefined,
          (error: Error) => error,
        );
        if (failure === undefined) await expectWhole();
        else expect(failure.message).toMatch(ONE_LINE);
        expect(await open()).toEqual([]);
      }
    }),
  );
});

const LASTING = ['reset', 'lost answer', 'silence', 'error in 200', 503, 403];
it.each(LASTING)('%s for ever, from each request on', (kind) =>
  withOutputs(
    async (outputs) => {
      for (const from of await requestsOf(() => upload(outputs, true), LASTING.indexOf(kind))) {
        await clear({ from, kind });
        const { code, message } = await errorOf(upload(outputs, true));
        expect(code).toBe('ERR_IO');
        expect(message).toMatch(ONE_LINE);
      }
    },
    { ...RETRY_POLICY, totalMilliseconds: 150 },
  ),
);

it('a server that is slow to take a part does not break it', () =>
  withOutputs(
    async (outputs) => {
      await server.change({ settings: { takesBytesOfSecond: 24 << 20 } });
      const uploadId = beginUpload(ADDRESS, GO_ON);
      const partBytes = 3 * PART_BYTES;
      const parts = new PartWriter(ADDRESS, uploadId, partBytes, GO_ON);
      parts.write(Buffer.alloc(partBytes, 1), 0);
      parts.put(1, partBytes);
      expect(parts.waitForParts().length).toBe(1);
      await outputs.abort(ADDRESS, uploadId);
      expect(retried).toEqual([]);
    },
    // The system takes some of it before the server does.
    { ...RETRY_POLICY, silenceMilliseconds: 700 },
  ));
