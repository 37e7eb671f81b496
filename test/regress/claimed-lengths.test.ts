/**
 * A file of a few bytes that claims a record of nearly --max-record costs no more memory than one that claims little:
 * pileshuf does not allocate memory for bytes that do not exist.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { seen } from '../fixtures/command-outcome.js';
import { runCommand } from '../fixtures/run-command.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { npyHeaderOf } from '../formats/any-headers.js';
import { tfrecordHead } from '../formats/plain-framings.js';
import { tarHeader } from '../formats/plain-tar.js';

const directory = useTestDirectory();
const MIB = 2 ** 20;
const GIB = 2 ** 30;
const reporter = new URL('report-peak-memory.mjs', import.meta.url).href;

/** As `--length-prefixed` has it, without a byte of what is claimed. */
function prefixOf(byteLength: number, kind: 'u32le' | 'u32be' | 'u64le'): Buffer {
  const prefix = Buffer.alloc(kind === 'u64le' ? 8 : 4);
  if (kind === 'u32be') prefix.writeUInt32BE(byteLength);
  else prefix.writeUInt32LE(byteLength);
  return prefix;
}

/** Claims `byteLength` bytes, in five bytes. */
function varintOf(byteLength: number): Buffer {
  return Buffer.from([0, 1, 2, 3, 4].map((i) => ((byteLength / 2 ** (7 * i)) & 0x7f) | (i < 4 ? 0x80 : 0)));
}

const CLAIMS: readonly (readonly [what: string, words: readonly string[], claim: (byteLength: number) => Buffer])[] = [
  ['a record with u32le', ['--length-prefixed', 'u32le'], (bytes) => prefixOf(bytes, 'u32le')],
  ['a record with u32be', ['--length-prefixed', 'u32be'], (bytes) => prefixOf(bytes, 'u32be')],
  ['a record with u64le', ['--length-prefixed', 'u64le'], (bytes) => prefixOf(bytes, 'u64le')],
  ['a record with varint', ['--length-prefixed', 'varint'], varintOf],
  ['a TFRecord', ['--tfrecord'], (bytes) => tfrecordHead(BigInt(bytes))],
  ['a .npy row', ['--npy'], (bytes) => npyHeaderOf('|u1', 1, [bytes])],
  [
    'a tar member',
    ['--webdataset'],
    (byteLength) => tarHeader({ name: '0.a', byteLength, type: '0', isBase256: true }),
  ],
];

/** What the command takes at most, with a file that ends behind the claim and some more bytes. */
async function measurePeak(words: readonly string[], claim: Buffer): Promise<number> {
  writeFileSync(directory.path('in'), Buffer.concat([claim, Buffer.alloc(30, 'x')]));
  const { exitCode, lines } = seen(
    await runCommand(
      ['-q', ...words, '-T', directory.temp, directory.path('in'), '-o', directory.path('out'), '-S', '1536M'],
      { nodeOptions: ['--import', reporter], env: { PEAK_MEMORY_FILE: directory.path('peak') } },
    ),
  );
  expect({ exitCode, lines }).toEqual({
    exitCode: 3,
    lines: [expect.stringMatching(/truncated|is the end of the input/)],
  });
  return Number(readFileSync(directory.path('peak'), 'utf8'));
}

describe.skipIf(process.platform !== 'linux')('a file that claims nearly 1 GiB, where peak memory is in /proc:', () => {
  let usual = 0;
  beforeEach(async () => {
    usual = usual || (await measurePeak(['--length-prefixed', 'u32le'], prefixOf(1000, 'u32le')));
  });

  it.each(CLAIMS)('%s takes no more memory than a small one', async (_, words, claim) => {
    // Room for what the format has besides.
    const peak = await measurePeak(words, claim(GIB - 2048));
    expect(peak).toBeLessThan(usual + 32 * MIB);
  });
});
