/**
 * The metadata of a file, which is all but its rows: groups, links, attributes, types, and datasets without rows. Outputs
 * have that of the first input, so it must mean the same in all inputs. Facts are equal where the meaning is: for values in
 * other chunks, and for references to the same paths at other addresses.
 */
import { createHash, type Hash } from 'node:crypto';
import { foreignReferenceProblem, openAttribute, SCALE_USERS, sequenceAt, shownValue } from './attributes.js';
import { productOf } from './chunk-box.js';
import { type Dataset, RowReader, readDataset } from './dataset.js';
import { type Datatype, readDatatype } from './datatype.js';
import { attributesOf, type FoundObject, linksOf, pathIn } from './groups.js';
import { Cursor, type Hdf5Bytes, Hdf5Problem } from './hdf5-bytes.js';
import { MESSAGE, messageIn } from './object-header.js';

export interface Fact {
  /** Equal texts, equal meanings. */
  readonly value: string;
  /** How messages show it, if it is short. */
  readonly shown?: string | undefined;
}

interface MetadataRequest {
  readonly file: Hdf5Bytes;
  readonly objects: readonly FoundObject[];
  /** Addresses of the datasets whose rows are shuffled: of these, only attributes count. */
  readonly rows: ReadonlySet<number>;
  /** Returns whether the output does not have a dataset. */
  readonly leavesOut: (dataset: Dataset) => boolean;
}

