/** The command on a real terminal: its view beside records on the same screen, at any width, and its wait for a person. */
import { describe, expect, it } from 'vitest';
import { Screen } from '../../bench/screen.mjs';
import { isOnPath } from '../fixtures/foreign-program.js';
import { runInTerminal } from '../fixtures/run-in-terminal.js';

/** Long enough that a view is drawn before the records come. */
const slowly = '(seq 500; sleep 1.5)';

describe.runIf(isOnPath('script'))('on a terminal', () => {
  it('leaves nothing of its view over the output of head', async () => {
    const { raw, screen } = await runInTerminal(`${slowly} | $pileshuf --seed 1 | head -n 3`);
    expect(raw).toContain('pass 1 of 2');
    expect(screen).toHaveLength(3);
    for (const line of screen) expect(line).toMatch(/^\d{1,3}$/);
  });

  it('leaves nothing of its view over records that it writes to the terminal itself', async () => {
    const { raw, screen } = await runInTerminal(`${slowly} | $pileshuf --seed 1`);
    expect(raw).toContain('pass 1 of 2');
    expect(screen).toHaveLength(501);
    for (const line of screen.slice(0, 500)) expect(line).toMatch(/^\d{1,3}$/);
    expect(screen[500]).toMatch(/^pileshuf: 500 records, /);
  });

  it('keeps its view when records go to a file', async () => {
    const { raw } = await runInTerminal(`${slowly} | $pileshuf > /dev/null`);
    expect(raw).toContain('pass 1 of 2');
  });

  it.each([1, 20, 40, 41, 79, 80, 200])('never wraps on %d columns, and leaves only the summary', async (columns) => {
    const { raw } = await runInTerminal(`${slowly} | $pileshuf > /dev/null`, { columns });
    const [drawn = '', summary = ''] = raw.split('pileshuf: ');
    expect(drawn).toContain('\x1b[J');
    const screen = new Screen(columns).write(drawn);
    expect([screen.hasWrapped, screen.lines, screen.cursor]).toEqual([false, [], [0, 0]]);
    expect(summary).toMatch(/^500 records, /);
  });

  it('follows a terminal that becomes narrower, and leaves nothing there', async () => {
    const resized = '(seq 500; read key < /dev/tty; stty cols 30 < /dev/tty; sleep 1.5)';
    const keys = { after: 'an unknown total', typed: '\n' };
    const { raw } = await runInTerminal(`stty -echo; ${resized} | $pileshuf > /dev/null`, { keys });
    const [drawn = ''] = raw.split('pileshuf: ');
    const frames = drawn.split('\x1b[J');
    expect(frames[0]).toMatch(/pass 1 of 2 {2}\S+ k?B of an unknown total/);
    // What comes from the first narrow view on; it is drawn over the former one from its start.
    const narrow = drawn.slice(drawn.indexOf('pass 1 of 2\x1b[K'));
    expect(narrow.split('\x1b[J').length).toBeGreaterThan(3);
    const screen = new Screen(30).write(narrow);
    expect([screen.hasWrapped, screen.lines]).toEqual([false, []]);
  });

  it('leaves a clean line behind after Ctrl-C', async () => {
    const keys = { after: 'pass 1 of 2', typed: '\x03' };
    const script = 'trap : INT; (seq 500; sleep 20) | $pileshuf > /dev/null; echo "after $?"';
    const { screen, cursorColumn } = await runInTerminal(script, { keys });
    expect(screen).toEqual([
      'pileshuf: interrupted by SIGINT: stopped before the end; the output may be incomplete',
      'after 130',
    ]);
    expect(cursorColumn).toBe(0);
  });

  it('draws nothing if it is quiet, and no escapes for TERM=dumb', async () => {
    const quiet = await runInTerminal(`${slowly} | $pileshuf -q > /dev/null`);
    expect(quiet.raw).toBe('');
    const dumb = await runInTerminal(`${slowly} | $pileshuf > /dev/null`, { env: { TERM: 'dumb' } });
    expect(dumb.raw).not.toContain('\x1b');
    expect(dumb.screen).toEqual([expect.stringMatching(/^pileshuf: 500 records, /)]);
  });

  it('says that it waits for a person who gave no input, unless it is quiet', async () => {
    const waiting = 'pileshuf: waiting for records from standard input, which is this terminal; end them with Ctrl-D';
    const { screen } = await runInTerminal('$pileshuf', { keys: { after: waiting, typed: 'a\n\x04' } });
    expect(screen.filter((line) => line === waiting)).toHaveLength(1);
    expect(screen).toContain('a');
    const quiet = await runInTerminal('echo ready; $pileshuf -q', { keys: { after: 'ready', typed: 'a\n\x04' } });
    expect(quiet.raw).not.toContain('waiting');
    const named = await runInTerminal('echo a | $pileshuf');
    expect(named.raw).not.toContain('waiting');
  });
});
