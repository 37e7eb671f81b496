/** The facts that a job knows of the rows of its inputs. Plain data: it crosses threads, and is written down. */
import type { RowsSpec } from '../row-format.js';
import type { PageCodec } from './row-group.js';
import type { TableSchema } from './schema.js';

export interface TableSpec extends RowsSpec {
  /** The schema of the columns that are read. Required is what is required in all inputs. */
  readonly schema: TableSchema;
  /** The codec of the first column chunk of all inputs; undefined: they have no rows. */
  readonly codec: PageCodec | undefined;
  /** The columns that the caller chose, by their names. Absent: all. */
  readonly columns?: readonly string[] | undefined;
}
