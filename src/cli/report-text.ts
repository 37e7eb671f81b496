/** Summaries, each as one line. The seed is always in that of a shuffle: it may have been drawn and is needed again. */

import type { AppendReport, GroupReport, ShuffleReport, ShuffleTogetherReport } from '../options/reports.js';
import type { CollectedGarbage } from '../store/collect-garbage.js';
import type { UnownedPileSets } from '../store/store-attempt.js';
import {
  formatBytes,
  formatCount,
  formatDecimal,
  formatExactBytes,
  formatPlural,
  formatSeconds,
} from '../values/format-numbers.js';

/** `12 records, 1.20 GB (1,204,000,000 bytes) in 6.1 s, 197 MB/s, seed 42, checksum 0123456789abcdef` */
export function describeShuffle(report: ShuffleReport): string {
  const { records, resumed, splits, sections, blank, duplicates, wasFinished } = report;
  return [
    startOf(wasFinished) + formatPlural(records, 'record'),
    ...(splits === undefined ? [] : [describeSplits(splits, 'split')]),
    ...(sections === undefined || sections.length === 0 ? [] : [describeSplits(sections, 'section')]),
    ...describeBlank(blank),
    ...describeDuplicates(duplicates),
    ...outputWords(report),
    ...(resumed === undefined ? [] : [describeResumed(resumed)]),
    ...describeWeighed(report),
    ...describeEmptyShards(report),
  ].join(', ');
}

/** `sum of .n_tokens 800,000`, then each group */
export function describeWeighed({ sum, groups = [] }: Pick<ShuffleReport, 'sum' | 'groups'>): string[] {
  const others = groups.length - MOST_GROUPS_SHOWN;
  return [
    ...(sum === undefined ? [] : [`sum of ${sum.of} ${formatDecimal(sum.total)}`]),
    ...groups.slice(0, MOST_GROUPS_SHOWN).map((group) => describeGroup(group, groups.length === 1, sum?.of)),
    ...(others > 0 ? [`and ${formatPlural(others, 'other group')}`] : []),
  ];
}

export function describeBlank(blank: ShuffleReport['blank']): string[] {
  return blank === undefined ? [] : [`${formatPlural(blank.records, 'blank record')} left out`];
}

export function describeDuplicates(duplicates: ShuffleReport['duplicates']): string[] {
  return duplicates === undefined ? [] : [`${formatPlural(duplicates.records, 'duplicate')} dropped`];
}

function startOf(wasFinished: ShuffleReport['wasFinished']): string {
  return wasFinished === true ? 'an earlier call has done this job: ' : '';
}

/** More would hide the rest of the line; the summary of `--progress json` has all. */
const MOST_GROUPS_SHOWN = 8;

/** `wiki*: 2,500 from 1,000 records (2.5 epochs, 1.20 MB, .n_tokens 800,000)` */
function describeGroup({ name: given, read, weighed, epochs, sum }: GroupReport, isOnly: boolean, field = ''): string {
  const name = given ?? (isOnly ? 'all inputs' : 'other inputs');
  const rounded = Number(epochs.toPrecision(4));
  const sumWords = sum === undefined ? '' : `, ${field} ${formatDecimal(sum.weighed)}`;
  return `${name}: ${formatCount(weighed.records)} from ${formatPlural(read.records, 'record')} (${rounded} ${rounded === 1 ? 'epoch' : 'epochs'}, ${formatBytes(weighed.bytes)}${sumWords})`;
}

/** `12 records in each of 2 members, 1.20 GB in 6.1 s, seed 42, R1.fq checksum 0123456789abcdef, R2.fq ...` */
export function describeTogether(report: ShuffleTogetherReport): string {
  const { records, members, seed, seconds, resumedMembers, wasFinished } = report;
  const bytes = members.reduce((sum, member) => sum + member.bytes, 0);
  const [{ files, splits, emptyShards } = { files: [], splits: undefined, emptyShards: undefined }] = members;
  const emptyOfMember = describeEmptyShards({ records, shards: files, splits, emptyShards });
  return [
    `${startOf(wasFinished)}${formatPlural(records, 'record')} in each of ${members.length} members`,
    `${formatBytes(bytes)}${wasFinished === true ? '' : ` in ${formatSeconds(seconds.total)}`}`,
    describeSeed(seed),
    ...members.map(({ name, checksum }) => `${name} checksum ${checksum}`),
    ...(resumedMembers === 0 ? [] : [`resumed after ${formatPlural(resumedMembers, 'member')}`]),
    ...emptyOfMember.map((words) => `of each member ${words}`),
  ].join(', ');
}

