/** Outputs in object storage: the bytes of the same job on a disk, all or nothing, and a resumed job uploads no part again. */
import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type PileshufError, previewShuffle, type ShuffleOptions, type ShuffleProgress, shuffle } from '#src/index.js';
import { fileCalls } from '#src/io/file-calls.js';
import { outputAppearedError } from '#src/io/rename-and-sync.js';
import { TransferClient } from '#src/remote/transfer-client.js';
import { errorOf } from '../fixtures/error-of.js';
import { runClusterLocally, SMALL_TASKS } from '../fixtures/run-cluster.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { writeTable } from '../fixtures/tables.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { type AskedRequest, endObjectServers, type ObjectServer, startObjectServer } from './object-server.js';

const directory = useMemoryDirectory();
const PART = 64 * 1024;
const lines = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${name},${i},${'x'.repeat(i % 90)}\n`).join('');

/** Several piles and parts, on the thread of the test. */
const SMALL = { inline: true, partBytes: PART, pileCount: 7, bufferBytes: 4096, mayUseRamPool: false };

let server: ObjectServer;
const VARIABLES = ['AWS_ENDPOINT_URL', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
const former = VARIABLES.map((name) => [name, process.env[name]] as const);

afterAll(endObjectServers);
beforeEach(async () => {
  mkdirSync(directory.path('in'));
  writeFileSync(directory.path('in/a.csv'), `name,i,x\n${lines('a', 6000)}`);
  writeFileSync(directory.path('in/b.csv'), `name,i,x\n${lines('b', 50)}`);
  server = await startObjectServer({}, { secret: 'secret', leastPartBytes: PART, pageKeys: 3 });
  process.env['AWS_ENDPOINT_URL'] = server.url;
  process.env['AWS_ACCESS_KEY_ID'] = 'tester';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'secret';
});
afterEach(async () => {
  await server.close();
  for (const [name, value] of former) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

/** @param answer an error is thrown; undefined: the server is asked. @returns what undoes it. */
function replaceCall(call: string, answer: (address: string) => unknown): () => void {
  const ask = TransferClient.prototype.ask;
  const spy = vi.spyOn(TransferClient.prototype, 'ask').mockImplementation(async function (
    this: TransferClient,
    request,
  ) {
    const other = request.ask === 'object-store' && request.call === call ? answer(request.address) : undefined;
    if (other instanceof Error) throw other;
    return other ?? ask.call(this, request);
  });
  return () => spy.mockRestore();
}

type Asked = Partial<ShuffleOptions>;

const options = (output: string): ShuffleOptions => ({
  inputs: [directory.path('in')],
  records: { by: 'lines' },
  output,
  tempDirs: [directory.temp],
  seed: 's',
  workers: 2,
  memoryBytes: 64 << 20,
});

const digestOf = (bytes: Uint8Array) => hash('sha256', bytes);

/** Of a request that another program signs. */
const headersOf = (body: Uint8Array) => ({
  'x-amz-content-sha256': digestOf(body),
  'content-md5': hash('md5', body, 'base64'),
});

/** By name, the digests of the files of an output on this machine. */
function filesOf(path: string): Record<string, string> {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const places = files.map(({ name, parentPath }) => join(parentPath, name));
  return Object.fromEntries(places.map((place) => [place.slice(path.length + 1), digestOf(readFileSync(place))]));
}

/** What the server tells to everybody. */
async function looked<T>(look: (listOf: (query: string) => Promise<string[]>) => Promise<T>): Promise<T> {
  await server.change({ settings: { secret: undefined, pageKeys: 1000 } });
  const found = await look(async (query) => {
    const list = await (await fetch(`${server.url}/bucket?${query}`)).text();
    return [...list.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => decodeURIComponent(key));
  });
  await server.change({ settings: { secret: 'secret', pageKeys: 3 } });
  return found;
}

/** By name, the digests of the objects below an address. */
function objectsBelow(folder: string): Promise<Record<string, string>> {
  return looked(async (listOf) => {
    const found: Record<string, string> = {};
    for (const key of await listOf(`list-type=2&prefix=${encodeURIComponent(folder)}`)) {
      const reply = await fetch(`${server.url}/bucket/${encodeURIComponent(key)}`);
      found[key.slice(folder.length)] = digestOf(Buffer.from(await reply.arrayBuffer()));
    }
    return found;
  });
}

const openUploads = () => looked((listOf) => listOf('uploads'));

const SHARDS: Asked = { shards: { by: 'count', shardCount: 5 } };

it('names the memory that was given, and advises what uploads leave enough of', async () => {
  const output = 's3://bucket/small.csv';
  const error = await errorOf(shuffle({ ...options(output), memoryBytes: 8 << 20 }));
  expect(error.message).toBe(
    'a memory budget of 8388608 bytes is too small: expected at least 20M; give more with `memoryBytes`',
  );
  const [refused, planned] = await Promise.all([
    errorOf(previewShuffle({ ...options(output), memoryBytes: 19 << 20 })),
    previewShuffle({ ...options(output), memoryBytes: 20 << 20 }),
  ]);
  expect(refused.message).toContain('19922944 bytes is too small: expected at least 20M');
  expect(planned.memory).toMatchObject({ budgetBytes: 20 << 20, pass1: { transferBytes: 16 << 20 } });
  const budgets: unknown[] = [];
  const onProgress = ({ memory }: ShuffleProgress) => budgets.push(memory?.budgetBytes);
  await shuffle({ ...options(output), memoryBytes: 20 << 20, onProgress }, { inline: true });
  expect(new Set(budgets)).toEqual(new Set([20 << 20]));
});

describe('an output has the bytes that it has on a disk', () => {
  const cases: readonly (readonly [string, Asked])[] = [
    ['shards', SHARDS],
    ['as many shards as are smaller than a part', { shards: { by: 'count', shardCount: 30 } }],
    ['shards with a header', { ...SHARDS, header: { lines: 1 } }],
    ['compressed shards', { ...SHARDS, compress: { codec: 'gzip' } }],
    ['shards without equal records', { ...SHARDS, unique: true }],
    [
      'splits',
      {
        splits: [
          { name: 'train', share: 0.8 },
          { name: 'test', rest: true },
        ],
      },
    ],
    ['shards with a dataset card', { ...SHARDS, datasetCard: 'made by a test' }],
    [
      'shards for each value',
      { each: 'value=/,(.*)/', inputs: ['values.txt'], shards: { by: 'records', recordsPerShard: 40 } },
    ],
    ['draws', { ...SHARDS, repeat: true, headCount: 9000 }],
    ['shards without records', { ...SHARDS, headCount: 2 }],
    ['shards whose headers tell their length', { ...SHARDS, inputs: ['a.npy'], records: { by: 'npy' } }],
    ['shards of tables, which have an end', { ...SHARDS, inputs: ['a.parquet'] }],
  ];
  it.each(sampled(cases, 11, 2))('%s', async (_, { inputs: [name = 'in'] = [], ...asked }) => {
    writeFileSync(directory.path('a.npy'), npyOf(100_000));
    const values = ['a', 'a/b', '100%', 'é=', '', ' +'];
    writeFileSync(
      directory.path('values.txt'),
      Array.from({ length: 2000 }, (_each, i) => `${i},${values[i % 6]}\n`).join(''),
    );
    const rows = Array.from({ length: 6000 }, (_each, i) => ({ text: `${i} ${'x'.repeat(i % 90)}`, number: i }));
    writeTable(directory.path('a.parquet'), rows);
    const given = { ...asked, inputs: [directory.path(String(name))] };
    const local = await shuffle({ ...options(directory.path('out')), ...given }, SMALL);
    const report = await shuffle({ ...options('s3://bucket/a/out/'), ...given }, SMALL);
    expect(await objectsBelow('a/out/')).toEqual(filesOf(directory.path('out')));
    expect(report).toMatchObject({ checksum: local.checksum, records: local.records });
    expect(report.shards).toEqual(local.shards.map((path) => path.replace(directory.path('out'), 's3://bucket/a/out')));
    expect(await openUploads()).toEqual([]);
    expect(readdirSync(directory.temp)).toEqual([]);
  });

  const files: readonly (readonly [string, Asked])[] = [
    ['a file', {}],
    ['a compressed file', { compress: { codec: 'gzip' } }],
    ['a file with a header that tells its length', { records: { by: 'npy' }, inputs: [] }],
    ['nothing', { headCount: 0 }],
  ];
  it.each(sampled(files, 4, 2))('%s', async (_, asked) => {
    const inputs = asked.inputs === undefined ? undefined : [directory.path('a.npy')];
    if (inputs !== undefined) writeFileSync(directory.path('a.npy'), npyOf(40_000));
    const given = { ...asked, ...(inputs && { inputs }) };
    await shuffle({ ...options(directory.path('out.bin')), ...given }, SMALL);
    await shuffle({ ...options('s3://bucket/é+/out.bin'), ...given }, SMALL);
    const expected = digestOf(readFileSync(directory.path('out.bin')));
    expect(await objectsBelow('é+/')).toEqual({ 'out.bin': expected });
    expect(await openUploads()).toEqual([]);
  });

  it('shards, at a gateway that has a path, and keeps no words about objects', async () => {
    await server.change({ settings: { gateway: '/owner', checksums: 'ignored' } });
    const endpoint = `${server.url}/owner`;
    await shuffle({ ...options(directory.path('out')), ...SHARDS, datasetCard: true }, SMALL);
    const job = (asked: Asked) =>
      shuffle({ ...options('s3://bucket/out/'), ...SHARDS, endpoint, datasetCard: true, ...asked }, SMALL);
    await job({});
    expect(await errorOf(job({}))).toMatchObject({ code: 'ERR_OUTPUT_EXISTS' });
    await job({ force: true });
    await server.change({ settings: { gateway: undefined } });
    expect(await objectsBelow('out/')).toEqual(filesOf(directory.path('out')));
    expect(await openUploads()).toEqual([]);
  });

  it('of which hardly anything is written to a disk, if the job cannot be resumed', async () => {
    const written = vi.spyOn(fileCalls, 'write');
    await shuffle({ ...options('s3://bucket/out.csv') }, { ...SMALL, mayUseRamPool: true });
    const bytes = written.mock.results.reduce((sum, { value }) => sum + Number(value), 0);
    written.mockRestore();
    expect(bytes).toBeLessThan(PART / 8);
  });

  it.runIf(fromCi)('written by tasks of a cluster', async () => {
    const { inputs, seed } = options('');
    const asked = { inputs, seed, tasks: 3, ...SHARDS, header: { lines: 1 } };
    await shuffle({ ...options(directory.path('out')), ...SHARDS, header: { lines: 1 } }, SMALL);
    await runClusterLocally(
      { ...asked, output: 's3://bucket/out', jobDir: directory.path('job') },
      { tuning: { ...SMALL_TASKS, partBytes: PART } },
    );
    expect(await objectsBelow('out/')).toEqual(filesOf(directory.path('out')));
    expect(await openUploads()).toEqual([]);
  });
});

it.runIf(fromCi)(
  'shards for each value are resumed, wherever the job was stopped, and nothing else is left',
  async () => {
    const sections: Asked = { each: 'v=/,([1-4])?\\d*,/', missing: '' };
    const job = (folder: string, asked: Asked = {}) =>
      shuffle({ ...options(`s3://bucket/${folder}/`), ...sections, ...asked }, SMALL);
    await job('whole');
    const asked = await server.change();
    const expected = await objectsBelow('whole/');
    expect(Object.keys(expected)).toHaveLength(6);
    const count = (method: string) => asked.filter((each) => each.method === method).length;
    const stops = {
      parts: ['PUT', count('PUT') >> 1],
      commit: ['POST', (count('POST') * 3) >> 2],
      end: ['PUT', count('PUT')],
    };
    for (const [folder, [of, from]] of Object.entries(stops) as [string, [string, number]][]) {
      await server.change({ fault: { of, from, kind: 403 } });
      const error = await errorOf(job(folder, { resume: true }));
      expect(error, folder).toMatchObject({ code: 'ERR_IO', unfinishedJob: expect.anything() });
      await server.change({ fault: null });
      expect(await objectsBelow(`${folder}/.v.`)).toEqual({});
      const report = await job(folder, { resume: true });
      expect(report.resumed, folder).toBeDefined();
      expect(await objectsBelow(`${folder}/`)).toEqual(expected);
      expect(await openUploads()).toEqual([]);
      expect(readdirSync(directory.temp)).toEqual([]);
    }
  },
);

