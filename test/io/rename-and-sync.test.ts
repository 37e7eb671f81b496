/**
 * Making files visible: an existing name is replaced only with permission, by files, links and directories alike, and
 * a moved file is whole and has only its new name.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SystemError, UsageError } from '#src/errors.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import {
  applyUmask,
  byteLengthOf,
  ensureFile,
  linkOrRename,
  linkToNewName,
  moveDirectoryIntoPlace,
  moveIntoPlace,
  NameTakenError,
  publishName,
  syncPath,
} from '#src/io/rename-and-sync.js';
import { failWith, useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const appeared = expect.objectContaining({
  code: 'ERR_OUTPUT_EXISTS',
  message: expect.stringContaining('appeared during the job and was left alone; give `force` to replace it'),
});

/** As a network file system does whose server's answer got lost: the second call finds what the first one did. */
function linkTwice(from: string, to: string): void {
  systemFileCalls.link(from, to);
  systemFileCalls.link(from, to);
}

describe('moveIntoPlace', () => {
  const directory = useTestDirectory();
  const move = () => moveIntoPlace(directory.path('from'), directory.path('to'));

  it('gives a file a name in place of its own, and of what has it', () => {
    for (const former of [false, true]) {
      writeFileSync(directory.path('from'), `new ${former}`);
      move();
      expect(existsSync(directory.path('from'))).toBe(false);
      expect(readFileSync(directory.path('to'), 'utf8')).toBe(`new ${former}`);
      expect(statSync(directory.path('to')).nlink).toBe(1);
    }
  });
});

describe('addName', () => {
  const directory = useTestDirectory();
  const fileCalls = useFileCalls();
  const add = () => linkOrRename(directory.path('from'), directory.path('to'));

  it.each(['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK'])('gives it in place of its own where links end with %s', (errno) => {
    writeFileSync(directory.path('from'), 'new');
    fileCalls.replace({ link: failWith(errno) });
    add();
    expect(readdirSync(directory.path())).toEqual(['temp', 'to']);
    expect(readFileSync(directory.path('to'), 'utf8')).toBe('new');
  });

  it.each(['file', 'link', 'directory'])('leaves alone what has the name: %s', (kind) => {
    writeFileSync(directory.path('from'), 'new');
    if (kind === 'file') writeFileSync(directory.path('to'), 'old');
    else if (kind === 'link') symlinkSync('nowhere', directory.path('to'));
    else mkdirSync(directory.path('to'));
    const before = lstatSync(directory.path('to')).ino;
    for (const replace of [{}, { link: failWith('EPERM') }]) {
      fileCalls.replace(replace);
      expect(add).toThrow(UsageError);
      expect(add).toThrow(appeared);
      expect(readFileSync(directory.path('from'), 'utf8')).toBe('new');
      expect(lstatSync(directory.path('to')).ino).toBe(before);
    }
  });
});

describe('publishName', () => {
  const directory = useTestDirectory();
  const fileCalls = useFileCalls();
  const publish = () => publishName(directory.path('from'), directory.path('to'));

  it('is done when the call says that the name is taken, and it is by the file itself', () => {
    writeFileSync(directory.path('from'), 'new');
    fileCalls.replace({ link: linkTwice });
    publish();
    expect(readdirSync(directory.path())).toEqual(['temp', 'to']);
    expect(readFileSync(directory.path('to'), 'utf8')).toBe('new');
  });

  it('takes no name back that others may have seen', () => {
    writeFileSync(directory.path('from'), 'new');
    fileCalls.replace({ unlink: failWith('EIO') });
    publish();
    expect(readdirSync(directory.path())).toEqual(['from', 'temp', 'to']);
  });

  it('is refused where there are no hard links', () => {
    writeFileSync(directory.path('from'), 'new');
    fileCalls.replace({ link: failWith('ENOTSUP') });
    expect(publish).toThrow(
      /^cannot give its name to \/.*\/to: this file system has no hard links; put the pile store on one that has them$/,
    );
    expect(readdirSync(directory.path())).toEqual(['from', 'temp']);
  });
});

