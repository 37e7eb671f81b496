/**
 * Builds the parts of the program that are older than what they are made of. `npm ci`, `npx` in a clone and `npm test` call
 * it, so that one build serves all of them. `npm run build` builds everything from clean.
 *
 * A part is stale if something below its sources is newer than its note in `dist`, or if a part that it is made of was just
 * built. Folders count too: they are newer when a file in them is removed.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const COMMON = ['package.json', 'package-lock.json'];
/** In the order in which they are built. */
const PARTS = [
  { name: 'kernel', sources: ['workers/kernel', 'src/formats/rows/parquet/columns'], parts: [] },
  // The types of the kernel's exports come from the kernel.
  { name: 'ts', sources: ['src', 'workers', 'tsconfig.json'], parts: ['kernel'] },
  { name: 'bundle', sources: ['rolldown.config.ts'], parts: ['ts', 'kernel'] },
  // The bundle begins with an empty folder, and the types go there.
  { name: 'types', sources: [], parts: ['bundle'] },
];
const noteOf = (name) => `dist/.built-${name}`;

function changedAt(path) {
  const { mtimeMs } = statSync(path);
  const below = statSync(path).isDirectory() ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : [];
  return Math.max(mtimeMs, ...below.map((name) => statSync(join(path, name)).mtimeMs));
}

function isStale({ name, sources, parts }, built) {
  const note = statSync(noteOf(name), { throwIfNoEntry: false });
  if (note === undefined || parts.some((part) => built.has(part))) return true;
  return [...COMMON, ...sources].some((path) => changedAt(path) > note.mtimeMs);
}

/** With `--all`, for `npm run build`: whatever is there. */
if (process.argv.includes('--all')) rmSync('dist', { recursive: true, force: true });
const built = new Set();
for (const part of PARTS) {
  if (!isStale(part, built)) continue;
  // What changes while it is built makes the part stale again.
  const begun = new Date();
  execFileSync('npm', ['run', `build:${part.name}`], { stdio: 'inherit', shell: process.platform === 'win32' });
  writeFileSync(noteOf(part.name), '');
  utimesSync(noteOf(part.name), begun, begun);
  built.add(part.name);
}
