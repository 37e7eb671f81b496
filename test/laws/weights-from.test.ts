/**
 * The law of weights beside the data: numbers in files of their own give, byte for byte, what the same numbers give in the
 * records, for any settings and any kind of file. Files that do not fit their inputs are refused.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import { errorOf } from '../fixtures/error-of.js';
import { column, parquetOf, writeParquet } from '../fixtures/parquet/parquet-file.js';
import { contentOf, runClusterLocally, SMALL_TASKS } from '../fixtures/run-cluster.js';
import { atScale } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { anySettings } from './any-settings.js';
import { shuffleToFile } from './shuffle-under-test.js';

const directory = useMemoryDirectory();
const values = () => directory.path('values');

type Writer = (numbers: readonly string[]) => Buffer;

function npyOf(dtype: string, rows: number | string, body: NodeJS.ArrayBufferView): Buffer {
  const text = `{'descr': '${dtype}', 'fortran_order': False, 'shape': (${rows}), }\n`;
  const head = Buffer.concat([Buffer.from('\x93NUMPY\x01\x00..', 'latin1'), Buffer.from(text)]);
  head.writeUInt16LE(text.length, 8);
  return Buffer.concat([head, Buffer.from(body.buffer, body.byteOffset, body.byteLength)]);
}

function columnOf(numbers: readonly string[]): Buffer {
  const valueAt = (i: number) => (numbers[i] === '' ? null : Number(numbers[i]));
  const columns = [column('w', 'DOUBLE', valueAt, { repetitions: ['optional'] })];
  return parquetOf({ columns, rows: numbers.length, rowsPerGroup: 700 });
}

/** The kinds of files. */
const WRITERS: Readonly<Record<string, Writer>> = {
  npy: (numbers) => npyOf('<f8', `${numbers.length},`, Float64Array.from(numbers, Number)),
  txt: (numbers) => Buffer.from(numbers.map((number) => `${number}\n`).join('')),
  parquet: columnOf,
};

