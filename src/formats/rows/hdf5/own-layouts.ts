/** Layouts in which a row is more than equal places of several datasets: only their own readers can move rows. */
import { openAttribute, shownValue } from './attributes.js';
import { attributesOf, type FoundObject, linksOf } from './groups.js';
import { type Hdf5Bytes, Hdf5Problem } from './hdf5-bytes.js';

interface OwnLayout {
  /** Matches what an object of this layout has: lines `attribute=value` and `link/`, in the order of names. */
  readonly marks: RegExp;
  readonly what: string;
  readonly remedy: string;
}

const LAYOUTS: readonly OwnLayout[] = [
  {
    marks: /^pandas_type=/m,
    what: 'a table of pandas, whose columns lie in several datasets',
    remedy: 'write it to Parquet: `pandas.read_hdf(FILE, KEY).to_parquet(OUTPUT)`',
  },
  {
    // Tables of the C library have version 3, and no index.
    marks: /^CLASS="(?:TABLE|INDEX)"$[\s\S]*^VERSION="2\./m,
    what: 'a table of PyTables or its index, which is another one when rows move',
    remedy: 'write the table to Parquet: `pandas.DataFrame(table.read()).to_parquet(OUTPUT)`',
  },
  {
    marks: /^(?:encoding-type="cs[rc]_matrix"|h5sparse_format=.*|indptr\/)$/m,
    what: 'a sparse matrix, whose rows have different lengths',
    remedy: 'write it with dense rows (`toarray()`), or to Parquet with lists of indices and values',
  },
  {
    marks: /^(?:MATLAB_class|OCTAVE_NEW_FORMAT)=/m,
    what: 'an array of MATLAB or Octave, which store columns as rows',
    remedy: 'write it transposed with h5py: `output[NAME] = array[()].T`',
  },
];

/** @throws Hdf5Problem if an object has such a layout. */
export function refuseOwnLayouts(file: Hdf5Bytes, objects: readonly FoundObject[]): void {
  for (const { path, header } of objects) {
    const attributes = attributesOf(file, header).map((message) => openAttribute(file, message));
    const has = [
      ...attributes.map(({ name, datatype, data }) => `${name}=${shownValue(file, datatype, data) ?? ''}`),
      ...linksOf(file, header).map(({ name }) => `${name}/`),
    ].sort();
    const layout = LAYOUTS.find(({ marks }) => marks.test(has.join('\n')));
    if (layout !== undefined) throw new Hdf5Problem(`${path} is ${layout.what}; ${layout.remedy}`, false);
  }
}
