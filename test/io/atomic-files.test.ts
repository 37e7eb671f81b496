/**
 * A small file gets its name in one step, once its bytes are durable: whichever call fails, the name has all of the
 * former bytes or all of the new ones.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PileshufError, SystemError } from '#src/errors.js';
import { attemptName, createDurably, isAttemptName, readSmallFile, replaceDurably } from '#src/io/atomic-files.js';
import { type FileCalls, systemFileCalls } from '#src/io/file-calls.js';
import { NameTakenError } from '#src/io/rename-and-sync.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { failWith, useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const fileCalls = useFileCalls();

const bytesOf = (text: string) => new TextEncoder().encode(text);
const commits = { createDurably, replaceDurably };
const names = () => readdirSync(directory.path()).filter((name) => name !== 'temp');
const textOf = (name: string) => readFileSync(directory.path(name), 'utf8');

describe('attemptName', () => {
  it('is another one each time, and can be told', () => {
    const attempts = [0, 1, 2].map(() => attemptName('set-000001.index'));
    expect(new Set(attempts).size).toBe(3);
    for (const name of attempts) expect(isAttemptName(name)).toBe(true);
    for (const name of ['set-000001.index', 'manifest', 'a.attempt']) expect(isAttemptName(name)).toBe(false);
  });
});

describe.each(Object.entries(commits))('%s', (name, commit) => {
  it('makes a file of these bytes that only its owner can open', async () => {
    const umask = process.umask(0);
    try {
      await commit(directory.path(), 'manifest', bytesOf('new'));
    } finally {
      process.umask(umask);
    }
    expect(names()).toEqual(['manifest']);
    expect(textOf('manifest')).toBe('new');
    expect(statSync(directory.path('manifest')).mode & 0o777).toBe(0o600);
    expect(statSync(directory.path('manifest')).nlink).toBe(1);
  });

  it('writes on where the device takes a part of the bytes', async () => {
    fileCalls.replace({
      write: (fd, bytes, offset, byteLength, position) =>
        systemFileCalls.write(fd, bytes, offset, Math.min(byteLength, 3), position),
    });
    await commit(directory.path(), 'manifest', bytesOf('0123456789'));
    expect(textOf('manifest')).toBe('0123456789');
  });

  it('gives the name after the bytes are durable, and makes that durable in turn', async () => {
    const steps: string[] = [];
    const paths = new Map<number, string>();
    const shortName = (path: string) => basename(path).replace(/[0-9a-f]{16}/, 'ID');
    fileCalls.replace({
      open(path, flags, mode) {
        const fd = systemFileCalls.open(path, flags, mode);
        paths.set(fd, path === directory.path() ? 'directory' : shortName(path));
        return fd;
      },
      write(...call) {
        steps.push(`write ${paths.get(call[0])}`);
        return systemFileCalls.write(...call);
      },
      syncAsync(fd) {
        steps.push(`sync ${paths.get(fd)}`);
        return systemFileCalls.syncAsync(fd);
      },
      link(from, to) {
        steps.push(`name ${shortName(from)} ${shortName(to)}`);
        systemFileCalls.link(from, to);
      },
      rename(from, to) {
        steps.push(`name ${shortName(from)} ${shortName(to)}`);
        systemFileCalls.rename(from, to);
      },
    });
    await commit(directory.path(), 'manifest', bytesOf('new'));
    expect(steps).toEqual([
      'write manifest.ID.attempt',
      'sync manifest.ID.attempt',
      'name manifest.ID.attempt manifest',
      'sync directory',
    ]);
  });

  it('leaves all of the former bytes or all of the new ones, whichever call fails', async () => {
    const before = name === 'replaceDurably' ? 'old' : undefined;
    let failures = 0;
    for (let failing = 1; failures === failing - 1; failing++) {
      const path = directory.path(`${failing}`);
      mkdirSync(path);
      if (before !== undefined) writeFileSync(`${path}/manifest`, before);
      fileCalls.replace(failAt(failing));
      const outcome = await commit(path, 'manifest', bytesOf('new')).catch((error: unknown) => error);
      fileCalls.replace({});
      if (outcome === undefined) {
        expect(readdirSync(path)).toEqual(['manifest']);
        continue;
      }
      failures++;
      expect(outcome).toBeInstanceOf(PileshufError);
      const left = readdirSync(path);
      expect(left.filter((one) => one !== 'manifest' && !isAttemptName(one))).toEqual([]);
      const after = left.includes('manifest') ? readFileSync(`${path}/manifest`, 'utf8') : undefined;
      expect([before, 'new']).toContain(after);
    }
    // open, write, sync, close, rename or link and unlink, open, sync, close
    expect(failures).toBe(name === 'replaceDurably' ? 8 : 9);
  });

  it('does not write through a link planted under any of its names', async () => {
    mkdirSync(directory.path('job'));
    writeFileSync(directory.path('mine'), 'mine');
    symlinkSync(directory.path('mine'), directory.path('job', 'manifest'));
    await commit(directory.path('job'), 'manifest', bytesOf('new')).catch(() => undefined);
    fileCalls.replace({
      open(path, flags, mode) {
        if (isAttemptName(path)) symlinkSync(directory.path('mine'), path);
        return systemFileCalls.open(path, flags, mode);
      },
    });
    await expect(commit(directory.path('job'), 'other', bytesOf('new'))).rejects.toThrow(/it exists already/);
    expect(textOf('mine')).toBe('mine');
  });
});

describe('createDurably and replaceDurably', () => {
  it('differ in what they do to a file that is there', async () => {
    await createDurably(directory.path(), 'manifest', bytesOf('old'));
    await expect(createDurably(directory.path(), 'manifest', bytesOf('new'))).rejects.toThrow(NameTakenError);
    expect(textOf('manifest')).toBe('old');
    await replaceDurably(directory.path(), 'manifest', bytesOf('new'));
    expect(textOf('manifest')).toBe('new');
    expect(names()).toEqual(['manifest']);
  });

  it('do not take a name of an attempt that exists for one of the file', async () => {
    fileCalls.replace({ open: failWith('EEXIST') });
    const failure = await createDurably(directory.path(), 'manifest', bytesOf('x')).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SystemError);
    expect(failure).not.toBeInstanceOf(NameTakenError);
  });
});

describe('readSmallFile', () => {
  const read = (name: string, mostBytes = 100) => readSmallFile(directory.path(name), 'temp', mostBytes);

  it('reads all of a file that is not too long', () => {
    writeFileSync(directory.path('file'), 'x'.repeat(100));
    writeFileSync(directory.path('empty'), '');
    expect(read('file')).toEqual(bytesOf('x'.repeat(100)));
    expect(read('empty')).toEqual(new Uint8Array(0));
    expect(() => read('file', 99)).toThrow(/^cannot read temp file .*: it has 100 bytes, expected at most 99$/);
  });

  it('allocates nothing for a file that is far too long', () => {
    writeFileSync(directory.path('file'), '');
    fileCalls.replace({
      statOpen: (fd) => Object.assign(systemFileCalls.statOpen(fd), { size: 2n ** 60n }),
    });
    expect(() => read('file')).toThrow(/it has 1152921504606846976 bytes, expected at most 100$/);
  });

  it('says nothing of a file that does not exist', () => {
    expect(read('none')).toBeUndefined();
  });

  it('gives what is left of a file that shrinks meanwhile', () => {
    writeFileSync(directory.path('file'), 'abc');
    fileCalls.replace({ statOpen: (fd) => Object.assign(systemFileCalls.statOpen(fd), { size: 10n }) });
    expect(read('file')).toEqual(bytesOf('abc'));
  });

  it('opens a file again that another machine has replaced or removed, as NFS has it', () => {
    const meanwhile = (change: () => void, times = 1) => {
      writeFileSync(directory.path('file'), 'old');
      let left = times;
      const lose = () => {
        if (left-- <= 0) return;
        change();
        failWith('ESTALE')();
      };
      return [
        { statOpen: (fd) => lose() ?? systemFileCalls.statOpen(fd) },
        { read: (...words) => lose() ?? systemFileCalls.read(...words) },
      ] satisfies Partial<FileCalls>[];
    };
    for (const which of [0, 1]) {
      fileCalls.replace(meanwhile(() => writeFileSync(directory.path('file'), 'new'))[which] ?? {});
      expect(read('file')).toEqual(bytesOf('new'));
      fileCalls.replace(meanwhile(() => rmSync(directory.path('file')))[which] ?? {});
      expect(read('file')).toBeUndefined();
      fileCalls.replace(meanwhile(() => {}, Number.POSITIVE_INFINITY)[which] ?? {});
      expect(() => read('file')).toThrow(/^cannot .* temp file .*\/file: the network file system lost the file$/);
    }
  });

  it('refuses links, directories and pipes, and does not wait', () => {
    writeFileSync(directory.path('file'), 'x');
    symlinkSync('file', directory.path('link'));
    makePipe(directory.path('pipe'));
    expect(() => read('link')).toThrow(/^cannot open temp file .*\/link: it is a symbolic link$/);
    expect(() => read('temp')).toThrow(/^cannot read temp file .*\/temp: it is not a regular file$/);
    expect(() => read('pipe')).toThrow(/^cannot read temp file .*\/pipe: it is not a regular file$/);
  });
});

/** Lets one call fail, counted over all calls from 1, after it did its work where that can be said of it: `close`. */
function failAt(failing: number): Partial<FileCalls> {
  let count = 0;
  const isTheOne = () => ++count === failing;
  const fail = failWith('EIO');
  const { open, close, write, syncAsync, link, rename, unlink } = systemFileCalls;
  return {
    open: (...call) => (isTheOne() ? fail() : open(...call)),
    write: (...call) => (isTheOne() ? fail() : write(...call)),
    syncAsync: async (fd) => (isTheOne() ? fail() : syncAsync(fd)),
    link: (...call) => (isTheOne() ? fail() : link(...call)),
    rename: (...call) => (isTheOne() ? fail() : rename(...call)),
    unlink: (path) => (isTheOne() ? fail() : unlink(path)),
    close(fd) {
      close(fd);
      if (isTheOne()) fail();
    },
  };
}
