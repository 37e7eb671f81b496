/**
 * The law of weights by a number in each record: the output has the copies that docs/ORDER.md defines, in the order of their
 * keys, for any settings, wherever the number stands, times the factor of the input. Splits with shares have all copies of a
 * record together. A record without a number is an error with its place, or has the one that the job gives it.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatNpyHeader } from '#src/formats/headers/npy-header.js';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import { useFedPipes } from '../fixtures/fed-pipes.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { column, writeParquet } from '../fixtures/parquet/parquet-file.js';
import { atScale } from '../fixtures/scale.js';
import { useMemoryDirectory, useTestDirectory } from '../fixtures/temp-directory.js';
import { tarEntry } from '../formats/plain-tar.js';
import { anySettings, plainSettings } from './any-settings.js';
import { SPLITS, SPLITS_BEGIN } from './reference-splits.js';
import { expectReport, shuffleToFile, shuffleToShards } from './shuffle-under-test.js';
import { keyedCopies, orderCopies, weightOfDouble, weightOfNumber } from './weighed-order.js';

const directory = useMemoryDirectory();
const NUMBERS = [
  '0',
  '1',
  '2.5',
  '0.1',
  '1e0',
  '25e-1',
  '0.000000000000001',
  '0.0000000000000009',
  '3',
  '0.30000000000000004',
];
const FACTORS = ['1', '0.5', '2.25', '3'];

interface Weighed {
  readonly record: Buffer;
  readonly number: string;
}

type Format = Pick<ShuffleOptions, 'records' | 'header'> & { readonly weightBy: string };

/** How a number stands in a record, and what selects it. */
const FORMS: readonly (readonly [form: (number: string, i: number) => string, format: Format, header?: string])[] = [
  [(number, i) => `{"i":${i},"a":{"score":${number}},"text":"\\"a\\":{"}\n`, { weightBy: '.a.score' }],
  [(number, i) => `${number}\t${i}\n`, { weightBy: 'tsv:1' }],
  [
    (number, i) => `${i},"${number}","a\n""b"""\n`,
    { weightBy: 'csv:score', records: { by: 'csv' }, header: { lines: 1 } },
    'i,score,text\n',
  ],
  [(number, i) => `${i} at ${number}; é\n`, { weightBy: '/ at (\\S+);/' }],
];

const numberOf = fc.oneof(
  fc.constantFrom(...NUMBERS),
  fc.double({ min: 0, max: 3, noNaN: true }).map((value) => String(Math.abs(value))),
  fc.nat({ max: 4 }).map(String),
);

const job = fc.record({
  form: fc.constantFrom(...FORMS),
  numbers: fc.array(fc.array(numberOf, { maxLength: 150 }), { minLength: 1, maxLength: 3 }),
  factors: fc.option(fc.constantFrom(FACTORS), { nil: undefined }),
  cap: fc.option(fc.constantFrom('0', '0.75', '1', '2.125'), { nil: undefined }),
  seed: fc.string(),
  settings: anySettings,
});

type Job = typeof job extends fc.Arbitrary<infer T> ? T : never;

/** What the inputs hold, and the job that weighs their records. */
function inputsOf({ form: [form, format, header = ''], numbers, factors: all, cap, seed, settings }: Job) {
  const weighed = numbers.map((ofInput) =>
    ofInput.map((number, i): Weighed => ({ record: Buffer.from(form(number, i)), number })),
  );
  const factors = all && weighed.map((_, i) => all[i % all.length] ?? '');
  const numberOfRecord = new Map<Buffer, string>(weighed.flat().map(({ record, number }) => [record, number]));
  const records = weighed.map((ofInput) => ofInput.map(({ record }) => record));
  const weightOf = (record: Buffer, ordinal: number) =>
    weightOfNumber(numberOfRecord.get(record) ?? '', factors?.[ordinal], cap);
  const inputs = records.map((each) => Buffer.concat([Buffer.from(header), ...each]));
  const asked = { ...format, inputs, ...(factors && { factors }), seed, settings, weightCap: cap };
  return { records, weightOf, asked, header, headerBytes: records.map(() => header.length) };
}

