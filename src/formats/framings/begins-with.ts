/** Records of lines, the first of which begins with a text. In FASTA the text is `>`. */
import { UsageError } from '../../errors.js';
import { parseWord } from '../../values/parse-values.js';
import { BadRecord, type Framing, NEWLINE } from '../framing.js';
import { type RecordKindOf, textBytes } from '../record-kind.js';
import { CONTEXT_BYTES, LineEnds } from './lines.js';

export const beginsWith: RecordKindOf<{ readonly by: 'begins-with'; readonly text: string }, string> = {
  by: 'begins-with',
  flags: [
    {
      name: 'begins-with',
      value: 'TEXT',
      part: 'text',
      parse: (text, flag) => ({ text: parseWord(text, flag) }),
      help: 'a record is a line that begins with TEXT, and all lines up to the next one',
    },
  ],
  valueFrom: (given) => {
    const text = textBytes('`records.text`', given.text);
    if (!text.includes('\n')) return text.toString('hex');
    throw new UsageError('`records.text` has a newline; expected the beginning of a line');
  },
  open: (hex) => linesAfter(Buffer.from(hex, 'hex')),
};

const FASTA = Buffer.from('>');

export const fasta: RecordKindOf<{ readonly by: 'fasta' }> = {
  by: 'fasta',
  flags: [{ name: 'fasta', help: 'a record is a FASTA sequence: a line with > and those up to the next one' }],
  open: () => linesAfter(FASTA),
  nameOf: () => `begins-with ${FASTA.toString('hex')}`,
  files: [
    {
      name: 'sequences (FASTA)',
      remedy: "give `records: { by: 'fasta' }`",
      firstByte: '>',
      endings: 'fasta|fna|faa',
      rareEndings: 'fa|fas|ffn',
      nature: 'records',
    },
  ],
};

function linesAfter(text: Buffer): Framing {
  const sequence = Buffer.concat([NEWLINE, text]);
  const shown = JSON.stringify(text.toString());
  return {
    isText: true,
    isOfLines: true,
    cut: { lookBehindBytes: 1, contextBytes: CONTEXT_BYTES },
    openScanner: (kernel, _limits, at) => {
      const lineEnds = new LineEnds(kernel);
      let isChecked = at !== 'beginning';
      let scannedBytes = 0;
      const requireText = (recordStart: number, to: number) => {
        const begin = kernel.bytes.subarray(recordStart, Math.min(to, recordStart + text.byteLength));
        if (begin.some((byte, i) => byte !== text[i]))
          throw new BadRecord(
            recordStart,
            `is before the first record; expected ${shown} at its beginning; if the input has a header, give \`header.lines\` or \`header.prefix\``,
          );
        isChecked = begin.byteLength === text.byteLength;
      };
      return {
        needsWholeRecords: false,
        lookAheadBytes: text.byteLength,
        scan: (from, to, recordStart, table, maxCount) => {
          if (!isChecked) requireText(recordStart, to);
          // The sequence may have begun in the bytes before.
          const begin = Math.max(recordStart, from - Math.min(text.byteLength, scannedBytes));
          scannedBytes += to - from;
          kernel.bytes.set(sequence, kernel.wasm.sequenceAddress() >>> 0);
          const { wasm } = kernel;
          const count = wasm.scanSequence(begin, to, recordStart, sequence.byteLength, 1, table, maxCount);
          return lineEnds.note(table, count);
        },
        complete: (recordStart, to) => {
          if (!isChecked) throw new BadRecord(recordStart, `begins a record; expected ${shown}`);
          return lineEnds.missing(recordStart, to);
        },
      };
    },
  };
}
