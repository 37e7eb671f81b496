/** Files of rows at the door of a job: which are taken, what is refused beside them, and what is told. */
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { formatOfKind } from '#src/formats/framing-table.js';
import { readArrowSchema as readSchemaOfArrow } from '#src/formats/rows/parquet/arrow-schema.js';
import { readKeyValues } from '#src/formats/rows/parquet/key-values.js';
import type { TableSpec } from '#src/formats/rows/parquet/table-spec.js';
import { estimateInputs } from '#src/job/estimate.js';
import { listInputs } from '#src/sources/list-inputs.js';
import { asRows } from '#src/sources/rows.js';
import type { ReadSpec } from '#src/spec.js';
import { errorOf } from '../fixtures/error-of.ts';
import { column, type PlainTable, writeParquet } from '../fixtures/parquet/parquet-file.ts';
import { useTestDirectory } from '../fixtures/temp-directory.ts';
import { REFUSED, TOLD, UNITED } from '../formats/rows/parquet/pairs.ts';
import { readArrowSchema } from '../formats/rows/parquet/plain-arrow-schema.ts';
import { fileOf, plainGroups, tableOf } from '../formats/rows/parquet/plain-footer.ts';
import { LINES_ASSUMED, openParts } from '../formats/rows/parquet/table-parts.ts';

const schemaIn = ({ rows }: ReadSpec) => (rows as TableSpec | undefined)?.schema;

const directory = useTestDirectory();

const numbers = (...names: readonly string[]): PlainTable => ({
  rows: 10,
  rowsPerGroup: 4,
  columns: names.map((name) => column(name, 'INT32', (i) => i)),
});

const PAIRS = new URL('../fixtures/parquet/pairs.json.gz', import.meta.url);

function literal(text: string): string {
  return text.replace(/[[\](){}.^$|]/g, '\\$&');
}

