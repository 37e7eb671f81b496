/**
 * Takes down what a report tells, while the job runs: looks at the shared words of the threads, joins the samples of the
 * tasks, and notes what is decided between the passes. A job without a report does not load this file.
 */

import type { WrittenRecord } from '../../../workers/piles/written-ranks.js';
import { compareHashes, SAMPLE_RECORDS, type TakenRecord } from '../../../workers/read/record-sample.js';
import type { TaskProfile } from '../../../workers/tasks.js';
import type { JobControl } from '../../floor/job-control.js';
import type { List } from '../../floor/paged-list.js';
import type { DeviceGates } from '../../machine/devices.js';
import type { DeviceTraffic, Moment } from '../../options/report-facts.js';
import type { PileTotals } from '../../piles/pile-totals.js';
import type { ShardCuts } from '../../plan/shard-cuts.js';
import type { ScatteredPiles } from '../../stages/shuffle-work.js';
import type { ShuffleRequest } from '../request.js';

const LOOK_MILLISECONDS = 200;
/** A longer job is looked at more rarely: so many moments make a chart. */
const MOST_MOMENTS = 400;

export interface ReportedJob {
  readonly request: ShuffleRequest;
  readonly inputs: List<{ readonly path: string }>;
  readonly deviceGates: Pick<DeviceGates, 'devices' | 'permits'>;
  /** True if all tasks are on the calling thread, where calls need no permit. */
  readonly inline: boolean;
  readonly control: JobControl;
  readonly tempDirs: readonly string[];
}

export interface PassOutcome {
  /** The piles as pass 1 left them. */
  readonly piles: ScatteredPiles;
  readonly recordEnds: Float64Array;
  /** The part of each pile that the output has. */
  readonly written: PileTotals;
  readonly cuts: ShardCuts;
}

export class ReportLog {
  readonly job: ReportedJob;
  #began = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #everyMilliseconds = LOOK_MILLISECONDS;
  #moments: Moment[] = [];
  #taken: TakenRecord[] = [];
  readonly #written = new Map<bigint, WrittenRecord>();
  outcome: PassOutcome | undefined;

  constructor(job: ReportedJob) {
    this.job = job;
  }

  /** @param jobBegan as `performance.now()` told it. */
  begin(jobBegan: number): void {
    this.#began = jobBegan;
    this.#sample();
    this.#startTimer();
  }

  get moments(): readonly Moment[] {
    return this.#moments;
  }

  /** The records of the sample, in no order, and where they were written. */
  get records(): readonly { readonly taken: TakenRecord; readonly written: WrittenRecord }[] {
    return this.#taken.flatMap((taken) => {
      const written = this.#written.get(taken.key);
      return written === undefined ? [] : [{ taken, written }];
    });
  }

  add({ kind, taken, written }: TaskProfile): void {
    if (kind === 'scatter') this.#join(taken ?? []);
    for (const record of written ?? []) this.#written.set(record.key, record);
  }

  /** The keys of the sample, for the tasks that write. No task of pass 1 may follow. */
  sampledKeys(): BigUint64Array {
    return BigUint64Array.from(this.#taken, ({ key }) => key).sort();
  }

  passesDone(outcome: PassOutcome): void {
    this.outcome = outcome;
    this.close();
  }

  close(): void {
    if (this.#timer !== undefined) this.#sample();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** A task that was tried twice has noted its records twice; equal records, of which one stays, have one key. */
  #join(records: readonly TakenRecord[]): void {
    const isFull = this.#taken.length === SAMPLE_RECORDS;
    const limit = isFull ? (this.#taken.at(-1)?.hash ?? 0) : Number.POSITIVE_INFINITY;
    const more = records.filter(({ hash }) => hash <= limit);
    if (more.length === 0) return;
    const ofKeys = new Map([...this.#taken, ...more].sort(compareHashes).map((record) => [record.key, record]));
    this.#taken = [...ofKeys.values()].sort(compareHashes).slice(0, SAMPLE_RECORDS);
  }

  #startTimer(): void {
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#sample(), this.#everyMilliseconds);
    // A job that fails does not wait for it.
    this.#timer.unref();
  }

  #sample(): void {
    const { control, deviceGates, inline } = this.job;
    const trafficOf = (gate: number): DeviceTraffic => {
      const { callsUnderWay, bytesRead, bytesWritten } = control.trafficOf(gate);
      return { calls: Math.max(0, callsUnderWay), readBytes: bytesRead, writtenBytes: bytesWritten };
    };
    this.#moments.push({
      seconds: (performance.now() - this.#began) / 1000,
      readBytes: control.counted('scatteredBytes') - control.counted('resumedBytes'),
      writtenBytes: control.counted('shuffledBytes') - control.counted('resumedOutputBytes'),
      traffic: inline ? [] : deviceGates.permits.map((_, gate) => trafficOf(gate)),
    });
    if (this.#moments.length < MOST_MOMENTS) return;
    this.#moments = this.#moments.filter((_, i) => i % 2 === 0);
    this.#everyMilliseconds *= 2;
    this.#startTimer();
  }
}
