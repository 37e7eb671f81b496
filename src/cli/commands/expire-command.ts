import { UsageError } from '../../errors.js';
import { type ExpireReport, expireStore } from '../../job/store-upkeep.js';
import { formatPlural } from '../../values/format-numbers.js';
import type { CommandDefinition } from '../command.js';
import { describeGarbage } from '../report-text.js';

const notes = `
A generation is as old as the date in its name. If its name is not a date, it is
as old as its first commit. No data is rewritten. The next pileshuf expire or
pileshuf gc after the grace deletes the files of removed generations.

Examples:
  pileshuf expire STORE --keep 30d
  pileshuf expire STORE --before 2026-11-01
  pileshuf expire STORE --keep-last 7 --grace 6h
`;

export const command: CommandDefinition<'expire'> = {
  name: 'expire',
  operands: [['<store>', 'directory of the store']],
  notes,
  async run({ operands: [store = ''], values, reporter, callbacks }) {
    const { rule, graceMilliseconds } = values;
    if (rule === undefined) {
      throw new UsageError('nothing says which generations expire; give --keep, --before or --keep-last');
    }
    const report = await expireStore(store, rule, { graceMilliseconds, signal: callbacks.signal });
    reporter.done(describeExpiry(report), report);
  },
};

function describeExpiry({ expired, deleted }: ExpireReport): string {
  const records = expired.reduce((sum, generation) => sum + generation.records, 0);
  const names = expired.map(({ name }) => name).join(', ');
  const what =
    expired.length === 0
      ? 'no generation expired'
      : `${formatPlural(expired.length, 'generation')} expired (${names}), ${formatPlural(records, 'record')}`;
  return `${what}; ${describeGarbage(deleted, expired.length === 0 ? '' : ' yet')}`;
}
