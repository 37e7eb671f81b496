/** What the tasks of a pass will read of inputs on other machines is fetched before they ask for it. */
import { isRemote, remoteAnswer } from '../io/remote-objects.js';
import type { Slice } from '../plan/slices.js';
import type { Input } from '../sources/source.js';

/** @param slices in the order in which tasks begin. */
export async function tellReadingOrder(inputs: readonly Input[], slices: Iterable<Slice>): Promise<void> {
  if (!inputs.some(({ path }) => isRemote(path))) return;
  const ranges = [...slices].flat().flatMap(({ inputOrdinal, start, end, members }) => {
    const input = inputs[inputOrdinal];
    // Of rows, columns are read, and not all of them.
    if (input?.kind !== 'file' || input.rows !== undefined || !isRemote(input.path)) return [];
    const { path, version, codec } = input;
    const answer = remoteAnswer(version);
    if (answer === undefined) return [];
    const whole = { path, ...answer, start: 0, end: version.byteLength };
    if (members !== undefined) return [{ ...whole, start: members.storedStart, end: members.storedEnd }];
    return [codec === undefined ? { ...whole, start, end: end ?? whole.end } : whole];
  });
  (await import('../remote/remote-inputs.js')).willRead(ranges);
}
