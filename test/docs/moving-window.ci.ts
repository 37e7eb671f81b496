/** The commands of docs/STORES.md that move a window over a store, typed into a shell verbatim. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openPileWriter } from '#src/index.js';
import { runShell } from '../fixtures/run-shell.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const text = readFileSync(new URL('../../docs/STORES.md', import.meta.url), 'utf8');
const script = /## A moving window\n\n```sh\n([^`]+)```/.exec(text)?.[1] ?? '';

it('the commands that move a window do so', async () => {
  const site = directory.path('site');
  for (const day of ['day-20', 'day-21']) {
    mkdirSync(directory.path('site', day), { recursive: true });
    writeFileSync(directory.path('site', day, 'a.jsonl'), `{"day": "${day}"}\n`);
  }
  const old = await openPileWriter(directory.path('site', 'store'), { inputId: 'old', generation: '2000-01-01' });
  old.write('old\n');
  await old.commit();
  const setup = 'set -o errexit -o pipefail; node=$1 command=$2; pileshuf() { "$node" "$command" "$@"; }; cd "$SITE"';
  const { exitCode, stdout, stderr } = await runShell(`${setup}\n${script}`, [], { SITE: site });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(/expired \(2000-01-01/) });
  expect(stdout.toString()).toMatch(/^store {7}[0-9a-f]{16} in .*\/site\/store, seed /);
});
