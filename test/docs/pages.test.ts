/** What holds for every page: its links lead somewhere, the files that it names exist, and all pages together stay short. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { allOptions } from '#src/cli/option-names.js';
import { docs, textOf } from './page-blocks.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const ROOMS = ['src', 'workers', 'test', 'bench', 'docs', 'examples'];
const files = ROOMS.flatMap((room) =>
  readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).map((name) => `${room}/${name}`),
);
const beside = ['README.md', 'CHANGELOG.md', ...files.filter((name) => /^(?:bench|examples)\/.*\.md$/.test(name))];
const pages = [...docs, ...beside];
const withoutCode = (text: string) => text.replace(/^```.*?^```$/gms, '');

/** As GitHub makes them of headings; and those of `<a id="NAME">`. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...withoutCode(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase());
  const named = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, name = '']) => name);
  return new Set([
    ...headings.map((heading) => heading.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')),
    ...named,
  ]);
}

/** `*` stands for any part of a name. NAME and DATE are made up, and the bench makes `bench/work`. */
function exists(path: string): boolean {
  if (/\b(?:NAME|DATE)\b|^bench\/work$/.test(path) || ROOMS.includes(path)) return true;
  const pattern = new RegExp(`^${path.replace(/[.\\+]/g, '\\$&').replaceAll('*', '[^/]*')}$`);
  return files.some((file) => pattern.test(file));
}

describe.each(pages)('%s', (page) => {
  const text = textOf(page);

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

  it('names only files that exist', () => {
    const paths = text.match(/(?<![\w./-])(?:src|workers|test|bench|examples)\/[\w.*/-]*[\w*]/g) ?? [];
    const modules = [...text.matchAll(/`([\w-]+\/[\w./-]+\.(?:ts|cts|mjs))`/g)].map(([, name = '']) => name);
    const places = (name: string) => [name, ...ROOMS.map((room) => `${room}/${name}`)];
    expect(paths.filter((path) => !exists(path))).toEqual([]);
    expect(modules.filter((name) => !places(name).some(exists))).toEqual([]);
  });

  it('names only options that exist', () => {
    const lines = text
      .replaceAll(/'[^'\n]*'/g, '')
      .split('\n')
      .filter((line) => /^\s*pileshuf |`pileshuf [^`]*--|^\| `-/.test(line));
    const named = lines.flatMap((line) =>
      [...line.matchAll(/(?<![\w-])--([a-z][a-z0-9-]+)/g)].map(([, name = '']) => name),
    );
    const known = new Set<string>([...allOptions().map(({ name }) => name), 'help', 'version']);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});

it('README.md and docs are at most 18 pages, of 32,000 words', () => {
  const main = ['README.md', ...docs];
  expect(main.length).toBeLessThanOrEqual(18);
  const words = main.flatMap((page) => textOf(page).split(/\s+/).filter(Boolean));
  expect(words.length).toBeLessThanOrEqual(32_000);
});

it('README leads to all pages', () => {
  const seen = new Set<string>();
  const visit = (page: string) => {
    if (seen.has(page) || !page.endsWith('.md')) return;
    seen.add(page);
    for (const [, link = ''] of textOf(page).matchAll(/\]\(([^)\s#:]+)(?:#[^)]*)?\)/g))
      visit(normalize(join(dirname(page), link)));
  };
  visit('README.md');
  expect(pages.filter((page) => !seen.has(page) && page !== 'CHANGELOG.md')).toEqual([]);
});

/** In help, messages, comments, tests and examples. */
it('a page that a file names exists, with the section', () => {
  const sources = files.filter(
    (name) => /\.(?:c?ts|mjs|py|json|yaml|md)$/.test(name) && !name.startsWith('bench/results'),
  );
  const broken = sources.flatMap((name) =>
    [...textOf(name).matchAll(/\bdocs\/([A-Z][\w-]*\.md)(?:#([\w-]+))?/g)].flatMap(([link, page = '', anchor]) => {
      if (!docs.includes(`docs/${page}`)) return [`${name}: ${link}`];
      return anchor === undefined || anchorsOf(textOf(`docs/${page}`)).has(anchor) ? [] : [`${name}: ${link}`];
    }),
  );
  expect(broken).toEqual([]);
});
