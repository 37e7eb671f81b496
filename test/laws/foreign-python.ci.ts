/**
 * Files that Python and NumPy wrote, shuffled into one file and into shards, and read by them again: CSV with a header, JSON
 * lines and arrays. All records are present, in another order. Without Python or NumPy, the tests are skipped.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const python = (script: string, ...argv: readonly string[]) =>
  execFileSync('python3', ['-c', script, ...argv], { cwd: directory.path(), encoding: 'utf8' }).trim();
const has = (module: string) => spawnSync('python3', ['-c', `import ${module}`]).status === 0;
const hasPython = has('csv');
const hasNumpy = has('numpy');

interface Form {
  readonly name: string;
  /** Writes \`0\`, \`1\` and \`2\` with the ending of the form. @param sys.argv[1:] the words of a case. */
  readonly write: string;
  /** Compares the files in front of the first `--` with those behind each, and prints what is told of these. */
  readonly compare: string;
  readonly ending: string;
  readonly options: Pick<ShuffleOptions, 'records' | 'header'>;
  readonly cases: readonly { readonly words: readonly string[]; readonly told: string }[];
}

/** The words of the command, cut at each `--`. */
const GROUPS = `
import sys
groups = [[]]
for word in sys.argv[1:]:
    groups.append([]) if word == "--" else groups[-1].append(word)
inputs, *outputs = groups
`;

/** Rows whose fields hold all that must be quoted. */
const CSV: Form = {
  name: 'rows of CSV',
  ending: '.csv',
  options: { records: { by: 'csv' }, header: { lines: 1 } },
  cases: [
    { words: ['\\n', 'QUOTE_MINIMAL'], told: '900' },
    { words: ['\\r\\n', 'QUOTE_MINIMAL'], told: '900' },
    { words: ['\\r\\n', 'QUOTE_ALL'], told: '900' },
  ],
  write: `
import csv, sys
end, quoting = sys.argv[1].encode().decode("unicode_escape"), getattr(csv, sys.argv[2])
fields = ["plain", "", "a,b", 'say "this"', "two\\nlines", "CR\\r\\nLF", '"', '\\n"\\n', "é"]
for i in range(3):
    with open(f"{i}.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator=end, quoting=quoting)
        writer.writerow(["id", "first\\nfield", 'the "second"'])
        for row in range(300 * i):
            writer.writerow([f"{i}.{row}", fields[row % 9], fields[row // 9 % 9]])
`,
  compare: `${GROUPS}
import csv
def read(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))
rows = lambda tables: [row for table in tables for row in table[1:]]
before = [read(path) for path in inputs]
for group in outputs:
    behind = [read(path) for path in group]
    assert all(rows[0] == before[0][0] for rows in behind)
    assert rows(before) != rows(behind)
    assert sorted(rows(before)) == sorted(rows(behind))
    print(len(rows(behind)))
`,
};

/** Strings with all that other programs take for the end of a line; the last line of the last file has no end. */
const JSON_LINES: Form = {
  name: 'JSON lines',
  ending: '.jsonl',
  options: {},
  // Objects, and lines that end in CR: the last line gets the end of the one before it.
  cases: [
    { words: ['\\n', 'ascii'], told: '900 0' },
    { words: ['\\n', 'UTF-8'], told: '900 0' },
    { words: ['\\r\\n', 'UTF-8'], told: '900 900' },
  ],
  write: `
import json, sys
end, ascii = sys.argv[1].encode().decode("unicode_escape"), sys.argv[2] == "ascii"
texts = ["plain", "", "two\\nlines", "CR\\r\\nLF", "\\u2028 and \\u2029", "\\x85\\x0b\\x0c\\x1c", "é \\U0001f600", '"\\\\"', "\\0"]
for i in range(3):
    lines = [json.dumps({"id": [i, n], "text": texts[n % 9] * (n % 4), "more": {"x": n / 3}}, ensure_ascii=ascii) for n in range(300)]
    with open(f"{i}.jsonl", "w", newline="", encoding="utf-8") as file:
        file.write(end.join(lines) + (end if i < 2 else ""))
`,
  compare: `${GROUPS}
import json
read = lambda paths: [line for path in paths for line in open(path, "rb").read().split(b"\\n") if line]
ids = lambda lines: [json.loads(line)["id"] for line in lines]
key = lambda each: each["id"]
before = read(inputs)
for group in outputs:
    behind = read(group)
    assert ids(before) != ids(behind)
    assert sorted(map(json.loads, before), key=key) == sorted(map(json.loads, behind), key=key)
    print(len(behind), sum(line.endswith(b"\\r") for line in behind))
`,
};

