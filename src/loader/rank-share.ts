/**
 * Which records of an epoch's order each of several ranks gets. Pure.
 *
 *     strided       rank r gets the records r, r + W, r + 2 W, ...
 *     contiguous    rank r gets those from floor(r N / W) on, up to where the next rank begins
 *
 * So the shares are disjoint and together complete, and their counts differ by at most one.
 */

export type RankShareRule = 'strided' | 'contiguous';

/** How counts are made equal: the longer shares lose their last record, or the shorter ones get another rank's. */
export type Equalize = 'drop' | 'pad';

export interface RankRequest {
  readonly rank: number;
  readonly worldSize: number;
  readonly share: RankShareRule;
  readonly equalize: Equalize | null;
}

/** Record k of the share is record `first + k * step` of the order, which begins anew behind its last one. */
export interface RankShare {
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

export function shareOfRank(records: number, { rank, worldSize, share, equalize }: RankRequest): RankShare {
  const [first, step, count] =
    share === 'strided'
      ? [rank, worldSize, Math.max(0, Math.ceil((records - rank) / worldSize))]
      : [proportion(rank, records, worldSize), 1, lengthOfPart(rank, records, worldSize)];
  if (records === 0) return { first: 0, step, count: 0 };
  if (equalize === 'drop') return { first, step, count: Math.floor(records / worldSize) };
  if (equalize === 'pad') return { first, step, count: Math.ceil(records / worldSize) };
  return { first, step, count };
}

function lengthOfPart(rank: number, records: number, worldSize: number): number {
  return proportion(rank + 1, records, worldSize) - proportion(rank, records, worldSize);
}

/** floor(part * total / parts), exact for every product. */
function proportion(part: number, total: number, parts: number): number {
  return Number((BigInt(part) * BigInt(total)) / BigInt(parts));
}
