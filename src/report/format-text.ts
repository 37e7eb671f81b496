import type { JobProfile } from '../options/reports.js';
import { formatBytes, formatCount, sizeWord } from '../values/format-numbers.js';

/** Characters that a page would not show, or that would turn the writing direction round. */
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** A name on one line, with hidden characters written as escapes. */
export function nameText(name: string): string {
  return name.replace(HIDDEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Returns a number with three digits that count. */
export function numberText(value: number): string {
  if (value === 0) return '0';
  if (Math.abs(value) >= 1000) return formatCount(value);
  return String(Number(value.toPrecision(3)));
}

/** @param part from 0 to 1. */
export function percentText(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}

/** Returns the budget as `-S` takes it, if that is short. */
export function budgetText(byteLength: number): string {
  const size = sizeWord(byteLength);
  return size === undefined ? formatBytes(byteLength) : `${size} (${formatBytes(byteLength)})`;
}

/** Seconds of one table: all with as many digits as the largest needs. */
export function secondsFormat(all: readonly number[]): (seconds: number) => string {
  const most = all.reduce((high, each) => Math.max(high, each), 0);
  const digits = most < 0.1 ? 4 : most < 10 ? 3 : most < 1000 ? 1 : 0;
  return (seconds) => `${seconds.toFixed(digits)} s`;
}

export function speedText(byteLength: number, seconds: number): string {
  return seconds <= 0 ? 'no time' : `${formatBytes(byteLength / seconds)}/s`;
}

/** Returns the seconds of the whole job. */
export function secondsOf({ seconds }: Pick<JobProfile, 'seconds'>): number {
  const { prepare, pass1, between, pass2, commit, release } = seconds;
  return prepare + pass1 + between + pass2 + commit + release;
}
