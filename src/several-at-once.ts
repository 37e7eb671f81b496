/** How many calls that wait for a disk are under way at one time; Node makes no more in its own threads, unless told. */
const AT_ONCE = 4;

/**
 * Does the same with each of many things, a few at a time. The first failure ends it: what is under way is
 * waited for, then it is thrown.
 */
export async function severalAtOnce<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
  atOnce = AT_ONCE,
): Promise<void> {
  const left = items[Symbol.iterator]();
  let failure: { readonly error: unknown } | undefined;
  const workOn = async () => {
    for (let next = left.next(); next.done !== true && failure === undefined; next = left.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, workOn));
  if (failure !== undefined) throw failure.error;
}
