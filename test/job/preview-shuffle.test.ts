/**
 * A preview of jobs of every mode: its report fits the schema, its errors are those of the job, it holds no lock, and it
 * leaves every file as it is.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import { beforeEach, describe, expect, it } from 'vitest';
import { previewShuffle, type ShuffleOptions, shuffle, type Tuning } from '#src/index.js';
import { replaceFileCalls, systemFileCalls } from '#src/io/file-calls.js';
import { acquireJobLock } from '#src/job-directory/job-lock.js';
import { errorOf } from '../fixtures/error-of.js';
import { column, writeParquet } from '../fixtures/parquet/parquet-file.js';
import { useFileCalls } from '../fixtures/replaced-file-calls.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const MIB = 2 ** 20;
const GIB = 2 ** 30;
const schema = JSON.parse(readFileSync(new URL('../../examples/plan.schema.json', import.meta.url), 'utf8')) as object;
const validate = new Ajv({ strict: true }).compile(schema);

let rows = '';
const linesOf = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => `{"name":"${name}","n":${i}}\n`).join('');

beforeEach(() => {
  mkdirSync(directory.path('in'));
  writeFileSync(directory.path('in', 'a.jsonl'), linesOf('a', 3000));
  writeFileSync(directory.path('in', 'b.jsonl.gz'), gzipSync(linesOf('b', 5000)));
  rows = writeParquet(directory.path('rows'), { rows: 20, columns: [column('n', 'INT32', (i) => i)] });
});

const base = (): ShuffleOptions => ({
  inputs: [directory.path('in')],
  output: directory.path('out'),
  seed: '1',
  memoryBytes: 32 * MIB,
  workers: 2,
  tempDirs: [directory.temp],
});

function listing(path: string): string[] {
  const stat = lstatSync(path, { bigint: true });
  const own = `${path} ${stat.size} ${stat.mtimeNs} ${stat.mode}`;
  return stat.isDirectory() ? [own, ...readdirSync(path).flatMap((name) => listing(join(path, name)))] : [own];
}

async function preview(options: Partial<ShuffleOptions> = {}, tuning: Partial<Tuning> = {}) {
  const before = listing(directory.path());
  const report = await previewShuffle({ ...base(), ...options }, tuning);
  expect(listing(directory.path())).toEqual(before);
  // As a program reads it: without fields that are undefined.
  const json: unknown = JSON.parse(JSON.stringify(report));
  expect(validate(json), JSON.stringify(validate.errors)).toBe(true);
  return report;
}

const MODES: readonly (readonly [string, Partial<ShuffleOptions> & { readonly tuning?: Partial<Tuning> }])[] = [
  ['in memory', {}],
  ['in piles', { tuning: { mayUseRamPool: false, inline: false } }],
  ['a sample', { headCount: 10 }],
  ['no record', { headCount: 0 }],
  ['draws', { repeat: true, headCount: 100, memoryBytes: 64 * MIB }],
  ['unique', { unique: true }],
  [
    'splits',
    {
      splits: [
        { name: 'a', share: 0.9 },
        { name: 'b', rest: true },
      ],
    },
  ],
  ['weights', { weights: [{ glob: 'a.jsonl', factor: 2.5 }] }],
  ['shares', { mix: { unit: 'bytes', groups: [{ name: 'all', inputs: '**', share: 1 }] } }],
  ['shares of a field', { mix: { unit: '.n', total: 1000, groups: [{ name: 'all', inputs: '**', share: 1 }] } }],
  ['shards by count', { shards: { by: 'count', shardCount: 4 } }],
  ['shards by records', { shards: { by: 'records', recordsPerShard: 1000 } }],
  ['shards by bytes', { shards: { by: 'bytes', maxShardBytes: 10_000 } }],
  ['gzip', { compress: { codec: 'gzip' } }],
  ['compressed temp data', { tempCompress: { codec: 'zstd' }, tuning: { mayUseRamPool: false } }],
  ['a job to resume', { resume: true }],
  ['a stream', { output: '/dev/null' }],
  ['aligned records', { inputs: [], records: { by: 'lines', linesPerRecord: 2 } }],
  ['records in memory', { inputs: [{ records: ['a', 'b', 'c'] }] }],
  ['rows', { shards: { by: 'count', shardCount: 3 } }],
];

describe('a preview', () => {
  it.each(sampled(MODES, 4))('of %s fits the schema, and writes nothing', async (name, { tuning, ...options }) => {
    const inputs =
      name === 'aligned records' ? [directory.path('in', 'a.jsonl')] : name === 'rows' ? [rows] : undefined;
    await preview({ ...options, ...(inputs && { inputs }) }, tuning);
  });

  it('of streams and endless outputs says what is unknown', async () => {
    const ofStream = await preview({ inputs: ['-'], tempDirs: [directory.temp], output: '/dev/null' });
    expect(ofStream.inputs).toEqual({ count: 1, codecs: { stream: 1 } });
    expect([ofStream.temp.bytes, ofStream.output.bytes]).toEqual([undefined, undefined]);
    const endless = await preview({ repeat: true, memoryBytes: 64 * MIB, output: '/dev/null' });
    expect(endless.inputs.records?.expected).toBeGreaterThan(7000);
    expect(endless.output.records).toBeUndefined();
  });

  it('of draws that may not fit in memory says how much is enough', async () => {
    writeFileSync(directory.path('large.gz'), gzipSync(linesOf('c'.repeat(1000), 20_000), { level: 1 }));
    const draws = { inputs: [directory.path('large.gz')], repeat: true, headCount: 3, memoryBytes: 32 * MIB };
    const { advice } = await preview(draws);
    const { 1: enough } =
      /may not fit in memory twice, .*: `memoryBytes` (\d+)M is enough/.exec(advice[0]?.text ?? '') ?? [];
    await expect(shuffle({ ...base(), ...draws })).rejects.toThrow('these do not fit');
    const { records } = await shuffle({ ...base(), ...draws, memoryBytes: Number(enough) * MIB });
    expect(records).toBe(3);
  });

  it.each<Partial<ShuffleOptions>>([
    { weightBy: 'csv:w', records: { by: 'csv' }, header: { lines: 1 } },
    { weightBy: '/,(.*),/', header: { lines: 1 }, weightCap: '0.5' },
  ])('knows about how often numbers make records come: %j', async (options) => {
    const path = directory.path('numbers');
    writeFileSync(path, `i,w,t\n${Array.from({ length: 20_000 }, (_, i) => `${i},${(i % 9) / 4},x\n`).join('')}`);
    const { output } = await preview({ ...options, inputs: [path] });
    const { records } = await shuffle({ ...base(), ...options, inputs: [path] });
    expect((output.records?.expected ?? 0) / records).toBeCloseTo(1, 1);
  });

  it('does not know how often numbers of rows, or beside the data, make records come', async () => {
    mkdirSync(directory.path('beside', directory.path()), { recursive: true });
    writeFileSync(directory.path('beside', `${rows}.txt`), '2\n'.repeat(20));
    for (const options of [{ weightBy: '.n' }, { weightsFrom: directory.path('beside') }]) {
      const { inputs, temp, output } = await preview({ inputs: [rows], ...options });
      expect(inputs.records?.expected).toBe(20);
      expect([temp.bytes, output.records, output.bytes]).toEqual([undefined, undefined, undefined]);
    }
  });

  it('of nothing is one of nothing', async () => {
    writeFileSync(directory.path('empty'), '');
    const { inputs, output, temp } = await preview({ inputs: [directory.path('empty')] });
    expect([inputs.records, output.bytes, temp.bytes]).toEqual(Array(3).fill({ least: 0, expected: 0, most: 0 }));
  });

  it('does not claim to know how many records there are if it sees no end of one', async () => {
    writeFileSync(directory.path('long'), '');
    truncateSync(directory.path('long'), 400_000_000);
    const { inputs } = await preview({ inputs: [directory.path('long')] });
    expect(inputs.records).toMatchObject({ least: 1, expected: 1 });
    expect(inputs.records?.most).toBeGreaterThan(100);
  });

  it('counts the records of small plain inputs, with any bytes and without an end', async () => {
    writeFileSync(directory.path('bytes'), Buffer.from([0, 255, 10, 255, 10, 10, 0, 0]));
    const { output } = await preview({ inputs: [directory.path('bytes')] });
    expect([output.records?.expected, output.bytes?.expected]).toEqual([4, 9]);
    const { records } = (await preview({ inputs: [directory.path('bytes')], records: { by: 'size', recordBytes: 4 } }))
      .output;
    expect(records).toEqual({ least: 2, expected: 2, most: 2 });
  });

  it('counts the ends that inputs lack', async () => {
    writeFileSync(directory.path('open'), 'a\nb');
    const inputs = [directory.path('open'), directory.path('in', 'b.jsonl.gz')];
    const bytes = 4 + linesOf('b', 5000).length;
    const { output } = await preview({ inputs });
    expect(output.bytes).toEqual({ least: bytes, expected: bytes, most: bytes });
  });

  it('tells what an earlier attempt has done', async () => {
    await shuffle({ ...base(), keepTemp: true, tempDirs: [directory.path()] }, { mayUseRamPool: false });
    const kept = { tempDirs: [directory.path()], keepTemp: true, force: true, resume: true };
    const { resumed } = await preview(kept, { mayUseRamPool: false });
    expect(resumed?.pileSets).toBeGreaterThan(0);
    // Discards the kept job.
    await shuffle({ ...base(), tempDirs: [directory.path()], force: true }, { mayUseRamPool: false });
  });
});

describe('large inputs', () => {
  const fileCalls = useFileCalls();
  /** A file that is as long as that, and takes no space: its one record has no end. */
  const sparse = (byteLength: number) => {
    writeFileSync(directory.path('sparse'), '');
    truncateSync(directory.path('sparse'), byteLength);
    return [directory.path('sparse')];
  };
  const ofSparse = (factor: number) => ({ inputs: sparse(GIB), weights: [{ glob: 'sparse', factor }] });
  beforeEach(() => {
    fileCalls.replace({
      statFileSystem: (path) => ({ ...systemFileCalls.statFileSystem(path), blocks: 2 ** 40, bavail: 2 ** 40 }),
    });
  });

  it.each<readonly [boolean, string, () => Partial<ShuffleOptions>]>([
    [true, 'that is asked to', () => ({ resume: true })],
    [true, 'with a directory', () => ({ jobDir: directory.path('named'), tempDirs: [] })],
    [true, 'that is kept', () => ({ keepTemp: true })],
    [false, 'that is small', () => ({ force: true })],
    [true, 'of 32 GiB', () => ({ inputs: sparse(32 * GIB) })],
    // Sparse bytes look like records of 64 KiB, which take 12 bytes more each.
    [true, 'with 32 GiB of temp data', () => ({ inputs: sparse(32 * GIB - 5 * MIB) })],
    [false, 'of less', () => ({ inputs: sparse(32 * GIB - 7 * MIB) })],
    [false, 'into a stream', () => ({ inputs: sparse(64 * GIB), output: '/dev/null' })],
    [false, 'of a stream', () => ({ inputs: [...sparse(64 * GIB), '-'] })],
  ])('make a job that can be resumed: %s, one %s', async (isResumable, _, options) => {
    expect((await preview(options())).isResumable).toBe(isResumable);
  });

  it('take the space of all copies, and only of what is written', async () => {
    const { temp, output } = await preview(ofSparse(40.5));
    expect(output.bytes).toMatchObject({ least: 40 * GIB + 40, most: 41 * GIB + 41 });
    expect(temp.bytes?.expected).toBeGreaterThan(40.5 * GIB);
    const few = await preview(ofSparse(0.01));
    expect([few.output.bytes?.least, few.isResumable]).toEqual([0, false]);
    const inputs = [...sparse(GIB), directory.path('in', 'a.jsonl')];
    const none = await preview({ inputs, weights: [{ glob: 'sparse', factor: 0 }] });
    expect([none.slices, none.piles.stayInMemory, none.output.records?.expected]).toEqual([1, true, 3000]);
  });
});

