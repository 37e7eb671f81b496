/**
 * Compressed inputs that are read from any member on give the same records, byte for byte, for any members and any
 * cuts. Members that lie about their sizes end the job or change nothing.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError } from '#src/errors.js';
import type { FramingSpec } from '#src/formats/framing-table.js';
import { shuffle } from '#src/index.js';
import { atScale, sampled } from '../fixtures/scale.js';
import { BGZF_END, bgzfFile, bgzfMember, bgzfOf, piecesOf } from '../formats/codecs/bgzf-file.js';
import { zstdOf } from '../formats/codecs/zstd-file.js';
import { splitPlainly } from '../formats/plain-framings.js';
import { useFastDirectory } from './fast-directory.js';
import { recordKindOf } from './record-kind-of.js';
import { orderRecords } from './reference-order.js';

const directory = useFastDirectory();

interface MemberJob {
  readonly spec: FramingSpec;
  readonly stored: Uint8Array;
  readonly sliceBytes: number;
  readonly workers?: number | undefined;
}

async function outputOf({ spec, stored, sliceBytes, workers }: MemberJob): Promise<Buffer> {
  writeFileSync(directory.path('in'), stored);
  const options = { inputs: [directory.path('in')], output: directory.path('out'), force: true, seed: 's' };
  const tuning = { sliceBytes, readBytes: 64, inline: workers === undefined };
  await shuffle(
    {
      ...options,
      records: recordKindOf(spec),
      workers: workers ?? 1,
      memoryBytes: 2 ** 25,
      tempDirs: [directory.temp],
    },
    tuning,
  );
  return readFileSync(directory.path('out'));
}

const inOrder = (spec: FramingSpec, bytes: Buffer) => Buffer.concat(orderRecords([splitPlainly(spec, bytes)], 's'));

const contents: readonly [FramingSpec, Buffer][] = [
  [{ kind: 'lines', value: 1 }, Buffer.from('one\ntwo\n\nthree, which is longer\n'.repeat(3))],
  [{ kind: 'lines', value: 1 }, Buffer.from(`\n\na record that most members lie in ${'x'.repeat(60)}\nb\nno end`)],
  [{ kind: 'delimiter', value: '0d0a' }, Buffer.from('x\r\n\r\n\n\ryy\r\n'.repeat(6))],
  [{ kind: 'delimiter', value: '616263' }, Buffer.from('aababcxabcabc'.repeat(6))],
  [{ kind: 'size', value: 7 }, Buffer.from('1234567'.repeat(12))],
  [{ kind: 'size', value: 1 }, Buffer.from('123456789'.repeat(5))],
];

const formats = [
  ['BGZF', bgzfOf],
  ['zstd', zstdOf],
] as const;

describe.each(
  formats.flatMap(([format, write]) =>
    sampled(contents, 6).map(([spec, bytes]) => [format, spec, bytes, write] as const),
  ),
)('in members of %s, records of %j', (_, spec, bytes, write) => {
  const expected = inOrder(spec, bytes);

  it('are the same with members of every size, wherever they are cut', async () => {
    for (
      let memberBytes = 1;
      memberBytes <= bytes.byteLength + 1;
      memberBytes += memberBytes < atScale(2, 10) ? 1 : atScale(60, 60, 17)
    ) {
      const stored = write(bytes, [memberBytes]);
      for (const sliceBytes of [1, 3, 2 * memberBytes + 1, bytes.byteLength / 2]) {
        const output = await outputOf({ spec, stored, sliceBytes });
        expect(output.toString('latin1'), `members of ${memberBytes}, slices of ${sliceBytes}`).toBe(
          expected.toString('latin1'),
        );
      }
    }
  });

  it('are the same with members of all sizes and empty ones between, on threads as well', async () => {
    const sizes = fc
      .array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 40 })), { minLength: 1, maxLength: 9 })
      .filter((all) => all.some((size) => size > 0));
    // To start threads takes longer than the rest of such a job.
    const workers = fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, fc.constantFrom(1, 2, 4));
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 1, max: 60 }), workers, async (memberBytes, sliceBytes, ofWorkers) => {
        const job = { spec, stored: write(bytes, memberBytes), sliceBytes, workers: ofWorkers };
        expect((await outputOf(job)).toString('latin1')).toBe(expected.toString('latin1'));
      }),
      { numRuns: atScale(2, 3, 30) },
    );
  });
});

describe('members that do not hold what they say', () => {
  const spec: FramingSpec = { kind: 'size', value: 4 };
  const bytes = Buffer.from(Array.from({ length: 20 }, (_, i) => `${i + 1000}`).join(''));

  it('never lose or double a record, whatever is changed', async () => {
    const whole = bgzfFile(piecesOf(bytes, [8]));
    const change = fc.record({ at: fc.nat({ max: whole.byteLength - 1 }), value: fc.nat({ max: 255 }) });
    const expected = inOrder(spec, bytes);
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 2 }),
        fc.constantFrom(1, 8, 16, 24),
        async (changes, sliceBytes) => {
          const stored = Buffer.from(whole);
          for (const { at, value } of changes) stored[at] = value;
          const output = await outputOf({ spec, stored, sliceBytes }).catch((error: unknown) => error);
          if (output instanceof Buffer) expect(output.toString()).toBe(expected.toString());
          else expect(output).toBeInstanceOf(InputError);
        },
      ),
      {
        numRuns: atScale(4, 13, 200),
        // An extra field that reaches into the members behind it, up to the content of one.
        examples: [[[{ at: 10, value: 219 }], 1]],
      },
    );
  });

  it('never lose or double a record, wherever one of them says that it ends', async () => {
    const contents = piecesOf(bytes, [8]);
    const lengths = contents.map((content) => bgzfMember(content).byteLength);
    const expected = inOrder(spec, bytes);
    for (const [i, length] of sampled([...lengths.entries()], 8)) {
      const lies = [
        -1,
        1,
        -length + 1,
        ...lengths.slice(i + 1).map((_, j) => lengths.slice(i + 1, i + 2 + j).reduce((a, b) => a + b, 0)),
      ];
      for (const storedBytes of lies) {
        const members = contents.map((content, j) => bgzfMember(content, j === i ? { storedBytes } : {}));
        const job = { spec, stored: Buffer.concat([...members, BGZF_END]), sliceBytes: 8 };
        const output = await outputOf(job).catch((error: unknown) => error);
        if (output instanceof Buffer) expect(output.toString()).toBe(expected.toString());
        else expect(output).toMatchObject({ code: 'ERR_INPUT_CORRUPT' });
      }
    }
  });
});
