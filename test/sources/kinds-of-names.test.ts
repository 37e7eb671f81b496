/** Kinds of names: what may stand together in a directory, what is told, what is refused, and with which way on. */
import { describe, expect, it } from 'vitest';
import { InputError } from '#src/errors.js';
import { matcherBelow } from '#src/io/list-files.js';
import { requireOneKind } from '#src/sources/kinds-of-names.js';

/** What is told or refused of files below `d`, without the words that all messages share. */
function saidOf(names: string, include: readonly string[] = []): string {
  let told = 'nothing';
  const paths = names.split(' ').map((name) => `d/${name}`);
  const shorten = (line: string) => line.replace('below d are files of different kinds: ', '');
  try {
    requireOneKind(paths, ['d'], include, (line) => {
      told = `told: ${shorten(line).replace(/; all of them are read$/, '')}`;
    });
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return `refused: ${shorten(error.message).replace(/ (for one kind|to leave these out), or `include` '\*' for all of them$/, '')}`;
  }
  return told;
}

describe('names of one kind', () => {
  it.each([
    'a.jsonl b.jsonl.gz c.JSONL.zst x/d.jsonl.xz',
    'part-00000 part-00001.gz part-00002.snappy',
    'part-00000-1a2b.c000.json part-00001-1a2b.c000.json.deflate',
    'train.tfrecord-00000-of-00002 train.tfrecord-00001-of-00002',
    'Packages x/Packages.xz deb.debian.org_debian_dists_bookworm_main_binary-amd64_Packages',
    'app.log.1 app.log.2.gz app.log-20240101',
    'a.en-de.txt b.txt',
    'README',
  ])('say nothing: %s', (names) => {
    expect(saidOf(names)).toBe('nothing');
  });
});

describe('names of several kinds', () => {
  it.each([
    ['a.en a.de a.cs.gz', 'told: 1 .cs, 1 .de, 1 .en'],
    ['a.zh-CN a.pt_BR a.fa', 'told: 1 .fa, 1 .pt_br, 1 .zh-cn'],
    ['app.log app.log.1 app.log.2.gz error.log-20240101', 'told: 4 .log or .log.N'],
    ['events.json events.json.2024-01-01', 'told: 2 .json or .json.N'],
    ['syslog syslog.1 auth.log', 'told: 2 without an ending, 1 .log'],
    ['a.ndjson b.jsonl', 'told: 2 .ndjson or .jsonl'],
    ['a.c a.h b.c Makefile', 'told: 3 .c or .h, 1 without an ending'],
    ['a.py b.py c.py d.sh README.md setup.cfg', 'told: 3 .py, 1 .cfg, 1 .md, 1 .sh'],
    ['1.aa 2.ab 3.ac 4.ad 5.ae 6.af 7.ag 8.ah 9.ai 10.aj 11.ak 12.al', /^told: 1 \.aa, .* 1 \.aj and 2 other kinds$/],
  ])('tell of %s', (names, said) => {
    expect(saidOf(names)).toEqual(typeof said === 'string' ? said : expect.stringMatching(said));
  });

  it.each([
    ['a.jsonl README.md', "1 .jsonl, 1 .md; give `include` '*.jsonl'", 'a.jsonl'],
    ['a.jsonl.gz b.jsonl c.md d.md', "2 .jsonl, 2 .md; give `include` '{*.jsonl.gz,*.jsonl}'", 'a.jsonl.gz b.jsonl'],
    ['a.csv b.json b.json.2', "2 .json or .json.N, 1 .csv; give `include` '*.csv'", 'a.csv'],
    ['a.JSON.GZ b.txt.1 b.txt.2', "2 .txt.N, 1 .json; give `include` '*.txt.[0-9]*'", 'b.txt.1 b.txt.2'],
    ['a.jsonl LICENSE', "1 LICENSE, 1 .jsonl; give `include` '*.jsonl'", 'a.jsonl'],
    ['a.jsonl a.jsonl.bak load.py x.py', "2 .py, 1 .bak, 1 .jsonl; give `include` '*.jsonl'", 'a.jsonl'],
    [
      'a.txt b.txt README.txt',
      "2 .txt, 1 README.txt; give `include` '*.txt' and `exclude` 'README.txt'",
      'a.txt b.txt',
    ],
    [
      'a.txt.gz b.txt.gz README.txt.gz',
      "2 .txt, 1 README.txt; give `include` '*.txt.gz' and `exclude` 'README.txt.gz'",
      'a.txt.gz b.txt.gz',
    ],
    ['part-0 part-1 README.md', "2 without an ending, 1 .md; give `exclude` '*.md'", 'part-0 part-1'],
    ['a.en a.de README LICENSE', "1 LICENSE, 1 README, 1 .de, 1 .en; give `exclude` '{LICENSE,README}'", 'a.en a.de'],
    [
      'src/a.ts src/b.ts package.json README.md LICENSE',
      "2 .ts, 1 LICENSE, 1 .json, 1 .md; give `exclude` '{LICENSE,*.json,*.md}'",
      'src/a.ts src/b.ts',
    ],
    ['a.bin a.idx', "1 .bin, 1 .idx; give `include` '*.bin'", 'a.bin'],
    ['README LICENSE', "1 LICENSE, 1 README; give `include` 'LICENSE'", 'LICENSE'],
  ])('are refused: %s', async (names, said, taken) => {
    expect(saidOf(names)).toBe(`refused: ${said}`);
    // The way on works.
    const [, include = '*', exclude = '-'] =
      /give(?: `include` '(.*?)')?(?: and)?(?: `exclude` '(.*)')?$/.exec(said) ?? [];
    const [isIncluded, isExcluded] = [await matcherBelow(include), await matcherBelow(exclude)];
    const left = names.split(' ').filter((name) => isIncluded(name) && !isExcluded(name));
    expect(left.join(' ')).toBe(taken);
    expect(saidOf(taken)).not.toMatch('refused');
  });

  it('are told where a glob chose them, and taken as they are with *', () => {
    expect(saidOf('a.jsonl a.md', ['a*'])).toBe('told: 1 .jsonl, 1 .md');
    expect(saidOf('a.jsonl a.md', ['*'])).toBe('nothing');
  });
});