/** Writes the file of values of an input. */
function write(input: string, kind: string, content: Buffer): string {
  const path = `${join(values(), input)}.${kind}`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

beforeEach(() => mkdirSync(values()));

/** Its decimal is that of the double. */
const number = fc
  .oneof(
    fc.nat({ max: 3072 }).map((parts) => parts / 1024),
    fc.nat({ max: 4 }),
  )
  .map(String);

describe('numbers beside the data', () => {
  it('give what numbers in the records give, whatever the settings', async () => {
    const job = fc.record({
      numbers: fc.array(fc.array(number, { maxLength: 150 }), { minLength: 1, maxLength: 3 }),
      kinds: fc.array(fc.constantFrom(...Object.keys(WRITERS)), { minLength: 3, maxLength: 3 }),
      isCsv: fc.boolean(),
      factors: fc.option(fc.constantFrom(['1', '2.25', '0.5']), { nil: undefined }),
      weightCap: fc.option(fc.constantFrom('0.75', '2.125'), { nil: undefined }),
      settings: anySettings,
    });
    const check = async ({
      numbers,
      kinds,
      isCsv,
      factors,
      weightCap,
      settings,
    }: typeof job extends fc.Arbitrary<infer T> ? T : never) => {
      const lineOf = (w: string, i: number) => (isCsv ? `${i},"a\n""b""",${w}\n` : `{"i":${i},"w":${w}}\n`);
      const header = isCsv ? 'i,text,w\n' : '';
      const inputs = numbers.map((ofInput) => Buffer.from(header + ofInput.map(lineOf).join('')));
      for (const [i, ofInput] of numbers.entries()) {
        const kind = kinds[i] ?? '';
        write(directory.path(`in-${i}`), kind, WRITERS[kind]?.(ofInput) ?? Buffer.of());
      }
      const format = isCsv ? ({ records: { by: 'csv' }, header: { lines: 1 } } as const) : {};
      const asked = {
        ...format,
        inputs,
        ...(factors && { factors: factors.slice(0, inputs.length) }),
        weightCap,
        seed: 's',
        settings,
      };
      const inside = await shuffleToFile(directory, { ...asked, weightBy: isCsv ? 'csv:w' : '.w' });
      const beside = await shuffleToFile(directory, { ...asked, weightsFrom: values() });
      expect(beside.bytes.toString('latin1')).toBe(inside.bytes.toString('latin1'));
      expect(beside.report.groups).toEqual(inside.report.groups);
      rmSync(values(), { recursive: true });
    };
    await fc.assert(fc.asyncProperty(job, check), { numRuns: atScale(4, 13, 3000) });
  });

  const run = (inputs: readonly string[], more: Partial<ShuffleOptions>, name = 'out') =>
    shuffle(
      { inputs, seed: 's', output: directory.path(name), tempDirs: [directory.temp], ...more },
      { inline: true, sliceBytes: 3000 },
    );

  it('go with rows, and with splits', async () => {
    const numbers = Array.from({ length: 2000 }, (_, i) => String((i * 0.37) % 3));
    const columns = [column('i', 'INT32', (i) => i), column('w', 'DOUBLE', (i) => Number(numbers[i]))];
    writeParquet(directory.path('rows.parquet'), { columns, rows: 2000, rowsPerGroup: 450 });
    const inputs = [directory.path('rows.parquet')];
    const splits = [
      { name: 'a', share: 0.4 },
      { name: 'b', share: 0.6 },
    ];
    await run(inputs, { splits, weightBy: '.w' }, 'inside');
    for (const [kind, writer] of Object.entries(WRITERS)) {
      const path = write(directory.path('rows'), kind, writer(numbers));
      await run(inputs, { splits, weightsFrom: values() }, kind);
      expect(contentOf(directory.path(kind))).toEqual(contentOf(directory.path('inside')));
      rmSync(path);
    }
  });

  it.each([
    ['b1', Uint8Array.of(0, 1, 1), [0, 1, 1]],
    ['|i1', Int8Array.of(0, 1, 3), [0, 1, 3]],
    ['>u2', Uint8Array.of(0, 2, 0, 0, 0, 1), [2, 0, 1]],
    ['<i8', BigInt64Array.of(4n, 0n, 1n), [4, 0, 1]],
    ['<f4', Float32Array.of(2, 0, 3), [2, 0, 3]],
    ['<f2', Uint16Array.of(0x3c00, 0, 0x4400), [1, 0, 4]],
    ['>f8', Buffer.from('4008000000000000' + '0000000000000000' + '3ff0000000000000', 'hex'), [3, 0, 1]],
  ] as const)('may have the type %s', async (dtype, body, copies) => {
    writeFileSync(directory.path('in.jsonl.gz'), gzipSync('0\n1\n2'));
    write(directory.path('in'), 'npy', npyOf(dtype, '3,', body));
    await run([directory.path('in.jsonl.gz')], { weightsFrom: values() });
    const lines = readFileSync(directory.path('out'), 'latin1').trim().split('\n').sort();
    expect(lines).toEqual(copies.flatMap((count, i) => Array.from({ length: count }, () => String(i))));
  });

  it('lie beside each of many inputs', async () => {
    const inputs = Array.from({ length: 1030 }, (_, i) => {
      write(directory.path(`n${i}`), 'txt', Buffer.from(`${i % 3}\n`));
      writeFileSync(directory.path(`n${i}`), `${i}\n`);
      return directory.path(`n${i}`);
    });
    expect((await run(inputs, { weightsFrom: values() })).records).toBe(1029);
  });

  it('are found after a cut, where records have one size', async () => {
    const numbers = Float64Array.from({ length: 2000 }, (_, i) => ((i * 37) % 300) / 128);
    const inputs = [directory.path('in.bin')];
    writeFileSync(directory.path('in.bin'), new Uint8Array(numbers.buffer));
    const asked = { records: { by: 'size', recordBytes: 8 }, weightsFrom: values() } as const;
    for (const kind of ['txt', 'npy']) {
      const path = write(directory.path('in'), kind, WRITERS[kind]?.([...numbers].map(String)) ?? Buffer.of());
      await run(inputs, asked, kind);
      rmSync(path);
    }
    expect(contentOf(directory.path('npy'))).toEqual(contentOf(directory.path('txt')));
  });

  it('come out of tasks as of one job', async () => {
    const numbers = Array.from({ length: 300 }, (_, i) => String((i * 0.37) % 3));
    const inputs = ['x', 'y', 'z'].map((name, i) => {
      const kind = Object.keys(WRITERS)[i] ?? '';
      write(directory.path(name), kind, WRITERS[kind]?.(numbers) ?? Buffer.of());
      writeFileSync(directory.path(name), numbers.map((w, j) => `{"i":${j},"w":${w}}\n`).join(''));
      return directory.path(name);
    });
    await run(inputs, { weightBy: '.w' });
    const output = directory.path('of-tasks');
    const asked = { inputs, seed: 's', output, jobDir: directory.path('job'), tasks: 4, cpusPerTask: 1 };
    await runClusterLocally({ ...asked, weightsFrom: values() }, { tuning: SMALL_TASKS });
    expect(contentOf(output)).toEqual(contentOf(directory.path('out')));
  });
});

describe('a file of numbers', () => {
  const asked = (more: Partial<ShuffleOptions> = {}): ShuffleOptions => ({
    inputs: [directory.path('in.jsonl')],
    weightsFrom: values(),
    output: directory.path('out'),
    tempDirs: [directory.temp],
    ...more,
  });
  const run = (kind: string, content: string | Buffer, more: Partial<ShuffleOptions> = {}) => {
    write(directory.path('in'), kind, Buffer.from(content));
    return shuffle(asked(more), { inline: true, sliceBytes: 10 });
  };
  beforeEach(() => writeFileSync(directory.path('in.jsonl'), '{"n":1}\n'.repeat(4)));

  it.each([
    ['txt', '1\n1\n1\n', /in\.jsonl has 4 records and .*in\.txt 3 values; expected one for each record/],
    ['txt', '1\n1\n1\n1\n1', /has 4 records and .*in\.txt 5 values/],
    ['npy', npyOf('<f8', '3,', new Float64Array(3)), /has 4 records and .*in\.npy 3 values/],
    ['npy', npyOf('<f8', '5,', new Float64Array(5)), /has 4 records and .*in\.npy 5 values/],
    ['parquet', columnOf(['1', '1']), /has 4 records and .*in\.parquet 2 values/],
    ['txt', '1\n1\n-1\n1\n', /in\.txt: line 3 has -1 as a weight; expected a number from 0 to 1000000: mend it/],
    [
      'npy',
      npyOf('<f8', '4,', Float64Array.of(1, 1, 1, Number.NaN)),
      /in\.npy: entry 3 has no number as a weight; expected a number .* give `missing`/,
    ],
    ['npy', npyOf('<f4', '4,', Float32Array.of(1, 1 / 0, 1, 1)), /in\.npy: entry 1 has Infinity as a weight/],
    ['txt', '1\n1\n1\n2000000\n', /line 4 has 2000000 as a weight; .* give `weightCap`/],
    ['txt', '1\n\n1\n1\n', /line 2 has no number as a weight; expected .* give `missing`/],
    ['txt', '1\n1\n01\n1\n', /line 3 has 01 as a weight; expected a number in decimal, such as 0\.5/],
    ['parquet', columnOf(['1', '', '1', '1']), /in\.parquet: entry 1 has no number/],
    ['txt', '1'.repeat(20_000), /a line has 16384 bytes or more; expected a number in each line/],
    [
      'npy',
      npyOf('<c8', '4,', new Float64Array(4)),
      /holds rows of dtype <c8 and shape \(\); expected one number in each/,
    ],
    ['npy', npyOf('<f8', '2, 2', new Float64Array(4)), /holds rows of dtype <f8 and shape \(2\)/],
    ['npy', npyOf('<f8', '5,', new Float64Array(4)), /in\.npy: has \d+ bytes, expected \d+ by its header/],
    ['npy', 'not an array', /in\.npy: byte 0 begins an input without the magic bytes/],
    [
      'parquet',
      parquetOf({ columns: [column('w', 'BYTE_ARRAY', () => '1')], rows: 4 }),
      /column w has values of type BYTE_ARRAY; expected numbers/,
    ],
    [
      'parquet',
      parquetOf({ columns: ['a', 'b'].map((name) => column(name, 'INT32', () => 1)), rows: 4 }),
      /has 2 columns as a file of weights; expected one/,
    ],
    ['csv', '1\n', /the weights of .*in\.jsonl are missing: expected them in .*in\.npy, \.txt or \.parquet/],
  ])('named .%s is refused (%#)', async (kind, content, message) => {
    await expect(run(kind, content)).rejects.toThrow(message);
  });

  it('may not ask for too many copies by the factor of the input, but be capped', async () => {
    const weights = [{ glob: '*', factor: 2 }];
    const number = '600000\n0\n0\n0\n';
    await expect(run('txt', number, { weights })).rejects.toThrow(
      /line 1 has 600000 as a weight; .* from 0 to 500000:/,
    );
    rmSync(values(), { recursive: true });
    expect(
      (await run('npy', npyOf('<f8', '4,', Float64Array.of(1 / 0, 1, -0, 0)), { weights, weightCap: 3 })).records,
    ).toBe(8);
  });

  it('has the nearest doubles, however their decimals are written', async () => {
    const digits = (maxLength: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength });
    const decimal = fc
      .tuple(fc.nat({ max: 99 }), fc.option(digits(20), { nil: '' }), fc.constantFrom('', '', 'e0', 'E-1', '\r'))
      .map(([whole, fraction, end]) => `${whole}${fraction === '' ? '' : `.${fraction}`}${end}`);
    const check = async (decimals: string[]) => {
      writeFileSync(directory.path('in.jsonl'), '{"n":1}\n'.repeat(decimals.length));
      const texts = await run('txt', decimals.join('\n'), { seed: '1', force: true });
      rmSync(values(), { recursive: true });
      const doubles = await run('npy', WRITERS['npy']?.(decimals) ?? '', { seed: '1', force: true });
      rmSync(values(), { recursive: true });
      expect(texts.groups).toEqual(doubles.groups);
      expect(texts.groups).toBeDefined();
    };
    await fc.assert(fc.asyncProperty(fc.array(decimal, { minLength: 1, maxLength: 40 }), check), {
      numRuns: atScale(10, 40, 2000),
    });
  });

  it('may be of NumPy: with exponents, or NaN for a missing number', async () => {
    const text = '1.000000000000000000e+00\n2.000000000000000000e+00\n0.000000000000000000e+00\n1E0\n';
    expect((await run('txt', text)).records).toBe(4);
    rmSync(values(), { recursive: true });
    const numbers = Float32Array.of(Number.NaN, 1, 0, Number.NaN);
    expect((await run('npy', npyOf('<f4', '4,', numbers), { missing: '2', force: true })).records).toBe(5);
  });

  it('may lack numbers where `missing` has one, and end without a newline', async () => {
    expect((await run('txt', '1\r\n\r\n\n1', { missing: '2.0' })).records).toBe(6);
    rmSync(directory.path('out'));
    rmSync(values(), { recursive: true });
    expect((await run('parquet', columnOf(['', '1', '', '0']), { missing: '3' })).records).toBe(7);
  });

  it('must be the only one of its input, and lie below the directory', async () => {
    write(directory.path('in'), 'npy', Buffer.of());
    await expect(run('txt', '1\n')).rejects.toThrow(
      /in\.npy and .*in\.txt both hold the weights of .*in\.jsonl; remove one/,
    );
    const range = { range: { low: 1, high: 9 } };
    await expect(shuffle(asked({ inputs: [range] }))).rejects.toThrow(/has no path that names a file of weights/);
    await expect(shuffle(asked({ weightsFrom: 's3://a/b' }))).rejects.toThrow(/s3:\/\/a\/b is an address/);
  });

  it.each([
    [{ weightBy: '.n' }, /`weightsFrom` and `weightBy` contradict each other/],
    [{ skipBlank: true }, /`skipBlank` cannot be combined with `weightsFrom`/],
    [{ unique: true }, /`weightsFrom` cannot be combined with `unique`/],
    [{ keys: 'ordinal' }, /`weightsFrom` cannot be combined with `keys` ordinal/],
  ] as const)('is refused with %j', async (more, message) => {
    await expect(shuffle(asked(more))).rejects.toThrow(message);
  });

  it('must be the same when a job is resumed', async () => {
    const stopper = new AbortController();
    const onProgress = ({ phase }: { readonly phase: string }) => {
      if (phase === 'shuffle') stopper.abort();
    };
    const more = { resume: true, seed: 's' };
    const onDisk = { inline: true, mayUseRamPool: false, pileCount: 2, sliceBytes: 10 };
    const path = write(directory.path('in'), 'txt', Buffer.from('1\n2\n3\n4\n'));
    await errorOf(shuffle(asked({ ...more, signal: stopper.signal, onProgress }), onDisk));
    writeFileSync(path, '1\n2\n3\n5\n');
    await expect(shuffle(asked(more), onDisk)).rejects.toThrow(/in\.txt: the input changed since the unfinished job/);
    writeFileSync(path, '1\n2\n3\n4\n1\n');
    await expect(shuffle(asked(more), onDisk)).rejects.toThrow(/in\.txt: the input changed .*its size was 8 bytes/);
    await expect(shuffle(asked({ ...more, weightsFrom: undefined, weightBy: '.n' }), onDisk)).rejects.toThrow(
      /started with another selector of weights/,
    );
    writeFileSync(path, '1\n2\n3\n4\n');
    expect((await shuffle(asked({ force: true }), onDisk)).records).toBe(10);
  });
});