/** An array of 8-byte numbers. */
function npyOf(count: number): Buffer {
  const text = `{'descr': '<i8', 'fortran_order': False, 'shape': (${count},), }`.padEnd(117).concat('\n');
  const rows = Buffer.from(BigInt64Array.from({ length: count }, (_, i) => BigInt(i)).buffer);
  return Buffer.concat([Buffer.from('\x93NUMPY\x01\x00\x76\x00', 'latin1'), Buffer.from(text), rows]);
}

describe('an output that exists', () => {
  const job = (asked: Asked) => shuffle({ ...options('s3://bucket/out'), ...asked }, SMALL);

  it.runIf(fromCi)('is refused, and replaced with `force`, with shards that the new one does not have', async () => {
    await job(SHARDS);
    const before = await objectsBelow('out/');
    expect(await errorOf(job({ shards: { by: 'count', shardCount: 2 } }))).toMatchObject({
      code: 'ERR_OUTPUT_EXISTS',
      message: expect.stringContaining('s3://bucket/out holds shards already (shard-00000-of-00005.csv); give `force`'),
    });
    expect(await objectsBelow('out/')).toEqual(before);
    await job({ shards: { by: 'count', shardCount: 2 }, force: true });
    expect(Object.keys(await objectsBelow('out/')).toSorted()).toEqual([
      '.shard.complete.json',
      'shard-00000-of-00002.csv',
      'shard-00001-of-00002.csv',
    ]);
    await job({});
    expect(await errorOf(job({}))).toMatchObject({ code: 'ERR_OUTPUT_EXISTS' });
    await job({ force: true, seed: 'other' });
    expect(await openUploads()).toEqual([]);
  });
});

