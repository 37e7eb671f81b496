/** Options that only the command has, and those of the library of which some commands take less. */
import { option, optionGroup } from '../options/option.js';
import {
  type InputList,
  parseInputList,
  parseRange,
  parseSourcePath,
  parseStandardOutput,
  parseTogether,
} from '../options/parse-options.js';
import { oneWordOf, parseCount, parsePath, parsePaths, parseState, parseWhole } from '../values/parse-values.js';

const progressStyle = oneWordOf('auto', 'bar', 'plain', 'json', 'none');
export type ProgressStyle = (typeof progressStyle.words)[number];

// biome-ignore format: a table, of few lines an entry
export const COMMAND_OPTIONS = {
  ...optionGroup('Output', {
    json: option<true>({ name: 'json', help: 'print one JSON object' }),
    dryRun: option<true>({
      name: 'dry-run',
      help: 'write nothing, and say what the job will need, like pileshuf plan',
    }),
  }),
  ...optionGroup('Order', {
    randomSource: option<string>({
      choice: 'seed', name: 'random-source', value: 'FILE', parse: parseSourcePath,
      help: 'derive the seed from the first 1,024 bytes of FILE',
    }),
  }),
  ...optionGroup('Epochs', {
    epochs: option<number>({
      name: 'epochs', value: 'N', parse: parseCount,
      help: 'stop after epoch N - 1', default: 'after the first epoch, or that of --start',
    }),
    epoch: option<number>({
      name: 'epoch', value: 'N', parse: parseWhole,
      help: 'start with epoch N', default: '0, the global shuffle',
    }),
    start: option<string>({
      name: 'start', value: 'STATE', parse: parseState,
      help: 'continue from a state, a JSON object, or from @FILE with one',
    }),
    printStart: option<true>({ name: 'print-start', help: 'print the state of the first record and exit' }),
  }),
  ...optionGroup('Input', {
    against: option<readonly string[]>({
      name: 'against', value: 'INPUT...', parse: parsePaths, isRepeatable: true,
      help: 'the inputs that the outputs must match: all words up to the next option',
    }),
    echo: option<true>({ name: 'echo', short: 'e', help: 'the operands are records, not names of inputs' }),
    range: option<{ readonly low: bigint; readonly high: bigint }>({
      name: 'input-range', short: 'i', value: 'LO-HI', parse: parseRange,
      help: 'shuffle the whole numbers from LO to HI, a line each, in place of inputs',
    }),
    together: option<readonly (readonly string[])[]>({
      name: 'together', value: 'FILE,FILE', parse: parseTogether, isRepeatable: true,
      help: 'shuffle files in one order, so that they stay aligned; repeat the option for more tuples of files',
    }),
    inputLists: option<readonly InputList[]>(
      {},
      {
        name: 'files-from', value: 'FILE', parse: parseInputList, isRepeatable: true,
        help: 'read the names of inputs from FILE, one per line; - is standard input',
      },
      {
        name: 'files0-from', value: 'FILE', parse: parseInputList, isRepeatable: true,
        help: 'read names that end in NUL from FILE; - is standard input',
      },
    ),
  }),
  ...optionGroup('Progress', {
    progress: option<ProgressStyle>({
      name: 'progress', value: 'STYLE', ...progressStyle, default: 'auto',
      help: 'auto, bar, plain, json or none (docs/RUNNING.md); auto draws no bar while records go to a pipe or terminal',
    }),
    quiet: option<true>({ name: 'quiet', short: 'q', help: 'print no progress, no summary, and no warnings but that of a split without records' }),
  }),
};

// biome-ignore format: a table, of few lines an entry
export const INPUT_ID = optionGroup('Store', {
  inputIds: option<readonly string[]>({
    isRequired: true, name: 'input-id', value: 'ID', isRepeatable: true,
    parse: (text, _, previous) => [...((previous as readonly string[] | undefined) ?? []), text],
    help: 'id of an input, unique in the store; repeat it for each input, in order',
  }),
});

// biome-ignore format: a table, of few lines an entry
export const STREAM_OUTPUT = optionGroup('Output', {
  output: option<'-'>({
    name: 'output', short: 'o', value: 'PATH', parse: parseStandardOutput,
    help: 'only -, standard output, is possible', default: '-',
  }),
});

// biome-ignore format: a table, of few lines an entry
export const SHUF_OUTPUT = optionGroup('Output', {
  output: option<string>({
    name: 'output', short: 'o', value: 'FILE', parse: parsePath,
    help: 'write to FILE, which may be the input', default: 'standard output',
  }),
});

// biome-ignore format: a table, of few lines an entry
export const SUBMISSION = optionGroup('Slurm', {
  wait: option<true>({
    name: 'wait',
    help: 'follow the tasks to the end, and exit with 0 only if the output is there',
  }),
  dryRun: option<true>({
    name: 'dry-run',
    help: 'print the calls of sbatch and the scripts, and do nothing else',
  }),
  resume: option<true>({ name: 'resume', help: 'submit the tasks of the job in --job-dir that are not done' }),
});
