/** FASTA, FASTQ and their mates, and headers of leading lines. */
import { gzipSync } from 'node:zlib';
import { describe } from 'vitest';
import { testDoor } from './door-case.js';

const insist = 'or give --lines to shuffle it as lines all the same';
const wrapped = ': a read is four lines; `seqtk seq` makes them of reads whose lines are wrapped';
const read = (name: string, bases = 'ACGT') => `@${name}\n${bases}\n+\n${'@'.repeat(bases.length)}\n`;

describe('FASTA', () => {
  testDoor([
    {
      name: 'has records of lines up to the next >',
      files: { a: '>s1\nGG\nAC>\n\n>s2\n' },
      argv: '--fasta a',
      summary: / 2 records, /,
      records: ['>s1\n', 'GG\n', 'AC>\n', '\n', '>s2\n'],
    },
    {
      name: 'has comments in its records',
      files: { 'a.fa.gz': gzipSync('>s1\r\n;x\r\nGG') },
      argv: '--fasta a.fa.gz',
      summary: / 1 record, /,
      records: ['>s1\r\n', ';x\r\n', 'GG\r\n'],
    },
    {
      name: 'begins with a record',
      files: { a: ';x\n>s1\n' },
      argv: '--fasta a',
      badInput:
        'a: byte 0 is before the first record; expected ">" at its beginning; if the input has a header, give --header or --header-prefix',
    },
    {
      name: 'may have text before it that is a header',
      files: { a: ';x\n>s1\n' },
      argv: '--fasta --header-prefix ; a',
      records: [';x\n', '>s1\n'],
    },
  ]);
});

describe('records that begin with a text', () => {
  const LONG = 'x'.repeat(1024);
  testDoor([
    {
      name: 'go on up to the next line with it',
      files: { a: '## one\na ## b\n\n## two\n# three\n' },
      argv: ['--begins-with', '## ', 'a'],
      summary: / 2 records, /,
      records: ['## one\n', 'a ## b\n', '\n', '## two\n', '# three\n'],
    },
    {
      name: 'get the line end that the last one lacks',
      files: { a: 'aab\r\naaab\r\naab' },
      argv: '--begins-with aab a',
      summary: / 2 records, /,
      records: ['aab\r\n', 'aaab\r\n', 'aab\r\n'],
    },
    {
      name: 'begin with all of a long text',
      files: { a: `${LONG}1\n${LONG.slice(1)}\n${LONG}2\n` },
      argv: ['--begins-with', LONG, 'a'],
      summary: / 2 records, /,
      records: [`${LONG}1\n`, `${LONG.slice(1)}\n`, `${LONG}2\n`],
    },
    {
      name: 'stand at the beginning of the input',
      files: { a: 'a\n## one\n' },
      argv: ['--begins-with', '## ', 'a'],
      badInput:
        'a: byte 0 is before the first record; expected "## " at its beginning; if the input has a header, give --header or --header-prefix',
    },
    {
      name: 'have all of the text where the input ends',
      files: { a: '##' },
      argv: ['--begins-with', '## ', 'a'],
      badInput: 'a: byte 0 begins a record; expected "## "',
    },
    {
      name: 'are text',
      files: { a: 'PK\x03\x04\0' },
      argv: '--begins-with PK a',
      badInput: /a holds a zip archive .*, not text; extract it$/,
    },
  ]);
});

