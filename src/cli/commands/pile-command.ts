import { UsageError } from '../../errors.js';
import { appendToStore } from '../../job/append.js';
import type { CommandDefinition } from '../command.js';
import { hintAtTerminal } from '../named-files.js';
import { describeAppend } from '../report-text.js';

const notes = `
Many processes and hosts can add inputs at the same time. The order of the
records depends on the seed, the ids and the inputs, not on who comes first.

Examples:
  preprocess part-07.raw | pileshuf pile STORE --input-id part-07 --piles 1024
  pileshuf pile STORE a.jsonl b.jsonl.gz --input-id a --input-id b --replace
`;

export const command: CommandDefinition<'pile'> = {
  name: 'pile',
  operands: [
    ['<store>', 'directory of the store; new or empty to create one'],
    ['[input...]', 'files, or - for standard input, which is the default'],
  ],
  notes,
  async run({ operands, values, reporter, callbacks, tuning }) {
    const [store = '', ...named] = operands;
    const inputs = named.length === 0 ? ['-'] : named;
    const { inputIds = [], ...options } = values;
    if (inputIds.length !== inputs.length) throw idCountError(inputIds.length, inputs.length);
    if (inputs.includes(''))
      throw new UsageError('an input is an empty string; expected a path, or - for standard input');
    hintAtTerminal(inputs, [], reporter.hint);
    const report = await appendToStore(store, { ...options, inputs, inputIds, ...callbacks }, tuning);
    reporter.done(describeAppend(report), report);
  },
};

function idCountError(idCount: number, inputCount: number): UsageError {
  const given = `${idCount === 1 ? 'once' : `${idCount} times`} for ${inputCount} input${inputCount === 1 ? '' : 's'}`;
  const advice = 'To give several files one id, concatenate them with cat and pass them on standard input';
  return new UsageError(`--input-id is given ${given}; expected once for each, in their order. ${advice}`);
}
