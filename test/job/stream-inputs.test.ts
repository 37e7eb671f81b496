/**
 * Inputs that are pipes: the same records and the same order as from a file, whatever the pieces in
 * which the bytes come, plain or compressed.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { tuningUnderTest } from '../fixtures/tuning-under-test.js';
import { referenceOrder } from '../laws/reference-order.js';

const lines = Array.from({ length: 500 }, (_, i) => `line ${i}\n`);
const text = Buffer.from([...lines, 'no newline at the end'].join(''));

describe('a pipe as input', () => {
  const directory = useTestDirectory();

  /** Feeds `bytes` through a pipe, the first `head` of them some time before the rest. */
  async function shuffleThroughPipe(bytes: Uint8Array, head: number): Promise<Buffer> {
    writeFileSync(directory.path('bytes'), bytes);
    execFileSync('mkfifo', [directory.path('pipe')]);
    const script = '(head -c "$1" bytes; sleep 0.1; tail -c "+$(($1 + 1))" bytes) > pipe';
    const writer = spawn('sh', ['-c', script, 'sh', String(head)], { cwd: directory.path(), stdio: 'inherit' });
    const ended = once(writer, 'exit');
    const output = directory.path('out');
    await shuffle(
      {
        inputs: [directory.path('pipe')],
        output,
        seed: 'pipe',
        tempDirs: [directory.temp],
        memoryBytes: 16 * 2 ** 20,
        workers: 1,
      },
      { ...tuningUnderTest, inline: true },
    );
    await ended;
    return readFileSync(output);
  }

  const expected = Buffer.concat(referenceOrder([text], 'pipe'));

  it.each([0, 1, 2, 100, text.byteLength])(
    'gives the order of its bytes when the first %i come alone',
    async (head) => {
      expect((await shuffleThroughPipe(text, head)).equals(expected)).toBe(true);
    },
  );

  it.each([0, 1, 2, 15, 100])('is recognised as gzip when the first %i bytes come alone', async (head) => {
    expect((await shuffleThroughPipe(gzipSync(text), head)).equals(expected)).toBe(true);
  });

  it('may be empty', async () => {
    expect(await shuffleThroughPipe(Buffer.alloc(0), 0)).toHaveLength(0);
  });
});
