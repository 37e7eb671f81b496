/**
 * CSV files that Python wrote, shuffled, and read by Python: the header comes once, and all rows are present. Without
 * Python, the test is skipped with a note.
 */
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();

/** Rows whose fields hold all that must be quoted. */
const WRITE = `
import csv, sys
end, quoting = sys.argv[1].encode().decode("unicode_escape"), getattr(csv, sys.argv[2])
fields = ["plain", "", "a,b", 'say "this"', "two\\nlines", "CR\\r\\nLF", '"', '\\n"\\n', "é"]
for i in range(3):
    with open(f"{i}.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator=end, quoting=quoting)
        writer.writerow(["id", "first\\nfield", 'the "second"'])
        for row in range(300 * i):
            writer.writerow([f"{i}.{row}", fields[row % 9], fields[row // 9 % 9]])
`;
const COMPARE = `
import csv, sys
def read(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))
cut = sys.argv.index("--")
before, behind = ([read(path) for path in paths] for paths in (sys.argv[1:cut], sys.argv[cut + 1:]))
assert all(rows[0] == before[0][0] for rows in behind)
rows = lambda tables: [row for table in tables for row in table[1:]]
assert rows(before) != rows(behind)
assert sorted(rows(before)) == sorted(rows(behind))
print(len(rows(behind)))
`;

function python(script: string, ...argv: readonly string[]): string {
  return execFileSync('python3', ['-c', script, ...argv], { cwd: directory.path(), encoding: 'utf8' }).trim();
}

describe.each([
  ['\\n', 'QUOTE_MINIMAL'],
  ['\\r\\n', 'QUOTE_MINIMAL'],
  ['\\r\\n', 'QUOTE_ALL'],
])('rows that end in %s, %s', (end, quoting) => {
  it.skipIf(!isOnPath('python3'))('are shuffled, if python3 is on PATH', async () => {
    python(WRITE, end, quoting);
    const inputs = [0, 1, 2].map((i) => directory.path(`${i}.csv`));
    const options = {
      inputs,
      seed: 'csv',
      workers: 2,
      tempDirs: [directory.temp],
      records: { by: 'csv' },
      header: { lines: 1 },
      force: true,
    } as const;
    for (const sliceBytes of [500, 2 ** 30]) {
      await shuffle({ ...options, output: directory.path('out.csv') }, { sliceBytes, inline: sliceBytes > 500 });
      expect(python(COMPARE, ...inputs, '--', directory.path('out.csv'))).toBe('900');
    }
    const shards = { by: 'bytes', maxShardBytes: 5000 } as const;
    const report = await shuffle({ ...options, output: directory.path('shards'), shards });
    expect(report.shards.length).toBeGreaterThan(2);
    expect(python(COMPARE, ...inputs, '--', ...report.shards)).toBe('900');
  });
});
