/** shuf of GNU coreutils. Its inputs are bytes: none is decoded, and none is refused for its format. */
import { statSync } from 'node:fs';
import { InputError, UsageError } from '../../errors.js';
import { shuffle } from '../../job/shuffle.js';
import type { CommandDefinition, ParsedWords } from '../command.js';
import { readSeedFrom } from '../named-files.js';
import { isStandardInput } from '../standard-streams.js';

/** GNU's shuf has no limit; this is the largest one. */
const MOST_RECORD_BYTES = 2 ** 31 - 2 ** 26;

const notes = `
shuf reads FILE, or standard input without FILE or if FILE is -. With -e, the
operands are the lines; with -i, numbers are. It prints only errors. The exit
code is 0, or 1 for any failure. pileshuf without shuf takes many inputs.

Examples:
  pileshuf shuf -n 3 words.txt
  pileshuf shuf -i 1-49 -n 6
`;

export const command: CommandDefinition<'shuf'> = {
  name: 'shuf',
  operands: [['[operands...]', 'FILE, or with -e the lines']],
  notes,
  async run({ operands, values, callbacks, tuning }) {
    const { headCount, zeroTerminated, randomSource } = values;
    // For shuf, - is a file of that name.
    const output = values.output === '-' ? './-' : values.output;
    const input = inputOf(operands, values);
    requireNoDirectory(output);
    const isNothing = headCount === 0;
    await shuffle(
      {
        inputs: isNothing ? [{ records: [] }] : input.inputs(),
        ...(zeroTerminated === true ? { zeroTerminated } : { records: { by: 'delimiter', delimiter: '\n' } }),
        headCount,
        repeat: values.repeat && !isNothing,
        seed: isNothing || randomSource === undefined ? undefined : await readSeedFrom(randomSource, input.readsStream),
        output,
        compress: 'none',
        force: true,
        decompressProgram: 'none',
        maxRecordBytes: MOST_RECORD_BYTES,
        signal: callbacks.signal,
      },
      tuning,
    );
  },
};

/** The library would advise shards, which `shuf` does not have. */
function requireNoDirectory(output: string | undefined): void {
  if (output === undefined || !(isDirectory(output) || output.endsWith('/'))) return;
  throw new UsageError(`the output ${output} is ${isDirectory(output) ? '' : 'named as '}a directory; expected a file`);
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // The job says what is wrong with it.
    return false;
  }
}

function inputOf(operands: readonly string[], { echo, range }: ParsedWords<'shuf'>['values']) {
  if (echo === true && range !== undefined) throw new UsageError('-e and -i contradict each other; give one of them');
  if (echo === true) return { readsStream: false, inputs: () => [{ records: operands }] };
  const extra = operands[range === undefined ? 1 : 0];
  if (extra !== undefined) throw new UsageError(`extra operand ${extra}`);
  if (range !== undefined) return { readsStream: false, inputs: () => [{ range }] };
  const [path = '-'] = operands;
  return {
    readsStream: path === '-' || isStandardInput(path),
    inputs: () => {
      if (path === '') throw new UsageError('the input is an empty string; expected a path, or - for standard input');
      // The library takes a directory for the files in it.
      if (path !== '-' && isDirectory(path))
        throw new InputError('ERR_INPUT_UNREADABLE', `the input ${path} is a directory; expected a file`);
      return [{ path }];
    },
  };
}
