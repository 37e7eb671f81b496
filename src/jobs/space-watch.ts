/** Looks during pass 1 whether the disks will hold the rest, and warns before a disk is full. */
import { PileshufError } from '../errors.js';
import type { JobControl } from '../job-control.js';
import type { JobStop } from '../passes/threads.js';
import { formatBytes } from '../quantity.js';
import type { Shortage } from './disk-space.js';
import type { DiskNeed } from './work-plan.js';

const LOOK_MILLISECONDS = 1000;
/** Less than this part of the inputs says too little about the rest. */
const LEAST_PART = 0.05;

export interface WatchedJob {
  readonly control: JobControl;
  /** Stored bytes of all inputs; undefined: one of them is a stream. */
  readonly inputBytes: number | undefined;
  /** What the job needs for so many bytes of records. */
  needOf(recordBytes: number): DiskNeed;
  /** The devices with too little space for what is not written yet. */
  shortagesOf(need: DiskNeed): readonly Shortage[];
  onWarning(line: string): void;
}

export class SpaceWatch {
  readonly #job: WatchedJob;
  #hasWarned = false;

  constructor(job: WatchedJob) {
    this.#job = job;
  }

  /** Looks every second while pass 1 runs. What `onWarning` throws ends the job. */
  async during<T>(pass1: () => Promise<T>, stop: Pick<JobStop, 'fail'>): Promise<T> {
    const look = () => {
      try {
        this.look();
      } catch (thrown) {
        clearInterval(timer);
        stop.fail(thrown);
      }
    };
    const timer = setInterval(look, LOOK_MILLISECONDS);
    try {
      return await pass1();
    } finally {
      clearInterval(timer);
    }
  }

  /** Warns once. */
  look(): void {
    const { control, needOf, shortagesOf, onWarning } = this.#job;
    const seen = this.#hasWarned ? undefined : this.#seen();
    if (seen === undefined) return;
    const { recordBytes, what } = seen;
    const need = needOf(recordBytes);
    const tempBytes = Math.max(0, need.tempBytes - needOf(control.counted('decodedBytes')).tempBytes);
    const [shortage] = ifExamined(() => shortagesOf({ ...need, tempBytes })) ?? [];
    if (shortage === undefined) return;
    this.#hasWarned = true;
    onWarning(
      `${what} ${formatBytes(recordBytes)}, and there will not be enough space ${shortage.description}; ${shortage.advice}`,
    );
  }

  /** What the inputs hold as far as is known; undefined: too little was read. */
  #seen(): { readonly recordBytes: number; readonly what: string } | undefined {
    const { control, inputBytes } = this.#job;
    const decodedBytes = control.counted('decodedBytes');
    // A stream may end at once: it holds at least what was read.
    if (inputBytes === undefined) return { recordBytes: decodedBytes, what: 'the inputs read so far hold' };
    const storedBytes = control.counted('scatteredBytes');
    if (storedBytes === 0 || storedBytes < LEAST_PART * inputBytes) return undefined;
    const percent = Math.floor((100 * storedBytes) / inputBytes);
    return {
      recordBytes: (decodedBytes / storedBytes) * inputBytes,
      what: `by the ${percent} % of the inputs read so far, all of them hold about`,
    };
  }
}

/** Undefined where a directory cannot be examined, for instance because it is gone: who writes there says so. */
function ifExamined<T>(examine: () => T): T | undefined {
  try {
    return examine();
  } catch (error) {
    if (error instanceof PileshufError) return undefined;
    throw error;
  }
}
