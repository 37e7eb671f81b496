/**
 * Arrays that NumPy wrote, shuffled, and read by NumPy: all rows are present, in other places, and their shape is
 * right. Without NumPy, the tests are skipped with a note.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const hasNumpy = spawnSync('python3', ['-c', 'import numpy']).status === 0;

/** Writes three arrays of some rows each, the last of none. */
const WRITE = `
import sys, numpy as np
make, version = sys.argv[1], int(sys.argv[2])
for i, rows in enumerate([1000, 37, 0]):
    array = eval(make)(rows, np.random.default_rng(i))
    with open(f"{i}.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=(version, 0))
`;

/** Compares the rows of the arrays on both sides of \`--\`; tells how many rows each of the others has. */
const COMPARE = `
import sys, numpy as np
cut = sys.argv.index("--")
before = [np.load(path) for path in sys.argv[1:cut]]
behind = [np.load(path, mmap_mode="r") for path in sys.argv[cut + 1:]]
for array in behind:
    assert array.dtype == before[0].dtype and array.shape[1:] == before[0].shape[1:], (array.dtype, array.shape)
    assert array.offset % 64 == 0, array.offset
rows = lambda arrays: [row.tobytes() for array in arrays for row in array]
assert rows(before) != rows(behind)
assert sorted(rows(before)) == sorted(rows(behind))
print(*[len(array) for array in behind])
`;

function python(script: string, ...argv: readonly string[]): string {
  return execFileSync('python3', ['-c', script, ...argv], { cwd: directory.path(), encoding: 'utf8' }).trim();
}

it.skipIf(!hasNumpy).each([
  ['<f4 rows', 'lambda n, r: r.random((n, 3), dtype="f4")', 1],
  ['>i8, one dimension', 'lambda n, r: r.integers(0, 2**62, n).astype(">i8")', 1],
  ['<f2 matrices', 'lambda n, r: r.random((n, 5, 7)).astype("f2")', 2],
  ['bytes', 'lambda n, r: r.integers(0, 256, (n, 300), dtype="u1")', 3],
  ['truth values', 'lambda n, r: r.random((n, 40)) < 0.5', 1],
  ['strings', 'lambda n, r: np.array([str(x) + "é" for x in r.integers(0, 10**9, n)], dtype="U12")', 1],
  ['times', 'lambda n, r: r.integers(0, 2**60, (n, 2)).astype("M8[ns]")', 1],
  ['complex numbers in Fortran order', 'lambda n, r: np.asfortranarray(r.random(n) + 1j)', 1],
])('rows are shuffled, if NumPy is there: %s', async (_, make, version) => {
  python(WRITE, make, String(version));
  const inputs = [0, 1, 2].map((i) => directory.path(`${i}.npy`));
  const packed = directory.path('1.npy.gz');
  writeFileSync(packed, gzipSync(readFileSync(inputs[1] ?? '')));
  const options = {
    seed: 'numpy',
    workers: 2,
    tempDirs: [directory.temp],
    records: { by: 'npy' },
    force: true,
  } as const;
  const of = (middle: string) => [inputs[0] ?? '', middle, inputs[2] ?? ''];
  const output = directory.path('out.npy');
  for (const sliceBytes of [200, 2 ** 30]) {
    const report = await shuffle({ ...options, inputs: of(packed), output }, { sliceBytes, inline: sliceBytes > 200 });
    expect(report.records).toBe(1037);
    expect(python(COMPARE, ...inputs, '--', output)).toBe('1037');
  }
  const shards = { by: 'count', shardCount: 3 } as const;
  const sharded = { ...options, inputs: of(inputs[1] ?? ''), output: directory.path('shards'), shards };
  const report = await shuffle(sharded, { inline: false });
  expect(python(COMPARE, ...inputs, '--', ...report.shards)).toBe('345 346 346');
});
