/** docs/PROGRESS.md: its commands, typed into a shell verbatim; its view, which a view of that job is; and its events. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { JobState } from '#src/cli/measured-job.js';
import { viewLines } from '#src/cli/progress-view.js';
import { shuffle } from '#src/index.js';
import { runShell } from '../fixtures/run-shell.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const root = new URL('../../', import.meta.url);
const pageOf = (name: string) => readFileSync(new URL(`docs/${name}`, root), 'utf8');
const page = pageOf('PROGRESS.md');

function makeCorpus(): void {
  mkdirSync(directory.path('corpus'));
  writeFileSync(directory.path('corpus', 'a.jsonl'), Array.from({ length: 999 }, (_, i) => `{"id":${i}}\n`).join(''));
}

it('its commands print what it says', async () => {
  makeCorpus();
  const [, block = ''] = /```sh\n(.*?)```/s.exec(page) ?? [];
  const script = `node=$1 command=$2; pileshuf() { "$node" "$command" "$@"; }; set -e; cd "$SITE"; ${block}`;
  const { exitCode, stdout, stderr } = await runShell(script, [], { SITE: directory.path() });
  expect(exitCode).toBe(0);
  // A short job prints its summary alone.
  expect(stderr).toMatch(/^pileshuf: 999 records, .*\n$/);
  expect(JSON.parse(stdout.toString())).toMatchObject({ event: 'progress', phase: 'commit' });
});

it('the view is one', () => {
  const [, view = ''] = /```text\n(.*?)```/s.exec(page) ?? [];
  const state: JobState = {
    ...{ phase: 'scatter', bytesDone: 1.2e9, bytesResumed: 0, bytesTotal: 2.4e9, phaseSeconds: 8 },
    phases: [
      { phase: 'scatter', bytes: 2.4e9 },
      { phase: 'shuffle', bytes: 2.4e9 },
    ],
    ...{ bytesPerSecond: 210e6, meanBytesPerSecond: 195e6, workedSeconds: 8 },
    ...{ jobDone: 0.309, jobSecondsLeft: 47.2, jobSeconds: 20 },
    disks: [
      {
        ...{ name: 'vda', bytesRead: 0, bytesWritten: 0, callsUnderWay: 0, callLimit: 8 },
        ...{ readBytesPerSecond: 105e6, writtenBytesPerSecond: 103e6, meanCalls: 3.2 },
      },
    ],
    memory: { residentBytes: 612e6, budgetBytes: 2 ** 30 },
  };
  expect(`${viewLines(state, 80).join('\n')}\n`).toBe(view);
});

it('the events are those of the schema', () => {
  const schema = JSON.parse(readFileSync(new URL('examples/progress.schema.json', root), 'utf8'));
  const listed = [...page.matchAll(/^\| `(\w+)` /gm)].map(([, name]) => name).filter((name) => name !== 'event');
  expect(listed.toSorted()).toEqual(['error', 'plan', 'progress', 'summary', 'warning']);
  for (const name of listed) expect(JSON.stringify(schema)).toContain(`"event":{"const":"${name}"}`);
});

it('the program of docs/EMBEDDING.md gets its reports', async () => {
  makeCorpus();
  const code = /## Progress.*?```js\nawait shuffle\((.*?)\);\n```/s.exec(pageOf('EMBEDDING.md'))?.[1] ?? expect.fail();
  const lines: unknown[][] = [];
  const console = { error: (...words: unknown[]) => lines.push(words) };
  const options = new Function('console', `return ${code}`)(console);
  const site = { inputs: [directory.path('corpus')], output: directory.path('out') };
  await shuffle({ ...options, ...site });
  expect(lines.map(([phase]) => phase)).toEqual(expect.arrayContaining(['scatter', 'shuffle', 'commit']));
  for (const [, , , residentBytes] of lines) expect(residentBytes).toBeGreaterThan(0);
});
