/** Samples the values that divide the output into sections: a large share of the records gets a large range of keys. */
import { ARENA_START, Kernel } from '../../workers/kernel/kernel.js';
import { placeSelector, selectorByteLength } from '../../workers/piles/record-values.js';
import { type SectionRule, sectionRanges } from '../keep/sections.js';
import { type SampledFile, sampleRecords } from './sample-records.js';

/** Shares need not be exact: piles of twice the size fit as well. */
const WINDOWS = { windowBytes: 64 * 1024, fewest: 32, most: 128 };
/** Reads past the end of a record stay below this. */
const SLACK_BYTES = 64;

/**
 * Returns the rule with the ranges of the values that samples of the inputs have. Rows, and inputs that a program decodes,
 * have no sample.
 */
export async function withSampledRanges(
  rule: SectionRule,
  files: readonly SampledFile[],
  sampleSeed: string,
  signal: AbortSignal | undefined,
): Promise<SectionRule> {
  const { framing } = rule.value;
  if (framing === undefined) return rule;
  const { samples } = await sampleRecords(files, framing, sampleSeed, signal, undefined, WINDOWS);
  const kernel = new Kernel();
  const from = ARENA_START + selectorByteLength(rule.value) + SLACK_BYTES;
  const longest = samples.reduce((most, { byteLength }) => Math.max(most, byteLength), 0);
  kernel.ensureArena(from + longest + SLACK_BYTES - ARENA_START);
  placeSelector(kernel, ARENA_START, rule.value);
  kernel.wasm.useSelector(ARENA_START);
  const bytesOf = new Map<bigint, number>();
  for (const sample of samples) {
    kernel.bytes.set(sample, from);
    const hash = BigInt.asUintN(64, kernel.wasm.valueHash(ARENA_START, from, from + sample.byteLength));
    // A record without a value, which pass 1 refuses, has the hash 0.
    if (hash !== 0n) bytesOf.set(hash, (bytesOf.get(hash) ?? 0) + sample.byteLength);
  }
  return { ...rule, ranges: sectionRanges(bytesOf) };
}
