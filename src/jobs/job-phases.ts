/** The phases of a shuffle and the bytes that each works through, as far as they are known before it starts. */
import type { MemoryNeed } from '../plan/memory-plan.js';
import type { EarlierAttempt } from './earlier-attempt.js';
import type { PhaseBytes } from './options.js';
import type { ShuffleRequest } from './request.js';
import { isMeasuredBefore } from './unique-records.js';

interface PhasedJob {
  readonly request: Parameters<typeof measuresPiles>[0] & Parameters<typeof isEndless>[0];
  readonly plan: {
    readonly inputBytes: number | undefined;
    readonly memoryNeed: Pick<MemoryNeed, 'recordBytes' | 'meanRecordBytes'>;
  };
  readonly isCounted: boolean;
  readonly earlier: Pick<EarlierAttempt, 'notes'> | undefined;
}

export function phasesOfShuffle({ request, plan, isCounted, earlier }: PhasedJob): readonly PhaseBytes[] {
  const { inputBytes, memoryNeed } = plan;
  const { recordBytes, meanRecordBytes } = memoryNeed;
  const onPiles = inputBytes === undefined ? undefined : recordBytes;
  const headBytes = (request.headCount ?? Number.POSITIVE_INFINITY) * meanRecordBytes;
  const written =
    onPiles === undefined || isEndless(request) ? undefined : request.repeat ? headBytes : Math.min(onPiles, headBytes);
  return [
    ...(isCounted ? [{ phase: 'count' as const, bytes: inputBytes }] : []),
    { phase: 'scatter', bytes: inputBytes },
    ...(measuresPiles(request, earlier) ? [{ phase: 'measure' as const, bytes: onPiles }] : []),
    { phase: 'shuffle', bytes: written },
    { phase: 'commit', bytes: 0 },
  ];
}

/** Whether a phase of its own finds what stays of equal records. */
export function measuresPiles(
  request: Pick<ShuffleRequest, 'unique' | 'headCount' | 'repeat' | 'shards' | 'header'>,
  earlier: Pick<EarlierAttempt, 'notes'> | undefined,
): boolean {
  return earlier?.notes.distinct === undefined && isMeasuredBefore(request);
}

/** Progress of a job without end tells neither the part that is done nor the time that is left. */
export function isEndless({ repeat, headCount }: Pick<ShuffleRequest, 'repeat' | 'headCount'>): boolean {
  return repeat && headCount === undefined;
}
