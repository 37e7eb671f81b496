/** Names that say that a line is not a record, and names of mates: one line for all inputs, or none. */
import { describe, expect, it } from 'vitest';
import { LINES } from '#src/formats/framing-table.js';
import type { RecordFormat } from '#src/formats/record-format.js';
import { warnOfNamesOfRecords } from '#src/inputs/doubtful-records.js';
import type { Input } from '#src/inputs/list-inputs.js';

const streams = (names: readonly string[]): Input[] => names.map((path) => ({ kind: 'stream', path, identity: path }));
const assumed: RecordFormat = { framing: LINES, header: undefined, linesAssumed: true };
const insisted: RecordFormat = { ...assumed, linesAssumed: false };
const withHeader: RecordFormat = {
  ...assumed,
  header: { kind: 'lines', value: { count: 1, lineEnd: '0a', isQuoted: false } },
};
const fourLines: RecordFormat = { ...insisted, framing: { kind: 'lines', value: 4 } };

function warningsOf(names: readonly string[], format = assumed, keepsHeaders = true): string[] {
  const warnings: string[] = [];
  warnOfNamesOfRecords(streams(names), format, keepsHeaders, (line) => warnings.push(line));
  return warnings;
}

const line = (parts: string) => [
  `each line is a record; ${parts}; \`records: { by: 'lines' }\` takes lines without this warning`,
];
const CSV = "give `records: { by: 'csv' }` if a field may hold a newline";
const HEADER = 'give `header.lines` 1 if it begins with one';

describe('names of tables', () => {
  it.each([
    [['a.csv'], line(`for CSV (a.csv) ${CSV} and ${HEADER}`)],
    [['a.tsv.gz', 'b.txt', 'c.TSV'], line(`for TSV (a.tsv.gz and 1 other input) ${HEADER}`)],
    [['a.csv', 'b.tsv', 'c.fq'], line(`for CSV (a.csv) ${CSV} and ${HEADER}; for TSV (b.tsv) ${HEADER}`)],
    [['a.jsonl', 'csv', 'a.csv.txt', 'fastq/a.txt', '-', 'a.csv/b'], []],
  ])('%j', (names, warnings) => expect(warningsOf(names)).toEqual(warnings));

  it('make a line for thousands of inputs', () => {
    const names = Array.from({ length: 10_000 }, (_, i) => `${i}.csv.gz`);
    expect(warningsOf(names)).toEqual(line(`for CSV (0.csv.gz and 9999 other inputs) ${CSV} and ${HEADER}`));
  });

  it('say nothing of a header that is known, and of none where there can be none', () => {
    expect(warningsOf(['a.csv', 'a.tsv'], withHeader)).toEqual(line(`for CSV (a.csv) ${CSV}`));
    expect(warningsOf(['a.tsv'], withHeader)).toEqual([]);
    expect(warningsOf(['a.tsv'], assumed, false)).toEqual(
      line('for TSV (a.tsv) take the header off if it begins with one'),
    );
  });

  it('mean nothing where the caller says what a record is', () => {
    for (const format of [insisted, fourLines]) expect(warningsOf(['a.csv', 'a.tsv', 'a.fq'], format)).toEqual([]);
  });
});
