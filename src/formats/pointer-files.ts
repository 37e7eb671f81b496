/** Files that stand for data which is not on this disk: a checkout has them until a program fetches the data. */

export interface Pointer {
  /** Completes "is". */
  readonly what: string;
  readonly command: string;
}

const POINTERS: readonly (Pointer & { readonly pattern: RegExp })[] = [
  {
    what: 'a Git LFS pointer',
    command: 'git lfs pull',
    pattern: /^version https:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/v1\r?\n/,
  },
  { what: 'a git-annex pointer', command: 'git annex get', pattern: /^\/annex\/objects\/[^\n]+\n/ },
];

/** More than the first line of any of them. */
const LINE_BYTES = 512;

/** @param head the first bytes of a file. */
export function pointerIn(head: Buffer): Pointer | undefined {
  const text = head.toString('latin1', 0, LINE_BYTES);
  return POINTERS.find(({ pattern }) => pattern.test(text));
}
