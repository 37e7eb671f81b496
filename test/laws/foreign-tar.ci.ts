/**
 * Tar files that GNU tar, bsdtar and Python wrote, shuffled, and read by the same programs: they list the samples one
 * after the other, and extract the original files. A test of a missing program is skipped with a note.
 */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const SAMPLES = 40;

const ADD = `
import sys, tarfile
with tarfile.open(sys.argv[1], "w", format=getattr(tarfile, sys.argv[2])) as tar:
    for name in sys.argv[3:]:
        tar.add(name, recursive=False)
`;
const LIST = `
import sys, tarfile
with tarfile.open(sys.argv[1], "r:") as tar:
    for member in tar:
        print(member.name + ("/" if member.isdir() else ""))
        if member.isfile():
            assert tar.extractfile(member).read() == open("tree/" + member.name.removeprefix("tree/"), "rb").read()
`;

/** A file that takes less room than it has bytes, where the file system knows such. */
function writeWithHole(path: string): void {
  const file = openSync(path, 'w');
  writeSync(file, 'beginning');
  writeSync(file, 'end', 300_000);
  ftruncateSync(file, 400_000);
  closeSync(file);
}

beforeEach(() => {
  const write = (name: string, bytes: string | Buffer) => {
    mkdirSync(dirname(directory.path('tree', name)), { recursive: true });
    writeFileSync(directory.path('tree', name), bytes);
  };
  for (let i = 0; i < SAMPLES; i++) {
    const name = `${i % 3}/${i === 7 ? 'é' : ''}${i === 8 ? 'long'.repeat(20) : ''}${String(i).padStart(4, '0')}`;
    write(`${name}.jpg`, Buffer.alloc(i * 97, i));
    write(`${name}.seg.txt`, `label of ${i}\n`);
    if (i % 5 === 0) symlinkSync('elsewhere', directory.path('tree', `${name}.link`));
  }
  write(`${'deep/'.repeat(25)}${'n'.repeat(90)}.txt`, 'a path of more than two hundred bytes');
  write('3/hole.txt', 'beside');
  writeWithHole(directory.path('tree', '3', 'hole.bin'));
});

/** What is below a directory: files with their bytes, links with where they lead. */
function readTree(path: string): Record<string, string> {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const whole = join(entry.parentPath, entry.name);
      const content = entry.isFile()
        ? readFileSync(whole, 'latin1')
        : entry.isSymbolicLink()
          ? readlinkSync(whole)
          : '/';
      return [whole.slice(path.length), content];
    }),
  );
}

const keyOf = (name: string) => /^(.*\/)?[^/.]*/.exec(name)?.[0];

/** Expects that what is listed lies together by samples; directories lie anywhere. */
function expectSamples(names: readonly string[]): void {
  const keys = names.filter((name) => !name.endsWith('/')).map(keyOf);
  const together = keys.filter((key, i) => key !== keys[i - 1]);
  expect(new Set(together).size).toBe(together.length);
}

function run(program: string, ...argv: readonly string[]): string {
  return execFileSync(program, argv, { cwd: directory.path(), encoding: 'utf8' });
}

const EXTRACTORS = ['tar', 'bsdtar'];

const READERS: readonly (readonly [program: string, list: readonly string[]])[] = [
  ['tar', ['-tf']],
  ['bsdtar', ['-tf']],
  ['python3', ['-c', LIST]],
];

