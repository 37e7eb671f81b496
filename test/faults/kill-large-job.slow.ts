/**
 * A job of a gigabyte on disk is killed at 200 random moments: each time the same command resumes it until it is killed
 * or done, and the output is that of an undisturbed job.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { drawsFor } from '../fixtures/draws.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const KILLS = 200;
const INPUT_BYTES = 1e9;
const MIB = 2 ** 20;
const LONGEST_MILLISECONDS = 3_600_000;
/** Input, undisturbed output, temp data and output. */
const NEEDED_BYTES = 4.5 * INPUT_BYTES;

const main = fileURLToPath(new URL('../../dist/bundle/main.cjs', import.meta.url));

function reasonNotToRun(): string | undefined {
  const { bavail, bsize } = statfsSync(tmpdir());
  if (bavail * bsize >= NEEDED_BYTES) return undefined;
  return `(${NEEDED_BYTES / MIB} MiB are needed in ${tmpdir()})`;
}

describe(`a job of ${INPUT_BYTES / 1e6} MB on disk`, () => {
  const directory = useTestDirectory();
  const reason = reasonNotToRun();

  /** About `INPUT_BYTES` of lines of many lengths. */
  async function writeInput(path: string): Promise<void> {
    const file = await open(path, 'wx');
    const filler = 'x'.repeat(199);
    for (let line = 0, written = 0; written < INPUT_BYTES; ) {
      const lines: string[] = [];
      for (let i = 0; i < 10_000; i++, line++) lines.push(`${line} ${filler.slice(Math.imul(line, 7919) & 127)}`);
      written += (await file.write(`${lines.join('\n')}\n`)).bytesWritten;
    }
    await file.close();
  }

  interface Ended {
    readonly exitCode: number | null;
    readonly signal: NodeJS.Signals | null;
    readonly stderr: string;
  }

  /** @param killAfter milliseconds. */
  async function pileshuf(output: string, killAfter: number | undefined, ...options: string[]): Promise<Ended> {
    const argv = ['-q', directory.path('in'), '-S', '64M', '-T', directory.temp, '--seed', '1', '-o', output];
    const child = spawn(process.execPath, [main, ...argv, ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
    const timer = killAfter === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfter);
    const [stderr] = await Promise.all([text(child.stderr), new Promise((resolve) => child.on('close', resolve))]);
    clearTimeout(timer);
    return { exitCode: child.exitCode, signal: child.signalCode, stderr };
  }

  const isThere = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined;
  const expectSame = (output: string) => execFileSync('cmp', [directory.path('undisturbed'), output]);

  it.skipIf(reason)(
    `is the same after ${KILLS} kills ${reason ?? ''}`,
    async () => {
      await writeInput(directory.path('in'));
      const began = performance.now();
      const undisturbed = await pileshuf(directory.path('undisturbed'), undefined, '--resume');
      const wholeMilliseconds = performance.now() - began;
      expect(undisturbed).toEqual({ exitCode: 0, signal: null, stderr: '' });

      const draw = drawsFor('kills');
      let kills = 0;
      let jobs = 0;
      for (; kills < KILLS; jobs += 1) {
        const output = directory.path('out', 'shuffled');
        mkdirSync(directory.path('out'), { recursive: true });
        for (;;) {
          const ended = await pileshuf(output, draw() * wholeMilliseconds, '--resume');
          if (ended.signal === null) {
            // The attempt before may have been killed after its output had appeared.
            const wasDone = ended.exitCode === 2 && /exists already/.test(ended.stderr);
            if (!wasDone) expect(ended).toEqual({ exitCode: 0, signal: null, stderr: '' });
            break;
          }
          kills += 1;
          // Killed while it was cleaning up.
          if (isThere(output)) expectSame(output);
        }
        expectSame(output);
        expect(readdirSync(directory.path('out'))).toEqual(['shuffled']);
        expect(readdirSync(directory.temp)).toEqual([]);
        execFileSync('rm', ['-r', directory.path('out')]);
      }
      console.info(`${kills} kills, ${jobs} jobs, ${Math.round(wholeMilliseconds)} ms for an undisturbed one`);
    },
    LONGEST_MILLISECONDS,
  );
});
