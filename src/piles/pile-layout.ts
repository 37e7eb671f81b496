/**
 * The places of a job's piles: pile j lies on temp disk j mod D, consecutive piles form S stripes, and each (pile set,
 * stripe, disk) has one data file. A stripe can be deleted as a whole as soon as the output made from it is safe, and
 * the number of files does not depend on the number of piles.
 */
import { join } from 'node:path';
import type { GateNumber } from '../floor/job-control.js';
import type { OwnRole } from '../io/files.js';

/** The most piles, and the most stripes, of a job or a store. */
export const MOST_PILES = 65536;
export const MOST_STRIPES = 16;

export interface TempDisk {
  /** Absolute or relative to the current directory. The directories of a job's layout belong to the job alone. */
  readonly directory: string;
  readonly gate: GateNumber;
  /** True if the disk moves a head between two places. */
  readonly rotates: boolean;
}

export interface PileSetLayout {
  readonly pileCount: number;
  readonly stripeCount: number;
  readonly disks: readonly TempDisk[];
  readonly indexDirectory: string;
  /** True if a stored record has a second key in its header, which orders records of one key. Absent: it has none. */
  readonly hasSecondKeys?: boolean | undefined;
  /** The role of the files. Absent: they are temp files. */
  readonly role?: OwnRole;
}

/**
 * The place where records of a pile that does not fit in memory are scattered again; the files are removed after the
 * pile.
 */
export type RescatterTarget = Pick<PileSetLayout, 'disks' | 'indexDirectory'>;

export function roleOf({ role = 'temp' }: Pick<PileSetLayout, 'role'>): OwnRole {
  return role;
}

export function stripeOfPile(layout: Pick<PileSetLayout, 'pileCount' | 'stripeCount'>, pile: number): number {
  return Math.floor((pile * layout.stripeCount) / layout.pileCount);
}

/** Piles [first, end) of a stripe. */
export function pilesOfStripe(
  layout: Pick<PileSetLayout, 'pileCount' | 'stripeCount'>,
  stripe: number,
): { readonly first: number; readonly end: number } {
  return {
    first: Math.ceil((stripe * layout.pileCount) / layout.stripeCount),
    end: Math.ceil(((stripe + 1) * layout.pileCount) / layout.stripeCount),
  };
}

export function diskOfPile(layout: PileSetLayout, pile: number): number {
  return pile % layout.disks.length;
}

export function dataFilePath(layout: PileSetLayout, pileSetName: string, stripe: number, disk: number): string {
  return join(diskAt(layout, disk).directory, `${pileSetName}.${stripe}.pile`);
}

export function pileSetFiles(layout: PileSetLayout, pileSetName: string): string[] {
  const paths = [indexFilePath(layout, pileSetName)];
  for (let stripe = 0; stripe < layout.stripeCount; stripe++) {
    for (let disk = 0; disk < layout.disks.length; disk++) {
      paths.push(dataFilePath(layout, pileSetName, stripe, disk));
    }
  }
  return paths;
}

export function indexFilePath(layout: PileSetLayout, pileSetName: string): string {
  return join(layout.indexDirectory, `${pileSetName}.index`);
}

export function diskAt(layout: PileSetLayout, disk: number): TempDisk {
  const place = layout.disks[disk];
  if (place === undefined) throw new RangeError(`this job has no temp disk ${disk}`);
  return place;
}
