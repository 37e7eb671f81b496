/** The manual page: man reads it without a complaint, and it has every option and command. */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { COMMAND_NAMES } from '#src/cli/command-table.js';
import { manualPage } from '#src/cli/manual-page.js';
import { allOptions } from '#src/cli/option-names.js';
import { isOnPath } from '../fixtures/foreign-program.js';

const plain = (page: string) =>
  page
    .replace(/\\f[BIR]|\\&/g, '')
    .replaceAll('\\-', '-')
    .replaceAll('\\e', '\\');

it('has every option, command and exit code', async () => {
  const text = plain(await manualPage('1.2.3'));
  for (const { name } of allOptions()) expect(text).toContain(`--${name}`);
  for (const name of COMMAND_NAMES) {
    if (name !== 'shuffle') expect(text).toContain(`.SS "pileshuf ${name}"`);
  }
  expect(text).toMatch(/^\.SH EXIT STATUS\n\.nf\n {2}0 done and verified/m);
  expect(text).toContain('"pileshuf 1.2.3"');
});

it.skipIf(!isOnPath('groff'))('is understood by groff', async () => {
  const { stdout, stderr } = spawnSync('groff', ['-ww', '-man', '-Tutf8'], {
    input: await manualPage('1.2.3'),
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(stdout).toContain('records end in STRING; \\n, \\r, \\t, \\0, \\\\ and \\xHH');
});