it.each(sampled([true, false], 2))(
  'is withdrawn when one of another job appears at the last moment: resume %s',
  async (resume) => {
    let completed = 0;
    const restore = replaceCall('complete', (address) =>
      completed++ === 0 ? outputAppearedError(address) : undefined,
    );
    const job = shuffle({ ...options('s3://bucket/out'), ...SHARDS, resume }, SMALL);
    const { code, unfinishedJob } = (await errorOf(job)) as PileshufError;
    restore();
    expect({ code, unfinishedJob }).toEqual({ code: 'ERR_OUTPUT_EXISTS', unfinishedJob: undefined });
    expect(await objectsBelow('out/')).toEqual({});
    expect(await openUploads()).toEqual([]);
    expect(readdirSync(directory.temp)).toEqual([]);
  },
);

it.runIf(fromCi)('is done already when its job is resumed, until somebody replaces an object', async () => {
  vi.stubEnv('XDG_STATE_HOME', directory.path('state'));
  const job = (asked: Asked) => shuffle({ ...options('s3://bucket/out/'), ...asked, resume: true }, SMALL);
  for (const [asked, name] of [
    [SHARDS, 'out/shard-00001-of-00005'],
    [{ output: 's3://bucket/one' }, 'one'],
  ] as const) {
    const { checksum } = await job(asked);
    expect(await job({ ...asked, tempDirs: [directory.path()] })).toMatchObject({ checksum, wasFinished: true });
    await looked(() =>
      fetch(`${server.url}/bucket/${name}`, {
        method: 'PUT',
        body: 'other',
        headers: headersOf(Buffer.from('other')),
      }),
    );
    expect(await errorOf(job(asked))).toMatchObject({ code: 'ERR_OUTPUT_EXISTS' });
  }
  vi.unstubAllEnvs();
});

