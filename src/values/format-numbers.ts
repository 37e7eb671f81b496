/** Numbers for people, in three significant digits. Bytes are in powers of 1000, as the speeds of disks are. */

const byteUnits = ['kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** `999 B`, `1.20 GB`, `345 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 999.5) {
    return `${Math.round(bytes)} B`;
  }
  let value = bytes;
  let unit: string = 'B';
  for (const larger of byteUnits) {
    if (value < 999.5) {
      break;
    }
    value /= 1000;
    unit = larger;
  }
  return `${threeDigits(value)} ${unit}`;
}

const MIB = 2 ** 20;

/** A budget as `-S` takes it: `4G`, `256M`. Less than a MiB is rounded away. */
export function formatBudget(bytes: number): string {
  const mebibytes = Math.max(1, Math.round(bytes / MIB));
  return mebibytes % 1024 === 0 ? `${mebibytes / 1024}G` : `${mebibytes}M`;
}

/** More digits are easier to read in powers of 1000. */
const MOST_SIZE_DIGITS = 4;

/** `64M`, as `-S` takes it. Undefined: no short word says it exactly. */
export function sizeWord(bytes: number): string | undefined {
  for (const [index, letter] of ['T', 'G', 'M', 'K'].entries()) {
    const count = bytes / 1024 ** (4 - index);
    if (Number.isInteger(count) && count > 0)
      return String(count).length <= MOST_SIZE_DIGITS ? `${count}${letter}` : undefined;
  }
  return undefined;
}

/** Formats a decimal number of any length, such as `1,234.5`. */
export function formatDecimal(decimal: string): string {
  const [whole = '', ...part] = decimal.split('.');
  return [BigInt(whole).toLocaleString('en-US'), ...part].join('.');
}

/** `12 bytes`, `1.20 GB (1,204,000,000 bytes)`. */
export function formatExactBytes(bytes: number): string {
  const exact = formatPlural(bytes, 'byte');
  return bytes < 1000 ? exact : `${formatBytes(bytes)} (${exact})`;
}

/** A measured time: `0.42 s`, `6.1 s`, then as `formatWholeSeconds`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 9.95) {
    return `${seconds.toFixed(seconds < 0.995 ? 2 : 1)} s`;
  }
  return formatWholeSeconds(Math.round(seconds));
}

/** `42 s`, `2 min 05 s`, `3 h 07 min`. */
export function formatWholeSeconds(wholeSeconds: number): string {
  if (wholeSeconds < 60) {
    return `${wholeSeconds} s`;
  }
  if (wholeSeconds < 3600) {
    return `${Math.floor(wholeSeconds / 60)} min ${twoDigits(wholeSeconds % 60)} s`;
  }
  const wholeMinutes = Math.round(wholeSeconds / 60);
  return `${Math.floor(wholeMinutes / 60)} h ${twoDigits(wholeMinutes % 60)} min`;
}

/** `19,047,619`, rounded to a whole number. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 record`, `19,047,619 records`. */
export function formatPlural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

function threeDigits(value: number): string {
  return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** `a, b, c and 69 more`. */
export function nameSome(names: readonly string[], most = 3): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Returns the words for messages that name the first input. */
export function andOtherInputs(count: number): string {
  return count === 0 ? '' : ` (and ${count} other input${count === 1 ? '' : 's'})`;
}
