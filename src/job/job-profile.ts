import type { TaskName, TaskProfile } from '../../workers/tasks.js';
import { PHASES, type Phase } from '../floor/phase-clock.js';
import type { JobProfile, PassSeconds, ShuffleReport } from '../options/reports.js';
import type { ShuffleOptions, ShuffleStoreOptions } from '../options/shuffle-options.js';
import { ignoreThrown } from './job.js';
import type { ReportLog } from './report/report-log.js';

const PASS1_KINDS: readonly TaskName[] = ['count', 'count-records', 'scatter'];

/** Measures how a job spends its time: step by step, and by phase for all threads of each pass. */
export class ProfileLog {
  readonly #tasks: TaskProfile[] = [];
  readonly #began = performance.now();
  #pass1Began: number | undefined;
  #pass2Began: number | undefined;
  #reportLog: ReportLog | undefined;

  readonly add = (task: TaskProfile): void => {
    this.#tasks.push({ ...task, taken: undefined, written: undefined });
    this.#reportLog?.add(task);
  };

  /** @param reportLog also gets the profiles of tasks. */
  pass1Begins(reportLog?: ReportLog): void {
    this.#pass1Began = performance.now();
    this.#reportLog = reportLog;
    reportLog?.begin(this.#began);
  }

  pass2Begins(): void {
    this.#pass2Began = performance.now();
  }

  async tell(
    options: ShuffleOptions | (ShuffleStoreOptions & { readonly report?: undefined }),
    result: ShuffleReport,
  ): Promise<void> {
    const { onProfile } = options;
    if (onProfile === undefined && options.report === undefined) return;
    const profile = this.#profileOf(result);
    if (onProfile !== undefined) ignoreThrown(() => onProfile(profile));
    if (options.report === undefined) return;
    const { writeReport } = await import('./report/write-report.js');
    await writeReport(options, result, profile, this.#reportLog);
  }

  #profileOf({ workers, records, bytes, decoders, seconds }: ShuffleReport): JobProfile {
    const { pass1, pass2, commit } = seconds;
    const now = performance.now();
    // A job that only had to move its output into place had no passes.
    const pass1Began = this.#pass1Began ?? this.#began;
    const pass2Began = this.#pass2Began ?? pass1Began;
    const prepare = (pass1Began - this.#began) / 1000;
    const between = (pass2Began - pass1Began) / 1000 - pass1;
    const total = (now - this.#began) / 1000;
    const release = total - prepare - pass1 - between - pass2 - commit;
    const isOfPass1 = ({ kind }: TaskProfile) => PASS1_KINDS.includes(kind);
    const jobBegan = performance.timeOrigin + this.#began;
    return {
      workers,
      records,
      bytes,
      decoders,
      seconds: { start: this.#began / 1000, prepare, pass1, between, pass2, commit, release },
      pass1: passSeconds(this.#tasks.filter(isOfPass1), workers * pass1),
      pass2: passSeconds(
        this.#tasks.filter((task) => !isOfPass1(task)),
        workers * pass2,
      ),
      tasks: this.#tasks.map(({ kind, thread, beganMilliseconds, seconds: ofTask }) => ({
        kind,
        thread,
        beganSeconds: (beganMilliseconds - jobBegan) / 1000,
        seconds: ofTask,
      })),
    };
  }
}

/** @param threadSeconds of all threads, at work or not. */
export function passSeconds(tasks: readonly Pick<TaskProfile, 'seconds'>[], threadSeconds: number): PassSeconds {
  const sums = Object.fromEntries(
    PHASES.map((phase) => [phase, tasks.reduce((sum, { seconds }) => sum + seconds[phase], 0)]),
  ) as Record<Phase, number>;
  const busy = PHASES.reduce((sum, phase) => sum + sums[phase], 0);
  return { ...sums, idle: Math.max(0, threadSeconds - busy) };
}
