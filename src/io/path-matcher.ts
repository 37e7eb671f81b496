/**
 * Matches paths with globs as in .gitignore: a glob with a slash is compared with the path, one without with each name
 * in the path; what names a directory names all files below it. Hidden names are like others.
 */
import { basename, normalize } from 'node:path';
import { escapeLiterals } from './list-files.js';

export type PathMatcher = (path: string) => boolean;

export const MOST_GLOB_CHARACTERS = 4096;

export async function pathMatcher(glob: string): Promise<PathMatcher> {
  const literal = normalize(glob).replace(/(?<=.)\/$/, '');
  const isNamed = await textMatcher(literal);
  if (!literal.includes('/')) return (path) => normalize(path).split('/').some(isNamed);
  return (path) => pathsTo(normalize(path)).some(isNamed);
}

/** For paths below a directory. A glob without a slash is compared with the last name of the path alone. */
export async function matcherBelow(glob: string): Promise<PathMatcher> {
  const isNamed = await textMatcher(normalize(glob).replace(/^\/|\/$/g, ''));
  return glob.includes('/') ? (path) => pathsTo(path).some(isNamed) : (path) => isNamed(basename(path));
}

async function textMatcher(literal: string): Promise<PathMatcher> {
  const { default: picomatch } = await import('picomatch');
  const test = picomatch(escapeLiterals(literal), { dot: true, noextglob: true, posix: true });
  return (text) => text !== '' && (text === literal || test(text));
}

/** `a`, `a/b` and `a/b/c` for `a/b/c`. */
export function pathsTo(path: string): string[] {
  const names = path.split('/');
  return names.map((_, i) => names.slice(0, i + 1).join('/'));
}
