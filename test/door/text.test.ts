/** What is text, and what only seems to be: other encodings, other formats, JSON that is not JSON lines, marks, blank lines. */
import { gzipSync } from 'node:zlib';
import { describe } from 'vitest';
import { testDoor } from './door-case.js';

const MARK = '\ufeff';
const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const insist = ', or give --lines to shuffle it as lines all the same';

describe('what is not text', () => {
  testDoor([
    {
      name: 'UTF-16 without a mark',
      files: { in: utf16('a\nb\n') },
      argv: 'in',
      badInput: `in holds what looks like UTF-16LE text, not lines; convert it to UTF-8 (iconv -f UTF-16LE -t UTF-8)${insist}`,
    },
    {
      name: 'compressed UTF-16, in groups of lines',
      files: { 'in.gz': gzipSync(utf16('a\nb\n').swap16()) },
      argv: '--lines-per-record 2 in.gz',
      badInput: 'in.gz holds what looks like UTF-16BE text, not text; convert it to UTF-8 (iconv -f UTF-16BE -t UTF-8)',
    },
    {
      name: 'UTF-16 as lines all the same',
      files: { in: utf16('a\nb\n') },
      argv: '--lines in',
      records: ['a\0\n', '\0b\0\n', '\0\n'],
    },
    {
      name: 'UTF-16 that may as well be records that end in NUL',
      files: { in: 'a\0 \0' },
      argv: '-z in',
      records: [' \0a\0'],
    },
    {
      name: 'a known format among CSV',
      files: { 'a.csv': 'x,y\n', 'b.csv': 'MMIDIDX\0\0\x01' },
      argv: '--csv a.csv b.csv',
      badInput:
        /b\.csv holds the index of tokens of Megatron \(\.idx\), not text; leave it out, and give its \.bin file/,
    },
    {
      name: 'a format that a program decodes',
      files: { in: Buffer.from('5d00008000ffffffffffffffff00', 'hex') },
      argv: 'in',
      badInput: `in holds data that lzma has compressed, not lines; give --decompress-program 'xz -dc'${insist}`,
    },
    {
      name: 'a NUL that got into text',
      files: { a: 'one\0\ntwo\n', b: 'three\0\n' },
      argv: 'a b',
      lines: [
        'warning: a: byte 3 is NUL, which text does not have (and 1 other input); give --zero-terminated if records end in NUL',
      ],
      records: ['one\0\n', 'two\n', 'three\0\n'],
    },
    {
      name: 'a NUL in compressed text',
      files: { 'a.gz': gzipSync('one\0\ntwo\n') },
      argv: 'a.gz',
      lines: ['warning: a.gz: byte 3 is NUL, which text does not have; give --zero-terminated if records end in NUL'],
      records: ['one\0\n', 'two\n'],
    },
    {
      name: 'lines that end in CR alone',
      files: { in: 'one\rtwo\r' },
      argv: 'in',
      lines: [
        "warning: the beginning of in has CR and no newline, so the whole input may be one record; give --delimiter '\\r' if lines end in CR",
      ],
      records: ['one\rtwo\r\n'],
    },
  ]);
});

describe('junk behind gzip data', () => {
  const way = 'if what follows is junk, `gzip -dc FILE | gzip` writes the data without it';
  const packed = gzipSync('one\n');
  testDoor([
    {
      name: 'of any bytes',
      files: { 'a.gz': Buffer.concat([packed, Buffer.from('junk')]) },
      argv: 'a.gz',
      badInput: `a.gz: the gzip data is corrupt between byte 0 and byte ${packed.length + 4} (compressed): incorrect header check after a whole member; ${way}; check it with \`gzip -t\``,
    },
    {
      name: 'behind zeros',
      files: { 'a.gz': Buffer.concat([packed, Buffer.from('\0junk')]) },
      argv: 'a.gz',
      badInput: `a.gz: byte ${packed.length + 1} (compressed) lies after the last gzip member and is neither a new member nor zero padding; expected the end of the file; ${way}`,
    },
  ]);
});

