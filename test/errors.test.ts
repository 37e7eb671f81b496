/** Errors cross from a worker thread to the coordinator as plain data, and arrive unchanged. */
import { describe, expect, it } from 'vitest';
import * as errors from '#src/errors.js';
import {
  AbortError,
  addCleanupErrors,
  ClosedPipeError,
  counted,
  decodeError,
  encodeError,
  InputError,
  inDigits,
  PileshufError,
  RecordOverMemoryError,
  requireWhole,
  StagedOutputError,
  SystemError,
  UsageError,
  VerificationError,
  WindowOverMemoryError,
  WrongStreamError,
  WrongTwiceError,
} from '#src/errors.js';
import { nameSome } from '#src/values/format-numbers.js';

function crossed(error: unknown): PileshufError {
  return decodeError(structuredClone(encodeError(error)));
}

describe('an error that crosses threads', () => {
  const ofEachClass = [
    new UsageError('no such option', 'ERR_OPTION'),
    new InputError('ERR_INPUT_CORRUPT', 'x.gz is corrupt'),
    new SystemError('ERR_NO_SPACE', 'no space'),
    new VerificationError('pile 7 is not what it was'),
    new VerificationError('a segment is not what it was', { pileSetName: 'set-000012' }),
    new AbortError(),
    new AbortError(undefined, 'incomplete'),
    new ClosedPipeError(),
    new RecordOverMemoryError('the record has 9 bytes'),
    new WindowOverMemoryError('the zstd frame has a window of 9 bytes'),
    new StagedOutputError('the staged output 0.part has changed'),
    new WrongTwiceError(new VerificationError('pile 7 is not what it was', { pileSetName: 'set-000012' })),
    new WrongStreamError(new VerificationError('pile 7 is not what it was')),
  ];

  it('is of any class', () => {
    const classes = Object.values<unknown>(errors).filter(
      (value) => typeof value === 'function' && (value === PileshufError || value.prototype instanceof PileshufError),
    );
    expect(new Set(ofEachClass.map((error) => error.constructor))).toEqual(
      new Set(classes.filter((one) => one !== PileshufError)),
    );
  });

  it.each(ofEachClass)('is the same: $message', (error) => {
    const { kind, code, message, name, stack, pileSetName } = error;
    const copy = crossed(error);
    expect(Object.getPrototypeOf(copy)).toBe(error.constructor.prototype);
    expect(copy).toMatchObject({ kind, code, message, name, stack, pileSetName });
  });

  it('brings along what failed while the task cleaned up after it', () => {
    const error = new SystemError('ERR_NO_SPACE', 'the disk is full');
    const closing = new SystemError('ERR_IO', 'cannot close it');
    addCleanupErrors(closing, [new Error('any')]);
    addCleanupErrors(error, [closing]);
    const [first] = crossed(error).cleanupErrors;
    expect(first).toBeInstanceOf(SystemError);
    expect(first).toMatchObject({ code: 'ERR_IO', cleanupErrors: [{ message: 'a task failed: any' }] });
  });

  it('knows the pile set that it is about', () => {
    expect(crossed(new VerificationError('wrong', { pileSetName: 'set-7' }))).toMatchObject({ pileSetName: 'set-7' });
    expect(crossed(new VerificationError('wrong'))).toMatchObject({ pileSetName: undefined });
    const unreadable = new SystemError('ERR_IO', 'cannot read', { pileSetName: 'set-7' });
    expect(crossed(unreadable)).toMatchObject({ pileSetName: 'set-7' });
    expect(crossed(new AbortError()).pileSetName).toBeUndefined();
  });

  it('becomes one of a task when it is any other', () => {
    expect(crossed(new RangeError('oops'))).toMatchObject({ code: 'ERR_WORKER', message: 'a task failed: oops' });
    expect(crossed('oops')).toBeInstanceOf(PileshufError);
  });
});

describe('a number in a message', () => {
  it('has the digits that it was given with', () => {
    expect([0, -7, 2 ** 53, 2 ** 64, 1e21, 1.5, Number.NaN].map(inDigits)).toEqual([
      ...['0', '-7', '9007199254740992', '18446744073709551616', '1000000000000000000000', '1.5', 'NaN'],
    ]);
    expect(() => requireWhole('`workers`', 2 ** 64, 1, 1024)).toThrow('`workers` is 18446744073709551616; expected');
  });
});

it('several things of one kind are named as far as a line holds them', () => {
  expect([['a'], ['a', 'b', 'c'], ['a', 'b', 'c', 'd', 'e']].map((names) => nameSome(names))).toEqual([
    ...['a', 'a, b, c', 'a, b, c and 2 more'],
  ]);
});

describe('counted', () => {
  it('has the plural for all but one', () => {
    expect([0, 1, 2, 1n].map((count) => counted(count, 'byte'))).toEqual(['0 bytes', '1 byte', '2 bytes', '1 byte']);
  });
});
