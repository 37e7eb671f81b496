/**
 * Stop signals, with a simulated process and clock: the first aborts, an impatient second one exits, and a keypress
 * that arrives twice counts once.
 */
import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { watchSignals } from '#src/cli/interruption.js';

function watchPlayedProcess(ignoresHangUp = false) {
  const events: string[] = [];
  const source = Object.assign(new EventEmitter(), { exit: (code: number) => void events.push(`exit ${code}`) });
  let seconds = 100;
  const interruption = watchSignals(
    () => void events.push('closed'),
    source,
    () => seconds,
    ignoresHangUp,
  );
  return {
    events,
    source,
    interruption,
    raise(signal: string, atSeconds: number) {
      seconds = atSeconds;
      source.emit(signal, signal);
    },
  };
}

describe('watchSignals', () => {
  it('exits with 130 on a second SIGINT, the display closed first', () => {
    const { events, raise } = watchPlayedProcess();
    raise('SIGINT', 100);
    raise('SIGINT', 101);
    expect(events).toEqual(['closed', 'exit 130']);
  });

  it('exits on a SIGINT after a SIGTERM, but the first signal is the one that counts', () => {
    const { events, interruption, raise } = watchPlayedProcess();
    raise('SIGTERM', 100);
    raise('SIGTERM', 101);
    expect(events).toEqual([]);
    raise('SIGINT', 102);
    expect(events).toEqual(['closed', 'exit 130']);
    expect(interruption.receivedSignal()).toBe('SIGTERM');
  });

  it('takes a SIGINT that npx passes on for the same keypress', () => {
    const { events, raise } = watchPlayedProcess();
    raise('SIGINT', 100);
    raise('SIGINT', 100.02);
    expect(events).toEqual([]);
    raise('SIGINT', 100.5);
    expect(events).toEqual(['closed', 'exit 130']);
  });

  it('goes on ignoring SIGHUP, to the end, where that was ignored before', () => {
    const { source, interruption, raise } = watchPlayedProcess(true);
    raise('SIGHUP', 100);
    expect(interruption.receivedSignal()).toBeUndefined();
    interruption.release();
    expect(source.listenerCount('SIGHUP')).toBe(1);
    expect(source.listenerCount('SIGTERM')).toBe(0);
  });
});