/** Quoted where its end could not be seen otherwise. */
function describeSeed(seed: string): string {
  return `seed ${/^[\w.:+-]+$/.test(seed) ? seed : JSON.stringify(seed)}`;
}

function outputWords({ bytes, seconds, seed, checksum, wasFinished }: ShuffleReport): string[] {
  const time = [
    `${formatExactBytes(bytes)} in ${formatSeconds(seconds.total)}`,
    ...(seconds.total > 0 ? [`${formatBytes(bytes / seconds.total)}/s`] : []),
  ];
  return [...(wasFinished === true ? [formatExactBytes(bytes)] : time), describeSeed(seed), `checksum ${checksum}`];
}

const MOST_NAMED_SPLITS = 6;

/** `in 3 splits (train 98, validation 1, test 1)` */
function describeSplits(splits: NonNullable<ShuffleReport['splits']>, word: string): string {
  const named = splits.slice(0, MOST_NAMED_SPLITS).map(({ name, records }) => `${name} ${formatCount(records)}`);
  const more = splits.length > named.length ? [`${splits.length - named.length} more`] : [];
  return `in ${formatPlural(splits.length, word)} (${[...named, ...more].join(', ')})`;
}

function describeResumed({ pileSets, outputBytes }: NonNullable<ShuffleReport['resumed']>): string {
  return `resumed from ${formatPlural(pileSets, 'slice')} and ${formatBytes(outputBytes)} of output`;
}

/** `12 records, 1.20 GB in 6.1 s, generation 2026-11-20, state 7 of the store, checksum 0123456789abcdef` */
export function describeAppend({ records, bytes, blank, seconds, generation, state, checksum }: AppendReport): string {
  return [
    formatPlural(records, 'record'),
    ...describeBlank(blank),
    `${formatBytes(bytes)} in ${formatSeconds(seconds.total)}`,
    `generation ${generation}`,
    `state ${state} of the store`,
    `checksum ${checksum}`,
  ].join(', ');
}

/** @param yet follows "nothing to delete": ` yet` if a later call will have something. */
export function describeGarbage({ pileSets, bytes, manifests, unowned }: CollectedGarbage, yet = ''): string {
  const deleted =
    pileSets === 0 && manifests === 0
      ? `nothing to delete${yet}`
      : `deleted ${formatPlural(pileSets, 'pile set')}, ${formatBytes(bytes)}, and ${formatPlural(manifests, 'manifest')}`;
  return unowned.pileSets === 0 ? deleted : `${deleted}; kept ${unownedWords(unowned)}`;
}

export function unownedWords({ pileSets, bytes, newest }: UnownedPileSets): string {
  return `${formatPlural(pileSets, 'pile set')}, ${formatBytes(bytes)}, the newest of ${newest}, which a lost manifest named`;
}

/** `3 of 8 shards are empty: --shards 5 would do`; nothing if all shards have records. */
export function describeEmptyShards({
  records,
  shards,
  splits,
  sections,
  emptyShards,
}: Pick<ShuffleReport, 'records' | 'shards' | 'splits' | 'sections' | 'emptyShards'>): readonly string[] {
  if (emptyShards === undefined) return [];
  const parts = splits ?? sections ?? [{ name: '', records, shards, emptyShards }];
  const counts = parts.map(
    (part) => `${part.name}${splits === undefined ? '' : '='}${Math.min(part.shards.length, part.records || 1)}`,
  );
  const hasFewer =
    sections === undefined && parts.some((part) => part.records > 0 && part.records < part.shards.length);
  return [
    `${emptyShards} of ${formatPlural(shards.length, 'shard')} ${emptyShards === 1 ? 'is' : 'are'} empty${hasFewer ? `: --shards ${counts.join()} would do` : ''}`,
  ];
}

/** Warns of splits without records: a program that reads them fails, or tests nothing. Undefined if every split has one. */
export function emptySplitsWarning(splits: ShuffleReport['splits'] = []): string | undefined {
  const empty = splits.filter(({ records }) => records === 0).map(({ name }) => name);
  return empty.length === 0 ? undefined : `no record is in ${empty.join(', ')}`;
}
