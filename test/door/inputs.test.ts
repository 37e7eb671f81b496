/** What counts as an input: which files of a directory are data, and how a caller chooses others. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { appendToStore, checkShuffled, planCluster, previewShuffle, verifyPermutation } from '#src/index.js';
import { isHiddenName } from '#src/sources/file-choice.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { testDoor } from './door-case.js';

const CHECKOUT = {
  'd/.git/HEAD': 'ref: refs/heads/main\n',
  'd/.gitattributes': '*.jsonl filter=lfs\n',
  'd/.cache/huggingface/x.metadata': 'x\n',
  'd/._train.jsonl': '"x"\n',
  'd/.train.jsonl.Ab12Cd': '{"a"',
  'd/README.md': '# Data\n',
  'd/train.jsonl': '{"a":1}\n{"a":2}\n',
};
const HIDDEN =
  'warning: left out 5 hidden files and directories: d/._train.jsonl, d/.cache, d/.git and 2 more; --hidden takes them';
const RECORDS = ['{"a":1}\n', '{"a":2}\n'];

describe('a checkout', () => {
  testDoor([
    {
      name: 'with a README is refused',
      files: CHECKOUT,
      argv: 'd',
      badInput:
        "below d are files of different kinds: 1 .jsonl, 1 .md; give --include '*.jsonl' for one kind, or --include '*' for all of them",
    },
    {
      name: 'with one kind chosen',
      files: CHECKOUT,
      argv: 'd --include *.jsonl',
      lines: [HIDDEN],
      records: RECORDS,
    },
    {
      name: 'without the other kind',
      files: CHECKOUT,
      argv: 'd --exclude *.md',
      lines: [HIDDEN],
      records: RECORDS,
    },
    {
      name: 'with all kinds',
      files: CHECKOUT,
      argv: 'd --include *',
      lines: [HIDDEN],
      records: [...RECORDS, '# Data\n'],
    },
    {
      name: 'with hidden files',
      files: CHECKOUT,
      argv: 'd --hidden --exclude *.md --exclude .git* --exclude .cache --exclude *.Ab12Cd'.split(' '),
      records: [...RECORDS, '"x"\n'],
    },
    { name: 'whose hidden part is named', files: CHECKOUT, argv: 'd/.cache', records: ['x\n'] },
    {
      name: 'whose files are named, which makes no choice',
      files: CHECKOUT,
      argv: 'd/README.md d/*.jsonl d/.gitattributes',
      records: ['# Data\n', ...RECORDS, '*.jsonl filter=lfs\n'],
    },
  ]);
});

describe('files of a directory', () => {
  const files = {
    'd/a.txt': 'a\n',
    'd/sub/a.txt': 'sub a\n',
    'd/sub/b.txt': 'sub b\n',
    'd/other/sub/a.txt': 'other a\n',
    'd/b.txt': 'b\n',
    'd/x.txt/c.md': 'c\n',
    'd/x.txt/dangling.md': { link: 'nowhere' },
  };
  const chosen = (name: string, words: string[], records: string[]) => ({
    name,
    files,
    argv: ['d', ...words],
    records,
  });
  testDoor([
    chosen('by name, at any depth', ['--include', 'a.txt'], ['a\n', 'sub a\n', 'other a\n']),
    chosen('by path', ['--include', 'sub/*.txt'], ['sub a\n', 'sub b\n']),
    chosen('by a path from the directory on', ['--include', '/a.txt'], ['a\n']),
    chosen('by a directory', ['--include', 'sub/'], ['sub a\n', 'sub b\n']),
    chosen('by a path of any depth', ['--include', '**/sub/*'], ['sub a\n', 'sub b\n', 'other a\n']),
    chosen('by two globs', ['--include', 'b.txt', '--include', 'other/**'], ['b\n', 'sub b\n', 'other a\n']),
    chosen('less directories of a name', ['--exclude', 'sub', '--exclude', 'x.*'], ['a\n', 'b\n']),
    chosen('less one directory', ['--exclude', '/sub', '--exclude', '*.md'], ['a\n', 'b\n', 'other a\n']),
    chosen('less some of the chosen', ['--include', '*.txt', '--exclude', 'b.*'], ['a\n', 'sub a\n', 'other a\n']),
    {
      name: 'of which none is chosen',
      files,
      argv: 'd --include *.jsonl',
      badInput:
        'the directory d holds no files that --include and --exclude choose; expected at least one: check the globs',
    },
    {
      name: 'behind links to directories, each once',
      files: {
        'd/a.txt': 'a\n',
        'd/linked': { link: '../store/part' },
        'd/twice': { link: '../store/part' },
        'd/loop': { link: '.' },
        'store/part/b.txt': 'b\n',
        'store/part/up': { link: '../../d' },
      },
      argv: 'd',
      records: ['a\n', 'b\n'],
    },
    {
      name: 'that are all hidden',
      files: { 'd/.a': 'a\n', 'd/_SUCCESS': '' },
      argv: 'd',
      badInput: 'the directory d holds no files; --hidden takes hidden ones, too',
    },
    {
      name: 'that are of two languages',
      files: { 'd/a.en': 'one\n', 'd/a.de': 'eins\n' },
      argv: 'd',
      lines: ['warning: below d are files of different kinds: 1 .de, 1 .en; all of them are read'],
      records: ['one\n', 'eins\n'],
    },
    {
      name: 'that are of two kinds in two directories',
      files: { 'd/a.csv': 'a\n', 'e/a.json': '1\n', 'e/empty.md': '' },
      argv: 'd e',
      badInput: /below d, e are files of different kinds: 1 .csv, 1 .json; give --include '\*.csv' for one kind/,
    },
    ...['--hidden', '--include=*', '--exclude=x'].map((word) => ({
      name: `that are chosen by ${word} where no directory is named`,
      files: { a: 'a\n' },
      argv: ['a', word],
      badCall: `${word.replace(/=.*/, '')} chooses among the files of directories, and no input is one; leave it out, or name a directory`,
    })),
  ]);
});

describe('earlier outputs', () => {
  const data = { 'd/a.txt': 'a\n', 'd/b.txt': 'b\n' };
  const marker = '{"shards":2,"records":2,"bytes":4,"checksum":"0123456789abcdef"}\n';
  const set = (directory: string, prefix = 'shard', ending = '.txt') => ({
    [`${directory}/.${prefix}.complete.json`]: marker,
    [`${directory}/${prefix}-00000-of-00002${ending}`]: 'b\n',
    [`${directory}/${prefix}-00001-of-00002${ending}`]: 'a\n',
  });
  const among = (path: string, glob: string, reading: string) =>
    `${path} holds the complete shards of an earlier job among the inputs; give --exclude '${glob}' to leave them out, or ${reading}`;
  const inside = (output: string, glob: string) =>
    `the output ${output} lies in the input directory d, where the next job would read it; name a place elsewhere, or give --exclude '${glob}' to leave it out`;
  testDoor([
    {
      name: 'of a job that would write there',
      files: data,
      argv: 'd -o d/all.txt',
      badCall: inside('d/all.txt', '/all.txt'),
    },
    {
      name: 'of a job that would write there through a link',
      files: { ...data, 'e/c.txt': 'c\n', 'd/link': { link: '../e' } },
      argv: 'd -o e/all.txt',
      badCall: inside('e/all.txt', '/link/all.txt'),
    },
    {
      name: 'in a new directory there',
      files: data,
      argv: 'd -o d/out --shards 2',
      badCall: inside('d/out', '/out'),
    },
    {
      name: 'in the directory itself',
      files: data,
      argv: 'd -o d --split x=0.5,y=0.5',
      badCall: inside('d', '/{x,y}-*-of-*'),
    },
    ...[
      ['hidden', '-o', 'd/.all.txt'],
      ['excluded', '-o', 'd/all.txt', '--exclude', '/all.txt'],
      ['excluded', '-o', 'd/out', '--shards', '1', '--exclude', '/out'],
      ['excluded', '-o', 'd', '--split', 'x=0.5,y=0.5', '--exclude', '/{x,y}-*-of-*'],
      ['of a kind not included', '-o', 'd/all.jsonl', '--include', '*.txt'],
    ].map(([why = '', ...words]) => ({
      name: `that are ${why}: ${words.join(' ')}`,
      files: { 'd/a.txt': 'a\nb\nc\nd\n' },
      argv: ['d', ...words],
    })),
    {
      name: 'below a directory',
      files: { ...data, ...set('d/sub/out') },
      argv: 'd',
      badInput: among('d/sub/out', '/sub/out/shard-*-of-*', 'name d/sub/out itself to read them'),
    },
    {
      name: 'of two splits behind a link',
      files: { ...data, ...set('e', 'x'), ...set('e', 'y'), 'd/l': { link: '../e' } },
      argv: 'd',
      badInput: among('d/l', '/l/{x,y}-*-of-*', 'name d/l itself to read them'),
    },
    {
      name: 'beside what they were made of',
      files: { ...data, ...set('d') },
      argv: 'd',
      badInput: among('d', '/shard-*-of-*', "--include '/shard-*-of-*' to take them alone"),
    },
    {
      name: 'that are left out',
      files: { ...data, ...set('d/out') },
      argv: 'd --exclude /out/shard-*-of-*',
      records: ['a\n', 'b\n'],
    },
    {
      name: 'that are named themselves',
      files: { ...data, ...set('d/out') },
      argv: 'd/out',
      records: ['a\n', 'b\n'],
    },
    {
      name: 'that are named themselves, with hidden names',
      files: { ...data, ...set('d/out') },
      argv: 'd/out --hidden',
      lines: ['warning: d/out/.shard.complete.json: left out, because pileshuf made it beside data'],
      records: ['a\n', 'b\n'],
    },
    {
      name: 'whose hidden file only has the name of a marker',
      files: { ...data, 'd/.shard.complete.json': '{}\n' },
      argv: 'd',
      lines: ['warning: left out 1 hidden file or directory: d/.shard.complete.json; --hidden takes it'],
      records: ['a\n', 'b\n'],
    },
    {
      name: 'of a kind that is not included',
      files: { ...data, ...set('d/out', 'shard', '.jsonl') },
      argv: 'd --include *.txt',
      records: ['a\n', 'b\n'],
    },
    ...[
      ['d', '--include', 'train*'],
      ['d', '--include', '*'],
    ].map((argv) => ({
      name: `of splits, chosen: ${argv.join(' ')}`,
      files: { ...set('d', 'train'), ...set('d', 'test') },
      argv,
      records: argv.includes('*') ? ['a\n', 'a\n', 'b\n', 'b\n'] : ['a\n', 'b\n'],
    })),
    {
      name: 'of splits, which are not to become one order',
      files: { ...set('d', 'train'), ...set('d', 'test') },
      argv: 'd',
      badInput:
        "d holds the splits test, train of an earlier job, which would be shuffled together; give --include 'test*' for one of them, or --include '*' for all",
    },
    {
      name: 'of two prefixes',
      files: { ...set('d', 'x'), ...set('d', 'y') },
      argv: 'd',
      lines: ['warning: d holds several complete outputs (x, y), which are shuffled together'],
      records: ['a\n', 'a\n', 'b\n', 'b\n'],
    },
    {
      name: 'of a checkout with splits, by the names of files',
      files: { 'd/data/train-00000-of-00001.txt': 'a\n', 'd/data/Validation.txt': 'b\n', 'd/other/test.txt': 'c\n' },
      argv: 'd',
      lines: [
        "warning: d holds several splits (Validation*, train*), which are shuffled together; give --include 'Validation*' for one of them",
      ],
      records: ['a\n', 'b\n', 'c\n'],
    },
    {
      name: 'of a checkout with splits, by the names of directories',
      files: { 'd/x/dev/0.txt': 'a\n', 'd/x/train/0.txt': 'b\n', 'd/trainer.txt': 'c\n' },
      argv: 'd',
      lines: [
        "warning: d holds several splits (x/dev/**, x/train/**), which are shuffled together; give --include 'x/dev/**' for one of them",
      ],
      records: ['a\n', 'b\n', 'c\n'],
    },
    {
      name: 'beside a compressed copy',
      files: { 'd/p.txt': 'a\n', 'd/p.txt.gz': gzipSync('a\n'), 'd/q.txt': 'b\n' },
      argv: 'd',
      badInput:
        "d/p.txt and d/p.txt.gz are two copies of one file by their names; give --exclude '*.gz' to leave one out, or --include '*' for all files",
    },
    {
      name: 'beside a compressed copy, by a pattern',
      files: { 'd/p.txt': 'a\n', 'd/p.txt.gz': gzipSync('a\n') },
      argv: 'd/*',
      badInput:
        'd/p.txt and d/p.txt.gz are two copies of one file by their names; give a pattern that matches one of them',
    },
    {
      name: 'beside a compressed copy, and splits, which the caller names',
      files: { 'd/test.txt.gz': gzipSync('a\n'), 'd/test.txt': 'a\n', 'd/train-0.txt': 'b\n', 'e/train.txt': 'c\n' },
      argv: 'd/test.txt.gz d/test.txt d/train-0.txt e/train.txt',
      lines: [
        'warning: d/test.txt.gz and d/test.txt are two copies of one file by their names; each of their records comes twice',
        'warning: the inputs hold several splits (d/test*, d/train*), which are shuffled together; name only the files of one to shuffle it alone',
      ],
      records: ['a\n', 'a\n', 'b\n', 'c\n'],
    },
    {
      name: 'of others, without a marker',
      files: { 'd/data/train-00000-of-00002.txt': 'a\n', 'd/data/train-00001-of-00002.txt': 'b\n' },
      argv: 'd',
      records: ['a\n', 'b\n'],
    },
  ]);
});

describe('files without content', () => {
  const files = { 'd/part-0.csv': 'n\n1\n', 'd/part-1.csv': '', 'd/part-2.csv.gz': gzipSync(''), 'd/_SUCCESS': '' };
  const hidden = 'warning: left out 1 hidden file or directory: d/_SUCCESS; --hidden takes it';
  testDoor([
    {
      name: 'are not inputs where a header is asked for',
      files,
      argv: 'd --csv --header 1',
      lines: [hidden, 'warning: d/part-1.csv (and 1 other input) has no content, and so no header; left out'],
      summary: / 1 record, /,
      records: ['n\n', '1\n'],
    },
    {
      name: 'are inputs where none is',
      files: { 'd/part-0.csv': 'n\n1\n', 'd/part-1.csv': '' },
      argv: 'd --csv',
      summary: / 2 records, /,
      records: ['n\n', '1\n'],
    },
    {
      name: 'that are named are none either, and there must be others',
      files,
      argv: 'd/part-1.csv d/part-2.csv.gz --skip-bytes 2',
      badInput: 'd/part-1.csv (and 1 other input) has no content, and so no header; there is no other input',
    },
    {
      name: 'have places that keys from ordinals need',
      files,
      argv: 'd/part-0.csv d/part-1.csv --csv --header 1 --key ordinal',
      badInput: /d\/part-1\.csv: /,
    },
    {
      name: 'of a kind that describes itself are damaged',
      files: { 'a.npy': '' },
      argv: 'a.npy --npy',
      badInput: /a\.npy: /,
    },
  ]);
});

describe('pointers', () => {
  const lfs = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12\n`;
  const annex = '/annex/objects/SHA256E-s12--00.jsonl\n';
  testDoor([
    {
      name: 'of Git LFS are refused',
      files: { 'd/a.jsonl': '1\n', 'd/b.jsonl': lfs, 'd/c.jsonl': lfs },
      argv: 'd',
      badInput: 'd/b.jsonl (and 1 other input) is a Git LFS pointer, not the data; run git lfs pull',
    },
    {
      name: 'that are named are refused, whatever a record is',
      files: { 'a.bin': lfs.replaceAll('\n', '\r\n') },
      argv: 'a.bin --record-size 2',
      badInput: 'a.bin is a Git LFS pointer, not the data; run git lfs pull',
    },
    {
      name: 'of git-annex are refused',
      files: { a: annex },
      argv: 'a --lines',
      badInput: 'a is a git-annex pointer, not the data; run git annex get',
    },
    {
      name: 'are data for a program that the caller names',
      files: { a: annex },
      argv: 'a --decompress-program cat',
      records: [annex],
    },
  ]);
});

