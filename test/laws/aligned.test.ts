/**
 * The laws of aligned files: each member has its records in the order that the ordinals give, so records of one tuple stay
 * at one place, whatever the settings and whatever the records of each member are. All members appear, or none.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FramingSpec } from '#src/formats/framing-table.js';
import {
  PileshufError,
  type ShuffleTogetherOptions,
  type ShuffleTogetherReport,
  shuffle,
  shuffleTogether,
} from '#src/index.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { atScale, fromCi, sampled } from '../fixtures/scale.js';
import { npyHeaderOf } from '../formats/any-headers.js';
import { decodeWithTool } from '../formats/decode-with-tool.js';
import { splitPlainly } from '../formats/plain-framings.js';
import { anySettings, type Settings } from './any-settings.js';
import { encode } from './encodings.js';
import { useFastDirectory } from './fast-directory.js';
import { orderRecords } from './reference-order.js';

const directory = useFastDirectory();

/** The records of a member, of any tuple. */
interface Form {
  readonly name: string;
  readonly spec: FramingSpec;
  /** Whether its files are .npy. */
  readonly hasHeader?: true;
  record(i: number): string;
}

const LINES: Form = {
  name: 'en.txt',
  spec: { kind: 'lines', value: 1 },
  record: (i) => `${'word '.repeat(i % 5)}${i}\n`,
};
const FASTQ: Form = {
  name: 'reads_R1.fq',
  spec: { kind: 'lines', value: 4 },
  record: (i) => `@${i}\n${'A'.repeat(i % 9)}\n+\n${'F'.repeat(i % 9)}\n`,
};
const MATES: Form = {
  ...FASTQ,
  name: 'reads_R2.fq',
  record: (i) => `@${i} 2\nC${'A'.repeat(i % 4)}\n+\nF${'F'.repeat(i % 4)}\n`,
};
const ROWS: Form = {
  name: 'scores.npy',
  spec: { kind: 'size', value: 8 },
  hasHeader: true,
  record: (i) => Buffer.from(BigUint64Array.of(BigInt(i)).buffer).toString('latin1'),
};
const FORMS = [LINES, FASTQ, MATES, ROWS];

const rowsHeader = (rows: number) => npyHeaderOf('<u8', rows, []);

function fileOf(form: Form, first: number, count: number): Buffer {
  const records = Array.from({ length: count }, (_, i) => form.record(first + i)).join('');
  const body = Buffer.from(records, 'latin1');
  return form.hasHeader ? Buffer.concat([rowsHeader(count), body]) : body;
}

interface Aligned {
  /** The number of records of each tuple. */
  readonly counts: readonly number[];
  readonly forms: readonly Form[];
  readonly seed: string;
  readonly settings: Settings;
  readonly options?: Partial<ShuffleTogetherOptions>;
}

const bodyOf = (form: Form, bytes: Buffer) => (form.hasHeader ? bytes.subarray(rowsHeader(0).byteLength) : bytes);

/** Writes the tuples, each in a directory of its own. */
function writeTuples({ counts, forms, settings }: Pick<Aligned, 'counts' | 'forms' | 'settings'>): string[][] {
  rmSync(directory.path('in'), { recursive: true, force: true });
  return counts.map((count, tuple) => {
    mkdirSync(directory.path('in', String(tuple)), { recursive: true });
    const first = counts.slice(0, tuple).reduce((sum, each) => sum + each, 0);
    return forms.map((form, member) => {
      const path = directory.path('in', String(tuple), form.name);
      const encoding = settings.encodings[(tuple + member) % settings.encodings.length] ?? 'plain';
      writeFileSync(path, encode(fileOf(form, first, count), encoding));
      return path;
    });
  });
}

async function run({ settings, seed, options }: Aligned, together: string[][]): Promise<ShuffleTogetherReport> {
  const tempDirs = Array.from({ length: settings.tempDirCount }, (_, i) => directory.path('own-temp', String(i)));
  for (const path of tempDirs) mkdirSync(path, { recursive: true });
  const { memoryBytes, workers, tempCompress, tuning } = settings;
  const output = directory.path('out');
  rmSync(output, { recursive: true, force: true });
  const how = { together, output, seed, tempDirs, memoryBytes, workers, tempCompress };
  const report = await shuffleTogether({ ...how, ...options }, tuning);
  expect(tempDirs.flatMap((path) => readdirSync(path))).toEqual([]);
  expect(readdirSync(directory.path('.')).filter((name) => name.startsWith('.pileshuf'))).toEqual([]);
  return report;
}

/** What a member must have, without headers. */
function expectedOf(form: Form, { counts, seed, options }: Aligned): Buffer[] {
  const bodies = counts.map((count, tuple) => {
    const first = counts.slice(0, tuple).reduce((sum, each) => sum + each, 0);
    return splitPlainly(form.spec, bodyOf(form, fileOf(form, first, count)));
  });
  return orderRecords(bodies, seed, [], undefined, 'ordinal').slice(0, options?.headCount);
}

