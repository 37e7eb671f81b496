/**
 * Stop signals, with a simulated process and clock: the first aborts, an impatient second one exits, and a keypress
 * that arrives twice counts once.
 */

import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { watchSignals } from '#src/cli/interruption.js';

function watchPlayedProcess() {
  const events: string[] = [];
  const source = Object.assign(new EventEmitter(), { exit: (code: number) => void events.push(`exit ${code}`) });
  let seconds = 100;
  const interruption = watchSignals(
    () => void events.push('closed'),
    source,
    () => seconds,
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
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('aborts on the first %s', (signal) => {
    const { events, interruption, raise } = watchPlayedProcess();
    expect(interruption.abortSignal.aborted).toBe(false);
    expect(interruption.receivedSignal()).toBe(undefined);
    raise(signal, 100);
    expect(interruption.abortSignal.aborted).toBe(true);
    expect(interruption.receivedSignal()).toBe(signal);
    expect(events).toEqual([]);
  });

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

  it('gives the signals back', () => {
    const { source, interruption } = watchPlayedProcess();
    interruption.release();
    expect(source.eventNames()).toEqual([]);
  });
});