describe('the bytes of an output are compared with what the service stored', () => {
  const job = (asked: Asked = {}) => shuffle({ ...options('s3://bucket/out/'), ...SHARDS, ...asked }, SMALL);

  it('by the CRC-32 of each part and of the whole object', async () => {
    await job();
    const asked = await server.change();
    const sent = asked.filter(({ method, path }) => /^P(UT|OST)$/.test(method) && !path.includes('uploads'));
    expect(sent.filter(({ path }) => path.includes('partNumber=')).length).toBeGreaterThan(4);
    expect(sent.filter(({ crc }) => crc === undefined)).toEqual([]);
  });

  it('so that a part with a flipped bit is sent again', async () => {
    await shuffle({ ...options(directory.path('out')), ...SHARDS }, SMALL);
    await server.change({ settings: { flips: 'part' } });
    await job();
    expect(await objectsBelow('out/')).toEqual(filesOf(directory.path('out')));
  });

  it('so that an object with a flipped bit is not a success', async () => {
    await server.change({ settings: { flips: 'object' } });
    expect(await errorOf(job())).toMatchObject({
      code: 'ERR_VERIFICATION',
      message: expect.stringMatching(
        /the output s3:.* has the checksum \S+, expected \S+; make it again with `force`$/,
      ),
    });
    await server.change({ settings: { flips: undefined } });
    await job({ force: true });
  });

  it.each(sampled(['ignored', 'unknown', 'of parts'], 3, 1))(
    'unless the service cannot: checksums are %s',
    async (checksums) => {
      await server.change({ settings: { checksums } });
      await job();
      expect(Object.keys(await objectsBelow('out/'))).toHaveLength(6);
    },
  );
});

