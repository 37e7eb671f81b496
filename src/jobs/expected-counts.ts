/**
 * What the groups of a mix hold, for a preview. A job with shares reads all inputs to count them; a preview does so only
 * with small inputs, and else counts samples of each group.
 */
import { estimateInputs } from '../inputs/estimate.js';
import { deriveDrawSeed } from '../keys.js';
import type { DeviceGates } from '../machine/device-gates.js';
import type { CountedGroup } from '../passes/count-pass.js';
import type { MemoryNeed, Tuning } from '../plan/memory-plan.js';
import { type CountedInputs, countInputs } from './count-inputs.js';
import type { JobScope } from './job.js';
import type { ShuffleRequest } from './request.js';
import { sampleRecords } from './sample-records.js';

/** Counted in less than a second. */
const COUNTED_BYTES = 64 * 2 ** 20;

/** The same as `countInputs`, about. */
export async function expectCounts(
  readable: CountedInputs,
  request: ShuffleRequest,
  memoryNeed: MemoryNeed,
  deviceGates: DeviceGates,
  tuning: Tuning,
  warn: JobScope['warn'],
): Promise<readonly CountedGroup[]> {
  const { inputs, weighing, field } = readable;
  const { framing, signal } = request;
  const drawSeed = deriveDrawSeed(request.seed);
  const { recordBytes, decodedBytes } = estimateInputs(inputs, framing, drawSeed);
  if (recordBytes <= COUNTED_BYTES || framing === undefined) {
    const quiet = { ...request, onProgress: undefined };
    return countInputs(readable, quiet, memoryNeed, deviceGates, tuning, warn);
  }
  const counted: CountedGroup[] = [];
  for (const group of weighing.groups.keys()) {
    const isMember = (_: unknown, ordinal: number) => weighing.groupOf[ordinal] === group;
    const bytes = decodedBytes.filter(isMember).reduce<number>((sum, each = 0) => sum + each, 0);
    const sample = await sampleRecords(inputs.filter(isMember), framing, drawSeed, signal, field);
    counted.push({
      records: Math.round(bytes * sample.perByte.expected),
      bytes,
      sum: BigInt(Math.round(bytes * sample.fieldPerByte)),
    });
  }
  return counted;
}