describe('numbers in records', () => {
  it('make the copies that the seed defines, whatever the settings', async () => {
    const check = async (given: Job) => {
      const { records, weightOf, asked, header, headerBytes } = inputsOf(given);
      const ordered = orderCopies(records, weightOf, given.seed, headerBytes);
      const { bytes, report } = await shuffleToFile(directory, asked);
      expect(bytes.toString('latin1')).toBe(Buffer.concat([Buffer.from(header), ...ordered]).toString('latin1'));
      expectReport(report, ordered);
      const groups = report.groups ?? [];
      const exactly = records.flatMap((ofInput, i) => ofInput.map((record) => ({ record, ...weightOf(record, i) })));
      const sum = (of: (each: (typeof exactly)[number]) => bigint) => exactly.reduce((all, each) => all + of(each), 0n);
      const parts = ({ copies, chance }: (typeof exactly)[number]) => (BigInt(copies) << 64n) + chance;
      const rounded = (value: bigint) => Number((value + 2n ** 63n) >> 64n);
      if (given.factors === undefined) {
        expect(groups).toHaveLength(1);
        expect(groups[0]?.expected).toEqual({
          records: rounded(sum(parts)),
          bytes: rounded(sum((each) => parts(each) * BigInt(each.record.byteLength))),
        });
      }
      expect(groups.reduce((all, { weighed }) => all + weighed.records, 0)).toBe(ordered.length);
      expect(groups.reduce((all, { read }) => all + read.records, 0)).toBe(records.flat().length);
    };
    await fc.assert(fc.asyncProperty(job, check), { numRuns: atScale(8, 20, 3000) });
  });

  it('have all copies of a record in one split', async () => {
    const check = async (given: Job) => {
      const { records, weightOf, asked, header, headerBytes } = inputsOf(given);
      const keyed = keyedCopies(records, weightOf, given.seed, headerBytes, SPLITS_BEGIN);
      const splitOf = (key: bigint) => SPLITS_BEGIN.findLastIndex((bound) => bound <= key);
      const { shards } = await shuffleToShards(directory, { ...asked, splits: SPLITS }, undefined);
      expect(shards.map((shard) => shard.toString('latin1'))).toEqual(
        SPLITS.map(
          (_, i) =>
            header +
            keyed
              .filter(({ key }) => splitOf(key) === i)
              .map(({ record }) => record.toString('latin1'))
              .join(''),
        ),
      );
    };
    await fc.assert(fc.asyncProperty(job, check), { numRuns: atScale(4, 10, 1000) });
  });

  it('that are the same give what a weight of the input gives', async () => {
    const lines = Buffer.from(Array.from({ length: 500 }, (_, i) => `{"i":${i},"w":2.3}\n`).join(''));
    const same = { inputs: [lines], seed: 's', settings: plainSettings({ sliceBytes: 1000, pileCount: 5 }) };
    const { bytes: byNumber, report } = await shuffleToFile(directory, { ...same, weightBy: '.w' });
    const { bytes: byInput } = await shuffleToFile(directory, { ...same, factors: ['2.3'] });
    expect(byNumber.equals(byInput)).toBe(true);
    expect(report.groups?.[0]?.expected).toEqual({ records: 1150, bytes: Math.round(2.3 * lines.byteLength) });
  });

  it('of a table are those of JSON lines', async () => {
    const values = Array.from({ length: 300 }, (_, i) => (i % 7 === 0 ? null : ((i * 37) % 100) / 40));
    const asked = { weightBy: '.w', missing: '0.5', seed: 's', tempDirs: [directory.temp], force: true } as const;
    const types = { DOUBLE: values, FLOAT: values.map((value) => value && Math.fround(value)) };
    for (const [type, ofType] of Object.entries(types)) {
      const table = writeParquet(directory.path('in.parquet'), {
        rows: values.length,
        rowsPerGroup: 40,
        columns: [
          column('i', 'INT64', BigInt),
          column('w', type as 'DOUBLE' | 'FLOAT', (i) => ofType[i] ?? null, { repetitions: ['optional'] }),
        ],
      });
      const report = await shuffle({ ...asked, inputs: [table], output: directory.path('out.parquet') });
      // A row has the number of its place as its position.
      const rows = ofType.map((_, i) => Buffer.from([i & 255]));
      const number = new Map<Buffer, string>(rows.map((row, i) => [row, String(ofType[i] ?? '0.5')]));
      const ordered = orderCopies([rows], (row) => weightOfNumber(number.get(row) ?? ''), 's');
      expect(report.records).toBe(ordered.length);
    }
  });

  it('of the keys of samples need a cap of at most 1', async () => {
    const samples = Array.from({ length: 60 }, (_, i) =>
      tarEntry({ name: `${i}-0.${i % 10}.txt`, data: Buffer.from(`${i}`) }),
    );
    writeFileSync(directory.path('in.tar'), Buffer.concat([...samples, Buffer.alloc(1024)]));
    const asked: ShuffleOptions = {
      inputs: [directory.path('in.tar')],
      records: { by: 'webdataset' },
      weightBy: 'key:/-(\\d)/',
      output: directory.path('out.tar'),
      tempDirs: [directory.temp],
    };
    await expect(shuffle(asked)).rejects.toThrow(/give `weightBy` a `weightCap` of at most 1/);
    expect((await shuffle({ ...asked, weightCap: 1 })).records).toBe(0);
  });
});

