/**
 * The law of rules that meet: one of equal records is kept first; the value of the kept record chooses its split; the number in
 * it says how often it comes. The output is what docs/ORDER.md defines, for any settings, with exact counts.
 */
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import { namesBelow } from '../faults/resumable-job.js';
import { atScale, fromCi } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { anySettings, plainSettings, type Settings, tightOnThreads } from './any-settings.js';
import { keptOrder } from './kept-order.js';
import { SPLITS, SPLITS_BEGIN } from './reference-splits.js';
import { expectReport, type Job, shuffleToFile, shuffleToShards } from './shuffle-under-test.js';
import { identityOf } from './valued-records.js';
import { weightOfNumber } from './weighed-order.js';

const directory = useMemoryDirectory();

interface Line {
  readonly u: number;
  readonly s: number;
  readonly w: string;
}

interface Rules {
  readonly equal: 'bytes' | 'value';
  readonly split: 'none' | 'key' | 'value';
  readonly isWeighed: boolean;
  /** The weight of each input, repeated. */
  readonly factors: readonly string[] | undefined;
}

const WEIGHTS = ['0', '1', '0.5', '2.25', '0.001', '3', '1e0', '0.30000000000000004'];
const line = fc.record({ u: fc.nat({ max: 40 }), s: fc.nat({ max: 12 }), w: fc.constantFrom(...WEIGHTS) });
const rules: fc.Arbitrary<Rules> = fc
  .record({
    equal: fc.constantFrom<Rules['equal']>('bytes', 'value'),
    split: fc.constantFrom<Rules['split']>('none', 'key', 'value'),
    isWeighed: fc.boolean(),
    factors: fc.option(fc.shuffledSubarray(['0.5', '1', '2.25', '0.1'], { minLength: 1 }), { nil: undefined }),
  })
  .filter(({ split, isWeighed, factors }) => isWeighed || factors !== undefined || split === 'value');

const written = ({ u, s, w }: Line) => Buffer.from(`{"u":${u},"s":"s${s}","w":${w}}\n`);
const field = (name: 'u' | 's') => (record: Buffer) => identityOf(JSON.parse(record.toString())[name]);
const numberIn = (record: Buffer) => /"w":(.*)\}/.exec(record.toString())?.[1] ?? '';

function optionsOf({ equal, split, isWeighed }: Rules) {
  return {
    ...(equal === 'bytes' ? { unique: true } : { uniqueBy: '.u' }),
    ...(split === 'none' ? {} : { splits: SPLITS }),
    ...(split === 'value' ? { splitBy: '.s' } : {}),
    ...(isWeighed ? { weightBy: '.w' } : {}),
  };
}

function weightsOf({ isWeighed, factors }: Pick<Rules, 'isWeighed' | 'factors'>) {
  return (record: Buffer, ordinal: number) =>
    weightOfNumber(isWeighed ? numberIn(record) : '1', factors?.[ordinal % factors.length]);
}

function expectedOf(records: readonly (readonly Buffer[])[], { equal, split, ...weights }: Rules, seed: string) {
  const identity = equal === 'bytes' ? (record: Buffer) => record : field('u');
  return {
    kept: new Map(
      records
        .flat()
        .reverse()
        .map((record) => [identity(record).toString('latin1'), record]),
    ),
    outputs: keptOrder(
      records,
      {
        identityOf: identity,
        weightOf: weightsOf(weights),
        ...(split !== 'none' && { bounds: SPLITS_BEGIN }),
        ...(split === 'value' && { splitValueOf: field('s') }),
      },
      seed,
    ),
  };
}

const bytesOf = (records: readonly Buffer[]) => records.reduce((sum, { byteLength }) => sum + byteLength, 0);
const text = (records: readonly Buffer[]) => Buffer.concat(records).toString('latin1');

