/** The main command. It finds contradictions between options before anything is opened; the library checks the rest. */

import { UsageError } from '../../errors.js';
import { shuffle } from '../../job/shuffle.js';
import type { ShuffleOptions } from '../../options/shuffle-options.js';
import { reportPage } from '../../report/render-report.js';
import type { CommandCall, CommandDefinition, ParsedWords } from '../command.js';
import { COMMANDS, type OptionValues } from '../command-table.js';
import { chooseInputs, hintAtTerminal, readNamedFiles } from '../named-files.js';
import { requireProfilePlace, writeProfile } from '../profile-file.js';
import { describeShuffle, emptySplitsWarning } from '../report-text.js';
import { quoteShellWords, repeatCommand } from '../resume-command.js';
import { isStandardOutput } from '../standard-streams.js';

const otherCommands = Object.entries(COMMANDS)
  .filter(([name]) => name !== 'shuffle')
  .sort(([a], [b]) => (a < b ? -1 : 1));

const notes = `
Commands, each with its own --help (write an input of such a name as ./NAME):
${otherCommands.map(([name, { summary }]) => `  ${name.padEnd(15)}${summary}`).join('\n')}
  help           Prints this help, or that of a command.

Records are lines, unless an option says otherwise: see docs/FORMATS.md. All
inputs must have the same header. It stands once in each output.

Inputs are files, directories, quoted globs, or - for standard input, which is
also the default. A directory stands for the files below it that are not hidden,
sorted. They must be of one kind, unless --include or --exclude chooses them.
pileshuf recognises gzip, bgzip, zstd, bzip2, xz and lz4 by their first bytes.
Names in lists come after the inputs on the command line. The order of the
inputs counts: the same seed and the same inputs in the same order give the same
records in the same order, whatever the memory, workers and temp directories.
Only the bytes of compressed outputs depend on these, not what they decode to.

SIZE is a number and a unit: K M G T (or KiB MiB GiB TiB) are powers of 1024,
KB MB GB TB powers of 1000, B bytes, in any case: 512M, 1.5GiB, 800MB, 4096B.
Numbers of records are decimal: -n 10K is 10,000; K M B T are powers of 1000.

To resume an interrupted job, give the same command again with --resume. Its
output decodes to the bytes of an undisturbed job. You can resume a job started
with --resume, --job-dir or --keep-temp, and any job that is expected to use
32 GiB of temp space. A job that reads standard input or writes standard output
cannot be resumed.

With --input-range the input is a range of numbers, a line each.
With --together several files stay aligned (docs/CHOOSING-RECORDS.md).

Examples:
  pileshuf corpus/*.jsonl.gz -o shuffled.jsonl --seed 42
  pileshuf corpus/ -o out --shards 128 --prefix train --compress zstd
  pileshuf corpus/ -o out --shard-bytes 1GB -S 16G -T /disk1/tmp -T /disk2/tmp
  pileshuf corpus/ -o shuffled.jsonl --resume
  find corpus -name '*.jsonl' | sort | pileshuf --files-from - > all.jsonl
  pileshuf --input-range 1-1000000000 --head-count 5
  pileshuf --together reads_R1.fq.gz,reads_R2.fq.gz -o shuffled --seed 42

Exit codes:
  0 done and verified      3 bad input              130 interrupted (SIGINT)
  1 failed                 4 verification failed    143 terminated (SIGTERM)
  2 wrong usage            129 hang-up (SIGHUP)     141 the output's reader left
`;

const brief = {
  options: ['output', 'seed', 'head-count', 'shards', 'split', 'unique', 'compress', 'memory', 'temp-dir', 'resume'],
  notes: `
Examples:
  pileshuf corpus/*.jsonl.gz -o shuffled.jsonl --seed 42
  pileshuf corpus/ -o train --shards 128 --compress zstd
  pileshuf corpus/ -o shuffled.jsonl -S 16G -T /disk1/tmp --resume

--help lists all options and commands.
`,
};

export const command: CommandDefinition<'shuffle'> = {
  name: 'shuffle',
  operands: [['[inputs...]', 'files, directories, quoted globs, or - for standard input']],
  notes,
  brief,
  async run(call) {
    const { argv, reporter, callbacks, tuning } = call;
    const runOther = await otherCallOf(call);
    if (runOther !== undefined) return runOther(call);
    const asked = shuffleCallOf(call);
    const { profile, report: reportFile } = asked;
    const job = await shuffleJobOf(asked, callbacks.signal, () =>
      hintAtTerminal(asked.inputs, asked.inputLists, reporter.hint),
    );
    const report = await shuffle(
      {
        ...job,
        ...callbacks,
        datasetCard: asked.options.datasetCard && `pileshuf ${quoteShellWords(argv)}`,
        onProfile:
          profile === undefined ? undefined : (measured) => writeProfile(profile, measured, job, reporter.warning),
        report: reportFile && {
          file: reportFile,
          commandOf: (drawn) => repeatCommand(argv, asked.options.seed, drawn),
          textOf: reportFile.endsWith('.html') ? reportPage : undefined,
        },
      },
      tuning,
    );
    reporter.done(describeShuffle(report), report, emptySplitsWarning(report.splits));
  },
};

