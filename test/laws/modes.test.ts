/**
 * The modes of a shuffle, a row each: in every format, in shards and from streams a mode writes the records that the plain
 * reference says, behind the header of the inputs.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type ShardRule, type ShuffleOptions, shuffle, type Tuning } from '#src/index.js';
import { useFedPipes } from '../fixtures/fed-pipes.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { splitPlainly } from '../formats/plain-framings.js';
import { bundlesInOrder } from './bundle-order.js';
import { FORMAT_SAMPLES } from './format-samples.js';
import { keptOrder } from './kept-order.js';
import { referenceShardBytes } from './reference-cuts.js';
import { drawsFrom, orderRecords, recordsOf, uniqueOrder, uniqueOrderBy } from './reference-order.js';
import { referenceSplits, SPLITS, SPLITS_BEGIN, splitsByKey } from './reference-splits.js';
import { identityOf } from './valued-records.js';
import { copiesAndChance, keyedCopies, orderCopies, weightOfNumber } from './weighed-order.js';

const directory = useMemoryDirectory();
const pipeOf = useFedPipes(directory);
const SEED = 'modes';

/** What the inputs hold: the records of each, behind so many bytes of header. */
interface Held {
  readonly records: readonly (readonly Buffer[])[];
  readonly headerBytes: readonly number[];
}

interface Mode {
  readonly name: string;
  optionsOf(inputs: readonly string[]): Partial<ShuffleOptions>;
  /** The records of each output. */
  expected(held: Held): readonly (readonly Buffer[])[];
  /** Whether records need the columns of `ROWS`; whether samples of tar files cannot come so; whether it has draws. */
  readonly needsColumns?: true;
  readonly refusesTar?: true;
  readonly draws?: true;
}

const all = ({ records, headerBytes }: Held, keys?: 'ordinal') =>
  orderRecords(records, SEED, headerBytes, undefined, keys);
const siteOf = (row: Buffer) => identityOf(row.toString('latin1').split(',')[1] ?? '');
const textOf = (row: Buffer) => identityOf(row.toString('latin1').slice(0, -1).split(',')[2] ?? '');
const cappedWeight = (row: Buffer) => weightOfNumber(row.toString('latin1').split(',')[0] ?? '', '1', '2.5');
const factorsOf = (factors: readonly string[]) => (inputs: readonly string[]) => ({
  weights: inputs.map((glob, i) => ({ glob, factor: factors[i % 2] ?? '' })),
});
const BY_NUMBER = { weightBy: '/^(\\d)/' } as const;
const numberIn = (row: Buffer) => row.toString('latin1').slice(0, 1);
const MORE = ['2.25', '0.4'];
const LESS = ['0.5', '1'];
const copies = ({ records, headerBytes }: Held, factors: readonly string[]) =>
  orderCopies(records, factors, SEED, headerBytes);

