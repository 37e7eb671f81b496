/**
 * The limits that a preview gives for the number of records hold as often as it says, in 95 of 100 corpora: of lengths of
 * every kind, sorted ones, and many files that differ. The windows are as small as the corpora.
 */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import seedrandom from 'seedrandom/seedrandom.js';
import { expect, it } from 'vitest';
import { gzip } from '#src/formats/codecs/gzip.js';
import { LINES } from '#src/formats/framing-table.js';
import { previewShuffle } from '#src/index.js';
import { type SampledFile, sampleRecords } from '#src/job/sample-records.js';
import { atScale } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const CORPORA = atScale(4, 80, 200);
const CORPUS_BYTES = 2_000_000;
const WINDOWS = { windowBytes: 1024, fewest: 128, most: 512 };

interface CorpusKind {
  readonly files: number;
  /** The lengths of the records of a file. */
  readonly lengths: (draw: Draw) => () => number;
  readonly isSorted?: true;
  readonly gzips?: true;
  /** Standard deviation of the logarithms of the sizes of files. */
  readonly unequal?: number;
}

interface Draw {
  readonly uniform: () => number;
  readonly normal: () => number;
}

const lognormal = (mean: number, deviation: number) => (draw: Draw) => () => Math.exp(mean + deviation * draw.normal());
const oneOfTwo = (share: number, short: number, long: number) => (draw: Draw) => () =>
  draw.uniform() < share ? short : long;
const ofFile = (draw: Draw) => {
  const mean = Math.exp(3 + 1.5 * draw.normal());
  return () => mean * (0.5 + draw.uniform());
};

const KINDS: Readonly<Record<string, CorpusKind>> = {
  lognormal: { files: 2, lengths: lognormal(4, 1) },
  'lognormal, with records longer than a window': { files: 3, lengths: lognormal(4, 2) },
  bimodal: { files: 2, lengths: oneOfTwo(0.5, 20, 4000) },
  'short records between long ones': { files: 2, lengths: oneOfTwo(0.9, 10, 10_000) },
  sorted: { files: 1, lengths: lognormal(4, 1.5), isSorted: true },
  'sorted, in many files': { files: 20, lengths: lognormal(4, 1.5), isSorted: true },
  'files of different lengths': { files: 30, lengths: ofFile, unequal: 1 },
  'very many files of different lengths': { files: 300, lengths: ofFile },
  'many gzip files of different lengths': { files: 300, lengths: ofFile, gzips: true },
};

function lengthsOf({ files, lengths, isSorted, unequal = 0 }: CorpusKind, uniform: () => number): number[][] {
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  const draw = { uniform, normal };
  const sizes = Array.from({ length: files }, () => Math.exp(unequal * normal()));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const made = sizes.map((size) => {
    const next = lengths(draw);
    const ofFiles: number[] = [];
    for (let bytes = 0; bytes < (CORPUS_BYTES * size) / all; bytes += ofFiles.at(-1) ?? 0)
      ofFiles.push(Math.min(100_000, Math.max(1, Math.round(next()))));
    return ofFiles;
  });
  if (isSorted !== true) return made;
  const sorted = made.flat().sort((a, b) => a - b);
  const each = Math.ceil(sorted.length / files);
  return made.map((_, i) => sorted.slice(i * each, (i + 1) * each)).filter(({ length }) => length > 0);
}

function writeFile(name: string, lengths: readonly number[], gzips: boolean): SampledFile {
  const bytes = lengths.reduce((sum, length) => sum + length, 0);
  const text = Buffer.alloc(bytes, 'x');
  let end = 0;
  for (const length of lengths) {
    end += length;
    text[end - 1] = 0x0a;
  }
  const path = directory.path(name);
  const stored = gzips ? gzipSync(text, { level: 1 }) : text;
  writeFileSync(path, stored);
  const version = { byteLength: stored.byteLength, identity: '' } as SampledFile['input']['version'];
  const header = { byteLength: 0 } as SampledFile['input']['header'];
  return {
    input: { kind: 'file', path, version, header, codec: gzips ? gzip : undefined } as never,
    ordinal: 0,
    bytes,
  };
}

it('the number of records lies within its limits in 95 of 100 corpora', async () => {
  let inside = 0;
  const outside: string[] = [];
  for (let i = 0; i < CORPORA; i++) {
    const [name, kind] = Object.entries(KINDS)[i % Object.keys(KINDS).length] ?? expect.fail('there are kinds');
    const lengths = lengthsOf(kind, seedrandom(`corpus ${i}`));
    const files = lengths.map((ofFiles, file) => writeFile(`${file}`, ofFiles, kind.gzips === true));
    const { records } = await sampleRecords(files, LINES, `${i}`, undefined, undefined, WINDOWS);
    const truth = lengths.flat().length;
    if (records.least <= truth && truth <= records.most) inside += 1;
    else outside.push(`${name} (corpus ${i}): ${JSON.stringify(records)}, but ${truth}`);
  }
  // Three standard deviations fewer than 95 of 100.
  expect(inside, outside.join('\n')).toBeGreaterThanOrEqual(0.95 * CORPORA - 3 * Math.sqrt(0.0475 * CORPORA));
});

it('a preview counts small inputs, also compressed ones', async () => {
  const lengths = lengthsOf({ files: 3, lengths: lognormal(4, 2) }, seedrandom('small'));
  for (const [i, ofFile] of lengths.entries()) writeFile(`small-${i}.gz`, ofFile, true);
  const inputs = lengths.map((_, i) => directory.path(`small-${i}.gz`));
  const { inputs: told } = await previewShuffle({ inputs, output: directory.path('out') });
  const records = lengths.flat().length;
  expect(told.records).toEqual({ least: records, expected: records, most: records });
});
