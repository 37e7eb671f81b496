/**
 * Everything that must not change the output: workers, memory, piles, slices, buffers, stripes, temp
 * directories, compression of inputs and temp data, memory or disk.
 */
import fc from 'fast-check';
import type { ShuffleOptions } from '#src/index.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { ENCODINGS, type Encoding } from './encodings.js';

export interface Settings {
  readonly workers: number;
  readonly memoryBytes: number;
  readonly tempDirCount: number;
  /** One an input, repeated. */
  readonly encodings: readonly Encoding[];
  readonly tempCompress?: ShuffleOptions['tempCompress'];
  readonly tuning: Tuning;
}

/** Piles and their buffers are planned together, or set together. */
const piles: fc.Arbitrary<Tuning> = fc.option(
  fc.record({
    pileCount: fc.integer({ min: 1, max: 40 }),
    bufferBytes: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 41, max: 4096 })),
  }),
  { nil: {} },
);

/** Sizes of which each, left out, is what the plan says. */
const sizes: fc.Arbitrary<Tuning> = fc.record(
  {
    readBytes: fc.oneof(fc.integer({ min: 2, max: 70 }), fc.integer({ min: 71, max: 5000 })),
    outputBytes: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 41, max: 5000 })),
    sliceBytes: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 201, max: 5000 })),
    memberBytes: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 41, max: 5000 })),
    stripeCount: fc.integer({ min: 1, max: 9 }),
    mayUseRamPool: fc.boolean(),
  },
  { requiredKeys: [] },
);

const TEMP_COMPRESSIONS = [{ codec: 'zstd', level: 1 } as const, { codec: 'zstd', level: 9 } as const];

const aroundTuning = {
  workers: fc.integer({ min: 1, max: 4 }),
  memoryBytes: fc.integer({ min: 4, max: 64 }).map((mebibytes) => mebibytes * 2 ** 20),
  tempDirCount: fc.integer({ min: 1, max: 3 }),
  tempCompress: fc.constantFrom<ShuffleOptions['tempCompress']>(undefined, undefined, ...TEMP_COMPRESSIONS),
  encodings: fc.array(fc.constantFrom(...ENCODINGS), { minLength: 1, maxLength: 3 }),
};

export const anySettings: fc.Arbitrary<Settings> = fc.record({
  ...aroundTuning,
  tuning: fc.tuple(piles, sizes).map(([ofPiles, others]) => ({ ...ofPiles, ...others, inline: true })),
});

/** An arena so small that a pile of some thousand records is scattered again, some of them twice. */
export const tightSettings: fc.Arbitrary<Settings> = fc.record({
  ...aroundTuning,
  tuning: fc
    .record({
      pileCount: fc.integer({ min: 1, max: 3 }),
      bufferBytes: fc.integer({ min: 1, max: 2000 }),
      readBytes: fc.integer({ min: 200, max: 3000 }),
      outputBytes: fc.integer({ min: 1, max: 3000 }),
      memberBytes: fc.integer({ min: 1, max: 20_000 }),
      sliceBytes: fc.integer({ min: 10_000, max: 200_000 }),
      stripeCount: fc.integer({ min: 1, max: 3 }),
      mayUseRamPool: fc.boolean(),
      pass2ArenaBytes: fc.integer({ min: 48 * 1024, max: 100 * 1024 }),
    })
    .map((tuning) => ({ ...tuning, inline: true })),
});

/** The same, on the calling thread or on threads. */
export const tightOnThreads: fc.Arbitrary<Settings> = fc
  .tuple(tightSettings, fc.boolean())
  .map(([settings, inline]) => ({ ...settings, tuning: { ...settings.tuning, inline } }));

/** One thread, and sizes as planned but for `tuning`. */
export function plainSettings(tuning: Tuning = {}, memoryBytes = 2 ** 25): Settings {
  return { workers: 1, memoryBytes, tempDirCount: 1, encodings: ['plain'], tuning: { inline: true, ...tuning } };
}