describe('a name of JSON lines', () => {
  const refused = (line: string, filter = '`jq -c .` makes a line of each value') => ({
    badInput: `${line} is not a JSON value; expected one value a line, as its name says; ${filter}; or give --lines to shuffle it as lines all the same`,
  });
  const elements = "`jq -c '.[]'` makes a line of each element";
  testDoor([
    {
      name: 'an array over lines',
      files: { 'a.json': '[{"a":1},\n{"a":2}]\n' },
      argv: 'a.json',
      ...refused('a.json: the line at byte 0', elements),
    },
    {
      name: 'an object over lines',
      files: { 'a.jsonl': '{\n  "a": 1\n}\n' },
      argv: 'a.jsonl',
      ...refused('a.jsonl: the line at byte 0'),
    },
    {
      name: 'values without a newline between them, further on',
      files: { 'a.ndjson': '{"a":1}\n{"a":2}{"a":3}\n' },
      argv: 'a.ndjson',
      ...refused('a.ndjson: the line at byte 8'),
    },
    {
      name: 'values without a newline between them, behind all that is parsed',
      files: { 'a.json': `${'{"a":1}\n'.repeat(2000)}{"a":2} {"a":3}\n` },
      argv: 'a.json',
      ...refused('a.json: the line at byte 16000'),
    },
    {
      name: 'values without any newline, more than is looked at',
      files: { 'a.json': '{"a":[1,"}{"]}'.repeat(10_000) },
      argv: 'a.json',
      ...refused('a.json: the line at byte 0'),
    },
    {
      name: 'a compressed array that is read by a task',
      files: {
        ...Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`d/${i + 10}.json.gz`, gzipSync('{}\n')])),
        'd/z.json.gz': gzipSync('[\n1,\n2]\n'),
      },
      argv: 'd',
      ...refused('d/z.json.gz: the line at byte 0', elements),
    },
    {
      name: 'a plain input behind many good ones',
      files: {
        ...Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`d/${i + 10}.json`, '{}\n'])),
        'd/z.json': '{',
      },
      argv: 'd',
      ...refused('d/z.json: the line at byte 0'),
    },
    {
      name: 'lines all the same',
      files: { 'a.json': '[\n1]\n' },
      argv: '--lines a.json',
      records: ['[\n', '1]\n'],
    },
    {
      name: 'what Python writes',
      files: {
        'a.jsonl': Buffer.concat([
          Buffer.from(`${MARK}{"a":NaN,"b":[Infinity,-Infinity],"NaN":"\\ud800"}\n\n  \n"x"\r\n`),
          Buffer.from('{"a":"\xff\xfe NaN"}\n{"a":"\t"}\n7', 'latin1'),
        ]),
      },
      argv: 'a.jsonl --unique',
      summary: / 7 records, /,
      lines: [/warning: a\.jsonl begins with a UTF-8 mark, /],
      records: [
        '\n',
        '  \n',
        '"x"\r\n',
        '\xef\xbb\xbf{"a":"\t"}\n',
        '{"a":"\xff\xfe NaN"}\n',
        '{"a":NaN,"b":[Infinity,-Infinity],"NaN":"\\ud800"}\n',
        '7\n',
      ],
    },
    {
      name: 'values behind a header',
      files: { 'a.jsonl': 'a header\n{}\n' },
      argv: '--header 1 a.jsonl',
      records: ['a header\n', '{}\n'],
    },
    {
      name: 'an array in one line',
      files: { 'a.json': '[{"a":1}, {"a":2}]\n' },
      argv: 'a.json',
      lines: [`warning: a.json begins with a JSON array in one line, which is one record; ${elements}`],
      records: ['[{"a":1}, {"a":2}]\n'],
    },
    {
      name: 'other names',
      files: { 'a.txt': '[\n1]\n' },
      argv: 'a.txt',
      records: ['[\n', '1]\n'],
    },
  ]);
});

