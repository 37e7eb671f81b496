/** Inputs on other machines: the same output as from local files, few requests, and one clear line for what fails. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type PileshufError, shuffle, shuffleTogether } from '#src/index.js';
import { errorOf } from '../fixtures/error-of.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { writeTable } from '../fixtures/tables.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { type AskedRequest, endObjectServers, type ObjectServer, startObjectServer } from './object-server.js';

const directory = useMemoryDirectory();

const lines = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => `{"of":"${name}","i":${i}}\n`).join('');

/** One is longer than a look, one is compressed, one has a name that must be escaped and is not a pattern, one is empty. */
const OBJECTS: Record<string, string | Uint8Array> = {
  'in/a.jsonl': lines('a', 9000),
  'in/b é+?#%2e[1]{*\n.jsonl': lines('b', 40),
  'in/c.jsonl.gz': gzipSync(lines('c', 500)),
  'in/sub/d.jsonl': '',
  'in/sub/e.jsonl': lines('e', 40),
  'in/_SUCCESS': '',
  'in/.tmp/f.jsonl': lines('f', 4),
};
const DATA = Object.keys(OBJECTS).filter((key) => !/_SUCCESS|tmp/.test(key));

const VARIABLES =
  'AWS_ENDPOINT_URL AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SHARED_CREDENTIALS_FILE AWS_CONFIG_FILE AWS_REGION HF_ENDPOINT HF_TOKEN HF_HOME'.split(
    ' ',
  );
let former: Record<string, string | undefined>;
let server: ObjectServer;

const options = (name: string) => ({
  output: directory.path(name),
  tempDirs: [directory.temp],
  seed: 's',
  workers: 2,
  memoryBytes: 64 << 20,
});
/** On the thread of the test. */
const SMALL = { inline: true };
const web = (key: string) => `${server.url}/${key.split('/').map(encodeURIComponent).join('/')}`;

afterAll(endObjectServers);
beforeEach(async () => {
  former = Object.fromEntries(VARIABLES.map((name) => [name, process.env[name]]));
  for (const name of VARIABLES) delete process.env[name];
  for (const [key, bytes] of Object.entries(OBJECTS)) {
    mkdirSync(dirname(directory.path(key)), { recursive: true });
    writeFileSync(directory.path(key), bytes);
  }
  server = await startObjectServer(OBJECTS, { pageKeys: 2 });
  process.env['AWS_ENDPOINT_URL'] = process.env['HF_ENDPOINT'] = server.url;
  process.env['AWS_SHARED_CREDENTIALS_FILE'] = process.env['AWS_CONFIG_FILE'] = directory.path('aws');
  process.env['HF_HOME'] = directory.path('hub');
});