async function expectLaws(job: Aligned): Promise<void> {
  const report = await run(job, writeTuples(job));
  const { forms, options } = job;
  const shardCount = options?.shards?.by === 'count' ? Number(options.shards.shardCount) : undefined;
  for (const [i, form] of forms.entries()) {
    const files = report.members[i]?.files ?? [];
    const bytes = files.map((path) =>
      path.endsWith('.gz') ? decodeWithTool('gzip', readFileSync(path)) : readFileSync(path),
    );
    const records = expectedOf(form, job);
    const cut = (shard: number) => Math.floor((shard * records.length) / (shardCount ?? 1));
    const expected = Array.from({ length: shardCount ?? 1 }, (_, shard) =>
      Buffer.concat(records.slice(cut(shard), cut(shard + 1))).toString('latin1'),
    );
    expect(bytes.map((each) => bodyOf(form, each).toString('latin1'))).toEqual(expected);
    expect(report.records).toBe(records.length);
  }
  expect(readdirSync(directory.path('out'))).toHaveLength(report.members.flatMap(({ files }) => files).length);
}

const counts = fc.array(fc.nat({ max: 120 }), { minLength: 1, maxLength: 3 });
const forms = fc.shuffledSubarray(FORMS, { minLength: 2, maxLength: 3 });
const options = fc.record(
  {
    headCount: fc.nat({ max: 60 }),
    shards: fc.integer({ min: 1, max: 4 }).map((shardCount) => ({ by: 'count', shardCount }) as const),
    compress: fc.constant({ codec: 'gzip' } as const),
    resume: fc.boolean(),
  },
  { requiredKeys: [] },
);

describe('aligned files', () => {
  it('have their records at one place in all members, whatever the settings', async () => {
    const job = fc.record({ counts, forms, seed: fc.string(), settings: anySettings, options });
    await fc.assert(fc.asyncProperty(job, expectLaws), { numRuns: atScale(4, 13, 400) });
  });

  it.runIf(fromCi)('have them when large files are cut and threads share the work', async () => {
    const tuning: Tuning = {
      sliceBytes: 20_000,
      readBytes: 3000,
      pileCount: 9,
      bufferBytes: 500,
      pass2ArenaBytes: 2 ** 17,
    };
    for (const more of [{ inline: false, mayUseRamPool: false }, { inline: true }]) {
      const settings: Settings = {
        workers: 2,
        memoryBytes: 2 ** 24,
        tempDirCount: 2,
        encodings: ['plain', 'bgzf'],
        tuning: { ...tuning, ...more },
      };
      await expectLaws({
        counts: atScale([1500, 300], [1500, 300], [5000, 1000]),
        forms: [LINES, ROWS, FASTQ],
        seed: 's',
        settings,
      });
    }
  });
});

const SETTINGS: Settings = {
  workers: 1,
  memoryBytes: 2 ** 24,
  tempDirCount: 1,
  encodings: ['plain'],
  tuning: { inline: true },
};

const SPLITS = [
  { name: 'train', share: 0.7 },
  { name: 'validation', share: 0.2 },
  { name: 'test', rest: true },
] as const;

