// @ts-check
// Records the live view of a real job: `npm run docs:recording` writes docs/pictures/live-view.svg. The job runs on a
// pseudo-terminal (`script` of util-linux), which notes what comes and when. The figures are those of the machine and the
// day, so this picture is not made with the others.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { makeCorpus } from './corpus.mjs';
import { filmOf, framesOf } from './film.mjs';

const columns = 84;
const line = 'pileshuf corpus/ -o train/ --shards 64 --compress zstd -S 256M --seed 42';
const sizeBytes = 4e9;
/** A longer job is played faster, and the title says so. */
const longestSeconds = 20;
const shortestSeconds = 0.2;
const mostBytes = 100_000;

const root = path.join(import.meta.dirname, '..');
const workDir = path.join(import.meta.dirname, 'work');
const site = path.join(workDir, 'recording');
const picture = path.join(root, 'docs', 'pictures', 'live-view.svg');

/** @returns {{ seconds: number, text: string }[]} */
function record() {
  fs.rmSync(site, { recursive: true, force: true });
  fs.mkdirSync(workDir, { recursive: true });
  const corpus = makeCorpus(workDir, { kind: 'documents', seed: '1', sizeBytes, lineCount: undefined });
  fs.mkdirSync(path.join(site, 'corpus'), { recursive: true });
  for (const file of corpus.files) fs.linkSync(file, path.join(site, 'corpus', path.basename(file)));
  const script = `stty cols ${columns} rows 24; pileshuf() { "$NODE" "$PILESHUF" "$@"; }; echo '$ ${line}'; ${line}`;
  const command = path.join(root, 'dist', 'bundle', 'main.cjs');
  const env = { ...process.env, TERM: 'xterm', SHELL: '/bin/sh', NODE: process.execPath, PILESHUF: command };
  const argv = ['-qefc', script, '--log-out', 'bytes', '--log-timing', 'times', '--logging-format', 'classic'];
  const { status } = spawnSync('script', argv, { cwd: site, env, stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    if (status !== 0) throw new Error(`the job ended with exit status ${status}`);
    return piecesOf(fs.readFileSync(path.join(site, 'bytes')), fs.readFileSync(path.join(site, 'times'), 'utf8'));
  } finally {
    fs.rmSync(site, { recursive: true });
  }
}

/**
 * @param {Buffer} bytes with a line before and after what the program wrote
 * @param {string} times a line for each piece: the seconds since the one before, and its bytes
 */
function piecesOf(bytes, times) {
  let at = bytes.indexOf('\n') + 1;
  return times
    .trim()
    .split('\n')
    .map((each) => {
      const [seconds = 0, byteLength = 0] = each.split(' ').map(Number);
      at += byteLength;
      return { seconds, text: bytes.toString('utf8', at - byteLength, at) };
    });
}

const pieces = record();
const jobSeconds = pieces.reduce((all, { seconds }) => all + seconds, 0);
const faster = Math.max(1, Math.ceil(jobSeconds / longestSeconds));
const played = pieces.map(({ seconds, text }) => ({ seconds: seconds / faster, text }));
const frames = framesOf(played, { columns, shortestSeconds });
const pace = faster === 1 ? 'as it was' : `${faster} times as fast as it was`;
const svg = filmOf(frames, {
  columns,
  title: `The progress of a job of 4 GB on a terminal, ${pace}`,
  still: Math.floor(frames.length / 2),
});
if (svg.length > mostBytes) throw new Error(`${svg.length} bytes are too many; expected ${mostBytes} or fewer`);
fs.writeFileSync(picture, svg);
console.log(
  `docs/pictures/live-view.svg: ${svg.length} bytes, ${frames.length} frames of ${jobSeconds.toFixed(1)} s, ${pace}`,
);
