/** Jobs that read files of rows: content decides as it does in JSON lines, and other jobs refuse such files. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { verifyPermutation } from '#src/checks/verify-permutation.js';
import { arrowType, writeArrowSchema } from '#src/formats/rows/parquet/arrow-schema.js';
import { dictionaryLeavesOf } from '#src/formats/rows/parquet/carried-dictionary.js';
import { readFooter } from '#src/formats/rows/parquet/footer.js';
import { readPageHeader } from '#src/formats/rows/parquet/page-header.js';
import { appendToStore } from '#src/job/append.js';
import { previewShuffle } from '#src/job/preview-shuffle.js';
import { shuffle } from '#src/job/shuffle.js';
import { errorOf } from '../fixtures/error-of.ts';
import { useFedPipes } from '../fixtures/fed-pipes.ts';
import { column, type PlainTable, writeParquet } from '../fixtures/parquet/parquet-file.ts';
import { fromCi } from '../fixtures/scale.ts';
import { useTestDirectory } from '../fixtures/temp-directory.ts';

const directory = useTestDirectory();
const pipeOf = useFedPipes(directory);
const INLINE = { inline: true };
const siteAt = (i: number) => `site-${i % 37}`;

const PAGES: PlainTable = {
  rows: 500,
  rowsPerGroup: 120,
  columns: [
    column('words', 'BYTE_ARRAY', (i) => `page ${i}`),
    column('site', 'BYTE_ARRAY', siteAt, { repetitions: ['optional'] }),
    column('number', 'INT64', (i) => BigInt(i % 41)),
  ],
};

let table = '';
let lines = '';
beforeEach(() => {
  table = writeParquet(directory.path('in.parquet'), PAGES);
  lines = directory.path('in.jsonl');
  const objects = Array.from(
    { length: PAGES.rows },
    (_, i) => `{"words":"page ${i}","site":"${siteAt(i)}","number":${i % 41}}\n`,
  );
  writeFileSync(lines, objects.join(''));
});

describe('the dictionaries of columns', () => {
  /**
   * By pyarrow 25: c, an ordered dictionary; l, lists of an unordered one; n, numbers. `first` has two row groups, c of lo, mid,
   * hi, never, l of x, y and then z, x; `other` has c of mid, hi, l of q, x; `reversed` has c of hi, lo.
   */
  const write = (...names: readonly ('first' | 'other' | 'reversed')[]) =>
    names.map((name) => {
      copyFileSync(
        new URL(`../fixtures/parquet/category-${name}.parquet`, import.meta.url),
        directory.path(`${name}.parquet`),
      );
      return directory.path(`${name}.parquet`);
    });
  const shuffled = async (inputs: readonly string[], more = {}) => {
    const output = directory.path('out.parquet');
    await shuffle({ inputs, output, seed: 's', force: true, tempDirs: [directory.temp], ...more }, INLINE);
    return dictionariesOf(output);
  };

  it('begin with those of the first input, in each row group', async () => {
    const first = ['lo mid hi never', 'x y z'];
    expect(await shuffled(write('first'))).toEqual([first]);
    expect(await shuffled(write('first', 'other'))).toEqual([['lo mid hi never', 'x y z q']]);
    const groups = await shuffled(write('first', 'other'), { rowGroupRows: 2 });
    expect(groups.map(([ordered, other]) => `${ordered}, ${other?.slice(0, 5)}`)).toEqual(
      Array.from({ length: 3 }, () => 'lo mid hi never, x y z'),
    );
    expect(await shuffled(write('first'), { columns: ['n', 'l'] })).toEqual([['x y z']]);
  });

  it('have one order if it has a meaning', async () => {
    expect(await shuffled(write('other', 'first').slice(0, 1))).toEqual([['mid hi', 'q x']]);
    const error = await errorOf(shuffled(write('first', 'other', 'reversed')));
    expect(error).toMatchObject({
      code: 'ERR_INPUT_FORMAT',
      message: expect.stringMatching(
        /reversed.parquet: row group 0, column c: its ordered categories are hi, lo, but in .*first.parquet lo, mid, hi, never; /,
      ),
    });
  });
});

