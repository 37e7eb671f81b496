/**
 * What a task of pass 1 tells of its slice beside the pile set, and what the index of a committed pile set
 * keeps for the run that goes on.
 */
import type { Coverage } from '../read/input-part.js';

export interface SliceReport {
  /** What was read of each part, in the order of the parts. */
  readonly coverage: readonly Coverage[];
  readonly longestRecordBytes: number;
}