describe('linkToNewName', () => {
  const directory = useTestDirectory();
  const fileCalls = useFileCalls();
  const link = () => linkToNewName(directory.path('from'), directory.path('to'));

  it.each(['file', 'link', 'directory'])('leaves alone what has the name, and says that it has: %s', (kind) => {
    writeFileSync(directory.path('from'), 'new');
    if (kind === 'file') writeFileSync(directory.path('to'), 'old');
    else if (kind === 'link') symlinkSync('nowhere', directory.path('to'));
    else mkdirSync(directory.path('to'));
    for (const replace of [{}, { link: failWith('EPERM') }]) {
      fileCalls.replace(replace);
      expect(link).toThrow(NameTakenError);
      expect(link).toThrow(/^cannot create temp file .*\/to: the name is taken$/);
      expect(readdirSync(directory.path())).toEqual(['from', 'temp', 'to']);
    }
    if (kind === 'file') expect(readFileSync(directory.path('to'), 'utf8')).toBe('old');
  });

  it('renames where there are no hard links', () => {
    for (const errno of ['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK']) {
      writeFileSync(directory.path('from'), errno);
      fileCalls.replace({ link: failWith(errno) });
      linkToNewName(directory.path('from'), directory.path(errno));
      expect(readFileSync(directory.path(errno), 'utf8')).toBe(errno);
      expect(existsSync(directory.path('from'))).toBe(false);
    }
  });

  it('changes nothing when it fails', () => {
    writeFileSync(directory.path('from'), 'new');
    const unlinkOnce = (path: string) => {
      if (path === directory.path('from')) failWith('EIO')();
      systemFileCalls.unlink(path);
    };
    for (const replace of [{ link: failWith('EIO') }, { unlink: unlinkOnce }]) {
      fileCalls.replace(replace);
      expect(link).toThrow(/^cannot give its name to temp file .*\/to: the device reports an input\/output error$/);
      expect(readdirSync(directory.path())).toEqual(['from', 'temp']);
    }
  });
});

describe('moveDirectoryIntoPlace', () => {
  const directory = useTestDirectory();

  function makeShards(): string {
    mkdirSync(directory.path('from'), { mode: 0o700 });
    writeFileSync(directory.path('from', 'shard'), 'bytes');
    return directory.path('from');
  }

  it('gives a directory its name and the mode that the umask gives', () => {
    const umask = process.umask(0o027);
    try {
      applyUmask(makeShards());
      moveDirectoryIntoPlace(directory.path('from'), directory.path('to'));
    } finally {
      process.umask(umask);
    }
    expect(statSync(directory.path('to')).mode & 0o777).toBe(0o750);
    expect(readdirSync(directory.path('to'))).toEqual(['shard']);
    expect(existsSync(directory.path('from'))).toBe(false);
  });

  it('replaces neither a directory with something in it nor a file', () => {
    mkdirSync(directory.path('full'));
    writeFileSync(directory.path('full', 'mine'), 'mine');
    writeFileSync(directory.path('file'), 'mine');
    const from = makeShards();
    for (const name of ['full', 'file']) {
      expect(() => moveDirectoryIntoPlace(from, directory.path(name))).toThrow(appeared);
    }
    expect(readdirSync(directory.path('full'))).toEqual(['mine']);
    expect(readFileSync(directory.path('file'), 'utf8')).toBe('mine');
    expect(readdirSync(from)).toEqual(['shard']);
  });
});

describe('ensureFile, byteLengthOf and the syncs', () => {
  const directory = useTestDirectory();
  const fileCalls = useFileCalls();

  it('make an empty file where there is none, and leave what there is', () => {
    const umask = process.umask(0o027);
    try {
      for (const _ of ['new', 'there']) ensureFile(directory.path('empty'), 'output');
    } finally {
      process.umask(umask);
    }
    expect(byteLengthOf(directory.path('empty'))).toBe(0);
    expect(statSync(directory.path('empty')).mode & 0o777).toBe(0o640);
    writeFileSync(directory.path('full'), 'x'.repeat(5000));
    ensureFile(directory.path('full'), 'output');
    expect(byteLengthOf(directory.path('full'))).toBe(5000);
  });

  it('make no file through a link, nor in place of a directory', () => {
    symlinkSync('planted', directory.path('link'));
    for (const name of ['link', 'temp', 'none/new']) {
      expect(() => ensureFile(directory.path(name), 'output')).toThrow(SystemError);
      expect(() => ensureFile(directory.path(name), 'output')).toThrow(/^cannot create output /);
    }
    expect(existsSync(directory.path('planted'))).toBe(false);
  });

  it('say what could not be synced, by its role', async () => {
    await expect(syncPath(directory.path('none'), 'temp')).rejects.toThrow(/^cannot open temp file .*\/none: no such/);
    writeFileSync(directory.path('file'), 'x');
    fileCalls.replace({ syncAsync: async () => failWith('EIO')() });
    await expect(syncPath(directory.path('file'), 'temp')).rejects.toThrow(
      /^cannot sync temp file .*\/file: the device/,
    );
    await expect(syncPath(directory.path(), 'temp')).rejects.toThrow(/^cannot sync temp file /);
    await expect(syncPath(directory.path('file'))).rejects.toThrow(/^cannot sync output /);
  });

  it('take it that a file system cannot sync directories, but no more', async () => {
    writeFileSync(directory.path('file'), 'x');
    fileCalls.replace({ syncAsync: async () => failWith('EINVAL')() });
    await expect(syncPath(directory.path(), 'temp')).resolves.toBeUndefined();
    await expect(syncPath(directory.path())).resolves.toBeUndefined();
    await expect(syncPath(directory.path('file'), 'temp')).rejects.toThrow(/^cannot sync /);
    await expect(syncPath(directory.path('file'))).rejects.toThrow(/^cannot sync /);
  });
});
