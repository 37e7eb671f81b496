/**
 * Reads a time as people write it: a whole number and a unit, s m h d or w. 0 needs none.
 */
import { UsageError } from '../index.js';

const SECONDS: ReadonlyMap<string, number> = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', 86_400],
  ['w', 604_800],
]);

/** In milliseconds. @throws UsageError */
export function parseDuration(text: string, option: string): number {
  const [, digits, unit = ''] = /^(\d{1,9})([smhdw]?)$/.exec(text) ?? [];
  const seconds = digits === '0' ? 1 : SECONDS.get(unit);
  if (digits !== undefined && seconds !== undefined) return Number(digits) * seconds * 1000;
  throw new UsageError(`${option} ${text}: expected a whole number and a unit, such as 90s, 12h, 30d or 4w`);
}
