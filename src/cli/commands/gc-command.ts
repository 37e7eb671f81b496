import { UsageError } from '../../errors.js';
import { type CollectedUploads, collectUploads } from '../../job/collect-uploads.js';
import { collectStore } from '../../job/store-upkeep.js';
import { isRemoteOutput } from '../../places/outputs/output-kinds.js';
import { formatPlural } from '../../values/format-numbers.js';
import type { CommandDefinition } from '../command.js';
import { describeGarbage } from '../report-text.js';

const notes = `
gc deletes files of expired and replaced inputs, files of killed writers and old
manifests. Other programs can read and write the store meanwhile. Give --grace 0
only if no program reads it, and none on another machine or in another container
writes to it.

gc keeps pile sets that belong to no state of the store and to no writer: a lost
manifest has named them. Restore the manifest from a copy, or give
--give-up-lost to do without them.

For s3://BUCKET/KEY it aborts uploads that killed jobs left there: of that
object, and of shards whose address begins so. --grace spares younger ones.
`;

export const command: CommandDefinition<'gc'> = {
  name: 'gc',
  operands: [['<store>', 'directory of the store, or an address of outputs']],
  notes,
  async run({ operands: [store = ''], values: { graceMilliseconds, giveUpLost, endpoint }, reporter, callbacks }) {
    if (isRemoteOutput(store)) {
      if (giveUpLost !== undefined) throw new UsageError(`${store} is not a pile store; leave out --give-up-lost`);
      const collected = await collectUploads(store, { graceMilliseconds, endpoint, signal: callbacks.signal });
      reporter.done(describeUploads(collected), collected);
      return;
    }
    if (endpoint !== undefined) throw new UsageError(`${store} is not an address; leave out --endpoint`);
    const deleted = await collectStore(store, { graceMilliseconds, giveUpLost, signal: callbacks.signal });
    reporter.done(describeGarbage(deleted), deleted);
  },
};

function describeUploads({ aborted, young, others }: CollectedUploads): string {
  const remaining = [
    ...(young > 0 ? [`${formatPlural(young, 'younger one')}`] : []),
    ...(others > 0 ? [`${formatPlural(others, 'upload')} of other names`] : []),
  ];
  const done = aborted === 0 ? 'no upload to abort' : `aborted ${formatPlural(aborted, 'upload')}`;
  return remaining.length === 0 ? done : `${done}; kept ${remaining.join(' and ')}`;
}
