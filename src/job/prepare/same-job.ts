/**
 * Whether an unfinished job is the one that is asked for now: the same inputs, seed and options, as far
 * as they decide which bytes come out and where they lie. What only decides how fast may differ.
 */
import { InputError, UsageError } from '../../errors.js';
import { nameOfFormat } from '../../formats/record-format.js';
import type { JobManifest } from '../../job-directory/manifest.js';
import { describeCompression, describeProgram, describeShards, describeTempDirs } from './describe-job.js';
import { findInputChange } from './input-fingerprints.js';
import { describeInputIds, type InputIds } from './input-ids.js';
import type { JobInput } from './job-inputs.js';
import type { FilesPlaces } from './job-places.js';
import type { JobRequest } from './job-request.js';

/**
 * @throws UsageError ERR_JOB_DIFFERS with the first thing that differs; InputError ERR_INPUT_CHANGED when
 *   an input is not what it was.
 */
export async function requireSameJob(
  manifest: JobManifest,
  request: JobRequest,
  inputs: readonly JobInput[],
  inputIds: InputIds,
  places: FilesPlaces,
): Promise<void> {
  const directory = places.paths.jobDirectory;
  const differs = (what: string, then: string, now: string) =>
    new UsageError(
      `the unfinished job in ${directory} was begun with another ${what} (${then}, now ${now}); give the same to go on, or \`force\` without \`resume\` to discard it`,
      'ERR_JOB_DIFFERS',
    );
  const pairs: [what: string, then: unknown, now: unknown][] = [
    ['seed', manifest.seed, request.isSeedDrawn ? manifest.seed : request.seed],
    ['kind of records', manifest.framing, nameOfFormat(request)],
    ['program to decompress', manifest.decompressProgram, describeProgram(request.decompressProgram)],
    ['cut into shards', manifest.shards, describeShards(request.shards)],
    ['prefix', manifest.shardPrefix, request.shardPrefix],
    ['compression', manifest.compression, describeCompression(request.compression)],
    ['output', manifest.output, places.output.path],
    ['list of temp directories', manifest.tempDirs, describeTempDirs(places)],
    ['number of inputs', manifest.inputs.count, inputs.length],
    ['list of input ids', manifest.inputIds, describeInputIds(inputIds)],
  ];
  for (const [what, then, now] of pairs) {
    const [before, after] = [JSON.stringify(then), JSON.stringify(now)];
    if (before !== after) throw differs(what, before, after);
  }
  const changed = await findInputChange(manifest.inputs, inputs, request.signal);
  if (changed === undefined) return;
  const input = inputs[changed.ordinal];
  throw new InputError(
    'ERR_INPUT_CHANGED',
    `${input === undefined ? '' : `${input.path}: `}the input changed since the unfinished job in ${directory} was begun (${changed.change}); give \`force\` without \`resume\` to begin anew`,
  );
}
