/** What was deleted of a store, in words. */
import type { CollectedGarbage } from '../../index.js';
import { formatBytes, formatCount } from '../quantity.js';

export function describeGarbage({ pileSets, bytes, manifests }: CollectedGarbage): string {
  if (pileSets === 0 && manifests === 0) return 'nothing to delete';
  return `deleted ${plural(pileSets, 'pile set')}, ${formatBytes(bytes)}, and ${plural(manifests, 'manifest')}`;
}

export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}
