/** Headers and trailers in a file: plain, or as members whose places are known beforehand. */
import { describe, expect, it } from 'vitest';
import { compressionOf, OUTPUT_CODECS, openEncoder } from '#src/formats/encoder-table.js';
import type { FileContent, StoredEnds } from '#src/formats/stored-ends.js';
import { NO_PLAIN_ENDS, type PlainEnds, storedEnds } from '#src/sinks/output-layout.js';
import { decodeWithTool } from '../formats/decode-with-tool.js';

const ENDS: PlainEnds = {
  headerBytes: 8,
  headerOf: (recordBytes) => Buffer.from(String(recordBytes).padStart(8)),
  trailer: Buffer.from('end'),
};

/** Of a file with so many bytes of records, which nobody reads. */
const contentOf = (recordBytes: number): FileContent => ({
  path: '/nowhere',
  byteLength: recordBytes,
  recordBytes,
  open: () => expect.fail('nothing is read'),
});
const trailerOf = (ends: StoredEnds, recordBytes: number) => Buffer.concat([...ends.trailerOf(contentOf(recordBytes))]);

describe('storedEnds', () => {
  it('are what they are without compression', () => {
    const ends = storedEnds(ENDS, undefined);
    expect(ends.headerBytes).toBe(8);
    expect(String(ends.headerOf(77))).toBe('      77');
    for (const recordBytes of [0, 77]) expect(String(trailerOf(ends, recordBytes))).toBe('end');
    expect(trailerOf(storedEnds(NO_PLAIN_ENDS, undefined), 0)).toHaveLength(0);
  });

  it('refuse a header of another length', () => {
    const ends = { ...ENDS, headerBytes: 7 };
    expect(() => storedEnds(ends, undefined).headerOf(1)).toThrow('a header of 8 bytes, expected 7');
  });

  describe.each(OUTPUT_CODECS)('of %s', (codec) => {
    const encoder = openEncoder(compressionOf(codec));
    const decoded = (bytes: Uint8Array) => decodeWithTool(codec, bytes).toString();

    it('are members, the header of the same length whatever it says', () => {
      const ends = storedEnds(ENDS, encoder);
      for (const recordBytes of [0, 1, 12_345_678]) {
        const header = ends.headerOf(recordBytes);
        expect(header).toHaveLength(ends.headerBytes);
        expect(decoded(header)).toBe(String(recordBytes).padStart(8));
        expect(decoded(trailerOf(ends, recordBytes))).toBe('end');
      }
    });

    it('are one empty member where there is nothing else, and nothing where there is', () => {
      const ends = storedEnds(NO_PLAIN_ENDS, encoder);
      expect(ends.headerBytes).toBe(0);
      expect(ends.headerOf(0)).toHaveLength(0);
      expect(trailerOf(ends, 0).byteLength).toBeGreaterThan(0);
      expect(decoded(trailerOf(ends, 0))).toBe('');
      expect(trailerOf(ends, 1)).toHaveLength(0);
      expect(trailerOf(storedEnds({ ...ENDS, trailer: new Uint8Array() }, encoder), 0)).toHaveLength(0);
    });
  });
});
