/** The option that asks for a framing. */
import type { FramingSpec } from '#src/formats/framing-table.js';
import type { RecordKind } from '#src/index.js';

export function recordKindOf(spec: FramingSpec): RecordKind {
  switch (spec.kind) {
    case 'delimiter':
      return { by: 'delimiter', delimiter: Buffer.from(spec.value, 'hex') };
    case 'lines':
      return { by: 'lines', linesPerRecord: spec.value };
    case 'begins-with':
      return { by: 'begins-with', text: Buffer.from(spec.value, 'hex').toString() };
    case 'size':
      return { by: 'size', recordBytes: spec.value };
    case 'length-prefix':
      return { by: 'length-prefix', prefix: spec.value };
    default:
      return { by: spec.kind };
  }
}
