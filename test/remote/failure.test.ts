/** What is tried again, and for how long. */
import { expect, it } from 'vitest';
import { withPatience } from '#src/remote/failure.js';
import { errorOf } from '../fixtures/error-of.js';

const PATIENCE = {
  totalMilliseconds: 5000,
  firstPauseMilliseconds: 1,
  longestPauseMilliseconds: 1,
  silenceMilliseconds: 1,
};

/** Refused so often before it answers. */
function refusing(times: number): () => Promise<string> {
  let left = times;
  return async () => {
    left -= 1;
    if (left >= 0) throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    return 'answer';
  };
}

const ask = (path: string, times: number) => withPatience(path, refusing(times), PATIENCE, () => {});

it('a server that is away is waited for, if it has answered before; else it is no server', async () => {
  expect((await errorOf(ask('s3://first/a', 9))).message).toBe(
    'cannot read s3://first/a: no server listens there, 3 times; look whether the server and the network work, and start again',
  );
  expect(await ask('s3://first/a', 2)).toBe('answer');
  expect(await ask('s3://first/b', 9)).toBe('answer');
  expect((await errorOf(ask('s3://other/b', 9))).message).toContain('3 times');
});