describe('a record from which a field is taken', () => {
  const whole = '{"s":"x"}\n';
  const broken = (record: string) => ({
    name: JSON.stringify(record),
    files: { in: `${whole}${record}\n` },
    argv: 'in --unique-by .s',
    badInput: 'in: the record at byte 10 begins as a JSON object and does not end as one; mend it, or leave it out',
  });
  testDoor([
    ...[
      '{"s":"x"',
      '{"s":"x"} junk',
      '{"s":tru}',
      '{"s":1x}',
      '{"s":"x",}',
      '{"s":"x","t":[1,}',
      '{"s":"x"}}',
      '{"s":"x"',
    ].map((record) => broken(record)),
    {
      name: 'a blank line',
      files: { in: `${whole} \n` },
      argv: 'in --split-by .s --split a=0.5,b=rest',
      badInput: 'in: the record at byte 10 is blank; give --skip-blank to leave such records out',
    },
    {
      name: 'whole ones, also behind another delimiter',
      files: { in: '{"s":NaN,"t":{"u":[[],{}]}} \x1e{"s":NaN}\x1e' },
      argv: ['in', '--delimiter', '\\x1e', '--unique-by', '.s'],
      summary: / 1 record, /,
      records: ['{"s":NaN,"t":{"u":[[],{}]}} \x1e'],
    },
  ]);
});

describe('a UTF-8 mark', () => {
  const two = { a: `${MARK}one\ntwo\n`, b: `${MARK}three\n` };
  const told = 'warning: a begins with a UTF-8 mark (and 1 other input), which is not part of a record; ';
  const kept = 'each output begins with it once, because every input does';
  testDoor([
    {
      name: 'of every input begins the output',
      files: two,
      // In the order of seed 1, where the records behind the marks have position 0.
      argv: 'a b -n 2',
      lines: [told + kept],
      records: ['\xef\xbb\xbfthree\n', 'one\n'],
    },
    {
      name: 'of every input begins each shard',
      files: two,
      argv: 'a b --shards 2',
      lines: [told + kept],
      records: ['\xef\xbb\xbfone\n', '\xef\xbb\xbfthree\n', 'two\n'],
    },
    {
      name: 'of some inputs is left out',
      files: { ...two, 'c.gz': gzipSync('four\n') },
      argv: 'a b c.gz',
      lines: [`${told}the output has none, because not every input has one`],
      records: ['one\n', 'two\n', 'three\n', 'four\n'],
    },
    {
      name: 'stands before a header, which is the same with and without',
      files: { a: `${MARK}h\n1\n`, 'b.gz': gzipSync('h\n2\n') },
      argv: '--header 1 a b.gz',
      lines: [/warning: a begins with a UTF-8 mark, which is not part of a record; the output has none, /],
      records: ['h\n', '1\n', '2\n'],
    },
    {
      name: 'of a header without records',
      files: { 'a.gz': gzipSync(`${MARK}h\n`) },
      argv: '--header 1 a.gz',
      lines: [/warning: a\.gz begins with a UTF-8 mark, which is not part of a record; each output begins with it /],
      records: ['\xef\xbb\xbfh\n'],
    },
    {
      name: 'of every header stands before the header alone',
      files: { a: `${MARK}h\n1\n`, 'b.gz': gzipSync(`${MARK}h\n2\n`) },
      argv: '--header 1 a b.gz -n 0',
      lines: [told + kept],
      records: ['\xef\xbb\xbfh\n'],
    },
    {
      name: 'of some headers does not stand before the header alone',
      files: { a: `${MARK}h\n1\n`, 'b.gz': gzipSync('h\n2\n') },
      argv: '--header 1 a b.gz -n 0',
      records: ['h\n'],
    },
    {
      name: 'hides no column',
      files: { a: `${MARK}s,t\nx,1\nx,2\n` },
      argv: '--csv --header 1 --unique-by csv:s a',
      lines: [/warning: a begins with a UTF-8 mark, /],
      records: ['\xef\xbb\xbfs,t\n', 'x,1\n'],
    },
    {
      name: 'hides no field',
      files: { 'a.gz': gzipSync(`${MARK}{"s":1}\n`), b: '{"s":1}\n' },
      argv: '--unique-by .s a.gz b',
      lines: [/warning: a\.gz begins with a UTF-8 mark, /],
      records: ['{"s":1}\n'],
    },
    {
      name: 'alone is an input without records',
      files: { a: MARK, b: `${MARK}\n` },
      argv: 'a b',
      lines: [told + kept],
      records: ['\xef\xbb\xbf\n'],
    },
    {
      name: 'cut off belongs to the record',
      files: { a: Buffer.from('efbb', 'hex') },
      argv: 'a',
      records: ['\xef\xbb\n'],
    },
    {
      name: 'belongs to the record that ends in NUL',
      files: { a: `x\0${MARK}y\0`, b: `${MARK}z\0` },
      argv: '-z a b -n 1',
      records: ['\xef\xbb\xbfy\0'],
    },
    {
      name: 'belongs to the record that a delimiter of one newline ends',
      files: { a: `${MARK}x\n`, b: 'y\n' },
      argv: ['--delimiter', '\\n', 'a', 'b'],
      records: ['\xef\xbb\xbfx\n', 'y\n'],
    },
    {
      name: 'belongs to the record of a fixed size',
      files: { a: `${MARK}x` },
      argv: '--record-size 4 a',
      records: ['\xef\xbb\xbfx'],
    },
  ]);
});

