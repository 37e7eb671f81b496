/** Which files an output replaces, and its permissions: those of what it replaces, or of the umask. */
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openToUnprivileged, reasonNotToDropPrivileges, runUnprivileged } from '../cli/unprivileged.js';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { DONE, seen, sortLines } from '../fixtures/command-outcome.js';
import { runShell } from '../fixtures/run-shell.js';
import { sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { OUTPUT_BYTES, SMALL_SIZES, SORTED_OUTPUT, smallSizes, writeInputs } from './small-job.js';

const directory = useTestDirectory();

function shuffleTo(output: string, ...options: string[]) {
  const argv = ['-q', ...writeInputs(directory), '-T', directory.temp, '--workers', '2', '-o', output, ...options];
  return commandInProcess(argv, { tuning: SMALL_SIZES });
}

describe('shards with --force', () => {
  it('replace all shards of their prefix and nothing else', async () => {
    const output = directory.path('shards');
    mkdirSync(output);
    const others =
      'test-00000-of-00002.input train.input train-notes.txt train-1-of-2 train-00000-of-00002x retrain-00000-of-00002.input'.split(
        ' ',
      );
    const marker = '.train.complete.json';
    const replaced = ['train-00000-of-00002.input', 'train-00004-of-00009.jsonl', 'train-00000-of-00001', marker];
    for (const name of [...others, ...replaced]) writeFileSync(`${output}/${name}`, 'precious\n');

    expect(seen(await shuffleTo(output, '--shards', '2', '--prefix', 'train', '--force'))).toEqual(DONE);

    const shards = ['train-00000-of-00002.input', 'train-00001-of-00002.input'];
    expect(readdirSync(output).sort()).toEqual([...others, ...shards, marker].sort());
    for (const name of others) expect(readFileSync(`${output}/${name}`, 'utf8')).toBe('precious\n');
    const text = shards.map((name) => readFileSync(`${output}/${name}`, 'latin1')).join('');
    expect(sortLines(text)).toEqual(SORTED_OUTPUT);
    expect(JSON.parse(readFileSync(`${output}/${marker}`, 'utf8'))).toEqual({
      shards: 2,
      records: SORTED_OUTPUT.length - 1,
      bytes: OUTPUT_BYTES,
      checksum: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
  });
});

describe('permissions', () => {
  const modeOf = (...names: string[]) => statSync(directory.path(...names)).mode & 0o777;

  it.each(
    sampled(
      [
        ['027', 0o640, 0o750],
        ['002', 0o664, 0o775],
        ['077', 0o600, 0o700],
      ],
      3,
      1,
    ),
  )('follow the umask %s', async (umask, fileMode, directoryMode) => {
    const inputs = writeInputs(directory);
    const run = (...options: string[]) =>
      runShell(`umask ${umask}; exec "$@"`, ['-q', ...inputs, '-T', directory.temp, ...options], smallSizes());
    expect(seen(await run('-o', directory.path('out')))).toEqual(DONE);
    expect(modeOf('out')).toBe(fileMode);
    expect(seen(await run('-o', directory.path('shards'), '--shards', '2'))).toEqual(DONE);
    expect(modeOf('shards')).toBe(directoryMode);
    for (const name of readdirSync(directory.path('shards'))) expect(modeOf('shards', name)).toBe(fileMode);
  });

  it('are those of the shard of the same name, and of the marker', async () => {
    mkdirSync(directory.path('shards'));
    const former = {
      'shard-00000-of-00002.input': 0o640,
      'shard-00000-of-00003': 0o600,
      '.shard.complete.json': 0o604,
    };
    for (const [name, mode] of Object.entries(former)) {
      writeFileSync(directory.path('shards', name), 'precious\n');
      chmodSync(directory.path('shards', name), mode);
    }
    expect(seen(await shuffleTo(directory.path('shards'), '--shards', '2', '--force'))).toEqual(DONE);
    const modes = readdirSync(directory.path('shards')).map((name) => [name, modeOf('shards', name)]);
    expect(Object.fromEntries(modes)).toEqual({
      '.shard.complete.json': 0o604,
      'shard-00000-of-00002.input': 0o640,
      'shard-00001-of-00002.input': 0o666 & ~process.umask(),
    });
  });

  it.skipIf(process.geteuid?.() !== 0)('of root keep the owner and the group, too', async () => {
    writeFileSync(directory.path('out'), 'precious\n');
    chownSync(directory.path('out'), 65534, 12345);
    chmodSync(directory.path('out'), 0o640);
    expect(seen(await shuffleTo(directory.path('out'), '--force'))).toEqual(DONE);
    const { uid, gid } = statSync(directory.path('out'));
    expect({ uid, gid, mode: modeOf('out') }).toEqual({ uid: 65534, gid: 12345, mode: 0o640 });
  });

  it.skipIf(process.geteuid?.() !== 0 || reasonNotToDropPrivileges !== undefined)(
    'give the group of another user nothing that others do not have',
    async () => {
      openToUnprivileged(directory.path());
      writeFileSync(directory.path('in'), 'a\n');
      chmodSync(directory.path('in'), 0o644);
      writeFileSync(directory.path('out'), 'precious\n');
      chmodSync(directory.path('out'), 0o664);
      const argv = ['in', '-T', directory.temp, '-o', 'out', '--force'];
      expect((await runUnprivileged(argv, directory.path())).exitCode).toBe(0);
      const { uid, gid } = statSync(directory.path('out'));
      expect({ uid, gid, mode: modeOf('out') }).toEqual({ uid: 65534, gid: 65534, mode: 0o644 });
    },
  );
});
