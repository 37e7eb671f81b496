/**
 * One line of the door's table: files, a command, and all that is seen of it. A case runs in this process and in a
 * directory of its own, where the command must leave nothing but its output.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { seen } from '../fixtures/command-outcome.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

export interface DoorCase {
  /** The name of the test: what is at the door. */
  readonly name: string;
  /** Content by path. A path that ends in `/` is a directory, `{ link }` a symbolic link. */
  readonly files: Readonly<Record<string, string | Uint8Array | { readonly link: string }>>;
  /** The words after `pileshuf`. The case adds `--seed 1`, `-T`, and `-o out` unless they name an output. */
  readonly argv: string | readonly string[];
  /** 0 if absent. */
  readonly exitCode?: number;
  /** In place of an exit code and lines: the only line of a command that ends with 3. */
  readonly badInput?: string | RegExp;
  /** In place of an exit code and lines: the only line of a command that ends with 2. */
  readonly badCall?: string | RegExp;
  /** The warnings and the error, without `pileshuf: `; a pattern begins at the beginning. None if absent. */
  readonly lines?: readonly (string | RegExp)[];
  /** Matches the summary. */
  readonly summary?: RegExp;
  /** The lines of the output, or of all its files, in any order. Absent: there is no output. */
  readonly records?: readonly string[];
}

const SUMMARY = /^pileshuf: [\d,]+ records?(?:,| in) /;
/** That the temp files of these tests lie in memory. */
const OF_TESTS = /^pileshuf: warning: the temp directory \S+ lies in memory/;

/** Registers a test for each case; `describe` surrounds it. */
export function testDoor(cases: readonly DoorCase[]): void {
  const directory = useMemoryDirectory();
  it.each(cases)('$name', async ({ files, argv: given, badInput, badCall, summary = /^/, records, ...told }) => {
    const refusal = badInput ?? badCall;
    const exitCode = badInput !== undefined ? 3 : badCall !== undefined ? 2 : (told.exitCode ?? 0);
    const lines = refusal !== undefined ? [refusal] : (told.lines ?? []);
    const argv = typeof given === 'string' ? given.split(' ') : given;
    const site = directory.path('site');
    mkdirSync(site);
    for (const [name, content] of Object.entries(files)) writeEntry(join(site, name), content);
    const before = readdirSync(site);
    const hasOutput = argv.some((word) => word === '-o' || word === '--output');
    const words = [...argv, '--seed', '1', '-T', directory.temp, ...(hasOutput ? [] : ['-o', 'out'])];
    const result = await commandInProcess(words, { cwd: site });
    const seenLines = seen(result).lines;
    expect({
      exitCode: result.exitCode,
      lines: seenLines.filter((line) => !SUMMARY.test(line) && !OF_TESTS.test(line)),
      records: recordsOf(join(site, 'out')),
    }).toEqual({
      exitCode,
      lines: lines.map((line) =>
        typeof line === 'string'
          ? `pileshuf: ${line}`
          : expect.stringMatching(new RegExp(`^pileshuf: ${line.source}`, line.flags)),
      ),
      records: records?.toSorted(),
    });
    if (exitCode === 0) expect(seenLines.find((line) => SUMMARY.test(line))).toMatch(summary);
    expect(readdirSync(site).filter((name) => name !== 'out')).toEqual(before);
  });
}

function writeEntry(path: string, content: DoorCase['files'][string]): void {
  mkdirSync(path.endsWith('/') ? path : dirname(path), { recursive: true });
  if (path.endsWith('/')) return;
  if (typeof content === 'string' || content instanceof Uint8Array) writeFileSync(path, content);
  else symlinkSync(content.link, path);
}

/** As latin1, without hidden files; undefined if there is nothing at `path`. */
function recordsOf(path: string): string[] | undefined {
  if (!existsSync(path)) return undefined;
  const files = statSync(path).isDirectory() ? visibleNames(path).map((name) => join(path, name)) : [path];
  return files.flatMap((file) => readFileSync(file, 'latin1').match(/[^\n]*\n|[^\n]+$/g) ?? []).sort();
}

const visibleNames = (path: string) => readdirSync(path).filter((name) => !name.startsWith('.'));