/** @param hint called before anything is read. */
export async function shuffleJobOf(
  { inputs: typed, given, profile, report, options, ...files }: ShuffleCall,
  signal: AbortSignal,
  hint: () => void,
): Promise<ShuffleOptions> {
  if (options.output === undefined || options.output === '-') refuseToWriteToLists(files);
  hint();
  const named = await readNamedFiles({ ...files, seed: options.seed }, typed, signal);
  const job = { ...options, ...named, inputs: given ?? named.inputs };
  if (profile !== undefined) requireProfilePlace(profile, job);
  if (report !== undefined && !/\.(html|json)$/.test(report))
    throw new UsageError(`--report ${report}: expected a name that ends in .html or .json`);
  if (profile !== undefined && profile === report)
    throw new UsageError(`--report ${profile}: --profile names the same file; name another`);
  return job;
}

/** Loaded only for a call that shuffles no plain inputs: most calls start sooner without it. */
async function otherCallOf(
  words: ParsedWords<'shuffle'>,
): Promise<((call: CommandCall<'shuffle'>) => Promise<void>) | undefined> {
  if (words.values.together === undefined) return undefined;
  const { togetherCallOf, runTogetherCall } = await import('../together-call.js');
  const together = togetherCallOf(words);
  return together && ((call) => runTogetherCall(together, call));
}

/** The library makes sure that standard output is not an input, but knows nothing of lists. */
function refuseToWriteToLists({ inputLists, inputIds: ids }: Pick<ShuffleCall, 'inputLists' | 'inputIds'>): void {
  const files = inputLists.map(({ flag, path }) => ({ words: `${flag} ${path}`, path }));
  if (typeof ids === 'object') files.push({ words: `--input-ids file:${ids.file}`, path: ids.file });
  const written = files.find(({ path }) => isStandardOutput(path));
  if (written === undefined) return;
  throw new UsageError(`${written.words}: standard output is that file; redirect it to another`);
}

type ShuffleCall = ReturnType<typeof shuffleCallOf>;

/**
 * Returns what the words ask for. Nothing is read yet: `inputs` are as typed, or `-` if nothing names an input. `given`
 * stand in place of named inputs.
 */
export function shuffleCallOf({ operands, values }: Pick<ParsedWords<'shuffle'>, 'operands' | 'values'>) {
  const { inputLists = [], inputIds, randomSource, mix, profile, report, ...others } = values;
  const { echo: _, range: __, together: ___, dryRun: ____, ...options } = others;
  refuseShardsInStream(values);
  const given = givenInputs(operands, values);
  const inputs = given === undefined ? chooseInputs(operands, inputLists) : [];
  if (mix === '-') throw new UsageError('--mix -: expected the name of a file; standard input is for records');
  return { inputs, given, inputLists, inputIds, randomSource, mix, profile, report, options };
}

/** The inputs that are not files; undefined: the words name inputs. */
function givenInputs(
  operands: readonly string[],
  {
    echo,
    range,
    inputIds,
    inputLists: [list] = [],
  }: Pick<OptionValues<'shuffle'>, 'echo' | 'range' | 'inputIds' | 'inputLists'>,
): ShuffleOptions['inputs'] | undefined {
  if (echo === true && list !== undefined)
    throw new UsageError(
      `with --echo the operands are the records, and ${list.flag} names inputs; give one of the two`,
    );
  if (range === undefined) return echo === true ? [{ records: operands }] : undefined;
  const other = echo === true ? '--echo' : (operands[0] ?? list?.flag);
  if (other === undefined && (inputIds === 'path' || inputIds === 'name'))
    throw new UsageError(
      `--input-ids ${inputIds} takes ids from the names of inputs, and --input-range gives numbers, which have none; leave it out`,
    );
  if (other === undefined) return [{ range }];
  throw new UsageError(`the numbers of --input-range are the input, and ${other} gives another; give one of the two`);
}

export function refuseShardsInStream(values: OptionValues<'shuffle-store'>): void {
  const { output, splits, shards, shardPrefix } = values;
  if ((shards ?? splits) !== undefined && (output === undefined || output === '-')) {
    const what = splits === undefined ? 'shards' : 'splits';
    throw new UsageError(`${what} need a directory, not standard output: add --output DIR`);
  }
  if ((shards ?? splits) === undefined && shardPrefix !== undefined) {
    const advice = 'add --shards, --shard-records or --shard-bytes, or leave it out';
    throw new UsageError(`--prefix names shards, but none are requested: ${advice}`);
  }
}
