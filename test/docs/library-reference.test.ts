/** The pages of the library match the types of the package. `npm run docs:reference` writes them anew. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as library from '#src/index.js';
import {
  DESCRIBED_NAMES,
  EXPORTED_NAMES,
  hiddenNames,
  LIBRARY_PAGES,
  libraryReference,
  optionsWithoutDefault,
  withoutComment,
} from './library-reference.js';

it.each(LIBRARY_PAGES)('docs/%s is up to date; npm run docs:reference writes it', (page) => {
  const path = new URL(`../../docs/${page}`, import.meta.url);
  const reference = libraryReference(page);
  if (process.env['PILESHUF_WRITE_REFERENCE'] === '1') writeFileSync(path, reference);
  expect(readFileSync(path, 'utf8')).toBe(reference);
});

it('each name has one place', () => {
  // Sizes for tests.
  const exported = EXPORTED_NAMES.filter((name) => name !== 'Tuning');
  expect(DESCRIBED_NAMES.toSorted(), 'PAGES of library-reference.ts says where').toEqual(exported.toSorted());
  expect(exported).toEqual(expect.arrayContaining(Object.keys(library)));
});

it('each type that is named is described', () => {
  expect(hiddenNames()).toEqual([]);
});

it('each function and class has a sentence about it', () => {
  expect(withoutComment()).toEqual([]);
});

it('each option that may be left out says its default', () => {
  expect(optionsWithoutDefault()).toEqual([]);
});
