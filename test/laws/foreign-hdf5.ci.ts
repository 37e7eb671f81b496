/** HDF5 files that h5py wrote in several ways, shuffled, and read by h5py and the tools of HDF5. Skipped without these. */
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
// Debian's own Python has its h5py.
const pythonWith = (modules: string) =>
  ['python3', '/usr/bin/python3', process.env['PEERS_PYTHON'] ?? 'python3'].find(
    (each) => spawnSync(each, ['-c', `import ${modules}`]).status === 0,
  );
const python = pythonWith('h5py');
const hasTools = spawnSync('h5dump', ['--version']).status === 0;
const makeFiles = fileURLToPath(new URL('../../test/fixtures/hdf5/make-files.py', import.meta.url));

/** Prints the datasets whose rows are shuffled. */
const ROWS = `
import sys, h5py
with h5py.File(sys.argv[1]) as file:
    if "rows" in file: print(*[f"/rows/{name}" for name in file["rows"]], end="")
`;

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
    const found = execFileSync(python, ['-c', ROWS, input], { encoding: 'utf8' });
    const hdf5 = name === 'packed' ? undefined : found.split(' ');
    const options = { inputs: [input], output, seed: 'hdf5', tempDirs: [directory.temp], force: true, hdf5 };
    await shuffle(options, { inline: true });
    expect(execFileSync(python, ['-c', COMPARE, input, output], { encoding: 'utf8' })).toBe('');
    for (const [tool, ...words] of [
      ['h5dump', output],
      ...(name === 'packed' ? [] : ['/packed', '/groups'].map((object) => ['h5diff', input, output, object])),
    ])
      expect(spawnSync(tool ?? '', words), words.join(' ')).toMatchObject({ status: 0 });
  },
);

/** What netCDF-4 and others have: scales of dimensions, types with a name, several paths, many and long attributes. */
const MAKE_SCALED = `
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "w", libver=sys.argv[2], track_order=True) as file:
    file["pair"] = np.dtype([("a", "<i4"), ("b", "<f8")])
    X = file.create_dataset("grid/X", data=np.arange(600.).reshape(50, 3, 4), chunks=(8, 3, 4), maxshape=(None, 3, 4))
    file["time"], file["depth"], file["again"] = np.arange(50.), np.arange(3), X
    for i, name in enumerate(["time", "depth"]):
        file[name].make_scale(name)
        X.dims[i].attach_scale(file[name])
    file.create_dataset("few", (2,), dtype=file["pair"])
    file.create_dataset("texts", (3,), dtype=h5py.string_dtype(), fillvalue="none")[0] = "one"
    X.attrs.create("pair", np.zeros(2, file["pair"].dtype), dtype=file["pair"])
    for i in range(20): X.attrs[f"note {i}"] = [f"{i}"] * i or np.arange(1000.)
`;
const COMPARE_SCALED = `
import sys, h5py, numpy as np
before, after = h5py.File(sys.argv[1]), h5py.File(sys.argv[2], "r+")
X, Y = before["grid/X"], after["grid/X"]
links = lambda file, name: h5py.h5o.get_info(file[name].id).rc
for name in ["grid/X", "pair", "time"]:
    if links(before, name) != links(after, name): print("links of", name)
if [Y.dims[i][0].name for i in (0, 1)] != ["/time", "/depth"] or after["again"] != Y: print("scales")
if after["texts"].fillvalue != b"none" or list(after["texts"]) != [b"one", b"none", b"none"]: print("fill value")
if not after["few"].id.get_type().committed(): print("type")
if list(X.attrs) != list(Y.attrs): print("names of attributes")
for i in range(20):
    if not np.array_equal(X.attrs[f"note {i}"], Y.attrs[f"note {i}"]): print("attribute", i)
rows = lambda file: sorted(zip(file["time"], map(bytes, file["grid/X"])))
if sorted(rows(before) * (len(after["time"]) // 50)) != rows(after): print("rows")
Y.resize(160, 0)
Y[155], Y.attrs["note 3"] = 7, "another"
del after["again"], after["few"]
after.close()
if h5py.File(sys.argv[2])["grid/X"][155, 2, 3] != 7: print("growth")
`;

