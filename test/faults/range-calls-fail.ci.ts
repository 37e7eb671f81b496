/**
 * A job that writes a range of numbers, with its N-th file call failing. Each time, either the job succeeds and its output
 * is right to the byte, or one line says what failed, and the output is absent, whole, or the former one. No file stays
 * open, and none stays on disk that the job does not name. The same job with `force` then succeeds.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PileshufError, type RangeOptions, shuffleRange } from '#src/index.js';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { fastPlace } from '../fixtures/fast-place.js';
import { atScale } from '../fixtures/scale.js';
import { type Fault, FaultyFileCalls, isFatal } from './faulty-file-calls.js';

const FAULTS: readonly Fault[] = [
  { kind: 'fails', errno: 'EIO' },
  { kind: 'is done and reported as failed', errno: 'EIO' },
  { kind: 'fails from then on', errno: 'ENOSPC' },
  { kind: 'fails', errno: 'EINTR' },
  { kind: 'is short', part: 'half' },
];

interface Kind {
  readonly name: string;
  readonly options: Pick<RangeOptions, 'force'>;
  makeFormer(output: string): void;
}

const KINDS: readonly Kind[] = [
  { name: 'a file', options: {}, makeFormer: () => {} },
  {
    name: 'a file in place of one',
    options: { force: true },
    makeFormer: (output) => writeFileSync(output, 'former\n'),
  },
];
const RANGE = { low: 95, high: 130 };
const TUNING = { inline: true, outputBytes: 64 };
const step = atScale(12, 4, 1);

let root = '';
beforeAll(() => {
  root = mkdtempSync(join(fastPlace(), 'pileshuf-test-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** All files by their paths. */
function contentBelow(directory: string): Record<string, string> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(directory.length + 1), readFileSync(path, 'latin1')];
    }),
  );
}

const isOwn = (path: string) => path.includes('.pileshuf-');
const finalOf = (content: Record<string, string>) =>
  Object.fromEntries(Object.entries(content).filter(([path]) => !isOwn(path)));

describe.each(KINDS)('a range in $name', ({ options, makeFormer }) => {
  const warnings: string[] = [];
  const write = (more: Partial<RangeOptions> = {}) => {
    const talk = { onWarning: (line: string) => void warnings.push(line) };
    return shuffleRange({ range: RANGE, seed: '42', output: join(root, 'out'), ...options, ...talk, ...more }, TUNING);
  };
  const prepare = () => {
    rmSync(root, { recursive: true, force: true });
    mkdirSync(root);
    makeFormer(join(root, 'out'));
    warnings.length = 0;
  };

  it.each(FAULTS)('is whole or as before when a call $kind: $errno $part', async (fault) => {
    prepare();
    const former = contentBelow(root);
    await write();
    const expected = finalOf(contentBelow(root));
    let tried = 0;
    for (let nth = 1; ; nth += step) {
      prepare();
      let atFault: Record<string, string> | undefined;
      const look = () => {
        atFault ??= finalOf(contentBelow(root));
      };
      const faulty = new FaultyFileCalls(fault, nth, (path) => path.startsWith(root), look);
      const calls = replaceFileCalls(faulty.calls);
      let error: unknown;
      try {
        await write().catch((thrown: unknown) => {
          error = thrown;
        });
        expect(faulty.openPaths, `open after call ${nth}`).toEqual([]);
        await faulty.settle();
      } finally {
        replaceFileCalls(calls);
      }
      const { struck } = faulty;
      if (struck === undefined) break;
      tried += 1;
      const what = `call ${nth} that can, ${struck.name} ${struck.path}: ${String(error)}`;
      const content = contentBelow(root);
      const told = [
        ...warnings,
        String(error),
        ...(error instanceof PileshufError ? error.cleanupErrors.map(String) : []),
      ];
      const ownNames = new Set(
        Object.keys(content)
          .filter(isOwn)
          .map((path) => path.replace(/.*(\.pileshuf-[^/]*).*/, '$1')),
      );
      expect(
        [...ownNames].filter((name) => !told.join('\n').includes(name)),
        what,
      ).toEqual([]);
      if (error === undefined) {
        // What fails when the output is there is only cleaning up.
        expect(isFatal(struck, fault) && !isDeepStrictEqual(atFault, expected), what).toBe(false);
        expect(finalOf(content), what).toEqual(expected);
      } else {
        expect(error, what).toBeInstanceOf(PileshufError);
        expect(String(error), what).not.toContain('\n');
        expect([expected, former], what).toContainEqual(finalOf(content));
      }
      await write({ force: true });
      expect(finalOf(contentBelow(root)), what).toEqual(expected);
    }
    expect(tried).toBeGreaterThan(0);
  });
});
