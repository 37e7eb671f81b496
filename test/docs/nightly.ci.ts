/** The recipe for cron, over some nights: files come, change, stay and go. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runShell } from '../fixtures/run-shell.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { blocksOf } from './page-blocks.js';

const directory = useTestDirectory();
const recipe = blocksOf('docs/STORES.md').find(({ text }) => text.includes('-cnewer'))?.text ?? '';

/** A night has the generation of its number. @returns the records of the store. */
async function sleep(night: number): Promise<string | undefined> {
  const script = recipe
    .replace('append store', `append store --generation 2026-01-0${night}`)
    .replace('--keep 30d', '--keep-last 2');
  const words = `cd "$3"
printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$1" "$2" > pileshuf
chmod +x pileshuf
PATH="$PWD:$PATH"
${script}
test ! -e store || pileshuf shuffle-store store -q | sort`;
  const { exitCode, stdout, stderr } = await runShell(words, [directory.path()]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout.toString();
}

const put = (name: string, text: string) => writeFileSync(directory.path('incoming', name), text);

it('keeps what came or changed in the last nights', async () => {
  mkdirSync(directory.path('incoming'));
  expect(await sleep(1)).toBe('');
  put('a', 'a1\n');
  put('b', 'b1\n');
  put('empty', '');
  expect(await sleep(2)).toBe('a1\nb1\n');
  put('b', 'b2\n');
  put('c', 'c1\n');
  rmSync(directory.path('incoming', 'a'));
  expect(await sleep(3)).toBe('a1\nb2\nc1\n');
  expect(await sleep(4)).toBe('a1\nb2\nc1\n');
  put('d', 'd1\n');
  expect(await sleep(5)).toBe('b2\nc1\nd1\n');
  put('e', 'e1\n');
  expect(await sleep(6)).toBe('d1\ne1\n');
  expect(readdirSync(directory.path('incoming'))).toHaveLength(5);
});
