/**
 * Runs the command from a shell script, where what matters is around it: limits, pipes, redirections.
 * In the script `"$@"` is the command with its arguments.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { CommandResult } from '../fixtures/run-command.js';

const command = fileURLToPath(new URL('../fixtures/command-under-test.mjs', import.meta.url));

/** Before `"$@"`: a job that hangs is ended, with 137. */
export const IN_TIME = 'timeout --signal=KILL 40';

/** `exitCode` is the script's own: that of its last command. */
export function runShell(
  script: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', script, 'bash', process.execPath, command, ...argv], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.on('error', reject);
    child.stdout.on('data', (piece: Buffer) => stdout.push(piece));
    child.stderr.on('data', (piece: Buffer) => stderr.push(piece));
    child.on('close', (exitCode, signal) =>
      resolve({ exitCode, signal, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() }),
    );
  });
}
