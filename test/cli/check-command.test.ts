/** `pileshuf check-shuffled`: what it prints, as text and as JSON, and its exit codes. */
import { writeFileSync } from 'node:fs';
import { beforeEach, expect, it } from 'vitest';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const run = (...argv: string[]) => commandInProcess(['check-shuffled', ...argv], { cwd: directory.path() });

beforeEach(() => {
  writeFileSync(directory.path('sorted'), Array.from({ length: 1000 }, (_, i) => `${i}\ttext\n`).join(''));
  writeFileSync(directory.path('alike'), 'x\n'.repeat(1000));
});

it('says what it sees, with exit code 4 for an order', async () => {
  const { exitCode, stdout, stderr } = await run('sorted');
  expect(exitCode).toBe(4);
  expect(stderr).toMatch(
    /^pileshuf: verification failed: the records are not shuffled: neighbours are alike, or in order\n$/,
  );
  const lines = stdout.toString().split('\n');
  expect(lines.slice(0, 3)).toEqual([
    expect.stringMatching(/^data {9}1 file, 1,000 records, 8\.89 kB; looked at 960 records in 15 places \(.* s\)$/),
    'verdict      not shuffled: neighbours are alike, or in order',
    expect.stringMatching(/^drift {8}seen in .*alphabet, number \(p < 1e-12\)$/),
  ]);
  expect(lines.at(-2)).toMatch(/^number {7}▁[▁▂▃▄▅▆▇█]{13}█$/);
});

it('says that there is nothing to see', async () => {
  const { exitCode, stdout, stderr } = await run('alike');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout.toString()).toMatch(/^verdict {6}nothing to see: an order of such records would not be visible$/m);
  writeFileSync(directory.path('few'), 'a\nb\n');
  expect((await run('few')).stdout.toString()).toMatch(/there are too few records to test/);
});

it('prints JSON, or only the error', async () => {
  const { exitCode, stdout } = await run('sorted', '--json');
  expect(exitCode).toBe(4);
  expect(JSON.parse(stdout.toString())).toMatchObject({
    verdict: 'not-shuffled',
    records: 1000,
    travel: { ascending: 1 },
  });
  expect(await run('sorted', '-q')).toMatchObject({ exitCode: 4, stdout: Buffer.of() });
});
