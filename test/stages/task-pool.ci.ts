/** The pool of threads, when a job ends before they have started. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { atScale } from '../fixtures/scale.js';

const program = fileURLToPath(new URL('short-pool.mjs', import.meta.url));

describe('a pool that is ended', () => {
  // In a process of its own: what goes wrong there ends all of it.
  it('while its threads load their tasks ends its threads and nothing else', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [program, String(atScale(6, 12, 30))]);
    expect(stdout).toBe('all ended, 0 files left open\n');
  });
});
