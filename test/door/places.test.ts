/** Where outputs go: places that are refused before any work. */
import { describe } from 'vitest';
import { testDoor } from './door-case.js';

describe('an output', () => {
  testDoor([
    {
      name: 'beside its input',
      files: { 'd/a.txt': 'x\ny' },
      argv: ['d/a.txt'],
      summary: / 2 records, 4 bytes /,
      records: ['x\n', 'y\n'],
    },
    {
      name: 'in the place of its input',
      files: { a: 'x' },
      argv: ['a', '-o', 'a'],
      exitCode: 2,
      lines: [/the output a /],
    },
  ]);
});
