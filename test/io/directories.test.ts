/** Private directories: unique names, no access for others, and removal with all contents. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SystemError } from '#src/errors.js';
import {
  type DirectoryPurpose,
  ensurePrivateDirectory,
  makeOwnDirectory,
  makePrivateDirectory,
  removeDirectory,
  removeIfEmpty,
  requirePrivate,
} from '#src/io/directories.js';
import { failWith, useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

describe('private directories', () => {
  const directory = useTestDirectory();

  it('are new each time, below the parent, and closed to others whatever the umask', () => {
    const umask = process.umask(0);
    try {
      const paths = [0, 1, 2].map(() => makePrivateDirectory(directory.path(), 'job-', 'temp'));
      expect(new Set(paths).size).toBe(3);
      for (const path of paths) {
        expect(dirname(path)).toBe(directory.path());
        expect(basename(path)).toMatch(/^job-.{6}/);
        expect(statSync(path).mode & 0o777).toBe(0o700);
        expect(readdirSync(path)).toEqual([]);
      }
    } finally {
      process.umask(umask);
    }
  });

  it('are removed with all that is in them, and nothing behind a link', () => {
    const path = makePrivateDirectory(directory.path(), 'job-', 'temp');
    mkdirSync(directory.path('kept'));
    writeFileSync(directory.path('kept', 'file'), 'x');
    mkdirSync(join(path, 'a', 'b'), { recursive: true });
    writeFileSync(join(path, 'a', 'b', 'c'), 'x');
    symlinkSync(directory.path('kept'), join(path, 'link'));
    removeDirectory(path);
    expect(existsSync(path)).toBe(false);
    expect(readdirSync(directory.path('kept'))).toEqual(['file']);
    // Once more changes nothing.
    removeDirectory(path);
  });
});

describe('removeDirectory', () => {
  const directory = useTestDirectory();

  it('leaves alone a link that was planted, and what it leads to, and a file', () => {
    mkdirSync(directory.path('mine'));
    for (const file of ['mine/file', 'file']) writeFileSync(directory.path(file), 'mine');
    symlinkSync('mine', directory.path('link'));
    for (const name of ['link', 'file', 'none']) removeDirectory(directory.path(name));
    expect(readdirSync(directory.path('mine'))).toEqual(['file']);
    expect(readdirSync(directory.path())).toEqual(['file', 'link', 'mine', 'temp']);
  });

  it.skipIf(process.geteuid?.() !== 0)('leaves alone the directory of another user', () => {
    mkdirSync(directory.path('planted'));
    writeFileSync(directory.path('planted', 'file'), '');
    chownSync(directory.path('planted'), 65534, 65534);
    removeDirectory(directory.path('planted'));
    expect(readdirSync(directory.path('planted'))).toEqual(['file']);
  });
});

describe('removeIfEmpty', () => {
  const directory = useTestDirectory();
  const fileCalls = useFileCalls();

  it('leaves a mount point, and says what else it could not remove', () => {
    fileCalls.replace({ removeDirectory: failWith('EBUSY') });
    expect(() => removeIfEmpty(directory.path('temp'))).not.toThrow();
    fileCalls.replace({ removeDirectory: failWith('EACCES') });
    expect(() => removeIfEmpty(directory.path('temp'))).toThrow(
      /^cannot remove .*\/temp: permission denied; remove it /,
    );
  });
});

describe('ensurePrivateDirectory', () => {
  const directory = useTestDirectory();

  it('makes one where there is none, takes one that is private, and refuses others', () => {
    for (const _ of ['new', 'there']) ensurePrivateDirectory(directory.path('job'), 'temp');
    expect(statSync(directory.path('job')).mode & 0o777).toBe(0o700);
    chmodSync(directory.path('job'), 0o750);
    symlinkSync('nowhere', directory.path('link'));
    for (const name of ['job', 'link']) {
      expect(() => ensurePrivateDirectory(directory.path(name), 'temp')).toThrow(/^cannot use the directory /);
    }
    expect(existsSync(directory.path('nowhere'))).toBe(false);
  });
});

describe('makeOwnDirectory', () => {
  const directory = useTestDirectory();
  const calls = useFileCalls();

  it('makes a directory that is closed to others, whatever the umask', () => {
    const umask = process.umask(0);
    try {
      expect(makeOwnDirectory(directory.path('job'), 'job')).toBe(true);
    } finally {
      process.umask(umask);
    }
    expect(statSync(directory.path('job')).mode & 0o777).toBe(0o700);
    expect(() => requirePrivate(directory.path('job'))).not.toThrow();
  });

  it('says when there is something, and leaves that alone', () => {
    mkdirSync(directory.path('directory'), { mode: 0o755 });
    writeFileSync(directory.path('file'), 'mine');
    symlinkSync('nowhere', directory.path('link'));
    for (const name of ['directory', 'file', 'link']) {
      expect(makeOwnDirectory(directory.path(name), 'temp')).toBe(false);
    }
    expect(statSync(directory.path('directory')).mode & 0o777).toBe(0o755);
    expect(existsSync(directory.path('nowhere'))).toBe(false);
  });

  it('says why it cannot', () => {
    writeFileSync(directory.path('file'), '');
    const make = (parent: string, purpose: DirectoryPurpose) => () =>
      makeOwnDirectory(directory.path(parent, 'name'), purpose);
    expect(make('none', 'job')).toThrow(SystemError);
    for (const [purpose, code, message] of [
      [
        'temp',
        'ERR_TEMP_DIR',
        /^cannot make a directory in the temp directory .*\/none: it does not exist; name a writable directory with `tempDirs`$/,
      ],
      ['output', 'ERR_IO', /^cannot make the output in .*\/none: it does not exist; expected a writable directory$/],
      [
        'job',
        'ERR_TEMP_DIR',
        /^cannot make the job directory name in .*\/none: it does not exist; name a writable place with `tempDirs` or `jobDir`$/,
      ],
    ] as const) {
      expect(make('none', purpose)).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
    }
    expect(make('file', 'job')).toThrow(/ in .*\/file: a part of the path is not a directory; name a writable place /);
  });

  it('says that nothing can be made in a directory of the kernel, which answers as if it did not exist', () => {
    calls.replace({ makeDirectory: failWith('ENOENT') });
    expect(() => makeOwnDirectory(directory.path('name'), 'output')).toThrow(
      `cannot make the output in ${directory.path()}: nothing can be made there; expected a writable directory`,
    );
  });
});

describe('requirePrivate', () => {
  const directory = useTestDirectory();

  function refusal(message: RegExp): unknown {
    return expect.objectContaining({ code: 'ERR_TEMP_DIR', message: expect.stringMatching(message) });
  }

  function makeWithMode(mode: number): string {
    const path = directory.path('job');
    if (existsSync(path)) rmdirSync(path);
    mkdirSync(path);
    chmodSync(path, mode);
    return path;
  }

  it('takes directories that nobody else can open, and no others', () => {
    for (const mode of [0o700, 0o500, 0o2700, 0o1700]) {
      expect(() => requirePrivate(makeWithMode(mode))).not.toThrow();
    }
    for (const bit of [0o040, 0o020, 0o010, 0o004, 0o002, 0o001]) {
      const path = makeWithMode(0o700 | bit);
      const mode = (0o700 | bit).toString(8);
      expect(() => requirePrivate(path)).toThrow(
        refusal(new RegExp(`/job: it is open to other users \\(mode ${mode}\\); .* chmod go-rwx`)),
      );
    }
  });

  it('takes directories that nobody else can change, where others may look', () => {
    for (const mode of [0o700, 0o755, 0o711]) {
      expect(() => requirePrivate(makeWithMode(mode), 'anyone')).not.toThrow();
    }
    for (const mode of [0o775, 0o757, 0o1777]) {
      expect(() => requirePrivate(makeWithMode(mode), 'anyone')).toThrow(
        refusal(/\/job: other users can write to it \(mode \d+\); .* chmod go-w /),
      );
    }
  });

  it('refuses a planted link, wherever it leads', () => {
    mkdirSync(directory.path('mine'), { mode: 0o700 });
    for (const target of ['mine', 'nowhere']) {
      const link = directory.path(`link to ${target}`);
      symlinkSync(target, link);
      for (const readers of ['owner', 'anyone'] as const) {
        expect(() => requirePrivate(link, readers)).toThrow(
          refusal(/^cannot use the directory .*: it is a symbolic link/),
        );
      }
    }
  });

  it('refuses what is not a directory, and says when there is nothing', () => {
    writeFileSync(directory.path('file'), '', { mode: 0o600 });
    expect(() => requirePrivate(directory.path('file'))).toThrow(refusal(/\/file: it is not a directory/));
    expect(() => requirePrivate(directory.path('none'))).toThrow(/^cannot examine .*\/none: no such file/);
  });

  it.skipIf(process.geteuid?.() !== 0)('refuses the directory of another user, be it closed', () => {
    const path = makeWithMode(0o700);
    chownSync(path, 65534, 65534);
    for (const readers of ['owner', 'anyone'] as const) {
      expect(() => requirePrivate(path, readers)).toThrow(refusal(/it belongs to user 65534, expected user 0; /));
    }
  });
});