/** Decoded values of one file that are compared: the output has at most 16 MiB of them, as they are stored. */
const MOST_COMPARED_BYTES = 64 * 2 ** 20;
/** Attributes of libraries that say nothing of data: which version wrote the file, and what `DIMENSION_LIST` says, too. */
const OF_LIBRARIES: ReadonlySet<string> = new Set(['_NCProperties', SCALE_USERS]);
/** Longer values are hashed: a hash costs more than most values. */
const MOST_PLAIN_BYTES = 256;
/** netCDF gives this name to a dimension without values. Its length follows, and nobody reads it there. */
const NAME_OF_DIMENSION = /^("This is a netCDF dimension but not a netCDF variable\.) *\d+"$/;

type Facts = Generator<readonly [what: string, fact: Fact]>;

export function metadataFacts(request: MetadataRequest): Facts {
  return new MetadataReader(request).facts();
}

export function nameOfDataset(path: string): string {
  return `the dataset ${path}`;
}

class MetadataReader {
  readonly #request: MetadataRequest;
  readonly #file: Hdf5Bytes;
  readonly #pathAt: ReadonlyMap<number, string>;
  #comparedBytes = 0;

  constructor(request: MetadataRequest) {
    this.#request = request;
    this.#file = request.file;
    this.#pathAt = new Map(request.objects.map(({ address, path }) => [address, path]));
  }

  *facts(): Facts {
    const { objects, leavesOut } = this.#request;
    for (const object of objects) {
      const dataset = readDataset(this.#file, object);
      if (dataset !== undefined && leavesOut(dataset)) continue;
      yield* dataset === undefined ? this.#ofObject(object) : this.#ofDataset(dataset);
      yield* this.#attributes(object);
      yield* this.#links(object);
    }
  }

  *#ofObject({ kind, path, header }: FoundObject): Facts {
    const type = kind === 'type' ? messageIn(this.#file, header, MESSAGE.DATATYPE) : undefined;
    yield [`the ${kind} ${path}`, { value: type === undefined ? '' : readDatatype(new Cursor(type)).text }];
  }

  *#ofDataset(dataset: Dataset): Facts {
    const { path, address, type, shape, chunkBytes, fill = Buffer.alloc(0) } = dataset;
    if (!this.#request.rows.has(address)) {
      yield [nameOfDataset(path), { value: `${type.text} ${shape.isNull} ${shape.lengths}` }];
      this.#count(Math.max(chunkBytes, productOf(shape.lengths, type.byteLength)), path);
      yield [`the values of ${path}`, { value: this.#digest(type, blocksOf(this.#file, dataset), path) }];
    }
    const isZero = fill.every((byte) => byte === 0);
    const what = `the fill value of ${path}`;
    yield [what, { value: isZero ? '' : this.#digest(type, [fill], what), shown: shownValue(this.#file, type, fill) }];
  }

  *#attributes({ path, header }: FoundObject): Facts {
    for (const message of attributesOf(this.#file, header)) {
      const { name, datatype, shape, data } = openAttribute(this.#file, message);
      if (OF_LIBRARIES.has(name)) continue;
      const what = `the attribute ${name} of ${path}`;
      const shown = shownValue(this.#file, datatype, data);
      const isShort = datatype.pointers.length === 0 && data.byteLength <= MOST_PLAIN_BYTES;
      const value = isShort ? data.toString('latin1') : this.#digest(datatype, [data], what);
      const isName = NAME_OF_DIMENSION.test(shown ?? '');
      yield [what, { value: `${datatype.text} ${shape.isNull} ${shape.lengths} ${isName ? '' : value}`, shown }];
    }
  }

  *#links({ path, header }: FoundObject): Facts {
    for (const { name, address, softPath } of linksOf(this.#file, header)) {
      const link = pathIn(path, name);
      const target = address === undefined ? `soft ${softPath}` : this.#pathAt.get(address);
      // An object has the path of one of the links to it.
      if (target !== link) yield [`the link ${link}`, { value: `${target}` }];
    }
  }

  #digest(type: Datatype, blocks: Iterable<Buffer>, where: string): string {
    const hash = createHash('sha256');
    for (const block of blocks) this.#feed(hash, type, block, where);
    return hash.digest('base64');
  }

  /** Pointers count as what they lead to. */
  #feed(hash: Hash, { pointers, byteLength }: Datatype, bytes: Buffer, where: string): void {
    if (pointers.length === 0) hash.update(bytes);
    for (let start = 0; pointers.length > 0 && start < bytes.byteLength; start += byteLength) {
      const element = Buffer.from(bytes.subarray(start, start + byteLength));
      for (const { offset, to } of pointers) {
        if (to === 'other') throw foreignReferenceProblem(where);
        const pointer = Buffer.from(element.subarray(offset, offset + (to === 'object' ? 8 : 16)));
        element.fill(0, offset, offset + pointer.byteLength);
        if (to === 'object') hash.update(`${this.#pathAt.get(new Cursor(pointer).u64OrNone() ?? 0)}\0`);
        else {
          const sequence = sequenceAt(this.#file, to, pointer) ?? Buffer.alloc(0);
          this.#count(sequence.byteLength, where);
          hash.update(`${sequence.byteLength} `);
          this.#feed(hash, to, sequence, where);
        }
      }
      hash.update(element);
    }
  }

  #count(byteLength: number, where: string): void {
    this.#comparedBytes += byteLength;
    // A product of damaged lengths may be no number.
    if (!(this.#comparedBytes <= MOST_COMPARED_BYTES))
      throw new Hdf5Problem(
        `the datasets without rows have more than the 64 MiB that pileshuf compares, with ${where}; put it into another file`,
        false,
      );
  }
}

function* blocksOf(file: Hdf5Bytes, dataset: Dataset): Generator<Buffer> {
  const { shape, rowBytes, blockRows } = dataset;
  // A dataset without dimensions is one row.
  const [rows = shape.isNull ? 0 : 1, ...inRow] = shape.lengths;
  if (rows * rowBytes === 0) return;
  const reader = new RowReader(file, { ...dataset, shape: { ...shape, lengths: [rows, ...inRow] } });
  for (let row = 0; row < rows; row += blockRows) {
    const count = Math.min(blockRows, rows - row);
    const block = Buffer.allocUnsafe(count * rowBytes);
    reader.copy(row, count, block, 0, rowBytes);
    yield block;
  }
}

/** Returns how the metadata of a file differs from that of the first one; undefined: it does not. */
export function metadataDifference(
  path: string,
  metadata: Facts,
  first: { readonly path: string; readonly metadata: ReadonlyMap<string, Fact> },
): string | undefined {
  const missing = new Set(first.metadata.keys());
  for (const [what, { value, shown }] of metadata) {
    const expected = first.metadata.get(what);
    if (expected === undefined) return `only ${path} has ${what}`;
    missing.delete(what);
    if (expected.value === value) continue;
    if (shown === undefined || expected.shown === undefined) return `${path} and ${first.path} differ in ${what}`;
    if (shown === expected.shown) return `${what} has another type in ${path} than in ${first.path}`;
    return `${what} is ${shown} in ${path}, and ${expected.shown} in ${first.path}`;
  }
  const [what] = missing;
  return what === undefined ? undefined : `only ${first.path} has ${what}`;
}
