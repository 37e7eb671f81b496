/**
 * Writes doubles as lines of decimals that the kernel reads: of the shortest decimal that reads back as the double, the digits
 * before the point and 15 after it. `String` finds that decimal, and is slow. Below 4, a double is alone among the decimals of
 * 15 places that read back as it: if there is such a decimal, it is the shortest one. Else the digits of both are the same.
 */
const PARTS = 1e15;
const PLACES = 15;
const POINT = 0x2e;
const NEWLINE = 0x0a;
const ZERO = 0x30;
/** Splits a double into two that have half of its bits. */
const SPLITTER = 2 ** 27 + 1;
const [PARTS_HIGH, PARTS_LOW] = split(PARTS);
const LONGEST_LINE = 25;
/** Half of the distance to the next double, in parts, by the exponent in the bits of a double. */
const halfSteps = Float64Array.from({ length: 2048 }, (_, exponent) => PARTS * 2 ** (exponent - 1023 - 53));

function split(value: number): readonly [number, number] {
  const scaled = SPLITTER * value;
  const high = scaled - (scaled - value);
  return [high, value - high];
}

export function linesOfDoubles(numbers: Float64Array): Uint8Array {
  const lines = Buffer.allocUnsafeSlow(LONGEST_LINE * numbers.length);
  const words = new Uint32Array(numbers.buffer);
  let at = 0;
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i] ?? 0;
    if (number >= 0 && number < 4) at = writeBelow4(lines, at, number, halfSteps[(words[2 * i + 1] ?? 0) >>> 20] ?? 0);
    else at += lines.write(String(number), at, 'latin1');
    lines[at++] = NEWLINE;
  }
  return lines.subarray(0, at);
}

function writeBelow4(lines: Uint8Array, start: number, number: number, halfStep: number): number {
  const whole = Math.floor(number);
  lines[start] = ZERO + whole;
  const fraction = number - whole;
  if (fraction === 0) return start + 1;
  // The product and its error are exact together (Dekker).
  const product = fraction * PARTS;
  const [high, low] = split(fraction);
  const error = high * PARTS_HIGH - product + high * PARTS_LOW + low * PARTS_HIGH + low * PARTS_LOW;
  let parts = Math.floor(product);
  const above = product - parts + error;
  if (above < 0) parts -= 1;
  if (1 - (above < 0 ? above + 1 : above) < halfStep) parts += 1;
  lines[start + 1] = POINT;
  const end = start + 2 + PLACES;
  const rest = Math.floor(parts / 1e8);
  for (let at = end - 1, left = parts - rest * 1e8; at > start + 1; at--) {
    if (at === end - 9) left = rest;
    const tenth = (left / 10) | 0;
    lines[at] = ZERO + left - 10 * tenth;
    left = tenth;
  }
  return end;
}
