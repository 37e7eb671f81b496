/**
 * Reads a size as people write it: a whole or decimal number and a unit, nothing else. Numbers of records need no unit,
 * and their units are powers of 1000.
 *
 *     B                     bytes
 *     K M G T, Ki.., KiB..  powers of 1024, as GNU sort's -S
 *     KB MB GB TB           powers of 1000
 *     %                     of memory, where the flag allows it
 *
 * Case does not matter: sort takes `512m` too, and no unit changes its meaning with its case. A bare
 * number is refused, because sort reads it as KiB and other programs as bytes. Fractions of a byte
 * are dropped.
 */

import { UsageError } from '../errors.js';

export interface SizeRule {
  readonly flag: string;
  /** Returns what 100 % is, in bytes; called only for a percentage. Absent: a percentage is refused. */
  readonly allowPercentOf?: (() => number) | undefined;
}

const factorOfUnit = new Map<string, bigint>([['b', 1n]]);
/** `10B` is 10 billion. */
const factorOfAmount = new Map<string, bigint>([
  ['', 1n],
  ['b', 1000n ** 3n],
]);
for (const [index, letter] of ['k', 'm', 'g', 't'].entries()) {
  const power = BigInt(index + 1);
  for (const unit of [letter, `${letter}i`, `${letter}ib`]) factorOfUnit.set(unit, 1024n ** power);
  factorOfUnit.set(`${letter}b`, 1000n ** power);
  for (const unit of [letter, `${letter}b`]) factorOfAmount.set(unit, 1000n ** power);
}

interface ParsedNumber {
  /** The number times `scale`. */
  readonly digits: bigint;
  readonly scale: bigint;
  readonly unit: string;
}

function parseNumberAndUnit(text: string): ParsedNumber | undefined {
  const [, whole, fraction = '', unit = ''] = /^(\d+)(?:\.(\d+))?([a-z]*|%)$/i.exec(text) ?? [];
  if (whole === undefined) return undefined;
  return { digits: BigInt(whole + fraction), scale: 10n ** BigInt(fraction.length), unit };
}

export function parseSize(text: string, { flag, allowPercentOf }: SizeRule): number {
  const refuse = (reason: string): UsageError => new UsageError(`${flag} ${text}: ${reason}`);
  const units = '512M or 512MiB (powers of 1024), 512MB (powers of 1000), 512B (bytes)';
  const expected = `expected a number and a unit: ${units}${allowPercentOf ? ', or 50% (of memory)' : ''}`;
  const written = parseNumberAndUnit(text);
  if (written === undefined) throw refuse(expected);
  const { digits, scale, unit } = written;
  if (digits === 0n) throw refuse('expected more than 0');
  if (unit === '') throw refuse(`a bare number is ambiguous; write ${text}M or ${text}B`);
  let bytes: bigint;
  if (unit === '%') {
    if (allowPercentOf === undefined) throw refuse(`a percentage is not possible here; ${expected}`);
    if (digits > 100n * scale) throw refuse('expected at most 100%');
    bytes = (digits * BigInt(allowPercentOf())) / (scale * 100n);
  } else {
    const factor = factorOfUnit.get(unit.toLowerCase());
    if (factor === undefined) throw refuse(`unknown unit '${unit}'; ${expected}`);
    bytes = (digits * factor) / scale;
  }
  if (bytes === 0n) throw refuse('expected at least one byte');
  if (bytes > BigInt(Number.MAX_SAFE_INTEGER)) throw refuse(`expected at most ${Number.MAX_SAFE_INTEGER} bytes`);
  return Number(bytes);
}

/** A number of records or other things: digits alone, or a number and a unit. Undefined: no whole number. */
export function parseAmount(text: string): bigint | undefined {
  const { digits, scale, unit = '' } = parseNumberAndUnit(text) ?? {};
  const factor = factorOfAmount.get(unit.toLowerCase());
  if (digits === undefined || scale === undefined || factor === undefined) return undefined;
  const amount = digits * factor;
  return amount % scale === 0n ? amount / scale : undefined;
}
