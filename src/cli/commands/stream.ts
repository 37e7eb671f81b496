/** `pileshuf stream`: the records of a store, epoch after epoch, to standard output. */
import { Command } from 'commander';
import {
  type Loader,
  type LoaderOptions,
  type OpenedStore,
  openStore,
  readMemory,
  UsageError,
  writeEpochs,
} from '../../index.js';
import { parseCount } from '../option-value.js';
import {
  declareMemoryOption,
  declareWorkersOption,
  type MachineOptionValues,
  machineOptionsOf,
} from '../options/machine-options.js';
import { parseCommand } from '../options/parse-command.js';
import { declareStoreArgument } from '../options/store-options.js';
import {
  declareProgressOption,
  declareQuietOption,
  type TalkOptionValues,
  talkOptionsOf,
} from '../options/talk-options.js';
import { createReporter } from '../progress.js';
import { formatBytes, formatCount, formatSeconds } from '../quantity.js';
import { printToStandardOutput } from '../standard-streams.js';
import { readStartState } from '../start-state.js';
import type { Subcommand } from '../subcommand.js';

interface Values extends MachineOptionValues, TalkOptionValues {
  readonly output?: string;
  readonly epoch?: number;
  readonly epochs?: number;
  readonly rank?: number;
  readonly worldSize?: number;
  readonly share?: NonNullable<LoaderOptions['share']>;
  readonly equalize?: NonNullable<LoaderOptions['equalize']>;
  readonly reshuffle?: NonNullable<LoaderOptions['reshuffle']>;
  readonly prefetchPiles?: number;
  readonly start?: string;
  readonly printStart?: boolean;
  readonly lengths?: boolean;
}

const EPILOGUE = `
Epochs are numbered from 0, which is the global shuffle. The stream of a rank ends
behind epoch N - 1 of --epochs N, wherever it began.

STATE is what --print-start prints, a line of JSON; a program that has taken k
records more adds k to its "record", and goes on there. docs/LOADER.md says what
ranks get, what --reshuffle gives up, and what it all costs.

Examples:
  pileshuf stream STORE --epochs 3 --rank 0 --world-size 8 | train
  pileshuf stream STORE --rank 0 --world-size 8 --print-start > start.json
  pileshuf stream STORE --epochs 3 --start @start.json --lengths | train
`;

export const run: Subcommand = async (argv, { signal, stderr, reportTo }) => {
  const parsed = parseCommand<Values>(declareCommand(), argv);
  if (parsed.kind === 'print') return printToStandardOutput(parsed.text);
  const { operands, values } = parsed;
  const reporter = createReporter(talkOptionsOf(values), stderr);
  reportTo(reporter);
  const [directory = ''] = operands;
  if (values.output !== undefined && values.output !== '-') {
    throw new UsageError(`--output ${values.output}: expected -, standard output; for a file redirect that with >`);
  }
  const { memoryBytes, workers } = machineOptionsOf(values);
  const store = openStore(directory, { memoryBytes, workers, signal });
  try {
    const { loader, firstEpoch } = await loaderOf(values, store, signal);
    if (values.printStart === true) return await printToStandardOutput(`${JSON.stringify(loader.state())}\n`);
    const began = performance.now();
    const endEpoch = values.epochs ?? firstEpoch + 1;
    const report = await writeEpochs(loader, { endEpoch, withLengths: values.lengths, signal });
    const seconds = (performance.now() - began) / 1000;
    const records = `${formatCount(report.records)} ${report.records === 1 ? 'record' : 'records'}`;
    const line = `${records}, ${formatBytes(report.bytes)} in ${formatSeconds(seconds)}`;
    reporter.done(line, { ...report, seconds, state: loader.state() });
  } finally {
    await store.close();
  }
};

interface Asked {
  readonly loader: Loader;
  /** As it was typed: the records of a state may count on into later ones. */
  readonly firstEpoch: number;
}