afterEach(async () => {
  await server.close();
  for (const [name, value] of Object.entries(former)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

describe('a shuffle gives the bytes that it gives of local files', () => {
  let local = Buffer.alloc(0);
  beforeEach(async () => {
    if (local.byteLength > 0) return;
    await shuffle({ ...options('local'), inputs: [directory.path('in')] }, SMALL);
    local = readFileSync(directory.path('local'));
  });

  const outputOf = async (inputs: string[], more = {}) => {
    await shuffle({ ...options('far'), inputs, ...more }, SMALL);
    return readFileSync(directory.path('far'));
  };

  it('from several places, as a list names them, and a disk', async () => {
    const [first = '', ...others] = DATA;
    const far = [
      web(DATA[1] ?? ''),
      's3://bucket/in/c.jsonl.gz',
      `hf://datasets/owner/name/${DATA[3]}`,
      web(DATA[4] ?? ''),
    ];
    expect(others).toHaveLength(far.length);
    expect((await outputOf([directory.path(first), ...far])).equals(local)).toBe(true);
  });

  it('from a web server', async () => {
    expect((await outputOf(DATA.map(web))).equals(local)).toBe(true);
    const asked = await server.change();
    expect(asked.every(({ encoding, authorization }) => encoding === 'identity' && authorization === undefined)).toBe(
      true,
    );
    // One look at each, and what is beyond the look of the largest: everything is read once.
    expect(asked.length).toBeLessThanOrEqual(DATA.length + 4);
  });

  it('from a web server without ranges, whose replies are long', async () => {
    await server.change({ settings: { ranges: false } });
    // Slices of less than an object, if it could be cut.
    await shuffle({ ...options('far'), inputs: DATA.map(web) }, { ...SMALL, sliceBytes: 20_000 });
    expect(readFileSync(directory.path('far')).equals(local)).toBe(true);
    const asked = await server.change();
    // The long one is asked for by its look, which tries a range before, and to be read.
    expect(asked.length).toBeLessThanOrEqual(DATA.length + 3);
  });

  it('from S3, whose lists have pages, and whose questions are signed', async () => {
    process.env['AWS_ACCESS_KEY_ID'] = 'tester';
    process.env['AWS_SECRET_ACCESS_KEY'] = 'secret';
    await server.change({ settings: { secret: 'secret', region: 'eu-north-7' } });
    const warnings: string[] = [];
    expect(
      (await outputOf(['s3://bucket/in/'], { onWarning: (line: string) => warnings.push(line) })).equals(local),
    ).toBe(true);
    expect(warnings.filter((line) => line.startsWith('left'))).toEqual([
      'left out 2 hidden files and directories: s3://bucket/in/.tmp, s3://bucket/in/_SUCCESS; `hidden` takes them',
    ]);
  });

  it('from shards on S3, without a word about their marker', async () => {
    const shards = { 'out/.shard.complete.json': 'marker\n', 'out/shard-00000-of-00001.jsonl': lines('a', 9) };
    const other = await startObjectServer({ ...shards, 'out/.x.complete.json': '' });
    process.env['AWS_ENDPOINT_URL'] = other.url;
    const warnings: string[] = [];
    await outputOf(['s3://bucket/out/'], { onWarning: (line: string) => warnings.push(line) });
    await other.close();
    expect(warnings.filter((line) => line.startsWith('left'))).toEqual([
      'left out 1 hidden file or directory: s3://bucket/out/.x.complete.json; `hidden` takes it',
    ]);
  });

  it.runIf(fromCi)('from a service of S3 that refuses to be asked for checksums', async () => {
    await server.change({ settings: { checksums: 'unknown' } });
    expect((await outputOf(['s3://bucket/in/'])).equals(local)).toBe(true);
  });

  it.runIf(fromCi)('from S3 at the place that the options name, which win over the environment', async () => {
    process.env['AWS_ACCESS_KEY_ID'] = 'tester';
    process.env['AWS_SECRET_ACCESS_KEY'] = 'secret';
    process.env['AWS_ENDPOINT_URL'] = 'http://127.0.0.1:1';
    await server.change({ settings: { secret: 'secret' } });
    const far = { endpoint: server.url, requesterPays: true };
    expect((await outputOf(['s3://bucket/in/'], far)).equals(local)).toBe(true);
    const payers = (await server.change()).map(({ payer }) => payer);
    expect(new Set(payers)).toEqual(new Set(['requester']));
    await server.change({ fault: { at: 'all', kind: 'silence' } });
    const stop = new AbortController();
    const waiting = errorOf(outputOf(['s3://bucket/in/'], { ...far, signal: stop.signal }));
    expect((await errorOf(outputOf(['s3://bucket/in/'], { endpoint: server.url }))).message).toMatch(
      /^another job of this process asks S3 with other options, such as `endpoint`;/,
    );
    stop.abort();
    expect((await waiting).code).toBe('ABORT_ERR');
  });

  it('from S3 whose lists are of the first version, and which refuses a range of an empty object and checksums', async () => {
    await server.change({ settings: { lists: 'first version', refusesEmpty: true, checksums: 'unknown' } });
    expect((await outputOf(['s3://bucket/in/'])).equals(local)).toBe(true);
    expect((await server.change()).filter(({ path }) => path.endsWith('/sub/d.jsonl'))).toEqual([]);
    await shuffle({ ...options('none'), inputs: ['s3://bucket/in/sub/d.jsonl'] }, SMALL);
    expect(readFileSync(directory.path('none'), 'utf8')).toBe('');
  });

  it('from the gateway of the Hub, whose storage has other tags, gets no signature, and gives addresses that expire', async () => {
    const endpoint = `${server.url}/owner`;
    process.env['AWS_ACCESS_KEY_ID'] = 'tester';
    process.env['AWS_SECRET_ACCESS_KEY'] = 'secret';
    await server.change({ settings: { secret: 'secret', gateway: '/owner', checksums: 'ignored', leaseUses: 1 } });
    const bytes = await outputOf(['s3://bucket/in/'], { endpoint, memoryBytes: 32 << 20 });
    expect(bytes.equals(local)).toBe(true);
    const storage = (await server.change()).filter(({ port }) => port === 'storage');
    expect(storage.length).toBeGreaterThan(DATA.length);
    expect(storage.every(({ authorization }) => authorization === undefined)).toBe(true);
  });

  it('from the Hub, whose storage gets no token, and whose addresses expire', async () => {
    process.env['HF_TOKEN'] = 'hf_secret';
    await server.change({ settings: { token: 'hf_secret', leaseUses: 1 } });
    expect((await outputOf(['hf://datasets/owner/name/in/'])).equals(local)).toBe(true);
    const storage = (await server.change()).filter(({ port }) => port === 'storage');
    expect(storage.length).toBeGreaterThan(DATA.length);
    expect(storage.every(({ authorization }) => authorization === undefined)).toBe(true);
  });

  it.runIf(fromCi)(
    'from the Hub, whose repository has another name now, and whose addresses expire under several requests',
    async () => {
      process.env['HF_TOKEN'] = 'hf_secret';
      const more = { 'in/a.jsonl': lines('a', 90_000) };
      writeFileSync(directory.path('in/a.jsonl'), more['in/a.jsonl']);
      await shuffle({ ...options('local'), inputs: [directory.path('in')], force: true }, SMALL);
      const settings = { token: 'hf_secret', isRenamed: true, leaseUses: 3, delayMilliseconds: 5 };
      await server.change({ settings }, more);
      const bytes = await outputOf(['hf://datasets/owner/former/in/'], { memoryBytes: 32 << 20 });
      expect(bytes.equals(readFileSync(directory.path('local')))).toBe(true);
    },
  );

  it('from mirrors, which give the same object other tags', async () => {
    await server.change({ settings: { mirrors: true } });
    expect((await outputOf(DATA.map(web))).equals(local)).toBe(true);
  });

  it.runIf(fromCi)('from a bucket of the Hub, which has no commits', async () => {
    process.env['HF_TOKEN'] = 'hf_secret';
    await server.change({ settings: { token: 'hf_secret' } });
    expect((await outputOf(['hf://buckets/owner/name/in/'])).equals(local)).toBe(true);
    // A redirect, a look, and the rest.
    await server.change({ fault: { at: 3, kind: 'changed' } });
    const job = errorOf(outputOf(['hf://buckets/owner/name/in/a.jsonl'], { force: true }));
    expect((await job).code).toBe('ERR_INPUT_CHANGED');
  });
});

it('a resumed job does not read finished slices again', async () => {
  const inputs = [web('in/a.jsonl')];
  const job = { ...options('far'), inputs, resume: true };
  const tuning = { sliceBytes: 100_000, mayUseRamPool: false, pileCount: 5, bufferBytes: 4096, inline: true };
  const stop = new AbortController();
  await errorOf(
    shuffle({ ...job, signal: stop.signal, onProgress: ({ phase }) => phase === 'shuffle' && stop.abort() }, tuning),
  );
  const readsEnd = ({ range }: AskedRequest) => Number(range?.split('-')[1]) > 131_071;
  expect((await server.change()).some(readsEnd)).toBe(true);
  await shuffle(job, tuning);
  // It only looks at the beginning, and at a sample.
  const again = await server.change();
  expect({ count: again.length, end: again.some(readsEnd) }).toEqual({ count: 2, end: false });
});

it('an object of S3 whose key has . and .. is not the one to which they lead', async () => {
  const key = 'x/../in/./b.txt';
  await server.change({}, { [key]: 'own\n', 'x/../../up.txt': 'up\n' });
  await shuffle({ ...options('far'), inputs: [`s3://bucket/${key}`] }, SMALL);
  expect(readFileSync(directory.path('far'), 'utf8')).toBe('own\n');
  const job = { ...options('far'), inputs: ['s3://bucket/x/'], hidden: true, force: true };
  expect((await errorOf(shuffle(job, SMALL))).message).toBe(
    's3://bucket/x/../../up.txt: its .. lead out of the bucket, where no service finds it; take another key',
  );
});

describe('what is read next comes before a reader asks for it', () => {
  const besides = async (job: Parameters<typeof shuffle>[0]) => {
    await server.change({ settings: { delayMilliseconds: 20 } });
    await shuffle({ ...job, workers: 1 }, SMALL);
    // Looks are several at a time, too.
    const rest = (await server.change()).filter(({ range = '' }) => !range.startsWith('bytes=0-'));
    return Math.max(...rest.map(({ beside = 0 }) => beside));
  };

  it('of the inputs that follow', async () => {
    const keys = Array.from({ length: 6 }, (_, i) => `many/${i}.jsonl`);
    await server.change({}, Object.fromEntries(keys.map((key) => [key, lines(key, 9000)])));
    expect(await besides({ ...options('far'), inputs: keys.map(web), memoryBytes: 128 << 20 })).toBeGreaterThan(1);
  });

  it('in large requests, though there are more inputs than blocks', async () => {
    const keys = Array.from({ length: 40 }, (_, i) => `many/${i}.jsonl`);
    const large = { 'large.jsonl': lines('large', 200_000) };
    await server.change({}, { ...Object.fromEntries(keys.map((key) => [key, lines(key, 10)])), ...large });
    await shuffle({ ...options('far'), inputs: ['large.jsonl', ...keys].map(web) }, SMALL);
    const ofLarge = (await server.change()).filter(({ path }) => path === '/large.jsonl');
    expect(ofLarge.length).toBeLessThanOrEqual(8);
  });

  it('of the ends of tables', async () => {
    const rows = Array.from({ length: 100 }, (_, i) => ({ text: `${i} ${'x'.repeat(2000)}`, number: i }));
    writeTable(directory.path('a.parquet'), rows);
    const keys = Array.from({ length: 4 }, (_, i) => `${i}.parquet`);
    await server.change({}, Object.fromEntries(keys.map((key) => [key, readFileSync(directory.path('a.parquet'))])));
    expect(await besides({ ...options('far.parquet'), inputs: keys.map(web) })).toBeGreaterThan(0);
  });
});

it('a job that waits for a silent server can be stopped', async () => {
  await server.change({ fault: { at: 'all', kind: 'silence' } });
  const job = { ...options('far'), inputs: ['s3://bucket/in/'], signal: AbortSignal.timeout(50) };
  expect((await errorOf(shuffle(job, SMALL))).code).toBe('ABORT_ERR');
});

describe('the bytes of objects of S3 are compared with their checksums', () => {
  const job = () => shuffle({ ...options('far'), inputs: ['s3://bucket/in/'], force: true }, SMALL);

  it.runIf(fromCi).each([
    [1e9, 'crc64nvme'],
    [10_000, 'crc32c'],
    [60_000, 'crc32'],
  ] as const)('of parts of %d bytes, %s: a flipped bit is not a success', async (sums, sumKind) => {
    await shuffle({ ...options('local'), inputs: [directory.path('in')] }, SMALL);
    const local = readFileSync(directory.path('local'));
    await server.change({ settings: { sums, sumKind } });
    await job();
    expect(readFileSync(directory.path('far')).equals(local)).toBe(true);
    const asked = await server.change();
    const heads = asked.filter(({ method }) => method === 'HEAD' && sums === 1e9);
    expect(new Set(heads.map(({ path }) => path)).size).toBe(heads.length);
    const codes = [];
    for (const [i, { method, range }] of asked.entries()) {
      if (method !== 'GET' || range === undefined) continue;
      await server.change({ fault: { at: i + 1, kind: 'flipped' } });
      codes.push(
        await job().then(
          () => 'success',
          ({ code }: PileshufError) => code,
        ),
      );
      await server.change({ fault: null });
      if (codes.at(-1) === 'success') expect(readFileSync(directory.path('far')).equals(local)).toBe(true);
    }
    expect(codes.filter((code) => code === 'ERR_INPUT_CHANGED').length).toBeGreaterThan(2);
  });

  it('in slices, which are read in any order', async () => {
    await server.change({ settings: { sums: 50_000, sumKind: 'crc32c' } });
    const sliced = () =>
      shuffle({ ...options('far'), inputs: ['s3://bucket/in/a.jsonl'], force: true }, { ...SMALL, sliceBytes: 7000 });
    await sliced();
    // Heads of objects are asked for meanwhile.
    const { length } = (await server.change()).filter(({ range }) => range !== undefined);
    await server.change({ fault: { of: 'GET', at: length, kind: 'flipped' } });
    expect(await errorOf(sliced())).toMatchObject({
      code: 'ERR_INPUT_CHANGED',
      message: expect.stringMatching(
        /^s3:\/\/bucket\/in\/a.jsonl: the bytes that arrived do not have the checksum that the service states; /,
      ),
    });
  });
});

it('a header with a flipped bit is not a success, though its bytes made room for others and came once more', async () => {
  const csv = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`csv/${i}.csv`, `number,of\n${i},csv\n`]));
  await server.change({ settings: { sums: 1e9, sumKind: 'crc64nvme' } }, csv);
  const job = () => {
    const more = { inputs: ['s3://bucket/csv/'], header: { lines: 1 }, force: true, memoryBytes: 8 << 20 };
    return shuffle({ ...options('far.csv'), ...more }, SMALL);
  };
  await job();
  const asked = await server.change();
  // The checksum of a small object comes with its first bytes.
  expect(asked.filter(({ method }) => method === 'HEAD')).toEqual([]);
  const first = asked.findIndex(({ range }) => range !== undefined);
  const last = asked.findLastIndex(({ path }) => path === asked[first]?.path);
  expect(last).toBeGreaterThan(first + 50);
  await server.change({ fault: { at: first + 1, kind: 'flipped' } });
  expect((await errorOf(job())).code).toBe('ERR_INPUT_CHANGED');
});

