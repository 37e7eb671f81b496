/**
 * The reads, writes and syncs of a command as the kernel saw them, by strace: which file, how many bytes, from when to
 * when.
 *
 * A gated call takes its permit before strace sees it start, and returns the permit after strace saw it end, so calls
 * of two holders of one permit cannot seem to overlap. Each read and write is slowed down by some milliseconds, so that
 * calls that may overlap do.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Tuning } from '#src/plan/memory-plan.js';

const command = fileURLToPath(new URL('../fixtures/command-under-test.mjs', import.meta.url));

export interface TracedCall {
  readonly name: 'pread64' | 'pwrite64' | 'fdatasync';
  readonly path: string;
  /** That were read or written. */
  readonly byteLength: number;
  /** Microseconds. */
  readonly start: number;
  readonly end: number;
}

/** Why nothing can be traced here; undefined when it can. */
export const reasonNotToTrace = tryToTrace();

export interface TracedRun {
  /** To be made, for the trace. */
  readonly directory: string;
  readonly tuning: Partial<Tuning>;
  /** What each read and write takes longer. */
  readonly delayMilliseconds: number;
}

/** Runs the command, which must succeed. */
export function traceCommand(argv: readonly string[], run: TracedRun): TracedCall[] {
  const { directory, tuning, delayMilliseconds } = run;
  mkdirSync(directory);
  const names = 'pread64,pwrite64,fdatasync';
  const { status, stderr } = spawnSync(
    'strace',
    [
      // One file a thread, the time of day of each call and how long it took, the path of its file and none of its bytes.
      ...['-ff', '-ttt', '-T', '-y', '-s', '0', '-qq', '--seccomp-bpf', '-e', 'signal=none', '-e', `trace=${names}`],
      ...['-e', `inject=pread64,pwrite64:delay_enter=${1000 * delayMilliseconds}`, '-o', join(directory, 'thread')],
      ...[process.execPath, command, ...argv],
    ],
    { encoding: 'utf8', env: { ...process.env, PILESHUF_TEST_TUNING: JSON.stringify(tuning) } },
  );
  if (status !== 0) throw new Error(`the traced command ended with ${status}: ${stderr}`);
  const threads = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'));
  return threads.flatMap((text) =>
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('+++'))
      .map(parseCall),
  );
}

const LINE =
  /^(\d+)\.(\d{6}) (pread64|pwrite64|fdatasync)\(\d+<([^>]*)>.*\) = (\d+)(?: \(DELAYED\))? <(\d+)\.(\d{6})>$/;

function parseCall(line: string): TracedCall {
  const [, seconds, fraction, name, path = '', result, tookSeconds, tookFraction] = LINE.exec(line) ?? [];
  if (name !== 'pread64' && name !== 'pwrite64' && name !== 'fdatasync') throw new Error(`strace wrote: ${line}`);
  const start = Number(seconds) * 1e6 + Number(fraction);
  return {
    name,
    path,
    byteLength: Number(result),
    start,
    end: start + Number(tookSeconds) * 1e6 + Number(tookFraction),
  };
}

/** How many of the calls were under way at one time, at most. */
export function mostAtOneTime(calls: readonly TracedCall[]): number {
  const edges = calls.flatMap(({ start, end }) => [
    { at: start, change: 1 },
    { at: end, change: -1 },
  ]);
  // What ends in the same microsecond ended before.
  edges.sort((a, b) => a.at - b.at || a.change - b.change);
  let underWay = 0;
  return edges.reduce((most, { change }) => {
    underWay += change;
    return Math.max(most, underWay);
  }, 0);
}

function tryToTrace(): string | undefined {
  if (process.platform !== 'linux') return 'strace is a thing of Linux';
  const { status, error, stderr } = spawnSync('strace', ['--seccomp-bpf', '-f', '-qq', '-o', '/dev/null', 'true'], {
    encoding: 'utf8',
  });
  return status === 0 ? undefined : `strace cannot be had: ${error?.message ?? stderr}`;
}