describe('the cache of a Hub repository', () => {
  const cache = {
    'd/datasets--me--words/blobs/12': 'a\n',
    'd/datasets--me--words/blobs/34': 'b\n',
    'd/datasets--me--words/snapshots/old/a.txt': { link: '../../blobs/12' },
    'd/datasets--me--words/snapshots/new/a.txt': { link: '../../blobs/34' },
  };
  const path = 'd/datasets--me--words';
  const refusal = (advice: string) =>
    `${path} is the cache of a Hub repository, which holds each file twice and all versions that were loaded; ${advice}`;
  testDoor([
    {
      name: 'is refused with the path to name',
      files: { ...cache, [`${path}/refs/main`]: 'new' },
      argv: [path],
      badInput: refusal(`name its newest snapshot, ${path}/snapshots/new`),
    },
    {
      name: 'is refused below a directory',
      files: cache,
      argv: 'd',
      badInput: refusal(`name one of those in ${path}/snapshots`),
    },
    { name: 'has snapshots that can be named', files: cache, argv: [`${path}/snapshots/new`], records: ['b\n'] },
  ]);
});

describe('a name that is hidden', () => {
  it.each([
    ...'.x ._x .nfs000000000123 .DS_Store .a.txt.swp .#a .~lock.a# .ipynb_checkpoints .hoodie'.split(' '),
    ...['_SUCCESS', '_metadata', '_common_metadata', '_temporary', '_delta_log', '_spark_metadata', '_committed_12'],
    ...['_started_12', '_change_data', 'dir_$folder$', 'a.txt._COPYING_', '__pycache__', 'a.pyc', '__MACOSX', 'Icon\r'],
    ...['Thumbs.db', 'desktop.ini', 'Desktop.ini', 'lost+found', '@eaDir', 'a.txt~', '#a.txt#', '~$a.docx'],
    ...['dataset_infos.json', 'dataset_info.json', 'System Volume Information'],
  ])('%j', (name) => expect(isHiddenName(name)).toBe(true));

  it.each(['_a.txt', '_success', 'metadata', 'x_SUCCESS', '__init__.py', '-', '#a', 'a~b', 'info.json', 'lost'])(
    'is not %j',
    (name) => expect(isHiddenName(name)).toBe(false),
  );
});

describe('every job that takes directories', () => {
  const directory = useMemoryDirectory();
  const place = (name: string) => directory.path(name);
  const common = () => ({ inputs: [place('d')], include: ['*.jsonl'], workers: 1, memoryBytes: 2 ** 26 });

  it.each<[string, () => Promise<number>]>([
    ['append', async () => (await appendToStore(place('store'), common())).inputCount],
    ['verify', async () => (await verifyPermutation({ ...common(), outputs: [place('d')] })).outputs.files],
    ['check-shuffled', async () => (await checkShuffled(common())).files],
    ['plan', async () => (await previewShuffle(common())).inputs.count],
    [
      'cluster plan',
      async () => {
        const { workers: _, ...options } = common();
        mkdirSync(place('o'));
        const places = { output: place('o/out'), jobDir: place('job') };
        return (await planCluster({ ...options, ...places, tasks: 1 })).inputCount;
      },
    ],
  ])('%s chooses among their files', async (_, countInputs) => {
    for (const [name, content] of Object.entries(CHECKOUT)) {
      mkdirSync(dirname(place(name)), { recursive: true });
      writeFileSync(place(name), content);
    }
    expect(await countInputs()).toBe(1);
  });
});