describe('a number', () => {
  const run = (text: string, more: Partial<ShuffleOptions> = {}) => {
    writeFileSync(directory.path('in'), `{"n":1}\n${text}`);
    const asked = {
      inputs: [directory.path('in')],
      weightBy: '.n',
      output: directory.path('out'),
      force: true,
      ...more,
    };
    return shuffle({ ...asked, tempDirs: [directory.temp] }, { inline: true });
  };

  it.each([
    ['{"n":"2"}\n', /in: the record at byte 8 has "2" as its weight, \.n; expected a number from 0 to 1000000/],
    ['{"n":-1}\n', /at byte 8 has -1 as/],
    ['{"n":NaN}\n', /at byte 8 has NaN as/],
    ['{"n":Infinity}\n', /at byte 8 has Infinity as/],
    ['{"n":1e400}\n', /at byte 8 has 1e400 as/],
    [
      '{"n":1000000.1}\n',
      /at byte 8 has 1000000\.1 as its weight, \.n; expected a number from 0 to 1000000: give `weightCap`/,
    ],
    ['{"n":01}\n', /at byte 8 has 01 as/],
    ['{"n":true}\n', /at byte 8 has true as/],
    ['{"n":[1]}\n', /at byte 8 has \[1\] as/],
    ['{"m":1}\n', /at byte 8 has no field \.n; expected a JSON object that has it, or give `missing`/],
    ['{"n":null}\n', /at byte 8 has no field \.n/],
    ['\n', /at byte 8 is blank; give `skipBlank`/],
    ['{"n":1\n', /at byte 8 begins as a JSON object and does not end as one/],
  ])('%j is refused', async (text, message) => {
    await expect(run(text)).rejects.toThrow(message);
  });

  it('is shown in quotes if it begins with white space', async () => {
    await expect(run('a\t 2\n', { weightBy: 'tsv:2', missing: '1' })).rejects.toThrow(
      /at byte 8 has " 2" as its weight/,
    );
  });

  it.each([
    ['{"n":1000000}\n', {}, 1_000_001],
    ['{"n":1e400}\n', { weightCap: 3 }, 4],
    ['{"n":1000000.5}\n', { weightCap: '1000000' }, 1_000_001],
    ['{"n":-0}\n', {}, 1],
    ['{"n":0.9}\n', { weightCap: 0 }, 0],
    ['{"m":1}\n{"n":null}\n', { missing: '2' }, 5],
    ['\n  \n{"n":1}\n', { skipBlank: true }, 2],
    ['{"n":3}\n', { headCount: 2 }, 2],
    ['{"n":3}\n', { headCount: 50, repeat: true }, 50],
  ] as const)('%j with %j gives so many records', async (text, more, records) => {
    expect((await run(text, more)).records).toBe(records);
  });

  it('and the factor of its input are at most 1,000,000 together', async () => {
    const weights = [{ glob: 'in', factor: 1000 }];
    await expect(run('{"n":1000.5}\n', { weights })).rejects.toThrow(
      /has 1000\.5 as its weight, \.n, times the factor 1000 of its input; expected a number from 0 to 1000000/,
    );
    expect((await run('{"n":1000}\n', { weights })).records).toBe(1_001_000);
  });

  it.each([
    [{ weightBy: undefined, weightCap: 2 }, /`weightCap` limits the numbers of `weightBy`/],
    [{ weightCap: 'x' }, /`weightCap` x: expected a number of at least 0/],
    [{ weightCap: 2e6 }, /`weightCap` 2000000: expected at most 1000000/],
    [{ missing: 'none' }, /`missing` "none" is the weight of records without a number/],
    [{ missing: '2000000' }, /expected a number from 0 to 1000000/],
    [{ keys: 'ordinal' }, /`weightBy` cannot be combined with `keys` ordinal/],
    [{ weightBy: `.${'x'.repeat(5000)}` }, /`weightBy` and `missing` take \d+ bytes; expected at most/],
    [
      {
        splits: [
          { name: 'a', records: 1 },
          { name: 'b', rest: true },
        ],
        output: 'parts',
      },
      /copies that `weightBy` makes of a record would be in several of `splits`/,
    ],
  ] as const)('is refused with %j', async (more, message) => {
    await expect(run('{"n":1}\n', more as Partial<ShuffleOptions>)).rejects.toThrow(message);
  });
});