describe('FASTQ', () => {
  testDoor([
    {
      name: 'may end in blank lines',
      files: { a: `${read('1')}${read('2', '')}\n\r\n \n` },
      argv: '--fastq a',
      summary: / 2 records, /,
      records: ['@1\n', 'ACGT\n', '+\n', '@@@@\n', '@2\n', '\n', '+\n', '\n'],
    },
    {
      name: 'has blank lines only there',
      files: { a: `${read('1')}\n${read('2')}` },
      argv: '--fastq a',
      badInput: 'a: byte 16 lies after a blank line; expected blank lines only at the end of the input',
    },
    {
      name: 'with a wrapped sequence',
      files: { a: '@1\nAC\nGT\n+\nII\nII\n' },
      argv: '--fastq a',
      badInput: `a: byte 6 begins the third line of a read with "G"; expected +${wrapped}`,
    },
    {
      name: 'with a wrapped quality',
      files: { a: '@1\r\nACGT\r\n+\r\nII\r\nII\r\n' },
      argv: '--fastq a',
      badInput: `a: byte 0 begins a read with a sequence of 4 and a quality of 2; expected as many${wrapped}`,
    },
    {
      name: 'that is FASTA',
      files: { a: '>1\nAC\n>2\nGT\n' },
      argv: '--fastq a',
      badInput: `a: byte 0 begins a read with ">"; expected @${wrapped}`,
    },
    {
      name: 'that is cut off',
      files: { a: `${read('1')}@2\nA\n` },
      argv: '--fastq a',
      badInput: 'a: byte 15 begins a record of 2 lines at the end of the input; expected 4 lines a record',
    },
    {
      name: 'with line ends of both kinds',
      files: { a: '@1\r\nAC\n+\r\nII' },
      argv: '--fastq a',
      records: ['@1\r\n', 'AC\n', '+\r\n', 'II\r\n'],
    },
  ]);
});

describe('a file whose name and first byte fit', () => {
  testDoor([
    ...[
      ['x.fa', '>s\nA\n', 'sequences (FASTA), not lines; give --fasta'],
      ['x.fasta.gz', gzipSync('>s\nA\n'), 'sequences (FASTA), not lines; give --fasta'],
      ['x.fq', '@s\nA\n+\nI\n', 'reads (FASTQ), not lines; give --fastq'],
      ['x.FASTQ', '@s\nA\n+\nI\n', 'reads (FASTQ), not lines; give --fastq'],
      ['x.vcf', '##v\n1\n', "variants after a header (VCF), not lines; give --header-prefix '#'"],
      ['x.sam', '@HD\n1\n', "alignments after a header (SAM), not lines; give --header-prefix '@'"],
    ].map(([name = '', content = '', holds]) => ({
      name: `is not a lines: ${name}`,
      files: { [`${name}`]: content },
      argv: [`${name}`],
      badInput: `${name} holds ${holds}, ${insist}`,
    })),
    ...[
      ['x.fa', 'سلام\n'],
      ['x.vcf', 'BEGIN:VCARD\n'],
      ['x.sam', 'r1\n'],
      ['x.txt', '>s\n'],
    ].map(([name = '', content = '']) => ({
      name: `is lines otherwise: ${name}, ${content.trim()}`,
      files: { [name]: content },
      argv: [name],
      records: [Buffer.from(content).toString('latin1')],
    })),
    {
      name: 'is lines all the same',
      files: { 'x.fa': '>s\nA\n' },
      argv: '--lines x.fa',
      records: ['>s\n', 'A\n'],
    },
    {
      name: 'is lines behind a header of so many',
      files: { 'x.vcf': '##v\n1\n' },
      argv: '--header 1 x.vcf',
      records: ['##v\n', '1\n'],
    },
  ]);
});

