/** BGZF: members are found by their own sizes, and a file with a member that cannot be found is not read in parts. */
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoredBytes, StoredMember } from '#src/formats/codec.js';
import { bgzf } from '#src/formats/codecs/gzip.js';
import { isOnPath, runOn } from '../../fixtures/foreign-program.js';
import { BGZF_END, bgzfFile, bgzfMember } from './bgzf-file.js';

function storedBytes(bytes: Uint8Array): StoredBytes {
  return {
    path: 'in.bgz',
    byteLength: bytes.byteLength,
    read: (position, byteLength) => bytes.subarray(position, position + byteLength),
  };
}

function list(bytes: Uint8Array): { readonly members: StoredMember[]; readonly decodedBytes: number | undefined } {
  const found = bgzf.listMembers?.(storedBytes(bytes)) ?? expect.fail('it lists no members');
  const members: StoredMember[] = [];
  for (;;) {
    const { done, value } = found.next();
    if (done === true) return { members, decodedBytes: value };
    members.push(value);
  }
}

const a = Buffer.from('first');
const b = Buffer.from('the second');

describe('bgzf.endMark', () => {
  it('is a member of nothing', () => {
    expect(BGZF_END.equals(bgzf.endMark?.bytes ?? new Uint8Array())).toBe(true);
  });

  it.skipIf(!isOnPath('bgzip'))('is what bgzip ends its files with, if it is on PATH', () => {
    for (const content of [new Uint8Array(), a, Buffer.alloc(100_000, a)]) {
      expect(runOn(content, ['bgzip', '-c']).subarray(-BGZF_END.byteLength).equals(BGZF_END)).toBe(true);
    }
  });
});

describe('bgzf.listMembers', () => {
  it('finds all members, empty ones and that at the end too', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 12 }), (contents) => {
        const expected: StoredMember[] = [];
        let [storedStart, decodedStart] = [0, 0];
        for (const content of [...contents, new Uint8Array()]) {
          expected.push({ storedStart, decodedStart, decodedBytes: content.byteLength });
          storedStart += bgzfMember(content).byteLength;
          decodedStart += content.byteLength;
        }
        expect(list(bgzfFile(contents))).toEqual({ members: expected, decodedBytes: decodedStart });
      }),
    );
  });

  it.each<[string, Buffer]>([
    ['another kind of gzip member behind', Buffer.concat([bgzfMember(a), gzipSync(b)])],
    ['another kind of gzip member between', Buffer.concat([bgzfMember(a), gzipSync(b), bgzfMember(a), BGZF_END])],
    ['padding of zeros', Buffer.concat([bgzfFile([a]), Buffer.alloc(512)])],
    ['text behind', Buffer.concat([bgzfFile([a]), Buffer.from('text')])],
    ['a member that says that it is longer', Buffer.concat([bgzfMember(a, { storedBytes: 1 }), bgzfMember(b)])],
    ['a member that says that it is shorter', Buffer.concat([bgzfMember(a, { storedBytes: -1 }), bgzfMember(b)])],
    ['a last member that says that it is longer', bgzfMember(a, { storedBytes: 1 })],
    ...[0, 1, 17, 26].map((shorter): [string, Buffer] => [
      `a member that says that it has ${shorter + 1} bytes`,
      bgzfMember(a, { storedBytes: shorter + 1 - bgzfMember(a).byteLength }),
    ]),
    ['a member that says that it decodes to too much', bgzfMember(a, { decodedBytes: 65_536 })],
  ])('does not know them in a file with %s', (_, bytes) => {
    expect(list(bytes).decodedBytes).toBeUndefined();
  });

  it('finds members with other subfields, before and behind the one that counts', () => {
    const subfield = fc
      .tuple(fc.constantFrom('XY', 'BX', 'CB'), fc.uint8Array({ maxLength: 40 }))
      .map(([name, data]) => Buffer.concat([Buffer.from(name), Buffer.of(data.byteLength, 0), data]));
    const subfields = fc.array(subfield, { maxLength: 3 }).map((all) => Buffer.concat(all));
    const member = fc.record({ content: fc.uint8Array({ maxLength: 50 }), before: subfields, behind: subfields });
    fc.assert(
      fc.property(fc.array(member, { minLength: 1, maxLength: 5 }), (members) => {
        const parts = members.map(({ content, ...others }) => bgzfMember(content, {}, others));
        const bytes = Buffer.concat([...parts, BGZF_END]);
        const contents = Buffer.concat(members.map(({ content }) => content));
        expect(bgzf.matches(bytes)).toBe(true);
        expect(gunzipSync(bytes).equals(contents)).toBe(true);
        expect(list(bytes).decodedBytes).toBe(contents.byteLength);
        expect(list(bytes).members).toHaveLength(members.length + 1);
      }),
    );
  });

  it('refuses an extra field that reaches to the content of a later member, in the first header and behind others', () => {
    const members = [a, b, a, b].map((content) => bgzfMember(content));
    for (let later = 1; later < members.length; later++) {
      const start = Buffer.concat(members.slice(0, later)).byteLength;
      const damaged = Buffer.concat(members);
      damaged.writeUInt16LE(start + 6, 10);
      expect(() => list(damaged)).toThrow(
        `in.bgz: the extra field of the gzip header at byte 0 (compressed) reaches into the member at byte ${start};`,
      );
      const behind = bgzfMember(b).byteLength;
      expect(() => list(Buffer.concat([bgzfMember(b), damaged]))).toThrow(
        `at byte ${behind} (compressed) reaches into the member at byte ${behind + start};`,
      );
    }
  });
});