describe('shares of a mix', () => {
  const whole = 10n ** 15n;
  /** A decimal, in parts of 10^-15. */
  const partsOfTen = (text: string) => {
    const [, units = '', places = ''] = /^(\d+)\.?(\d*)$/.exec(text) ?? [];
    return BigInt(units) * whole + BigInt(places.slice(0, 15).padEnd(15, '0'));
  };
  const partsOfTwo = ({ copies, chance }: ReturnType<typeof weightOfNumber>) => (BigInt(copies) << 64n) + chance;
  const inParts = (all: bigint) => ({ copies: Number(all >> 64n), chance: all & (2n ** 64n - 1n) });

  interface How {
    readonly isBeside?: boolean;
    readonly isOfRows?: boolean;
    readonly weightCap?: string;
  }
  it.each<readonly [unit: string, how: How]>([
    ['records', {}],
    ['bytes', { weightCap: '1.5' }],
    ['.f', {}],
    ['.f', { isBeside: true }],
    ['.f', { isOfRows: true }],
    ['records', { isOfRows: true, isBeside: true }],
  ])('of %s count what numbers weigh: %j', async (unit, { isBeside = false, isOfRows = false, weightCap }) => {
    const numbers = [0, 1].map((file) => Array.from({ length: 400 }, (_, i) => String(((i * 0.37) % 2) + file / 4)));
    const amounts = [0, 1].map((file) =>
      Array.from({ length: 400 }, (_, i) => (isOfRows ? `${i % 9}` : `${(i % 9) + 1}.${file}25`)),
    );
    const records = numbers.map((ofInput, file) =>
      ofInput.map((w, i) =>
        Buffer.from(isOfRows ? `${file}-${i}` : `{"w":${w},"f":${amounts[file]?.[i]},"t":"${'x'.repeat(i % 7)}"}\n`),
      ),
    );
    const inputs = records.map((ofInput, file) => {
      const path = directory.path(`in-${file}.${isOfRows ? 'parquet' : 'jsonl'}`);
      const columns = [
        column('f', 'INT32', (i) => Number(amounts[file]?.[i])),
        column('w', 'DOUBLE', (i) => Number(numbers[file]?.[i])),
        column('t', 'BYTE_ARRAY', (i) => `${file}-${i}`),
      ];
      if (isOfRows) writeParquet(path, { columns, rows: 400, rowsPerGroup: 90 });
      else writeFileSync(path, Buffer.concat(ofInput));
      mkdirSync(directory.path('values', directory.temp), { recursive: true });
      const array = Buffer.from(Float64Array.from(numbers[file] ?? [], Number).buffer);
      const header = formatNpyHeader({ dtype: '<f8', rowShape: [] }, 400);
      writeFileSync(`${directory.path('values', directory.path(`in-${file}`))}.npy`, Buffer.concat([header, array]));
      return path;
    });
    const shares = [3n, 1n];
    const groups = shares.map((share, i) => ({ name: `g${i}`, inputs: `in-${i}.*`, share: Number(share) }));
    const tuning = { inline: true, sliceBytes: 2000, readBytes: 3000 };
    const asked = {
      inputs,
      seed: 's',
      weightCap,
      mix: { unit, max_epochs: 3, groups },
      tempDirs: [directory.temp],
      force: true,
    };
    const from = isBeside ? { weightsFrom: directory.path('values') } : { weightBy: '.w' };
    const output = directory.path(isOfRows ? 'out.parquet' : 'out');
    const report = await shuffle({ ...asked, ...from, output }, tuning);

    // Amounts and weights, exactly: in parts of 10^-15 and of 2^64.
    const ofInputs = numbers.map((ofInput, file) =>
      ofInput.map((w, i) => {
        const size = { records: whole, bytes: BigInt(records[file]?.[i]?.byteLength ?? 0) * whole }[unit];
        return {
          u: partsOfTwo(isBeside ? weightOfDouble(Number(w), '1', weightCap) : weightOfNumber(w, '1', weightCap)),
          f: size ?? partsOfTen(amounts[file]?.[i] ?? ''),
        };
      }),
    );
    const sums = ofInputs.map((ofInput) => ofInput.reduce((sum, { u, f }) => sum + u * f, 0n));
    const leader = 3n * (sums[0] ?? 0n) < 3n * 3n * (sums[1] ?? 0n) ? 0 : 1;
    const factors = sums.map(
      (sum, i) => ((3n * (sums[leader] ?? 0n) * (shares[i] ?? 0n)) << 64n) / ((shares[leader] ?? 1n) * sum),
    );
    const weights = ofInputs.map((ofInput, i) => ofInput.map(({ u }) => inParts((u * (factors[i] ?? 0n)) >> 64n)));
    const weightOf = new Map<Buffer, ReturnType<typeof inParts> | undefined>(
      records.flatMap((ofInput, i) => ofInput.map((record, j) => [record, weights[i]?.[j]] as const)),
    );
    const expected = weights.flatMap((ofInput) => ofInput.map(({ copies }) => copies));
    expect(report.groups?.map(({ factor }) => factor)).toEqual(
      factors.map((all) => Number(all >> 64n) + Number(all & (2n ** 64n - 1n)) / 2 ** 64),
    );
    if (isOfRows) {
      expect(report.records).toBeGreaterThanOrEqual(expected.reduce((sum, copies) => sum + copies, 0));
      return;
    }
    const ordered = orderCopies(records, (record) => weightOf.get(record) ?? inParts(0n), 's');
    expect(readFileSync(output, 'latin1')).toBe(Buffer.concat(ordered).toString('latin1'));
    const amountOf = (record: Buffer) =>
      ({ records: 1, bytes: record.byteLength })[unit] ?? JSON.parse(record.toString()).f;
    const made = ordered
      .filter((record) => new Set<Buffer>(records[0]).has(record))
      .reduce((sum, record) => sum + amountOf(record), 0);
    expect(report.groups?.[0]?.unit?.weighed).toBeCloseTo(made, 6);
  });
});