describe('files of rows', () => {
  it('are known by their first bytes, and measured by their footers', async () => {
    const { inputs, read } = await openParts([writeParquet(directory.path('in.txt'), numbers('a', 'b'))]);
    expect(inputs).toMatchObject([{ rows: { rows: 10, mayBeCut: true, rowBytes: 80 } }]);
    expect(read).toMatchObject({ framing: undefined, linesAssumed: false, rows: { codec: 'UNCOMPRESSED' } });
  });

  it('take what their footers tell: nulls take nothing, and values that are equal take as much as others', async () => {
    const optional = { type: 'INT32', repetition: 1 } as const;
    const schema = tableOf([
      { name: 'sparse', ...optional },
      { name: 'told', type: 'BYTE_ARRAY' },
      { name: 'untold', type: 'BYTE_ARRAY' },
      { name: 'indexed', type: 'BYTE_ARRAY' },
      { name: 'list', type: 'INT32', repetition: 2 },
      { name: 'holes', type: 'INT32', repetition: 2 },
    ]);
    const [group] = plainGroups(schema, [10]);
    const more = [
      { nullCount: 3 },
      { plainBytes: 1000 },
      { uncompressedBytes: 90 },
      { uncompressedBytes: 12 },
      { values: 30 },
      { values: 30, nullCount: 2 },
    ];
    const chunks = group?.chunks.map((chunk, i) => ({ ...chunk, ...more[i] })) ?? [];
    writeFileSync(directory.path('in'), fileOf(schema, [{ rows: 10, chunks }]));
    const measured = async (...columns: string[]) => {
      const { inputs } = await openParts([directory.path('in')], { columns });
      const facts = inputs[0]?.rows;
      return [facts?.rowBytes, facts?.unsureBytes, facts?.storedBytes];
    };
    expect(await measured('sparse')).toEqual([10 + 4 * 7, 0, 100]);
    expect(await measured('told')).toEqual([1000 + 4 * 10, 0, 100]);
    expect(await measured('untold')).toEqual([90, 90, 100]);
    expect(await measured('indexed')).toEqual([16 * 10, 16 * 10, 100]);
    expect(await measured('list')).toEqual([4 * 10 + 4 * 30, 0, 100]);
    expect(await measured('holes')).toEqual([4 * 10 + 30 + 4 * 28, 0, 100]);
    expect(await measured('told', 'untold')).toEqual([1040 + 90, 90, 200]);
    const { inputs } = await openParts([directory.path('in')], { columns: ['told', 'untold'] });
    const estimate = { recordBytes: 1130, leastBytes: 1130 - 45, mostBytes: 1130 + 180, meanRecordBytes: 113 };
    expect(estimateInputs(inputs, undefined, 'draw')).toMatchObject(estimate);
  });

  it('may differ in the order of columns, and in metadata, which is told', async () => {
    const warnings: string[] = [];
    const paths = [
      writeParquet(directory.path('a'), { ...numbers('a', 'b'), keyValues: { unit: 'm' } }),
      writeParquet(directory.path('b'), numbers('b', 'a')),
      writeParquet(directory.path('c'), numbers('a', 'b')),
    ];
    await openParts(paths, { onWarning: (line) => warnings.push(line) });
    expect(warnings).toEqual([
      expect.stringMatching(/b \(and 1 other input\) has other metadata than .*a, which counts: `unit`$/),
    ]);
  });

  describe('of usual programs', () => {
    const made = new Map<string, string>(
      Object.entries(JSON.parse(gunzipSync(readFileSync(PAIRS)).toString()) as Record<string, string>),
    );
    const madeFile = (name: string) => {
      const path = directory.path(name);
      writeFileSync(path, Buffer.from(made.get(name) ?? expect.fail(`there is no ${name}`), 'latin1'));
      return path;
    };
    /** What is said of two files, in both orders. */
    const outcomes = (one: string, other: string) => {
      const paths = [madeFile(one), madeFile(other)];
      return Promise.all(
        [paths, paths.toReversed()].map(async (inOrder) => {
          const lines: string[] = [];
          await openParts(inOrder, { onWarning: (line) => lines.push(line) }).catch((error: Error) =>
            lines.push(`${(error as { code?: string }).code}: ${error.message}`),
          );
          return lines.map((line) => line.replaceAll(directory.path(), ''));
        }),
      );
    };

    it.each(UNITED)('become one: %s, %s', async (one, other) => {
      expect(await outcomes(one, other)).toEqual([[], []]);
    });

    it('may have nulls in the schema of Arrow as in that of Parquet', async () => {
      const { read } = await openParts([madeFile('required below'), madeFile('optional below')]);
      const [arrow] = readKeyValues(schemaIn(read)?.keyValues);
      const element = { name: 'element', isNullable: true, fields: [] };
      const fields = [
        { ...element, name: 'a' },
        { name: 'l', isNullable: true, fields: [element] },
      ];
      expect(readArrowSchema(arrow?.value ?? '').fields).toEqual([{ name: 'x', isNullable: true, fields }]);
    });

    it('get types of Arrow that hold the values of all files', async () => {
      const typesOf = async (...names: readonly string[]) => {
        const { read } = await openParts(names.map(madeFile));
        const { value = '' } = readKeyValues(schemaIn(read)?.keyValues).find(({ key }) => key === 'ARROW:schema') ?? {};
        return readSchemaOfArrow(value)?.fields.map(
          ({ type, dictionary }) => (dictionary?.index ?? type).parameters[0],
        );
      };
      expect(await typesOf('category')).toEqual([8]);
      expect(await typesOf('category', 'string pandas')).toEqual([32]);
      expect(await typesOf('local s')).toEqual([undefined]);
      expect(await typesOf('local s', 'local ms')).toEqual([1]);
    });

    it.each(TOLD)('become one, which is told: %s, %s', async (one, other, what) => {
      const line = (a: string, b: string) => `/${b} has other metadata than /${a}, which counts: ${what}`;
      expect(await outcomes(one, other)).toEqual([[line(one, other)], [line(other, one)]]);
    });

    it.each(REFUSED)('are refused: %s, %s', async ([one, ofOne], [other, ofOther]) => {
      const advice = `write one of the files again with the ${ofOne.includes('metadata') ? 'metadata' : 'type'} of the other`;
      const line = (b: string, ofB: string, a: string, ofA: string) =>
        expect.stringMatching(
          RegExp(
            `^ERR_INPUT_FORMAT: /${b}: its column [^ ]+ ${literal(ofB)}, but in /${a} it ${literal(ofA)}; ${advice}$`,
          ),
        );
      const expected = [line(other, ofOther, one, ofOne), line(one, ofOne, other, ofOther)];
      expect(await outcomes(one, other)).toEqual(expected.map((each) => [each]));
    });
  });

  it('are refused if a column is missing, with both files', async () => {
    const paths = [
      writeParquet(directory.path('a'), numbers('a', 'b')),
      writeParquet(directory.path('b'), numbers('a', 'c')),
    ];
    const { code, message } = await errorOf(openParts(paths));
    expect([code, message]).toEqual([
      'ERR_INPUT_FORMAT',
      expect.stringMatching(/b: its column b is missing, but in .*a /),
    ]);
    expect(schemaIn((await openParts(paths, { columns: ['a'] })).read)?.leaves).toHaveLength(1);
  });

  it('are refused beside other files, and `columns` without them', async () => {
    writeFileSync(directory.path('lines'), 'a line\n');
    const table = writeParquet(directory.path('table'), numbers('a'));
    const mixed = await errorOf(openParts([directory.path('lines'), table]));
    expect([mixed.code, mixed.message]).toEqual([
      'ERR_INPUT_FORMAT',
      expect.stringMatching(/table holds Parquet data, and .*lines does not; /),
    ]);
    const alone = await errorOf(openParts([directory.path('lines')], { columns: ['a'] }));
    expect(alone.message).toMatch(/^`columns` chooses columns of Parquet files, and no input is one; /);
  });

  it('are refused beside options about lines', async () => {
    const path = writeParquet(directory.path('table'), numbers('a'));
    const { inputs } = await listInputs([path], () => {}, { format: LINES_ASSUMED, takesRows: true });
    const beside = (more: object) => () => asRows({ ...LINES_ASSUMED, ...more }, inputs);
    expect(beside({ skipsBlank: true })).toThrow(/whose rows are not lines; leave out `skipBlank`/);
    expect(beside({ header: { kind: 'bytes', value: 3 } })).toThrow(
      /whose rows are not lines; leave out `header.bytes`/,
    );
  });

  it('are data like others where records are asked for, or where they are compressed once more', async () => {
    const path = writeParquet(directory.path('table'), numbers('a'));
    const { framing } = formatOfKind({ by: 'csv' });
    const asCsv = { ...LINES_ASSUMED, framing, linesAssumed: false };
    const csv = await listInputs([path], () => {}, { format: asCsv, takesRows: true });
    expect([...csv.inputs]).toMatchObject([{ finding: { code: 'ERR_INPUT_FORMAT' }, rows: undefined }]);
    writeFileSync(directory.path('table.gz'), gzipSync('PAR1'));
    const packed = await listInputs([directory.path('table.gz')], () => {}, {
      format: LINES_ASSUMED,
      takesRows: true,
    });
    expect([...packed.inputs]).toMatchObject([{ codec: { name: 'gzip' }, rows: undefined }]);
  });
});
