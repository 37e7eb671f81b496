/** Says what a report says first: whether the job was right, where its time went, and what limited it. Pure. */

import { FEWEST_RECORDS, sum } from '../job/report/self-check.js';
import type { JobProfile, JobReport } from '../options/reports.js';
import { formatBytes, formatCount, formatPlural, formatSeconds } from '../values/format-numbers.js';
import { percentText, secondsOf } from './format-text.js';

/** The kinds of the phases of a task. */
const KINDS = {
  computing: ['decompress', 'decode', 'transpose', 'scan', 'scatter', 'hash', 'sort', 'gather', 'encode', 'compress'],
  moving: ['read', 'write', 'load', 'sync', 'gate'],
  waiting: ['turn', 'idle'],
} as const;

/** A device that is at its gate in so many of the looks is the limit. */
const OFTEN_AT_GATE = 0.5;
/** The part of the workers' time that makes a phase the limit. */
const MUCH = 0.4;
/** Fewer looks say nothing. */
const FEWEST_MOMENTS = 5;

interface Answer {
  readonly question: string;
  readonly answer: string;
  /** False: it asks for a look. Absent: it is neither good nor bad. */
  readonly isGood?: boolean;
}

export function summaryAnswers(report: JobReport): readonly Answer[] {
  return [wasRight(report), isShuffled(report), timeWent(report), limitOf(report)];
}

function wasRight({ result }: JobReport): Answer {
  const { records, bytes } = result;
  const amount = records === 0 ? 'no records' : `${formatPlural(records, 'record')}, ${formatBytes(bytes)}`;
  const answer = `Yes: the output has ${amount}. Counts and checksums agree from the inputs to the output.`;
  return { question: 'Is it complete?', answer, isGood: true };
}

/** Why the places of records are not checked, if they are not. */
export function reasonForNoSample({
  sample,
  sampleMissing,
}: Pick<JobReport, 'sample' | 'sampleMissing'>): string | undefined {
  if (sampleMissing !== undefined) return sampleMissing;
  if (sample.length >= FEWEST_RECORDS) return undefined;
  return `the sample has ${formatPlural(sample.length, 'record')}, and a check needs ${formatCount(FEWEST_RECORDS)}`;
}

function isShuffled({ checks, ...report }: JobReport): Answer {
  const question = 'Is it shuffled?';
  if (checks.length === 0)
    return { question, answer: `Not checked: ${reasonForNoSample(report) ?? 'nothing can be'}.` };
  const odd = checks.filter(({ isAsExpected }) => !isAsExpected).length;
  const answer =
    checks.length === 1
      ? 'Yes, as far as one check can tell: it found nothing unusual.'
      : `Yes: none of the ${checks.length} checks found anything unusual.`;
  if (odd === 0) return { question, answer, isGood: true };
  return { question, answer: `Look closer: ${odd} of ${checks.length} checks found something unusual.`, isGood: false };
}

function timeWent({ profile, result: { resumed } }: JobReport): Answer {
  const { pass1, pass2 } = profile.seconds;
  const total = secondsOf(profile);
  const part = (of: number) => `${Math.round((100 * of) / Math.max(1e-9, total))} %`;
  const answer = `Of ${formatSeconds(total)}${resumed === undefined ? '' : ' of this attempt'}, pass 1, which reads, took ${part(pass1)}; pass 2, which writes, ${part(pass2)}; what is before, between and after them ${part(total - pass1 - pass2)}.`;
  return { question: 'Where did the time go?', answer };
}

/** The part of the workers' time that went into each kind of phases. */
export function workShares({ pass1, pass2 }: Pick<JobProfile, 'pass1' | 'pass2'>): Record<keyof typeof KINDS, number> {
  const spent = [...Object.entries(pass1), ...Object.entries(pass2)];
  const secondsIn = (phases: readonly string[]) =>
    sum(spent.map(([phase, seconds]) => (phases.includes(phase) ? seconds : 0)));
  const total = Math.max(1e-9, sum(spent.map(([, seconds]) => seconds)));
  const shareOf = (kind: keyof typeof KINDS) => secondsIn(KINDS[kind]) / total;
  return { computing: shareOf('computing'), moving: shareOf('moving'), waiting: shareOf('waiting') };
}

function limitOf({ profile, watch }: JobReport): Answer {
  const question = 'What limited it?';
  const { computing, moving, waiting } = workShares(profile);
  const other = Math.max(0, 1 - computing - moving - waiting);
  const shares = `Of the time of all workers, ${percentText(computing)} was computing, ${percentText(moving)} reading and writing, ${percentText(waiting)} waiting for work, ${percentText(other)} anything else.`;
  const { devices = [], moments = [] } = watch ?? {};
  const atGate = devices.map(({ mostCalls }, i) =>
    moments.length < FEWEST_MOMENTS
      ? 0
      : moments.filter(({ traffic }) => (traffic[i]?.calls ?? 0) >= mostCalls).length / moments.length,
  );
  const busiest = atGate.indexOf(Math.max(0, ...atGate));
  const device = devices[busiest];
  if (device !== undefined && (atGate[busiest] ?? 0) >= OFTEN_AT_GATE)
    return { question, answer: `The device ${device.name}, which was often at its gate. ${shares}` };
  const most = Math.max(computing, moving, waiting);
  if (other > Math.max(most, MUCH))
    return { question, answer: `Something else, as on a machine that is busy or short of memory. ${shares}` };
  if (most < MUCH) return { question, answer: `Nothing alone. ${shares}` };
  const limit =
    most === computing
      ? 'The processors'
      : most === moving
        ? 'Reading and writing'
        : 'Too little work for the workers, as in a short job';
  return { question, answer: `${limit}. ${shares}` };
}
