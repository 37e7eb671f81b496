/** A call that a signal interrupted is made again, but for `close`, after which nobody knows whose the descriptor is. */
import { afterEach, describe, expect, it } from 'vitest';
import { type FileCalls, fileCalls, replaceFileCalls } from '#src/io/file-calls.js';

const interrupted = () => Object.assign(new Error('interrupted'), { code: 'EINTR' });

describe('an interrupted call', () => {
  let former: FileCalls | undefined;
  let calls = 0;

  afterEach(() => {
    if (former !== undefined) replaceFileCalls(former);
    [former, calls] = [undefined, 0];
  });

  /** Replaces one call by one that fails twice. */
  function interrupting(name: keyof FileCalls, result: (error: Error | undefined) => unknown): void {
    const first = replaceFileCalls(fileCalls);
    former = first;
    const call = () => {
      calls += 1;
      return result(calls <= 2 ? interrupted() : undefined);
    };
    replaceFileCalls({ ...first, [name]: call });
  }

  const throwing = (error: Error | undefined) => {
    if (error !== undefined) throw error;
    return 7;
  };

  it('is made again', () => {
    interrupting('read', throwing);
    expect(fileCalls.read(0, new Uint8Array(1), 0, 1, 0)).toBe(7);
    expect(calls).toBe(3);
  });

  it('is made again if it is asynchronous', async () => {
    interrupting('syncAsync', (error) => (error === undefined ? Promise.resolve() : Promise.reject(error)));
    await fileCalls.syncAsync(0);
    expect(calls).toBe(3);
  });

  it('is not made again if it closes a file', () => {
    interrupting('close', throwing);
    fileCalls.close(0);
    expect(calls).toBe(1);
  });
});