describe.each([
  ['tar', '--format=ustar'],
  ['tar', '--format=gnu'],
  ['tar', '--format=pax'],
  ['tar', '--format=gnu', '--sparse'],
  ['tar', '--format=pax', '--sparse', '--sparse-version=0.0'],
  ['tar', '--format=pax', '--sparse', '--sparse-version=0.1'],
  ['tar', '--format=pax', '--sparse', '--sparse-version=1.0'],
  ['bsdtar', '--format=ustar'],
  ['bsdtar', '--format=pax'],
  ['python3', 'USTAR_FORMAT'],
  ['python3', 'GNU_FORMAT'],
  ['python3', 'PAX_FORMAT'],
])('%s %s %s %s', (program, format, ...options) => {
  /** All names, in order, so that samples lie together. */
  function names(): string[] {
    return run('find', 'tree', '-type', 'd', '-o', '-print').trim().split('\n').sort();
  }

  function write(path: string, members: readonly string[]): void {
    if (program === 'python3') run(program, '-c', ADD, path, format, ...members);
    else run(program, format, ...options, '-cf', path, '--no-recursion', '--', ...members);
  }

  it.skipIf(!isOnPath(program))(`is read and written, if ${program} is on PATH`, async () => {
    const [first, second] = [directory.path('first.tar'), directory.path('second.tar')];
    const all = names();
    const half = all.findIndex((name, i) => i > all.length / 2 && keyOf(name) !== keyOf(all[i - 1] ?? ''));
    write(first, ['tree', ...all.slice(0, half)]);
    write(second, [...all.slice(half), 'tree/3']);
    writeFileSync(`${second}.gz`, gzipSync(readFileSync(second)));
    const job = { inputs: [first, `${second}.gz`], seed: 'tar', records: { by: 'webdataset' } } as const;
    const settings = { workers: 2, tempDirs: [directory.temp], force: true };
    const shards = { by: 'count', shardCount: 3 } as const;
    const one = await shuffle({ ...job, ...settings, output: directory.path('out.tar') });
    const three = await shuffle({ ...job, ...settings, output: directory.path('shards'), shards }, { inline: false });
    for (const { records } of [one, three]) expect(records).toBe(SAMPLES + 2);

    for (const [reader, list] of READERS.filter(([name]) => isOnPath(name))) {
      for (const outputs of [[directory.path('out.tar')], three.shards]) {
        const listed = outputs.map((path) =>
          run(reader, ...list, path)
            .trim()
            .split('\n'),
        );
        for (const ofOutput of listed) expectSamples(ofOutput.map((name) => JSON.parse(`"${octalToText(name)}"`)));
        expect(listed.flat()).toHaveLength(all.length + 2);
        expect(listed.flat()).not.toEqual(all);
      }
    }
    for (const extractor of EXTRACTORS.filter(isOnPath)) {
      for (const outputs of [[directory.path('out.tar')], three.shards]) {
        const extracted = directory.path(`extracted-${extractor}-${outputs.length}`);
        mkdirSync(extracted);
        for (const path of outputs) run(extractor, '-C', extracted, '-xf', path);
        expect(readTree(join(extracted, 'tree'))).toEqual(readTree(directory.path('tree')));
      }
    }
  });
});

/** Shuffles a tar file and extracts what comes out. */
async function extractShuffled(input: string, output: string): Promise<Record<string, string>> {
  const options = { seed: 'tar', records: { by: 'webdataset' }, workers: 2, tempDirs: [directory.temp] } as const;
  await shuffle({ ...options, inputs: [directory.path(input)], output: directory.path(output) }, { inline: false });
  mkdirSync(directory.path('extracted'));
  run('tar', '-C', 'extracted', '-xf', output);
  return readTree(directory.path('extracted', 'tree'));
}

it.skipIf(!isOnPath('git') || !isOnPath('tar'))(
  'what git archive writes is read and written, with its comment, if git is on PATH',
  async () => {
    const settings = ['init.defaultBranch=main', 'user.name=a', 'user.email=b'].flatMap((each) => ['-c', each]);
    const git = (...argv: readonly string[]) => run('git', '-C', 'tree', ...settings, ...argv);
    git('init', '-q');
    git('add', '.');
    git('commit', '-q', '-m', 'samples');
    const [commit] = git('rev-parse', 'HEAD').split('\n');
    git('archive', '--format=tar', '--prefix=tree/', '-o', directory.path('archive.tar'), 'HEAD');
    const extracted = await extractShuffled('archive.tar', 'out.tar');
    rmSync(directory.path('tree', '.git'), { recursive: true });
    expect(extracted).toEqual(readTree(directory.path('tree')));
    // It stands in the global pax header.
    expect(run('sh', '-c', 'git get-tar-commit-id <out.tar').trim()).toBe(commit);
  },
);

it.skipIf(!isOnPath('tar'))('what tar --sort=name writes of a directory is read and written', async () => {
  run('tar', '--sort=name', '-cf', 'sorted.tar', 'tree');
  expect(await extractShuffled('sorted.tar', 'out.tar')).toEqual(readTree(directory.path('tree')));
  const [listed = [], shuffled = []] = ['sorted.tar', 'out.tar'].map((name) =>
    run('tar', '-tf', name).trim().split('\n'),
  );
  expectSamples(shuffled.map((name) => JSON.parse(`"${octalToText(name)}"`)));
  expect(shuffled).not.toEqual(listed);
});

/** GNU tar lists bytes that are not ASCII as \NNN. */
function octalToText(name: string): string {
  return name.replace(/\\(\d{3})/g, (_, octal) => `\\u00${Number.parseInt(octal, 8).toString(16)}`);
}
