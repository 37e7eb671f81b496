/**
 * Finds the command, parses its words, runs it while reporting its progress, and turns the result into an exit code.
 * Never throws. Every failure except a closed pipe leaves exactly one line on standard error.
 */

import { AbortError, PileshufError, SystemError, UsageError } from '../errors.js';
import type { Tuning } from '../plan/memory-plan.js';
import { type CommandDefinition, parseCommand } from './command.js';
import { CLUSTER, COMMAND_NAMES, COMMANDS, type CommandName, optionsOf } from './command-table.js';
import { command as shuffleCommand } from './commands/shuffle-command.js';
import { watchEmptyLoop, watchSignals, watchStatusSignal } from './interruption.js';
import { exitCodeOf, exitCodes } from './messages.js';
import { createReporter } from './reporter.js';
import { resumeAdviser } from './resume-command.js';
import { mayReachTerminal, openStandardError, printToStandardOutput } from './standard-streams.js';
import { asksForJson, flagsAsTyped, typedParts } from './typed-words.js';

type Loader<Name extends CommandName> = () => Promise<{ readonly command: CommandDefinition<Name> }>;

/** Each command is loaded when it is called; the main command, which nearly always is, at once. */
const loaders: { readonly [Name in Exclude<CommandName, 'shuffle'>]: Loader<Name> } = {
  append: () => import('./commands/append-command.js'),
  completion: () => import('./commands/completion-command.js'),
  'check-shuffled': () => import('./commands/check-shuffled-command.js'),
  'cluster plan': () => import('./commands/cluster-plan-command.js'),
  'cluster slurm': () => import('./commands/cluster-slurm-command.js'),
  'cluster status': () => import('./commands/cluster-status-command.js'),
  'cluster task': () => import('./commands/cluster-task-command.js'),
  expire: () => import('./commands/expire-command.js'),
  gc: () => import('./commands/gc-command.js'),
  index: () => import('./commands/index-command.js'),
  inspect: () => import('./commands/inspect-command.js'),
  pile: () => import('./commands/pile-command.js'),
  plan: () => import('./commands/plan-command.js'),
  shuf: () => import('./commands/shuf-command.js'),
  'shuffle-store': () => import('./commands/shuffle-store-command.js'),
  stream: () => import('./commands/stream-command.js'),
  verify: () => import('./commands/verify-command.js'),
};

export interface RunCommandOptions {
  /** Sizes of the library's buffers, for tests that want rare paths to be common. */
  readonly tuning?: Partial<Tuning> | undefined;
}

/** @param argv the words after `pileshuf`. @returns the exit code. */
export async function runCommand(argv: readonly string[], { tuning }: RunCommandOptions = {}): Promise<number> {
  const stderr = openStandardError();
  const nameFlags = flagsAsTyped(argv);
  let reporter = createReporter({ style: asksForJson(argv) ? 'json' : 'none', nameFlags }, stderr);
  const interruption = watchSignals(() => reporter.failure(new AbortError(undefined, 'left'), 'SIGINT'));
  const ignoreEmptyLoop = watchEmptyLoop(() => {
    process.exitCode = exitCodes.failed;
    const problem = 'what the command waits for will never come; start it again, with --resume if it had that';
    reporter.failure(new SystemError('ERR_WORKER', problem), undefined);
  });
  const ignoreStatusSignal = watchStatusSignal(() => void reporter.status());
  let mixFile: string | undefined;
  try {
    requireUtf8(argv);
    const words = argv[0] === 'help' ? wordsForHelp(argv.slice(1)) : argv;
    if (words[0] === CLUSTER && /^(-h|--help)$/.test(words[1] ?? '')) {
      await printToStandardOutput(helpOfCluster());
      return exitCodes.done;
    }
    const name = nameIn(words);
    const command = await findCommand(name);
    const parsed = parseCommand(command, command === shuffleCommand ? words : words.slice(name?.split(' ').length));
    if (parsed.kind === 'print') {
      await printToStandardOutput(parsed.text);
      return exitCodes.done;
    }
    const { progress: style, quiet = command.name === 'shuf' } = parsed.display;
    const { resume, range, dryRun, mix, output = '-' }: ReportingValues = parsed.values;
    mixFile = mix;
    // Only the main command leaves jobs that can be resumed, and only with inputs.
    const leavesJobs = command === shuffleCommand && range === undefined;
    const adviseResume = leavesJobs ? resumeAdviser(argv, resume === true) : undefined;
    reporter = createReporter(
      {
        style,
        quiet,
        adviseResume,
        nameFlags,
        sharesTerminal: writesRecords(command.name) && mayReachTerminal(output),
      },
      stderr,
    );
    await reporter.ready();
    const running = dryRun === true && command === shuffleCommand ? (await loaders.plan()).command : command;
    const callbacks = { signal: interruption.abortSignal, onProgress: reporter.progress, onWarning: reporter.warning };
    await running.run({ ...parsed, argv, reporter, callbacks, tuning });
    return exitCodes.done;
  } catch (thrown) {
    nameMixFile(thrown, mixFile);
    reporter.failure(thrown, interruption.receivedSignal());
    const code = exitCodeOf(thrown, interruption.receivedSignal());
    return argv[0] === 'shuf' && code < exitCodes.SIGHUP ? exitCodes.failed : code;
  } finally {
    reporter.close();
    interruption.release();
    ignoreEmptyLoop();
    ignoreStatusSignal();
  }
}

