/**
 * Divides the records that come to a sink into parts: shards, or units of shards. Some parts are for others to write: the
 * records of a pile may belong to two tasks.
 */

import { cutAt, type ShardCuts } from '../plan/shard-cuts.js';
import { type OwnUnits, ownUnits, type Unit } from '../plan/unit-cuts.js';
import type { ShardRange } from './output-target.js';

export interface PartCursor {
  readonly by: 'rank' | 'byte';
  /** The rank or byte of the whole order at which the present part ends; Infinity: it has the rest. */
  readonly end: number;
  readonly shard: number;
  /** True if the sink writes the records of the part. */
  readonly isOwn: boolean;
  /** True if nobody else writes to the shard before it. */
  readonly beginsShard: boolean;
  /** Goes on to the next part. */
  next(): void;
}

/** @param own undefined: all. */
export function shardCursor(cuts: ShardCuts, firstShard: number, own: ShardRange | undefined): PartCursor {
  let shard = firstShard;
  return {
    by: cuts.by,
    get end() {
      return cutAt(cuts, shard + 1);
    },
    get shard() {
      return shard;
    },
    get isOwn() {
      return isIn(own, shard);
    },
    get beginsShard() {
      return shard > firstShard;
    },
    next: () => {
      shard += 1;
    },
  };
}

/** Returns a cursor over own units: others write what lies before the first one, and after the last one. */
export function unitCursor(own: OwnUnits, ownShards: ShardRange | undefined): PartCursor {
  const units = ownUnits(own);
  const nextOwn = (): Unit | undefined => {
    for (let { value } = units.next(); ; { value } = units.next()) {
      if (value === undefined || isIn(ownShards, value.shard)) return value;
    }
  };
  let next = nextOwn();
  let unit: Unit | undefined;
  let shard = next?.shard ?? own.firstShard;
  let end = next?.begin ?? Number.POSITIVE_INFINITY;
  return {
    by: own.units.cuts.by,
    get end() {
      return end;
    },
    get shard() {
      return shard;
    },
    get isOwn() {
      return unit !== undefined;
    },
    get beginsShard() {
      return (unit ?? next)?.beginsShard === true;
    },
    next: () => {
      unit = next?.begin === end ? next : undefined;
      if (unit !== undefined) {
        shard = unit.shard;
        next = nextOwn();
      }
      end = unit?.end ?? next?.begin ?? Number.POSITIVE_INFINITY;
    },
  };
}

function isIn(own: ShardRange | undefined, shard: number): boolean {
  return own === undefined || (shard >= own.first && shard < own.end);
}
