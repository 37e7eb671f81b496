/**
 * Edge cases of record-based programs: no records, one record, only terminators, no last terminator, and inputs and
 * records as long as a buffer, one byte shorter and one byte longer, for every buffer. Each output is compared with the
 * reference order.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type RecordKind, shuffle } from '#src/index.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { atScale, sampled } from '../fixtures/scale.js';
import { TINY_BUFFERS } from '../fixtures/tiny-buffers.js';
import { tarOf } from '../formats/plain-tar.js';
import type { Encoding } from './encodings.js';
import { useFastDirectory } from './fast-directory.js';
import { referenceOrder } from './reference-order.js';
import { expectReport, shuffleToFile } from './shuffle-under-test.js';

const NEWLINE = 0x0a;
/** Of every buffer, where a test makes them small. */
const UNIT = 64;

const SMALL: Tuning = {
  pileCount: 3,
  bufferBytes: UNIT,
  readBytes: UNIT,
  outputBytes: UNIT,
  sliceBytes: UNIT,
  stripeCount: 2,
  mayUseRamPool: false,
};

/** Records of these lengths, terminators included, each with bytes of its own. */
function recordsOfLengths(lengths: readonly number[]): Buffer[] {
  return lengths.map((length, i) => {
    const text = `${i.toString(36)}${'abcdefghijklmnopqrstuvwxyz'.repeat(Math.ceil(length / 26))}`;
    return Buffer.from(`${text.slice(0, length - 1)}\n`);
  });
}

