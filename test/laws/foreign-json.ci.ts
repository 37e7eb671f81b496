/**
 * JSON lines that Python wrote, shuffled into shards, and read by Python: all objects are present, with any strings.
 * Without Python, the test is skipped with a note.
 */
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();

/** Strings with all that other programs take for the end of a line; the last line of the last file has no end. */
const WRITE = `
import json, sys
end, ascii = sys.argv[1].encode().decode("unicode_escape"), sys.argv[2] == "ascii"
texts = ["plain", "", "two\\nlines", "CR\\r\\nLF", "\\u2028 and \\u2029", "\\x85\\x0b\\x0c\\x1c", "é \\U0001f600", '"\\\\"', "\\0"]
for i in range(3):
    lines = [json.dumps({"id": [i, n], "text": texts[n % 9] * (n % 4), "more": {"x": n / 3}}, ensure_ascii=ascii) for n in range(300)]
    with open(f"{i}.jsonl", "w", newline="", encoding="utf-8") as file:
        file.write(end.join(lines) + (end if i < 2 else ""))
`;
/** Compares the objects of the files on both sides of \`--\`; tells how many there are, and how many lines end in CR. */
const COMPARE = `
import json, sys
cut = sys.argv.index("--")
read = lambda paths: [line for path in paths for line in open(path, "rb").read().split(b"\\n") if line]
before, behind = read(sys.argv[1:cut]), read(sys.argv[cut + 1:])
ids = lambda lines: [json.loads(line)["id"] for line in lines]
assert ids(before) != ids(behind)
key = lambda each: each["id"]
assert sorted(map(json.loads, before), key=key) == sorted(map(json.loads, behind), key=key)
print(len(behind), sum(line.endswith(b"\\r") for line in behind))
`;

function python(script: string, ...argv: readonly string[]): string {
  return execFileSync('python3', ['-c', script, ...argv], { cwd: directory.path(), encoding: 'utf8' }).trim();
}

describe.each([
  ['\\n', 'ascii', '900 0'],
  ['\\n', 'UTF-8', '900 0'],
  // The last one gets the end of the line before it.
  ['\\r\\n', 'UTF-8', '900 900'],
])('objects in lines that end in %s, as %s', (end, encoding, told) => {
  it.skipIf(!isOnPath('python3'))('are shuffled, if python3 is on PATH', async () => {
    python(WRITE, end, encoding);
    const inputs = [0, 1, 2].map((i) => directory.path(`${i}.jsonl`));
    const options = { inputs, seed: 'json', workers: 2, tempDirs: [directory.temp] } as const;
    const shards = { by: 'count', shardCount: 4 } as const;
    const report = await shuffle(
      { ...options, output: directory.path('shards'), shards },
      { sliceBytes: 1000, inline: false },
    );
    expect(python(COMPARE, ...inputs, '--', ...report.shards)).toBe(told);
  });
});
