/**
 * The value of a field in a JSON record: for any object, at any depth, however it is written, the kernel finds the value that
 * a parser finds; strings are equal if their characters are; and no text, however it is cut or damaged, is read beyond its
 * end.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeFieldPath } from '#src/formats/selector.js';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { atScale } from '../../fixtures/scale.js';
import { recordHash } from './kernel-twin.js';

const kernel = new Kernel();
kernel.ensureArena(256 * 1024);
const PATH = ARENA_START;
const RECORD = ARENA_START + 65_536;

/** The hash of the field's value; undefined: the record has no such field. @param behind the bytes behind the record. */
function fieldOf(text: string | Uint8Array, path: readonly string[], behind = '"}]\\'): bigint | undefined {
  const bytes = Buffer.from(text);
  kernel.bytes.set(encodeFieldPath(path), PATH);
  kernel.bytes.set(bytes, RECORD);
  kernel.bytes.set(Buffer.from(behind.repeat(8)), RECORD + bytes.byteLength);
  kernel.wasm.seekField(PATH);
  const hash = BigInt.asUintN(64, kernel.wasm.fieldHash(RECORD, RECORD + bytes.byteLength));
  return kernel.wasm.hasField() ? hash : undefined;
}

/** A string counts by its characters behind a quote; another value by its bytes. */
const hashOf = (value: unknown, text = JSON.stringify(value)) =>
  recordHash(Buffer.from(typeof value === 'string' ? `"${value}` : text));

const key = fc.oneof(
  fc.constantFrom('a', 'b', 'site', '', 'a"b', 'é', '\u{1f600}', '\\', 'x'.repeat(40)),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
const leaf = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 70 }),
  fc.string({ unit: 'binary', maxLength: 20 }).filter((text) => Buffer.from(text).toString() === text),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('value'), { maxLength: 4 }), tie('object')),
  object: fc.dictionary(key, tie('value'), { maxKeys: 5 }),
})).value;
const object = fc.dictionary(key, value, { minKeys: 1, maxKeys: 8 });

/** Written with blanks, and with characters of strings as escapes, as other programs write JSON. */
const asOthersWrite = (text: string, blanks: boolean) =>
  text
    .replace(/[\u0080-\uffff]/g, (half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/^/, blanks ? ' \t' : '');

describe('the field of a record', () => {
  it('is the one that a parser finds, at the top and inside', () => {
    const check = (record: Record<string, unknown>, at: number, ofInner: number, blanks: boolean) => {
      const keys = Object.keys(record);
      const outer = keys[at % keys.length] ?? expect.fail();
      const found = record[outer];
      const text = JSON.stringify(record, undefined, blanks ? 2 : undefined);
      const expected = hashOf(found);
      const isScalar = typeof found !== 'object' || found === null;
      if (isScalar || !blanks) expect(fieldOf(text, [outer])).toBe(expected);
      if (typeof found === 'string') expect(fieldOf(asOthersWrite(text, blanks), [outer])).toBe(expected);
      expect(fieldOf(text, [outer, 'no such key'])).toBe(undefined);
      expect(fieldOf(text, ['no such key'])).toBe(undefined);
      if (isScalar || Array.isArray(found)) return;
      const inner = Object.keys(found);
      const name = inner[ofInner % inner.length];
      if (name === undefined) return;
      const innerValue = (found as Record<string, unknown>)[name];
      if (typeof innerValue !== 'object' || innerValue === null)
        expect(fieldOf(text, [outer, name])).toBe(hashOf(innerValue));
    };
    fc.assert(fc.property(object, fc.nat(), fc.nat(), fc.boolean(), check), { numRuns: atScale(400, 3000, 100_000) });
  });

  it.each([
    ['{"a":1}', ['a'], '1'],
    ['{"a" : 1 , "b":2}\n', ['a'], '1'],
    ['{"b":"}","a":-1.50e3}\n', ['a'], '-1.50e3'],
    ['{"b":{"a":2},"a":1}\n', ['a'], '1'],
    ['{"b":[{"a":2},"]"],"a":true}\r\n', ['a'], 'true'],
    ['{"b":"\\\\","a":null}\n', ['a'], 'null'],
    ['{"a":{"x":[1,2]},"b":1}', ['a'], '{"x":[1,2]}'],
    ['{"a":[]}', ['a'], '[]'],
    ['{"a":1,"a":2}', ['a'], '1'],
    ['{"\\u0061":1}', ['a'], '1'],
    ['{"a":"x"}', ['a'], '"x'],
    ['{"a":"\\u0078"}', ['a'], '"x'],
    ['{"a":"\\ud83d\\ude00\\n"}', ['a'], '"\u{1f600}\n'],
    ['{"a":""}', ['a'], '"'],
  ])('in %s at %j is %s', (text, path, found) => {
    expect(fieldOf(text, path)).toBe(recordHash(Buffer.from(found)));
  });

  it.each([
    '',
    '{',
    '{}',
    '{"a"',
    '{"a":',
    '{"a":}',
    '{"b":1',
    '{"b":"',
    '[{"a":1}]',
    '"a"',
    '1',
    '{a:1}',
    '{"ab":1}',
    '{"b":1 "a":2}',
    '{"b":\\',
    '{"b":"\\',
    '\0\xff',
  ])('is missing in %j', (text) => {
    expect(fieldOf(text, ['a'])).toBe(undefined);
  });

  it('tells texts from other values, and long ones that differ in one byte', () => {
    expect(fieldOf('{"a":"1"}', ['a'])).not.toBe(fieldOf('{"a":1}', ['a']));
    const long = 'x'.repeat(5000);
    expect(fieldOf(`{"a":"${long}y"}`, ['a'])).not.toBe(fieldOf(`{"a":"${long}z"}`, ['a']));
    expect(fieldOf(`{"b":"${long}","a":3}`, ['a'])).toBe(recordHash(Buffer.from('3')));
  });

  it('does not depend on the bytes behind the record, wherever it is cut', () => {
    const text = '{"text":"a \\"quoted\\" word \\u00e9","nested":{"list":[1,"]",{}],"site":"here"},"site":"there"}\n';
    for (let byteLength = 0; byteLength <= text.length; byteLength++) {
      const cut = text.slice(0, byteLength);
      for (const path of [['site'], ['nested', 'site'], ['text']]) {
        const alone = fieldOf(cut, path, ' ');
        for (const behind of ['"', '}', '\\', ']', '\0']) expect(fieldOf(cut, path, behind)).toBe(alone);
      }
    }
  });
});
