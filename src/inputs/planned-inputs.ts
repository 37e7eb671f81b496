/**
 * The inputs as the planner of slices sees them: which can be cut, and where.
 */
import type { Cut, Framing } from '../formats/framing.js';
import { isWorthCutting, type PlannedInput } from '../plan/slices.js';
import { findCutPoints, mayCutAtMembers } from './cut-points.js';
import type { JobInput } from './list-inputs.js';

/** Whether one input may become several slices. */
export function mayBeCut(input: JobInput, framing: Framing | undefined): boolean {
  if (framing === undefined) return false;
  return isPlain(input) ? framing.cut.kind !== 'never' : mayCutAtMembers(input, framing);
}

/**
 * Looks for the members of compressed inputs that seem large enough to be cut.
 * @param decodedBytes of each input, by the estimate; undefined for streams.
 * @throws AbortedError when the signal fired meanwhile.
 */
export async function describeInputs(
  inputs: readonly JobInput[],
  decodedBytes: readonly (number | undefined)[],
  framing: Framing | undefined,
  sliceBytes: number,
  signal: AbortSignal | undefined,
): Promise<PlannedInput[]> {
  const planned: PlannedInput[] = [];
  for (const [ordinal, input] of inputs.entries()) {
    const estimate = decodedBytes[ordinal] ?? 0;
    const isCut = framing !== undefined && isWorthCutting(estimate, sliceBytes) && mayCutAtMembers(input, framing);
    planned.push({
      cutBytes: isPlain(input) && framing !== undefined ? cutBytesOf(framing.cut) : undefined,
      start: isPlain(input) ? input.header.byteLength : 0,
      byteLength: input.kind === 'file' ? input.version.byteLength : undefined,
      decodedBytes: estimate,
      ...(isCut ? await findCutPoints(input, framing, estimate, sliceBytes, signal) : undefined),
    });
  }
  return planned;
}

function isPlain(input: JobInput): input is JobInput & { kind: 'file' } {
  return input.kind === 'file' && input.codec === undefined;
}

function cutBytesOf(cut: Cut): number | undefined {
  if (cut.kind === 'never') return undefined;
  return cut.kind === 'every' ? cut.byteLength : 1;
}