describe('a column of categories that no dictionary page holds', () => {
  const CATEGORIES = writeArrowSchema({
    version: 4,
    endianness: undefined,
    fields: [
      {
        name: 'c',
        isNullable: false,
        type: arrowType('Utf8'),
        dictionary: { id: 0, index: arrowType('Int', 32, 1), isOrdered: false, kind: undefined },
        children: [],
        metadata: [],
      },
    ],
    metadata: [],
  });
  const write = (name: string, rows: number, textOf: (i: number) => string) =>
    writeParquet(directory.path(name), {
      rows,
      columns: [column('c', 'BYTE_ARRAY', textOf, { pages: { encoding: 'RLE_DICTIONARY' } })],
      keyValues: { 'ARROW:schema': CATEGORIES },
    });
  const shuffled = async (inputs: readonly string[], shardCount: number) => {
    const warnings: string[] = [];
    const onWarning = (line: string) => warnings.push(line);
    const shards = { by: 'count', shardCount } as const;
    const tempDirs = [directory.temp];
    const asked = { inputs, output: directory.path('out'), shards, seed: 's', tempDirs, onWarning };
    const report = await shuffle(asked, INLINE);
    expect((await verifyPermutation({ inputs, outputs: report.shards })).isPermutation).toBe(true);
    return { warnings, files: report.shards.map(seenIn) };
  };

  it.runIf(fromCi)('is one of plain values if the first dictionary is too large', async () => {
    const input = write('large', 9, (i) => `${i}`.repeat(1e6));
    const { warnings, files } = await shuffled([input], 1);
    expect(files).toEqual([{ isDictionary: false, encodings: ['PLAIN'] }]);
    expect(warnings).toEqual([
      `${input}: row group 0, column c: its dictionary takes more than the 8 MiB that an output carries: the column is written as plain values`,
    ]);
  });

  it('is one of plain values in all shards if the others outgrow it in one', async () => {
    const inputs = [write('few', 40, () => 'a'), write('more', 9, (i) => `${i}`.repeat(400_000))];
    const { warnings, files } = await shuffled(inputs, 7);
    expect(files).toContainEqual({ isDictionary: false, encodings: ['RLE_DICTIONARY'] });
    expect(files).toContainEqual({ isDictionary: false, encodings: ['RLE_DICTIONARY', 'PLAIN'] });
    expect(files.some(({ isDictionary }) => isDictionary)).toBe(false);
    expect(warnings).toEqual([expect.stringMatching(/^the categories of c take more than a dictionary page/)]);
  });
});

it('the memory that a message advises is enough for a long value at the first try', async () => {
  const long = (i: number) => (i === 30 ? 'x'.repeat(5e6) : `text ${i}`);
  const columns = [column('a', 'INT32', (i) => i), column('b', 'BYTE_ARRAY', long)];
  const inputs = [writeParquet(directory.path('long'), { rows: 60, columns })];
  const run = (memoryBytes: number) =>
    shuffle({ inputs, output: directory.path('out.parquet'), memoryBytes, tempDirs: [directory.temp] }, INLINE);
  const { code, message } = await errorOf(run(13 * 2 ** 20));
  expect(code).toBe('ERR_RECORD_TOO_LONG');
  expect((await run(Number(/at least (\d+)M$/.exec(message)?.[1]) * 2 ** 20)).records).toBe(60);
});

it('pages of columns that do not fit are refused by the plan, and what it advises is the least that does', async () => {
  const columns = Array.from({ length: 40 }, (_, c) => column(`c${c}`, 'INT32', (i) => i * c));
  const inputs = [writeParquet(directory.path('wide'), { rows: 60, columns })];
  const of = (mebibytes: number) => ({
    inputs,
    output: directory.path('out.parquet'),
    memoryBytes: mebibytes * 2 ** 20,
    tempDirs: [directory.temp],
  });
  const words =
    /^pages or chunks of all columns take \d{8} bytes in a thread, with rows of about \d{3} bytes, and do not fit the memory budget of 8388608 bytes; expected `memoryBytes` of at least (\d+)M$/;
  const refused = await Promise.all([errorOf(previewShuffle(of(8))), errorOf(shuffle(of(8), INLINE))]);
  for (const { code, message } of refused)
    expect([code, message]).toEqual(['ERR_MEMORY_BUDGET', expect.stringMatching(words)]);
  const least = Number(words.exec(refused[0]?.message ?? '')?.[1]);
  expect((await errorOf(previewShuffle(of(least - 1)))).message).toContain(`at least ${least}M`);
  await previewShuffle(of(least));
  for (const tuning of [INLINE, { mayUseRamPool: false }])
    expect((await shuffle({ ...of(least), force: true }, tuning)).records).toBe(60);
});

