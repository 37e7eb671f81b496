import { UsageError } from '../../errors.js';
import { type Loader, type OpenedStore, openStore } from '../../loader/loader.js';
import type { LoaderState } from '../../loader/loader-options.js';
import { writeEpochs } from '../../loader/write-epochs.js';
import { formatBytes, formatPlural, formatSeconds } from '../../values/format-numbers.js';
import type { CommandDefinition } from '../command.js';
import { type OptionValues, optionsOf } from '../command-table.js';
import { readNamedFile } from '../named-files.js';
import { printToStandardOutput } from '../standard-streams.js';

const notes = `
Epochs are numbered from 0. Epoch 0 is the global shuffle. With --epochs N the
stream of a rank ends after epoch N - 1, wherever it started.

STATE is what --print-start prints: a line of JSON. A program that has read k
records more adds k to its "record", and continues there. docs/STORES.md
explains ranks, epochs and the costs.

Examples:
  pileshuf stream STORE --epochs 3 --rank 0 --world-size 8 | train
  pileshuf stream STORE --rank 0 --world-size 8 --print-start > start.json
  pileshuf stream STORE --epochs 3 --start @start.json --lengths | train
`;

export const command: CommandDefinition<'stream'> = {
  name: 'stream',
  operands: [['<store>', 'directory of the store']],
  notes,
  async run({ operands: [directory = ''], values, reporter, callbacks }) {
    const { memoryBytes, workers, withLengths } = values;
    const { signal } = callbacks;
    const store = openStore(directory, { memoryBytes, workers, signal, onWarning: callbacks.onWarning });
    try {
      const { loader, firstEpoch } = await openLoader(values, store, signal);
      if (values.printStart === true) return await printToStandardOutput(`${JSON.stringify(loader.state())}\n`);
      const startMilliseconds = performance.now();
      const endEpoch = values.epochs ?? firstEpoch + 1;
      const report = await writeEpochs(loader, { endEpoch, withLengths, signal });
      const seconds = (performance.now() - startMilliseconds) / 1000;
      const line = `${formatPlural(report.records, 'record')}, ${formatBytes(report.bytes)} in ${formatSeconds(seconds)}`;
      reporter.done(line, { ...report, seconds, state: loader.state() });
    } finally {
      await store.close();
    }
  },
};

interface OpenedLoader {
  readonly loader: Loader;
  /**
   * The first epoch as typed: the loader starts in a later one if the record of a state lies after the end of the
   * epoch.
   */
  readonly firstEpoch: number;
}

async function openLoader(
  values: OptionValues<'stream'>,
  store: OpenedStore,
  signal: AbortSignal,
): Promise<OpenedLoader> {
  const { epoch, rank, worldSize, equalize, prefetchPiles } = values;
  if (values.start === undefined) {
    const loader = store.epoch(epoch ?? 0, { rank, worldSize, equalize, prefetchPiles });
    return { loader, firstEpoch: epoch ?? 0 };
  }
  if (epoch !== undefined) throw new UsageError('--epoch and --start contradict each other; give one of them');
  const state = await readStartState(values.start, signal);
  const loader = store.resume(state, { prefetchPiles });
  requireSame(loader.state(), { rank, worldSize, equalize });
  return { loader, firstEpoch: state.epoch };
}

/** Options may repeat a state, but not contradict it. */
function requireSame(state: object, typed: object): void {
  const stateValues = new Map<string, unknown>(Object.entries(state));
  for (const [field, value] of Object.entries(typed)) {
    const had = stateValues.get(field);
    if (value === undefined || value === had) continue;
    const flag = optionsOf('stream').find(({ sets }) => sets === field)?.name;
    const advice = 'give the same, or leave it out';
    throw new UsageError(`--${flag} ${value}: the state of --start has ${JSON.stringify(had)}; ${advice}`);
  }
}

/** @param value JSON, or `@FILE`. The library checks whether it is a state. */
async function readStartState(value: string, signal: AbortSignal): Promise<LoaderState> {
  const text = value.startsWith('@')
    ? Buffer.from(await readNamedFile(`the state --start ${value}`, value.slice(1), signal)).toString()
    : value;
  let state: LoaderState;
  try {
    state = JSON.parse(text);
  } catch {
    throw new UsageError(`--start ${value}: expected a state as JSON, as --print-start prints it, or @FILE with one`);
  }
  const large = [...text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d+/g)].find(([token]) => isTooLarge(token));
  if (large === undefined) return state;
  throw new UsageError(
    `--start ${value}: the number ${large[0]} is too large; expected at most ${Number.MAX_SAFE_INTEGER}`,
  );
}

/** JSON.parse would round such a number. */
function isTooLarge(token: string): boolean {
  return !token.startsWith('"') && !Number.isSafeInteger(Number(token));
}
