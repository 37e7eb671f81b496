/**
 * The report of a job: refuses a bad place for it before the job begins, and writes it when the output is there. A report
 * that fails is a warning: the output is complete by then. Only a job with a report loads this file.
 */
import { UsageError } from '../../errors.js';
import { reasonOf } from '../../io/io-error.js';
import type { JobProfile, JobReport, ReportFile, ShuffleReport } from '../../options/reports.js';
import type { ShuffleOptions } from '../../options/shuffle-options.js';
import { ignoreThrown } from '../job.js';
import type { JobPlaces } from '../job-places.js';
import { completeShuffle, type ShuffleRequest } from '../request.js';
import { reportData } from './report-data.js';
import { type PlacesInUse, refuser, requireFilePlace, writeAtomically } from './report-file.js';
import { type ReportedJob, ReportLog } from './report-log.js';

export function openReportLog(job: ReportedJob): ReportLog {
  return new ReportLog(job);
}

function fileOf(report: ShuffleOptions['report']): ReportFile | undefined {
  if (report === undefined || typeof report === 'function') return undefined;
  return typeof report === 'string' ? { file: report } : report;
}

/** Checks before the job that the report can be written, and that it takes the place of nothing else. */
export function requireReportPlace(
  { report, force }: Pick<ShuffleRequest, 'report' | 'force'>,
  listed: Omit<PlacesInUse, 'output'>,
  places: JobPlaces,
): void {
  if (typeof report === 'function') return;
  const { file, textOf }: { file?: unknown; textOf?: unknown } = fileOf(report) ?? {};
  // Callers without types may pass anything.
  if (typeof file !== 'string') throw new UsageError('`report`: expected the path of a file, or a function');
  if (textOf === undefined && !file.endsWith('.json'))
    refuser('report', file)('expected a name that ends in .json, or `textOf` beside it');
  requireFilePlace('report', file, force, { ...listed, output: places.place?.to });
}

/** @param log undefined: an earlier attempt had written all of the output. */
export async function writeReport(
  options: ShuffleOptions,
  result: ShuffleReport,
  profile: JobProfile,
  log: ReportLog | undefined,
): Promise<void> {
  const { report, force = false, onWarning } = options;
  const target = fileOf(report);
  try {
    const request = log?.job.request ?? completeShuffle({ ...options, onWarning: undefined });
    const data = reportData(result, profile, request, target?.commandOf?.(result.seed), log);
    if (typeof report === 'function') report(data);
    else if (target !== undefined) writeAtomically(target.file, await (target.textOf ?? jsonOf)(data), force);
  } catch (error) {
    const failed = target === undefined ? ': cannot tell it' : ` ${target.file}: cannot write it`;
    ignoreThrown(() => onWarning?.(`\`report\`${failed}: ${reasonOf(error)}; the output is complete`));
  }
}

function jsonOf(data: JobReport): string {
  return `${JSON.stringify(data, undefined, 1)}\n`;
}
