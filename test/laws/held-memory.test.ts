/**
 * A job whose memory for records fills up, at any moment: what is held by then is scattered from where it lies, and the
 * output has the same bytes. No input is read twice, not even a stream.
 */
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type JobProfile, type ShuffleOptions, shuffle } from '#src/index.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { atScale, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { encode } from './encodings.js';
import { referenceOrder } from './reference-order.js';

const directory = useMemoryDirectory();

/** Records of 5 to 900 bytes, and one that is longer than a region. */
const INPUTS = Array.from({ length: 3 }, (_, input) => {
  const lines = Array.from({ length: 300 }, (__, i) => `${input} ${i} ${'.'.repeat((i * 37) % 890)}\n`);
  lines.splice(150, 0, `${'x'.repeat(30_000)}\n`);
  return Buffer.from(lines.join(''));
});

const SIZES: Tuning = {
  hold: true,
  inline: true,
  pileCount: 5,
  bufferBytes: 4096,
  readBytes: 4096,
  outputBytes: 4096,
  sliceBytes: 20_000,
  regionBytes: 8192,
};

/** The kinds of tasks that the job did. */
async function shuffleIn(recordMemoryBytes: number, options: Partial<ShuffleOptions>, tuning: Tuning = {}) {
  const kinds = new Set<string>();
  const onProfile = (profile: JobProfile) => {
    for (const { kind } of profile.tasks) kinds.add(kind);
  };
  const output = directory.path('out');
  await shuffle(
    { inputs: [], output, seed: 's', force: true, memoryBytes: 64 * 2 ** 20, onProfile, ...options },
    { ...SIZES, ...tuning, recordMemoryBytes },
  );
  return { kinds, bytes: readFileSync(output) };
}

function written(encoding: 'plain' | 'gzip' | 'bgzf'): string[] {
  return INPUTS.map((bytes, i) => {
    writeFileSync(directory.path(`in-${i}`), encode(bytes, encoding));
    return directory.path(`in-${i}`);
  });
}

/** From too little for anything to more than enough. */
const MEMORIES = Array.from({ length: atScale(12, 60) }, (_, i) =>
  Math.round(240_000 + (i * 570_000) / atScale(12, 60)),
);

describe('the memory for records', () => {
  it.each(sampled(['gzip', 'plain', 'bgzf'] as const, 3))(
    'may fill up at any record of %s inputs',
    async (encoding) => {
      const inputs = written(encoding);
      const expected = Buffer.concat(referenceOrder(INPUTS, 's'));
      const outcomes = new Set<string>();
      for (const memoryBytes of MEMORIES) {
        const { kinds, bytes } = await shuffleIn(memoryBytes, { inputs });
        expect(bytes.equals(expected), `${memoryBytes} bytes`).toBe(true);
        outcomes.add(kinds.has('scatter-held') ? 'some slices were held' : kinds.has('hold') ? 'one way' : 'no hold');
      }
      expect(outcomes).toEqual(new Set(['one way', 'some slices were held']));
    },
  );

  it('may fill up on several threads', async () => {
    const inputs = written('plain');
    const expected = Buffer.concat(referenceOrder(INPUTS, 's'));
    for (const memoryBytes of atScale([450_000, 700_000], [400_000, 450_000, 500_000, 600_000, 700_000, 1_000_000])) {
      const { bytes } = await shuffleIn(memoryBytes, { inputs, workers: 2 }, { inline: false });
      expect(bytes.equals(expected), `${memoryBytes} bytes`).toBe(true);
    }
  });

  it('may fill up in the middle of a stream', async () => {
    const pipe = directory.path('pipe');
    execFileSync('mkfifo', [pipe]);
    const [input = Buffer.alloc(0)] = INPUTS;
    const expected = Buffer.concat(referenceOrder([input], 's'));
    writeFileSync(directory.path('in'), input);
    for (const memoryBytes of [210_000, 260_000, 600_000]) {
      const writer = spawn('sh', ['-c', `cat "${directory.path('in')}" > "${pipe}"`]);
      const { bytes } = await shuffleIn(memoryBytes, { inputs: [pipe] });
      expect(bytes.equals(expected), `${memoryBytes} bytes`).toBe(true);
      expect(writer.exitCode ?? 0).toBe(0);
    }
  });
});
