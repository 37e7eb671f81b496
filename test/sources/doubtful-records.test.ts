/** Names that say that a line is not a record, and names of mates: one line for all inputs, or none. */
import { describe, expect, it } from 'vitest';
import { LINES } from '#src/formats/framing-table.js';
import type { RecordFormat } from '#src/formats/record-format.js';
import { refuseForeignFiles, warnOfMates } from '#src/sources/doubtful-records.js';
import type { Input } from '#src/sources/input.js';

const streams = (names: readonly string[]): Input[] => names.map((path) => ({ kind: 'stream', path, identity: path }));
const assumed: RecordFormat = { framing: LINES, header: undefined, linesAssumed: true };
const insisted: RecordFormat = { ...assumed, linesAssumed: false };
const withHeader: RecordFormat = {
  ...assumed,
  header: { kind: 'lines', value: { count: 1, lineEnd: '0a', isQuoted: false } },
};
const fourLines: RecordFormat = { ...insisted, framing: { kind: 'lines', value: 4 } };
const eightLines: RecordFormat = { ...insisted, framing: { kind: 'lines', value: 8 } };

/** The warnings, or the refusal. */
function toldOf(names: readonly string[], format = assumed): string[] {
  const told: string[] = [];
  try {
    refuseForeignFiles(streams(names), format, true, (line) => told.push(line));
  } catch (error) {
    expect(error).toMatchObject({ code: 'ERR_INPUT_FORMAT' });
    told.push((error as Error).message);
  }
  return told;
}

function mateWarningsOf(names: readonly string[], format = fourLines): string[] {
  const warnings: string[] = [];
  warnOfMates(streams(names), format, true, (line) => warnings.push(line));
  return warnings;
}

const refusal = (named: string) => [
  `${named}: its name stands for a table, whose rows may hold newlines and whose first line may be a header; give \`records: { by: 'csv' }\` if fields may be quoted, \`header.lines\` 1 if the first line is a header, or \`records: { by: 'lines' }\` if each line is a record`,
];

describe('names of tables', () => {
  it.each([
    [['a.csv'], refusal('a.csv')],
    [['a.tsv.gz', 'b.txt', 'c.TSV'], refusal('a.tsv.gz and 1 other input')],
    [['b', 'a.CSV.GZ', 'b.tab.zst', 'c.psv.xz'], refusal('a.CSV.GZ and 2 other inputs')],
    [['a.jsonl', 'csv', 'a.csv.txt', 'fastq/a.txt', '-', 'a.csv/b'], []],
  ])('%j', (names, told) => expect(toldOf(names)).toEqual(told));

  it('may have a header, of lines that are rows', () => {
    expect(toldOf(['a.csv', 'a.tsv', 'b'], withHeader)).toEqual([
      "each line of a.csv and 1 other input is a record; give `records: { by: 'csv' }` if a field may hold a newline",
    ]);
  });

  it('mean nothing where the caller says what a record is', () => {
    for (const format of [insisted, fourLines]) expect(toldOf(['a.csv', 'a.tsv', 'a.fq'], format)).toEqual([]);
  });
});

describe('names of mates', () => {
  it.each(
    'reads_R1.fastq d/S1_L001_R2_001.fastq.gz reads.R1.fq reads-r2.trimmed.fq.zst SRR000001_1.fastq.gz SRR000001_2.fq'.split(
      ' ',
    ),
  )('%s', (name) => {
    expect(mateWarningsOf([name, 'other'])).toEqual([
      `mates in two files do not stay aligned when they are shuffled by themselves, not even with the same seed: ${name}; give R1 and R2 to \`together\` (docs/CHOOSING-RECORDS.md)`,
    ]);
  });

  it('cannot be shuffled together into a store', () => {
    const warnings: string[] = [];
    warnOfMates(streams(['a_R1.fq']), fourLines, false, (line) => warnings.push(line));
    expect(warnings).toEqual([
      expect.stringContaining(
        'a_R1.fq; interleave R1 and R2 first and give `records.linesPerRecord` 8 (docs/FORMATS.md)',
      ),
    ]);
  });

  it.each(
    'reads.fastq R1/reads.fastq SRR_1/reads.fq of_R1.d/reads.fq run_12.fastq part-00001.fastq BR1.fastq a_R10.fq -'.split(
      ' ',
    ),
  )('are no such names: %s', (name) => expect(mateWarningsOf([name])).toEqual([]));

  it('without the ending of FASTQ need their mate among the inputs', () => {
    for (const pair of [
      ['reads_R1', 'reads_R2'],
      ['reads_2.txt.gz', 'reads_1.txt'],
    ]) {
      expect(mateWarningsOf(pair)).toEqual([expect.stringContaining(`same seed: ${pair[0]} and 1 other input;`)]);
    }
    expect(mateWarningsOf(['train_1.txt', 'test_2.txt'])).toEqual([]);
  });

  it('count for FASTQ alone: by its four lines, or by its name', () => {
    expect(mateWarningsOf(['a_R1.fastq'], assumed)).toHaveLength(1);
    expect(mateWarningsOf(['a_R1.txt'], assumed)).toEqual([]);
    expect(mateWarningsOf(['a_R1.fastq'], { ...insisted, framing: { kind: 'fastq', value: null } })).toHaveLength(1);
    for (const format of [insisted, eightLines]) expect(mateWarningsOf(['a_R1.fastq'], format)).toEqual([]);
  });
});
