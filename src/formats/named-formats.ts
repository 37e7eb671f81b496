/**
 * Text formats of more than a line a record, or with a header, by a name and a first byte that fits: a name alone says
 * too little (`.fa` is also Persian, `.vcf` a visiting card). To add one: a line in the table.
 */
import { withoutCodecSuffix } from './codec-table.js';
import type { ForeignFormat } from './foreign-formats.js';
import type { HeaderSpec } from './record-format.js';

export const NAME_OF_FASTQ = /\.(?:fastq|fq)$/i;

interface NamedFormat extends ForeignFormat {
  readonly suffix: RegExp;
  readonly firstByte: string;
  /** Whether records are lines behind a header. Absent: they are not lines. */
  readonly hasHeader?: boolean;
}

const formats: readonly NamedFormat[] = [
  {
    name: 'sequences (FASTA)',
    remedy: "give `records: { by: 'fasta' }`",
    suffix: /\.(?:fa|fas|fasta|fna|faa|ffn)$/i,
    firstByte: '>',
  },
  { name: 'reads (FASTQ)', remedy: "give `records: { by: 'fastq' }`", suffix: NAME_OF_FASTQ, firstByte: '@' },
  {
    name: 'variants behind a header (VCF)',
    remedy: "give `header.prefix` '#'",
    suffix: /\.vcf$/i,
    firstByte: '#',
    hasHeader: true,
  },
  {
    name: 'alignments behind a header (SAM)',
    remedy: "give `header.prefix` '@'",
    suffix: /\.sam$/i,
    firstByte: '@',
    hasHeader: true,
  },
];

/** @param head of the input, at least its first byte. @param header that the caller names. */
export function namedFormatOf(
  path: string,
  head: Uint8Array,
  header: HeaderSpec | undefined,
): ForeignFormat | undefined {
  const name = withoutCodecSuffix(path);
  return formats.find(
    ({ suffix, firstByte, hasHeader = false }) =>
      head[0] === firstByte.charCodeAt(0) && suffix.test(name) && !(hasHeader && header !== undefined),
  );
}
