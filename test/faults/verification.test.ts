/**
 * The chain of checks that ties the output to the inputs, with each link broken on purpose: with piles in memory, on
 * disk, and scattered again because they do not fit; on the calling thread and on workers. For every fault that stays the
 * command ends with exit code 4 and one line, and no output appears. After a fault that strikes once, what was wrong is made
 * once more, and the output is right. The saboteur works from outside (`saboteur.mjs`).
 */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Tuning } from '#src/plan/memory-plan.js';
import { seen, sortLines } from '../fixtures/command-outcome.js';
import { runCommand } from '../fixtures/run-command.js';
import { fromCi, isSlow, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { type Sabotage, withSabotage } from './sabotage.js';
import { OUTPUT_BYTES, SORTED_OUTPUT, smallSizes, writeInputs } from './small-job.js';

type Place = 'in memory' | 'on disk' | 'on disk and scattered again';
const SIZES_OF_PLACE: Readonly<Record<Place, Partial<Tuning>>> = {
  'in memory': { mayUseRamPool: true },
  'on disk': { mayUseRamPool: false },
  'on disk and scattered again': { mayUseRamPool: false, pass2ArenaBytes: 80 * 1024 },
};

interface Circumstances {
  readonly place: Place;
  readonly inline: boolean;
}

const IN_MEMORY = ['in memory, inline', { place: 'in memory', inline: true }] as const;
/** Each run is a process; threads in it take as long again. */
const ON_DISK = fromCi
  ? (['on disk, on workers', { place: 'on disk', inline: false }] as const)
  : (['on disk, inline', { place: 'on disk', inline: true }] as const);
const SCATTERED_AGAIN = [
  'on disk and scattered again, on workers',
  { place: 'on disk and scattered again', inline: false },
] as const;
const SCATTERED_AGAIN_INLINE = [
  'on disk and scattered again, inline',
  { place: 'on disk and scattered again', inline: true },
] as const;

describe('verification', () => {
  const directory = useMemoryDirectory();

  function shuffleUnder(sabotage: Sabotage, { place, inline }: Circumstances, ...argv: string[]) {
    const { nodeOptions, env } = withSabotage(sabotage);
    const options = ['--progress', 'none', '-T', directory.temp, '--workers', '2', '--seed', '1'];
    return runCommand([...options, ...writeInputs(directory), ...argv], {
      nodeOptions,
      env: { ...env, ...smallSizes({ ...SIZES_OF_PLACE[place], inline }) },
    });
  }

  async function expectRefusal(
    sabotage: Sabotage,
    circumstances: Circumstances,
    message = /./,
    ...options: readonly string[]
  ) {
    const output = directory.path('out');
    const result = await shuffleUnder(sabotage, circumstances, '-q', '-o', output, ...options);
    expect(seen(result)).toEqual(REFUSAL);
    expect(result.stderr).toMatch(message);
    expect(existsSync(output)).toBe(false);
  }

  /** A fault that strikes once: the command says what was wrong, and its output is right. */
  async function expectSecondTry(sabotage: Sabotage, circumstances: Circumstances, message: RegExp) {
    const output = directory.path('once');
    const result = await shuffleUnder(sabotage, circumstances, '-o', output);
    expect(result.exitCode).toBe(0);
    // The temp directory of the test lies in memory.
    const lines = seen(result).lines.filter((line) => !line.includes(' in memory (tmpfs)'));
    const [warning, summary, ...others] = lines;
    expect(warning).toMatch(/^pileshuf: warning: verification failed: .*; it is tried once more$/);
    expect(warning).toMatch(message);
    expect([summary, others]).toEqual([expect.stringMatching(/^pileshuf: [0-9,]+ records, /), []]);
    expect(sortLines(readFileSync(output, 'latin1'))).toEqual(SORTED_OUTPUT);
  }

  /** A fault may strike once, or each time: in CI, in memory, and some others below. */
  async function expectSeen(sabotage: Sabotage, circumstances: Circumstances, message = /./) {
    await expectSecondTry(sabotage, circumstances, message);
    if (!isSlow && circumstances !== IN_MEMORY[1]) return;
    if (!fromCi) return;
    await expectRefusal({ ...sabotage, ever: true }, circumstances, new RegExp(`twice in a row: .*${message.source}`));
  }

  describe.each(sampled([IN_MEMORY, ON_DISK, SCATTERED_AGAIN, SCATTERED_AGAIN_INLINE], 4, 0, 2))(
    '%s',
    (_, circumstances) => {
      it('passes when nothing is broken', async () => {
        const sabotage: Sabotage = { act: 'drop-scattered', nth: Number.MAX_SAFE_INTEGER };
        const result = await shuffleUnder(sabotage, circumstances, '-q', '-o', directory.path('out'));
        expect(seen(result)).toEqual({ exitCode: 0, lines: [] });
        expect(sortLines(readFileSync(directory.path('out'), 'latin1'))).toEqual(SORTED_OUTPUT);
      });

      it('sees a record written twice', () => expectSeen({ act: 'repeat-gathered' }, circumstances, /pile \d+ /));

      it('sees a record not written', () => expectSeen({ act: 'skip-gathered' }, circumstances, /pile \d+ /));

      it('sees a record written in the place of another of its length', () =>
        expectSeen({ act: 'replace-gathered' }, circumstances, /pile \d+ .* checksum/));

      it.each(sampled(['record', 'length'] as const, 2))('sees changed %s bits come back from a pile', (part) =>
        expectSeen({ act: 'alter-loaded', part, nth: 3 }, circumstances),
      );

      it('sees bytes that come back from another place', () =>
        expectSeen({ act: 'misdirect-loaded', nth: 2 }, circumstances));
    },
  );

  describe('in memory, on workers', () => {
    it.each(sampled(['lowKey', 'record', 'highKey', 'length'] as const, 2))('sees changed %s bits of a pile', (part) =>
      expectRefusal({ act: 'alter-loaded', part, ever: true }, { place: 'in memory', inline: false }, /pile \d+ /),
    );
  });

  describe.each(sampled([IN_MEMORY, ON_DISK], 2))('%s', (_, circumstances) => {
    it('sees a record dropped at an overlooked slice boundary', async () => {
      const output = directory.path('out');
      const result = await shuffleUnder({ act: 'skip-boundary', nth: 2 }, circumstances, '-q', '-o', output);
      // On threads it may be the slice in front that overlooks the boundary. It reads itself once more.
      if (!circumstances.inline && result.exitCode === 0) {
        expect(sortLines(readFileSync(output, 'latin1'))).toEqual(SORTED_OUTPUT);
        return;
      }
      expect(seen(result)).toEqual(REFUSAL);
      expect(result.stderr).toMatch(NOT_TILED);
      expect(existsSync(output)).toBe(false);
    });

    it.runIf(fromCi)('sees a record taken by two slices because of a false boundary', () =>
      expectRefusal({ act: 'invent-boundary' }, circumstances, NOT_TILED),
    );

    it('sees a record lost on its way to the piles', () =>
      expectSeen({ act: 'drop-scattered', nth: 7 }, circumstances, NOT_SCATTERED));

    it.runIf(fromCi)('sees a record put on a pile twice', () =>
      expectSeen({ act: 'repeat-scattered', nth: 7 }, circumstances, NOT_SCATTERED),
    );

    it.each(sampled([300, 2000], 2))('counts the records of a slice once for a head of %d', async (headCount) => {
      const headOf = (nth: number) =>
        shuffleUnder({ act: 'drop-scattered', nth }, circumstances, '-n', String(headCount));
      const undisturbed = await headOf(Number.MAX_SAFE_INTEGER);
      const triedOnceMore = await headOf(1);
      expect(triedOnceMore.stderr).toMatch(NOT_SCATTERED);
      expect(undisturbed.stdout.toString('latin1').split('\n')).toHaveLength(headCount + 1);
      expect(triedOnceMore.stdout.equals(undisturbed.stdout)).toBe(true);
    });

    it.each(sampled(['drop-scattered', 'repeat-scattered'] as const, 2))(
      'sees the fault %s of records with a weight',
      (act) => expectRefusal({ act, nth: 7, ever: true }, circumstances, NOT_SCATTERED, '--weight', '*=0.6'),
    );

    it('sees a record on the wrong pile', () =>
      expectSeen({ act: 'alter-loaded', part: 'highKey', nth: 3 }, circumstances, /belongs to another pile/));

    it.runIf(fromCi)('sees the last byte of the output missing', () =>
      expectRefusal({ act: 'short-output-write', outputBytes: OUTPUT_BYTES }, circumstances, /bytes on disk, expected/),
    );
  });

  describe.each([ON_DISK])('%s', (_, circumstances) => {
    it.each(sampled([1, 5], 2))('sees pile data that was written short, at write %d', (nth) =>
      expectRefusal({ act: 'short-temp-write', nth }, circumstances, NOT_WRITTEN_OR_ENDS),
    );
  });

  describe.each(sampled([IN_MEMORY, SCATTERED_AGAIN], 2))('of unique records %s', (_, circumstances) => {
    it.runIf(fromCi)('passes when nothing is broken', async () => {
      const sabotage: Sabotage = { act: 'lose-distinct', nth: Number.MAX_SAFE_INTEGER };
      const result = await shuffleUnder(sabotage, circumstances, '-q', '-o', directory.path('out'), '--unique');
      expect(seen(result)).toEqual({ exitCode: 0, lines: [] });
      expect(sortLines(readFileSync(directory.path('out'), 'latin1'))).toEqual(SORTED_OUTPUT);
    });

    it('sees one that is neither kept nor dropped', () =>
      expectRefusal({ act: 'lose-distinct', ever: true }, circumstances, /pile \d+ /, '--unique'));

    it.runIf(fromCi).each([
      // The place of a pile that is scattered again is claimed when it is written.
      ['in a claimed place', [], /; the output has received a part of them$|twice in a row: pile \d+ came out/m],
      ['in a known place', ['--shards', '3'], /twice in a row: pile \d+ came out of pass 2 with/],
      ['in its turn', ['--compress', 'gzip'], /twice in a row: pile \d+ came out of pass 2 with/],
    ])('sees one written twice %s', (__, argv, message) =>
      expectRefusal({ act: 'repeat-gathered', ever: true }, circumstances, message, '--unique', ...argv),
    );
  });

  describe.each([ON_DISK])('%s', (_, circumstances) => {
    it.runIf(fromCi)('ends with 4 when the output is standard output', async () => {
      expect(seen(await shuffleUnder({ act: 'replace-gathered' }, circumstances, '-q'))).toEqual(REFUSAL);
    });

    it.runIf(fromCi)('makes a pile of a stream once more if the reader has got nothing of it', async () => {
      const result = await shuffleUnder({ act: 'alter-loaded', part: 'highKey' }, circumstances);
      expect(result).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('; it is tried once more\n') });
      expect(sortLines(result.stdout.toString('latin1'))).toEqual(SORTED_OUTPUT);
    });

    it('does not write a pile of a stream twice', async () => {
      const result = await shuffleUnder({ act: 'skip-gathered' }, circumstances, '-q');
      expect(seen(result)).toEqual(REFUSAL);
      expect(result.stderr).toMatch(/pile \d+ came out .*; the output has received a part of them$/m);
      expect(result.stdout.byteLength).toBeLessThan(OUTPUT_BYTES);
    });

    it.runIf(fromCi)('reports an input that ends early as a bad input', async () => {
      const output = directory.path('out');
      const result = await shuffleUnder({ act: 'early-end', nth: 9 }, circumstances, '-q', '-o', output);
      expect(seen(result)).toEqual({
        exitCode: 3,
        lines: [expect.stringMatching(/\.input ends at byte \d+, expected \d+/)],
      });
      expect(existsSync(output)).toBe(false);
    });
  });
});

const REFUSAL = { exitCode: 4, lines: [expect.stringMatching(/^pileshuf: verification failed: /)] };
const NOT_TILED = /\.input was read up to byte \d+(, expected| and from byte \d+ on, expected no gap and no overlap)/;
const NOT_WRITTEN_OR_ENDS =
  /\d+ bytes at byte \d+ of .*\.pile \(pile \d+\) are not what was written there; check the disk|\.pile ends at byte/;
const NOT_SCATTERED = /pass 1 put \d+ bytes on the piles, expected the \d+ that it read/;