describe('a header of leading lines', () => {
  testDoor([
    {
      name: 'stands once',
      files: { 'a.vcf': '##v\n#C\n1\n', 'b.vcf.gz': gzipSync('##v\n#C\n2\n#3') },
      argv: '--header-prefix # a.vcf b.vcf.gz',
      records: ['##v\n', '#C\n', '1\n', '2\n', '#3\n'],
    },
    {
      name: 'is the same in all inputs',
      files: { 'a.vcf': '##v\n#C\n1\n', 'b.vcf': '##v\n##w\n#C\n2\n' },
      argv: '--header-prefix # a.vcf b.vcf',
      badInput:
        /b\.vcf: byte 5 of its header differs from that of a\.vcf: expected "##v\\n#C\\n", got "##v\\n##w\\n#C\\n"/,
    },
    { name: 'may be none', files: { a: 'r1\n' }, argv: '--header-prefix @ a', records: ['r1\n'] },
    {
      name: 'may be all',
      files: { a: '@1\r\n@2', b: '@1\r\n@2\r\nx\n' },
      argv: '--header-prefix @ a b',
      records: ['@1\r\n', '@2\r\n', 'x\n'],
    },
    {
      name: 'names the columns',
      files: { a: '##v\n#C\tP\n1\t2\n3\t2\n' },
      argv: '--header-prefix # --unique-by tsv:P a',
      summary: / 1 record, /,
      records: ['##v\n', '#C\tP\n', '1\t2\n'],
    },
    {
      name: 'needs lines',
      files: { a: '#1' },
      argv: '--record-size 1 --header-prefix # a',
      badCall:
        '--header-prefix takes lines, and these records are not text; give --skip-bytes, or leave --header-prefix out',
    },
  ]);
});

describe('mates', () => {
  const other = (one: string, two: string) =>
    `${one}, and ${two}; expected the same name but for /1 and /2 at its end: put the mates in one order, as repair.sh of BBTools does, or give --lines-per-record 4, which compares no names`;
  const together = ['--together', 'R1.fq,R2.fq'];
  const pair = (names: readonly string[], mates: readonly string[]) => ({
    'R1.fq': names.map((name) => read(name)).join(''),
    'R2.fq': mates.map((name) => read(name)).join(''),
  });
  const linesOf = (files: Record<string, string>) =>
    Object.values(files)
      .join('')
      .split(/(?<=\n)/);
  const swapped = pair(['a/1', 'b/1'], ['b/2', 'a/2']);
  testDoor([
    {
      name: 'in another order',
      files: swapped,
      argv: together,
      badInput: other('read 1 of R1.fq (byte 0) is "a/1"', 'read 1 of R2.fq (byte 0) is "b/2"'),
    },
    {
      name: 'in another order, of which no names are compared',
      files: swapped,
      argv: ['--lines-per-record', '4', ...together],
      records: linesOf(swapped),
    },
    {
      name: 'in another order from the second pair of files on, compressed',
      files: { a: read('a'), b: read('a'), c: read('x 1') + read('c'), d: gzipSync(read('x 2') + read('d')) },
      argv: '--fastq --together a,b --together c,d',
      badInput: other('read 2 of c (byte 17) is "c"', 'read 2 of d (byte 17) is "d"'),
    },
    ...[
      [
        ['a/1', 'b/1'],
        ['a/2', 'b/2'],
      ],
      [
        ['a 1:N:0', 'b\t1'],
        ['a 2:N:0', 'b'],
      ],
      [
        ['SRR1.1.1 x', 'ERR20.2.1'],
        ['SRR1.1.2 x', 'ERR20.2.2'],
      ],
    ].map(([names = [], mates = []]) => ({
      name: `in one order: ${names}`,
      files: pair(names, mates),
      argv: together,
      records: linesOf(pair(names, mates)),
    })),
    ...[
      ['SRR1.1', 'SRR1.2'],
      ['a.1', 'a.2'],
      ['SRR1.x.1', 'SRR1.x.2'],
      ['a1', 'a2'],
      ['a', 'a/3'],
    ].map(([name = '', mate = '']) => ({
      name: `that are none: ${name}`,
      files: pair(['x', name], ['x', mate]),
      argv: together,
      badInput: other(`read 2 of R1.fq (byte 15) is "${name}"`, `read 2 of R2.fq (byte 15) is "${mate}"`),
    })),
    {
      name: 'that are wrapped',
      files: { 'R1.fq': '@a\nA\nA\n+\nI\nI\n', 'R2.fq': read('a') },
      argv: together,
      badInput: `R1.fq: byte 5 begins the third line of a read with "A"; expected +${wrapped}`,
    },
  ]);
});