it.each([
  ['empty.parquet', (_: Buffer) => Buffer.alloc(0), 'it is empty'],
  ['beheaded.pq', (file: Buffer) => file.subarray(4), 'its first bytes are not those of Parquet data'],
])('a file that is not a Parquet is named by itself: %s', async (name, damage, problem) => {
  const input = directory.path(name);
  writeFileSync(input, damage(readFileSync(table)));
  const asked = { inputs: [input], output: directory.path('out.parquet'), tempDirs: [directory.temp] };
  const error = await errorOf(shuffle(asked, INLINE));
  expect(error.message).toContain(`${input}: its name stands for Parquet, and ${problem}; make the file again`);
  expect(error.code).toBe('ERR_INPUT_FORMAT');
});

it('a stream is told to hold no Parquet before its output is', async () => {
  const asked = { inputs: [pipeOf(table)], output: directory.path('out.parquet'), tempDirs: [directory.temp] };
  const { message } = await errorOf(shuffle(asked, INLINE));
  expect(message).toMatch(/: Parquet data cannot be read from a stream; name the file, /);
});

/** Of a file with one column: whether the schema of Arrow calls it a dictionary, and how its pages have their values. */
function seenIn(path: string) {
  const file = readFileSync(path);
  const read = (position: number, byteLength: number) => file.subarray(position, position + byteLength);
  const { schema, rowGroups } = readFooter({ read }, file.byteLength, path);
  const encodings = new Set<string>();
  for (const { columns, byteLength } of rowGroups()) {
    const [{ start } = expect.fail()] = columns;
    for (let at = start; at < start + byteLength; ) {
      const { header, headerBytes } = readPageHeader(file, at) ?? expect.fail();
      if (header.kind !== 'dictionary') encodings.add(header.encoding);
      at += headerBytes + header.compressedBytes;
    }
  }
  return { isDictionary: dictionaryLeavesOf(schema).length > 0, encodings: [...encodings] };
}

/** Of each row group, the texts in the dictionaries of its columns. */
function dictionariesOf(path: string): string[][] {
  const file = readFileSync(path);
  const read = (position: number, byteLength: number) => file.subarray(position, position + byteLength);
  return Array.from(readFooter({ read }, file.byteLength, path).rowGroups(), ({ columns }) =>
    columns.flatMap(({ start }) => {
      const { header, headerBytes = 0 } = readPageHeader(file, start) ?? {};
      if (header?.kind !== 'dictionary') return [];
      const from = start + headerBytes;
      const texts = file.toString('latin1', from, from + header.compressedBytes).replace(/.\0\0\0/g, ' ');
      return [texts.trim()];
    }),
  );
}

describe('the values of rows', () => {
  it.each(['.site', '.number'])('choose splits as those of JSON lines do: %s', async (splitBy) => {
    const counts = async (input: string) => {
      const splits = [
        { name: 'train', share: 0.7 },
        { name: 'test', share: 0.3 },
      ];
      const output = directory.path(`out-${input === table}`);
      const asked = { inputs: [input], output, seed: 's', splits, splitBy, tempDirs: [directory.temp] };
      const report = await shuffle(asked, INLINE);
      return report.splits?.map(({ name, records }) => [name, records]);
    };
    expect(await counts(table)).toEqual(await counts(lines));
  });

  it.each([
    ['.site', 37],
    ['.number', 41],
  ])('make rows equal: %s', async (uniqueBy, different) => {
    const asked = { output: directory.path('out'), force: true, uniqueBy, tempDirs: [directory.temp] };
    expect((await shuffle({ ...asked, inputs: [table] }, INLINE)).records).toBe(different);
  });

  it('must be those of one column of text or whole numbers', async () => {
    const refusal = (uniqueBy: string) =>
      errorOf(
        shuffle({ inputs: [table], uniqueBy, output: directory.path('out'), tempDirs: [directory.temp] }, INLINE),
      );
    expect((await refusal('.other')).message).toMatch(/\.other names no column of its rows/);
    expect((await refusal('/(x)/')).message).toMatch(/selects no value in the rows of /);
  });

  it('must be there', async () => {
    const path = writeParquet(directory.path('nulls'), {
      rows: 9,
      columns: [column('a', 'INT32', (i) => (i === 7 ? null : i), { repetitions: ['optional'] })],
    });
    const asked = { inputs: [path], uniqueBy: '.a', output: directory.path('out'), tempDirs: [directory.temp] };
    const { code, message } = await errorOf(shuffle(asked, INLINE));
    expect([code, message]).toEqual([
      'ERR_FIELD_MISSING',
      expect.stringMatching(
        /nulls: row 7 has no value in the column \.a; expected one in each row, or give `missing` a value/,
      ),
    ]);
  });
});