const MODES: readonly Mode[] = [
  { name: 'all records', optionsOf: () => ({}), expected: (held) => [all(held)] },
  {
    name: 'all records by their ordinals',
    optionsOf: () => ({ keys: 'ordinal' }),
    expected: (held) => [all(held, 'ordinal')],
  },
  { name: 'no records', optionsOf: () => ({ headCount: 0 }), expected: () => [[]] },
  { name: 'the first records', optionsOf: () => ({ headCount: 9 }), expected: (held) => [all(held).slice(0, 9)] },
  {
    name: 'unique records',
    optionsOf: () => ({ unique: true }),
    expected: ({ records }) => [uniqueOrder(records.flat(), SEED)],
    refusesTar: true,
  },
  {
    name: 'the first of each value',
    optionsOf: () => ({ uniqueBy: 'csv:site' }),
    expected: ({ records }) => [uniqueOrderBy(records.flat(), SEED, siteOf)],
    needsColumns: true,
  },
  {
    name: 'bundles',
    optionsOf: () => ({ groupBy: 'csv:site' }),
    expected: ({ records }) => [bundlesInOrder(records, SEED, siteOf).flatMap((bundle) => bundle.records)],
    needsColumns: true,
  },
  {
    name: 'some of the bundles',
    optionsOf: (inputs) => ({ ...factorsOf(LESS)(inputs), groupBy: 'csv:site' }),
    expected: ({ records }) => {
      const weightOf = (_: Buffer, ordinal: number) => copiesAndChance(LESS[ordinal % 2] ?? '');
      return [bundlesInOrder(records, SEED, siteOf, weightOf).flatMap((bundle) => bundle.records)];
    },
    needsColumns: true,
  },
  { name: 'some of the records', optionsOf: factorsOf(LESS), expected: (held) => [copies(held, LESS)] },
  {
    name: 'copies of records',
    optionsOf: factorsOf(MORE),
    expected: (held) => [copies(held, MORE)],
    refusesTar: true,
  },
  {
    name: 'the first of the copies',
    optionsOf: (inputs) => ({ ...factorsOf(MORE)(inputs), headCount: 90 }),
    expected: (held) => [copies(held, MORE).slice(0, 90)],
    refusesTar: true,
  },
  {
    name: 'copies of unique records',
    optionsOf: (inputs) => ({ ...factorsOf(MORE)(inputs), unique: true }),
    expected: ({ records }) =>
      keptOrder(
        records,
        { identityOf: (record) => record, weightOf: (_, i) => copiesAndChance(MORE[i % 2] ?? '') },
        SEED,
      ),
    refusesTar: true,
  },
  {
    name: 'copies by a number',
    optionsOf: (inputs) => ({ ...factorsOf(MORE)(inputs), ...BY_NUMBER }),
    expected: ({ records, headerBytes }) => [
      orderCopies(records, (row, i) => weightOfNumber(numberIn(row), MORE[i % 2]), SEED, headerBytes),
    ],
    needsColumns: true,
  },
  {
    name: 'copies by a number, in splits',
    optionsOf: () => ({ ...BY_NUMBER, splits: SPLITS }),
    expected: ({ records, headerBytes }) => {
      const keyed = keyedCopies(records, (row) => weightOfNumber(numberIn(row)), SEED, headerBytes, SPLITS_BEGIN);
      const splitOf = (key: bigint) => SPLITS_BEGIN.findLastIndex((bound) => bound <= key);
      return SPLITS.map((_, i) => keyed.filter(({ key }) => splitOf(key) === i).map(({ record }) => record));
    },
    needsColumns: true,
  },
  {
    name: 'draws',
    optionsOf: () => ({ repeat: true, headCount: 90 }),
    expected: (held) => [drawsFrom(all(held), SEED, 90)],
    refusesTar: true,
    draws: true,
  },
  {
    name: 'draws of unique records',
    optionsOf: () => ({ repeat: true, headCount: 90, unique: true }),
    expected: ({ records }) => [drawsFrom(uniqueOrder(records.flat(), SEED), SEED, 90)],
    refusesTar: true,
    draws: true,
  },
  {
    name: 'splits',
    optionsOf: () => ({ splits: SPLITS }),
    expected: ({ records, headerBytes }) => splitsByKey(records, SEED, headerBytes),
  },
  {
    name: 'splits of values',
    optionsOf: () => ({ splits: SPLITS, splitBy: 'csv:site' }),
    expected: ({ records, headerBytes }) => referenceSplits(records, SEED, siteOf, headerBytes),
    needsColumns: true,
  },
  {
    name: 'splits of the first of each value',
    optionsOf: () => ({ splits: SPLITS, splitBy: 'csv:site', uniqueBy: 'csv:site' }),
    expected: ({ records }) =>
      keptOrder(records, { identityOf: siteOf, splitValueOf: siteOf, bounds: SPLITS_BEGIN }, SEED),
    needsColumns: true,
  },
  {
    name: 'copies of the first of each value',
    optionsOf: () => ({ uniqueBy: 'csv:site', weightBy: 'csv:id', weightCap: '2.5' }),
    expected: ({ records }) => keptOrder(records, { identityOf: siteOf, weightOf: cappedWeight }, SEED),
    needsColumns: true,
  },
  {
    name: 'copies of the first of each value in splits of another',
    optionsOf: () => ({ unique: true, weightBy: 'csv:id', weightCap: '2.5', splits: SPLITS, splitBy: 'csv:text' }),
    expected: ({ records }) =>
      keptOrder(
        records,
        { identityOf: (row) => row, weightOf: cappedWeight, splitValueOf: textOf, bounds: SPLITS_BEGIN },
        SEED,
      ),
    needsColumns: true,
  },
];

/** What each output holds, in the order of the splits and shards. */
async function outputsOf(mode: Mode, options: Partial<ShuffleOptions>, inputs: readonly string[], tuning: Tuning) {
  const output = directory.path('out');
  rmSync(output, { recursive: true, force: true });
  const asked = { ...options, ...mode.optionsOf(inputs), inputs, output, seed: SEED };
  const { shards } = await shuffle({ ...asked, tempDirs: [directory.temp] }, tuning);
  return (shards.length === 0 ? [output] : shards).map((path) => readFileSync(path, 'latin1'));
}

