/**
 * Finding input files: everything below a directory or matching a pattern, in the byte order of the paths, the same
 * from every current directory; and no file is left out silently.
 */
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { AbortError, InputError, SystemError } from '#src/errors.js';
import { replaceFileCalls, systemFileCalls } from '#src/io/file-calls.js';
import { DirectoryWalk, isPattern, type ListingRules, listMatches } from '#src/io/list-files.js';
import { statPath } from '#src/io/paths.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

describe('finding files', () => {
  const directory = useTestDirectory();
  const home = process.cwd();
  afterEach(() => process.chdir(home));

  function makeFiles(...names: string[]): void {
    for (const name of names) {
      mkdirSync(dirname(directory.path(name)), { recursive: true });
      writeFileSync(directory.path(name), '');
    }
  }

  const namesOf = (paths: readonly string[]) => paths.map((path) => relative(directory.path(), resolve(path)));

  /** Root may list everything; for the time of `use` this process is somebody else. */
  async function asOrdinaryUser<T>(use: () => Promise<T>): Promise<T> {
    const { geteuid, seteuid } = process;
    if (geteuid === undefined || seteuid === undefined || geteuid() !== 0) return use();
    seteuid(65534);
    try {
      return await use();
    } finally {
      seteuid(0);
    }
  }

  async function listDirectory(path: string, rules?: ListingRules): Promise<readonly string[]> {
    const walk = new DirectoryWalk();
    const { files } = await walk.list(path, rules);
    await walk.end();
    return files;
  }

  describe('a walk', () => {
    it('lists all files at all depths, hidden ones too, by the bytes of their paths', async () => {
      makeFiles('d/b', 'd/B', 'd/a/x', 'd/a-x', 'd/a.x', 'd/.h', 'd/e/f/g/deep', 'd/～', 'd/\u{1f600}');
      mkdirSync(directory.path('d/empty'));
      expect(namesOf(await listDirectory(directory.path('d')))).toEqual([
        'd/.h',
        'd/B',
        'd/a-x',
        'd/a.x',
        'd/a/x',
        'd/b',
        'd/e/f/g/deep',
        'd/～',
        'd/\u{1f600}',
      ]);
    });

    it('refuses a directory that goes while it is listed, unless its name may vanish', async () => {
      makeFiles('d/a', 'd/part1/x', 'd/z');
      const list = () =>
        listDirectory(directory.path('d'), {
          isLeftOut: (folder) => {
            if (folder.endsWith('/d')) renameSync(directory.path('d/part1'), directory.path('d/part1.done'));
            return false;
          },
        });
      await expect(list()).rejects.toThrow(/cannot list the directory .*part1: no such file or directory/);
      renameSync(directory.path('d/part1.done'), directory.path('d/part1'));
      const leaving = listDirectory(directory.path('d'), {
        isLeftOut: (folder) => {
          if (folder.endsWith('/d')) rmSync(directory.path('d/part1'), { recursive: true });
          return false;
        },
        mayVanish: (name) => name === 'part1',
      });
      expect(namesOf(await leaving)).toEqual(['d/a', 'd/z']);
    });

    it('follows links to files and to directories, each directory once, and a cycle ends', async () => {
      makeFiles('d/a', 'd/sub/b', 'd/z/c', 'outside/x', 'outside/in/y', 'outside/.h/z');
      symlinkSync(directory.path('outside/x'), directory.path('d/file'));
      symlinkSync('/dev/null', directory.path('d/device'));
      // What is reached directly has that path, whatever links lead there.
      symlinkSync(directory.path('d'), directory.path('d/self'));
      symlinkSync('sub', directory.path('d/again'));
      symlinkSync('..', directory.path('d/sub/up'));
      // Of links, the first by its path, and a link below a link comes later.
      symlinkSync('../../outside', directory.path('d/sub/later'));
      symlinkSync('../outside/in', directory.path('d/B'));
      symlinkSync('../outside', directory.path('d/m'));
      symlinkSync('../../d/z', directory.path('outside/in/back'));
      symlinkSync('../.h', directory.path('outside/in/hidden'));
      expect(namesOf(await listDirectory(directory.path('d')))).toEqual(
        'd/B/y d/a d/file d/m/.h/z d/m/x d/sub/b d/z/c'.split(' '),
      );
    });

    it('gives a directory to the first way that leads there, of all directories that it lists', async () => {
      makeFiles('d/a', 'e/sub/b', 'f/c');
      for (const [target, link] of [
        ['../e/sub', 'd/l'],
        ['../f', 'd/m'],
        ['../f', 'e/k'],
      ] as const)
        symlinkSync(target, directory.path(link));
      const walk = new DirectoryWalk();
      const listed = [await walk.list(directory.path('d')), await walk.list(directory.path('e'))];
      await walk.end();
      expect(listed.map(({ files }) => namesOf(files))).toEqual([['d/a', 'd/m/c'], ['e/sub/b']]);
      expect(listed.map(({ roots }) => roots.map(({ place }) => place))).toEqual([['', 'm'], ['']]);
    });

    it('applies its rules to links by their own names', async () => {
      makeFiles('d/a', 'o/x', 'o/y');
      symlinkSync('../o', directory.path('d/passed'));
      symlinkSync('../o', directory.path('d/taken'));
      symlinkSync('nowhere', directory.path('d/unwanted'));
      symlinkSync('loop', directory.path('d/loop'));
      const rules: ListingRules = {
        isPassedOver: (place) => place === 'passed',
        isTaken: (place) => ['taken/x', 'a'].includes(place),
      };
      expect(namesOf(await listDirectory(directory.path('d'), rules))).toEqual(['d/a', 'd/taken/x']);
    });

    it('refuses a link that leads nowhere', async () => {
      makeFiles('d/a');
      for (const target of ['missing', 'link', 'a/below']) {
        symlinkSync(target, directory.path('d/link'));
        await expect(listDirectory(directory.path('d'))).rejects.toThrow('is a symbolic link that leads nowhere');
        rmSync(directory.path('d/link'));
      }
    });

    it('refuses each name that is not UTF-8, and takes the sign for such bytes as it stands', async () => {
      makeFiles('d/a', 'd/deep/b', 'd/real \ufffd.txt');
      const write = (folder: string, ...bytes: number[]) =>
        writeFileSync(
          Buffer.concat([Buffer.from(directory.path(folder)), Buffer.from('/caf'), Buffer.of(...bytes)]),
          '',
        );
      expect(namesOf(await listDirectory(directory.path('d')))).toEqual(['d/a', 'd/deep/b', 'd/real \ufffd.txt']);
      write('d/deep', 0xe9);
      const refused = `${directory.path('d/deep/caf\ufffd')}: the name is not valid UTF-8; rename the file`;
      await expect(listDirectory(directory.path('d'))).rejects.toThrow(refused);
      await expect(listMatches(directory.path('d/deep/c*'))).rejects.toThrow(refused);
      // Now the path leads to a file, which is another one.
      makeFiles('d/deep/caf\ufffd');
      await expect(listDirectory(directory.path('d'))).rejects.toThrow(refused);
    });
  });

  describe('listMatches', () => {
    it.each([
      ['p/*.txt', ['p/10.txt', 'p/9.txt']],
      ['p/?.txt', ['p/9.txt']],
      ['p/[0-5]*.txt', ['p/10.txt']],
      ['p/*.{csv,txt}', ['p/10.txt', 'p/9.txt', 'p/x.csv']],
      ['p/**/*.txt', ['p/10.txt', 'p/9.txt', 'p/deep/er/1.txt']],
      ['{p,q}/*.csv', ['p/x.csv', 'q/x.csv']],
      ['p/!*', ['p/!not']],
      ['p/*.none', []],
      ['none/*', []],
      ['p/9.txt/*', []],
      ['p/**', ['p/!not', 'p/10.txt', 'p/9.txt', 'p/deep/er/1.txt', 'p/x.csv']],
      ['{p/deep,q}/**/[!y]*', ['p/deep/er/1.txt', 'q/x.csv']],
      ['{p,{q,{r,p}}}/*.{c,t}{xt,sv}', ['p/10.txt', 'p/9.txt', 'p/x.csv', 'q/x.csv']],
      ['p//./*.csv/', ['p/x.csv']],
      ['{p/*,{p,q}/x.csv,**/x.csv}', ['p/!not', 'p/10.txt', 'p/9.txt', 'p/x.csv', 'q/x.csv']],
      ['**/deep/**/**/1.txt', ['p/deep/er/1.txt']],
    ])('gives for %s files alone, sorted by bytes', async (pattern, expected) => {
      makeFiles('p/9.txt', 'p/10.txt', 'p/x.csv', 'p/deep/er/1.txt', 'p/.hidden.txt', 'p/!not', 'q/x.csv');
      process.chdir(directory.path());
      expect(await listMatches(pattern)).toEqual(expected);
      expect(namesOf(await listMatches(directory.path(pattern)))).toEqual(expected);
    });

    it.each(['p/{1..10}.txt', 'p/{a,{1..3}}', '{0..9}/*'])(
      'refuses a range, which only shells know: %s',
      async (pattern) => {
        makeFiles('p/1.txt', 'p/10.txt');
        await expect(listMatches(directory.path(pattern))).rejects.toThrow(
          / has a range in braces, which only shells know/,
        );
      },
    );

    it('gives hidden files only when a dot is written', async () => {
      makeFiles('p/a.txt', 'p/b.txt', 'p/.hidden.txt', 'p/.folder/a.txt');
      expect(namesOf(await listMatches(directory.path('p/[!a]*.txt')))).toEqual(['p/b.txt']);
      expect(namesOf(await listMatches(directory.path('p/[.]*.txt')))).toEqual([]);
      expect(namesOf(await listMatches(directory.path('p/**/a.txt')))).toEqual(['p/a.txt']);
      expect(namesOf(await listMatches(directory.path('p/.h*')))).toEqual(['p/.hidden.txt']);
      expect(namesOf(await listMatches(directory.path('p/.f*/*.txt')))).toEqual(['p/.folder/a.txt']);
    });

    it.each([
      ['a (1)/*.txt', ['a (1)/x.txt']],
      ['a (?)/*.txt', ['a (1)/x.txt']],
      ['one).t*', ['one).txt']],
      ['two(.t*', ['two(.txt']],
      ['p(q)+?.txt', ['p(q)+z.txt']],
      ['[cd]+.txt', ['c+.txt']],
      ['a|b/*', ['a|b/x.txt']],
      ['{a (1),a|b}/*', ['a (1)/x.txt', 'a|b/x.txt']],
      ['@(one|two)*', []],
      ['a \\(1\\)/*.txt', ['a (1)/x.txt']],
      ['[(]*', ['(open.txt']],
    ])('takes all but its own few signs as they stand: %s', async (pattern, expected) => {
      makeFiles('a (1)/x.txt', 'a 1/x.txt', 'one).txt', 'two(.txt', 'two.txt', 'p(q)+z.txt', 'pqz.txt');
      makeFiles('c+.txt', 'cc.txt', 'a|b/x.txt', 'a/x.txt', 'b/x.txt', '(open.txt');
      process.chdir(directory.path());
      expect(await listMatches(pattern)).toEqual(expected);
      expect(namesOf(await listMatches(directory.path(pattern)))).toEqual(expected);
    });

    it('gives the same files in the same order from every current directory', async () => {
      makeFiles('p/a/1.txt', 'p/b/1.txt', 'p/c/1.txt', 'p/b/d/1.txt');
      for (const [from, pattern] of [
        ['.', 'p/*/1.txt'],
        ['p', '*/1.txt'],
        ['p', '../p/*/1.txt'],
        ['p/a', '../*/1.txt'],
        ['p/b', '../*/1.txt'],
        ['p/b/d', '../../*/1.txt'],
        ['p/c', './../*/1.txt'],
      ] as const) {
        process.chdir(directory.path(from));
        const expected = ['p/a/1.txt', 'p/b/1.txt', 'p/c/1.txt'];
        expect(namesOf(await listMatches(pattern)), `${pattern} from ${from}`).toEqual(expected);
        expect(namesOf(await listMatches(directory.path('p/*/1.txt')))).toEqual(expected);
      }
    });

    it('finds links to files and below links to directories, and gives a link that leads nowhere, for its reader', async () => {
      makeFiles('p/a.txt', 'outside/x.txt');
      symlinkSync(directory.path('outside'), directory.path('p/folder'));
      symlinkSync(directory.path('outside/x.txt'), directory.path('p/link.txt'));
      const found = ['p/a.txt', 'p/folder/x.txt', 'p/link.txt'];
      expect(namesOf(await listMatches(directory.path('p/**/*.txt')))).toEqual(found);
      symlinkSync('nowhere', directory.path('p/other'));
      expect(namesOf(await listMatches(directory.path('p/**/*.txt')))).toEqual(found);
      symlinkSync('nowhere', directory.path('p/lost.txt'));
      symlinkSync('loop.txt', directory.path('p/loop.txt'));
      expect(namesOf(await listMatches(directory.path('p/*.txt')))).toEqual([
        'p/a.txt',
        'p/link.txt',
        'p/loop.txt',
        'p/lost.txt',
      ]);
    });

    it('follows links to directories, and `**` none that leads back, so that a cycle ends', async () => {
      makeFiles('p/x/a.txt', 'p/y/b.txt');
      symlinkSync(directory.path('p'), directory.path('p/x/up'));
      symlinkSync(directory.path('p/y'), directory.path('p/x/other'));
      symlinkSync(directory.path('p/x'), directory.path('p/y/other'));
      expect(namesOf(await listMatches(directory.path('p/**/a.txt')))).toEqual(['p/x/a.txt', 'p/y/other/a.txt']);
      expect(namesOf(await listMatches(directory.path('p/*/up/x/a.txt')))).toEqual(['p/x/up/x/a.txt']);
    });

    it('lists each directory once, and stops when it is asked to', async () => {
      makeFiles(...Array.from({ length: 300 }, (_, i) => `p/${i}/a.txt`));
      let calls = 0;
      const former = replaceFileCalls({
        ...systemFileCalls,
        list: (path) => {
          calls += 1;
          return systemFileCalls.list(path);
        },
      });
      try {
        expect(await listMatches(directory.path('{p,q}/**/{a,?}.txt'))).toHaveLength(300);
        expect(calls).toBe(1 + 301);
        const stopped = listMatches(directory.path('p/**/a.txt'), AbortSignal.abort());
        await expect(stopped).rejects.toThrow(AbortError);
      } finally {
        replaceFileCalls(former);
      }
    });

    it('refuses a directory that may hold matches and cannot be listed', async () => {
      makeFiles('p/open/1.txt', 'p/closed/1.txt');
      // Loads all modules before the process changes its user.
      expect(await listMatches(directory.path('p/*/1.txt'))).toHaveLength(2);
      chmodSync(directory.path(), 0o755);
      chmodSync(directory.path('p/closed'), 0);
      const refused = asOrdinaryUser(() => listMatches(directory.path('p/*/1.txt')));
      await expect(refused).rejects.toThrow(InputError);
      await expect(refused).rejects.toThrow(/^cannot list the directory .*\/p\/closed\/?: permission denied$/);
      expect(await asOrdinaryUser(() => listMatches(directory.path('p/open/*.txt')))).toHaveLength(1);
    });
  });

  it.each(['*/../1.txt', '{../*,x}/1.txt', 'p/{x,..}', 'p/*/..'])(
    'refuses %s, which goes up after its first wildcard',
    async (pattern) => {
      await expect(listMatches(pattern)).rejects.toThrow(
        `the pattern ${pattern} goes up (..) after its first wildcard; begin it with the directory to search`,
      );
    },
  );

  describe('statPath', () => {
    it('follows links, and says when there is nothing', () => {
      makeFiles('a');
      symlinkSync('a', directory.path('link'));
      symlinkSync('none', directory.path('dangling'));
      expect(statPath(directory.path('link'), 'input')?.isFile()).toBe(true);
      for (const name of ['none', 'dangling', 'a/below']) {
        expect(statPath(directory.path(name), 'input')).toBeUndefined();
      }
    });

    it('throws what the role says when it cannot look', () => {
      symlinkSync('loop', directory.path('loop'));
      const looking = (role: 'input' | 'output') => () => statPath(directory.path('loop'), role);
      expect(looking('input')).toThrow(InputError);
      expect(looking('output')).toThrow(SystemError);
      expect(looking('input')).toThrow('too many symbolic links');
    });
  });

  it.each([
    ['a*', true],
    ['a?', true],
    ['[a]', true],
    ['{a,b}', true],
    ['a b-c.d_e/f', false],
    ['(a)', false],
  ])('isPattern: %s', (path, expected) => {
    expect(isPattern(path)).toBe(expected);
  });
});
