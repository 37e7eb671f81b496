import { collectStore } from '../../job/store-upkeep.js';
import type { CommandDefinition } from '../command.js';
import { describeGarbage } from '../report-text.js';

const notes = `
These are files of expired and replaced inputs, files of killed writers, and old
manifests. Other programs can read and write the store meanwhile. Give --grace 0
only if no program reads it, and none on another machine or in another container
writes to it.

Pile sets that belong to no state of the store and to no writer stay: a lost
manifest has named them. Restore the manifest from a copy, or give
--give-up-lost to do without them.
`;

export const command: CommandDefinition<'gc'> = {
  name: 'gc',
  operands: [['<store>', 'directory of the store']],
  notes,
  async run({ operands: [store = ''], values: { graceMilliseconds, giveUpLost }, reporter, talk }) {
    const deleted = await collectStore(store, { graceMilliseconds, giveUpLost, signal: talk.signal });
    reporter.done(describeGarbage(deleted), deleted);
  },
};
