/** The option that selects a framing. */
import type { FramingSpec } from '#src/formats/framing-table.js';
import type { RecordKind } from '#src/index.js';

export function recordKindOf(spec: FramingSpec): RecordKind {
  switch (spec.kind) {
    case 'delimited':
      return { by: 'delimiter', delimiter: Buffer.from(spec.value, 'hex') };
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
