/** Row groups of a task whose pages find no memory. */
import { mkdirSync, readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { rowGroupWriterBytes } from '#src/formats/rows/parquet/columns/page-sizes.js';
import { completeTable } from '#src/formats/rows/parquet/table-output.js';
import { JobControl, UNGATED } from '#src/job-control.js';
import { tableMembers } from '#workers/piles/table-members.js';
import type { ShuffleSettings } from '#workers/settings.js';
import { forgetJob } from '#workers/thread-state.js';
import { useTestDirectory } from '../../fixtures/temp-directory.ts';
import { schemaOf } from '../../formats/rows/parquet/columns/row-groups.ts';

const directory = useTestDirectory();

it('wait on the temp disks in turn, and tasks begin with different ones', () => {
  const names = ['a', 'b', 'c'];
  const disks = names.map((name) => ({ directory: directory.path(name), gate: UNGATED, rotates: false }));
  for (const disk of disks) mkdirSync(disk.directory);
  const filesOf = () => names.flatMap((name) => readdirSync(directory.path(name)).map((file) => `${name}/${file}`));
  const schema = schemaOf([{ type: 'INT32' }]);
  const settings = {
    jobName: 'waiting pages',
    control: JobControl.create([], 0).buffer,
    columnBytes: rowGroupWriterBytes(schema.leaves),
    rescatterTo: { disks, indexDirectory: directory.path('a') },
  };
  // The rest is for piles.
  const job = settings as unknown as ShuffleSettings;
  const table = { schema, write: completeTable(undefined, 'UNCOMPRESSED') };
  const ofTask = (name: string, turn: number) => {
    const members = tableMembers(job, table, name, turn);
    const waiting = [1, 2].map((number) => {
      members.add(Buffer.from([number, 0, 0, 0]));
      return members.end();
    });
    return () => {
      for (const member of waiting) member?.release();
      members.close();
    };
  };
  const closes = [ofTask('first', 0), ofTask('second', 1)];
  expect(filesOf()).toEqual(['a/first-pages1', 'b/first-pages2', 'b/second-pages1', 'c/second-pages2']);
  for (const close of closes) close();
  expect(filesOf()).toEqual([]);
  forgetJob(job.jobName);
});
