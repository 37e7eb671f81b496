/** Global headers of tar files, which apply to all members. */
import { describe, expect, it } from 'vitest';
import { globalPax } from '#src/formats/headers/global-pax.js';
import { paxLine, tarHeader, tarNote, tarOf, withChecksum } from '../plain-tar.js';

const comment = (text: string) => tarNote('g', paxLine('comment', text));
const members = tarOf([{ name: '0.jpg', data: Buffer.alloc(700) }]);
const measure = (head: Buffer, isWhole = true) => globalPax.measure(head, isWhole, 'in');

describe('globalPax', () => {
  it.each<[string, Buffer]>([
    ['none', Buffer.alloc(0)],
    ['one', comment('c')],
    ['several, of some length', Buffer.concat([comment('c'), comment('d'.repeat(2000))])],
  ])('ends before the first member: %s', (_, header) => {
    for (const behind of [members, Buffer.alloc(1024)]) {
      const whole = Buffer.concat([header, behind]);
      for (let length = 0; length < header.byteLength + 512; length += 256) {
        expect(measure(whole.subarray(0, length), false)).toBeUndefined();
      }
      expect(measure(whole)).toMatchObject({ byteLength: header.byteLength, bytes: new Uint8Array(header) });
    }
  });

  it.each<[string, Buffer, RegExp]>([
    ['nothing', Buffer.alloc(0), /^in: byte 0 is the end of the input; expected a tar file/],
    ['less than a block', Buffer.alloc(100), /^in: byte 100 is the end of the input; expected a tar file/],
    ['no tar file', Buffer.alloc(512, 'x'), /^in: byte 0 is not a tar header: its checksum does not match$/],
    ['a global header cut off', comment('c').subarray(0, 700), /^in: byte 700 is the end of the input/],
    [
      'one of an absurd size',
      tarHeader({ name: 'g', byteLength: 2 ** 22, type: 'g' }),
      /byte 0 .*claims 4194304 bytes/,
    ],
    [
      'one without lengths',
      Buffer.concat([comment('c'), tarNote('g', 'comment=c\n'), members]),
      /^in: byte 1024 is a pax header that is not made of lines/,
    ],
    [
      'one that says how large all members are',
      Buffer.concat([tarNote('g', paxLine('size', '7')), members]),
      /^in: byte 0 is a global pax header that gives all members one name or one size$/,
    ],
  ])('refuses %s', (_, head, line) => {
    expect(() => measure(head)).toThrow(line);
  });

  it('is told apart by what it says, not by when it was written', () => {
    const header = (bytes: Buffer) => measure(Buffer.concat([bytes, members])) ?? expect.fail('it was not found');
    const later = comment('c');
    withChecksum(later.subarray(0, 512).fill('7', 140, 141));
    expect(globalPax.difference(header(comment('c')), header(later))).toBeUndefined();
    expect(globalPax.difference(header(comment('c')), header(comment('d')))).toEqual({
      position: 512 + 11,
      expected: '"13 comment=c\\n"',
      got: '"13 comment=d\\n"',
    });
    const both = (second: string) => header(Buffer.concat([comment('c'), comment(second)]));
    expect(globalPax.difference(both('c'), both('d'))).toMatchObject({ position: 1024 + 512 + 11 });
    expect(globalPax.difference(both('c'), header(comment('c')))).toMatchObject({ position: 1024 });
    expect(globalPax.difference(header(comment('c')), header(Buffer.alloc(0)))).toMatchObject({
      position: 0,
      got: '""',
    });
  });

  it('is written again before the records, and two zero blocks behind them', () => {
    const whole = Buffer.concat([comment('c'), members]);
    const header = measure(whole) ?? expect.fail('it was not found');
    expect(Buffer.from(globalPax.headerOf(header, 1536))).toEqual(comment('c'));
    expect(globalPax.trailer).toEqual(new Uint8Array(1024));
  });
});