describe('blank records', () => {
  testDoor([
    {
      name: 'are left out and counted',
      files: { a: 'x\n\n \t\r\ny', 'b.gz': gzipSync('\n\n z\n \n') },
      argv: '--skip-blank a b.gz',
      summary: / 3 records, 5 blank records left out, 8 bytes /,
      records: ['x\n', 'y\r\n', ' z\n'],
    },
    {
      name: 'are nothing but what ends them',
      files: { a: 'x\0\0 \0' },
      argv: '--skip-blank -z a',
      summary: / 1 record, 2 blank records left out, /,
      records: ['x\0'],
    },
    {
      name: 'are no matter for a field',
      files: { a: '{"s":1}\n\n{"s":1}\n' },
      argv: '--skip-blank --unique-by .s a',
      summary: / 1 record, 1 blank record left out, 1 duplicate dropped, /,
      records: ['{"s":1}\n'],
    },
    {
      name: 'may be all',
      files: { a: '\n\n' },
      argv: '--skip-blank a',
      summary: / 0 records, 2 blank records left out, /,
      records: [],
    },
  ]);
});

describe('tables', () => {
  const files = { 'a.csv': '\ufeffn,"t\nu"\n1,"a\nb"\n', 'b.csv.gz': gzipSync('n,"t\nu"\n2,c\n'), 'c.csv': 'n,"x"\n' };
  const choices =
    'its name stands for a table, whose rows may hold newlines and whose first line may be a header; give --csv if fields may be quoted, --header 1 if the first line is a header, or --lines if each line is a record';
  testDoor([
    ...[
      ['c.csv', 'b.csv.gz'],
      ['plan', 'c.csv', 'b.csv.gz'],
      ['--together', 'c.csv,b.csv.gz'],
    ].map((argv) => ({
      name: `of which nobody says what a row is: ${argv.join(' ')}`,
      files,
      argv,
      badInput: `${argv[0] === '--together' ? 'c.csv' : 'c.csv and 1 other input'}: ${choices}`,
    })),
    {
      name: 'that most likely have headers',
      files,
      argv: 'c.csv a.csv b.csv.gz --csv',
      lines: [
        'warning: a.csv and b.csv.gz begin with the same row, which is a record like others; if it is a header, give --header 1',
        /warning: a\.csv begins with a UTF-8 mark/,
      ],
      records: ['n,"x"\n', 'n,"t\n', 'u"\n', 'n,"t\n', 'u"\n', '1,"a\n', 'b"\n', '2,c\n'],
    },
  ]);
});
