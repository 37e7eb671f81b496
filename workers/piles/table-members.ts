/** Makes row groups of the records of a shuffle, which are rows. */

import { type RowGroupMember, RowGroupWriter } from '../../src/formats/rows/parquet/columns/row-group-writer.js';
import type { WrittenTable } from '../../src/formats/rows/parquet/table-output.js';
import { inPhase } from '../../src/phase-clock.js';
import type { Member, MemberWriter } from '../../src/sinks/member-writer.js';
import type { ShuffleSettings } from '../settings.js';
import { columnMemoryOf, threadStateOf } from '../thread-state.js';
import { waitingPlaces } from './waiting-places.js';

/**
 * @param attemptName the beginning of the names of temp files.
 * @param turn of the task: those of several tasks begin with different disks.
 */
export function tableMembers(
  job: ShuffleSettings,
  { schema, write: spec }: WrittenTable,
  attemptName: string,
  turn: number,
): MemberWriter {
  const newPlace = waitingPlaces(job, `${attemptName}-pages`, turn);
  const { control } = threadStateOf(job);
  const memory = columnMemoryOf(job);
  memory.allow(job.columnBytes);
  const writer = new RowGroupWriter({ memory, control, schema, spec, newPlace });
  return {
    endsWithBuffer: false,
    add: (rows) => inPhase('transpose', () => writer.add(rows)),
    end: () => (writer.rowBytes === 0 ? undefined : memberOf(inPhase('transpose', () => writer.end()))),
    close: () => writer.close(),
  };
}

function memberOf(rowGroup: RowGroupMember): Member {
  // Its pages have taken their memory, or lie in a file.
  return { ...rowGroup, memoryBytes: 0 };
}
