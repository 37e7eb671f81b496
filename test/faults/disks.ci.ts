/**
 * Disks that are full or read-only, under the temp data and under the output. The command ends with exit code 1 and one
 * line that names the disk's path and the reason, leaves nothing on either disk, and an existing output stays as it was.
 * Small file systems are tmpfs mounts. every-call-fails.test.ts has disks that break, test/job those that are seen to be
 * too small.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { shuffle } from '#src/index.js';
import { seen } from '../fixtures/command-outcome.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { reasonNotToMount, useMounts } from '../fixtures/mounts.js';
import { runCommand } from '../fixtures/run-command.js';
import { runShell } from '../fixtures/run-shell.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { makeExisting, smallSizes, writeInputs } from './small-job.js';

const directory = useTestDirectory();
const mountTmpfs = useMounts();

let inputs: string[] = [];
let output = '';
const existing = () => directory.path('existing');
let expectExistingUntouched: () => void;
beforeEach(() => {
  inputs = writeInputs(directory);
  output = directory.path('out');
  expectExistingUntouched = makeExisting(existing());
});

const OPTIONS = ['-q', '--workers', '2', '--seed', '1'];

function oneLine(exitCode: number, line: RegExp) {
  return { exitCode, lines: [expect.stringMatching(line)] };
}

/** An input that says little of how large it will be. */
function writeCompressed(decodedBytes: number): string {
  const path = directory.path('compressed.input');
  const line = `${'x'.repeat(99)}\n`;
  writeFileSync(path, gzipSync(line.repeat(decodedBytes / line.length)));
  return path;
}

const ALL_BYTES = 1_000_000;
const HALF_OF_IT = `size=${Math.ceil(ALL_BYTES / 2 / 4096) * 4}k`;

describe.skipIf(reasonNotToMount !== undefined)(`small disks ${reasonNotToMount ?? ''}`, () => {
  it.each([
    ['one file', []],
    ['shards', ['--shards', '2']],
  ])('ends with 1 when a compressed output does not fit: %s', async (_, shards) => {
    const small = mountTmpfs(directory.path('small'), 'size=24k');
    const argv = [...OPTIONS, ...inputs, '-T', directory.temp, '-o', `${small}/out`, '--compress', 'gzip', ...shards];
    const result = await runCommand(argv, { env: smallSizes() });
    expect(seen(result)).toEqual(oneLine(1, /^pileshuf: cannot write at byte \d+ of output .*: no space left/));
    expect(readdirSync(small)).toEqual([]);
  });

  it.each([
    ['on workers', false],
    ['inline', true],
  ])('ends when the temp disk fills up, %s', async (_, inline) => {
    const small = mountTmpfs(directory.path('small'), HALF_OF_IT);
    const argv = [...OPTIONS, writeCompressed(ALL_BYTES), '-T', small, '-o', existing(), '--force'];
    const result = await runCommand(argv, { env: smallSizes({ inline }) });
    expect(seen(result)).toEqual(
      oneLine(
        1,
        /^pileshuf: cannot write at byte \d+ of temp file .*\/small\/.*: no space left on the device; free some space, or start anew with other disks \(-T\)$/,
      ),
    );
    expect(readdirSync(small)).toEqual([]);
    expectExistingUntouched();
  });

  it('ends when the temp disk fills up while a pile is scattered again', async () => {
    // The stored records (12 bytes more each) fit with their index, and the same once more does not.
    const storedKib = Math.ceil((ALL_BYTES * 1.12) / 1024);
    const small = mountTmpfs(directory.path('small'), `size=${storedKib + 60}k`);
    const argv = [...OPTIONS, writeCompressed(ALL_BYTES), '-T', small, '-o', output];
    const sizes = smallSizes({ pileCount: 1, stripeCount: 1, sliceBytes: 2 * ALL_BYTES, pass2ArenaBytes: 80 * 1024 });
    const result = await runCommand(argv, { env: sizes });
    expect(seen(result)).toEqual(oneLine(1, /temp file .*-rescatter\d+.*: no space left on the device/));
    expect(readdirSync(small)).toEqual([]);
    expect(existsSync(output)).toBe(false);
  });

  it.each([
    ['one file', [], 'out'],
    ['shards in a new directory', ['--shards', '3'], 'shards'],
    ['shards in an existing directory', ['--shards', '3'], ''],
  ])('ends when the output disk fills up: %s', async (_, options, name) => {
    const small = mountTmpfs(directory.path('small'), HALF_OF_IT);
    const argv = [...OPTIONS, writeCompressed(ALL_BYTES), '-T', directory.temp, '-o', `${small}/${name}`, ...options];
    const result = await runCommand(argv, { env: smallSizes() });
    expect(seen(result)).toEqual(oneLine(1, /^pileshuf: cannot write .*output .*: no space left on the device/));
    expect(readdirSync(small)).toEqual([]);
  });

  it('says while it reads a stream that the output disk will not hold it', async () => {
    const small = mountTmpfs(directory.path('small'), 'size=1m');
    const pipe = makePipe(directory.path('pipe'));
    const warnings: string[] = [];
    const feeder = open(pipe, 'w').then(async (file) => {
      await file.write('a line of nineteen\n'.repeat(200_000));
      // The job looks once a second.
      const isTold = () => warnings.some((line) => line.includes('there will not be'));
      await vi.waitUntil(isTold, { timeout: 300_000 }).finally(() => file.close());
    });
    const onWarning = (line: string) => warnings.push(line);
    const job = shuffle({ inputs: [pipe], output: `${small}/out`, tempDirs: [directory.temp], onWarning });
    await expect(job).rejects.toMatchObject({ code: 'ERR_NO_SPACE' });
    await feeder;
    expect(warnings.join('\n')).toMatch(
      /^the inputs read so far hold [\d.]+ MB, and there will not be enough space for output on /m,
    );
  });

  it('says that a temp directory cannot be written', async () => {
    const readOnly = mountTmpfs(directory.path('read-only'), 'ro');
    const result = await runCommand([...OPTIONS, ...inputs, '-T', readOnly, '-o', output], {
      env: smallSizes({ mayUseRamPool: true }),
    });
    expect(seen(result)).toEqual(
      oneLine(1, /^pileshuf: cannot make a directory in the temp directory .*: the file system is read-only; .*-T/),
    );
    expect(existsSync(output)).toBe(false);
  });
});

describe('devices that are full', () => {
  it.each([
    ['as -o', '"$@" -o /dev/full', '/dev/full'],
    ['as standard output', '"$@" > /dev/full', 'standard output'],
  ])('ends with 1 on /dev/full %s', async (_, script, name) => {
    for (const inline of [true, false]) {
      const argv = [...OPTIONS, ...inputs, '-T', directory.temp];
      const result = await runShell(script, argv, smallSizes({ inline }));
      expect(seen(result)).toEqual(
        oneLine(1, new RegExp(`^pileshuf: cannot write to (output )?${name}: no space left on the device`)),
      );
    }
  });
});
