/** docs/TUTORIAL.md: its programs and its commands, in their order, print what the page shows. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runShell } from '../fixtures/run-shell.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(new URL('../../docs/TUTORIAL.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```/gms)].map(([, kind = '', text = '']) => ({ kind, text }));

/** What differs between machines: times, speeds, and sizes of memory. */
const masked = (line: string) => line.replace(/[\d.,]+ (?:s|[kMG]?B\/s)\b/g, '# s').replace(/ s[,)].*/, ' s');
/** These blocks show some lines of all, or a larger job. */
const SHOWN_IN_PART = /^(?:inputs {6}|verdict|\[===)/;

it('each block of the page is what it says', async () => {
  const site = directory.path('site');
  mkdirSync(directory.path('site', 'node_modules'), { recursive: true });
  symlinkSync(root, directory.path('site', 'node_modules', 'pileshuf'));
  const [make, train, ...more] = blocks.filter(({ kind }) => kind === 'js');
  expect(more).toEqual([]);
  writeFileSync(directory.path('site', 'make.mjs'), make?.text ?? '');
  writeFileSync(directory.path('site', 'train.mjs'), train?.text ?? '');

  let printed: string[] = [];
  for (const { kind, text } of blocks) {
    if (kind === 'sh') {
      const setup = 'node=$1 command=$2; pileshuf() { "$node" "$command" "$@"; }; cd "$SITE" || exit';
      const env = { SITE: site, TMPDIR: directory.temp };
      const { exitCode, stdout, stderr } = await runShell(`${setup}\n${text}`, [], env);
      expect({ text, exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.not.stringMatching(/warning/) });
      printed = `${stdout}${stderr}`.split('\n').map(masked);
    }
    if (kind === 'text') {
      const shown = text.trimEnd().split('\n').map(masked);
      // The view, and a plan, follow the machine.
      const expected = SHOWN_IN_PART.test(text)
        ? shown.filter((line) => /^(?:verdict|drift|records)/.test(line))
        : shown;
      expect(printed).toEqual(expect.arrayContaining(expected));
    }
  }
});
