/** Runs the command as a user without special permissions, also when root starts the tests. */
import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CommandResult } from '../fixtures/run-command.js';

const command = fileURLToPath(new URL('../fixtures/command-under-test.mjs', import.meta.url));

/** Words before a program that run it as nobody; none are needed when the tests are not run by root. */
const AS_NOBODY = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'] : [];

/** Why the command cannot be run that way here; undefined when it can. */
export const reasonNotToDropPrivileges = tryCommand();

/** Opens a test's directory and its temp directory to that user. */
export function openToUnprivileged(testDirectory: string): void {
  if (AS_NOBODY.length > 0) for (const path of [testDirectory, join(testDirectory, 'temp')]) chmodSync(path, 0o777);
}

export async function runUnprivileged(
  argv: readonly string[],
  cwd: string,
  more: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const { status, signal, stdout, stderr } = spawn(['-q', ...argv], cwd, more);
  return { exitCode: status, signal, stdout, stderr: stderr.toString() };
}

function spawn(argv: readonly string[], cwd: string, more: Readonly<Record<string, string>> = {}) {
  const [program = '', ...words] = [...AS_NOBODY, process.execPath, command, ...argv];
  return spawnSync(program, words, { cwd, env: { ...process.env, ...more } });
}

function tryCommand(): string | undefined {
  const { status, error } = spawn(['--version'], '/');
  return status === 0 ? undefined : `(the command cannot be run as another user here: ${error?.message ?? status})`;
}
