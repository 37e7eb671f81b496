/** The command around a simulated job: its message for an error that leaves the job unfinished. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { runCommand } from '#src/cli/run-command.js';
import { setUnfinishedJob } from '#src/errors.js';
import { SystemError } from '#src/index.js';

vi.mock('#src/job/shuffle.js', () => ({
  shuffle: async () => {
    const full = new SystemError('ERR_NO_SPACE', 'the disk is full');
    setUnfinishedJob(full, { directory: '/tmp/job' });
    throw full;
  },
}));

let printed = '';
beforeEach(() => {
  printed = '';
  const writing = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  return () => writing.mockRestore();
});

describe('runCommand', () => {
  it.each([
    [['-q', 'a b', '-o', 'out'], "pileshuf -q 'a b' -o out --resume"],
    [['-q', '--resume', 'in', '-o', 'out'], 'pileshuf -q --resume in -o out'],
  ])('tells how to resume after %j', async (argv, command) => {
    expect(await runCommand(argv)).toBe(1);
    expect(printed).toBe(
      `pileshuf: the disk is full; finished work is kept in /tmp/job; to resume when there is space: ${command}\n`,
    );
  });

  it('tells programs likewise', async () => {
    expect(await runCommand(['--progress=json', 'in', '-o', 'out'])).toBe(1);
    expect(JSON.parse(printed)).toMatchObject({
      event: 'error',
      message: 'the disk is full',
      resume: { directory: '/tmp/job', command: 'pileshuf --progress=json in -o out --resume' },
    });
  });
});
