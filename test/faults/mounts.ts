/**
 * Small and read-only file systems for tests of full disks: tmpfs mounts, which only root may make.
 * They are unmounted after each test, before its directory is looked at and removed.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';

/** Why mounts cannot be had here; undefined when they can. */
export const reasonNotToMount = tryToMount();

/** Registers with the surrounding `describe`, behind the test's directory; gives `mount(path, options)`. */
export function useMounts(): (path: string, options: string) => string {
  const mounted: string[] = [];
  afterEach(() => {
    for (const path of mounted.splice(0)) runOrThrow('umount', [path]);
  });
  return (path, options) => {
    mkdirSync(path);
    mount(path, options);
    mounted.push(path);
    return path;
  };
}

function mount(path: string, options: string): void {
  runOrThrow('mount', ['-t', 'tmpfs', '-o', options, 'pileshuf-test', path]);
}

function runOrThrow(program: string, argv: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, argv, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${argv.join(' ')}: ${error?.message ?? stderr}`);
}

function tryToMount(): string | undefined {
  if (process.platform !== 'linux') return 'tmpfs is a thing of Linux';
  if (process.getuid?.() !== 0) return 'only root may mount';
  const path = mkdtempSync(join(tmpdir(), 'pileshuf-test-mount-'));
  try {
    mount(path, 'size=64k');
    runOrThrow('umount', [path]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    rmdirSync(path);
  }
}
