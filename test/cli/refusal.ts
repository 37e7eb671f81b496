/**
 * A call of the command that must be refused: its exit code, its one line on standard error, and no change in its
 * place. The entries of `site` and their contents are compared before and after.
 */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { CommandResult } from '../fixtures/run-command.js';

/** Path, kind, inode and content of everything below a directory. */
function inventory(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const { ino, mode } = lstatSync(path);
      const readable = entry.isFile() && (mode & 0o444) !== 0;
      return `${path} ${ino} ${mode} ${readable ? readFileSync(path, 'latin1') : ''}`;
    })
    .sort();
}

/** @param line all of standard error but its newline. */
export async function expectRefusal(
  site: string,
  run: () => Promise<CommandResult>,
  exitCode: number,
  line: RegExp | string,
): Promise<void> {
  const before = inventory(site);
  const result = await run();
  const lines = result.stderr.split('\n');
  expect({ exitCode: result.exitCode, lines }).toEqual({
    exitCode,
    lines: [typeof line === 'string' ? `pileshuf: ${line}` : expect.stringMatching(line), ''],
  });
  expect(result.stderr).toMatch(/^pileshuf: /);
  expect(result.stdout.byteLength).toBe(0);
  expect(inventory(site)).toEqual(before);
}
