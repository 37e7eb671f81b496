/**
 * Compressed inputs that are truncated, damaged or followed by other bytes: one line with file and byte, exit code 3,
 * and no change; read whole, cut at their members and through a pipe. The tests need no program.
 */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Tuning } from '#src/plan/memory-plan.js';
import { expectRefusal } from '../cli/refusal.js';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { useFedPipes } from '../fixtures/fed-pipes.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { bgzfMember } from './codecs/bgzf-file.js';
import { declared, severalBlocks } from './codecs/zstd-samples.mjs';

const directory = useMemoryDirectory();
const pipeOf = useFedPipes(directory);

interface Format {
  readonly name: string;
  /** In messages. */
  readonly codec: 'gzip' | 'zstd';
  readonly members: readonly Uint8Array[];
  /** Of the checksum and of the size that a member states, both counted from its end, or else from its beginning. */
  readonly checksumAt: number;
  readonly sizeAt: number;
}

const text = Buffer.from(Array.from({ length: 3000 }, (_, i) => `${(i * 2_654_435_761) % 4_294_967_296}\n`).join(''));
const parts = [text.subarray(0, 999), text.subarray(999, 25_000), text.subarray(25_000)];

const FORMATS: readonly Format[] = [
  { name: 'gzip', codec: 'gzip', members: parts.map((part) => gzipSync(part)), checksumAt: -8, sizeAt: -4 },
  { name: 'BGZF', codec: 'gzip', members: parts.map((part) => bgzfMember(part)), checksumAt: -8, sizeAt: -4 },
  {
    name: 'zstd',
    codec: 'zstd',
    members: [declared.stored, severalBlocks.stored, declared.stored],
    checksumAt: -4,
    sizeAt: 5,
  },
];

interface Damage {
  readonly what: string;
  readonly of: (whole: Buffer, last: Uint8Array, format: Format) => Buffer;
  /** Behind the file's name, `CODEC` for that of the format. */
  readonly line: RegExp;
}

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 0x55;
  return copy;
}

const TRUNCATED = /the CODEC data ends at byte \d+ \(compressed\) inside a (member|frame): the file is truncated; /;
const CORRUPT = /the CODEC data is corrupt between byte \d+ and byte \d+ \(compressed\): .+; check it with `CODEC -t`$/;
const OTHER_SIZE = /(CODEC data is corrupt between byte \d+|CODEC frame at byte \d+ \(compressed\) says that it holds)/;
const BEHIND = /byte \d+ \(compressed\) lies after the last CODEC (member|frame)|the CODEC data is corrupt between/;

const DAMAGES: readonly Damage[] = [
  { what: 'cut off', of: (whole) => whole.subarray(0, whole.byteLength >> 1), line: TRUNCATED },
  { what: 'cut off in the first header', of: (whole) => whole.subarray(0, 5), line: TRUNCATED },
  { what: 'cut off in the last byte', of: (whole) => whole.subarray(0, -1), line: TRUNCATED },
  { what: 'cut off in a later header', of: (whole, last) => whole.subarray(0, 4 - last.byteLength), line: TRUNCATED },
  { what: 'damaged in the middle', of: (whole) => flipped(whole, whole.byteLength >> 1), line: CORRUPT },
  {
    what: 'with a wrong checksum',
    of: (whole, _, { checksumAt }) => flipped(whole, whole.byteLength + checksumAt),
    line: CORRUPT,
  },
  {
    what: 'with a wrong size',
    of: (whole, last, { sizeAt }) =>
      flipped(whole, sizeAt < 0 ? whole.byteLength + sizeAt : whole.byteLength - last.byteLength + sizeAt),
    line: OTHER_SIZE,
  },
  { what: 'followed by text', of: (whole) => Buffer.concat([whole, Buffer.from('text\n')]), line: BEHIND },
  {
    what: 'followed by zeros and text',
    of: (whole) => Buffer.concat([whole, Buffer.alloc(1000), Buffer.from('text\n')]),
    line: BEHIND,
  },
];

const INLINE: Partial<Tuning> = { inline: true };

/** The bad input comes behind a good one; what exists would be replaced if all went well. */
function refuse(input: string, line: RegExp, tuning: Partial<Tuning>): Promise<void> {
  const output = directory.path('existing');
  const argv = ['-q', directory.path('good'), input, '-T', directory.temp, '-o', output, '--force', '-S', '64M'];
  return expectRefusal(directory.path(), () => commandInProcess(argv, { tuning }), 3, line);
}

beforeEach(() => {
  writeFileSync(directory.path('good'), 'a\nb\n');
  writeFileSync(directory.path('existing'), 'precious\n');
});

describe.each(FORMATS)('$name', (format) => {
  const last = format.members.at(-1) ?? expect.fail('no members');

  it.each(sampled(DAMAGES, 2))('$what is refused, with its place', async ({ of, line }) => {
    const input = directory.path('in');
    writeFileSync(input, of(Buffer.concat(format.members), last, format));
    const lineOf = (path: string) =>
      new RegExp(`^pileshuf: ${path}: .*(${line.source})`.replaceAll('CODEC', format.codec));
    await refuse(input, lineOf(input), INLINE);
    for (const sliceBytes of [1, 1000]) await refuse(input, lineOf(input), { ...INLINE, sliceBytes });
    const pipe = pipeOf(input);
    await refuse(pipe, lineOf(pipe), INLINE);
  });
});
