/** The command on a real terminal: its bar beside records on the same screen, and its wait for a person. */
import { describe, expect, it } from 'vitest';
import { isOnPath } from '../fixtures/foreign-program.js';
import { runInTerminal } from '../fixtures/run-in-terminal.js';

/** Long enough that a bar is drawn before the records come. */
const slowly = '(seq 500; sleep 1.5)';

describe.runIf(isOnPath('script'))('on a terminal', () => {
  it('leaves nothing of its bar over the output of head', async () => {
    const { raw, screen } = await runInTerminal(`${slowly} | $pileshuf --seed 1 | head -n 3`);
    expect(raw).toContain('pass 1 of 2');
    expect(screen).toHaveLength(3);
    for (const line of screen) expect(line).toMatch(/^\d{1,3}$/);
  });

  it('leaves nothing of its bar over records that it writes to the terminal itself', async () => {
    const { raw, screen } = await runInTerminal(`${slowly} | $pileshuf --seed 1`);
    expect(raw).toContain('pass 1 of 2');
    expect(screen).toHaveLength(501);
    for (const line of screen.slice(0, 500)) expect(line).toMatch(/^\d{1,3}$/);
    expect(screen[500]).toMatch(/^pileshuf: 500 records, /);
  });

  it('keeps its bar when records go to a file', async () => {
    const { raw } = await runInTerminal(`${slowly} | $pileshuf > /dev/null`);
    expect(raw).toContain('pass 1 of 2');
  });

  it('says that it waits for a person who gave no input, unless it is quiet', async () => {
    const waiting = 'pileshuf: waiting for records from standard input, which is this terminal; end them with Ctrl-D';
    const { screen } = await runInTerminal('$pileshuf', { after: waiting, typed: 'a\n\x04' });
    expect(screen.filter((line) => line === waiting)).toHaveLength(1);
    expect(screen).toContain('a');
    const quiet = await runInTerminal('echo ready; $pileshuf -q', { after: 'ready', typed: 'a\n\x04' });
    expect(quiet.raw).not.toContain('waiting');
    const named = await runInTerminal('echo a | $pileshuf');
    expect(named.raw).not.toContain('waiting');
  });
});