describe('splits of aligned files', () => {
  /** The job, and the same splits of each member in a shuffle of its own. */
  async function expectSplits(options: Partial<ShuffleTogetherOptions>, tuning: Tuning): Promise<void> {
    const forms = [LINES, FASTQ, ROWS];
    const job = { counts: [90, 0, 41], forms, seed: 's', settings: { ...SETTINGS, tuning }, options };
    const together = writeTuples(job);
    const { members, records } = await run(job, together);
    const named = readdirSync(directory.path('out')).sort();
    expect(named).toEqual(members.flatMap(({ files }) => files.map((path) => basename(path))).sort());
    for (const [member, form] of forms.entries()) {
      const alone = await shuffle({
        ...options,
        inputs: together.map((tuple) => tuple[member] ?? ''),
        keys: 'ordinal',
        seed: 's',
        output: directory.path('alone'),
        force: true,
        records: form === FASTQ ? { by: 'lines', linesPerRecord: 4 } : form === ROWS ? { by: 'npy' } : undefined,
      });
      const [stem = '', extension = ''] = form.name.split('.');
      const renamed = (path: string) => basename(path).replace(/^(\w+)-(.*-of-\d+)\..*$/, `$1.${stem}-$2.${extension}`);
      const bytesOf = (paths: readonly string[] = []) => paths.map((path) => readFileSync(path, 'base64'));
      const { splits, files } = members[member] ?? expect.fail();
      expect(files.map((path) => basename(path))).toEqual(alone.shards.map(renamed));
      expect(bytesOf(files)).toEqual(bytesOf(alone.shards));
      const said = splits?.map(({ shards, ...split }) => ({ ...split, shards: shards.map((path) => basename(path)) }));
      expect(said).toEqual(alone.splits?.map((split) => ({ ...split, shards: split.shards.map(renamed) })));
      expect(splits?.flatMap(({ shards }) => shards)).toEqual(files);
      expect(splits?.reduce((sum, split) => sum + split.records, 0)).toBe(records);
    }
    const sizes = members.map(({ splits }) => splits?.map((split) => split.records));
    expect(sizes).toEqual(sizes.map(() => sizes[0]));
  }

  const COUNTED = [
    { name: 'test', records: 30 },
    { name: 'train', rest: true },
  ] as const;

  it.each<[string, Partial<ShuffleTogetherOptions>]>(
    sampled(
      [
        ['shares', { splits: SPLITS }],
        ['exact numbers and shards of each', { splits: COUNTED, shards: { by: 'count', shardCount: { train: 3 } } }],
        ['shares of the first records', { splits: SPLITS, headCount: 60, resume: true }],
        ['shards by records', { splits: SPLITS, shards: { by: 'records', recordsPerShard: 20 } }],
        [
          'a split that gets nothing',
          {
            splits: [
              { name: 'a', share: 1e-9 },
              { name: 'b', rest: true },
            ],
          },
        ],
      ],
      2,
    ),
  )('are those of each member: %s', async (_, options) => {
    await expectSplits(options, { inline: true });
    if (!fromCi) return;
    const piles = { pileCount: 9, bufferBytes: 300, sliceBytes: 400 };
    await expectSplits(options, { inline: false, mayUseRamPool: false, ...piles });
  });
});

describe('the members of the output', () => {
  it.each<[Partial<ShuffleTogetherOptions>, string[], string[]]>([
    [{}, ['a.txt', 'b.txt.gz', 'c.text.xz'], ['a.txt', 'b.txt.gz', 'c.text']],
    [{ compress: 'none' }, ['a.txt', 'b.txt.gz'], ['a.txt', 'b.txt']],
    [{ compress: { codec: 'gzip' } }, ['a.txt', 'b.txt.gz', 'c.gzip'], ['a.txt.gz', 'b.txt.gz', 'c.gzip']],
    [{ shards: { by: 'count', shardCount: 1 } }, ['.a', 'b.txt.gz'], ['.a-00000-of-00001', 'b-00000-of-00001.txt']],
    [
      { shards: { by: 'records', recordsPerShard: 2 }, compress: { codec: 'gzip' } },
      ['a.b.c', 'a.npy.txt'],
      [
        'a.b-00000-of-00002.c.gz',
        'a.b-00001-of-00002.c.gz',
        'a.npy-00000-of-00002.txt.gz',
        'a.npy-00001-of-00002.txt.gz',
      ],
    ],
  ])('have the names of their files, with %j', async (given, names, expected) => {
    const tuple = names.map((name) => {
      writeFileSync(directory.path(name), '1\n2\n3\n');
      return directory.path(name);
    });
    const report = await run({ counts: [], forms: [], seed: '1', settings: SETTINGS, options: given }, [tuple]);
    expect(report.members.flatMap(({ files }) => files.map((path) => basename(path)))).toEqual(expected);
    expect(readdirSync(directory.path('out')).sort()).toEqual(expected.toSorted());
  });

  it.each([
    ['one tuple', [[3, 4]], 'a0 has 3 records and b0 has 4 records'],
    [
      'tuples whose sums agree',
      [
        [2, 3],
        [3, 2],
      ],
      'a0 has 2 records and b0 has 3 records',
    ],
  ])('do not appear when the counts differ in %s', async (_, pairs, problem) => {
    const together = pairs.map((pair, tuple) =>
      pair.map((count, member) => {
        const path = directory.path(`${'ab'[member]}${tuple}`);
        writeFileSync(path, 'x\n'.repeat(count));
        return path;
      }),
    );
    for (const resume of [false, true]) {
      const job = run({ counts: [], forms: [], seed: '1', settings: SETTINGS, options: { resume } }, together);
      const error = await job.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(PileshufError);
      expect(error).toMatchObject({ code: 'ERR_COUNTS_DIFFER', kind: 'input', unfinishedJob: undefined });
      expect(String(error).replaceAll(directory.path('x').slice(0, -1), '')).toContain(problem);
      expect(readdirSync(directory.path('.')).filter((name) => name === 'out' || name.startsWith('.pileshuf'))).toEqual(
        [],
      );
      expect(readdirSync(directory.path('own-temp', '0'))).toEqual([]);
    }
  });
});
