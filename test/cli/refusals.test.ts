/**
 * Every call that the command refuses, in one table: the words, the exit code, and the one line on standard error. No file
 * changes, also where `--force` would allow it. Parsers of single values have their own tests.
 *
 * A line that ends in … goes on.
 */
import { linkSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { optionsOf } from '#src/cli/command-table.js';
import { openStore } from '#src/index.js';
import { seal } from '#src/io/sealed-file.js';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { fastPlace } from '../fixtures/fast-place.js';
import { writeInputs } from '../fixtures/written-store.js';
import { expectRefusal } from './refusal.js';

type Row = readonly [words: string | readonly string[], exitCode: number, line: RegExp | string];

let site = '';
const path = (...names: readonly string[]) => join(site, ...names);

beforeAll(async () => {
  site = mkdtempSync(join(fastPlace(), 'pileshuf-test-'));
  const folders = ['temp', 'corpus', 'shards', 'broken', 'hollow', 'folder', 'folder.html', 'whole'];
  for (const name of folders) mkdirSync(path(name));
  const contents: Readonly<Record<string, string | Uint8Array>> = {
    in: 'a\nb\n',
    in2: 'a\nb\n',
    there: 'precious\n',
    empty: '',
    'in.gz': gzipSync('a\n'),
    'in.html': 'c\n',
    'corpus/data': 'c\n',
    'shards/train-00002-of-00007.txt': 'precious\n',
    'folder/thesis': 'x',
    list: 'in\n*.txt\n',
    ids: 'one\n',
    hole: 'a\n\n',
    hole0: 'a\0\0b\0',
    dash: '-\n',
    dashes: '-\na\n-\n',
    latin: Uint8Array.of(0x61, 0xff, 0x0a),
    'share.yaml': '{groups: [{name: a, inputs: [in], share: 1}]}',
    'empty.yaml': 'unit: records',
    'typo.yaml': '{groups: [{name: a, inputs: [in], weigth: 1}]}',
    'whole/a': '1\n2\n3\n',
    permuted: '3\n1\n2\n',
    numbers: '1\n2\n3\n'.repeat(300),
  };
  for (const [name, content] of Object.entries(contents)) writeFileSync(path(name), content);
  linkSync(path('in.html'), path('linked.html'));
  const links = {
    circle: 'circle',
    alias: 'in',
    dangling: 'nowhere',
    'nowhere.html': 'nowhere',
    'broken/link': 'nowhere',
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, path(name));
  await writeInputs(path('store'), ['a', 'b'], 'first');
  for (const name of ['damaged', 'newer', 'torn', 'lacking'] as const) await writeInputs(path(name), ['a'], 'first');
  writeFileSync(path('damaged', 'store'), 'nothing of that kind');
  writeFileSync(path('newer', 'store'), seal('store', 2, { newer: true }));
  const pileOf = (store: string) =>
    path(store, 'pile-sets', readdirSync(path(store, 'pile-sets')).find((name) => name.endsWith('.pile')) ?? '');
  writeFileSync(pileOf('torn'), 'damage'.repeat(8));
  renameSync(pileOf('lacking'), path('lacking', 'elsewhere'));
});

afterAll(() => rmSync(site, { recursive: true }));

/** `''` is an empty word. */
const wordsOf = (words: Row[0]) =>
  typeof words === 'string' ? words.split(' ').map((word) => (word === "''" ? '' : word)) : words;

const escaped = (line: string) => line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const patternOf = (line: Row[2]) =>
  typeof line === 'string' && line.endsWith('…') ? new RegExp(`^pileshuf: ${escaped(line.slice(0, -1))}`) : line;

function refuses(what: string, rows: readonly Row[], more: readonly string[] = []): void {
  describe(what, () => {
    it.each(rows)('%j', (words, exitCode, line) => {
      const argv = [...wordsOf(words), ...more];
      return expectRefusal(site, () => commandInProcess(argv, { cwd: site }), exitCode, patternOf(line));
    });
  });
}

const COUNT = 'expected a whole number of at least 1';
const AMOUNT = 'alone or with K, M, B or T, as in 10K (10,000)';
const PREFIX =
  'expected the first part of a file name, at least one character and no / or NUL; give the directory to -o';
const NOT_RESUMED = 'standard output cannot be resumed: name a file or directory with';
const NOT_READ_AGAIN =
  'standard input (-) cannot be read again to resume the job: name files, or leave out --resume and --job-dir';
const EITHER = 'contradict each other; give one of them';
const HEADERS = /holds only records, and these inputs have headers /;

refuses('words that are not options', [
  ['--sharts 4', 2, "unknown option '--sharts' (Did you mean --shards?); see pileshuf --help"],
  ['shuf --head 3', 1, "unknown option '--head' (Did you mean --head-count?); see pileshuf shuf --help"],
  ['shuf --head=3', 1, "unknown option '--head=3' (Did you mean --head-count?); see pileshuf shuf --help"],
  ['shuf --r', 1, "unknown option '--r'; see pileshuf shuf --help"],
  ['--xyzzy', 2, "unknown option '--xyzzy'; see pileshuf --help"],
  ['-k', 2, "unknown option '-k'; see pileshuf --help"],
  ['--on-bad-record skip', 2, "unknown option '--on-bad-record'…"],
  ['x -S', 2, "option '-S, --memory <SIZE>' argument missing; see pileshuf --help"],
  ['cluster', 2, 'cluster needs a second word: cluster plan, …'],
  ['help me', 2, /^pileshuf: there is no command me; the commands are append, .*\. An input named help is .\/help$/],
  ['plan in --dry-run', 2, "unknown option '--dry-run'; see pileshuf plan --help"],
  ['shuffle-store store --seed s', 2, /unknown option '--seed'.*; see pileshuf shuffle-store --help/],
  ['inspect store --verfy', 2, /unknown option '--verfy' \(Did you mean --verify\?\); see pileshuf inspect --help/],
  ['verify permuted --against in --seed 1', 2, /unknown option '--seed'/],
  ['cluster task commit --job-d 1', 2, "unknown option '--job-d' (Did you mean --job-dir?); see pileshuf cluster…"],
  ['cluster task commit --wait 1', 2, "required option '--job-dir <DIR>' not specified; see pileshuf cluster task…"],
]);

refuses('values', [
  ['in --shards 0 -o d', 2, `--shards 0: ${COUNT}`],
  ['in --shards= -o d', 2, `--shards : ${COUNT}`],
  ['in --shard-records 1e3 -o d', 2, `--shard-records 1e3: ${COUNT}, ${AMOUNT}`],
  ['in -n -1', 2, `-n -1: expected a whole number of at least 0, ${AMOUNT}`],
  ['in --workers 9007199254740993', 2, '--workers 9007199254740993: expected at most 9007199254740991'],
  ['in --workers 100000', 2, '--workers is 100000; expected a whole number from 1 to 1024'],
  ['in --memory=512', 2, '--memory 512: a bare number is ambiguous; write 512M or 512B'],
  ['in -zS10B', 2, /a memory budget of 10 bytes is too small: .* -S/],
  ['in -n 1.5', 2, '-n 1.5: expected a whole number of at least 0…'],
  ['in -S 512', 2, '-S 512: a bare number is ambiguous; write 512M or 512B'],
  ['in -S 2GiB5', 2, /^pileshuf: -S 2GiB5: expected a number and a unit: 512M or .*50% \(of memory\)$/],
  [['in', '-S', '5\n\x1b[2J'], 2, '-S 5\\n\\x1b[2J: expected a number and a unit: …'],
  ['in -S 1K', 2, /^pileshuf: a memory budget of 1024 bytes is too small: expected at least 4M; .* -S$/],
  ['in --max-record 5%', 2, '--max-record 5%: a percentage is not possible here; expected a number and a unit: …'],
  ['in --max-record 5G', 2, '--max-record is 5368709120; expected a whole number from 1 to …'],
  ['in --progress loud', 2, '--progress loud: expected one of auto, bar, plain, json, none'],
  ['in --compress zstd:0 -o out', 2, '--compress zstd:0: expected a level from 1 to 22'],
  ['in --parquet-codec zstd:99 -o out', 2, '--parquet-codec zstd:99: expected a level from 1 to 22'],
  ['in --parquet-codec snappy:2 -o out', 2, '--parquet-codec snappy: it has no levels; expected the name alone'],
  ['in --io-limit 4', 2, '--io-limit 4: expected PATH=N, such as /mnt/disk1=4'],
  ['in --io-limit /d=', 2, `--io-limit /d=N with N = : ${COUNT}`],
  ['in --io-limit /d=0', 2, `--io-limit /d=N with N = 0: ${COUNT}`],
  ['in --io-limit /d=1 --io-limit /d=2', 2, '--io-limit gives /d both 1 and 2; give one of them'],
  ['in --io-limit /no/such/place=3', 2, '--io-limit /no/such/place=3: cannot find the device of /no…'],
  ...['', 'lz4', 'gz', 'gzip:', 'gzip:x', 'gzip:-1', 'gzip:1.5', 'zstd 3', 'none:1', 'GZIP'].map(
    (text): Row => [
      ['in', '--compress', text],
      2,
      `--compress ${text}: expected none, gzip or zstd, with a level as in zstd:9`,
    ],
  ),
  ['in --compress gzip:10', 2, '--compress gzip:10: expected a level from 1 to 9'],
  ['in -o out --temp-compress gzip', 2, '--temp-compress gzip: expected zstd, or with a level as in zstd:3'],
  ['in -o out --temp-compress zstd:', 2, '--temp-compress zstd:: expected zstd, or with a level as in zstd:3'],
  ['in -o out --temp-compress=zstd:23', 2, '--temp-compress zstd:23: expected a level from 1 to 22'],
]);

refuses('records and headers', [
  ['in --csv --npy -z', 2, `-z and --csv and --npy ${EITHER}`],
  ['in --header 1 --skip-bytes 2', 2, `--header and --skip-bytes ${EITHER}`],
  ['in --header 0', 2, `--header 0: ${COUNT}`],
  ['in --skip-bytes 1K', 2, `--skip-bytes 1K: ${COUNT}`],
  ['in --header 1048577', 2, '--header is 1048577; expected a whole number from 1 to 1048576'],
  ['in --skip-bytes 20000000', 2, '--skip-bytes is 20000000; expected a whole number from 1 to 16777216'],
  [['in', '--delimiter', 'x'.repeat(1025)], 2, '--delimiter has 1025 bytes; expected 1 to 1024'],
  [['in', '--begins-with', 'x'.repeat(1025)], 2, '--begins-with has 1025 bytes; expected 1 to 1024'],
  [['in', '--begins-with', 'a\nb'], 2, '--begins-with has a newline; expected the beginning of a line'],
  [['in', '--begins-with', ''], 2, '--begins-with: expected a value, got an empty string'],
  ['in --record-size 1073741825', 2, '--record-size is 1073741825; expected a whole number from 1 to 1073741824'],
  ['in --lines-per-record 1048577', 2, '--lines-per-record is 1048577; expected a whole number from 1 to 1048576'],
  ['in --tfrecord --header 1', 2, '--header takes lines, and these records are not text; give --skip-bytes, or…'],
  ['--key ordinal --skip-blank in', 2, /--skip-blank cannot be combined with --key ordinal/],
  ['--record-size 2 --skip-blank in', 2, 'records of size are not text, so none is blank; leave out --skip-blank'],
  ['in --npy --header 1', 2, 'records of npy have a header of their own; leave out --header'],
  ['in --webdataset --skip-bytes 1', 2, 'records of webdataset have a header of their own; leave out --skip-bytes'],
]);

const KIND_OF_VALUE =
  'expected a JSON field (.site, .metadata.site), a column (csv:site, csv:3, tsv:site), the key of a sample (key), or an …';

refuses(
  'what records the output gets',
  [
    ['-r --resume', 2, 'a job with -r cannot be resumed: leave out --resume, --job-dir and --keep-temp'],
    ['-r', 2, 'an output without end must be a stream: give --head-count beside -r, or no -o'],
    ['-r --npy', 2, 'an output of npy has an end: give --head-count beside -r'],
    [
      '-rn 9 --webdataset',
      2,
      '-r cannot be combined with samples of tar files: readers join copies that are neighbours',
    ],
    [
      '-rn 9 --shard-bytes 9B',
      2,
      '-r cannot be combined with --shard-bytes: give a number of shards, or of records in each',
    ],
    ['--unique --unique-by .u', 2, '--unique compares whole records and --unique-by a value of each: give one of…'],
    [
      '--unique --webdataset',
      2,
      '--unique cannot be combined with samples of tar files, whose bytes tell when a file was …',
    ],
    [
      '--unique --input-ids path',
      2,
      '--input-ids or --input-id cannot be combined with --unique: the order then follows…',
    ],
    [
      '--unique-by .u --input-ids path',
      2,
      '--input-ids or --input-id cannot be combined with --unique-by: the order then …',
    ],
    [['--unique-by', '.u', '--missing', 'x'.repeat(5000)], 2, '--missing: expected a string of at most 4096 bytes'],
    [
      ['--unique-by', `.${'x'.repeat(9000)}`, '--missing', 'y'.repeat(4000)],
      2,
      '--unique-by and --missing take 13037 bytes; expected at most 12288: give shorter paths, a shorter value, or fewer splits',
    ],
    ['--unique-by url', 2, `--unique-by "url": ${KIND_OF_VALUE}`],
    ['--split-by .a', 2, '--split-by chooses between splits: give --split'],
    ['--each a', 2, /--each "a": expected a JSON field \(\.site/],
    ['--each .a -n 3', 2, /--each cannot be combined with -n: the first records would be of any values/],
    ['--each .a --split a=0.5,b=rest', 2, /--each cannot be combined with --split: split the records of each/],
    ['--each .a --unique', 2, /--each cannot be combined with --unique: keep one of equal records first/],
    ['--each .a --webdataset', 2, /--each does not divide samples of tar files/],
    [
      '--missing x',
      2,
      '--missing needs --split-by, --unique-by, --each, --group-by, --weight-by, --weights-from or --sum: give one of…',
    ],
    ['--split a=1,b=rest --split-by .a', 2, '--split-by keeps records together, so no split can have an exact…'],
    [
      '--split a=rest --split-by .a -n 5',
      2,
      '--split-by cannot be combined with -n: the first records belong to the first…',
    ],
  ],
  ['in', '-o', 'out'],
);

refuses(
  'what tells the split of a record',
  [
    ...['', 'a', '.', '.a.', '.a b', '.a[0]', '."a', `.${'x'.repeat(20_000)}`].map(
      (selector): Row => [['--split-by', selector], 2, /^pileshuf: --split-by[ ,]/],
    ),
    ['--split-by key', 2, '--split-by key: only samples of tar files have keys; give --webdataset'],
    ['--csv --split-by key:/(a)/', 2, '--split-by key:/(a)/: only samples of tar files have keys; give --webdataset'],
    ['--split-by csv:2', 2, '--split-by csv:2: only rows of CSV have such columns; give --csv'],
    ['--npy --split-by csv:2', 2, '--split-by csv:2: only rows of CSV have such columns; give --csv'],
    ['-z --split-by tsv:2', 2, '--split-by tsv:2: only lines and rows of CSV have such columns; give --csv'],
    ...['', '--skip-bytes 3 '].map(
      (header): Row => [
        `--csv ${header}--split-by csv:site`,
        2,
        '--split-by csv:site: a column has its name from the header; give --header, or the number of the column, as in …',
      ],
    ),
  ],
  ['in', '-o', 'out', '--split', 'a=rest'],
);

refuses(
  'inputs',
  [
    ['none', 3, 'the input none does not exist; check the name'],
    ['in/none', 3, 'the input in/none does not exist; check the name'],
    ['none-*', 3, 'no file matches the pattern none-*; …'],
    ['circle', 3, 'cannot examine circle: too many symbolic links'],
    [['x'.repeat(300)], 3, /^pileshuf: cannot examine x{300}: the name is too long$/],
    ['dangling', 3, 'the input dangling does not exist; check the name'],
    ['hollow', 3, 'the directory hollow holds no files; expected at least one: check the name'],
    ['broken', 3, 'broken/link is a symbolic link that leads no…'],
    [['a', ''], 2, 'an input is an empty string; expected a path, or - for standard input'],
    ['- a -', 2, 'standard input (-) is given twice as an input, but can be read only once; give it once'],
    ['--files-from list', 3, 'the input *.txt does not exist; check the name'],
    ['--files-from empty', 2, '--files-from empty: the list is empty; expected at least one input'],
    ['--files-from none', 3, 'cannot read the list of inputs --files-from none: no such file; check the path'],
    ['--files-from folder', 3, 'cannot read the list of inputs --files-from folder: it is a directory'],
    ["--files-from ''", 2, '--files-from: expected a path, got an empty string'],
    ['- --files-from -', 2, 'standard input cannot be both the list of inputs (--files-from -) and an input (-)…'],
    ['--files0-from - --files-from -', 2, 'two lists of inputs would be read from standard input; give one of them…'],
    ['--files-from hole', 2, '--files-from hole: entry 2 is empty; expected a path'],
    ['--files0-from hole0', 2, '--files0-from hole0: entry 2 is empty; expected a path'],
    ['--files-from hole0', 2, '--files-from hole0: entry 1 holds a NUL; expected one path a line…'],
    ['--files-from latin', 2, /^pileshuf: --files-from latin: .*a name is not valid UTF-8/],
    ['--files-from dashes', 2, '--files-from dashes: names standard input (-) twice, but it can be read only once'],
    ['- --files-from dash', 2, '--files-from dash: names standard input (-), which is already in use'],
    ['in --input-ids file:hole', 2, '--input-ids file:hole: line 2 is empty; expected an input id'],
    ['in --input-ids file:latin', 2, /^pileshuf: --input-ids file:latin: .*not valid UTF-8/],
    ['in --input-ids file:none', 3, 'cannot read the ids --input-ids file:none: no such file; check the path'],
    ...['Path', 'names', 'file', 'file:', 'file:-', 'list:ids'].map(
      (rule): Row => [`in --input-ids ${rule}`, 2, `--input-ids ${rule}: expected ordinal, path, name or file:FILE`],
    ),
    ['in in2 --input-ids file:ids', 2, '1 input ids are given for 2 inputs; expected one for each input, in order'],
    ['in --input-ids file:folder', 3, 'cannot read the ids --input-ids file:folder: it is a directory'],
    ['-o out --mix empty.yaml in', 2, '--mix empty.yaml: expected groups to be a list of at least one group'],
    ['-o out --mix share.yaml in', 2, '--mix share.yaml: expected unit to be records, bytes or a field with a…'],
    ['-o out --mix typo.yaml in', 2, 'a group of --mix typo.yaml…'],
  ],
  ['-q', '-S', '64M', '--force'],
);

refuses('outputs and temp directories', [
  ["-o ''", 2, '-o: expected a path, got an empty string'],
  ['-o a -o b', 2, '-o is given twice, as a and as b; give it once'],
  ['--progress json --progress bar', 2, '--progress is given twice, as json and as bar; give it once'],
  ["-T ''", 2, '-T: expected a path, got an empty string'],
  ['in -o out -T none', 2, 'the temp directory none does not exist…'],
  ["--job-dir '' -o f", 2, '--job-dir: expected a path, got an empty string'],
  ['--shards 2', 2, 'shards need a directory, not standard output: add --output DIR'],
  ['--shards 2 -o -', 2, 'shards need a directory, not standard output: add -o DIR'],
  ['in --shards 2 -o /dev/stdout', 2, /^pileshuf: shards cannot be written to standard output; .*-o$/],
  ['--shards 2 --shard-bytes 1G -o d', 2, `--shards and --shard-bytes ${EITHER}`],
  ['--shard-bytes 1G --shard-records 2 -o d', 2, `--shard-records and --shard-bytes ${EITHER}`],
  ['--prefix p -o f', 2, '--prefix names shards, but none are requested: add --shards, --shard-records or…'],
  ['--prefix a/b --shards 2 -o d', 2, `--prefix a/b: ${PREFIX}`],
  [['--prefix', 'a\0b', '--shards', '2', '-o', 'd'], 2, `--prefix a\\0b: ${PREFIX}`],
  ["--prefix '' --shards 2 -o d", 2, `--prefix '': ${PREFIX}`],
  [
    "in --columns '' -o d",
    2,
    "--columns '': expected at least one name, and commas between names, as in text,meta.url",
  ],
  ['in --columns a,,b -o d', 2, '--columns a,,b: expected at least one name, …'],
  ['in --columns b,a,b -o d', 2, '--columns names b twice; name it once'],
  ['in --hdf5 X,X -o d', 2, '--hdf5 names X twice; name it once'],
  ['in --resume', 2, `${NOT_RESUMED} --output`],
  ['in --keep-temp -o -', 2, `${NOT_RESUMED} -o`],
  ['in --job-dir d -o -', 2, `${NOT_RESUMED} -o`],
  ['--resume -o out -', 2, NOT_READ_AGAIN],
  ['-o f --job-dir=d', 2, NOT_READ_AGAIN],
  ['in -o corpus --force', 2, 'the output corpus is a directory; expected a file, or --shards, --shard-records or…'],
  ['in -o there', 2, 'the output there exists already; give --force to replace it'],
  ['in -o none/out', 2, /^pileshuf: the directory .*\/none of the output does not exist; make it first$/],
  ['in -o out --job-dir s3://b/j', 2, '--job-dir s3://b/j lies on another machine; name a directory on a disk'],
  ['cluster plan in -o out --tasks 2 --job-dir s3://b/j', 2, '--job-dir s3://b/j lies on another machine; name a…'],
  ['in -o dangling --force', 2, 'the output dangling is a symbolic link that leads nowhere; remove it or make what…'],
  ['in -o dangling --shards 2', 2, 'the output dangling is a symbolic link that leads nowhere; remove it or make…'],
  ['in -o shards --shards 2 --prefix train', 2, 'the output directory shards holds shards already…'],
  ['in -o there --shards 2 --force', 2, 'the output there is a file; expected a directory to write shards into'],
  ['in -o there/ --shards 2 --force', 2, 'the output there/ is a file; expected a directory to write shards into'],
  ['in -o in', 2, 'the output in is one of the inputs; give --force to replace it at the end'],
  ['in -o alias', 2, 'the output alias is one of the inputs; give --force to replace it at the end'],
  ['in.html -o linked.html', 2, 'the output linked.html is one of the inputs; give --force to replace it at the end'],
  ['in -o out.html --report out.html -T temp', 2, '--report out.html: it is the output; name another file'],
  ['in -o shards --shards 2 --force --report shards/r.html -T temp', 2, /it lies in the directory of the shards, /],
]);

refuses(
  'files of --profile and --report',
  [
    ['--profile there', 2, '--profile there: the file exists already; give --force to replace it'],
    ['--report corpus/../r.txt', 2, /expected a name that ends in \.html or \.json/],
    ['--report - --force', 2, /expected a name that ends in \.html or \.json/],
    ['--profile none/p', 2, '--profile none/p: none is not a directory; name a file in one'],
    ['--profile in/p', 2, '--profile in/p: in is not a directory; name a file in one'],
    ['--profile circle/p', 2, '--profile circle/p: cannot write to circle: too many symbolic links'],
    ['--profile ./out --force', 2, /the output; name another file/],
    ['--profile in --force', 2, /one of the inputs; name another file/],
    ['--profile - --force', 2, /expected the name of a file; standard output is for records/],
    ['--profile folder', 2, '--profile folder: it is a directory; expected the name of a file…'],
    ['--report in.html in.html --force', 2, /one of the inputs; name another file/],
    ['--report in.html', 2, '--report in.html: the file exists already; give --force to replace it'],
    ['--report linked.html in.html --force', 2, /one of the inputs; name another file/],
    ['--report none/r.html', 2, /none is not a directory/],
    ['--report folder.html --force', 2, /not a regular file/],
    ['--report nowhere.html --force', 2, /not a regular file/],
    ['--report corpus/../corpus/r.html corpus', 2, /lies inside the input directory corpus/],
    ['--report same.json --profile same.json', 2, /--profile names the same file/],
    ...['corpus/data', 'corpus/../corpus/new'].map(
      (profile): Row => [
        `--profile ${profile} --force corpus`,
        2,
        `--profile ${profile}: it lies in the input directory corpus, where a later job would read it; name a file elsewhere`,
      ],
    ),
  ],
  ['in', '-o', 'out', '-T', 'temp'],
);

refuses('ranges of numbers', [
  ['-i 10', 2, '-i 10: expected LO-HI, two whole numbers, as in 1-100'],
  ['-i 1-', 2, '-i 1-: expected LO-HI, …'],
  ['-i -1-5', 2, '-i -1-5: expected LO-HI, …'],
  ['-i 0x1-5', 2, '-i 0x1-5: expected LO-HI, …'],
  ['-i 1-18446744073709551616', 2, '-i 1-18446744073709551616: expected numbers of at most 18446744073709551615'],
  ['-i 18446744073709551616-18446744073709551615', 2, /: expected numbers of at most 18446744073709551615$/],
  ['-i 5-3', 2, '-i 5-3: expected the lower number first'],
  ['-i 1-5 -i 1-6', 2, '-i is given twice, as 1-5 and as 1-6; give it once'],
  ['-i', 2, "option '-i, --input-range <LO-HI>' argument missing…"],
  ['-i 1-5 -n -3', 2, '-n -3: expected a whole number of at least 0…'],
  ['-i 1-5 file', 2, 'the numbers of -i are the input, and file gives another; give one of the two'],
  ['-i 1-5 --files-from list', 2, 'the numbers of -i are the input, and --files-from gives another; …'],
  ['-i 1-5 -e', 2, 'the numbers of -i are the input, and -e gives another; …'],
  ['-r -i 1-6 -o out', 2, 'an output without end must be a stream: give --head-count beside -r, or no -o'],
  ['-r -i 1-0 -n 1', 3, 'the inputs have no record to repeat; expected at least one'],
  ['-i 1-1000000000000000 --unique -o out', 2, '-i 1-1000000000000000 has more than 2^53 bytes to read; …'],
  ['--input-range 0-1000000000000000 --unique -z -o out', 2, '--input-range 0-1000000000000000 has more than 2^53…'],
  ...['path', 'name'].map(
    (rule): Row => [
      ['-i', '1-5', '--input-ids', rule],
      2,
      `--input-ids ${rule} takes ids from the names of inputs, and -i gives numbers, which have none; leave it out`,
    ],
  ),
  ['-i 1-100000000000000 -o out -q', 1, /not enough space for .* PB are needed/],
  ['-i 1-6 --workers 5000', 2, '--workers is 5000; expected a whole number from 1 to 1024'],
]);

refuses(
  'words for records, and sources of seeds',
  [
    [
      '--files-from list',
      2,
      'with -e the operands are the records, and --files-from names inputs; give one of the two',
    ],
    ['--files0-from list', 2, /--files0-from names inputs; give one of the two$/],
    ['--csv', 2, /^pileshuf: records that are given as words must end in a delimiter/],
    ['--lines-per-record 4', 2, /^pileshuf: records that are given as words must end in a delimiter/],
    [
      '--header 1',
      2,
      /^pileshuf: records that are given as words have no header; leave out --header, --header-prefix and --sk/,
    ],
    ['--resume', 2, /the given records cannot be read again to resume the job/],
    ['--input-ids path', 2, /the given records have no name/],
    ['\ufffd', 2, /is not valid UTF-8; give such records in a file; /],
    ['--random-source missing', 3, /cannot read the random source missing: no such file; check the path$/],
    ['--random-source empty', 3, 'the random source empty is empty; expected one byte or more'],
    ['--random-source temp', 3, 'cannot read the random source temp: it is a directory'],
    ['--random-source empty --seed 1', 2, `--seed and --random-source ${EITHER}`],
    ['--random-source -', 2, '--random-source -: expected the name of a file; for standard input, name /dev/stdin'],
    ["--random-source ''", 2, '--random-source: expected a path, got an empty string'],
  ],
  ['-e', 'a', '-o', 'out'],
);

const TUPLE = 'expected two files or more with commas between, as in R1.fq,R2.fq';
/** Options that do not go with aligned files; those with a value have one that they take alone. */
const NOT_ALIGNED =
  'repeat,split-by .a,each .a,missing x,unique,unique-by .u,group-by .g,weight a=1,weight-by .a,weights-from d,weight-cap 2,sum .a,mix f,dataset-card,sums,shard-bytes 1M,prefix p,key ordinal,input-ids name,echo,files-from f,files0-from f,hidden,include *,exclude *,job-dir j,keep-temp,profile f,report f.html,skip-blank,columns c,hive,hdf5 d,parquet-codec snappy,row-group-bytes 1M,row-group-rows 5,endpoint https://h,requester-pays,no-sign-request,s3-header a:b';

refuses('aligned files', [
  ['--together a -o out', 2, `--together a: ${TUPLE}`],
  ['--together a, -o out', 2, `--together a,: ${TUPLE}`],
  ['--together a,b', 2, '--together writes several files: name a directory with --output'],
  ['--together b.c,a.b.c -o out --split t.a=0.5,t=rest', 2, '--together: shards of b.c and of a.b.c would both be…'],
  [
    ['--together', `b.c,${'a'.repeat(230)}.c`, '-o', 'out', '--split', 'validation=0.9,test=rest'],
    2,
    'the shards may have names of 261 bytes, and file systems allow 255; give files of shorter names, or …',
  ],
  ['--together in,in2 -o out --split a=4,b=rest', 3, 'there are 2 records, and --split asks for 4; …'],
  ['--together a,b -o -', 2, '--together writes several files: name a directory with -o'],
  ['--together a,b -o out c', 2, '--together names all inputs, and c is one more; join files of a tuple with…'],
  [
    '--together a,b -o out --split train=0.9,test=0.1 --split-by .site',
    2,
    '--split-by cannot be combined with --together…',
  ],
  ...NOT_ALIGNED.split(',').map(
    (words): Row => [
      `--together a,b -o out --${words}`,
      2,
      new RegExp(`^pileshuf: --${words.split(' ')[0]} cannot be combined with --together: .`),
    ],
  ),
]);

it('aligned files take the other options of the main command', () => {
  const refused = new Set(NOT_ALIGNED.split(',').map((words) => words.split(' ')[0]));
  const taken = optionsOf('shuffle').flatMap(({ name }) => (refused.has(name) ? [] : [name]));
  expect(taken.join(' ')).toBe(
    'output head-count split shards shard-records compress force dry-run seed random-source zero-terminated delimiter lines lines-per-record paragraphs csv begins-with fasta fastq record-size length-prefixed tfrecord npy webdataset header header-prefix skip-bytes max-record input-range together decompress-program without-igzip memory workers io-limit temp-dir temp-compress resume progress quiet',
  );
});

refuses('jobs of tasks', [
  ['cluster slurm in --job-dir j --tasks 2', 2, /--output is missing/],
  ['cluster slurm in --job-dir j -o o', 2, /--tasks is missing/],
  ['cluster slurm --job-dir j -o o --tasks 2', 2, /name the inputs/],
  ['cluster slurm in --job-dir j --mem G', 2, /--mem G: expected what sbatch takes/],
  ['cluster slurm in --job-dir j --resume', 2, /in cannot be combined with --resume, because the plan in --job-dir/],
  [
    'cluster slurm --seed=1 --job-dir j --resume',
    2,
    /--seed cannot be combined with --resume, because the plan in --job-dir/,
  ],
  ['cluster slurm --profile=p --job-dir j --resume', 2, /--profile cannot be combined with --resume, because the plan/],
  ['cluster slurm --job-dir /nowhere --resume', 2, /the job directory \/nowhere does not exist/],
  [
    'cluster slurm --job-dir j --resume --dependency=afterok:1',
    2,
    /--dependency cannot be combined with --resume, because the plan has been made; leave it out/,
  ],
  [
    'cluster slurm --files-from=- --job-dir j -o o --tasks=2 --dependency=afterok:1',
    2,
    /--dependency: the plan reads the list of inputs later, on a node; give the list as a file/,
  ],
  [
    ['cluster', 'slurm', 'in', '--job-dir', 'j', '-o', 'o', '--tasks=2', '--sbatch-args=-a 3'],
    2,
    /--sbatch-args has -a/,
  ],
]);

refuses('plan', [
  ['plan -r -e', 3, 'the inputs have no record to repeat; expected at least one'],
  ['plan nowhere', 3, 'the input nowhere does not exist; check the name'],
  ['plan corpus -o corpus/data', 2, 'the output corpus/data lies in the input directory corpus, …'],
  ['plan in -o out -S 1K', 2, 'a memory budget of 1024 bytes is too small…'],
  ['plan --together a,b -o out', 3, 'the input a does not exist…'],
  ['plan in -o out -T nowhere', 2, 'the temp directory nowhere does not exist…'],
]);

refuses('index', [
  ['index', 2, /missing required argument 'file'; see pileshuf index --help/],
  ['index in in2', 2, /too many arguments/],
  ["index ''", 2, /FILE: expected a path, got an empty string/],
  ['index none', 3, /does not exist/],
  ['index in --csv --tfrecord', 2, /--csv and --tfrecord contradict each other/],
  ['index in.gz', 2, /: gzip can only be decoded from its beginning; decompress it/],
]);

refuses('stores', [
  [
    'pile store in --input-id a',
    2,
    /already has an input with the id "a", in generation first; .*give --replace to replace it/,
  ],
  ['append store in --seed t', 2, /has the seed "42", expected "t"; /],
  ['append store in --piles 6', 2, /number of piles of 3, expected 6; /],
  ['append store none', 3, /the input none does not exist; /],
  ['append store in --header 1', 2, HEADERS],
  ['append store in --npy', 2, HEADERS],
  ['pile store in --input-id x --webdataset', 2, HEADERS],
  [
    'pile store in in2 --input-id x',
    2,
    /--input-id is given once for 2 inputs; expected once for each, in their order\. To give several files one id, .* cat /,
  ],
  ['pile store in --input-id x --input-id y', 2, /--input-id is given 2 times for 1 input; expected once for each/],
  [
    'pile store in in2 --input-id x --input-id x',
    2,
    /in and in2 have the same input id "x"; expected an id that no other input has/,
  ],
  ['pile store in', 2, /required option '--input-id <ID>' not specified; see pileshuf pile/],
  ['append store -', 2, /standard input \(-\) has no name for an input id: name files as inputs, or /],
  [
    'in -o new --split train=0.9,test=0.2',
    2,
    /shares of --split add up to 1\.1; expected 1: give test the rest \(test=rest\)/,
  ],
  ["append store in --generation ''", 2, /the generation "" has no name/],
  ['append in in2', 2, /the pile store in is not a directory; /],
  ['append folder in', 2, /folder is not a pile store: it holds thesis; name an empty directory/],
  ['append corpus/store corpus', 2, /the pile store corpus\/store lies inside the input directory corpus, /],
  ['append new none', 3, /does not exist/],
  [
    'append newer in',
    2,
    /store was written by another version of pileshuf \(format 2, expected 1\); use that version for/,
  ],
  ['shuffle-store store -o store/out -T temp', 2, /the output .*store\/out lies inside /],
  ['shuffle-store store -o in', 2, /exists already; give --force to replace it/],
  ['shuffle-store store -o new --split a=rest --prefix p', 2, /the names of --split are .*; leave out --prefix$/],
  ['in -o new --split a=rest --prefix p', 2, /the names of --split are .*; leave out --prefix$/],
  ['shuffle-store nowhere', 2, /the pile store nowhere does not exist; check the name/],
  ['shuffle-store corpus', 2, /corpus is not a pile store: there is no .*corpus\/store; name a pile store, or /],
  ['shuffle-store in', 2, /the pile store in is not a directory; /],
  [
    'shuffle-store newer',
    2,
    /store was written by another version of pileshuf \(format 2, expected 1\); use that version for/,
  ],
  ['shuffle-store torn -q -o out -T temp', 4, /are not what was written there; .*restore the store/],
  ['shuffle-store lacking -o out -T temp', 4, /\.pile does not exist any more; .*restore the store/],
  ['expire store', 2, 'nothing says which generations expire; give --keep, --before or --keep-last'],
  ['expire store --keep 1d --keep-last 2', 2, `--keep and --keep-last ${EITHER}`],
  ['expire store --keep 30', 2, '--keep 30: expected a whole number and a unit, such as 90s, 12h, 30d or 4w'],
  ['expire store --keep-last 0', 2, `--keep-last 0: ${COUNT}`],
  ['expire missing --before 1.11.2026', 2, '--before 1.11.2026: expected a date, alone or with a time, such as…'],
  ['expire --keep-last 1', 2, "missing required argument 'store'; see pileshuf expire --help"],
  [
    'expire hollow --keep-last 1',
    2,
    /\/hollow is not a pile store: there is no .*; name a pile store, or make one with pileshuf pile or/,
  ],
  ['gc store --grace 1y', 2, '--grace 1y: expected a whole number and a unit, such as 90s, 12h, 30d or 4w'],
  ['gc store other', 2, /too many arguments.*; see pileshuf gc --help/],
  ["gc ''", 2, 'STORE: expected a path, got an empty string'],
  [
    'gc damaged',
    4,
    /verification failed: .*\/damaged\/store is damaged: .*; check the disk, and restore the store from a copy$/,
  ],
  ['inspect missing', 2, 'the pile store missing does not exist; check the name'],
  ['inspect in', 2, 'the pile store in is not a directory; check the name'],
  ['inspect newer', 2, /store was written by another version of pileshuf \(format 2, expected 1\); use that version/],
]);

refuses('stream', [
  ['stream store --memory 1b', 2, /^pileshuf: a memory budget of 1 bytes is too small /],
  ['stream store --rank 3', 2, /rank`? is 3; expected a whole number from 0 to 0/],
  ['stream store --equalize odd', 2, /--equalize odd: expected one of drop, pad/],
  ['stream store --start {', 2, /--start \{: expected a state as JSON/],
  [
    ['stream', 'store', '--start', '{"record": 9007199254740993}'],
    2,
    /: the number 9007199254740993 is too large; expected/,
  ],
  [
    'stream store --start {}',
    2,
    'this is not the state of a loader: version: expected the number 3, got nothing; give what `state()` returns, or `pileshuf stream --print-start` prints',
  ],
  ['stream store --start @nowhere.json', 3, /cannot read the state --start @nowhere\.json: no such file/],
  ['stream store --epoch 0 --start {}', 2, /--epoch and --start contradict each other/],
  ['stream store -o file', 2, /-o file: expected -, standard output/],
  ['stream nowhere', 2, 'the pile store nowhere does not exist; check the name'],
]);

it('stream: refuses another rank than that of the state', async () => {
  const state = JSON.stringify(openStore(path('store')).epoch(0).state());
  const argv = ['stream', 'store', '--start', state, '--rank', '1'];
  await expectRefusal(site, () => commandInProcess(argv, { cwd: site }), 2, /--rank 1: the state of --start has 0/);
});

refuses('verify', [
  ['verify', 2, /missing required argument 'outputs'/],
  ['verify --against in permuted', 2, "missing required argument 'outputs': --against takes all words after it, up…"],
  ['verify nowhere --against in', 3, 'the output nowhere does not exist; check the name'],
  ['verify permuted --against nowhere', 3, 'the input nowhere does not exist; check the name'],
  ['verify permuted --against', 2, /option '--against <INPUT...>' argument missing/],
  ['verify permuted in', 2, /nothing says which inputs the outputs must match; give --against /],
  [
    'verify corpus',
    2,
    /corpus has no shards and no completion marker \(\.PREFIX\.complete\.json\); .* by pileshuf verify --against$/,
  ],
  ['verify permuted', 2, /permuted is not a directory; expected one with shards, .* by pileshuf verify --against$/],
  ['verify s3://b/out/', 2, 'the directory s3://b/out/ lies on another machine; name a directory on a disk'],
  ['verify nowhere', 3, 'nowhere does not exist; check the name'],
  ['verify - --against -', 2, /standard input \(-\) is given twice/],
  ["verify permuted --against ''", 2, /--against: expected a path, got an empty string/],
  [
    'verify permuted --record-size 13 --against whole',
    3,
    /begins a record of 6 bytes at the end of the input; expected 13/,
  ],
]);

refuses('check-shuffled', [
  ['check-shuffled', 2, /missing required argument 'files'/],
  ['check-shuffled -', 2, /is a stream, of which no sample can be read; write it to a file/],
  ['check-shuffled numbers --field source', 2, /--field "source": expected the keys of a JSON field/],
  ['check-shuffled numbers --id .x', 3, /none of the \d+ records in the sample has the field \.x; .* leave --id out/],
  ['check-shuffled nowhere', 3, /the input nowhere does not exist/],
]);
