import { join } from 'node:path';
import type { Tuning } from '../plan/memory-plan.js';
import { runJob } from './job.js';
import type { ShuffleTogetherOptions } from './options.js';
import type { MemberPreview, TogetherPreview } from './preview-report.js';
import { previewShuffle } from './preview-shuffle.js';
import { optionsOfMember, prepareTogether } from './shuffle-together.js';
import { completeTogether } from './together-options.js';

/**
 * Says what `shuffleTogether` will need with the same options, by the checks of the whole job and a preview for each
 * member. It writes nothing, holds no lock, and reads samples of the inputs.
 *
 * @param tuning sizes for tests.
 * @throws PileshufError as `shuffleTogether` before its first byte.
 */
export async function previewTogether(
  options: ShuffleTogetherOptions,
  tuning: Partial<Tuning> = {},
): Promise<TogetherPreview> {
  const { value: job } = await runJob(options, (scope) => prepareTogether(completeTogether(options), scope, true));
  const members: MemberPreview[] = [];
  for (const [ordinal, { name }] of job.request.members.entries()) {
    const path = join(job.outputPath, name);
    // Beside the output, as the staged files of the job are: the directory may not be there yet.
    const output = `${job.outputPath}.${name}`;
    const preview = await previewShuffle({ ...optionsOfMember(job, options, ordinal), output }, tuning);
    members.push({ ...preview, name, isResumable: job.isResumable, output: { ...preview.output, path } });
  }
  return { members, warnings: members.flatMap(({ warnings }) => warnings) };
}
