/** Reads the dictionaries that an output carries over (`formats/rows/parquet/carried-dictionary.ts`) from pages of inputs. */

import { InputError, SystemError } from '../../../errors.js';
import { yieldAndCheckAbortAt } from '../../../floor/pause.js';
import type { RowsFile, RowsRequest } from '../row-format.js';
import {
  type CarriedDictionary,
  type DictionaryLeaf,
  GatheredValues,
  shownValues,
  splitPlain,
} from './carried-dictionary.js';
import { ColumnMemory } from './columns/column-memory.js';
import { decompressPage, requireExpansion } from './columns/page-codecs.js';
import { PageError } from './columns/page-error.js';
import type { ByteRanges } from './footer.js';
import { type Leaf, nameOfLeaf } from './leaf.js';
import { sourcesIn, withFooter } from './open-tables.js';
import { readPageHeader } from './page-header.js';
import type { ColumnChunk } from './row-group.js';
import type { TableSpec } from './table-spec.js';
import { ThriftError } from './thrift.js';

/** The most bytes of all carried dictionaries: the manifest of a job has them, and each thread. */
const MAX_CARRIED_BYTES = 8 * 2 ** 20;
/** Most dictionaries fit in the first call. */
const HEAD_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);

interface GatheredLeaf extends DictionaryLeaf {
  readonly column: Leaf;
  readonly values: GatheredValues;
  /** The last page as it is stored: most row groups have the same. */
  last: Buffer;
}

/**
 * Reads the dictionaries of the first input, and of the others where the order of the values has a meaning.
 * @throws InputError if two have another order, or one is too large to be carried in order.
 */
export async function readDictionaries(
  files: readonly RowsFile[],
  rows: TableSpec,
  dictionaryLeaves: readonly DictionaryLeaf[],
  { signal, onWarning }: Pick<RowsRequest, 'signal' | 'onWarning'>,
): Promise<readonly CarriedDictionary[]> {
  const memory = new ColumnMemory({ takeSpare: () => true, giveSpare: () => {} }, 0);
  let carried = dictionaryLeaves.flatMap((each): GatheredLeaf[] => {
    const column = rows.schema.leaves[each.leaf];
    return column === undefined ? [] : [{ ...each, column, values: new GatheredValues(column), last: NOTHING }];
  });
  let first: string | undefined;
  let groupCount = 0;
  for (const each of files) {
    const { path } = each;
    await withFooter(each, async (footer, file) => {
      const sources = sourcesIn(footer, rows, path);
      let group = 0;
      for (const { columns } of footer.rowGroups()) {
        await yieldAndCheckAbortAt(groupCount++, signal);
        for (const each of carried) {
          const chunk = columns[sources[each.leaf]?.index ?? -1];
          if (chunk === undefined || (first !== undefined && !each.isOrdered)) continue;
          const place = `${path}: row group ${group}, column ${nameOfLeaf(each.column)}`;
          const isSmallEnough = gather(each, memory, file, chunk, { place, first: first ?? 'the row groups before' });
          if (isSmallEnough && carried.reduce((sum, { values }) => sum + values.byteLength, 0) <= MAX_CARRIED_BYTES)
            continue;
          const problem = `${place}: its dictionary takes more than the ${MAX_CARRIED_BYTES / 2 ** 20} MiB that an output carries`;
          if (each.isOrdered)
            throw new InputError('ERR_INPUT_FORMAT', `${problem}, but its order has a meaning; write it as strings`);
          onWarning(`${problem}: the column is written as plain values`);
          carried = carried.filter((other) => other !== each);
        }
        group += 1;
      }
    });
    first ??= path;
    if (!carried.some(({ isOrdered }) => isOrdered)) break;
  }
  return carried.map(({ leaf, values }) => ({ leaf, count: values.count, values: values.plain() }));
}

interface GatheringPlace {
  readonly place: string;
  /** Source of the values that were gathered before. */
  readonly first: string;
}

/** @returns false: the dictionary is larger than all carried ones together may be. */
function gather(
  each: GatheredLeaf,
  memory: ColumnMemory,
  file: ByteRanges,
  chunk: ColumnChunk,
  { place, first }: GatheringPlace,
): boolean {
  try {
    const page = readDictionaryPage(file, chunk);
    if (page === undefined || page.body.equals(each.last)) return true;
    each.last = page.body;
    if (page.uncompressedBytes > MAX_CARRIED_BYTES) return false;
    const values = splitPlain(each.column, decompressed(memory, chunk, page), page.valueCount);
    if (values === undefined) throw new PageError('its values are cut off');
    if (!each.isOrdered) each.values.add(values);
    else if (!each.values.addOrdered(values)) {
      const problem = `${place}: its ordered categories are ${shownValues(values)}, but in ${first} ${each.values.shown()}`;
      throw new InputError(
        'ERR_INPUT_FORMAT',
        `${problem}; expected one order: write one of them again in that of the other`,
      );
    }
    return true;
  } catch (error) {
    if (!(error instanceof PageError || error instanceof ThriftError)) throw error;
    const problem = `${place}, page at byte ${chunk.start}: ${error.message}; make the file again`;
    throw new InputError('ERR_INPUT_CORRUPT', problem, { cause: error });
  }
}

interface DictionaryPage {
  readonly uncompressedBytes: number;
  readonly valueCount: number;
  readonly body: Buffer;
}

/** @returns undefined: the chunk does not begin with one. */
function readDictionaryPage(file: ByteRanges, { start, byteLength }: ColumnChunk): DictionaryPage | undefined {
  for (let count = HEAD_BYTES; ; count *= 4) {
    const bytes = Buffer.from(file.read(start, Math.min(count, byteLength)));
    const found = bytes.byteLength === 0 ? undefined : readPageHeader(bytes, 0);
    if (found === undefined && count < byteLength) continue;
    if (found?.header.kind !== 'dictionary') return undefined;
    const { headerBytes, header } = found;
    const end = headerBytes + header.compressedBytes;
    if (end > byteLength) throw new PageError(`it claims ${end} bytes, and the column chunk has only ${byteLength}`);
    const page = end <= bytes.byteLength ? bytes : Buffer.from(file.read(start, end));
    return { ...header, body: page.subarray(headerBytes, end) };
  }
}

function decompressed(
  memory: ColumnMemory,
  { codec }: ColumnChunk,
  { body, uncompressedBytes }: DictionaryPage,
): Buffer {
  requireExpansion(codec, body.byteLength, uncompressedBytes);
  const region = memory.allocate(uncompressedBytes);
  if (region === undefined) throw new SystemError('ERR_OUT_OF_MEMORY', 'no memory to decode a dictionary');
  decompressPage(memory, codec, body, region);
  const values = Buffer.from(memory.bytes.slice(region.address, region.address + uncompressedBytes));
  memory.release(region);
  return values;
}
