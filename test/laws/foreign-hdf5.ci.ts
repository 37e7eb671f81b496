/** HDF5 files that h5py wrote in several ways, shuffled, and read by h5py and the tools of HDF5. Skipped without these. */
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
// Debian's own Python has its h5py.
const python = ['python3', '/usr/bin/python3'].find((each) => spawnSync(each, ['-c', 'import h5py']).status === 0);
const hasTools = spawnSync('h5dump', ['--version']).status === 0;
const makeFiles = fileURLToPath(new URL('../../test/fixtures/hdf5/make-files.py', import.meta.url));

/** Prints what differs: rows apart from their order, types, chunks, attributes, and datasets without rows. */
const COMPARE = `
import sys, h5py, numpy as np
before, after = h5py.File(sys.argv[1]), h5py.File(sys.argv[2])
names = sorted(before["rows"] if "rows" in before else before)
group = lambda file: file["rows"] if "rows" in file else file
rows = lambda file: [b"".join(row[i].tobytes() for row in [group(file)[name][()] for name in names]) for i in range(41)]
if rows(before) == rows(after): print("the order is the same")
if sorted(rows(before)) != sorted(rows(after)): print("the rows differ")
value = lambda file, each: file[each].name if isinstance(each, h5py.Reference) else np.asarray(each).tolist()
def compare(name, one):
    other = after[name]
    for key, each in one.attrs.items():
        if value(before, each) != value(after, other.attrs[key]): print(name, key)
    if len(one.attrs) != len(other.attrs): print(name, "attributes")
    if isinstance(one, h5py.Group):
        if list(one) != list(other): print(name, "links")
        return
    shown = lambda each: (each.dtype, each.maxshape, each.compression, each.shuffle, each.fletcher32)
    if shown(one) != shown(other) or (one.chunks or other.chunks) != other.chunks: print(name, shown(other), other.chunks)
    if one.shape[:1] != (41,) and [value(before, x) for x in one] != [value(after, x) for x in other]: print(name, "data")
before.visititems(compare)
compare("/", before["/"])
`;

it.for(['old', 'latest', 'packed'])(
  'a file of h5py comes back with another order alone: %s',
  async (name, { skip }) => {
    if (python === undefined || !hasTools) return skip('no h5py or no h5dump');
    execFileSync(python, [makeFiles, directory.path()]);
    const input = directory.path(`${name}.h5`);
    const output = directory.path('out.h5');
    await shuffle({ inputs: [input], output, seed: 'hdf5', tempDirs: [directory.temp], force: true }, { inline: true });
    expect(execFileSync(python, ['-c', COMPARE, input, output], { encoding: 'utf8' })).toBe('');
    for (const [tool, ...words] of [
      ['h5dump', output],
      ...(name === 'packed' ? [] : ['/packed', '/groups'].map((object) => ['h5diff', input, output, object])),
    ])
      expect(spawnSync(tool ?? '', words), words.join(' ')).toMatchObject({ status: 0 });
  },
);
