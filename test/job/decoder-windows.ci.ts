/**
 * A job counts the window of its decoder as its own memory, even if a decoder with such a window read the header
 * before, or worked for an earlier job of this process. The --memory that a message names is enough.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { blockHeader } from '../formats/codecs/zstd-samples.mjs';
import { orderRecords, recordsOf } from '../laws/reference-order.js';

const directory = useTestDirectory();

const MIB = 2 ** 20;
const WINDOW_MEBIBYTES = 128;
/** Longer than what is looked at of a file before its decoder is asked for a window. */
const HEADER = Buffer.alloc(9000, 'a header ');
HEADER.write('\n', HEADER.byteLength - 1);
const RECORDS = Buffer.from(Array.from({ length: 1000 }, (_, i) => `record ${i}\n`).join(''));

/** A frame with a window of 128 MiB that does not say how long it is, of two blocks. */
function writeInputs(count: number): string[] {
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 17 * 8]);
  const blocks = [HEADER, RECORDS].map((block, i) =>
    Buffer.concat([Uint8Array.from(blockHeader(block.byteLength, 0, i === 1)), block]),
  );
  return Array.from({ length: count }, (_, i) => {
    const path = directory.path(`in-${i}.zst`);
    writeFileSync(path, Buffer.concat([header, ...blocks]));
    return path;
  });
}

const oneLine = { lines: 1 } as const;

describe.each([
  ['on the calling thread', true],
  ['on threads', false],
])('%s a window of 128 MiB', (_, inline) => {
  async function expectOutput(inputs: readonly string[], memoryBytes: number, header?: typeof oneLine) {
    const output = directory.path('out');
    const options = { inputs, output, force: true, seed: 's', workers: 2, tempDirs: [directory.temp], memoryBytes };
    await shuffle({ ...options, ...(header && { header }) }, { inline });
    const [head, records] = header ? [HEADER, RECORDS] : [Buffer.alloc(0), Buffer.concat([HEADER, RECORDS])];
    const ordered = orderRecords(
      inputs.map(() => recordsOf(records, 0x0a)),
      's',
      inputs.map(() => head.byteLength),
    );
    expect(readFileSync(output).equals(Buffer.concat([head, ...ordered]))).toBe(true);
  }

  /** The budget that the message names. */
  async function refusedWith(inputs: readonly string[], memoryBytes: number, header?: typeof oneLine): Promise<number> {
    const refusal: unknown = await expectOutput(inputs, memoryBytes, header).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'ERR_MEMORY_BUDGET' });
    return Number(/expected `memoryBytes` of at least (\d+)M$/.exec(String(refusal))?.[1]) * MIB;
  }

  it.each([
    ['with a header', oneLine],
    ['without', undefined],
  ])('fits the budget that is asked for, at once, %s', async (__, header) => {
    const inputs = writeInputs(1);
    for (const mebibytes of [32, WINDOW_MEBIBYTES, WINDOW_MEBIBYTES + 1]) {
      const enoughBytes = await refusedWith(inputs, mebibytes * MIB, header);
      expect(enoughBytes).toBeGreaterThan((WINDOW_MEBIBYTES + 1) * MIB);
      expect(enoughBytes).toBeLessThan(2.5 * WINDOW_MEBIBYTES * MIB);
      await expectOutput(inputs, enoughBytes, header);
    }
  });

  it('is counted in every job of a process', async () => {
    const inputs = writeInputs(1);
    await expectOutput(inputs, 1024 * MIB, oneLine);
    await expectOutput(inputs, 1024 * MIB);
    await refusedWith(inputs, (WINDOW_MEBIBYTES + 1) * MIB, oneLine);
    await refusedWith(inputs, (WINDOW_MEBIBYTES + 1) * MIB);
  });

  it('is counted once a thread, however many inputs have one', async () => {
    const inputs = writeInputs(6);
    const threads = inline ? 1 : 2;
    await expectOutput(inputs, (threads * (WINDOW_MEBIBYTES + 8) + 8) * MIB, oneLine);
  });
});
