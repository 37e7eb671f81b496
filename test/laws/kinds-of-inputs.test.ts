/**
 * Each rule of choosing records, for each kind of inputs: CSV, rows of Parquet and of HDF5, and objects of S3 give the
 * records that the same data gives as JSON lines on a disk. Where positions differ, docs/ORDER.md says which they are.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { formatNpyHeader } from '#src/formats/headers/npy-header.js';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import { recordsIn, writeNumbers } from '../fixtures/hdf5-files.js';
import { sampled } from '../fixtures/scale.js';
import { rowOf, textsOfGroups, writeTable } from '../fixtures/tables.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { endObjectServers, type ObjectServer, startObjectServer } from '../remote/object-server.js';
import { keptOrder } from './kept-order.js';
import { orderCopies, weightOfNumber } from './weighed-order.js';

const directory = useMemoryDirectory();
let server: ObjectServer;
afterAll(endObjectServers);
beforeEach(async () => {
  server = await startObjectServer({});
  vi.stubEnv('AWS_ENDPOINT_URL', server.url);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

/** The first rows of both inputs are equal. */
const inputs = ['a', 'b'].map((name, file) => ({
  name,
  rows: Array.from({ length: 120 }, (_, i) => ({ id: i < 10 ? i : file * 120 + i, number: (i * i) % 7 })),
}));
type Row = (typeof inputs)[number]['rows'][number];

interface Kind {
  readonly ending: string;
  readonly selector: string;
  /** The field of JSON lines with equal values: a column has strings. */
  readonly twin: '.number' | '.text';
  readonly options?: Partial<ShuffleOptions>;
  readonly isRemote?: boolean;
  /** Present: positions are numbers of rows. */
  readonly isOfRows?: boolean;
  write(path: string, rows: readonly Row[]): void;
  recordOf(row: Row): Buffer;
  idsIn(path: string): readonly number[];
}

/** All have the same length, so that rows of CSV lie at the same positions. */
const jsonOf = ({ id, number }: Row) =>
  Buffer.from(`{"id":${String(id).padStart(3)},"number":${number},"text":"${number}"}\n`);
const csvOf = (row: Row) =>
  Buffer.from(`${row.id},${row.number},`.padEnd(jsonOf(row).byteLength - 1, 'x').concat('\n'));
const linesOf = (bytes: Buffer) => bytes.toString().split('\n').slice(0, -1);

const JSON_LINES: Kind = {
  ending: 'jsonl',
  selector: '.number',
  twin: '.number',
  write: (path, rows) => writeFileSync(path, Buffer.concat(rows.map(jsonOf))),
  recordOf: jsonOf,
  idsIn: (path) => linesOf(readFileSync(path)).map((line) => JSON.parse(line).id),
};
/** So long a text is in no dictionary, which a test would have to decode. */
const textOf = ({ id, number }: Row) => ({ text: String(id).padStart(1100), number });
const KINDS: Readonly<Record<string, Kind>> = {
  CSV: {
    ending: 'csv',
    selector: 'csv:2',
    twin: '.text',
    options: { records: { by: 'csv' } },
    write: (path, rows) => writeFileSync(path, Buffer.concat(rows.map(csvOf))),
    recordOf: csvOf,
    idsIn: (path) => linesOf(readFileSync(path)).map((line) => Number.parseInt(line, 10)),
  },
  Parquet: {
    ending: 'parquet',
    selector: '.number',
    twin: '.number',
    options: { parquetCodec: 'none' },
    isOfRows: true,
    write: (path, rows) => writeTable(path, rows.map(textOf), 50),
    recordOf: (row) => rowOf(textOf(row)),
    idsIn: (path) => textsOfGroups(path).flat().map(Number),
  },
  HDF5: {
    ending: 'h5',
    selector: '.number',
    twin: '.number',
    isOfRows: true,
    write: (path, rows) => {
      const names = { numbers: 'id', tag: 'number' };
      writeNumbers(
        path,
        rows.map(({ id, number }) => [id, 0, number]),
        9,
        names,
      );
    },
    recordOf: ({ id, number }) => Buffer.of(id, 0, 0, 0, 0, 0, 0, 0, number),
    idsIn: (path) => recordsIn(readFileSync(path), '/id').map((hex) => Number.parseInt(hex.slice(0, 2), 16)),
  },
  S3: { ...JSON_LINES, isRemote: true },
};

interface Rule {
  /**
   * @param value a selector of values that are compared. @param number a selector of numbers. @param beside a directory of
   * numbers.
   */
  readonly options: (value: string, number: string, beside: string) => Partial<ShuffleOptions>;
  /** Absent: keys follow from positions. */
  readonly keysFrom?: 'values' | 'records' | 'positions with copies';
}
const splits = [
  { name: 'train', share: 0.7 },
  { name: 'test', rest: true },
] as const;
const shards = { by: 'count', shardCount: 3 } as const;
const weights = [{ glob: 'b.*', factor: '0.3' }];

