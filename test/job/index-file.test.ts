/**
 * Making an index: refused files and options, and the promise that an index is complete or does not exist.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { threadId } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { indexFile, openIndexed, PileshufError } from '#src/index.js';
import { type FileOwner, formatOwnerName, identifyThisProcess } from '#src/machine/file-owner.js';
import { errorOf } from '../fixtures/error-of.js';
import { interrupted } from '../fixtures/interrupted-file-calls.js';
import { failWith, useFileCalls } from '../fixtures/replaced-file-calls.js';
import { zstdFrameOf, zstdWithoutSizesOf } from '../formats/codecs/zstd-file.js';
import { useFastDirectory } from '../laws/fast-directory.js';

const directory = useFastDirectory();
const fileCalls = useFileCalls();
const file = () => directory.path('data', 'in');
const indexPath = () => `${file()}.pileshuf-index`;

function write(content: string | Uint8Array): void {
  rmSync(directory.path('data'), { recursive: true, force: true });
  mkdirSync(directory.path('data'));
  writeFileSync(file(), content);
}

const attempts = () => readdirSync(directory.path('data')).filter((name) => name.startsWith('pileshuf-index+'));

async function refusal(options: Parameters<typeof indexFile>[1] = {}) {
  const { kind, code, message } = await errorOf(indexFile(file(), options, { inline: true }));
  expect(attempts()).toEqual([]);
  return { kind, code, message };
}

describe('indexFile', () => {
  it.each([
    ['a directory', () => directory.path('data'), /is a directory/],
    ['a missing file', () => directory.path('data', 'none'), /does not exist/],
    ['a device', () => '/dev/null', /is not a regular file/],
  ])('refuses %s', async (_, path, message) => {
    write('');
    await expect(indexFile(path())).rejects.toThrow(message);
  });

  it.each([
    ['gzip of one member', () => gzipSync('a\nb\n'), /gzip can only be decoded from its beginning.*bgzip/],
    ['bzip2', () => Buffer.from('BZh91AY&SY'), /bzip2 can only be decoded from its beginning/],
  ])('refuses %s, and says what to do', async (_, content, message) => {
    write(content());
    const { kind, message: told } = await refusal();
    expect(kind).toBe('usage');
    expect(told).toMatch(message);
  });

  it('refuses zstd that does not say its sizes', async () => {
    write(zstdWithoutSizesOf([Buffer.from('a\n')]));
    expect((await refusal()).message).toMatch(/not all of its zstd members say how many bytes they hold/);
  });

  it('refuses members so large that reading one record would take long', async () => {
    write(Buffer.concat([zstdFrameOf(Buffer.alloc(64 * 2 ** 20 + 1, 'x\n'))]));
    expect((await refusal()).message).toMatch(/holds 67108865 bytes and must be decoded as a whole/);
  });

  it('does not replace a file that is not an index', async () => {
    write('a\n');
    writeFileSync(indexPath(), 'a letter');
    expect(await refusal()).toMatchObject({ code: 'ERR_OUTPUT_EXISTS' });
    expect(readFileSync(indexPath(), 'utf8')).toBe('a letter');
    expect(await refusal({ index: directory.path('data') })).toMatchObject({ code: 'ERR_OUTPUT_EXISTS' });
  });

  it('stops its threads on a signal in the middle, and leaves no files', async () => {
    write('a line\n'.repeat(500_000));
    const stop = new AbortController();
    const onProgress = () => stop.abort('enough');
    const asked = indexFile(
      file(),
      { signal: stop.signal, onProgress, workers: 2 },
      { inline: false, sliceBytes: 2 ** 16 },
    );
    await expect(asked).rejects.toMatchObject({ code: 'ABORT_ERR', cause: 'enough' });
    expect(readdirSync(directory.path('data'))).toEqual(['in']);
  });

  it('may be made several times at once: the index is always complete', async () => {
    write('a\nb\n'.repeat(10_000));
    const done = await Promise.all([1, 2, 3].map(() => indexFile(file())));
    expect(done.map(({ records }) => records)).toEqual([20_000, 20_000, 20_000]);
    expect(readdirSync(directory.path('data')).sort()).toEqual(['in', 'in.pileshuf-index']);
    const records = openIndexed(file());
    expect(Buffer.from(await records.get(19_999)).toString()).toBe('b\n');
    await records.close();
  });

  it.each(['fails', 'ends'] as const)('leaves the old index or makes a new one, whichever call %s', async (how) => {
    write('a\nb\n');
    await indexFile(file(), { records: { by: 'size', recordBytes: 1 } }, { inline: true });
    const former = readFileSync(indexPath());
    let number = 1;
    for (; ; number++) {
      writeFileSync(indexPath(), former);
      const { isReached, error } = await interrupted(how, number, () => indexFile(file(), {}, { inline: true }));
      if (!isReached) {
        expect(error).toBeUndefined();
        // Earlier attempts left files, which this one removed.
        expect(attempts()).toEqual([]);
        break;
      }
      const records = openIndexed(file());
      expect([2, 4]).toContain(records.length);
      if (error === undefined) expect(records.length).toBe(2);
      else expect(error).toBeInstanceOf(PileshufError);
      await records.close();
      expect(attempts().length).toBeLessThanOrEqual(1);
      if (how === 'ends') continue;
      // If the attempt cannot be removed, the error says so.
      const told = error instanceof PileshufError ? error.cleanupErrors.length : 0;
      expect(attempts().length).toBeLessThanOrEqual(told);
    }
    expect(number).toBeGreaterThan(how === 'fails' ? 15 : 4);
    expect(existsSync(indexPath())).toBe(true);
  });
});

describe('indexFile, after killed attempts', () => {
  const { pid: endedPid } = spawnSync(process.execPath, ['-e', '']);
  const token = '00112233445566ff';

  /** Makes a file as a killed attempt leaves it. @returns its name. */
  function plant(owner: Partial<FileOwner>): string {
    const name = formatOwnerName('pileshuf-index', { ...identifyThisProcess(), threadId, token, ...owner });
    writeFileSync(directory.path('data', name), 'a part of an index');
    return name;
  }

  it('leaves files and directories that only have a similar name', async () => {
    write('a\n');
    const name = plant({ pid: endedPid });
    rmSync(directory.path('data', name));
    mkdirSync(directory.path('data', name));
    writeFileSync(directory.path('data', `${name}.bak`), 'of a user');
    await indexFile(file(), {}, { inline: true });
    expect(attempts()).toEqual([name, `${name}.bak`]);
  });

  it('makes an index even if it cannot list the directory', async () => {
    write('a\n');
    plant({ pid: endedPid });
    fileCalls.replace({ list: failWith('EACCES') });
    await indexFile(file(), {}, { inline: true });
    expect(existsSync(indexPath())).toBe(true);
    expect(attempts()).toHaveLength(1);
  });
});