async function expectKept(
  lines: readonly (readonly Line[])[],
  given: Rules,
  seed: string,
  settings: Settings,
  headCount?: number,
): Promise<void> {
  const records = lines.map((each) => each.map(written));
  const { kept, outputs } = expectedOf(records, given, seed);
  const inputs = records.map((each) => Buffer.concat(each));
  const factors = given.factors && records.map((_, i) => given.factors?.[i % given.factors.length] ?? '');
  const asked: Job = { ...optionsOf(given), inputs, seed, settings, ...(factors && { factors }) };
  const all = records.flat();
  const ordered = outputs.flat();
  let report: Awaited<ReturnType<typeof shuffleToFile>>['report'];
  if (given.split === 'none') {
    const found = await shuffleToFile(directory, { ...asked, headCount });
    expect(found.bytes.toString('latin1')).toBe(text(ordered.slice(0, headCount)));
    expectReport(found.report, ordered.slice(0, headCount));
    ({ report } = found);
  } else {
    const found = await shuffleToShards(directory, asked, undefined);
    expect(found.shards.map((shard) => shard.toString('latin1'))).toEqual(outputs.map(text));
    expectReport(found.report, ordered);
    ({ report } = found);
  }
  expect(report.duplicates).toEqual({
    records: all.length - kept.size,
    bytes: bytesOf(all) - bytesOf([...kept.values()]),
  });
  if (!given.isWeighed && factors === undefined) return;
  const { groups = [] } = report;
  expect(groups.reduce((sum, { read }) => sum + read.records, 0)).toBe(all.length);
  expect(groups.reduce((sum, { weighed }) => sum + weighed.records, 0)).toBe(ordered.length);
  expect(groups.reduce((sum, { weighed }) => sum + weighed.bytes, 0)).toBe(bytesOf(ordered));
  for (const [i, { expected }] of groups.entries()) {
    const ofGroup = [...kept.values()].filter(
      (record) => factors === undefined || records[i]?.some((each) => each === record),
    );
    const parts = ofGroup.map((record) => weightsOf(given)(record, i));
    const sum = parts.reduce((all, { copies, chance }) => all + (BigInt(copies) << 64n) + chance, 0n);
    expect(expected.records).toBe(Number((sum + 2n ** 63n) >> 64n));
  }
}

