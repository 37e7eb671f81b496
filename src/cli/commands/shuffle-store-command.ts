import { shuffleStore } from '../../job/shuffle-store.js';
import type { CommandDefinition } from '../command.js';
import { describeShuffle, emptySplitsWarning } from '../report-text.js';
import { refuseShardsInStream } from './shuffle-command.js';

const notes = `
The bytes are the same as those of pileshuf --input-ids for the same inputs, ids
and seed. The store does not change. Inputs added meanwhile are left out.

Examples:
  pileshuf shuffle-store STORE -o shuffled.jsonl
  pileshuf shuffle-store STORE -o out --shards 128 --compress zstd
`;

export const command: CommandDefinition<'shuffle-store'> = {
  name: 'shuffle-store',
  operands: [['<store>', 'directory of the store']],
  notes,
  async run({ operands: [store = ''], values, reporter, callbacks, tuning }) {
    refuseShardsInStream(values);
    const report = await shuffleStore(store, { ...values, ...callbacks }, tuning);
    reporter.done(describeShuffle(report), report, emptySplitsWarning(report.splits));
  },
};
