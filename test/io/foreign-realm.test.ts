/** Node's errors are recognised where they are no instances of `Error`, as in a test of Jest, which has a realm of its own. */
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { errnoOf, reasonOf } from '#src/io/io-error.js';

it('knows an error of another realm by its code', () => {
  const error: unknown = runInNewContext('Object.assign(new Error("made up"), { code: "ENOENT" })');
  expect(error).not.toBeInstanceOf(Error);
  expect(errnoOf(error)).toBe('ENOENT');
  expect(reasonOf(error)).toBe('no such file or directory');
  expect(reasonOf(runInNewContext('new Error("made up")'))).toBe('made up');
});
