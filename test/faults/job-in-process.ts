/**
 * Stops and resumes jobs in this process and on this thread, with the words and exit codes of the command. For tests of
 * the files between two attempts, which do not depend on the process. A separate process takes ten times as long.
 */

import { parseCommand } from '#src/cli/command.js';
import { command, shuffleCallOf } from '#src/cli/commands/shuffle.js';
import { exitCodeOf, exitCodes } from '#src/cli/exit-code.js';
import { PileshufError, type ShuffleReport, shuffle } from '#src/index.js';
import { replaceFileCalls, systemFileCalls } from '#src/io/file-calls.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { SMALL_SIZES } from './small-job.js';

export interface JobInProcess {
  readonly exitCode: number;
  readonly failure: { readonly code: string; readonly message: string; readonly resume: unknown } | undefined;
  readonly warnings: readonly string[];
  readonly report: ShuffleReport | undefined;
  /** The slices whose pile sets were committed. */
  readonly slicesMade: readonly number[];
}

/** Where a job is stopped: when it has read or written so often in files whose names end so. */
export interface StopPlace {
  readonly call: 'read' | 'write';
  readonly ending: '.pile' | '.part';
  readonly nth: number;
}

export async function runInProcess(
  argv: readonly string[],
  tuning: Partial<Tuning> = SMALL_SIZES,
  signal?: AbortSignal,
): Promise<JobInProcess> {
  const parsed = parseCommand(command, argv);
  if (parsed.kind === 'print') throw new RangeError(`a call that prints: ${argv.join(' ')}`);
  const { inputs, options } = shuffleCallOf(parsed);
  const warnings: string[] = [];
  // That temp directories are in memory is the test's doing.
  const onWarning = (line: string) => line.startsWith('the temp directory ') || warnings.push(line);
  const slicesMade: number[] = [];
  const calls = replaceFileCalls(systemFileCalls);
  replaceFileCalls({
    ...calls,
    link: (from, to) => {
      calls.link(from, to);
      const slice = /\/set-(\d+)\.index$/.exec(to)?.[1];
      if (slice !== undefined) slicesMade.push(Number(slice));
    },
  });
  try {
    const report = await shuffle({ ...options, inputs, signal, onWarning }, { ...tuning, inline: true });
    return { exitCode: exitCodes.done, failure: undefined, warnings, report, slicesMade };
  } catch (error) {
    if (!(error instanceof PileshufError)) throw error;
    const { code, message, unfinishedJob } = error;
    const failure = { code, message, resume: unfinishedJob };
    return { exitCode: exitCodeOf(error, undefined), failure, warnings, report: undefined, slicesMade };
  } finally {
    replaceFileCalls(calls);
  }
}

/** Runs a job that can be resumed, and has it stopped. */
export async function stopInProcess(
  argv: readonly string[],
  { call, ending, nth }: StopPlace,
  tuning?: Partial<Tuning>,
): Promise<JobInProcess> {
  const controller = new AbortController();
  const paths = new Map<number, string>();
  let count = 0;
  const see = (kind: StopPlace['call'], fd: number) => {
    if (kind !== call || !paths.get(fd)?.endsWith(ending)) return;
    count += 1;
    if (count === nth) controller.abort();
  };
  const { open, read, write, writeAsync } = systemFileCalls;
  const former = replaceFileCalls({
    ...systemFileCalls,
    open: (path, ...rest) => {
      const fd = open(path, ...rest);
      paths.set(fd, path);
      return fd;
    },
    read: (fd, ...rest) => {
      see('read', fd);
      return read(fd, ...rest);
    },
    write: (fd, ...rest) => {
      see('write', fd);
      return write(fd, ...rest);
    },
    writeAsync: (fd, ...rest) => {
      see('write', fd);
      return writeAsync(fd, ...rest);
    },
  });
  try {
    const outcome = await runInProcess(argv, tuning, controller.signal);
    if (outcome.failure?.code !== 'ABORT_ERR' || outcome.failure.resume === undefined)
      throw new Error(`the job was not stopped at call ${nth} of ${count}: ${JSON.stringify(outcome)}`);
    return outcome;
  } finally {
    replaceFileCalls(former);
  }
}
