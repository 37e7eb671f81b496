/** Where outputs go: places that are refused before any work. */
import { describe } from 'vitest';
import { testDoor } from './door-case.js';

describe('temp data', () => {
  testDoor([
    {
      name: 'in a directory that does not exist',
      files: { a: 'x' },
      argv: 'a -T none',
      badCall: 'the temp directory none does not exist; name another with -T',
    },
    {
      name: 'in a file',
      files: { a: 'x' },
      argv: 'a -T a',
      badCall: 'the temp directory a is not a directory; name another with -T',
    },
  ]);
});

describe('an output', () => {
  testDoor([
    {
      name: 'beside its input',
      files: { 'd/a.txt': 'x\ny' },
      argv: 'd/a.txt',
      summary: / 2 records, 4 bytes /,
      records: ['x\n', 'y\n'],
    },
    {
      name: 'in the place of its input',
      files: { a: 'x' },
      argv: 'a -o a',
      badCall: /the output a /,
    },
    {
      name: 'of a job that is done, and is asked to be resumed',
      files: { a: 'x', b: 'x\n' },
      argv: 'a --resume -o b',
      badCall:
        'the output b exists already; give --force to replace it; there is no job to resume, and pileshuf cannot tell whether this is the output of the same job',
    },
  ]);
});
