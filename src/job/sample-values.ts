/**
 * Samples values of the records: those that divide the output into sections, of which a large share of the records gets a
 * large range of keys, and the numbers that weigh records.
 */
import { ARENA_START, Kernel } from '../../workers/kernel/kernel.js';
import { placeSelector, prepareKeys, selectorByteLength } from '../../workers/piles/record-values.js';
import { textOfFound } from '../../workers/piles/section-table.js';
import { deriveSampleSeed } from '../floor/keys.js';
import { countRuleOf } from '../keep/content-rule.js';
import { type SectionRule, sectionRanges } from '../keep/sections.js';
import type { ShuffleSpec } from '../spec.js';
import { type SampledFile, sampleRecords } from './sample-records.js';

/** Shares need not be exact: piles of twice the size fit as well. */
const WINDOWS_OF_SECTIONS = { windowBytes: 64 * 1024, fewest: 32, most: 128 };
/** A sample of an input on another machine takes a request for each window. */
const WINDOWS_OF_NUMBERS = { windowBytes: 64 * 1024, fewest: 16, most: 32 };
/** Reads past the end of a record stay below this. */
const SLACK_BYTES = 64;
const MARK_BYTES = 8;
/** The bytes of sample records, of which one takes about a microsecond. */
const SAMPLE_BYTES = 2 ** 20;

interface SampledInputs {
  readonly spec: ShuffleSpec;
  readonly files: readonly SampledFile[];
  readonly signal: AbortSignal | undefined;
}

/**
 * Returns a kernel, and the samples, of which each in turn lies in its memory. Rows, and inputs that a program decodes, have no
 * sample. @param roomBytes kept free before them.
 */
async function placeSamples(
  { spec, files, signal }: SampledInputs,
  sampleWindows: typeof WINDOWS_OF_SECTIONS,
  roomBytes: number,
) {
  const { framing, decompressProgram } = spec.read;
  if (framing === undefined || decompressProgram !== undefined) return undefined;
  const sampleSeed = deriveSampleSeed(spec.key.seed);
  const { samples } = await sampleRecords(files, framing, sampleSeed, signal, undefined, sampleWindows, SAMPLE_BYTES);
  if (samples.length === 0) return undefined;
  const kernel = new Kernel();
  const start = ARENA_START + roomBytes + SLACK_BYTES;
  const longest = samples.reduce((most, { byteLength }) => Math.max(most, byteLength), 0);
  kernel.ensureArena(start + longest + SLACK_BYTES - ARENA_START);
  function* places() {
    for (const sample of samples) {
      kernel.bytes.set(sample, start);
      yield { start, end: start + sample.byteLength };
    }
  }
  return { kernel, places, count: samples.length };
}

/** Returns the ranges of the values that divide the output, as far as samples of the inputs have these. */
export async function sampleSections(inputs: SampledInputs): Promise<SectionRule['ranges']> {
  const { each } = inputs.spec.cut;
  const placed = each && (await placeSamples(inputs, WINDOWS_OF_SECTIONS, selectorByteLength(each.value)));
  if (each === undefined || placed === undefined) return [];
  const { kernel, places } = placed;
  placeSelector(kernel, ARENA_START, each.value);
  kernel.wasm.useSelector(ARENA_START);
  const found = new Map<string, { records: number; bytes: number }>();
  for (const { start, end } of places()) {
    // Pass 1 refuses records without a value.
    if (!kernel.wasm.findCharactersOf(ARENA_START, start, end)) continue;
    const text = textOfFound(kernel, each);
    const { records, bytes } = found.get(text) ?? { records: 0, bytes: 0 };
    found.set(text, { records: records + 1, bytes: bytes + end - start });
  }
  return sectionRanges(found);
}

/** Returns about the mean of the numbers that weigh records. Undefined: no number does, or no sample tells it. */
export async function sampleMeanNumber(inputs: SampledInputs): Promise<number | undefined> {
  const { spec } = inputs;
  const isInRecords = spec.keep.weightBy?.value !== undefined;
  const placed = isInRecords && (await placeSamples(inputs, WINDOWS_OF_NUMBERS, MARK_BYTES));
  if (!placed) return undefined;
  const { kernel, places, count } = placed;
  const { wasm, view } = kernel;
  prepareKeys(kernel, countRuleOf(spec), false);
  wasm.setCopies(1, 0n);
  for (const { start, end } of places()) {
    view.setUint32(ARENA_START, start, true);
    view.setUint32(ARENA_START + 4, end, true);
    wasm.weighBlock(ARENA_START, 1);
  }
  const [whole, parts] = [wasm.expectedRecords.value, wasm.expectedRecordParts.value];
  return (Number(BigInt.asUintN(64, whole)) + Number(BigInt.asUintN(64, parts)) / 2 ** 64) / count;
}
