/**
 * Takes generations out of a store. No data is touched: the next manifest names fewer pile sets.
 */
import { commitManifest } from './commit-manifest.js';
import type { StoreCommit } from './manifest.js';
import type { StoreSnapshot } from './store-snapshot.js';

/** Which generations go. Times are in milliseconds since 1970. */
export type ExpiryRule = { readonly before: number } | { readonly keepLast: number };

/** A generation, with what all its commits have together. */
export interface Generation {
  readonly name: string;
  /** In milliseconds since 1970. */
  readonly time: number;
  readonly commits: readonly StoreCommit[];
}

/** Oldest first; those of one time in the order of their names. */
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

/**
 * Takes out the generations that the rule says, by the state at the moment when they go.
 * @returns those that went, oldest first. Their files stay until they are collected (collect-garbage.ts).
 */
export async function expireGenerations(snapshot: StoreSnapshot, rule: ExpiryRule): Promise<readonly Generation[]> {
  let expired: readonly Generation[] = [];
  await commitManifest(snapshot, ({ commits, removed, oldest }) => {
    expired = expiredBy(rule, generationsOf(commits));
    if (expired.length === 0) return undefined;
    const gone = new Set(expired.flatMap((generation) => generation.commits));
    const pileSets = [...gone].flatMap((commit) => commit.pileSets.map(({ name }) => name));
    return {
      commits: commits.filter((commit) => !gone.has(commit)),
      removed: [...removed, { time: Date.now(), pileSets }],
      oldest,
    };
  });
  return expired;
}
