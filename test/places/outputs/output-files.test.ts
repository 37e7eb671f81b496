/** The place of an output: every kind of file that can exist there, and reasons to refuse it before anything is written. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemFileCalls } from '#src/io/file-calls.js';
import type { Destination } from '#src/places/outputs/destination.js';
import { requireOutside } from '#src/places/outputs/output-files.js';
import { LOCAL_PLACES_ONLY } from '#src/places/outputs/output-kinds.js';
import type { ShardNaming } from '#src/places/outputs/shard-names.js';
import { failWith, useFileCalls } from '../../fixtures/replaced-file-calls.js';
import { useTestDirectory } from '../../fixtures/temp-directory.js';

const directory = useTestDirectory();
const fileCalls = useFileCalls();
const naming = { prefixes: ['shard'], extension: '.txt' };

function resolveOutput(output: string | undefined, asked: ShardNaming | undefined, mayReplace: boolean) {
  const place = LOCAL_PLACES_ONLY.resolve(output, asked, mayReplace);
  return place.kind === 'staged' ? place.to : place;
}

function refusal(code: string, message: RegExp) {
  return expect.objectContaining({ code, message: expect.stringMatching(message) });
}

describe('resolveOutput', () => {
  const one = (name: string, force = false) => resolveOutput(directory.path(name), undefined, force);

  it.each([undefined, '-', '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'])('takes %s for standard output', (output) => {
    expect(resolveOutput(output, undefined, false)).toEqual({ kind: 'stream', path: '-' });
  });

  it('takes a new file, with an absolute path, and one that is there, through links the file itself', () => {
    const fromHere = relative(process.cwd(), directory.path('new'));
    expect(resolveOutput(fromHere, undefined, true)).toEqual({
      kind: 'file',
      path: directory.path('new'),
      mayReplace: true,
    });
    writeFileSync(directory.path('old'), '');
    symlinkSync('old', directory.path('link'));
    const path = realpathSync(directory.path('old'));
    for (const name of ['old', 'link']) expect(one(name)).toEqual({ kind: 'file', path, mayReplace: false });
  });

  it('writes devices and pipes in place, and refuses a socket', async () => {
    execFileSync('mkfifo', [directory.path('pipe')]);
    for (const path of [directory.path('pipe'), '/dev/null'])
      expect(resolveOutput(path, undefined, false)).toEqual({ kind: 'stream', path });
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(directory.path('socket'), resolve));
    try {
      expect(() => one('socket', true)).toThrow(refusal('ERR_OUTPUT_PLACE', /is neither a file, a pipe nor a device/));
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('takes a directory of shards, new or not, and refuses names that are too long', () => {
    const shards = (name: string, prefix = 'shard') =>
      resolveOutput(directory.path(name), { prefixes: [prefix], extension: '.txt' }, false);
    const path = directory.path('new');
    expect(shards('new')).toEqual({ kind: 'shards', path, exists: false, naming, mayReplace: false });
    mkdirSync(directory.path('old'));
    symlinkSync('old', directory.path('link'));
    expect(shards('link')).toMatchObject({ path: realpathSync(directory.path('old')), exists: true });
    expect(() => shards('new', 'x'.repeat(255 - '-999999-of-1000000.txt'.length))).not.toThrow();
    expect(() => shards('new', 'ä'.repeat(128))).toThrow(
      refusal('ERR_OPTION', /names of 278 bytes, and file systems allow 255; give a shorter `shardPrefix`/),
    );
  });
});

describe('requireReplaceable for shards', () => {
  const check = (mayReplace = false) => {
    const to = { kind: 'shards', path: directory.path('old'), exists: true, naming, mayReplace } as const;
    return expect(LOCAL_PLACES_ONLY.reopen(to).requireReplaceable('NAMED', [], false));
  };

  it('takes no directory, and one without shards of the prefix, whose marker may be there', async () => {
    await check().resolves.toBeUndefined();
    mkdirSync(directory.path('old'));
    for (const name of ['other-00000-of-00001.txt', '.shard.complete.json', 'shard.json'])
      writeFileSync(directory.path('old', name), '');
    await check().resolves.toBeUndefined();
    writeFileSync(directory.path('old/shard-00000-of-00001.csv'), '');
    await check().rejects.toEqual(expect.objectContaining({ code: 'ERR_OUTPUT_EXISTS' }));
    await check(true).resolves.toBeUndefined();
  });

  it.each([
    ['EPERM', /^cannot make the output in .*\/old: operation not permitted; expected a writable directory$/],
    ['EROFS', /^cannot make the output in .*\/old: the file system is read-only; expected a writable directory$/],
    ['EIO', /^cannot examine output .*\/old: the device reports/],
  ])('refuses one that cannot be written: %s', async (errno, message) => {
    mkdirSync(directory.path('old'));
    fileCalls.replace({ access: failWith(errno) });
    await check().rejects.toEqual(refusal('ERR_IO', message));
  });

  it.each(['shard-00003-of-00009', '.shard.complete.json'])('refuses a directory of the name %s', async (name) => {
    mkdirSync(directory.path('old', name), { recursive: true });
    const message = new RegExp(`^NAMED/${name} is a directory with the name of a shard; remove it`);
    for (const force of [false, true]) await check(force).rejects.toEqual(refusal('ERR_OUTPUT_PLACE', message));
  });
});

it('an output is staged beside it, or in it if that is a mount point or nothing beside it can be written', () => {
  mkdirSync(directory.path('deep/out'), { recursive: true });
  const [parent, inside] = [directory.path('deep'), directory.path('deep/out')];
  const file = { kind: 'file', path: inside, mayReplace: false } as const;
  const shards = { ...file, kind: 'shards', exists: true, naming } as const;
  const parents = () => [file, shards].map((to: Destination) => LOCAL_PLACES_ONLY.reopen(to).stagingParent?.());
  expect(parents()).toEqual([parent, parent]);
  fileCalls.replace({
    stat: (path) => Object.assign(systemFileCalls.stat(path), path === inside ? { dev: 0n } : {}),
  });
  expect(parents()).toEqual([parent, inside]);
  fileCalls.replace({ access: failWith('EACCES') });
  expect(parents()).toEqual([parent, inside]);
});

it('requireOutside refuses what lies in an input directory, however it is named', () => {
  mkdirSync(directory.path('in', 'deep'), { recursive: true });
  mkdirSync(directory.path('in-beside'));
  symlinkSync('in/deep', directory.path('link'));
  const check =
    (path: string, input = 'in') =>
    () =>
      requireOutside(directory.path(path), 'it', [directory.path(input)]);
  const refused = refusal('ERR_OUTPUT_PLACE', /^it .* lies inside the input directory/);
  for (const inside of ['in', 'in/new', 'in/none/new', 'link/new', 'in-beside/../in/new'])
    expect(check(inside), inside).toThrow(refused);
  expect(check('in/deep/new', 'link')).toThrow(refused);
  for (const outside of ['new', 'in-beside/new', 'inn', 'in/../new']) expect(check(outside), outside).not.toThrow();
  expect(check('in/new', 'link')).not.toThrow();
  expect(() => requireOutside('/anything', 'it', ['/'])).toThrow(refused);
});