describe('a job that fails', () => {
  const job = (asked: Asked) => shuffle({ ...options('s3://bucket/out/'), ...SHARDS, ...asked }, SMALL);
  /** Requests that send a part. */
  const partsIn = (asked: readonly { readonly method: string; readonly path: string }[]) =>
    asked.filter(({ method, path }) => method === 'PUT' && path.includes('partNumber=')).length;
  let whole: { readonly asked: readonly AskedRequest[]; readonly expected: Record<string, string> } | undefined;
  const wholeJob = async () => {
    if (whole !== undefined) return whole;
    await job({});
    whole = { asked: await server.change(), expected: await objectsBelow('out/') };
    await server.close();
    server = await startObjectServer({}, { secret: 'secret', leastPartBytes: PART, pageKeys: 3 });
    process.env['AWS_ENDPOINT_URL'] = server.url;
    return whole;
  };

  it('leaves nothing behind', async () => {
    const { asked } = await wholeJob();
    const at = asked.findLastIndex(({ path }) => path.includes('partNumber='));
    await server.change({ fault: { at: at - 1, kind: 403 } });
    expect(await errorOf(job({}))).toMatchObject({
      code: 'ERR_IO',
      message: expect.stringMatching(/^cannot write the output s3:[^\n]+; [^\n]+$/),
    });
    await server.change({ fault: null });
    expect(await objectsBelow('out/')).toEqual({});
    expect(await openUploads()).toEqual([]);
    expect(readdirSync(directory.temp)).toEqual([]);
  });

  it.runIf(fromCi)('is not believed if an object has another size', async () => {
    const restore = replaceCall('head', () => ({ byteLength: 1, tag: '' }));
    const { code, message } = await errorOf(job({}));
    restore();
    expect(`${code} ${message}`).toMatch(
      /^ERR_VERIFICATION verification failed: the output s3:.* has 1 byte, expected \d+ bytes; /,
    );
    await job({ force: true });
  });

  it.runIf(fromCi).each([
    ['is resumed, and uploads that nobody noted are aborted', false],
    ['is not resumed with parts that somebody replaced', true],
  ])('%s', async (_, isReplaced) => {
    const { asked, expected } = await wholeJob();
    const at = asked.findLastIndex(({ path }) => path.includes('partNumber='));
    await server.change({ fault: { at: at - 1, kind: 403 } });
    await errorOf(job({ resume: true }));
    await server.change({ fault: null, settings: { secret: undefined } });
    const list = await (await fetch(`${server.url}/bucket?uploads`)).text();
    const body = Buffer.alloc(PART);
    const headers = headersOf(body);
    for (const [, key = '', id = ''] of list.matchAll(/<Key>([^<]*)<\/Key><UploadId>([^<]*)</g)) {
      const upload = `${server.url}/bucket/${key}`;
      if (isReplaced) await fetch(`${upload}?partNumber=1&uploadId=${id}`, { method: 'PUT', body, headers });
      else await fetch(`${upload}?uploads`, { method: 'POST' });
    }
    await server.change({ settings: { secret: 'secret' } });
    if (isReplaced) {
      expect((await errorOf(job({ resume: true }))).message).toMatch(
        /: the upload of s3:.* is gone or has lost parts \(1\); give `force`/,
      );
      await job({ force: true });
    } else await job({ resume: true });
    expect(await objectsBelow('out/')).toEqual(expected);
    expect(await openUploads()).toEqual([]);
  });

  it('is resumed with the parts that are there', async () => {
    const { asked, expected } = await wholeJob();
    const at = asked.findLastIndex(({ path }) => path.includes('partNumber='));
    await server.change({ fault: { at: at - 1, kind: 403 } });
    const error = await errorOf(job({ resume: true }));
    expect(error).toMatchObject({ code: 'ERR_IO', unfinishedJob: expect.anything() });
    await server.change({ fault: null });
    expect(await openUploads()).not.toEqual([]);
    const report = await job({ resume: true });
    expect(report.resumed?.outputBytes).toBeGreaterThan(0);
    expect(partsIn(await server.change())).toBeLessThan(partsIn(asked));
    expect(await objectsBelow('out/')).toEqual(expected);
    expect(await openUploads()).toEqual([]);
  });
});