describe('kept records', () => {
  it('come as often as their numbers say, in the splits of their values, whatever the settings', async () => {
    const inputs = fc.array(fc.array(line, { maxLength: 120 }), { minLength: 1, maxLength: 3 });
    const headCount = fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined });
    await fc.assert(fc.asyncProperty(inputs, rules, fc.string(), anySettings, headCount, expectKept), {
      numRuns: atScale(3, 13, 3000),
    });
  });

  it.runIf(fromCi)('are the same where piles are larger than the memory of a thread', async () => {
    const large = fc.integer({ min: 2000, max: 6000 }).map((count) =>
      [0, 1].map((input) =>
        Array.from({ length: count }, (_, i): Line => {
          const draw = (Math.imul(i + 7 * input, 0x9e3779b1) >>> 8) / 2 ** 24;
          return { u: draw < 0.2 ? i % 3 : Math.floor(draw * 5000), s: i % 40, w: WEIGHTS[i % 6] ?? '1' };
        }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(large, rules, fc.string(), tightOnThreads, (lines, given, seed, settings) =>
        expectKept(lines, given, seed, settings),
      ),
      { numRuns: atScale(1, 3, 400) },
    );
  });

  it('are those of a job without weights if each comes once', async () => {
    const lines = Buffer.from(
      Array.from({ length: 600 }, (_, i) => `{"u":${(i * i) % 97},"i":${i % 7},"w":1}\n`).join(''),
    );
    const asked = { inputs: [lines], seed: 'once', settings: plainSettings({ pileCount: 3, sliceBytes: 3000 }) };
    const shards = { by: 'bytes', maxShardBytes: 2000 } as const;
    for (const rule of [{ unique: true }, { uniqueBy: '.u' }]) {
      const once = await shuffleToShards(directory, { ...asked, ...rule }, shards);
      const weighed = await shuffleToShards(directory, { ...asked, ...rule, weightBy: '.w' }, shards);
      expect(weighed.shards).toEqual(once.shards);
      expect(weighed.report.duplicates).toEqual(once.report.duplicates);
    }
  });

  it.each([
    ['at its beginning', 0, 0],
    ['when it has made pile sets', 1, 0],
    ['when it has made pile sets, of which one is damaged later', 1, 1],
  ])('are the same when the job is stopped in the second scatter %s, and resumed', async (_, leastBytes, damaged) => {
    const lines = Array.from(
      { length: 4000 },
      (_, i) => `{"u":${(i * 7) % 900},"s":"s${i % 31}","w":${(i % 9) / 4}}\n`,
    );
    writeFileSync(directory.path('in'), lines.join(''));
    const job: ShuffleOptions & { output: string } = {
      inputs: [directory.path('in')],
      output: directory.path('out'),
      seed: 'r',
      uniqueBy: '.u',
      weightBy: '.w',
      resume: true,
      workers: 1,
      memoryBytes: 2 ** 26,
    };
    const tuning = { inline: true, pileCount: 8, bufferBytes: 700, sliceBytes: 20_000, mayUseRamPool: false };
    for (const resume of [undefined, true])
      await shuffle({ ...job, resume, output: directory.path('whole'), force: true }, tuning);
    const stop = new AbortController();
    let stopsLeft = 1;
    const stopped = shuffle(
      {
        ...job,
        signal: stop.signal,
        onProgress: ({ phase, bytesDone }) => {
          if (phase === 'measure' && bytesDone >= leastBytes && stopsLeft-- > 0) stop.abort();
        },
      },
      tuning,
    );
    await expect(stopped).rejects.toThrow(/interrupted|stopped|aborted/i);
    const names = namesBelow(directory.path());
    const committed = names.filter((name) => /set-\d+\.index$/.test(name)).length;
    expect(committed > Math.ceil(lines.join('').length / tuning.sliceBytes)).toBe(leastBytes > 0);
    const last = names.findLast((name) => name.endsWith('.0.pile')) ?? '';
    if (damaged > 0) truncateSync(directory.path(last), 1);
    const warnings: string[] = [];
    const report = await shuffle({ ...job, onWarning: (line) => warnings.push(line) }, tuning);
    expect(warnings).toEqual(damaged === 0 ? [] : [expect.stringMatching(/has 1 bytes, .*; this part is made again$/)]);
    expect(report.resumed?.pileSets).toBe(committed - damaged);
    expect(readFileSync(job.output, 'latin1')).toBe(readFileSync(directory.path('whole'), 'latin1'));
  });

  it.each([
    [
      '{"u":1,"w":"x"}\n',
      { weightBy: '.w' },
      /the record \{"u":1,"w":"x"\}\ufffd, kept of equal ones, has "x" as its weight/,
    ],
    ['{"u":1}\n', { weightBy: '.w' }, /kept of equal ones, has no field \.w; expected a JSON object that has it/],
    ['{"u":1}\n', { splits: SPLITS, splitBy: '.s' }, /kept of equal ones, has no field \.s/],
    ['{"u":1,"w":1}\n', { weightBy: '.w', repeat: true, headCount: 2 }, /`repeat` draws from records in memory/],
  ])('%j with %j is refused', async (content, more, message) => {
    writeFileSync(directory.path('in'), content);
    const asked = { inputs: [directory.path('in')], output: directory.path('parts'), uniqueBy: '.u' };
    await expect(shuffle({ ...asked, ...more }, { inline: true })).rejects.toThrow(message);
  });

  it('are read for their numbers alone: what is dropped may lack one', async () => {
    writeFileSync(directory.path('in'), '{"u":1,"w":2}\n{"u":1}\n');
    const asked = { inputs: [directory.path('in')], output: directory.path('out'), uniqueBy: '.u', weightBy: '.w' };
    expect((await shuffle({ ...asked, force: true }, { inline: true })).records).toBe(2);
  });
});