describe('streams', () => {
  const ofPipes = useTestDirectory();
  const pipeOf = useFedPipes(ofPipes);

  it('have weights as files have, also by a column that their headers name', async () => {
    const path = ofPipes.path('in');
    writeFileSync(path, `i,score\n${Array.from({ length: 200 }, (_, i) => `${i},${(i % 9) / 4}\n`).join('')}`);
    const asked = {
      weightBy: 'csv:score',
      records: { by: 'csv' },
      header: { lines: 1 },
      seed: 's',
      force: true,
    } as const;
    const contents: string[] = [];
    for (const input of [path, pipeOf(path)]) {
      await shuffle({ ...asked, inputs: [input], output: ofPipes.path('out'), tempDirs: [ofPipes.temp] });
      contents.push(readFileSync(ofPipes.path('out'), 'latin1'));
    }
    expect(contents[1]).toBe(contents[0]);
  });
});

describe.skipIf(!isOnPath('python3'))('a program in Python', () => {
  const program = fileURLToPath(new URL('../../examples/weigh.py', import.meta.url));

  it.each<[string, (i: number) => string, readonly string[], Partial<ShuffleOptions>]>([
    ['.m.w', (i) => `{"m":{"w":${(i * 0.37) % 3}}}\n`, [], {}],
    ['.w', (i) => (i % 3 === 0 ? '{"w":null}\n' : `{"w":${i % 5}e-1}\n`), ['--missing', '1.5'], { missing: '1.5' }],
    ['tsv:2', (i) => `${i}\t${(i % 40) / 8}\n`, ['--cap', '2.3'], { weightCap: '2.3' }],
    ['/=(\\d)/', (i) => `w=${i % 4}\n`, [], {}],
  ])('prints what the numbers of %s give', async (weightBy, line, words, more) => {
    const inputs = ['one', 'two'].map((name, file) => {
      writeFileSync(directory.path(name), Array.from({ length: 200 + file }, (_, i) => line(i)).join(''));
      return directory.path(name);
    });
    const asked = {
      inputs,
      seed: '42',
      weightBy,
      weights: [{ glob: 'two', factor: '0.75' }],
      tempDirs: [directory.temp],
    };
    await shuffle({ ...asked, ...more, output: directory.path('out'), force: true });
    const files = [inputs[0] ?? '', `${inputs[1]}=0.75`];
    const python = (...argv: readonly string[]) =>
      execFileSync('python3', [program, ...words, ...argv, '42', weightBy, ...files], { encoding: 'latin1' });
    expect(python()).toBe(readFileSync(directory.path('out'), 'latin1'));
    const { shards } = await shuffle({
      ...asked,
      ...more,
      splits: [
        { name: 'a', share: 0.4 },
        { name: 'b', share: 0.6 },
      ],
      output: directory.path('parts'),
    });
    expect(python('--split', '0.4', '1')).toBe(readFileSync(shards[1] ?? '', 'latin1'));
    rmSync(directory.path('parts'), { recursive: true });
  });
});
