/** What is tried again, and for how long. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { StallWatch, transientErrorOfStatus, withRetries } from '#src/remote/retries.js';
import { errorOf } from '../fixtures/error-of.js';

const RETRY_POLICY = {
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

const ask = (path: string, times: number) => withRetries(path, refusing(times), RETRY_POLICY, () => {});

const refused = (headers: Record<string, string>) => transientErrorOfStatus(503, '', headers) ?? expect.fail();

it('patience counts from the last byte, and tries from what stays', async () => {
  const retryPolicy = { ...RETRY_POLICY, totalMilliseconds: 30, silenceMilliseconds: 10 };
  const tries = async (work: (progress: StallWatch) => void) => {
    let count = 0;
    const attempt = async (progress: StallWatch) => {
      await sleep(15);
      count += 1;
      work(progress);
      if (count < 30) throw refused({});
      return 'answer';
    };
    return { count: await withRetries('s3://a/b', attempt, retryPolicy, () => {}).catch(() => count), of: count };
  };
  expect((await tries(() => {})).of).toBeLessThan(5);
  expect((await tries((progress) => progress.received(9999))).of).toBe(20);
  const advancing = (progress: StallWatch) => {
    progress.received(9999);
    progress.advanced();
  };
  expect((await tries(advancing)).count).toBe('answer');
});

it('bytes that come too slowly are a failure', async () => {
  const progress = new StallWatch(20);
  progress.beginTry();
  progress.received(10_000);
  await sleep(25);
  progress.received(1);
  await sleep(25);
  expect(() => progress.received(1)).toThrow('fewer than 1024 bytes a second come through');
});

it.each([
  [{ 'retry-after': '300' }, 300],
  [{ ratelimit: '"api";r=0;t=217' }, 217],
  [{ ratelimit: '"api";r=5;t=217' }, undefined],
  [{ 'ratelimit-reset': '9' }, 9],
  [{}, undefined],
])('a server that says %j asks for a pause of %s seconds', (headers, seconds) => {
  const asked = refused(headers).pauseMilliseconds;
  expect(asked === undefined ? undefined : Math.round(asked / 1000)).toBe(seconds);
});

it('what a server asks for is waited for and told, within bounds', async () => {
  const told: string[] = [];
  let count = 0;
  const stop = new AbortController();
  const attempt = async () => {
    throw refused({ 'retry-after': count++ === 0 ? '1.1' : '300' });
  };
  const tell = (line: string) => {
    if (told.push(line) === 2) setImmediate(() => stop.abort());
  };
  // The pauses that are asked for do not count.
  const retryPolicy = { ...RETRY_POLICY, totalMilliseconds: 1000 };
  const asked = withRetries('s3://a/b', attempt, retryPolicy, tell, { signal: stop.signal });
  await expect(asked).rejects.toThrow('aborted');
  expect(told).toEqual([
    's3://a/b: the server answered 503; trying again',
    's3://a/b: the server answered 503; trying again in 300 s',
  ]);
  const tooLong = async () => {
    throw refused({ 'retry-after': '3600' });
  };
  expect((await errorOf(withRetries('s3://a/b', tooLong, RETRY_POLICY, () => {}))).message).toBe(
    'cannot read s3://a/b: the server answered 503, and asks to come back in 3600 s; start again then',
  );
});

it('a server that is away is waited for, if it has answered before; else it is not a server', async () => {
  expect((await errorOf(ask('s3://first/a', 9))).message).toBe(
    'cannot read s3://first/a: no server listens there, 3 times; look whether the server and the network work, and start again',
  );
  expect(await ask('s3://first/a', 2)).toBe('answer');
  expect(await ask('s3://first/b', 9)).toBe('answer');
  expect((await errorOf(ask('s3://other/b', 9))).message).toContain('3 times');
});
