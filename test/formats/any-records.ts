/** Inputs of all framings: valid ones, and hardly any others. */
import fc from 'fast-check';
import type { FramingSpec } from '#src/formats/framing-table.js';
import { prefixed, tfrecordOf } from './plain-framings.js';
import { TAR_DIALECTS, type TarEntry, tarOf } from './plain-tar.js';

export interface FramedInput {
  readonly spec: FramingSpec;
  readonly input: Buffer;
  /** Where samples have keys: the same input as the nth of a job, whose samples all have keys of their own. */
  readonly nth?: (n: number) => Buffer;
}

/** The inputs of one job. */
export function inputsOfJob(framed: readonly FramedInput[]): Buffer[] {
  return framed.map(({ input, nth = () => input }, n) => nth(n));
}

const bytes = (alphabet: readonly number[], most = 400) =>
  fc.array(fc.constantFrom(...alphabet), { maxLength: most }).map((values) => Buffer.from(values));
const data = fc.array(bytes([0x00, 0x0a, 0x22, 0x61, 0xff], 150), { maxLength: 25 });
const any = (spec: FramingSpec, alphabet: readonly number[]) =>
  bytes(alphabet).map((input): FramedInput => ({ spec, input }));

const delimited = fc
  .constantFrom(
    '0a',
    '0a',
    '00',
    '0d0a',
    '6162',
    '1e',
    '0a0a',
    '0d0a0d0a',
    '616261',
    '61616161',
    '2d2d2d2d2d2d2d2d2d2d2d0a',
  )
  .chain((value) =>
    any({ kind: 'delimiter', value }, [...new Set([...Buffer.from(value, 'hex'), 0x61, 0x0a, 0x0d, 0xff])]),
  );
const lines = fc.integer({ min: 1, max: 5 }).chain((value) =>
  fc.tuple(fc.array(bytes([0x61, 0x0d, 0xff], 80), { maxLength: 40 }), fc.boolean()).map(([texts, isEnded]) => {
    const whole = texts
      .slice(0, texts.length - (texts.length % value))
      .map((text) => Buffer.concat([text, Buffer.of(0x0a)]));
    const input = Buffer.concat(whole);
    // Without its last newline, unless that would leave an empty line out.
    const canLack = !isEnded && input.byteLength > 1 && input.at(-2) !== 0x0a;
    return { spec: { kind: 'lines', value } as const, input: canLack ? input.subarray(0, -1) : input };
  }),
);
const csvField = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '\r', ' '), maxLength: 70 }),
  fc.string({ unit: fc.constantFrom('a', '""', '\n', '\r\n', ',', ';'), maxLength: 70 }).map((text) => `"${text}"`),
);
const csvRow = fc.tuple(
  fc.array(csvField, { maxLength: 4 }),
  fc.constantFrom(',', ';', '\t', '|'),
  fc.constantFrom('\n', '\r\n'),
);
const csv = fc.tuple(fc.array(csvRow, { maxLength: 20 }), fc.boolean()).map(([rows, isEnded]): FramedInput => {
  const text = rows.map(([fields, separator, end]) => fields.join(separator) + end).join('');
  return { spec: { kind: 'csv', value: null }, input: Buffer.from(isEnded ? text : text.replace(/\r?\n$/, '')) };
});
/** Reads whose quality may begin with @ or +, and blank lines behind them. */
const fastqRead = fc
  .record({
    name: fc.string({ unit: fc.constantFrom('@', '+', 'a', ' '), maxLength: 90 }),
    quality: fc.string({ unit: fc.constantFrom('@', '+', 'I'), maxLength: 90 }),
    end: fc.constantFrom('\n', '\r\n'),
  })
  .map(({ name, quality, end }) => [`@${name}`, 'A'.repeat(quality.length), '+', quality, ''].join(end));
const fastq = fc
  .tuple(fc.array(fastqRead, { maxLength: 12 }), fc.constantFrom('', '\n', '\r\n', '\n \n\t\n', 'cut'))
  .map(([reads, rest]): FramedInput => {
    const text = reads.join('');
    // Only a last line with text can lack its end.
    const input = rest !== 'cut' ? text + rest : /[^\r\n]\r?\n$/.test(text) ? text.replace(/\r?\n$/, '') : text;
    return { spec: { kind: 'fastq', value: null }, input: Buffer.from(input) };
  });