describe('boundaries', () => {
  const directory = useFastDirectory();

  async function expectReferenceOrder(inputs: readonly Buffer[], tuning: Tuning, encoding: Encoding = 'plain') {
    const expected = referenceOrder(inputs, 'boundary');
    const { bytes, report } = await shuffleToFile(directory, {
      inputs,
      seed: 'boundary',
      settings: {
        workers: 1,
        memoryBytes: 64 * 2 ** 20,
        tempDirCount: 1,
        encodings: [encoding],
        tuning: { ...tuning, inline: true },
      },
    });
    const what = `inputs of ${inputs.map(({ byteLength }) => byteLength)} bytes with ${JSON.stringify(tuning)}`;
    expect(bytes.equals(Buffer.concat(expected)), what).toBe(true);
    expectReport(report, expected);
  }

  const tunings: readonly (readonly [string, Tuning])[] = [
    ['tiny buffers', TINY_BUFFERS],
    ['small buffers', SMALL],
    ['everything in memory', { ...SMALL, mayUseRamPool: true }],
    ['one-byte buffers', { ...SMALL, bufferBytes: 1, outputBytes: 1, sliceBytes: 1 }],
  ];

  describe.each(sampled(tunings, 8))('with %s', (_, tuning) => {
    it.each<[string, string[]]>([
      ['no byte', ['']],
      ['no byte in any of three inputs', ['', '', '']],
      ['one record', ['only\n']],
      ['one record without a newline', ['only']],
      ['one empty record', ['\n']],
      ['one byte that is not a newline', ['x']],
      ['only newlines', ['\n'.repeat(300)]],
      ['no newline at the end of any input', ['a\nb', 'c', 'd\ne']],
      ['carriage returns', ['a\r\nb\r\n\r\n\rc\r']],
      ['NUL and the highest byte', ['\0\n\0\0\n\u00ff\u00ff\n\0\u00ff']],
      ['empty inputs between others', ['', 'a\nb\n', '', 'c\n', '']],
      ['the same record many times', ['same\n'.repeat(200)]],
    ])('keeps %s', async (_what, texts) => {
      const inputs = texts.map((text) => Buffer.from(text, 'latin1'));
      for (const encoding of sampled(['plain', 'gzip', 'gzip members', 'bgzf'] as const, 2, 0, 2)) {
        await expectReferenceOrder(inputs, tuning, encoding);
      }
    });
  });

  const large = { bufferBytes: 4096, readBytes: 4096, outputBytes: 4096, sliceBytes: 2 ** 20 };
  const buffers = ['bufferBytes', 'readBytes', 'outputBytes', 'sliceBytes'] as const;

  describe.each(sampled([...buffers, 'all of them'] as const, 4))('an input as long as %s', (buffer) => {
    const tuning: Tuning = buffer === 'all of them' ? SMALL : { ...SMALL, ...large, [buffer]: UNIT };

    it.each(sampled([1, 2, 7, UNIT - 12, UNIT], 2, 0, 2))(
      'keeps records of %i bytes, to the byte',
      async (recordBytes) => {
        for (const units of atScale([1], [1, 2], [1, 2, 5])) {
          for (const more of [-1, 0, 1]) {
            const byteLength = units * UNIT + more;
            const records = recordsOfLengths(Array(Math.ceil(byteLength / recordBytes)).fill(recordBytes));
            // Cut anywhere: mostly without a newline at the end.
            const input = Buffer.concat(records).subarray(0, byteLength);
            await expectReferenceOrder([input], tuning);
            await expectReferenceOrder([input, input], tuning, 'gzip members');
            await expectReferenceOrder([input], tuning, 'bgzf');
          }
        }
      },
    );
  });

  it.each(sampled([0, 1, 5], 3, 1))(
    'keeps a record around the length of a buffer, after %i short ones',
    async (before) => {
      // 12 bytes of header go with a record into its pile.
      for (let longBytes = UNIT - 14; longBytes <= UNIT + 2; longBytes++) {
        const records = recordsOfLengths([...Array(before).fill(3), longBytes, 3, longBytes, longBytes, 5]);
        const input = Buffer.concat(records);
        await expectReferenceOrder([input], { ...SMALL, pileCount: 1 });
        await expectReferenceOrder([input.subarray(0, -1)], { ...SMALL, sliceBytes: 2 ** 20 });
      }
    },
  );

  it('keeps a record that several slices lie in, wherever they are cut', async () => {
    const input = Buffer.concat(recordsOfLengths([10, 200, 1, 1, 90, 3]));
    for (let sliceBytes = 1; sliceBytes <= input.byteLength + 1; sliceBytes += atScale(40, 7, 1)) {
      await expectReferenceOrder([input], { ...SMALL, sliceBytes });
      await expectReferenceOrder([input.subarray(0, -1)], { ...SMALL, sliceBytes, readBytes: 2 });
    }
  });

  it('keeps as many records as are marked at one time, one less and one more', async () => {
    for (const count of sampled([1023, 1024, 1025, 2047, 2048, 2049], 2)) {
      const input = Buffer.from(Array.from({ length: count }, (_, i) => `${i}\n`).join(''));
      await expectReferenceOrder([input], {});
      await expectReferenceOrder([Buffer.alloc(count, NEWLINE)], {});
    }
  });

  it('keeps a record that ends as far behind its slice as is read at one time', async () => {
    for (const behindBytes of [65_535, 65_536, 65_537, 131_072]) {
      const sliceBytes = 1000;
      const input = Buffer.concat(recordsOfLengths([sliceBytes - 1, 1 + behindBytes, 10, 20]));
      await expectReferenceOrder([input], { sliceBytes: input.byteLength / Math.round(input.byteLength / sliceBytes) });
    }
  });

  it('keeps inputs as long as what is compressed and decoded at one time', async () => {
    const pieceBytes = 2 ** 20;
    for (const byteLength of sampled([pieceBytes - 1, pieceBytes, pieceBytes + 1, 2 * pieceBytes], 2)) {
      const records = recordsOfLengths(Array(Math.ceil(byteLength / 1024)).fill(1024));
      await expectReferenceOrder([Buffer.concat(records).subarray(0, byteLength)], {}, 'gzip');
    }
    for (const byteLength of sampled([pieceBytes - 1, pieceBytes, pieceBytes + 1], 2, 1)) {
      await expectReferenceOrder([Buffer.concat(recordsOfLengths([5, byteLength, 7]))], {}, 'gzip');
    }
  });

  describe.each<[string, Tuning]>([
    ['small buffers', SMALL],
    ['buffers as planned', {}],
  ])('the longest record accepted, with %s', (_, tuning) => {
    const LONGEST = 200;

    /** @returns records of the output; rejects as the job does. */
    async function countRecords(input: Buffer, records?: RecordKind): Promise<number> {
      const options = {
        inputs: [directory.path('in')],
        output: directory.path('out-longest'),
        tempDirs: [directory.temp],
        records,
      };
      writeFileSync(options.inputs[0] ?? '', input);
      const report = await shuffle({ ...options, maxRecordBytes: LONGEST, workers: 1, memoryBytes: 2 ** 24 }, tuning);
      rmSync(options.output);
      return report.records;
    }

    it.each(sampled([0, 1, 7], 3, 1))(
      'has as many bytes as the limit, its terminator counted, after %i others',
      async (before) => {
        const others = Array(before).fill(5);
        for (const encode of [(bytes: Buffer) => bytes, (bytes: Buffer) => gzipSync(bytes)]) {
          const bytesOf = (...lengths: number[]) => Buffer.concat(recordsOfLengths([...others, ...lengths]));
          expect(await countRecords(encode(bytesOf(LONGEST, 3, LONGEST)))).toBe(before + 3);
          expect(await countRecords(encode(bytesOf(LONGEST).subarray(0, -1)))).toBe(before + 1);
          const at = 5 * before;
          for (const [tooLong, position] of [
            [bytesOf(LONGEST + 1, 3), at],
            [bytesOf(3, LONGEST + 1).subarray(0, -1), at + 3],
            [bytesOf(3, 5000, 3), at + 3],
          ] as const) {
            await expect(countRecords(encode(tooLong))).rejects.toMatchObject({
              code: 'ERR_RECORD_TOO_LONG',
              message: expect.stringContaining(`the record at byte ${position} is longer than the ${LONGEST} bytes`),
            });
          }
        }
      },
    );

    it('may be one whose end shows only by what is behind it: paragraphs', async () => {
      const paragraph = (length: number) => `${'p'.repeat(length - 4)}\r\n\r\n`;
      const paragraphs = { by: 'paragraphs' } as const;
      for (const text of [paragraph(LONGEST).repeat(9), `${paragraph(LONGEST)}\rx`, paragraph(LONGEST).slice(0, -2)]) {
        const count = await countRecords(Buffer.from(text), paragraphs);
        expect(count).toBe(Math.ceil(text.length / LONGEST));
      }
      const tooLong = Buffer.from(paragraph(LONGEST) + paragraph(LONGEST + 1));
      await expect(countRecords(tooLong, paragraphs)).rejects.toMatchObject({ code: 'ERR_RECORD_TOO_LONG' });
    });
  });

  describe.each<[string, Tuning]>([
    ['small buffers', SMALL],
    ['buffers as planned', {}],
  ])('a tar file, with %s,', (_, tuning) => {
    const LONGEST = 2048;

    function countSamples(input: Buffer): Promise<number> {
      const [inputs, output] = [[directory.path('in.tar')], directory.path('out.tar')];
      writeFileSync(inputs[0] ?? '', input);
      const options = { inputs, output, force: true, tempDirs: [directory.temp], workers: 1, memoryBytes: 2 ** 24 };
      const records = { by: 'webdataset' } as const;
      return shuffle({ ...options, records, maxRecordBytes: LONGEST }, tuning).then((report) => report.records);
    }

    it('may have samples as long as the limit, whatever is said of the next', async () => {
      const samplesOf = (...names: readonly string[]) =>
        names.map((name) => ({ name, data: Buffer.alloc(1536), dialect: 'ustar' as const }));
      const samples = samplesOf('0.a', '1.a', '2.a');
      const directories = Array.from({ length: 9 }, (_, i) => ({ name: `${i}/` }));
      const said = { name: '4.a', data: Buffer.alloc(100), dialect: 'pax' as const };
      const others = [...samplesOf('5.a', '6.a', '7.a'), { ...said, name: '8.a' }];
      expect(await countSamples(tarOf([...samples, said, ...others]))).toBe(8);
      expect(await countSamples(tarOf([...samples, { name: '4/' }, { ...said, data: Buffer.alloc(0) }]))).toBe(4);
      for (const tooLong of [
        tarOf([...samples, { name: '4.a', data: Buffer.alloc(1537) }]),
        tarOf([...directories, ...samples]),
        tarOf([...samples, ...directories]),
      ]) {
        await expect(countSamples(tooLong)).rejects.toThrow(/longer than .*`maxRecordBytes`/);
      }
    });

    it('may have any number of zero blocks at its end, and bytes as well', async () => {
      for (const zeroBytes of sampled([512, 513, 1024, LONGEST - 1, LONGEST, 10_240, 10_000_001], 2, 1)) {
        const input = Buffer.concat([tarOf([{ name: '0.a' }, { name: '1.a' }], 0), Buffer.alloc(zeroBytes)]);
        for (const encode of [(bytes: Buffer) => bytes, (bytes: Buffer) => gzipSync(bytes)]) {
          expect(await countSamples(encode(input))).toBe(2);
        }
        const behind = Buffer.concat([input, Buffer.of(1)]);
        await expect(countSamples(behind)).rejects.toThrow(`byte ${input.byteLength} lies after the zero blocks`);
      }
    });
  });
});
