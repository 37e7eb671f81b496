/** Sizes as the command line takes them. */

const LETTERS = ['T', 'G', 'M', 'K'] as const;
/** Longer numbers are easier to read in powers of 1000. */
const MOST_DIGITS = 4;

/** `64M`, in powers of 1024 as sort's `-S`. Undefined: no short word says it exactly. */
export function sizeWord(bytes: number): string | undefined {
  for (const [i, letter] of LETTERS.entries()) {
    const count = bytes / 1024 ** (LETTERS.length - i);
    if (Number.isInteger(count) && count > 0)
      return String(count).length <= MOST_DIGITS ? `${count}${letter}` : undefined;
  }
  return undefined;
}
