/**
 * What holds for every page: it is short, says first what it is for, names only files that exist, and its links lead
 * somewhere. The pages of experiments are no exception.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = [
  'README.md',
  'CHANGELOG.md',
  'bench/README.md',
  'bench/disks/README.md',
  'bench/peers/README.md',
  'examples/README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const textOf = (page: string) => readFileSync(join(root, page), 'utf8');

const ROOMS = ['src', 'workers', 'test', 'bench', 'docs', 'examples'];
const files = ROOMS.flatMap((room) =>
  readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).map((name) => `${room}/${name}`),
);
const known = new Set([...ROOMS, ...files]);
const baseNames = new Set(files.map((file) => file.slice(file.lastIndexOf('/') + 1)));

/** Names that a page uses as placeholders, and a directory that the bench makes. */
const isMadeUp = (path: string) => /\b(?:NAME|DATE)\b/.test(path) || path === 'bench/work';

/** Whether a path, which may hold `*`, is that of a file or directory. Tests may be named without their ending. */
function exists(path: string): boolean {
  if (known.has(path)) return true;
  const pattern = path.replace(/[.\\+]/g, '\\$&').replaceAll('*', '[^/]*');
  const matches = new RegExp(`^${pattern}(?:\\.(?:test|ci|slow))?(?:\\.ts)?$`);
  return files.some((file) => matches.test(file));
}

/** As GitHub makes them. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutCode(text).matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let i = 1; anchors.has(anchor); i++) anchor = `${slug}-${i}`;
    anchors.add(anchor);
  }
  return anchors;
}

const withoutCode = (text: string) => text.replace(/^```.*?^```$/gms, '');

describe.each(pages)('%s', (page) => {
  const text = textOf(page);

  it('begins with a sentence about what it is for', () => {
    const [title = '', first = ''] = text.split('\n\n');
    expect(title).toMatch(/^# \S.*$/);
    expect(first).toMatch(/^[A-Z*[]/);
    const [sentence = ''] = first.split(/[.:](?=\s|$)/);
    expect(sentence.split(/\s+/).length).toBeGreaterThan(3);
  });

  it('names only files that exist', () => {
    const paths = text.match(/(?<![\w./-])(?:src|workers|test|bench|docs|examples)\/[\w.*/-]*[\w*]/g) ?? [];
    expect(paths.filter((path) => !isMadeUp(path) && !exists(path))).toEqual([]);
  });

  it('names only modules that exist', () => {
    const modules = [...text.matchAll(/`([\w./-]+\.(?:ts|cts|mjs))`/g)].map(([, name = '']) => name);
    const isKnown = (name: string) =>
      name.includes('/')
        ? ['', 'src/', 'workers/', 'test/', 'bench/'].some((room) => known.has(room + name))
        : baseNames.has(name) || existsSync(join(root, name));
    expect(modules.filter((name) => !isKnown(name))).toEqual([]);
  });

  it('has links that lead somewhere', () => {
    const links = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const isBroken = (link: string) => {
      if (/^[a-z]+:/.test(link)) return false;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : normalize(join(dirname(page), path));
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && !anchorsOf(textOf(target)).has(anchor);
    };
    expect(links.filter(isBroken)).toEqual([]);
  });
});

it('docs/FAULT-TESTS.md names tests that exist', () => {
  const rows = textOf('docs/FAULT-TESTS.md').match(/^\| `.*$/gm) ?? [];
  const names = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([\w-]+\/[\w*-]+)`/g)]);
  const tests = names.map(([, name = '']) => `test/${name}`);
  expect(tests.length).toBeGreaterThan(20);
  expect(tests.filter((path) => !exists(path))).toEqual([]);
});

it('README leads to all pages', () => {
  const seen = new Set<string>();
  const visit = (page: string) => {
    if (seen.has(page) || !page.endsWith('.md')) return;
    seen.add(page);
    for (const [, link = ''] of textOf(page).matchAll(/\]\(([^)\s#:]+)(?:#[^)]*)?\)/g)) {
      visit(normalize(join(dirname(page), link)));
    }
  };
  visit('README.md');
  expect(pages.filter((page) => !seen.has(page) && page !== 'CHANGELOG.md')).toEqual([]);
});