describe('a preview that cannot be', () => {
  const refusalOf = async (call: Promise<unknown>) => {
    const { name, code, message } = await errorOf(call);
    return { name, code, message };
  };

  it.each<readonly [string, Partial<ShuffleOptions>]>([
    ['no inputs', { inputs: [] }],
    ['a missing input', { inputs: ['nowhere'] }],
    ['little memory', { memoryBytes: 1000 }],
    ['a missing directory of the output', { output: 'no/where/out' }],
    ['a missing temp directory', { tempDirs: ['no/where'] }],
    ['contradictions', { unique: true, keys: 'ordinal' }],
    ['draws without end', { repeat: true }],
    ['a directory without shards', { output: '/' }],
    ['shares that cannot be', { mix: { unit: 'bytes', total: 1e9, groups: [{ name: 'a', inputs: '**', share: 1 }] } }],
  ])('has the error of the job: %s', async (_, options) => {
    const job = { ...base(), ...options };
    expect(await refusalOf(previewShuffle(job))).toEqual(await refusalOf(shuffle(job)));
  });

  it('has it for an existing output, a foreign format, and a disk that is full', async () => {
    writeFileSync(directory.path('there'), 'data');
    writeFileSync(directory.path('parquet'), 'WARC/1.0');
    for (const options of [{ output: directory.path('there') }, { inputs: [directory.path('parquet')] }]) {
      const job = { ...base(), ...options };
      expect(await refusalOf(previewShuffle(job))).toEqual(await refusalOf(shuffle(job)));
    }
    const former = replaceFileCalls({
      ...systemFileCalls,
      statFileSystem: (path) => Object.assign(systemFileCalls.statFileSystem(path), { bavail: 3 }),
    });
    try {
      const refusal = await refusalOf(previewShuffle({ ...base(), inputs: [directory.path('in', 'a.jsonl')] }));
      expect(refusal).toMatchObject({ code: 'ERR_NO_SPACE', message: expect.stringContaining('not enough space') });
    } finally {
      replaceFileCalls(former);
    }
  });

  it('has it while another process works on the job, whose directory stays as it is', async () => {
    await shuffle({ ...base(), keepTemp: true, tempDirs: [directory.path()] }, { mayUseRamPool: false });
    const jobDirectory = readdirSync(directory.path()).find((name) => name.endsWith('.job')) ?? '';
    const job = { ...base(), tempDirs: [directory.path()], force: true };
    const lock = acquireJobLock(directory.path(jobDirectory));
    const before = listing(directory.path());
    try {
      // The process of the lock is this one, which a job may not ask; the message is the same.
      expect(await refusalOf(previewShuffle(job))).toMatchObject({ code: 'ERR_JOB_LOCKED' });
      expect(listing(directory.path())).toEqual(before);
    } finally {
      lock.release();
    }
    expect(await refusalOf(previewShuffle({ ...job, force: false }))).toMatchObject({ code: 'ERR_JOB_UNFINISHED' });
    await shuffle(job, { mayUseRamPool: false });
  });
});
