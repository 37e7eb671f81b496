import { UsageError } from '../../index.js';

/** The value of the one option that was given, if any. @throws UsageError when there are several */
export function onlyOne<T>(asked: readonly (readonly [option: string, value: T])[]): T | undefined {
  if (asked.length > 1) {
    const names = asked.map(([option]) => option).join(' and ');
    throw new UsageError(`${names} contradict each other; give one of them`);
  }
  return asked[0]?.[1];
}