it.for([['earliest'], ['latest'], ['earliest', 'latest']])(
  'what refers to objects is right, and outputs can grow: %o',
  async (versions, { skip }) => {
    if (python === undefined) return skip('no h5py');
    const output = directory.path('out.h5');
    const inputs = versions.map((version) => {
      const input = directory.path(`${version}.h5`);
      execFileSync(python, ['-c', MAKE_SCALED, input, version]);
      return input;
    });
    const hdf5 = ['/grid/X', '/time'];
    await shuffle({ inputs, output, seed: 'hdf5', tempDirs: [directory.temp], hdf5 }, { inline: true });
    const compared = execFileSync(python, ['-c', COMPARE_SCALED, inputs[0] ?? '', output], { encoding: 'utf8' });
    expect(compared).toBe('');
  },
);

/** Files as pandas, PyTables and netCDF4 write them by default. */
const MAKE_OTHERS = `
import sys, numpy as np, pandas, tables, netCDF4
frame = pandas.DataFrame({"i": np.arange(60), "x": np.arange(60) / 2, "s": [f"s{i}" for i in range(60)]})
frame.to_hdf(f"{sys.argv[1]}/fixed.h5", key="df")
frame.to_hdf(f"{sys.argv[1]}/table.h5", key="df", format="table")
with tables.open_file(f"{sys.argv[1]}/pytables.h5", "w") as file:
    file.create_table("/", "t", obj=frame[["i", "x"]].to_records(index=False)).cols.i.create_index()
def grid(name, first, units):
    with netCDF4.Dataset(f"{sys.argv[1]}/{name}.nc", "w") as file:
        file.createDimension("time", None), file.createDimension("lat", 4), file.createDimension("sample", 9)
        file.createVariable("lat", "f4", ("lat",))[:] = np.arange(4)
        file.createVariable("time", "f8", ("time",))[:] = first + np.arange(60 + first)
        value = file.createVariable("t", "i2", ("time", "lat"), zlib=True, fill_value=-9)
        value.units, value.scale_factor = units, 0.5
        value[:] = (first + np.arange(60 + first))[:, None] + np.arange(4)
grid("a", 0, "K"), grid("b", 100, "K"), grid("other", 100, "degC")
`;
const COMPARE_GRIDS = `
import sys, netCDF4
rows = lambda path: [(float(time), *map(float, values)) for file in [netCDF4.Dataset(path)] for time, values in zip(file["time"][:], file["t"][:])]
before, after = rows(sys.argv[1]) + rows(sys.argv[2]), rows(sys.argv[3])
if before == after or sorted(before) != sorted(after): print("rows")
if list(netCDF4.Dataset(sys.argv[3])["lat"][:]) != [0, 1, 2, 3]: print("lat")
`;

it('files of other libraries are shuffled as they are meant, or refused', async ({ skip }) => {
  const other = pythonWith('pandas, tables, netCDF4');
  if (other === undefined) return skip('no pandas, tables and netCDF4; PEERS_PYTHON may name a Python with them');
  execFileSync(other, ['-W', 'ignore', '-c', MAKE_OTHERS, directory.path()]);
  const run = (names: readonly string[], hdf5?: readonly string[]) => {
    const inputs = names.map((name) => directory.path(name));
    const output = directory.path('out.h5');
    return shuffle({ inputs, output, seed: 'hdf5', tempDirs: [directory.temp], force: true, hdf5 }, { inline: true });
  };
  await expect(run(['fixed.h5'])).rejects.toThrow('/df is a table of pandas');
  await expect(run(['table.h5'], ['/df/table'])).rejects.toThrow('/df is a table of pandas');
  await expect(run(['pytables.h5'], ['/t'])).rejects.toThrow('/t is a table of PyTables');
  await expect(run(['a.nc', 'b.nc'])).rejects.toThrow(/60 rows \(.*\), 4 rows \(\/lat\)/);
  await expect(run(['a.nc', 'other.nc'], ['/t', '/time'])).rejects.toThrow('the attribute units of /t is "degC"');
  await expect(run(['a.nc', 'b.nc'], ['/t'])).rejects.toThrow('name /time with `hdf5`, too');
  await run(['a.nc', 'b.nc'], ['/t', '/time']);
  const paths = ['a.nc', 'b.nc', 'out.h5'].map((name) => directory.path(name));
  expect(execFileSync(other, ['-c', COMPARE_GRIDS, ...paths], { encoding: 'utf8' })).toBe('');
});