async function loaderOf(values: Values, store: OpenedStore, signal: AbortSignal): Promise<Asked> {
  const { epoch, rank, worldSize, share, equalize, reshuffle, prefetchPiles } = values;
  if (values.start === undefined) {
    const loader = store.epoch(epoch ?? 0, { rank, worldSize, share, equalize, reshuffle, prefetchPiles });
    return { loader, firstEpoch: epoch ?? 0 };
  }
  if (epoch !== undefined) throw new UsageError('--epoch and --start contradict each other; give one of them');
  const state = await readStartState(values.start, signal);
  const loader = store.resume(state, { prefetchPiles });
  requireSame(loader.state(), { rank, worldSize, share, equalize, reshuffle });
  return { loader, firstEpoch: state.epoch };
}

/** What was typed beside a state may repeat it, and not contradict it. */
function requireSame(state: object, typed: object): void {
  const had = new Map<string, unknown>(Object.entries(state));
  for (const [name, value] of Object.entries(typed)) {
    if (value === undefined || value === had.get(name)) continue;
    const option = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    throw new UsageError(
      `${option} ${value}: the state of --start has ${JSON.stringify(had.get(name))}; give the same, or leave it out`,
    );
  }
}

function declareCommand(): Command {
  const whole = (option: string) => (text: string) => parseWhole(text, option);
  const count = (option: string) => (text: string) => parseCount(text, option);
  const command = new Command('pileshuf stream').description(
    'Writes the records of a pile store in random order, epoch after epoch, as a training program reads them.',
  );
  declareStoreArgument(command, 'directory of the store');
  command
    .option('-o, --output <PATH>', 'standard output: - (default)')
    .option(
      '--epochs <N>',
      'end behind epoch N - 1 (default: behind the first one, or that of --start)',
      count('--epochs'),
    )
    .option('--epoch <N>', 'begin with epoch N (default: 0, the global shuffle)', whole('--epoch'))
    .option('--rank <N>', 'which part of each epoch is written (default: 0)', whole('--rank'))
    .option('--world-size <N>', 'into how many parts epochs are divided (default: 1)', count('--world-size'))
    .option(
      '--share <HOW>',
      'strided: record i goes to rank i mod world size (default); contiguous: a rank reads its own piles alone',
      oneOf('--share', ['strided', 'contiguous']),
    )
    .option(
      '--equalize <HOW>',
      'drop or pad: all ranks get as many records (default: counts differ by at most one)',
      oneOf('--equalize', ['drop', 'pad']),
    )
    .option(
      '--reshuffle <WHAT>',
      'what later epochs have anew: full (default), the order of the piles alone, or none',
      oneOf('--reshuffle', ['full', 'piles', 'none']),
    )
    .option('--start <STATE>', 'go on from a state, a JSON object, or from @FILE', onlyText('--start'))
    .option('--print-start', 'print the state of the first record and end')
    .option('--lengths', 'write the byte length of each record before it, as u32, little-endian')
    .option('--prefetch-piles <N>', 'piles loaded ahead (default: 2)', whole('--prefetch-piles'));
  declareMemoryOption(command, () => readMemory().totalBytes);
  declareWorkersOption(command);
  declareProgressOption(command);
  declareQuietOption(command);
  return command.addHelpText('after', EPILOGUE);
}

/** A whole number of at least 0. */
function parseWhole(text: string, option: string): number {
  return text === '0' ? 0 : parseCount(text, option);
}

function oneOf<const Known extends readonly string[]>(option: string, known: Known): (text: string) => Known[number] {
  return (text) => {
    const found = known.find((each) => each === text);
    if (found !== undefined) return found;
    throw new UsageError(`${option} ${text}: expected one of ${known.join(', ')}`);
  };
}

function onlyText(option: string): (text: string) => string {
  return (text) => {
    if (text !== '') return text;
    throw new UsageError(`${option}: expected a state, got an empty string`);
  };
}
