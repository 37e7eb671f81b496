/** Staged files and their final names: whether a file has its name, and giving it once. */
import { counted, VerificationError } from '../errors.js';
import { isSameEntry, nameExists, statPath } from '../io/paths.js';

/** Whether a staged file has its final name already, beside its staged name or in place of it. */
export function isNamed(staged: string, final: string): boolean {
  return nameExists(staged, 'output') ? isSameEntry(staged, final, 'output') : nameExists(final, 'output');
}

/** Whether a staged file is still to get its final name. */
export function isWithoutName(staged: string, final: string): boolean {
  return nameExists(staged, 'output') && !isSameEntry(staged, final, 'output');
}

/** @param byteLength of `final`, checked when it has its name already. */
export function nameOnce(
  staged: string,
  final: string,
  byteLength: number,
  give: (from: string, to: string) => void,
): void {
  if (isWithoutName(staged, final)) {
    give(staged, final);
    return;
  }
  const stat = statPath(final, 'output');
  if (stat?.isFile() === true && Number(stat.size) === byteLength) return;
  throw new VerificationError(
    `the output ${final} had its final name already, and is gone or no longer has ${counted(byteLength, 'byte')}; make it again with \`force\``,
  );
}
