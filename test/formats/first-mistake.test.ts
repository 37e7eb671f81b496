/** A mistake that shifts all that is counted behind it: the error names it, wherever the input is cut. */
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type RecordKind, shuffle } from '#src/index.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();

it.each<[RecordKind['by'] & ('csv' | 'fastq'), string, string, string, number]>([
  ['csv', '"a\n","b"\n', '"a\n",6" b\n', 'is a double quote in a field', 6],
  ['fastq', '@r\nAC\n+\n@I\n', '@r\nA\nC\n+\n@I\n', 'begins the third line of a read', 5],
])('of %s', async (by, record, wrong, problem, at) => {
  const path = directory.path('in');
  writeFileSync(path, record.repeat(3) + wrong + record.repeat(30));
  for (const sliceBytes of [1, 10, 23, 100]) {
    const job = { inputs: [path], records: { by }, header: { bytes: record.length }, output: directory.path('out') };
    const tempDirs = [directory.temp];
    await expect(shuffle({ ...job, tempDirs, workers: 1 }, { sliceBytes, inline: true })).rejects.toMatchObject({
      code: 'ERR_INPUT_CORRUPT',
      message: expect.stringContaining(`in: byte ${3 * record.length + at} ${problem}`),
    });
  }
});
