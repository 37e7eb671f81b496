/**
 * The place of an output: every kind of file that can exist there, and every reason to refuse it before anything is
 * written.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { relative } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '#src/errors.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import { requireOutside, requireReplaceable, resolveOutput, stagingParentOf } from '#src/sinks/output-place.js';
import { failWith, useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const naming = { prefixes: ['shard'], extension: '.txt' };

function refusal(code: string, message: RegExp) {
  return expect.objectContaining({ code, message: expect.stringMatching(message) });
}

describe('resolveOutput for one output', () => {
  const directory = useTestDirectory();
  const one = (name: string, force = false) => resolveOutput(directory.path(name), undefined, force);

  it.each([undefined, '-', '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'])('takes %s for standard output', (output) => {
    expect(resolveOutput(output, undefined, false)).toEqual({ kind: 'stream', path: '-' });
  });

  it('takes a new name, with an absolute path', () => {
    expect(one('new')).toEqual({ kind: 'file', path: directory.path('new'), mayReplace: false });
    expect(one('new', true)).toMatchObject({ mayReplace: true });
    const fromHere = relative(process.cwd(), directory.path('new'));
    expect(resolveOutput(fromHere, undefined, false)).toMatchObject({ path: directory.path('new') });
  });

  it('takes a file that is there, through links the file itself', () => {
    writeFileSync(directory.path('old'), '');
    symlinkSync('old', directory.path('link'));
    for (const name of ['old', 'link']) {
      for (const mayReplace of [false, true]) {
        const path = realpathSync(directory.path('old'));
        expect(one(name, mayReplace)).toEqual({ kind: 'file', path, mayReplace });
      }
    }
  });

  it('writes devices and pipes in place', () => {
    execFileSync('mkfifo', [directory.path('pipe')]);
    expect(one('pipe')).toEqual({ kind: 'stream', path: directory.path('pipe') });
    expect(resolveOutput('/dev/null', undefined, false)).toEqual({ kind: 'stream', path: '/dev/null' });
  });

  it('refuses a new name that is written as a directory, and a socket', async () => {
    expect(() => one('new/')).toThrow(
      refusal('ERR_OUTPUT_PLACE', /is named as a directory; expected a file, or `shards` to write/),
    );
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(directory.path('socket'), resolve));
    try {
      expect(() => one('socket', true)).toThrow(refusal('ERR_OUTPUT_PLACE', /is neither a file, a pipe nor a device/));
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

describe('resolveOutput for shards', () => {
  const directory = useTestDirectory();
  const shards = (name: string, force = false) => resolveOutput(directory.path(name), naming, force);

  it('takes a new directory and one that is there', () => {
    expect(shards('new')).toEqual({
      kind: 'shards',
      path: directory.path('new'),
      exists: false,
      naming,
      mayReplace: false,
    });
    mkdirSync(directory.path('old'));
    writeFileSync(directory.path('old', 'other-00000-of-00001.txt'), '');
    symlinkSync('old', directory.path('link'));
    for (const name of ['old', 'link']) {
      expect(shards(name)).toMatchObject({ path: realpathSync(directory.path('old')), exists: true });
    }
  });

  it('refuses names that are too long', () => {
    const named = (prefix: string) =>
      resolveOutput(directory.path('new'), { prefixes: [prefix], extension: '.txt' }, false);
    expect(() => named('x'.repeat(255 - '-999999-of-1000000.txt'.length))).not.toThrow();
    expect(() => named('ä'.repeat(128))).toThrow(
      refusal(
        'ERR_OPTION',
        /names of 278 bytes, and file systems allow 255; give a shorter `shardPrefix`, or shorter names of `splits`$/,
      ),
    );
  });
});

describe('requireReplaceable for shards', () => {
  const directory = useTestDirectory();
  const fileCalls = useFileCalls();
  const check =
    (mayReplace = false, exists = true) =>
    () =>
      requireReplaceable({ kind: 'shards', path: directory.path('old'), exists, naming, mayReplace }, 'NAMED', []);

  it('looks at nothing where there is no directory, and takes one without shards of the prefix', () => {
    expect(check(false, false)).not.toThrow();
    mkdirSync(directory.path('old'));
    for (const name of ['other-00000-of-00001.txt', '.other.complete.json', 'shard.json']) {
      writeFileSync(directory.path('old', name), '');
    }
    expect(check()).not.toThrow();
  });

  it('refuses one that cannot be written', () => {
    mkdirSync(directory.path('old'));
    for (const [errno, reason] of [
      ['EACCES', 'permission denied'],
      ['EPERM', 'operation not permitted'],
      ['EROFS', 'the file system is read-only'],
    ] as const) {
      fileCalls.replace({ access: failWith(errno) });
      const message = new RegExp(`^cannot make the output in .*/old: ${reason}; expected a writable directory$`);
      expect(check()).toThrow(refusal('ERR_IO', message));
    }
    fileCalls.replace({ access: failWith('EIO') });
    expect(check()).toThrow(refusal('ERR_IO', /^cannot examine output .*\/old: the device reports/));
  });

  it('takes one that holds a shard by force alone, and one that holds the marker of shards that are gone', () => {
    mkdirSync(directory.path('old'));
    writeFileSync(
      directory.path('old/.shard.complete.json'),
      '{"shards":1,"records":2,"bytes":3,"checksum":"0123456789abcdef"}\n',
    );
    expect(check()).not.toThrow();
    writeFileSync(directory.path('old/shard-00000-of-00001.csv'), '');
    expect(check()).toThrow(
      refusal(
        'ERR_OUTPUT_EXISTS',
        /^the output directory NAMED holds shards already \(shard-00000-of-00001.csv\); give `force` .* another `shardPrefix`$/,
      ),
    );
    expect(check(true)).not.toThrow();
  });

  it.each(['shard-00003-of-00009', '.shard.complete.json'])('refuses a directory of the name %s', (name) => {
    mkdirSync(directory.path('old', name), { recursive: true });
    for (const force of [false, true]) {
      expect(check(force)).toThrow(
        refusal('ERR_OUTPUT_PLACE', new RegExp(`^NAMED/${name} is a directory with the name of a shard; remove it`)),
      );
    }
  });
});

describe('stagingParentOf', () => {
  const directory = useTestDirectory();
  const fileCalls = useFileCalls();
  const file = () => ({ kind: 'file', path: directory.path('deep', 'out'), mayReplace: false }) as const;
  const shards = (exists: boolean) => ({ ...file(), kind: 'shards', exists, naming }) as const;
  const parent = () => directory.path('deep');
  beforeEach(() => {
    for (const name of ['deep', 'deep/out']) mkdirSync(directory.path(name));
  });

  it('is the directory beside the output, whether that is there or not', () => {
    for (const place of [file(), shards(false), shards(true)]) expect(stagingParentOf(place)).toBe(parent());
  });

  it('is a directory of shards itself that has a file system of its own, or nothing writable beside it', () => {
    const inside = directory.path('deep', 'out');
    fileCalls.replace({
      stat: (path) => Object.assign(systemFileCalls.stat(path), path === inside ? { dev: 0n } : {}),
    });
    expect(stagingParentOf(shards(true))).toBe(inside);
    for (const place of [file(), shards(false)]) expect(stagingParentOf(place)).toBe(parent());
    fileCalls.replace({ access: failWith('EACCES') });
    expect(stagingParentOf(shards(true))).toBe(inside);
    for (const place of [file(), shards(false)]) expect(stagingParentOf(place)).toBe(parent());
  });
});

describe('requireOutside', () => {
  const directory = useTestDirectory();

  it('refuses what lies in an input directory, however it is named', () => {
    mkdirSync(directory.path('in', 'deep'), { recursive: true });
    mkdirSync(directory.path('in-beside'));
    symlinkSync('in/deep', directory.path('link'));
    const check =
      (path: string, input = 'in') =>
      () =>
        requireOutside(directory.path(path), 'it', [directory.path(input)]);
    for (const inside of ['in', 'in/new', 'in/deep/new', 'in/none/new', 'link/new', 'in-beside/../in/new']) {
      expect(check(inside), inside).toThrow(refusal('ERR_OUTPUT_PLACE', /^it .* lies inside the input directory/));
    }
    expect(check('in/deep/new', 'link')).toThrow(UsageError);
    for (const outside of ['new', 'in-beside/new', 'inn', 'in/../new']) expect(check(outside), outside).not.toThrow();
    expect(check('in/new', 'link')).not.toThrow();
    expect(() => requireOutside('/anything', 'it', ['/'])).toThrow(UsageError);
  });
});
