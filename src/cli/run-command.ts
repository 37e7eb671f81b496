/**
 * The command as one sentence: parse the arguments, read the lists of inputs, shuffle while telling
 * how it goes, print the summary, and turn whatever happened into an exit code.
 * Uses only the library's public API. Promises above: never throws, and every failure but a closed
 * pipe has left exactly one line on standard error.
 */

import { readMemory, shuffle, type Tuning } from '../index.js';
import { exitCodeOf, exitCodes } from './exit-code.js';
import { resolveInputs } from './input-list.js';
import { watchSignals } from './interruption.js';
import { resolveInputIds } from './options/input-ids-option.js';
import { requireProfilePlace, writeProfile } from './profile-file.js';
import { asksForJson, parseArguments } from './program.js';
import { createReporter } from './progress.js';
import { resumeCommandOf } from './resume-command.js';
import { openStandardError, printToStandardOutput } from './standard-streams.js';
import { findSubcommand } from './subcommand-table.js';

export interface RunCommandOptions {
  /** Sizes of the library's buffers, for tests that want rare paths to be common. */
  readonly tuning?: Partial<Tuning> | undefined;
}

/** Runs `pileshuf` with `argv` (the words after the command's name) and resolves to its exit code. */
export async function runCommand(argv: readonly string[], { tuning }: RunCommandOptions = {}): Promise<number> {
  const stderr = openStandardError();
  let reporter = createReporter({ style: asksForJson(argv) ? 'json' : 'none', quiet: false }, stderr);
  const interruption = watchSignals(() => reporter.close());
  try {
    const subcommand = await findSubcommand(argv[0]);
    if (subcommand !== undefined) {
      const signal = interruption.abortSignal;
      const reportTo = (other: typeof reporter) => {
        reporter = other;
      };
      await subcommand(argv.slice(1), { signal, stderr, tuning, reportTo });
      return exitCodes.done;
    }
    const invocation = parseArguments(argv, () => readMemory().totalBytes);
    if (invocation.kind === 'print') {
      await printToStandardOutput(invocation.text);
      return exitCodes.done;
    }
    const { progress: style, profile, quiet, options } = invocation;
    reporter = createReporter({ style, quiet, resumeCommand: resumeCommandOf(argv, options.resume === true) }, stderr);
    const inputs = await resolveInputs(invocation.inputs, invocation.inputLists, interruption.abortSignal);
    const inputIds = await resolveInputIds(invocation.inputIds, interruption.abortSignal);
    const job = { ...options, inputs, inputIds };
    if (profile !== undefined) requireProfilePlace(profile, job);
    const report = await shuffle(
      {
        ...job,
        signal: interruption.abortSignal,
        onProgress: reporter.progress,
        onWarning: reporter.warning,
        onProfile:
          profile === undefined ? undefined : (measured) => writeProfile(profile, measured, job, reporter.warning),
      },
      tuning,
    );
    reporter.summary(report);
    return exitCodes.done;
  } catch (thrown) {
    reporter.failure(thrown, interruption.receivedSignal());
    return exitCodeOf(thrown, interruption.receivedSignal());
  } finally {
    reporter.close();
    interruption.release();
  }
}
