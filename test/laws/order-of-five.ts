/** Finds which of the 120 orders of five records an output has. */

export const FIVE_RECORDS = 'a\nb\nc\nd\ne\n';
export const ORDERS_OF_FIVE = 120;

/** The factorial number of an order of the five records. @throws RangeError when it is none. */
export function numberOfOrder(output: string): number {
  const left = ['a', 'b', 'c', 'd', 'e'];
  let number = 0;
  for (const letter of output.slice(0, -1).split('\n')) {
    const place = left.indexOf(letter);
    if (place < 0) throw new RangeError(`${JSON.stringify(output)} is not an order of five records`);
    number = number * left.length + place;
    left.splice(place, 1);
  }
  if (left.length > 0) throw new RangeError(`${JSON.stringify(output)} lacks ${left.join()}`);
  return number;
}