/** Three arrays of some rows each, the last of none. */
const ARRAYS: Form = {
  name: 'rows of arrays',
  ending: '.npy',
  options: { records: { by: 'npy' } },
  cases: [
    ['lambda n, r: r.random((n, 3), dtype="f4")', '1'],
    ['lambda n, r: r.integers(0, 2**62, n).astype(">i8")', '1'],
    ['lambda n, r: r.random((n, 5, 7)).astype("f2")', '2'],
    ['lambda n, r: r.integers(0, 256, (n, 300), dtype="u1")', '3'],
    ['lambda n, r: r.random((n, 40)) < 0.5', '1'],
    ['lambda n, r: np.array([str(x) + "é" for x in r.integers(0, 10**9, n)], dtype="U12")', '1'],
    ['lambda n, r: r.integers(0, 2**60, (n, 2)).astype("M8[ns]")', '1'],
    ['lambda n, r: np.asfortranarray(r.random(n) + 1j)', '1'],
  ].map((words) => ({ words, told: '1037' })),
  write: `
import sys, numpy as np
make, version = sys.argv[1], int(sys.argv[2])
for i, rows in enumerate([1000, 37, 0]):
    array = eval(make)(rows, np.random.default_rng(i))
    with open(f"{i}.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=(version, 0))
`,
  compare: `${GROUPS}
import numpy as np
rows = lambda arrays: [row.tobytes() for array in arrays for row in array]
before = [np.load(path) for path in inputs]
for group in outputs:
    behind = [np.load(path, mmap_mode="r") for path in group]
    for array in behind:
        assert array.dtype == before[0].dtype and array.shape[1:] == before[0].shape[1:], (array.dtype, array.shape)
        assert array.offset % 64 == 0, array.offset
    assert rows(before) != rows(behind)
    assert sorted(rows(before)) == sorted(rows(behind))
    print(len(rows(behind)))
`,
};

const CASES = [CSV, JSON_LINES, ARRAYS].flatMap((form) => form.cases.map((each) => ({ ...form, ...each })));

it.for(CASES)(
  '$name are read and written, where Python is: $words',
  async ({ name, ending, options, ...each }, { skip }) => {
    if (!(name === ARRAYS.name ? hasNumpy : hasPython)) return skip('no such module');
    python(each.write, ...each.words);
    const inputs = [0, 1, 2].map((i) => directory.path(`${i}${ending}`));
    const [first = '', middle = '', last = ''] = inputs;
    writeFileSync(`${middle}.gz`, gzipSync(readFileSync(middle)));
    const job = { ...options, seed: 'python', workers: 2, tempDirs: [directory.temp] };
    const outputs = ['plain', 'of-gzip'].map((way) => directory.path(`${way}${ending}`));
    for (const [i, given] of [inputs, [first, `${middle}.gz`, last]].entries()) {
      const tuning = i === 0 ? { sliceBytes: 500, inline: false } : { inline: true };
      await shuffle({ ...job, inputs: given, output: outputs[i] ?? '' }, tuning);
    }
    const rule = { shards: { by: 'count', shardCount: 3 }, output: directory.path('shards') } as const;
    const { shards } = await shuffle({ ...job, ...rule, inputs }, { inline: true });
    expect(shards).toHaveLength(3);
    const groups = [...outputs.map((output) => [output]), shards].flatMap((group) => ['--', ...group]);
    expect(python(each.compare, ...inputs, ...groups)).toBe(Array.from({ length: 3 }, () => each.told).join('\n'));
  },
);