describe('a column in the names of directories', () => {
  /** The same rows twice: with the column in the names of directories, and in the files. */
  const inputs = (isNamed: boolean) =>
    ['en', '__HIVE_DEFAULT_PARTITION__', 'a%20b'].map((text, i) => {
      const at = directory.path(`${isNamed}`, `${i}`, `lang=${text}`);
      mkdirSync(at, { recursive: true });
      const value = [Buffer.from('en'), null, Buffer.from('a b')][i] ?? null;
      const lang = column('lang', 'BYTE_ARRAY', () => value, { repetitions: ['optional'] });
      const columns = isNamed ? PAGES.columns : [...PAGES.columns, lang];
      return writeParquet(`${at}/part.parquet`, { ...PAGES, columns });
    });
  const asked = () => ({ output: directory.path('out'), force: true, seed: 's', tempDirs: [directory.temp] });

  it('is one of the rows, wherever row groups are cut', async () => {
    const { checksum } = await shuffle({ ...asked(), inputs: inputs(false) }, INLINE);
    const options = { ...asked(), inputs: inputs(true), hive: true };
    for (const sliceBytes of [2 ** 20, 1000])
      expect((await shuffle(options, { ...INLINE, sliceBytes })).checksum).toBe(checksum);
    const { uniqueBy, missing, ...few } = { ...options, uniqueBy: '.lang', missing: '', columns: ['lang'] };
    expect((await shuffle({ ...few, uniqueBy, missing }, INLINE)).records).toBe(3);
  });

  it('is looked for when outputs are verified, and in what is resumed', async () => {
    const options = { ...asked(), inputs: inputs(true), hive: true };
    await shuffle(options, INLINE);
    const sides = { outputs: [options.output], inputs: options.inputs };
    expect((await verifyPermutation({ ...sides, hive: true })).isPermutation).toBe(true);
    expect((await errorOf(verifyPermutation(sides))).message).toMatch(
      /column lang exists, but in .*; `hive` takes it from names of directories$/,
    );
  });

  it('is told to be left out, and must be there', async () => {
    const lines: string[] = [];
    const [path = ''] = inputs(true);
    await shuffle({ ...asked(), inputs: [path], onWarning: (line) => lines.push(line) }, INLINE);
    expect(lines).toEqual([
      `lang: columns that are only in names of directories, as in ${path}, are left out; \`hive\` adds them`,
    ]);
    const refusal = async (...names: readonly string[]) =>
      (await errorOf(shuffle({ ...asked(), inputs: names, hive: true }, INLINE))).message;
    expect(await refusal(path, table)).toMatch(/in.parquet names no columns in its directories, but .* lang; give/);
    expect(await refusal(table)).toMatch(/^`hive` takes columns from names of directories such as lang=en, and no/);
    expect(await refusal(lines[0] === undefined ? '' : directory.path('in.jsonl'))).toMatch(/^`hive` adds columns to/);
  });

  it('replaces a column of its name, which is told', async () => {
    const [path = ''] = inputs(false);
    const told: string[] = [];
    await shuffle({ ...asked(), inputs: [path], hive: true, onWarning: (line) => told.push(line) }, INLINE);
    expect(told).toEqual(['lang: taken from the names of directories, not from the files']);
  });
});

