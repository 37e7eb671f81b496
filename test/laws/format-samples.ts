/** A small sample of every framing and of every kind of header, for laws that try all of them. */
import type { FramingSpec } from '#src/formats/framing-table.js';
import { type HeaderOfInputs, npyHeaderOf } from '../formats/any-headers.js';
import { prefixed, tfrecordOf } from '../formats/plain-framings.js';
import { paxLine, TAR_DIALECTS, tarNote, tarOf } from '../formats/plain-tar.js';
import { recordKindOf } from './record-kind-of.js';

export interface FormatSample {
  readonly name: string;
  readonly spec: FramingSpec;
  readonly around: HeaderOfInputs;
  /** Of each input what stands behind its header. */
  readonly bodies: readonly Buffer[];
}

const NOTHING = Buffer.alloc(0);

function sample(
  name: string,
  spec: FramingSpec,
  bodies: readonly (string | Buffer)[],
  around: Partial<HeaderOfInputs> = {},
): FormatSample {
  const options = { records: recordKindOf(spec), ...around.options };
  return {
    name,
    spec,
    bodies: bodies.map((body) => Buffer.from(body as string)),
    around: { header: () => NOTHING, trailer: NOTHING, ...around, options },
  };
}

const numbers = (count: number, first: number) => Buffer.from(Array.from({ length: count }, (_, i) => first + i));
const texts = ['', 'a', 'some text\n', 'x'.repeat(150)].map((text) => Buffer.from(text));
const concatenated = (write: (data: Buffer) => Buffer, repeats: number) =>
  Buffer.concat(Array.from({ length: repeats }, () => texts.map(write)).flat());
const tars = [
  tarOf(TAR_DIALECTS.map((dialect, i) => ({ name: `d/${i >> 1}.${dialect}`, data: numbers(40 * i, i), dialect }))),
  tarOf([{ name: 'a/' }, { name: 'a/x.jpg', data: numbers(99, 1) }, { name: 'a/x.txt' }, { name: 'b.c' }], 3),
];
const commented = tarNote('g', paxLine('comment', 'said of all'));

export const FORMAT_SAMPLES: readonly FormatSample[] = [
  sample('lines', { kind: 'lines', value: 1 }, ['one\n\ntwo, which is longer\r\n\nno end', 'a\nbb\n'.repeat(8)]),
  sample('groups of lines', { kind: 'lines', value: 3 }, ['@1\nAC\n\n@2\n\nG\n@3\n+\nT', '1\n\n\n22\n\n\n'.repeat(4)]),
  sample('CRLF', { kind: 'lines', value: 1 }, ['one\r\n\r\nno end', '\r\na\nb\r\nc']),
  sample('FASTA', { kind: 'begins-with', value: '3e' }, ['>1\r\nGG\r\n>2\r\nA', '>1\nA>\n\n>\n'.repeat(8)]),
  sample('lines that begin with a text', { kind: 'begins-with', value: '616162' }, [
    'aab1\r\naaab\r\naab2\r\nx',
    `aab\na\n\naaab\n${'aab aab\n'.repeat(6)}`,
  ]),
  sample('FASTQ', { kind: 'fastq', value: null }, [
    '@1\nAC\n+\n@@\n@2\n\n+1\n\n\n \n',
    '@\r\nA\r\n+\r\nI\r\n'.repeat(8),
  ]),
  sample('CSV', { kind: 'csv', value: null }, ['x,"a\nb"\n"q ""r"""\n,\n\nno end', '1,"\n\n"\n2,2\n'.repeat(4)]),
  sample('paragraphs', { kind: 'paragraphs', value: null }, ['\na\nb\n\nc\r\n\r\n\nd\n\ne', 'p\n\nq\nr\n\n'.repeat(5)]),
  sample('fixed sizes', { kind: 'size', value: 7 }, [numbers(7 * 11, 1), numbers(7 * 3, 99)]),
  sample('length prefixes', { kind: 'length-prefix', value: 'varint' }, [
    concatenated((data) => prefixed(data, 'varint'), 2),
    concatenated((data) => prefixed(data, 'varint'), 1),
  ]),
  sample('TFRecords', { kind: 'tfrecord', value: null }, [concatenated(tfrecordOf, 2), concatenated(tfrecordOf, 1)]),
  sample('samples of a tar file', { kind: 'webdataset', value: null }, tars, { trailer: Buffer.alloc(1024) }),
  sample('lines as header', { kind: 'csv', value: null }, ['1,"\n"\n2,\n3,no end', '4,"a ""b"""\n'.repeat(6)], {
    options: { header: { lines: 2 } },
    header: () => Buffer.from('id,"na\nme"\n#,text\n'),
  }),
  sample('leading lines as header', { kind: 'lines', value: 1 }, ['1\n2', '3\n#4\n'.repeat(6)], {
    options: { header: { prefix: '#' } },
    header: () => Buffer.from('##a\r\n#\n'),
  }),
  sample('bytes as header', { kind: 'size', value: 5 }, [numbers(5 * 13, 1), numbers(5 * 4, 99)], {
    options: { header: { bytes: 9 } },
    header: () => Buffer.from('\n9 bytes\0'),
  }),
  sample('.npy', { kind: 'size', value: 12 }, [numbers(12 * 9, 1), numbers(12 * 4, 120)], {
    options: { records: { by: 'npy' } },
    header: (recordBytes) => npyHeaderOf('<f4', recordBytes / 12, [3]),
  }),
  sample('global pax headers', { kind: 'webdataset', value: null }, tars, {
    header: () => commented,
    trailer: Buffer.alloc(1024),
  }),
];
