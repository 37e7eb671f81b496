/** Numbers of a report as text. */

const counts = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P'];

export function countText(count: number): string {
  return counts.format(count);
}

/** Three digits that count. */
export function numberText(value: number): string {
  if (value === 0) return '0';
  if (Math.abs(value) >= 1000) return countText(value);
  return String(Number(value.toPrecision(3)));
}

/** A part of 1. */
export function percentText(part: number): string {
  return `${Number((100 * part).toFixed(1))} %`;
}

/** In powers of 1000. */
export function bytesText(byteLength: number): string {
  const power = Math.max(0, Math.min(PREFIXES.length - 1, Math.floor(Math.log10(Math.max(1, byteLength)) / 3)));
  return `${numberText(byteLength / 1000 ** power)} ${PREFIXES[power]}B`;
}

export function secondsText(seconds: number): string {
  if (seconds < 0.0005) return '0 s';
  if (seconds < 120) return `${seconds.toFixed(seconds < 0.01 ? 3 : seconds < 10 ? 2 : 1)} s`;
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return hours === 0 ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${hours} h ${minutes % 60} min`;
}

export function speedText(byteLength: number, seconds: number): string {
  return seconds <= 0 ? 'no time' : `${bytesText(byteLength / seconds)}/s`;
}