const BEGINNINGS = ['>', '@', 'aab', 'abab', '"', '\r', 'é', '0123456789'.repeat(12)];
const beginsWith = fc.constantFrom(...BEGINNINGS).chain((text) => {
  const parts = fc.constantFrom(text, '\n', '\n', '\r\n', `\n${text}`, `\na${text}`, text.slice(0, -1), 'a');
  return fc.array(parts, { maxLength: 40 }).map(
    (all): FramedInput => ({
      spec: { kind: 'begins-with', value: Buffer.from(text).toString('hex') },
      input: Buffer.from(all.length === 0 ? '' : `${text}${all.join('')}`),
    }),
  );
});
const fasta = fc.array(fc.constantFrom('>', '\n', '\n', '\r\n', '\n>', 'ACGT', 'A'.repeat(70)), { maxLength: 40 }).map(
  (parts): FramedInput => ({
    spec: { kind: 'fasta', value: null },
    input: Buffer.from(parts.length === 0 ? '' : `>${parts.join('')}`),
  }),
);
const fixed = fc.integer({ min: 1, max: 70 }).chain((value) =>
  fc.nat({ max: 90 }).map((count) => ({
    spec: { kind: 'size', value } as const,
    input: Buffer.from(Array.from({ length: count * value }, (_, i) => (i * 7) % 256)),
  })),
);
const prefixedLengths = fc.constantFrom('u32le', 'u32be', 'u64le', 'varint').chain((value) =>
  data.map((all) => ({
    spec: { kind: 'length-prefix', value } as const,
    input: Buffer.concat(all.map((one) => prefixed(one, value))),
  })),
);
const tfrecord = data.map((all) => ({
  spec: { kind: 'tfrecord', value: null } as const,
  input: Buffer.concat(all.map(tfrecordOf)),
}));

/** Few keys, so that they come twice in a row. */
const tarEntries = fc.array(
  fc.record({
    name: fc.oneof(
      {
        weight: 5,
        arbitrary: fc.tuple(fc.constantFrom('0', './a/0', 'a.b/1', 'é/1'), fc.constantFrom('.jpg', '.a.b')),
      },
      { weight: 1, arbitrary: fc.tuple(fc.constantFrom('a/', 'a.b/1.c/'), fc.constant('')) },
    ),
    data: bytes([0x00, 0x0a, 0x61, 0xff], 700),
    dialect: fc.constantFrom(...TAR_DIALECTS),
  }),
  { maxLength: 8 },
);
const webdataset = fc.tuple(tarEntries, fc.integer({ min: 1, max: 5 })).map(([entries, zeroBlocks]) => {
  const all = entries.map(({ name, data, dialect }) => {
    const path = name.join('');
    return { name: path, data: path.endsWith('/') ? Buffer.alloc(0) : data, dialect };
  });
  const nth = (n: number) => tarOf(withKeysOfTheirOwn(all, n), zeroBlocks);
  return { spec: { kind: 'webdataset', value: null } as const, input: tarOf(all, zeroBlocks), nth };
});

/** Numbers the samples, in the names of their members. */
function withKeysOfTheirOwn(entries: readonly TarEntry[], n: number): TarEntry[] {
  let last: string | undefined;
  let sample = 0;
  return entries.map((entry) => {
    const [, key, rest] = /^((?:.*\/)?[^./]+)(\.[^/]*)$/.exec(entry.name) ?? [];
    if (key === undefined) return entry;
    if (key !== last) sample += 1;
    last = key;
    return { ...entry, name: `${key}-${n}-${sample}${rest}` };
  });
}

export const framedInputs: Readonly<Record<FramingSpec['kind'], fc.Arbitrary<FramedInput>>> = {
  delimiter: delimited,
  lines,
  csv,
  fastq,
  'begins-with': beginsWith,
  fasta,
  paragraphs: any({ kind: 'paragraphs', value: null }, [0x0a, 0x0a, 0x61, 0x0d]),
  size: fixed,
  'length-prefix': prefixedLengths,
  tfrecord,
  webdataset,
};
