/** Batches that need several portions: up to the size limit, and no larger. */
import { describe, expect, it } from 'vitest';
import { RecordCursor } from '#src/loader/record-cursor.js';

/** Portions of two records of five bytes. */
function cursorOf(portionCount: number, mostBatchBytes: number): RecordCursor {
  let number = 0;
  const next = async () => {
    number += 1;
    return number > portionCount
      ? undefined
      : { bytes: new Uint8Array(10).fill(number), ends: new Uint32Array([5, 10]) };
  };
  return new RecordCursor({ next }, 0, mostBatchBytes);
}

describe('a batch of several portions', () => {
  it('may have as many bytes as an array can have', async () => {
    const batch = await cursorOf(4, 30).takeBatch(6);
    expect(batch?.bytes).toEqual(
      Uint8Array.from([1, 2, 3].flatMap((value) => Array.from({ length: 10 }, () => value))),
    );
    expect([...(batch?.ends ?? [])]).toEqual([5, 10, 15, 20, 25, 30]);
    // The memory kept for the next batch is no larger, either.
    expect(batch?.bytes.buffer.byteLength).toBe(30);
  });

  it('is refused before it is copied together, if it would have more', async () => {
    await expect(cursorOf(4, 30).takeBatch(7)).rejects.toMatchObject({
      code: 'ERR_OPTION',
      message:
        'a batch of 7 records would have more than 30 bytes, the most that a batch can have; ask for fewer records at a time',
    });
    await expect(cursorOf(4, 29).takeBatch(6)).rejects.toMatchObject({ code: 'ERR_OPTION' });
  });
});
