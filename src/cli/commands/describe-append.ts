import type { AppendReport } from '../../index.js';
import { formatBytes, formatCount, formatSeconds } from '../quantity.js';

/** `12 records, 1.20 GB in 6.1 s, generation 2026-11-20, state 7 of the store, checksum 0123456789abcdef` */
export function describeAppend({ records, bytes, seconds, generation, state, checksum }: AppendReport): string {
  return [
    `${formatCount(records)} ${records === 1 ? 'record' : 'records'}`,
    `${formatBytes(bytes)} in ${formatSeconds(seconds.total)}`,
    `generation ${generation}`,
    `state ${state} of the store`,
    `checksum ${checksum}`,
  ].join(', ');
}
