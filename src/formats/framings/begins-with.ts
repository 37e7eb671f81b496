/** Records of lines, the first of which begins with a text, as those of FASTA begin with `>`. */
import { BadRecord, type Framing } from '../framing.js';
import { CONTEXT_BYTES, LineEnds } from './line-ends.js';

/** @param text 1 to 1023 bytes without a newline. */
export function beginsWith(text: Uint8Array): Framing {
  const sequence = Buffer.concat([Buffer.of(0x0a), text]);
  const shown = JSON.stringify(Buffer.from(text).toString());
  return {
    cut: { kind: 'anywhere', lookBehindBytes: 1, contextBytes: CONTEXT_BYTES },
    countSample: (sample) => Buffer.from(sample).toString('latin1').split(sequence.toString('latin1')).length - 1,
    openScanner: (kernel, _limits, at) => {
      const lineEnds = new LineEnds(kernel);
      let isChecked = at !== 'beginning';
      let scannedBytes = 0;
      const requireText = (recordStart: number, to: number) => {
        const begin = kernel.bytes.subarray(recordStart, Math.min(to, recordStart + text.byteLength));
        if (begin.some((byte, i) => byte !== text[i]))
          throw new BadRecord(recordStart, `is before the first record; expected ${shown} at its beginning`);
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
          kernel.bytes.set(sequence, kernel.wasm.sequenceAddress());
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
