/**
 * Sealed files return exactly the sealed value. Any changed byte is an error that says so; only a whole file of
 * another version is reported as such.
 */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError, VerificationError } from '#src/errors.js';
import { seal, unseal } from '#src/io/sealed-file.js';
import { atScale } from '../fixtures/scale.js';

const value = { seed: '1', pileCount: 12, names: ['a', 'ü', '\u0000', '\ud800'], nested: { flag: true, none: null } };
const sealed = seal('manifest', 3, value);
const read = (bytes: Uint8Array) => unseal(bytes, 'manifest', 3, '/job/manifest');

/** A file that is whole, whatever it tells of itself. */
function sealText(told: string, json: Uint8Array): Uint8Array {
  const digest = createHash('sha256').update(told).update(json).digest('hex');
  return Buffer.concat([Buffer.from(`${told}${digest}\n`), json]);
}

describe('seal', () => {
  it('keeps what JSON can keep', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), fc.array(fc.jsonValue())),
        (any) => {
          expect(unseal(seal('a-b', 999_999_999, any), 'a-b', 999_999_999, 'x')).toEqual(
            JSON.parse(JSON.stringify(any)),
          );
        },
      ),
      { numRuns: atScale(20, 50, 100) },
    );
  });
});

describe('unseal', () => {
  it('gives the value back', () => {
    expect(read(sealed)).toEqual(value);
    expect(read(new Uint8Array(sealed))).toEqual(value);
  });

  it('gives back what JSON lacks', () => {
    const plain = {
      whole: 2n ** 63n,
      endless: Number.POSITIVE_INFINITY,
      bytes: Uint8Array.of(0, 255),
      lists: [Float64Array.of(0.5, 2 ** 60), BigUint64Array.of(0n, 2n ** 64n - 1n)],
    };
    expect(read(seal('manifest', 3, plain))).toEqual(plain);
  });

  it('detects each flipped bit of each byte', () => {
    for (let bit = 0; bit < 8 * sealed.byteLength; bit += atScale(9, 1)) {
      const bytes = new Uint8Array(sealed);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => read(bytes)).toThrow(VerificationError);
    }
  });

  it('detects each missing end, and more at the end', () => {
    for (let byteLength = 0; byteLength < sealed.byteLength; byteLength++) {
      expect(() => read(sealed.subarray(0, byteLength))).toThrow(VerificationError);
    }
    expect(() => read(Buffer.concat([sealed, Buffer.from(' ')]))).toThrow(
      /^verification failed: \/job\/manifest is damaged: expected \d+ bytes after the first line, got \d+; give `force`/,
    );
  });

  it('says what is wrong', () => {
    const last = new Uint8Array(sealed).fill(0, sealed.byteLength - 1);
    const json = Buffer.from('{}');
    for (const [bytes, problem] of [
      [new Uint8Array(0), /: expected it to begin with "pileshuf manifest" and a checksum; /],
      [last, /: its bytes do not match their checksum; /],
      [seal('run', 3, value), /: expected a file of the kind "manifest", got "run"; /],
      [sealText('pileshuf manifest 3 2 ', Buffer.from('{x')), /: expected JSON after the first line; /],
      [sealText('pileshuf manifest 3 3 ', Buffer.from([0x22, 0xff, 0x22])), /: expected JSON after the first line; /],
      [sealText('pileshuf manifest 3 02 ', json), /: expected it to begin with /],
      [sealText('pileshuf manifest 0 2 ', json), /: expected it to begin with /],
    ] as const) {
      expect(() => read(bytes)).toThrow(VerificationError);
      expect(() => read(bytes)).toThrow(problem);
      expect(() => read(bytes)).toThrow(/^[^\n]*\/job\/manifest is damaged: [^\n]*$/);
    }
  });

  it('tells another version from damage', () => {
    expect(() => read(seal('manifest', 4, value))).toThrow(UsageError);
    expect(() => read(seal('manifest', 4, value))).toThrow(
      expect.objectContaining({
        code: 'ERR_JOB_VERSION',
        message:
          '/job/manifest was written by another version of pileshuf (format 4, expected 3); ' +
          'finish the job with that version or give `force` without `resume` to discard it',
      }),
    );
  });

  it('takes no file that was cut and put together again', () => {
    const cut = fc.record({
      at: fc.nat(sealed.byteLength),
      remove: fc.nat(20),
      insert: fc.uint8Array({ maxLength: 20 }),
    });
    fc.assert(
      fc.property(fc.array(cut, { minLength: 1, maxLength: 4 }), (cuts) => {
        let bytes = Buffer.from(sealed);
        for (const { at, remove, insert } of cuts) {
          bytes = Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + remove)]);
        }
        fc.pre(!bytes.equals(sealed));
        expect(() => read(bytes)).toThrow(VerificationError);
      }),
      { numRuns: atScale(80, 1000, 2000) },
    );
  });

  it('survives a value that is nested without end', () => {
    const depth = 200_000;
    const json = Buffer.from('['.repeat(depth) + ']'.repeat(depth));
    const outcome = () => read(sealText(`pileshuf manifest 3 ${json.byteLength} `, json));
    expect(Array.isArray(outcome())).toBe(true);
  });
});
