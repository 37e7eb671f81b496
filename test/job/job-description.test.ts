/**
 * Whether an unfinished job is the requested one: each difference that decides the bytes or their place has its own
 * error message, and options that change only the speed may differ.
 */
import { mkdirSync, renameSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { InputError, UsageError } from '#src/errors.js';
import type { ShuffleOptions } from '#src/index.js';
import { describeJob, requireSameJob } from '#src/job/job-description.js';
import { completeShuffle } from '#src/job/request.js';
import { chooseSite } from '#src/job/site.js';
import { TempDisks } from '#src/job/temp-disks.js';
import { planShuffle } from '#src/job/work-plan.js';
import type { JobManifest } from '#src/job-directory/job-manifest.js';
import { DeviceGates } from '#src/machine/devices.js';
import { estimateInputs } from '#src/sources/estimate.js';
import { chooseInputIds } from '#src/sources/ids.js';
import { listInputs } from '#src/sources/list-inputs.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const SIZE = 20_000;
const TEXT = 'record\n'.repeat(SIZE / 7 + 1).slice(0, SIZE);
const path = (name: string) => directory.path(name);
const shardRule = { by: 'count', shardCount: 3 } as const;

beforeEach(() => {
  for (const name of ['t', 'u', 'out']) mkdirSync(directory.path(name));
  for (const name of ['a', 'b', 'c']) writeFileSync(directory.path(name), TEXT);
});

const optionsOf = (changed: Partial<ShuffleOptions>): ShuffleOptions => ({
  inputs: [directory.path('a'), directory.path('b')],
  output: directory.path('out', 'x'),
  tempDirs: [directory.path('t')],
  seed: 'seed',
  resume: true,
  ...changed,
});

async function jobOf(changed: Partial<ShuffleOptions>) {
  const request = completeShuffle(optionsOf(changed));
  const jobInputs = await listInputs(request.inputs, () => {});
  const places = chooseSite(request, jobInputs);
  if (places.kind !== 'files') return expect.fail('the output is a file');
  const inputIds = chooseInputIds(request.inputIds, jobInputs.inputs);
  return { request, inputs: jobInputs.inputs, inputIds, places };
}

async function manifestOf(changed: Partial<ShuffleOptions> = {}, isResumable = true): Promise<JobManifest> {
  const { request, inputs, inputIds, places } = await jobOf(changed);
  const disks = new TempDisks(places.tempDirs, new DeviceGates({}));
  const estimate = estimateInputs(inputs, request.spec.read.framing, 'draw');
  const plan = await planShuffle({
    request,
    inputs,
    estimate,
    disks,
    hasFiles: true,
    manifest: undefined,
    tuning: {},
  });
  return describeJob({ request, inputs, inputIds, plan: { ...plan, isResumable } }, places, true);
}

async function compare(manifest: JobManifest, changed: Partial<ShuffleOptions> = {}): Promise<void> {
  const { request, inputs, inputIds, places } = await jobOf(changed);
  await requireSameJob(manifest, { request, inputs, inputIds }, places, true);
}

describe('requireSameJob', () => {
  it('takes the same job, and what only decides how fast', async () => {
    const manifest = await manifestOf();
    const [a, b] = [directory.path('a'), directory.path('b')];
    for (const changed of [
      {},
      { memoryBytes: 2 ** 24 },
      { workers: 7 },
      { ioLimits: { [directory.path('t')]: 3 } },
      { maxRecordBytes: 1000 },
      { inputIds: 'ordinal' as const },
      { force: true },
      { keepTemp: true },
      { jobDir: directory.path('named') },
      { inputs: [{ path: a }, b] },
      { inputs: [`${directory.path()}/./a`, b] },
      { inputs: [`${directory.path()}/[ab]`] },
    ]) {
      await expect(compare(manifest, changed), JSON.stringify(changed)).resolves.toBeUndefined();
    }
  });

  it('takes the seed of the unfinished job when none is given', async () => {
    await expect(compare(await manifestOf(), { seed: undefined })).resolves.toBeUndefined();
    const drawn = await manifestOf({ seed: undefined });
    if (!('key' in drawn.spec)) return expect.fail('the spec of a shuffle has a seed');
    await expect(compare(drawn, { seed: undefined })).resolves.toBeUndefined();
    await expect(compare(drawn, { seed: drawn.spec.key.seed })).resolves.toBeUndefined();
    await expect(compare(drawn, { seed: 'other' })).rejects.toThrow(/another seed /);
  });

  it.each<[string, (path: (name: string) => string) => Partial<ShuffleOptions>, RegExp]>([
    ['the seed', () => ({ seed: 'other' }), /another seed \("seed", now "other"\); /],
    ['the delimiter', () => ({ zeroTerminated: true }), /another kind of records \(.*0a.*, now .*00.*\); /],
    ['the compression', () => ({ compress: { codec: 'gzip', level: 9 } }), /compression \(null, now "gzip 9"\); /],
    [
      'the program',
      () => ({ decompressProgram: ['cat', '-u'] }),
      /another program to decompress \(null, now \["cat","-u"\]\); /,
    ],
    ['unique', () => ({ unique: true }), /another rule for equal records \("all are kept", now "one is kept"\); /],
    ['shards', () => ({ shards: shardRule }), /another cut into shards \(null, now {"by":"count","shardCount":3}\); /],
    ['the output', (path) => ({ output: path('out/y') }), /another output \(".*\/out\/x", now ".*\/out\/y"\); /],
    [
      'the temp directories',
      (path) => ({ tempDirs: [path('u')] }),
      /another list of temp directories \(\[".*\/t"\], now/,
    ],
    ['the keys', () => ({ keys: 'ordinal' }), /another kind of keys \("position", now "ordinal"\); /],
    ['the head', () => ({ headCount: 5 }), /another number of records \("all", now 5\); /],
    [
      'the weights',
      () => ({ weights: [{ glob: '*', factor: 2 }] }),
      /another list of weights \("none", now \["\*=2"\]\); /,
    ],
    ['their order', (path) => ({ tempDirs: [path('u'), path('t')] }), /another list of temp directories /],
    ['the input ids', () => ({ inputIds: 'path' }), /another list of input ids \(null, now "[0-9a-f]{64}"\); /],
    ['the number of inputs', (path) => ({ inputs: [path('a')] }), /another number of inputs \(2, now 1\); /],
  ])('says that %s differ', async (_, changedOf, message) => {
    const manifest = await manifestOf();
    const compared = compare(
      manifest,
      changedOf((name) => directory.path(name)),
    );
    await expect(compared).rejects.toThrow(UsageError);
    await expect(compared).rejects.toMatchObject({ code: 'ERR_JOB_DIFFERS', message: expect.stringMatching(message) });
    await expect(compared).rejects.toThrow(
      /^the unfinished job in .*\.job started with .*; give the same to resume it, or `force` without `resume` to discard it$/,
    );
  });

  it('tells lists of input ids apart, and takes the same by whatever rule', async () => {
    const manifest = await manifestOf({ inputIds: ['a', 'b'] });
    await expect(compare(manifest, { inputIds: 'name' })).resolves.toBeUndefined();
    await expect(compare(manifest, { inputIds: ['b', 'a'] })).rejects.toThrow(/another list of input ids /);
  });

  const splits = [
    { name: 'a', share: 0.5 },
    { name: 'b', rest: true },
  ] as const;
  const byColumn = { splits, records: { by: 'csv' }, splitBy: 'csv:2', missing: 'x' } as const;
  const byField = { uniqueBy: '.u', missing: 'x' };

  it.each<[string, Partial<ShuffleOptions>, Partial<ShuffleOptions>, RegExp]>([
    [
      'the selector of splits',
      byColumn,
      { splitBy: 'csv:3' },
      /another selector of splits \({"field":"csv:2","missing":"x"}, now {"field":/,
    ],
    ['the kind of that selector', byColumn, { splitBy: '/(2)/i' }, /another selector of splits /],
    ['the value of records without one', byColumn, { missing: 'y' }, /another selector of splits /],
    ['splits by chance', byColumn, { splitBy: undefined, missing: undefined }, /selector of splits \(.*, now "none"\)/],
    [
      'the selector of equal records',
      byField,
      { uniqueBy: '.v' },
      /selector of equal records \({"field":".u","missing":"x"}, now {"field":".v","missing":"x"}\); /,
    ],
    ['the value of those without it', byField, { missing: undefined }, /another selector of equal records /],
    ['equal records of all bytes', { uniqueBy: '.u' }, { uniqueBy: undefined, unique: true }, /now "none"\); /],
    [
      'the number of shards',
      { shards: shardRule },
      { shards: { by: 'count', shardCount: 4 } },
      /another cut into shards \(.*"shardCount":3}, now /,
    ],
    [
      'the rule of shards',
      { shards: shardRule },
      { shards: { by: 'bytes', maxShardBytes: 3000 } },
      /another cut into shards \(.*"shardCount":3}, now /,
    ],
    [
      'a split',
      { splits },
      { splits: [{ name: 'a', share: 0.4 }, splits[1]] },
      /another list of splits \(.*"share":0.5.*, now .*"share":0.4.*\)/,
    ],
    ['their prefix', { shards: shardRule }, { shardPrefix: 'train' }, /another prefix \("shard", now "train"\)/],
  ])('of a job with options of its own says that %s differ', async (_, job, changed, message) => {
    const manifest = await manifestOf(job);
    await expect(compare(manifest, job)).resolves.toBeUndefined();
    await expect(compare(manifest, { ...job, ...changed })).rejects.toThrow(message);
  });
});

it('a sealed manifest with a foreign spec is told to be damaged', async () => {
  const manifest = await manifestOf();
  for (const spec of [
    {},
    { ...manifest.spec, read: null },
    { ...manifest.spec, keep: {} },
    { ...manifest.spec, key: {} },
  ]) {
    const compared = compare({ ...manifest, spec: spec as JobManifest['spec'] });
    await expect(compared).rejects.toThrow(/manifest is damaged: expected the spec of a shuffle in it; /);
  }
});

describe.each([true, false])('inputs that changed, of a job that can be resumed: %s', (isResumable) => {
  it.each<[string, () => void, RegExp]>([
    ['longer', () => truncateSync(path('b'), SIZE + 1), /its size was 20000 bytes and is 20001/],
    ['shorter', () => truncateSync(path('b'), SIZE - 1), /its size was 20000 bytes and is 19999/],
    ['touched', () => utimesSync(path('b'), 1, 2), /the time of its last change differs/],
    ['replaced', () => renameSync(path('c'), path('b')), /the time of its last change differs/],
  ])('are told: %s', async (_, change, message) => {
    utimesSync(path('b'), 1e9, 1e9);
    const manifest = await manifestOf({}, isResumable);
    await expect(compare(manifest)).resolves.toBeUndefined();
    change();
    const compared = compare(manifest);
    await expect(compared).rejects.toThrow(InputError);
    await expect(compared).rejects.toMatchObject({ code: 'ERR_INPUT_CHANGED' });
    await expect(compared).rejects.toThrow(isResumable ? message : /\(a size, a time or a name changed\)/);
    await expect(compared).rejects.toThrow(
      / changed since the unfinished job in .*\.job started \(.*\); give `force` without `resume` to start anew$/,
    );
    if (isResumable) await expect(compared).rejects.toThrow(new RegExp(`^${path('b')}: the input changed `));
  });

  it('are told by their order and their names', async () => {
    const manifest = await manifestOf({}, isResumable);
    for (const names of [
      ['b', 'a'],
      ['a', 'c'],
      ['a', 'a'],
    ]) {
      const compared = compare(manifest, { inputs: names.map(path) });
      await expect(compared).rejects.toMatchObject({ code: 'ERR_INPUT_CHANGED' });
    }
  });
});

describe('inputs of a job that can be resumed', () => {
  /** Changes a byte and gives the file its former time. */
  function overwrite(name: string, position: number): void {
    const { atime, mtime } = statSync(path(name));
    const bytes = Buffer.from(TEXT);
    bytes[position] = 0x21;
    writeFileSync(path(name), bytes);
    utimesSync(path(name), atime, mtime);
  }

  it('are told by their first and last bytes', async () => {
    utimesSync(path('b'), 1e9, 1e9);
    const manifest = await manifestOf();
    for (const position of [0, 4095, SIZE - 4096, SIZE - 1]) {
      overwrite('b', position);
      await expect(compare(manifest)).rejects.toThrow(/\/b: .* \(its first or last bytes differ\)/);
    }
    // What lies between is not read twice.
    overwrite('b', 10_000);
    await expect(compare(manifest)).resolves.toBeUndefined();
  });
});
