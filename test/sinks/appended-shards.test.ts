/** A staged shard closes its file when it cannot be used. */
import { mkdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { systemFileCalls } from '#src/io/file-calls.js';
import { StagedShard } from '#src/sinks/appended-shards.js';
import { failWith, useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const fileCalls = useFileCalls();

it('leaves no file open whose length the system does not tell', () => {
  mkdirSync(directory.path('staging'));
  const target = { stagingDirectory: directory.path('staging'), headerBytes: 0 };
  const closed: number[] = [];
  fileCalls.replace({
    statOpen: failWith('ESTALE'),
    close(fd) {
      closed.push(fd);
      systemFileCalls.close(fd);
    },
  });
  expect(() => new StagedShard(target, 0)).toThrow(/0\.part: the network file system lost the file$/);
  expect(closed).toHaveLength(1);
});
