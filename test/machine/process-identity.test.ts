/** The identity of processes, on this system and on simulated ones. */
import { spawn, spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { identifyThisProcess, isRunning, type ProcessProbe } from '#src/machine/file-owner.js';
import { failWith } from '../fixtures/replaced-file-calls.js';

const hasProc = process.platform === 'linux';

/** The line of a process that is called so. */
function statLine(pid: number, name: string, state: string, startTicks: number): string {
  return `${pid} (${name}) ${state} ${'1 '.repeat(18)}${startTicks} 3133440 390\n`;
}

function probeOf(texts: Record<string, string>, more: Partial<ProcessProbe> = {}): ProcessProbe {
  return { readText: (path) => texts[path], readLink: () => undefined, pid: 10, signalNothing: () => {}, ...more };
}

const self = { '/proc/self/stat': statLine(10, 'node', 'R', 500) };

describe('identifyThisProcess', () => {
  it.runIf(hasProc)('finds out all that Linux tells', () => {
    const identity = identifyThisProcess();
    expect(identity.host).toBe(hostname());
    expect(identity.bootId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(identity.pidNamespace).toMatch(/^\d+$/);
    expect(identity.pid).toBe(process.pid);
    expect(Number(identity.startTicks)).toBeGreaterThan(0);
    expect(identifyThisProcess()).toEqual(identity);
  });

  it('reads the start of a process of any name', () => {
    for (const name of ['node', 'a b', ') R 1 (', '(((', ')))', '1 (x) R 2 3']) {
      const probe = probeOf({ '/proc/self/stat': statLine(10, name, 'R', 500) });
      expect(identifyThisProcess(probe).startTicks).toBe('500');
    }
  });

  it('does without what is missing or odd', () => {
    const unknown = { bootId: undefined, pidNamespace: undefined, startTicks: undefined };
    expect(identifyThisProcess(probeOf({}))).toEqual({ host: hostname(), pid: 10, ...unknown });
    const odd = { '/proc/self/stat': '10 (node) R', '/proc/sys/kernel/random/boot_id': 'a+b\n' };
    expect(identifyThisProcess(probeOf(odd, { readLink: () => 'elsewhere' }))).toMatchObject(unknown);
  });

  it('does not believe a /proc in which this process has another number', () => {
    const probe = probeOf({ '/proc/self/stat': statLine(11, 'node', 'R', 500) });
    expect(identifyThisProcess(probe).startTicks).toBeUndefined();
  });
});

describe('isRunning', () => {
  const other = (state: string, startTicks: number) =>
    probeOf({ ...self, '/proc/20/stat': statLine(20, 'x', state, startTicks) });

  it('tells processes of one number by their start', () => {
    expect(isRunning(20, '700', other('S', 700))).toBe(true);
    expect(isRunning(20, '700', other('S', 701))).toBe(false);
    expect(isRunning(20, undefined, other('S', 701))).toBe(true);
  });

  it('takes the stopped for running and the dead for dead', () => {
    for (const state of ['R', 'S', 'D', 'T', 't']) expect(isRunning(20, '700', other(state, 700))).toBe(true);
    for (const state of ['Z', 'X']) expect(isRunning(20, '700', other(state, 700))).toBe(false);
    expect(isRunning(20, '700', probeOf(self, { signalNothing: failWith('ESRCH') }))).toBe(false);
  });

  it('takes for running what it cannot see', () => {
    expect(isRunning(20, '700', probeOf(self))).toBe(true);
    expect(isRunning(20, '700', probeOf(self, { signalNothing: failWith('EPERM') }))).toBe(true);
    // Without /proc, or with one of other processes, the number is all there is.
    expect(isRunning(20, '700', probeOf({}))).toBe(true);
    const foreign = { '/proc/self/stat': statLine(11, 'node', 'R', 1), '/proc/20/stat': statLine(20, 'x', 'Z', 1) };
    expect(isRunning(20, '700', probeOf(foreign))).toBe(true);
  });

  it('is right of real processes', async () => {
    expect(isRunning(process.pid, identifyThisProcess().startTicks)).toBe(true);
    expect(isRunning(process.pid, hasProc ? '1' : undefined)).toBe(!hasProc);
    const { pid: ended } = spawnSync(process.execPath, ['-e', '']);
    expect(isRunning(ended, undefined)).toBe(false);

    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    const closed = new Promise((resolve) => child.once('close', resolve));
    const pid = child.pid ?? 0;
    expect(isRunning(pid, undefined)).toBe(true);
    child.kill('SIGSTOP');
    expect(isRunning(pid, undefined)).toBe(true);
    child.kill('SIGKILL');
    await closed;
    expect(isRunning(pid, undefined)).toBe(false);
  });
});