describe('a column whose sum is the unit of a mix', () => {
  const mixOf = (path: string, unit = '.number') => ({
    unit,
    groups: [
      { name: 'half', inputs: path, share: 0.5 },
      { name: 'other', inputs: directory.path('second*'), share: 0.2 },
    ],
  });
  const asked = () => ({ output: directory.path('out'), force: true, seed: 's', tempDirs: [directory.temp] });

  it('gives groups the weights that JSON lines have, whatever the slices', async () => {
    const groupsOf = async (input: string, second: string, sliceBytes: number) => {
      const tuning = { ...INLINE, sliceBytes };
      const { groups } = await shuffle({ ...asked(), inputs: [input, second], mix: mixOf(input) }, tuning);
      return groups;
    };
    const second = { ...PAGES, rows: 400, columns: PAGES.columns.toReversed() };
    const ofRows = [table, writeParquet(directory.path('second.parquet'), second)] as const;
    writeFileSync(directory.path('second.jsonl'), readFileSync(lines, 'utf8').split('\n').slice(0, 400).join('\n'));
    const ofLines = [lines, directory.path('second.jsonl')] as const;

    const groups = await groupsOf(...ofRows, 2 ** 20);
    expect(await groupsOf(...ofRows, 1000)).toEqual(groups);
    const sums = (found: typeof groups) => found?.map(({ factor, unit }) => [factor, unit?.read, unit?.expected]);
    expect(sums(groups)).toEqual(sums(await groupsOf(...ofLines, 2 ** 20)));
  });

  it('is added up as it is written', async () => {
    const second = writeParquet(directory.path('second'), { ...PAGES, rows: 300 });
    const { groups } = await shuffle({ ...asked(), inputs: [table, second], mix: mixOf(table) }, INLINE);
    const all = { unit: '.number', groups: [{ name: 'all', inputs: '*', share: 1 }] };
    const again = { ...asked(), inputs: [directory.path('out')], output: directory.path('again'), mix: all };
    const written = (await shuffle(again, INLINE)).groups?.[0]?.unit?.read;
    expect(groups?.reduce((sum, { unit }) => sum + (unit?.weighed ?? 0), 0)).toBe(written);
  });

  it.each([
    [
      '.words',
      'row 0 has page 0 in .words, which `mix` counts; expected a number from 0 to less than 10^15: mend it, or leave the record out',
    ],
    ['.no', '.no names no column of its rows; expected the name of one'],
  ])('is one of numbers: %s', async (unit, problem) => {
    writeParquet(directory.path('second'), PAGES);
    const inputs = [table, directory.path('second')];
    const { code, message } = await errorOf(shuffle({ ...asked(), inputs, mix: mixOf(table, unit) }, INLINE));
    expect([code, message]).toEqual(['ERR_FIELD_MISSING', `${table}: ${problem}`]);
  });

  it.each([
    [-1n, '-1'],
    [10n ** 15n, '1000000000000000'],
    [null, undefined],
  ])('has a number in each row: not %s', async (value, shown) => {
    const valueAt = (i: number) => (i === 130 ? value : BigInt(i));
    const bad = { ...PAGES, columns: [column('number', 'INT64', valueAt, { repetitions: ['optional'] })] };
    const inputs = [writeParquet(directory.path('in.parquet'), bad), writeParquet(directory.path('second'), bad)];
    const { code, message } = await errorOf(shuffle({ ...asked(), inputs, mix: mixOf(table) }, INLINE));
    expect([code, message]).toEqual([
      'ERR_FIELD_MISSING',
      shown === undefined
        ? `${table}: row 130 has no value in the column .number; expected one in each row`
        : `${table}: row 130 has ${shown} in .number, which \`mix\` counts; expected a number from 0 to less than 10^15: mend it, or leave the record out`,
    ]);
  });

  it('tells a preview what the groups have', async () => {
    writeParquet(directory.path('second'), PAGES);
    const inputs = [table, directory.path('second')];
    const { output } = await previewShuffle({ ...asked(), inputs, mix: mixOf(table) });
    expect(output.records?.expected).toBe(1.4 * PAGES.rows);
  });
});

