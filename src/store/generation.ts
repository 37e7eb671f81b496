/**
 * Generations: pile sets that were appended together, by name, and when that was.
 */
import { UsageError } from '../errors.js';

const DATE = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/;
const MOST_CHARACTERS = 200;

/** The name of a generation that was given none: the date, in UTC. */
export function generationOfToday(now = Date.now()): string {
  return new Date(now).toISOString().slice(0, 10);
}

/**
 * When a date or a date with a time was, in milliseconds since 1970 and not before, in UTC where it does not say.
 * Undefined for other texts, and for days that are in no calendar.
 */
export function timeOfDate(text: string): number | undefined {
  const [, day, timeOfDay, , , zone] = DATE.exec(text) ?? [];
  if (day === undefined) return undefined;
  const midnight = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) return undefined;
  const time = timeOfDay === undefined ? midnight : Date.parse(zone === undefined ? `${text}Z` : text);
  return Number.isNaN(time) ? undefined : Math.max(0, time);
}

/** @throws UsageError for what is no name that can be read back from a line. */
export function requireGeneration(name: string): void {
  if (name !== '' && name.length <= MOST_CHARACTERS && !/[\p{Cc}\p{Cs}]/u.test(name)) return;
  throw new UsageError(
    `the generation ${JSON.stringify(name)} has no name of 1 to ${MOST_CHARACTERS} printable characters; give one, such as ${generationOfToday()}`,
  );
}
