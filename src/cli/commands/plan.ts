import { UsageError } from '../../errors.js';
import type { ShufflePreview, TogetherPreview } from '../../jobs/preview-report.js';
import { previewShuffle, previewTogether } from '../../jobs/preview-shuffle.js';
import type { CommandDefinition } from '../command.js';
import { hintAtTerminal } from '../input-list.js';
import { describePreview } from '../plan-text.js';
import { printReport } from '../standard-streams.js';
import { togetherCallOf, togetherJobOf } from '../together-call.js';
import { shuffleCallOf, shuffleJobOf } from './shuffle.js';

const notes = `
Takes the options of the main command, and says what that job will need: memory,
temp data, output, open files. It checks what the job checks, fails as the
job fails, and writes no output. docs/CHECKING.md explains the lines.

Examples:
  pileshuf plan corpus/ -o shuffled.jsonl -S 8G
  pileshuf plan corpus/ -o out --shards 128 --compress zstd --json
`;

export const command: CommandDefinition<'plan'> = {
  name: 'plan',
  operands: [['[inputs...]', 'files, directories, quoted globs, or - for standard input']],
  notes,
  async run({ operands, values, given, display, reporter, talk, tuning }) {
    refuseRange(values);
    const { signal, onWarning } = talk;
    const together = togetherCallOf({ operands, values, given });
    let report: ShufflePreview | TogetherPreview;
    if (together === undefined) {
      const asked = shuffleCallOf({ operands, values });
      // A plan reads names from standard input, and never records.
      const job = await shuffleJobOf(asked, signal, () => hintAtTerminal([], asked.inputLists, reporter.hint));
      report = await previewShuffle({ ...job, signal, onWarning }, tuning);
    } else report = await previewTogether({ ...(await togetherJobOf(together)), signal, onWarning }, tuning);
    reporter.close();
    await printReport(report, described(report), { json: display.json });
  },
};

function described(report: ShufflePreview | TogetherPreview): readonly string[] {
  if (!('members' in report)) return describePreview(report);
  return report.members.flatMap((member) => [`member      ${member.name}`, ...describePreview(member)]);
}

function refuseRange({ range }: { readonly range?: unknown }): void {
  if (range === undefined) return;
  throw new UsageError('--input-range needs no plan: numbers have no inputs and no temp data, and take little memory');
}