describe('files of rows', () => {
  it('have the same rows in another form', async () => {
    const other = writeParquet(directory.path('other'), {
      ...PAGES,
      rowsPerGroup: 77,
      columns: PAGES.columns.map((each) => ({ ...each, pages: { codec: 'GZIP', entriesPerPage: 19 } })),
    });
    const report = await verifyPermutation({ inputs: [table], outputs: [other] }, INLINE);
    expect(report).toMatchObject({ isPermutation: true, inputs: { records: PAGES.rows } });
    const fewer = writeParquet(directory.path('fewer'), { ...PAGES, rows: 499 });
    const { differences } = await verifyPermutation({ inputs: [table], outputs: [fewer] }, INLINE);
    expect(differences?.missing).toMatchObject({ records: 1, first: [{ places: [{ position: 499, isRow: true }] }] });
  });

  it('give the same bytes in parts of row groups', async () => {
    const columns = PAGES.columns.map((each) => ({ ...each, pages: { entriesPerPage: 3 } }));
    const { rows } = PAGES;
    const path = writeParquet(directory.path('indexed'), { rows, columns, claim: (pages) => pages });
    const asked = { inputs: [path], force: true, seed: 's', tempDirs: [directory.temp], output: directory.path('out') };
    const bytesOf = async (sliceBytes: number, workers: number) => {
      await shuffle({ ...asked, workers }, { sliceBytes, inline: workers === 1 });
      return readFileSync(asked.output);
    };
    const whole = await bytesOf(2 ** 20, 1);
    expect((await bytesOf(2000, 1)).equals(whole)).toBe(true);
    expect((await bytesOf(3000, 2)).equals(whole)).toBe(true);
  });

  it('tell a preview how many rows they have', async () => {
    const asked = { inputs: [table], output: directory.path('out'), tempDirs: [directory.temp] };
    const { inputs } = await previewShuffle(asked);
    expect(inputs).toMatchObject({ codecs: { parquet: 1 }, records: { least: 500, expected: 500, most: 500 } });
  });

  it('tell a preview what becomes of them: row groups, and bytes if the codec stays', async () => {
    const asked = { inputs: [table], output: directory.path('out'), tempDirs: [directory.temp], rowGroupRows: 100 };
    const { inputs, output } = await previewShuffle({ ...asked, shards: { by: 'count', shardCount: 2 } });
    expect(output).toMatchObject({ files: 2, compression: undefined, rowGroups: { count: 6, records: 83 } });
    const storedBytes = inputs.bytes ?? 0;
    expect(output.bytes).toMatchObject({ expected: storedBytes, most: 2 * storedBytes });
    const fewer = await previewShuffle({ ...asked, columns: ['number'], headCount: 250 });
    expect(fewer.output.rowGroups).toEqual({ count: 3, records: 83, recordBytes: Math.round((250 * 8) / 3) });
    expect(fewer.output.bytes?.most).toBeLessThan(storedBytes);
    const packed = await previewShuffle({ ...asked, parquetCodec: { codec: 'gzip', level: 9 } });
    expect(packed.output).toMatchObject({ compression: 'gzip 9', bytes: undefined });
  });

  it('have copies by their weights', async () => {
    const asked = {
      output: directory.path('out'),
      weights: [{ glob: '*', factor: 2.5 }],
      seed: 's',
      tempDirs: [directory.temp],
    };
    const { records } = await shuffle({ ...asked, inputs: [table] }, INLINE);
    expect(records).toBeGreaterThan(2 * PAGES.rows + PAGES.rows / 3);
    expect(records).toBeLessThan(3 * PAGES.rows - PAGES.rows / 3);
  });

  it('are refused beside other files without a word about the text of these', async () => {
    const text = directory.path('text');
    writeFileSync(text, 'a\0b\n');
    const warnings: string[] = [];
    const onWarning = (line: string) => warnings.push(line);
    const { message } = await errorOf(shuffle({ inputs: [text, table], output: directory.path('out'), onWarning }));
    expect([message, warnings]).toEqual([
      expect.stringMatching(/in\.parquet holds Parquet data, and .*text does not/),
      [],
    ]);
  });

  it('are refused by a store, and from a pipe', async () => {
    const appended = await errorOf(appendToStore(directory.path('store'), { inputs: [table] }, INLINE));
    expect(appended.message).toMatch(
      /holds Parquet data, not lines; name its file, not compressed, .*; else convert it to lines$/,
    );
    const piped = await errorOf(shuffle({ inputs: [pipeOf(table)], output: directory.path('out') }, INLINE));
    expect(piped).toMatchObject({ code: 'ERR_INPUT_FORMAT', message: expect.stringMatching(/holds Parquet data, /) });
  });
});
