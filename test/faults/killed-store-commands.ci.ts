/**
 * The commands that change a store, each in a real process that is killed with SIGKILL at its N-th file call. The store
 * has its former content or the new one, and the same command does the rest.
 */

import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { collectStore, inspectStore } from '#src/index.js';
import { runCommand } from '../fixtures/run-command.js';
import { atScale, isSlow, sampled } from '../fixtures/scale.js';
import { contentOf, expectedContent } from '../fixtures/store-content.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { inputsOf, linesOf, SEED, writeInputs } from '../fixtures/written-store.js';

const killer = new URL('killer.mjs', import.meta.url).href;
const former = () => expectedContent(SEED, inputsOf(['old', 'a', 'b']));

const commands = [
  {
    argv: ['pile', 'STORE', '--input-id', 'new'],
    stdin: linesOf('new').join(''),
    expected: () => expectedContent(SEED, inputsOf(['old', 'a', 'b', 'new'])),
  },
  {
    argv: ['append', 'STORE', 'INPUTS/a', 'INPUTS/b', '--input-ids', 'name', '--replace', '--workers', '2'],
    stdin: '',
    expected: () => expectedContent(SEED, { ...inputsOf(['old']), a: linesOf('A'), b: linesOf('B') }),
  },
  {
    argv: ['expire', 'STORE', '--before', '2026-11-01', '--grace', '0'],
    stdin: '',
    expected: () => expectedContent(SEED, inputsOf(['a', 'b'])),
  },
];

/** Every so many-th call is tried. */
const step = atScale(97, 23, 1);

const directory = useTestDirectory();
const store = () => directory.path('store');

describe.each(sampled(commands, 4))('pileshuf $argv.0', ({ argv, stdin, expected }) => {
  it('leaves a whole store whenever it is killed', async () => {
    await writeInputs(directory.path('before'), ['gone'], '2026-09-01');
    await writeInputs(directory.path('before'), ['old'], '2026-10-01');
    await writeInputs(directory.path('before'), ['a'], '2026-11-01');
    await writeInputs(directory.path('before'), ['b'], '2026-11-02');
    await runCommand(['expire', '-q', directory.path('before'), '--before', '2026-10-01']);
    for (const id of ['a', 'b']) writeFileSync(directory.path(id), linesOf(id.toUpperCase()).join(''));

    const words = argv.map((word) => word.replace('STORE', store()).replace('INPUTS', directory.path()));
    const run = (env: Record<string, string>, nodeOptions: string[]) =>
      runCommand([...words, '-q'], { stdin, env: { PILESHUF_TEST_TUNING: '{"inline":false}', ...env }, nodeOptions });
    let kills = 0;
    for (let nth = 1; ; nth += step) {
      rmSync(store(), { recursive: true, force: true });
      cpSync(directory.path('before'), store(), { recursive: true });
      const killed = await run({ PILESHUF_KILL_AT: String(nth) }, ['--import', killer]);
      if (killed.signal === null) {
        expect(killed).toMatchObject({ exitCode: 0, stderr: '' });
        expect(contentOf(store())).toEqual(expected());
        break;
      }
      kills += 1;
      const what = `killed at call ${nth}`;
      expect([former(), expected()], what).toContainEqual(contentOf(store()));
      const again = await run({}, []);
      if (again.exitCode !== 0) expect(again.stderr, what).toMatch(/has an input of the id "new" already/);
      expect(contentOf(store()), what).toEqual(expected());
      await collectStore(store(), { graceMilliseconds: 0 });
      const { pileSets, removedPileSets, writers } = await inspectStore(store(), { verify: true });
      expect({ removedPileSets, writers }, what).toEqual({ removedPileSets: 0, writers: 0 });
      expect(readdirSync(directory.path('store', 'pile-sets')), what).toHaveLength(2 * pileSets);
    }
    expect(kills * step).toBeGreaterThan(40);
    if (isSlow) console.info(`pileshuf ${argv[0]}: killed at ${kills} calls`);
  });
});