const RULES: Readonly<Record<string, Rule>> = {
  splitBy: { options: (splitBy) => ({ splitBy, splits }) },
  each: { options: (value) => ({ each: `number=${value}` }) },
  weightBy: { options: (_, weightBy) => ({ weightBy, weights, weightCap: 2 }), keysFrom: 'positions with copies' },
  weightsFrom: {
    options: (_, __, weightsFrom) => ({ weightsFrom, weights, weightCap: 2, shards }),
    keysFrom: 'positions with copies',
  },
  unique: { options: () => ({ unique: true, shards }), keysFrom: 'records' },
  uniqueBy: { options: (uniqueBy) => ({ uniqueBy, shards }), keysFrom: 'values' },
  'uniqueBy, weightBy, splitBy': {
    options: (value, weightBy) => ({ uniqueBy: value, weightBy, weights, splitBy: value, splits }),
    keysFrom: 'values',
  },
  groupBy: { options: (groupBy) => ({ groupBy, shards }), keysFrom: 'values' },
  'groupBy, splitBy': { options: (value) => ({ groupBy: value, splitBy: value, splits }), keysFrom: 'values' },
};

/** Runs a job. Returns the identity of each record of each file, by its name without its ending, and the sums. */
async function outcomeOf(kind: Kind, options: Partial<ShuffleOptions>) {
  const paths = inputs.map(({ name, rows }) => {
    const path = directory.path(`${name}.${kind.ending}`);
    kind.write(path, rows);
    return path;
  });
  const isRemote = kind.isRemote === true;
  // One set of shards for each value is on a disk.
  const mayUpload = isRemote && options.each === undefined;
  if (isRemote) {
    const objects = paths.map((path) => [`in/${relative(directory.path(), path)}`, readFileSync(path)]);
    await server.change({}, Object.fromEntries(objects));
  }
  const output = mayUpload ? 's3://bucket/out/' : directory.path('out');
  const isFile = options.shards === undefined && options.splits === undefined && options.each === undefined;
  const file = mayUpload ? `s3://bucket/out.${kind.ending}` : directory.path(`out.${kind.ending}`);
  const report = await shuffle(
    {
      ...kind.options,
      ...options,
      inputs: isRemote ? inputs.map(({ name }) => `s3://bucket/in/${name}.${kind.ending}`) : paths,
      output: isFile ? file : output,
      signRequests: false,
      sum: kind.selector,
      seed: 's',
      tempDirs: [directory.temp],
      memoryBytes: 2 ** 26,
      force: true,
    },
    { inline: true, sliceBytes: 900, pileCount: 5, mayUseRamPool: false },
  );
  const files: (readonly [name: string, ids: readonly number[]])[] = [];
  for (const path of isFile ? [file] : report.shards) {
    const name = relative(isFile ? '' : output, path).replace(/\.\w+$/, '');
    const local = directory.path('downloaded');
    if (mayUpload) {
      const response = await fetch(`${server.url}/${path.slice('s3://bucket/'.length)}`);
      writeFileSync(local, Buffer.from(await response.arrayBuffer()));
    }
    files.push([isFile ? 'out' : name, kind.idsIn(mayUpload ? local : path)]);
  }
  rmSync(output, { recursive: true, force: true });
  return { files, sum: report.sum?.total, ofSplits: report.splits?.map((split) => split.sum) };
}

/** Writes the numbers of each row beside the data. */
function writeBeside(isRemote: boolean): string {
  const root = directory.path('beside');
  const below = isRemote ? `${root}/bucket/in` : `${root}${directory.path()}`;
  mkdirSync(below, { recursive: true });
  for (const { name, rows } of inputs) {
    const numbers = Float64Array.from(rows, ({ number }) => number);
    const header = formatNpyHeader({ dtype: '<f8', rowShape: [] }, rows.length);
    writeFileSync(`${below}/${name}.npy`, Buffer.concat([header, Buffer.from(numbers.buffer)]));
  }
  return root;
}

/** What the model of weighed records says, for keys by the number of a row. */
function weighedIds(): number[] {
  const numberOf = new Map(inputs.flatMap(({ rows }) => rows.map(({ id, number }) => [id, String(number)])));
  const records = inputs.map(({ rows }) => rows.map(({ id }) => Buffer.of(id)));
  const weightOf = ([id = 0]: Buffer, ordinal: number) =>
    weightOfNumber(numberOf.get(id) ?? '', ['1', '0.3'][ordinal], '2');
  return orderCopies(records, weightOf, 's').map(([id = 0]) => id);
}

/** What the model of kept records says. */
function uniqueIds({ recordOf }: Kind): number[] {
  const records = inputs.map(({ rows }) => rows.map(recordOf));
  const idOf = new Map(inputs.flatMap(({ rows }) => rows.map((row) => [recordOf(row).toString('hex'), row.id])));
  const kept = keptOrder(records, { identityOf: (record) => record }, 's').flat();
  return kept.map((record) => idOf.get(record.toString('hex')) ?? -1);
}

const cases = Object.entries(RULES).flatMap(([name, rule]) =>
  Object.entries(KINDS).map(([kindName, kind]) => [name, kindName, rule, kind] as const),
);

describe('a rule of choosing records', () => {
  it.each(sampled(cases, 7))('%s chooses those of %s as of JSON lines', async (_, __, { options, keysFrom }, kind) => {
    const isRemote = kind.isRemote === true;
    const isOfRows = kind.isOfRows === true;
    const found = await outcomeOf(kind, options(kind.selector, kind.selector, writeBeside(isRemote)));
    if (keysFrom === 'records' || (isOfRows && keysFrom === 'positions with copies')) {
      expect(found.files.flatMap(([, ids]) => ids)).toEqual(keysFrom === 'records' ? uniqueIds(kind) : weighedIds());
      return;
    }
    const keys = isOfRows && keysFrom === undefined ? 'ordinal' : undefined;
    const twin = { ...options(kind.twin, '.number', writeBeside(false)), keys } as const;
    expect(found).toEqual(await outcomeOf(JSON_LINES, twin));
  });
});
