/** What a job knows of the rows of its inputs. Plain data: it crosses threads, and is written down. */
import type { PageCodec } from './page-codec.js';
import type { TableSchema } from './schema.js';

export interface TableSpec {
  /** Of the columns that are read. Required is what is required in all inputs. */
  readonly schema: TableSchema;
  /** Of the first column chunk of all inputs; undefined: they have no rows. */
  readonly codec: PageCodec | undefined;
}
