import { appendToStore } from '../../job/append.js';
import type { CommandDefinition } from '../command.js';
import { chooseInputs, hintAtTerminal, readNamedFiles } from '../named-files.js';
import { describeAppend } from '../report-text.js';

const notes = `
The first call creates the store, in a new or empty directory. The store gets
all inputs or none. It takes only records: inputs with headers are refused. The
records are shuffled when they are read.

Examples:
  pileshuf append STORE corpus/2026-11-20/ --generation 2026-11-20
  pileshuf append STORE part-*.jsonl.gz --input-ids name --replace
`;

export const command: CommandDefinition<'append'> = {
  name: 'append',
  operands: [
    ['<store>', 'directory of the store'],
    ['[inputs...]', 'files, directories, quoted globs, or - for standard input'],
  ],
  notes,
  async run({ operands, values, reporter, callbacks, tuning }) {
    const [store = '', ...named] = operands;
    const { inputLists = [], inputIds, ...options } = values;
    const typed = chooseInputs(named, inputLists);
    hintAtTerminal(typed, inputLists, reporter.hint);
    const { inputs, inputIds: ids } = await readNamedFiles({ inputLists, inputIds }, typed, callbacks.signal);
    const report = await appendToStore(store, { ...options, inputs, inputIds: ids, ...callbacks }, tuning);
    reporter.done(describeAppend(report), report);
  },
};
