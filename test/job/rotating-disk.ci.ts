/**
 * Jobs whose inputs, temp data and output lie on one rotating disk, which takes one call at a time. Each job has its
 * own process, because a job that waits for a permit that it holds itself would block the test.
 */
import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SORTED_OUTPUT, smallSizes, writeInputs } from '../faults/small-job.js';
import { DONE, seen, sortLines } from '../fixtures/command-outcome.js';
import { runCommand } from '../fixtures/run-command.js';
import { shownNames } from '../fixtures/shown-names.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const nodeOptions = ['--import', new URL('one-rotating-disk.mjs', import.meta.url).href];

it('the disk is one that rotates', async () => {
  const argv = ['plan', ...writeInputs(directory), '-o', directory.path('out'), '-T', directory.temp, '-S', '4M'];
  const { stdout } = await runCommand([...argv, '--json'], { nodeOptions });
  expect(JSON.parse(stdout.toString())).toMatchObject({ devices: [{ class: 'rotating', calls: 1 }] });
});

describe.each([
  ['on the calling thread', true],
  ['on threads', false],
])('a job %s', (_, inline) => {
  it.each([
    ['that can be resumed', ['--resume']],
    ['of shards that can be resumed', ['--resume', '--shards', '3']],
    ['that leaves nothing', []],
  ])('%s comes to its end', async (__, words) => {
    const output = directory.path('out');
    const argv = [...writeInputs(directory), '-q', '-o', output, '-T', directory.temp, '--workers', '2', ...words];
    expect(seen(await runCommand(argv, { nodeOptions, env: smallSizes({ inline }) }))).toEqual(DONE);
    const isFile = statSync(output).isFile();
    const paths = isFile ? [output] : shownNames(output).map((shard) => directory.path('out', shard));
    expect(sortLines(paths.map((path) => readFileSync(path, 'latin1')).join(''))).toEqual(SORTED_OUTPUT);
  });
});
