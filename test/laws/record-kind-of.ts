/** The option that selects a framing; of those that begin with a text, FASTA. */
import type { FramingSpec } from '#src/formats/framing-table.js';
import type { RecordKind } from '#src/index.js';

export function recordKindOf(spec: FramingSpec): RecordKind {
  switch (spec.kind) {
    case 'delimited':
      if (spec.value === '0a') return { by: 'lines' };
      return { by: 'delimiter', delimiter: Buffer.from(spec.value, 'hex') };
    case 'newline':
      return { by: 'delimiter', delimiter: '\n' };
    case 'begins-with':
      return { by: 'fasta' };
    case 'lines':
      return { by: 'lines', linesPerRecord: spec.value };
    case 'fixed':
      return { by: 'size', recordBytes: spec.value };
    case 'length-prefixed':
      return { by: 'length-prefix', prefix: spec.value };
    default:
      return { by: spec.kind };
  }
}
