/** The speed and calls of each disk over ten seconds. Counts begin again with each member of aligned files. */

import type { DiskProgress, ShuffleProgress } from '../jobs/options.js';

const WINDOW_SECONDS = 10;

export interface DiskRate extends DiskProgress {
  /** 0 while unknown. */
  readonly readBytesPerSecond: number;
  readonly writtenBytesPerSecond: number;
  readonly meanCalls: number;
}

interface Sample {
  readonly atSeconds: number;
  readonly disks: readonly DiskProgress[];
}

export class DiskMeter {
  #samples: Sample[] = [];
  #phase: ShuffleProgress['phase'] | undefined;
  #member: number | undefined;

  /** @param atSeconds when the progress was reported, by a clock that only goes forward. */
  measure({ disks, phase, member }: ShuffleProgress, atSeconds: number): DiskRate[] {
    // A pass that counts inputs has counters of its own, too.
    const isSame = member?.number === this.#member && (this.#phase !== 'count' || phase === 'count');
    if (!isSame) this.#samples = [];
    this.#phase = phase;
    this.#member = member?.number;
    const start = atSeconds - WINDOW_SECONDS;
    const firstInside = this.#samples.findIndex((sample) => sample.atSeconds >= start);
    this.#samples.splice(0, firstInside === -1 ? this.#samples.length : firstInside);
    this.#samples.push({ atSeconds, disks });
    const oldest = this.#samples[0] ?? { atSeconds, disks };
    const seconds = atSeconds - oldest.atSeconds;
    return disks.map((disk, i) => {
      const before = oldest.disks[i] ?? disk;
      const rate = (now: number, then: number) => (seconds > 0 ? Math.max(0, now - then) / seconds : 0);
      const calls = this.#samples.map((sample) => sample.disks[i]?.callsUnderWay ?? 0);
      return {
        ...disk,
        readBytesPerSecond: rate(disk.bytesRead, before.bytesRead),
        writtenBytesPerSecond: rate(disk.bytesWritten, before.bytesWritten),
        meanCalls: calls.reduce((sum, each) => sum + each, 0) / calls.length,
      };
    });
  }
}