describe.each(MODES.filter(({ needsColumns }) => !needsColumns))('$name', (mode) => {
  const formats = FORMAT_SAMPLES.filter(({ spec }) => !(mode.refusesTar && spec.kind === 'webdataset'));

  it.each(sampled(formats, 9, MODES.indexOf(mode), 3))('of $name have its header', async ({ spec, around, bodies }) => {
    const paths = bodies.map((body, i) => {
      writeFileSync(directory.path(`in-${i}`), Buffer.concat([around.header(body.byteLength), body]));
      return directory.path(`in-${i}`);
    });
    const held = {
      records: bodies.map((body) => splitPlainly(spec, body)),
      headerBytes: bodies.map((body) => around.header(body.byteLength).byteLength),
    };
    // Without a record to write, even streams are read for their headers alone.
    const inputs = mode.name === 'no records' ? paths.map(pipeOf) : paths;
    const expected = mode.expected(held).map((records) => {
      const body = Buffer.concat(records);
      return Buffer.concat([around.header(body.byteLength), body, around.trailer]).toString('latin1');
    });
    expect(await outputsOf(mode, around.options, inputs, { inline: true })).toEqual(expected);
  });
});

/** Rows of which some come often, and some are long. */
const HEADER = 'id,site,text\n';
const ROWS = [0, 1].map((input) =>
  Array.from({ length: 500 }, (_, i) => {
    const which = i % 3 === 0 ? i % 7 : i * (input + 1);
    return `${which},s${(which * 7) % 40},${'x'.repeat((which * which) % 120)}\n`;
  }).join(''),
);
const HELD: Held = {
  records: ROWS.map((text) => recordsOf(Buffer.from(text), 0x0a)),
  headerBytes: ROWS.map(() => HEADER.length),
};
const CSV = { records: { by: 'csv' }, header: { lines: 1 } } as const;
const SMALL: Tuning = { inline: true, pileCount: 5, bufferBytes: 500, sliceBytes: 3000 };

function writeRows(): string[] {
  return ROWS.map((text, i) => {
    writeFileSync(directory.path(`rows-${i}`), HEADER + text);
    return directory.path(`rows-${i}`);
  });
}

const RULES: readonly ShardRule[] = [
  { by: 'count', shardCount: 7 },
  { by: 'records', recordsPerShard: 50 },
  { by: 'bytes', maxShardBytes: 700 },
  { by: 'bytes', maxShardBytes: 9000 },
];

/** How many bytes of records each shard has. */
function shardBytesOf(records: readonly Buffer[], rule: ShardRule): number[] {
  const lengths = records.map(({ byteLength }) => byteLength);
  if (rule.by === 'bytes') return referenceShardBytes(lengths, rule.maxShardBytes - HEADER.length);
  const count = rule.by === 'count' ? Number(rule.shardCount) : Math.ceil(lengths.length / rule.recordsPerShard);
  const cut = (shard: number) =>
    rule.by === 'count' ? Math.floor((shard * lengths.length) / count) : shard * rule.recordsPerShard;
  return Array.from({ length: count }, (_, shard) =>
    lengths.slice(cut(shard), cut(shard + 1)).reduce((sum, length) => sum + length, 0),
  );
}

describe('shards', () => {
  const cases = MODES.flatMap((mode) =>
    RULES.filter((rule) => !(mode.draws && rule.by === 'bytes')).map((rule) => ({ mode, rule })),
  ).filter(({ mode: { name } }) => name !== 'no records' && !name.includes('splits') && !name.includes('bundles'));

  it.each(sampled(cases, 10, 2, 3))('of $mode.name are cut as one file of them is: $rule', async ({ mode, rule }) => {
    const [records = []] = mode.expected(HELD);
    const body = Buffer.concat(records).toString('latin1');
    let end = 0;
    const expected = shardBytesOf(records, rule).map((byteLength) => {
      end += byteLength;
      return HEADER + body.slice(end - byteLength, end);
    });
    expect(end).toBe(body.length);
    const inputs = writeRows();
    for (const tuning of [{ inline: true }, SMALL, { ...SMALL, pileCount: 1, mayUseRamPool: false }])
      expect(await outputsOf(mode, { ...CSV, shards: rule }, inputs, tuning)).toEqual(expected);
  });
});

describe('streams', () => {
  it.each(sampled(MODES, 4, 1))('give $name as files do', async (mode) => {
    const expected = mode.expected(HELD).map((records) => HEADER + Buffer.concat(records).toString('latin1'));
    const [first = '', second = ''] = writeRows();
    for (const inputs of [
      [pipeOf(first), second],
      [first, pipeOf(second)],
      [pipeOf(first), pipeOf(second)],
    ])
      expect(await outputsOf(mode, CSV, inputs, SMALL)).toEqual(expected);
  });
});
