/** Node makes no more calls that wait for a disk at one time in its own threads, unless told. */
const AT_ONCE = 4;

/**
 * Works on several items at a time. After the first failure it begins no more, waits for what is under way, and throws
 * that failure.
 */
export async function forEachConcurrently<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
  atOnce = AT_ONCE,
): Promise<void> {
  const left = items[Symbol.iterator]();
  let failure: { readonly error: unknown } | undefined;
  const worker = async () => {
    for (let next = left.next(); next.done !== true && failure === undefined; next = left.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (failure !== undefined) throw failure.error;
}
