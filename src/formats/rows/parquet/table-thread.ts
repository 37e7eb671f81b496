/** The work of a thread on tables. Its pages lie in one memory, which comes from the spare memory of the job. */
import type { JobControl } from '../../../floor/job-control.js';
import { inPhase } from '../../../floor/phase-clock.js';
import { PageBlocks } from '../finished-pages.js';
import type { RowThread } from '../row-format.js';
import { ColumnMemory } from './columns/column-memory.js';
import { RowGroupWriter } from './columns/row-group-writer.js';
import type { WrittenTable } from './table-output.js';
import { withTable } from './table-source.js';
import type { TableSpec } from './table-spec.js';

export function tableThread(control: JobControl): RowThread {
  const memory = new ColumnMemory(control, 0);
  const blocks = new PageBlocks(control);
  return {
    openPart: (part, table: TableSpec, context, use) => withTable(part, table, { ...context, columns: memory }, use),
    openWriter: ({ rows: { schema }, write: spec }: WrittenTable, { newSpillPlace, allowanceBytes }) => {
      memory.allow(allowanceBytes);
      const writer = new RowGroupWriter({ memory, control, blocks, schema, spec, newSpillPlace });
      return {
        add: (rows) => inPhase('transpose', () => writer.add(rows)),
        end: () => (writer.rowBytes === 0 ? undefined : inPhase('transpose', () => writer.end())),
        close: () => writer.close(),
      };
    },
  };
}
