/**
 * A generation is the pile sets that were appended under one name. Taking it out of a store touches no data: the next
 * manifest names fewer pile sets, and their files stay until they are collected (collect-garbage.ts). Times are in
 * milliseconds since 1970.
 */
import { UsageError } from '../errors.js';
import { checksumTextOf } from '../piles/pile-totals.js';
import { commitManifest } from './commit-manifest.js';
import type { StoreCommit } from './store-manifest.js';
import type { StoreSnapshot } from './store-snapshot.js';

const DATE = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/;
const MOST_CHARACTERS = 200;

/** The date in UTC. */
export function generationOfToday(now = Date.now()): string {
  return new Date(now).toISOString().slice(0, 10);
}

/**
 * The time of a date, or of a date with a time; UTC when it has no zone, and never before 1970. Undefined for other texts,
 * and for days that are in no calendar.
 */
export function timeOfDate(text: string): number | undefined {
  const [, day, timeOfDay, , , zone] = DATE.exec(text) ?? [];
  if (day === undefined) return undefined;
  const midnight = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) return undefined;
  const time = timeOfDay === undefined ? midnight : Date.parse(zone === undefined ? `${text}Z` : text);
  return Number.isNaN(time) ? undefined : Math.max(0, time);
}

/** Refuses a name that cannot be read back from a line. */
export function requireGeneration(name: string): void {
  if (name !== '' && name.length <= MOST_CHARACTERS && !/[\p{Cc}\p{Cs}]/u.test(name)) return;
  throw new UsageError(
    `the generation ${JSON.stringify(name)} has no name of 1 to ${MOST_CHARACTERS} printable characters; give one, such as ${generationOfToday()}`,
  );
}

export type ExpiryRule = { readonly before: number } | { readonly keepLast: number };

interface Generation {
  readonly name: string;
  /** The earliest time of its commits. */
  readonly time: number;
  readonly commits: readonly StoreCommit[];
}

/** Oldest first; generations of the same time in the order of their names. */
export function generationsOf(commits: readonly StoreCommit[]): Generation[] {
  const commitsOf = new Map<string, StoreCommit[]>();
  for (const commit of commits) {
    const known = commitsOf.get(commit.generation);
    if (known === undefined) commitsOf.set(commit.generation, [commit]);
    else known.push(commit);
  }
  return [...commitsOf]
    .map(([name, ofGeneration]) => ({
      name,
      time: ofGeneration.reduce((least, { time }) => Math.min(least, time), Number.POSITIVE_INFINITY),
      commits: ofGeneration,
    }))
    .sort((a, b) => a.time - b.time || (a.name < b.name ? -1 : 1));
}

function expiredBy(rule: ExpiryRule, generations: readonly Generation[]): readonly Generation[] {
  if ('before' in rule) return generations.filter(({ time }) => time < rule.before);
  return generations.slice(0, Math.max(0, generations.length - rule.keepLast));
}

/** Takes out the generations that the rule selects in the newest state. @returns them, oldest first. */
export async function expireGenerations(snapshot: StoreSnapshot, rule: ExpiryRule): Promise<readonly Generation[]> {
  let expired: readonly Generation[] = [];
  await commitManifest(snapshot, ({ commits, removed }) => {
    expired = expiredBy(rule, generationsOf(commits));
    if (expired.length === 0) return undefined;
    const gone = new Set(expired.flatMap((generation) => generation.commits));
    const pileSets = [...gone].flatMap((commit) => commit.pileSets.map(({ name }) => name));
    return {
      commits: commits.filter((commit) => !gone.has(commit)),
      removed: [...removed, { time: Date.now(), pileSets }],
    };
  });
  return expired;
}

export interface GenerationSummary {
  readonly name: string;
  /** The time as in `2026-01-31T12:00:00.000Z`. */
  readonly time: string;
  readonly commits: number;
  readonly inputs: number;
  readonly records: number;
  readonly bytes: number;
  /** Multiset checksum of its records. */
  readonly checksum: string;
  readonly pileSets: number;
  /** Bytes of its data files. */
  readonly diskBytes: number;
}

export function summaryOf({ name, time, commits }: Generation): GenerationSummary {
  const sum = (count: (commit: StoreCommit) => number) => commits.reduce((total, commit) => total + count(commit), 0);
  return {
    name,
    time: new Date(time).toISOString(),
    commits: commits.length,
    inputs: sum(({ inputIds }) => inputIds.length),
    records: sum(({ records }) => records),
    bytes: sum(({ bytes }) => bytes),
    checksum: sumOfChecksums(commits),
    pileSets: sum(({ pileSets }) => pileSets.length),
    diskBytes: sum(({ pileSets }) => pileSets.reduce((total, { diskBytes }) => total + diskBytes, 0)),
  };
}

export function sumOfChecksums(commits: readonly StoreCommit[]): string {
  const sum = commits.reduce((total, { checksum }) => total + BigInt(`0x${checksum}`), 0n);
  return checksumTextOf(BigInt.asUintN(64, sum));
}