/** Node has other bytes as U+FFFD: an input would not be found, and an output would get another name. */
function requireUtf8(argv: readonly string[]): void {
  const word = argv.find((each) => each.includes('\ufffd'));
  if (word === undefined) return;
  const hasRecords = typedParts(argv).some(({ long, short }) => [long, ...short].some((each) => each?.name === 'echo'));
  const advice = hasRecords ? 'give such records in a file' : 'rename the file, or use < or >';
  throw new UsageError(`the word ${word} is not valid UTF-8; ${advice}; in --delimiter, write a byte as \\xHH`);
}

/** The library gets the mix and not its file, which a message about it must name. */
function nameMixFile(thrown: unknown, file: string | undefined): void {
  if (file === undefined || !(thrown instanceof PileshufError)) return;
  thrown.message = thrown.message.replace(/^(a group of )?`mix`/, (_, before = '') => `${before}--mix ${file}`);
}

function writesRecords(name: CommandName): boolean {
  return optionsOf(name).some(({ sets }) => sets === 'output');
}

function nameIn([first, second]: readonly string[]): string | undefined {
  if (first !== CLUSTER) return first;
  const name = `${CLUSTER} ${second}`;
  if (Object.hasOwn(COMMANDS, name)) return name;
  throw new UsageError(
    `${CLUSTER} needs a second word: ${clusterCommands.join(', ')}, each with its own --help. An input named ${CLUSTER} is ./${CLUSTER}`,
  );
}

const clusterCommands = COMMAND_NAMES.filter((each) => each.startsWith(`${CLUSTER} `));

function helpOfCluster(): string {
  const lines = clusterCommands.map((name) => `  ${name.padEnd(15)}${COMMANDS[name].summary}\n`);
  return `A shuffle as tasks for several machines. Commands, each with its own --help:\n${lines.join('')}`;
}

/** `help` and `help COMMAND` are other words for `--help`. */
function wordsForHelp(names: readonly string[]): readonly string[] {
  const name = names.join(' ') || 'shuffle';
  if (name === CLUSTER) return [CLUSTER, '--help'];
  if (Object.hasOwn(COMMANDS, name)) return name === 'shuffle' ? ['--help'] : [...names, '--help'];
  const known = COMMAND_NAMES.filter((each) => each !== 'shuffle');
  throw new UsageError(
    `there is no command ${name}; the commands are ${known.sort().join(', ')}. An input named help is ./help`,
  );
}

/** The command of that name; for any other word the main command, of which it is the first word. */
export async function findCommand(word: string | undefined): Promise<CommandDefinition<CommandName>> {
  const isName = (name: string): name is keyof typeof loaders => Object.hasOwn(loaders, name);
  return word !== undefined && isName(word) ? (await loaders[word]()).command : shuffleCommand;
}

interface ReportingValues {
  readonly resume?: boolean;
  readonly range?: unknown;
  readonly dryRun?: boolean;
  readonly mix?: string;
  readonly output?: string;
}