describe('one clear line', () => {
  const messageOf = async (input: string, more = {}) => {
    const { code, message } = await errorOf(shuffle({ ...options('far'), inputs: [input], ...more }, SMALL));
    return `${code} ${message.replaceAll(server.url, 'http://HOST')}`;
  };

  it.each([
    [
      'missing',
      'ERR_INPUT_MISSING the input http://HOST/missing does not exist (NoSuchKey: said by the test); check the address',
    ],
    [
      'private/in/a.jsonl',
      'ERR_INPUT_UNREADABLE cannot read http://HOST/private/in/a.jsonl: the server refuses it with status 401 (Unauthorized: said by the test); no credentials were given; put them into the address as https://NAME:PASSWORD@HOST/, or sign it',
    ],
    [
      'in/',
      'ERR_INPUT_UNREADABLE http://HOST/in/ ends as a directory does, and web servers do not list directories; name its files',
    ],
    [
      'missing?X-Amz-Signature=secret',
      'ERR_INPUT_MISSING the input http://HOST/missing does not exist (NoSuchKey: said by the test); check the address',
    ],
  ])('for a web server: %s', async (path, message) => {
    expect(await messageOf(`${server.url}/${path}`)).toBe(message);
  });

  const addresses = [
    [
      's3://bucket/in/*.jsonl',
      'ERR_INPUT_MISSING the input s3://bucket/in/*.jsonl does not exist (NoSuchKey: said by the test); addresses have no patterns; end the address of the directory with /, and give `include`',
    ],
    [
      's3://bucket/in*/',
      'ERR_OPTION s3://bucket/in*/: addresses have no patterns; end the address of the directory with /, and give `include`',
    ],
    [
      's3://bucket/up/./../../private/x',
      'ERR_OPTION s3://bucket/up/./../../private/x: its .. lead out of the bucket, where no service finds it; take another key',
    ],
    [
      'hf://datasets/owner/name/../x',
      'ERR_OPTION hf://datasets/owner/name/../x: . and .. are folded in addresses; write it without them',
    ],
    [
      'https://host/a/%2E./b?c',
      'ERR_OPTION https://host/a/%2E./b?c: . and .. are folded in addresses; write it without them',
    ],
    [
      's3://bucket',
      'ERR_OPTION s3://bucket is not an address of data; expected s3://BUCKET/KEY, or s3://BUCKET/ for all of it',
    ],
    [
      's3://bucket/none/',
      'ERR_INPUT_MISSING the directory s3://bucket/none/ holds no files; expected at least one: check the name',
    ],
    [
      's3://bucket/in',
      'ERR_INPUT_MISSING the input s3://bucket/in does not exist (NoSuchKey: said by the test); check the key; the address of a directory ends with /',
    ],
    [
      'hf://datasets/owner',
      'ERR_OPTION hf://datasets/owner is not an address of data; expected hf://datasets/OWNER/NAME/PATH or hf://buckets/OWNER/NAME/PATH',
    ],
  ] as const;
  it.each(sampled(addresses, 5))('for %s', async (address, message) => {
    expect(await messageOf(address)).toBe(message);
  });

  it.runIf(fromCi)('for credentials that may not read it, by their source', async () => {
    await server.change({ settings: { secret: 'secret' } });
    expect(await messageOf('s3://bucket/in/a.jsonl')).toContain('no credentials were found in the environment');
    process.env['AWS_ACCESS_KEY_ID'] = 'tester';
    process.env['AWS_SECRET_ACCESS_KEY'] = 'wrong';
    expect(await messageOf('s3://bucket/in/a.jsonl')).toContain(
      '(AccessDenied: said by the test); the credentials of the environment were tried',
    );
  });

  it.each([
    ['ftp://host', 'ERR_OPTION `endpoint` ftp://host is not an address; expected https://HOST'],
    [
      'https://name:word@host?key=word',
      'ERR_OPTION `endpoint` https://host holds more than a place; expected https://HOST, and keys as docs/OBJECT-STORAGE.md says',
    ],
  ])('for the endpoint %s', async (endpoint, message) => {
    expect(await messageOf('s3://bucket/in/', { endpoint })).toBe(message);
  });

  const answers = [
    ['403 InvalidObjectState', 'the object lies in an archive (Glacier); restore it first'],
    ['400 KMS.DisabledException', 'the object is encrypted with a KMS key that these credentials may not use'],
    ['403 RequestTimeTooSkewed', 'set the clock of this machine'],
    ['404 NoSuchBucket', 'check the name of the bucket'],
  ] as const;
  it.each(sampled(answers, 4, 1))('for S3 that answers %s', async (kind, advice) => {
    await server.change({ fault: { at: 'all', kind } });
    const message = await messageOf('s3://bucket/in/a.jsonl');
    expect(message.endsWith(`; ${advice}`)).toBe(true);
    expect(message).toMatch(new RegExp(`^ERR_INPUT_[A-Z]+ .*${kind.slice(4)}: said by the test`));
  });

  const NO_LIST =
    'the server answered with 200 and no list (expected ListBucketResult with IsTruncated); check the endpoint';
  const lists = [
    ['repeat', 'the list of the server does not come to an end: its pages repeat'],
    [{ text: '' }, NO_LIST],
    [{ text: '<!DOCTYPE html><p>Sign in' }, NO_LIST],
    [{ text: '<ListBucketResult><IsTruncated>false</IsTruncated><Contents>' }, NO_LIST],
    [{ text: '<ListBucketResult></ListBucketResult>' }, NO_LIST],
  ] as const;
  it.each(sampled(lists, 3))('for a list without an end: %j', async (kind, problem) => {
    await server.change({ settings: { lists: kind } });
    expect(await messageOf('s3://bucket/in/')).toBe(`ERR_INPUT_UNREADABLE cannot read s3://bucket/in/: ${problem}`);
  });

  it.runIf(fromCi)('for a page that is not of the Hub', async () => {
    process.env['HF_ENDPOINT'] = `${server.url}/in/a.jsonl?`;
    expect(await messageOf('hf://datasets/owner/name/in/')).toBe(
      'ERR_INPUT_UNREADABLE cannot read hf://datasets/owner/name/in/: the server answered with 200 and not with what the Hub says; check HF_ENDPOINT',
    );
  });

  it.runIf(fromCi)('for a signed address that has expired', async () => {
    await server.change({ fault: { at: 'all', kind: '403 AccessDenied' } });
    expect(await messageOf(`${web('in/a.jsonl')}?X-Amz-Signature=word`)).toMatch(
      /in\/a.jsonl: .*; the address was signed for a limited time; get a new one, and resume with it$/,
    );
  });

  it.runIf(fromCi)('for credentials that a redirect does not take along', async () => {
    const { host } = new URL(server.url);
    const message = await messageOf(`http://name:word@${host}/moved/in/a.jsonl`);
    expect(message).toMatch(
      /moved\/in\/a.jsonl: the server refuses it with status 401 .*; it is 127.0.0.1:\d+, to which the first host redirects and which gets no credentials of it; name the address there$/,
    );
    expect(message).not.toContain('word');
  });

  it.runIf(fromCi)('for rows of a server without ranges', async () => {
    await server.change(
      { settings: { ranges: false } },
      { 'a.parquet': Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(200_000)]) },
    );
    expect(await messageOf(web('a.parquet'))).toContain(
      'its server cannot send parts of it, which reading rows needs; download it to a disk first',
    );
  });

  it('for an output on another machine', async () => {
    expect(await messageOf(web('in/a.jsonl'), { output: 'https://host/out' })).toBe(
      'ERR_OUTPUT_PLACE the output https://host/out lies on a web server, from which pileshuf only reads; name a file, or s3://BUCKET/KEY',
    );
    expect(await messageOf(web('in/a.jsonl'), { output: 'hf://datasets/a/b' })).toMatch(
      /^ERR_OUTPUT_PLACE the output hf:.* only reads; write to a directory and upload it \(hf upload\)/,
    );
  });

  it.runIf(fromCi)('for aligned files', async () => {
    const together = [[web('in/a.jsonl'), web('in/sub/e.jsonl')]];
    const { code, message } = await errorOf(shuffleTogether({ together, output: directory.path('far') }));
    expect(`${code} ${message.replace(server.url, '')}`).toBe(
      'ERR_OPTION /in/a.jsonl lies on another machine, and this command reads local files; copy it to a disk first',
    );
  });

  it('for an input that changes while it is read', async () => {
    await server.change({ fault: { at: 2, kind: 'changed' } });
    expect(await messageOf(web('in/a.jsonl'))).toBe(
      'ERR_INPUT_CHANGED http://HOST/in/a.jsonl: the input changed during the job (it was written to or replaced); start again when nothing writes to it',
    );
  });
});
