/**
 * By what a file is known again: an index tells with it whether the file is still the one that it was made from. A copy
 * that keeps the time is, like the file itself under another name.
 */
import { InputError } from '../errors.js';
import { hashFileEnds } from '../io/file-window.js';
import type { FileVersion } from '../io/files.js';
import type { FileMark } from './index-description.js';

export function markOf(path: string, { byteLength, modifiedNanoseconds }: FileVersion): FileMark {
  const ends = hashFileEnds(path, byteLength, 'input').toString('hex');
  return { byteLength, modified: String(modifiedNanoseconds), ends };
}

/** @throws InputError ERR_INPUT_CHANGED when the file is another one than the index was made from. */
export function requireSameMark(path: string, then: FileMark, version: FileVersion): void {
  const change = changeOf(path, then, version);
  if (change === undefined) return;
  throw new InputError(
    'ERR_INPUT_CHANGED',
    `${path} changed since its index was made: ${change}; make the index again with \`pileshuf index ${path}\``,
  );
}

function changeOf(path: string, then: FileMark, version: FileVersion): string | undefined {
  if (then.byteLength !== version.byteLength) {
    return `its size was ${then.byteLength} bytes and is ${version.byteLength}`;
  }
  if (then.modified !== String(version.modifiedNanoseconds)) return 'the time of its last change is another';
  return markOf(path, version).ends === then.ends ? undefined : 'its first or last bytes are others';
}
