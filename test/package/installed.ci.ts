/**
 * The package as people get it: packed, installed from the tarball in an empty folder, and run on the oldest Node that it
 * allows and on newer ones. Needs the registry of npm and nothing else. A Node that cannot be had is skipped.
 */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { version, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** The oldest that package.json allows, and the lines after it. */
const NODES = [`${String(engines.node).replace('>=', '')}.0`, '22', '24'];
/** The package that has the binary of Node for this machine, as the package `node` chooses it. */
const NODE_PACKAGE = `node-${process.platform}-${process.arch}`;
const TIMEOUT_MILLISECONDS = 600_000;

const directory = mkdtempSync(join(tmpdir(), 'pileshuf-installed-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }), TIMEOUT_MILLISECONDS);

const at = (...names: readonly string[]) => join(directory, ...names);
const installed = (...names: readonly string[]) => at('node_modules', 'pileshuf', ...names);

function call(program: string, argv: readonly string[], cwd = directory) {
  const { status, stdout, stderr } = spawnSync(program, argv, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 });
  return { status, stdout, stderr };
}

/** @returns whether npm could install it. */
const npmInstall = (folder: string, what: string) =>
  new Promise<boolean>((resolve) =>
    execFile('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, what], { cwd: folder }, (error) =>
      resolve(error === null),
    ),
  );

const lines = Array.from({ length: 5000 }, (_, i) => `${i}\tsome words of record ${i % 97}\n`);
let whyNot = '';
let reference = '';
/** The paths of Nodes that can be had. */
const nodes = new Map<string, string>();

beforeAll(async () => {
  if (call('npm', ['ping']).status !== 0) whyNot = 'the registry of npm cannot be reached';
  // They are downloaded side by side.
  const downloads = whyNot === '' ? NODES.map(installNode) : [];
  const packed = call('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', directory], root);
  const [{ filename }] = JSON.parse(packed.stdout);
  writeFileSync(at('package.json'), '{}\n');
  writeFileSync(at('in'), lines.join(''));
  if (whyNot === '') expect(await npmInstall(directory, `./${filename}`)).toBe(true);
  await Promise.all(downloads);
  const built = join(root, 'dist', 'bundle', 'main.cjs');
  reference = call(process.execPath, [built, 'in', '--seed', '1', '-q']).stdout;
  expect(reference.split('\n').toSorted()).toEqual(lines.join('').split('\n').toSorted());
}, TIMEOUT_MILLISECONDS);

const WORK = `shuffle({ inputs: ['in'], output: process.argv[2], seed: '1', workers: 2 }, { inline: false }).then(
  ({ records, workers }) => console.log(records, workers),
);
`;
const PROGRAMS = {
  'program.mjs': `import { shuffle } from 'pileshuf';\n${WORK}`,
  'program.cjs': `const { shuffle } = require('pileshuf');\n${WORK}`,
};

async function installNode(wanted: string): Promise<void> {
  const folder = at(`node-${wanted}`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{}\n');
  const node = join(folder, 'node_modules', NODE_PACKAGE, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if ((await npmInstall(folder, `${NODE_PACKAGE}@${wanted}`)) && existsSync(node)) nodes.set(wanted, node);
}

describe.each(NODES)('the installed package on Node %s', (wanted) => {
  it('shuffles, with threads, as a command and as a library', { timeout: TIMEOUT_MILLISECONDS }, ({ skip }) => {
    if (whyNot !== '') return skip(whyNot);
    const node = nodes.get(wanted);
    if (node === undefined) return skip(`npm cannot install ${NODE_PACKAGE}@${wanted}`);
    expect(call(node, ['--version']).stdout).toMatch(new RegExp(`^v${wanted}\\b`));
    const pileshuf = (...argv: readonly string[]) => call(node, [installed('dist', 'bundle', 'main.cjs'), ...argv]);

    expect(pileshuf('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
    expect(pileshuf('in', '--seed', '1', '-q')).toEqual({ status: 0, stdout: reference, stderr: '' });
    // What draws charts is bundled: no package is installed for it.
    expect(pileshuf('in', '-o', 'out', '-q', '--force', '--report', 'r.html')).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(at('r.html'), 'utf8')).toMatch(/<svg /);
    expect(pileshuf('check-shuffled', 'out', '-q')).toMatchObject({ status: 0, stderr: '' });
    expect(pileshuf('verify', 'out', '--against', 'in', '-q')).toEqual({ status: 0, stdout: '', stderr: '' });

    for (const [name, text] of Object.entries(PROGRAMS)) {
      writeFileSync(at(name), text);
      const out = `${name}-${wanted}`;
      expect(call(node, [at(name), out])).toEqual({ status: 0, stdout: '5000 2\n', stderr: '' });
      expect(readFileSync(at(out), 'utf8')).toBe(reference);
    }
    for (const shell of ['bash', 'zsh', 'fish'])
      expect(pileshuf('completion', shell)).toMatchObject({
        status: 0,
        stderr: '',
        stdout: expect.stringMatching(/pileshuf/),
      });
  });
});

it('has its command and its manual where npm links them', ({ skip }) => {
  if (whyNot !== '') return skip(whyNot);
  const { bin, man } = JSON.parse(readFileSync(installed('package.json'), 'utf8'));
  // Of a list alone npm links the pages.
  expect(man).toHaveLength(1);
  expect(readFileSync(installed(man[0]), 'utf8')).toMatch(/^\.TH PILESHUF 1/im);
  expect(readFileSync(installed(bin.pileshuf), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  expect(call(at('node_modules', '.bin', 'pileshuf'), ['--version'])).toMatchObject({ status: 0 });
});
