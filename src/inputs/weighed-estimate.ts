/** What weights make of the estimate of the inputs: what is read of them, and what the records take with all copies. */
import { factorOf, isNothing, ONCE, type Weight } from '../plan/weights.js';
import type { Estimate } from './estimate.js';

export interface WeighedEstimate {
  readonly read: Estimate;
  readonly made: Estimate;
}

/** The draws of few records vary around their mean. */
const DRAW_MARGIN = 1.1;

/** @param weights of each input; undefined: each record comes once. */
export function weighEstimate(estimate: Estimate, weights: readonly Weight[] | undefined): WeighedEstimate {
  if (weights === undefined) return { read: estimate, made: estimate };
  const { recordBytes, decodedBytes } = estimate;
  const knownBytes = decodedBytes.reduce<number>((sum, bytes = 0) => sum + bytes, 0);
  const streams = decodedBytes.filter((bytes) => bytes === undefined).length;
  const ofStream = (recordBytes - knownBytes) / Math.max(1, streams);
  let [readBytes, madeBytes] = [0, 0];
  for (const [i, bytes = ofStream] of decodedBytes.entries()) {
    const weight = weights[i] ?? ONCE;
    readBytes += isNothing(weight) ? 0 : bytes;
    madeBytes += bytes * factorOf(weight);
  }
  const hasDraws = weights.some(({ chance }) => chance > 0n);
  const isUnread = (i: number) => isNothing(weights[i] ?? ONCE);
  const read = scaled(estimate, readBytes, 1);
  return {
    read: { ...read, decodedBytes: decodedBytes.map((bytes, i) => (isUnread(i) ? 0 : bytes)) },
    made: { ...scaled(estimate, madeBytes, hasDraws ? DRAW_MARGIN : 1), exact: estimate.exact && !hasDraws },
  };
}

function scaled(estimate: Estimate, recordBytes: number, margin: number): Estimate {
  const part = recordBytes / Math.max(1, estimate.recordBytes);
  return {
    ...estimate,
    recordBytes,
    leastBytes: (estimate.leastBytes * part) / margin,
    mostBytes: estimate.mostBytes * part * margin,
  };
}
