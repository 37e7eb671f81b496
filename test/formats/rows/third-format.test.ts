/** The contract of formats of rows is all that a job knows of them: a third one needs an entry in the registry. */
import { closeSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { framingOf } from '#src/formats/framing-table.js';
import { rowFormats } from '#src/formats/rows/registry.js';
import type { RowFormat, RowsSpec } from '#src/formats/rows/row-format.js';
import { useTestDirectory } from '../../fixtures/temp-directory.ts';

const directory = useTestDirectory();

/** A file has 8 magic bytes, the bytes of a row and the number of rows, then the rows. */
const MAGIC = 'FIXED\0\0\0';
const HEADER_BYTES = 16;
const UNIT_ROWS = 64;

interface FixedRows extends RowsSpec {
  readonly rowBytes: number;
}

function headerOf(rowBytes: number, rows: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES, MAGIC);
  header.writeUInt32LE(rowBytes, 8);
  header.writeUInt32LE(rows, 12);
  return header;
}

const FIXED: RowFormat = {
  insteadOfCompress: 'leave it out',
  needsFile: false,
  hasMates: true,
  async open(files) {
    const heads = files.map(({ path }) => readFileSync(path));
    const rowBytes = heads[0]?.readUInt32LE(8) ?? 0;
    const facts = heads.map((head) => {
      const rows = head.readUInt32LE(12);
      const bytes = { rowBytes: rows * rowBytes, unsureBytes: 0, storedBytes: rows * rowBytes, readerBytes: 0 };
      return { format: 'Fixed', rows, ...bytes, isExact: true, mayBeCut: false };
    });
    const rows: FixedRows = { format: 'Fixed', rowBytes };
    return { facts, rows, complete: async () => ({ format: 'Fixed' }) };
  },
  cut: () => expect.fail('no file may be cut'),
  seek: () => expect.fail('nothing seeks values'),
  writerBytes: () => 0,
  unitOf: ({ rows }) => ({ exactly: UNIT_ROWS, rowBytes: (rows as FixedRows).rowBytes }),
  endsOf: ({ rows }) => ({
    headerBytes: HEADER_BYTES,
    headerOf: (recordBytes) => headerOf((rows as FixedRows).rowBytes, recordBytes / (rows as FixedRows).rowBytes),
    trailerOf: () => [],
  }),
  openThread: async () => ({
    async openPart({ path, start, end }, { rowBytes }: FixedRows, _, use) {
      const file = openSync(path, 'r');
      let position = HEADER_BYTES + start * rowBytes;
      const partEnd = HEADER_BYTES + end * rowBytes;
      const read = ({ bytes }: { readonly bytes: Uint8Array }, at: number, most: number) => {
        const count = readSync(file, bytes, at, Math.min(most, partEnd - position), position);
        position += count;
        return count;
      };
      try {
        return await use({ framing: framingOf({ kind: 'size', value: rowBytes }), read });
      } finally {
        closeSync(file);
      }
    },
    openWriter() {
      let bytes = Buffer.alloc(0);
      return {
        add: (rows) => {
          bytes = Buffer.concat([bytes, rows]);
        },
        end: () => {
          const unit = bytes;
          const { byteLength } = unit;
          bytes = Buffer.alloc(0);
          const rest = { description: undefined, pieces: () => [unit], release: () => {} };
          return byteLength === 0 ? undefined : { byteLength, memoryBytes: byteLength, ...rest };
        },
        close: () => {},
      };
    },
  }),
};

const rowsIn = (file: Buffer) =>
  Array.from({ length: (file.length - 16) / 4 }, (_, i) => file.readUInt32LE(16 + 4 * i));

it('is shuffled, to a file and to shards, and verified', async () => {
  rowFormats['Fixed'] = { magics: [MAGIC], endings: ['fixed'], options: {}, load: async () => FIXED };
  // The registry is read when this is loaded.
  const { shuffle, verifyPermutation } = await import('#src/index.js');
  const inputs = [500, 3].map((count, i) => {
    const numbers = Uint32Array.from({ length: count }, (_, row) => 1000 * i + row);
    writeFileSync(directory.path(`in${i}`), Buffer.concat([headerOf(4, count), Buffer.from(numbers.buffer)]));
    return directory.path(`in${i}`);
  });
  const request = { tempDirs: [directory.temp], seed: 's' };
  const output = directory.path('out.fixed');
  await shuffle({ ...request, inputs, output });
  const written = readFileSync(output);
  expect(written.subarray(0, HEADER_BYTES)).toEqual(headerOf(4, 503));
  const before = inputs.flatMap((path) => rowsIn(readFileSync(path)));
  expect(rowsIn(written)).not.toEqual(before);
  expect(rowsIn(written).toSorted((a, b) => a - b)).toEqual(before);
  const shards = directory.path('shards');
  await shuffle({ ...request, inputs, output: shards, shards: { by: 'count', shardCount: 3 } });
  expect(await verifyPermutation({ inputs, outputs: [shards] })).toMatchObject({ isPermutation: true });
  await expect(shuffle({ ...request, inputs, output, force: true, columns: ['a'] })).rejects.toThrow(
    '`columns` chooses columns of Parquet files, and no input is one; leave it out',
  );
});
