/** pileshuf expire, gc and inspect: their output and effects, and signals that stop them. */
import { beforeEach, describe, expect, it } from 'vitest';
import { inspectStore } from '#src/index.js';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { runCommand } from '../fixtures/run-command.js';
import { fromCi } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { writeInputs } from '../fixtures/written-store.js';

const directory = useTestDirectory();
const run = (...argv: string[]) => commandInProcess(argv, { cwd: directory.path() });

beforeEach(async () => {
  await writeInputs(directory.path('store'), ['a', 'b'], '2026-10-01');
  await writeInputs(directory.path('store'), ['c'], '2026-11-01');
  await writeInputs(directory.path('store'), ['d'], 'nightly');
});

describe('pileshuf expire and gc', () => {
  it('say what they did', async () => {
    const expired = await run('expire', 'store', '--before', '2026-11-01');
    expect(expired).toMatchObject({
      exitCode: 0,
      stderr: 'pileshuf: 1 generation expired (2026-10-01), 6 records; nothing to delete yet\n',
    });
    expect((await run('expire', 'store', '--keep', '52w')).stderr).toBe(
      'pileshuf: no generation expired; nothing to delete\n',
    );
    expect((await run('gc', 'store')).stderr).toBe('pileshuf: nothing to delete\n');
    expect((await run('gc', 'store', '--grace', '0')).stderr).toMatch(
      /^pileshuf: deleted 2 pile sets, \d+ B, and 5 manifests\n$/,
    );
    const { stderr } = await run('expire', 'store', '--keep-last', '1', '--grace', '0', '--progress', 'json');
    const { event, expired: gone, deleted } = JSON.parse(stderr);
    expect({ event, gone, deleted }).toMatchObject({
      event: 'summary',
      gone: [{ name: '2026-11-01', commits: 1, inputs: 1, records: 3 }],
      deleted: { pileSets: 1 },
    });
    expect(await run('gc', '-q', 'store')).toMatchObject({ exitCode: 0, stderr: '', stdout: Buffer.alloc(0) });
    expect((await inspectStore(directory.path('store'), { verify: true })).records).toBe(3);
  });
});

describe('pileshuf inspect', () => {
  it('shows a store as text', async () => {
    await run('expire', '-q', 'store', '--before', '2026-11-01');
    const { exitCode, stdout, stderr } = await run('inspect', 'store', '--verify');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const shown = stdout.toString().split('\n');
    const expected = [
      /^store {7}[0-9a-f]{16} in \/.*\/store, seed "42"$/,
      /^state {7}6, of 20\d\d-.*Z$/,
      /^records {5}6, 24 bytes, the longest 4 B$/,
      /^checksum {4}[0-9a-f]{16}, verified: every record was read$/,
      /^on disk {5}96 B in 2 pile sets$/,
      /^piles {7}3, of \d+ B to \d+ B, 32 B on average, the largest \d\.\d\d times the mean$/,
      /^removed {5}2 pile sets, for pileshuf gc to delete$/,
      /^inputs {6}2 in 2 generations:$/,
      /^ {2}2026-11-01 {2}of 2026-11-01T00:00:00\.000Z, 1 commit, 1 input, 3 records, 12 B, checksum [0-9a-f]{16}$/,
      /^ {2}nightly {2}of 20.*Z, 1 commit, 1 input, 3 records, 12 B, checksum [0-9a-f]{16}$/,
      /^$/,
    ];
    expect(shown).toEqual(expected.map((line) => expect.stringMatching(line)));
  });

  it('shows it as JSON, too', async () => {
    const { stdout } = await run('inspect', 'store', '--json');
    expect(JSON.parse(stdout.toString())).toEqual(await inspectStore(directory.path('store')));
  });
});

describe('a signal', () => {
  const stopper = new URL('signal-at-open.mjs', import.meta.url).href;
  const stopped = (signal: string, end: string, argv: readonly string[]) =>
    runCommand(argv, {
      cwd: directory.path(),
      nodeOptions: ['--import', stopper],
      env: { PILESHUF_SIGNAL_AT: `${signal} ${end}` },
    });

  it.runIf(fromCi).each([
    [['inspect', 'store'], '.index', 'no output was written'],
    [['inspect', 'store', '--verify'], '.pile', 'no output was written'],
    [['expire', 'store', '--keep-last', '1', '--grace', '0'], '.index', 'a later pileshuf gc deletes the rest'],
    [['gc', 'store', '--grace', '0'], '.index', 'a later pileshuf gc deletes the rest'],
  ])('ends %j, and leaves the store whole', async (argv, end, rest) => {
    await run('expire', '-q', 'store', '--before', '2026-11-01');
    for (const [signal, exitCode] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const { stdout, ...ended } = await stopped(signal, end, argv);
      expect(stdout.toString()).toBe('');
      expect(ended).toMatchObject({
        exitCode,
        stderr: `pileshuf: interrupted by ${signal}: stopped before the end; ${rest}\n`,
      });
      await inspectStore(directory.path('store'), { verify: true });
      if (argv[0] !== 'inspect') break;
    }
    expect(await run('gc', 'store', '--grace', '0')).toMatchObject({ exitCode: 0 });
    expect((await inspectStore(directory.path('store'), { verify: true })).removedPileSets).toBe(0);
  });
});
