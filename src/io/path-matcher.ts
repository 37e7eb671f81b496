/**
 * Whether a path is one that a glob names, as in .gitignore: a glob with a slash is compared with the path, one without
 * with each name in the path; what names a directory names all files below it. Hidden names are like others.
 */
import { normalize } from 'node:path';
import { escapeLiterals } from './list-files.js';

export type PathMatcher = (path: string) => boolean;

/** More is no name that anybody has typed. */
export const MOST_GLOB_CHARACTERS = 4096;

/** @param glob of at most `MOST_GLOB_CHARACTERS`. */
export async function pathMatcher(glob: string): Promise<PathMatcher> {
  const { default: picomatch } = await import('picomatch');
  const literal = normalize(glob).replace(/(?<=.)\/$/, '');
  const test = picomatch(escapeLiterals(literal), { dot: true, noextglob: true, posix: true });
  const isNamed = (text: string) => text !== '' && (text === literal || test(text));
  if (!literal.includes('/')) return (path) => normalize(path).split('/').some(isNamed);
  return (path) => {
    const names = normalize(path).split('/');
    return names.some((_, i) => isNamed(names.slice(0, i + 1).join('/')));
  };
}
