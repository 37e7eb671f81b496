/**
 * A directory for tests that do thousands of jobs: in memory if the system has such a place, because each job makes its
 * output durable, which takes milliseconds on a disk.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { fastPlace } from '../fixtures/fast-place.js';

export interface FastDirectory {
  path(...names: string[]): string;
  readonly temp: string;
}

/** Registers one directory for all tests of the file; at the end nothing may be left in `temp`. */
export function useFastDirectory(): FastDirectory {
  let root = '';
  beforeAll(() => {
    root = mkdtempSync(join(fastPlace(), 'pileshuf-test-'));
    mkdirSync(join(root, 'temp'));
  });
  afterAll(() => {
    const leftInTemp = readdirSync(join(root, 'temp'));
    rmSync(root, { recursive: true, force: true });
    expect(leftInTemp).toEqual([]);
  });
  return {
    path: (...names) => join(root, ...names),
    get temp() {
      return join(root, 'temp');
    },
  };
}
