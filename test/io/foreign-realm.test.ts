/** Node's errors are recognised where they are not instances of `Error`, as in a test of Jest, which has a realm of its own. */
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { errnoOf, isFull, reasonOf } from '#src/io/io-error.js';
import { codeOfNode } from '../fixtures/replaced-file-calls.js';

it('knows an error of another realm by its code', () => {
  const error: unknown = runInNewContext('Object.assign(new Error("made up"), { code: "ENOENT" })');
  expect(error).not.toBeInstanceOf(Error);
  expect(errnoOf(error)).toBe('ENOENT');
  expect(reasonOf(error)).toBe('no such file or directory');
  expect(reasonOf(runInNewContext('new Error("made up")'))).toBe('made up');
});

it('knows errors that Node has no names for', () => {
  const coded = (errno: string) => Object.assign(new Error('made up'), { code: codeOfNode(errno) });
  expect(codeOfNode('ESTALE')).toMatch(/^Unknown system error -\d+$/);
  expect(errnoOf(coded('ESTALE'))).toBe('ESTALE');
  expect(reasonOf(coded('ESTALE'))).toBe('the network file system lost the file');
  expect(isFull(coded('EDQUOT'))).toBe(true);
});

it('says what an error means that is not of the system, though it has a code, too', () => {
  const coded = (code: string) => Object.assign(new Error('Premature close'), { code });
  expect(reasonOf(coded('ERR_STREAM_PREMATURE_CLOSE'))).toBe('Premature close');
  expect(reasonOf(coded('ABORT_ERR'))).toBe('Premature close');
  expect(reasonOf(coded('ECONNRESET'))).toBe('connection reset by peer');
});
