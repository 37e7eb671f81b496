/** Arithmetic with expected numbers: samples tell that the truth lies between two limits. */
import type { Expected } from './preview-report.js';

export function exactly(value: number): Expected {
  return { least: value, expected: value, most: value };
}

export const NOTHING = exactly(0);

/** @param change must not fall. */
export function mapped(value: Expected, change: (value: number) => number): Expected {
  return { least: change(value.least), expected: change(value.expected), most: change(value.most) };
}

export function times(a: Expected, b: Expected): Expected {
  return { least: a.least * b.least, expected: a.expected * b.expected, most: a.most * b.most };
}

export function plus(a: Expected, b: Expected): Expected {
  return { least: a.least + b.least, expected: a.expected + b.expected, most: a.most + b.most };
}

/** Rounds the limits outwards, but not for the errors of floating point. */
export function wholeNumbers({ least, expected, most }: Expected): Expected {
  const slack = 1e-6 + 1e-12 * Math.abs(most);
  return {
    least: Math.floor(least + slack),
    expected: Math.round(expected),
    most: Math.max(0, Math.ceil(most - slack)),
  };
}
