/**
 * Results in the order of their tasks, though threads report them in another.
 */

/**
 * A function that takes results in any order and hands them to `take` in that of their turns.
 * @param turnOf 0, 1, 2, ..., each once.
 */
export function inTurn<Result, Task>(
  take: (result: Result, task: Task) => void,
  turnOf: (task: Task) => number,
): (result: Result, task: Task) => void {
  const waiting = new Map<number, { readonly result: Result; readonly task: Task }>();
  let next = 0;
  return (result, task) => {
    waiting.set(turnOf(task), { result, task });
    for (let first = waiting.get(next); first !== undefined; first = waiting.get(next)) {
      waiting.delete(next);
      next += 1;
      take(first.result, first.task);
    }
  };
}
