/** `Promise.withResolvers`, which Node 20 lacks, for a promise without a value. */
export function promiseWithResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}
